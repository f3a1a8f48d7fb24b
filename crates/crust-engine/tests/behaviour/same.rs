//! Programs that mean the same, one of them written so that nothing is compiled or moved.

use crate::common::{Evaluated, agree, bind, evaluate};
use crate::harness::{NORMALISED, PROPTO, spread};
use crate::loops::{DATA, HEAD};
use crust_engine::Evaluator;

fn bits(found: &Evaluated, l: usize) -> Vec<u64> {
    let all = found.gradient[l].iter().chain([&found.log_prior[l], &found.log_likelihood[l]]);
    all.map(|x| x.to_bits()).collect()
}

/// Compares a lane with what another program gives, and with what the machine makes of the same one: there prior and
/// likelihood are the same, too.
fn close(found: &Evaluated, [other, own]: [&Evaluated; 2], l: usize, at: usize, what: &str) {
    for (part, a, b) in [
        ("prior", found.log_prior[l], own.log_prior[at]),
        ("likelihood", found.log_likelihood[l], own.log_likelihood[at]),
        ("density", found.log_density(l), other.log_density(at)),
    ] {
        assert!(agree(a, b, 2e-12), "{what}, point {at}: {part} {a} is not {b}");
    }
    for (d, (a, b)) in found.gradient[l].iter().zip(&other.gradient[at]).enumerate() {
        assert!(agree(*a, *b, 1e-11), "{what}, point {at}, gradient {d}: {a} is not {b}");
    }
}

/// Compares two programs that mean the same at 64 points: values and gradients, 64 and 8 lanes at a time and alone, the
/// first time and later, with and without lists. Groups of lanes agree to the last bit. Gives the evaluator without
/// lists, which knows what it has compiled.
pub fn same_with(data: &str, head: &str, program: &str, plain: &str) -> Evaluator {
    let (model, plain) = (bind(&format!("{head}{program}"), data), bind(&format!("{head}{plain}"), data));
    let points = spread(64, model.dimension());
    let mut known = model.evaluator().with_lists(false);
    for terms in [NORMALISED, PROPTO] {
        let name = |what: &str| format!("{program} {terms:?}, {what}");
        let by_machine = [&plain, &model].map(|model| {
            let mut machine = model.evaluator().with_lists(false).with_flat_loops(false);
            evaluate(&mut machine, &points, None, terms)
        });
        let expected = [&by_machine[0], &by_machine[1]];
        let mut wide = model.evaluator();
        let all = [0, 1, 2].map(|_| evaluate(&mut wide, &points, None, terms));
        let flat = [0, 1].map(|_| evaluate(&mut known, &points, None, terms));
        let mut eight = model.evaluator();
        let mut alone = model.evaluator();
        let mut alone_flat = model.evaluator().with_lists(false);
        for (at, point) in points.iter().enumerate() {
            close(&all[0], expected, at, at, &name("64 lanes"));
            assert_eq!(bits(&all[0], at), bits(&all[1], at), "again");
            assert_eq!(bits(&all[0], at), bits(&all[2], at), "and again");
            close(&flat[0], expected, at, at, &name("64 lanes without lists"));
            assert_eq!(bits(&flat[0], at), bits(&flat[1], at), "again without lists");
            if at % 8 == 0 {
                let found = evaluate(&mut eight, &points[at..at + 8], None, terms);
                for l in 0..8 {
                    assert_eq!(bits(&found, l), bits(&all[0], at + l), "8 lanes, point {}", at + l);
                }
            }
            close(&evaluate(&mut alone, std::slice::from_ref(point), None, terms), expected, 0, at, &name("alone"));
            close(
                &evaluate(&mut alone_flat, std::slice::from_ref(point), None, terms),
                expected,
                0,
                at,
                &name("alone, flat"),
            );
        }
    }
    known
}

pub fn same(program: &str, plain: &str) -> Evaluator {
    same_with(DATA, HEAD, program, plain)
}

/// [`same`], and how many containers are computed where they are needed.
pub fn same_inlined(inlined: usize, program: &str, plain: &str) {
    assert_eq!(same(program, plain).inlined(), inlined, "containers computed where they are needed");
}
