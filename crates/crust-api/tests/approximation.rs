//! `approximate` as a library function, on programs whose answers are known.

use crust_api::{ApproximateOptions, ApproximationChoice, Error, Problem, Session, Source, approximate};

/// Variances 1 and 4, correlation 0.9.
const NORMAL: &str = "parameters { vector[2] x; }
model { x ~ multi_normal([1, -2]', [[1, 1.8], [1.8, 4]]); }";

fn problem(program: &str) -> Problem {
    Problem::read(Source::text("m.stan", program), None).expect("a program")
}

fn options(method: ApproximationChoice) -> ApproximateOptions {
    ApproximateOptions { method, ..ApproximateOptions::default() }
}

/// The best normal distribution without correlations has the inverse diagonal of the precision as variances,
/// σ²(1 − ρ²), and KL(q‖p) = −log(1 − ρ²)/2.
#[test]
fn mean_field_on_a_correlated_normal_is_the_known_optimum() {
    let session = Session::default();
    let found = approximate(&problem(NORMAL), &options(ApproximationChoice::Meanfield), &session).expect("a fit");
    assert!(found.converged && found.covariance.is_none() && found.degrees.is_none(), "{found:?}");
    assert_eq!(found.method, "meanfield");
    assert_eq!(found.names, ["x[1]", "x[2]"]);
    let rest = 1.0 - 0.9_f64 * 0.9;
    for (i, (mean, sd)) in [(1.0, rest.sqrt()), (-2.0, 2.0 * rest.sqrt())].into_iter().enumerate() {
        assert!((found.mean[i] - mean).abs() < 0.02 * sd, "{found:?}");
        assert!((found.sd[i] / sd - 1.0).abs() < 0.02, "{found:?}");
    }
    let best = 0.5 * rest.ln();
    assert!((found.elbo - best).abs() < 4.0 * found.elbo_se + 0.01, "{} is not {best}", found.elbo);
}

/// All families that have correlations find the target itself; its density is normalised, so that the bound is 0.
#[test]
fn families_with_correlations_find_the_normal_itself() {
    use ApproximationChoice::{Fullrank, Laplace, MultiPathfinder, Pathfinder};
    for method in [Fullrank, Laplace, Pathfinder, MultiPathfinder] {
        let found = approximate(&problem(NORMAL), &options(method), &Session::default()).expect("a fit");
        assert!(found.elbo.abs() < 0.05 && found.elbo <= 4.0 * found.elbo_se + 1e-6, "{found:?}");
        let covariance = found.covariance.expect("a covariance");
        assert!((covariance[0][1] - 1.8).abs() < 0.2, "{method:?}: {covariance:?}");
    }
}

#[test]
fn what_cannot_be_approximated_is_told() {
    let refuse = |program: &str, method| {
        approximate(&problem(program), &options(method), &Session::default()).expect_err("nothing to approximate")
    };
    let fullrank = ApproximationChoice::Fullrank;
    assert!(matches!(refuse("generated quantities { real x = 1; }", fullrank), Error::Refused(_)));
    // A mistake in the program that only a run meets is told with its place.
    let wrong = "parameters { real x; } model { vector[2] v = [x, x]'; target += v[3]; }";
    assert!(matches!(refuse(wrong, fullrank), Error::Engine { .. }));
    let nowhere = "parameters { real x; } model { reject(\"never\"); }";
    let error = refuse(nowhere, fullrank);
    assert!(error.to_string().contains("never") && error.to_string().contains("--init"), "{error}");
    let saddle = "parameters { vector[2] x; } model { target += -square(x[1]); }";
    assert!(matches!(refuse(saddle, ApproximationChoice::Laplace), Error::Approximate { .. }));
}
