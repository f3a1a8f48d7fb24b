//! The programs of the breadth benchmark: the same numbers as lists and flat loops, and by the machine that runs
//! statements.

mod common;
#[path = "../benches/breadth/data.rs"]
mod data;

use common::{agree, bind, breadth_programs, evaluate, scattered};
use crust_engine::Terms;

/// Programs that take too long for a test, statement by statement.
const LONG: [&str; 3] = ["epidemic", "gp_regression", "long_regression"];

#[test]
fn lists_agree_with_statements() {
    let mut count = 0;
    for (name, text) in breadth_programs(&LONG) {
        let model = bind(&text, &data::of(&name).to_string());
        let points = scattered(model.dimension(), 2, 0.123);
        let terms = Terms { propto: true, jacobian: true };
        let found = evaluate(&mut model.evaluator(), &points, None, terms);
        let expected = evaluate(&mut model.evaluator().with_flat_loops(false), &points, None, terms);
        for l in 0..points.len() {
            let (a, b) = (found.log_density(l), expected.log_density(l));
            assert!(agree(a, b, 1e-9), "{name}: {a} is not {b}");
            for (a, b) in found.gradient[l].iter().zip(&expected.gradient[l]) {
                assert!(agree(*a, *b, 1e-8), "{name}, gradient: {a} is not {b}");
            }
        }
        count += 1;
    }
    assert!(count >= 30);
}
