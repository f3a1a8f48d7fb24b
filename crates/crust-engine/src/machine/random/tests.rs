//! What a lane draws does not depend on the lanes beside it.

use std::sync::Arc;

use crust_math::random::{Purpose, StreamKey};
use crust_stan::front_end::read;
use crust_stan::source::NoIncludes;

use crate::lower::lower;
use crate::machine::{Machine, Stop, Value};
use crate::model::{PLAIN, grow};

/// Runs the generated quantities of a program for chains with these numbers, side by side. Gives the numbers of each
/// lane, and whether it was rejected.
fn side_by_side(program: &str, chains: &[u32]) -> Vec<(Vec<f64>, bool)> {
    let reading = read("model.stan", None, program, &NoIncludes);
    assert!(!reading.has_errors());
    let code = Arc::new(lower(&reading.typed).expect("the engine has what the program calls"));
    let mut machine = Machine::new(&code);
    loop {
        machine.clear(chains.len(), PLAIN);
        machine.streams = chains.iter().map(|&c| StreamKey::new(1, Purpose::TEST).chain(c).stream()).collect();
        match machine.statements(&code.generate) {
            Ok(_) => break,
            Err(Stop::Full) => grow(&mut machine).expect("there is room"),
            Err(Stop::Again) => machine.unsettle_loops(),
            Err(other) => panic!("{other:?}"),
        }
    }
    let numbers = |lane: usize| {
        let mut list = Vec::new();
        for quantity in &code.generated_quantities {
            let Value::Numbers(view) = machine.globals[quantity.slot as usize].value else { panic!("numbers") };
            let [by_element, _, by_lane] = view.block.strides(machine.width);
            let start = view.block.start() + lane * by_lane;
            list.extend((0..view.block.count()).map(|e| machine.arena.values()[start + e * by_element]));
        }
        list
    };
    (0..chains.len()).map(|lane| (numbers(lane), machine.rejected[lane].is_some())).collect()
}

#[test]
fn a_lane_draws_the_same_alone_and_in_company() {
    let program = "generated quantities {
        real x = normal_rng(0, 1);
        array[3] real y = gamma_rng(exp([x, 1, 2]'), {1, 2, 3});
        vector[2] z = multi_normal_rng([x, y[1]]', [[2, 1], [1, 2]]);
        array[2] vector[2] t = multi_student_t_rng(5, {z, z}, identity_matrix(2));
        int k = categorical_logit_rng([x, 0, y[2]]');
        array[3] int n = multinomial_rng(dirichlet_rng(y[1] + [1, 2, 3]'), 20 + k);
        matrix[3, 3] r = lkj_corr_rng(3, 1 + square(x));
        real last = std_normal_rng();
    }";
    let together = side_by_side(program, &[3, 1, 4, 15, 9]);
    for (chain, lane) in [3, 1, 4, 15, 9].into_iter().zip(&together) {
        assert_eq!(&side_by_side(program, &[chain])[0], lane);
    }
    let (one, other) = (&together[0].0, &together[1].0);
    assert!((0..8).all(|k| (one[k] - other[k]).abs() > 1e-9), "lanes differ");
}

#[test]
fn a_lane_without_a_draw_is_rejected_and_the_others_go_on() {
    let program = "generated quantities {
        real x = normal_rng(0, 1);
        real u = uniform_rng(0, x);
        vector[2] v = dirichlet_rng([x, 1]');
    }";
    let chains: Vec<u32> = (0..20).collect();
    let found = side_by_side(program, &chains);
    for (numbers, rejected) in &found {
        let [x, u, v, w] = numbers[..] else { panic!("four numbers") };
        assert_eq!(*rejected, x <= 0.0);
        assert!(*rejected || 0.0 < u && u < x && (v + w - 1.0).abs() < 1e-15, "{numbers:?}");
    }
    let count = found.iter().filter(|(_, rejected)| *rejected).count();
    assert!(count > 0 && count < 20);
}
