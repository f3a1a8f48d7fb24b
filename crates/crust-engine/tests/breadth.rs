//! The programs of the breadth benchmark: the same numbers as lists and flat loops, and by the machine that runs
//! statements.

mod common;
#[path = "../benches/breadth/data.rs"]
mod data;

use std::path::Path;

use common::{agree, bind, evaluate};
use crust_engine::Terms;

/// Programs that take too long for a test, statement by statement.
const LONG: [&str; 3] = ["epidemic", "gp_regression", "long_regression"];

#[test]
fn lists_agree_with_statements() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/breadth");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the programs are there") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_none_or(|e| e != "stan") || LONG.contains(&&*name) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the program is there");
        let model = bind(&text, &data::of(&name).to_string());
        let mut state = 0.123_f64;
        let mut next = || {
            state = (state * 16_807.0).fract();
            2.0 * state - 1.0
        };
        let points: Vec<Vec<f64>> = (0..2).map(|_| (0..model.dimension()).map(|_| next()).collect()).collect();
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
