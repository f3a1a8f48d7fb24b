//! Approximations of Stan programs against what real Stan and long optimisations found
//! (`approximations/reference.json`).

#[allow(dead_code, reason = "the example uses more of it")]
#[path = "../examples/fits/program.rs"]
mod program;

use crust_infer::approximate::Error;
use crust_infer::approximate::family::Approximation;
use crust_infer::approximate::laplace::laplace;
use program::{FAMILIES, Optimum, key, miss, program, reference, with};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[test]
fn modes_and_curvatures_are_those_of_stan() {
    for name in ["ar1", "linreg", "logreg", "gauss_ar30", "schools_noncentred"] {
        let reference = reference(name);
        with(&program(name), |evaluations| {
            let found = laplace(evaluations, None, 2.0, key(1)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let truth = &reference["laplace"];
            let number = |field: &str| truth[field].as_f64().expect("a number");
            let log_density = found.mode.log_density;
            assert!((log_density / number("log_density") - 1.0).abs() < 1e-9, "{name}: {log_density}");
            assert!((found.log_z - number("log_z")).abs() < 2e-6, "{name}: {} {}", found.log_z, number("log_z"));
            let sd = numbers(&truth["sd"]);
            let at = found.mode.x.iter().zip(numbers(&truth["mean"]));
            for (((x, mean), sd), variance) in at.zip(sd).zip(found.approximation.variances()) {
                assert!(((x - mean) / sd).abs() < 2e-5, "{name}: {x} {mean}");
                assert!((variance.sqrt() / sd - 1.0).abs() < 1e-6, "{name}: {} {sd}", variance.sqrt());
            }
        });
    }
}

#[test]
fn laplace_is_refused_where_stan_gives_garbage() {
    let refused = with(&program("schools_centred"), |evaluations| laplace(evaluations, None, 2.0, key(1)).err());
    assert!(matches!(refused, Some(Error::Curvature { .. } | Error::NoMode(_))), "{refused:?}");
    // Factors can be rotated, along which the density does not change; only at the mode where all of them are 0 there
    // is a curvature.
    for seed in 1..=3 {
        match with(&program("matfac"), |evaluations| laplace(evaluations, None, 2.0, key(seed))) {
            Ok(found) => assert!(found.mode.x[3..].iter().all(|x| x.abs() < 1e-6), "seed {seed} is at another mode"),
            Err(error) => assert!(matches!(error, Error::Curvature { .. } | Error::NoMode(_)), "{error}"),
        }
    }
}

#[test]
fn fits_reach_the_best_of_their_family() {
    for name in ["ar1", "logreg", "schools_centred", "gauss_ar30"] {
        for family in FAMILIES {
            let optimum = Optimum::Known(reference(name)[family.0].as_f64().expect("a number"));
            let found = miss(&program(name), family.1, &optimum, 1);
            assert!(found.miss.abs() < 0.1, "{name} {}: {} ({:?})", family.0, found.miss, found.convergence);
        }
    }
}
