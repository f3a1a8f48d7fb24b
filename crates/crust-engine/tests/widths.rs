//! What a chain gets does not depend on how many run together: to the last bit for 8, 16, 32 and 64 lanes, which run
//! in groups of different sizes, and for some programs alone, too.

mod common;
#[path = "../benches/breadth/data.rs"]
mod data;

use common::{Evaluated, bind, breadth_programs, evaluate, scattered};
use crust_engine::Terms;

/// Programs that take long.
const LONG: [&str; 2] = ["epidemic", "long_regression"];

/// Programs whose lanes have the same bits alone.
const ALONE: [&str; 7] = ["arma", "garch", "iohmm", "ode_kinetics", "ode_one_compartment", "ode_soil", "state_space"];

const TERMS: Terms = Terms { propto: true, jacobian: true };

fn bits(evaluated: &Evaluated, l: usize) -> Vec<u64> {
    let gradient = evaluated.gradient[l].iter();
    gradient.chain([&evaluated.log_prior[l], &evaluated.log_likelihood[l]]).map(|x| x.to_bits()).collect()
}

#[test]
fn groups_of_lanes_change_nothing() {
    for (name, text) in breadth_programs(&LONG) {
        let model = bind(&text, &data::of(&name).to_string());
        let points = scattered(model.dimension(), 64, 0.321);
        let mut evaluator = model.evaluator();
        let all = [0, 1].map(|_| evaluate(&mut evaluator, &points, None, TERMS));
        let widths: &[usize] = if ALONE.contains(&&*name) { &[8, 16, 32, 1] } else { &[8, 16, 32] };
        for &lanes in widths {
            let mut evaluator = model.evaluator();
            for (k, part) in points.chunks(lanes).enumerate().take(4) {
                let found = evaluate(&mut evaluator, part, None, TERMS);
                for l in 0..lanes {
                    let expected = bits(&all[1], k * lanes + l);
                    assert_eq!(expected, bits(&all[0], k * lanes + l), "{name}, the first time");
                    assert_eq!(bits(&found, l), expected, "{name}, {lanes} lanes, lane {}", k * lanes + l);
                }
            }
        }
    }
}
