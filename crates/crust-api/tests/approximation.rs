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

/// Mean field has χ² = `E_q` w² − 1 = (1 − ρ²)/√(1 − 4ρ²) − 1 for p = N(0, 1, ρ) and q = N(0, (1 − ρ²) I): the integral of
/// p²/q is 1/√|2Λ − I/(1 − ρ²)|, and the determinant (1 − 4ρ²)/(1 − ρ²)². The means are right, and the sds off by 1 − √(1 − ρ²).
#[test]
fn upper_bounds_on_errors_are_those_of_the_exact_divergence() {
    let program = "parameters { vector[2] x; } model { x ~ multi_normal([0, 0]', [[1, 0.3], [0.3, 1]]); }";
    let found = approximate(&problem(program), &options(ApproximationChoice::Meanfield), &Session::default());
    let found = found.expect("a fit");
    let errors = found.errors.expect("bounds");
    let chi = (0.91 / (1.0 - 4.0 * 0.09_f64).sqrt() - 1.0).sqrt();
    let bound = errors.d2.exp_m1().sqrt();
    assert!(bound > chi && bound < 1.6 * chi, "{bound} for {chi}");
    for (i, sd) in found.sd.iter().enumerate() {
        assert!((errors.mean_at_most[i] / (sd * bound) - 1.0).abs() < 1e-9, "{errors:?}");
        let at_most = errors.sd_at_most[i].expect("an sd");
        let error = 1.0 - (1.0 - 0.09_f64).sqrt();
        // Of a normal distribution E (x − m)⁴ = 3 s⁴, so that the second moment is off by at most χ √2 s².
        let below = 1.0 - bound * 2.0_f64.sqrt() - bound * bound;
        let expected = sd * (1.0 - below.max(0.0).sqrt()).max((1.0 + bound * 2.0_f64.sqrt()).sqrt() - 1.0);
        assert!(at_most > error && (at_most / expected - 1.0).abs() < 1e-9, "{at_most} for {error}");
    }
    // With a correlation of 0.9 the weights have no second moment.
    let wild = approximate(&problem(NORMAL), &options(ApproximationChoice::Meanfield), &Session::default());
    let wild = wild.expect("a fit");
    assert!(wild.errors.is_none() && wild.k_hat.is_some_and(|k| k > 0.5), "{wild:?}");
    // The target itself has no errors.
    let exact = approximate(&problem(NORMAL), &options(ApproximationChoice::Fullrank), &Session::default());
    let exact = exact.expect("a fit").errors.expect("bounds");
    assert!(exact.mean_at_most.iter().all(|e| *e < 0.1), "{exact:?}");
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

/// Densities without a finite integral: none along a line, one that goes up to a constant, and a ridge.
#[test]
fn improper_posteriors_are_refused_by_every_method() {
    use ApproximationChoice::{Laplace, Meanfield, MultiPathfinder, Pathfinder};
    let constant = "parameters { real<lower=0> s; } model { target += -log(s); }";
    let rising = "parameters { real a; } model { 1 ~ bernoulli_logit(a); }";
    let ridge = "parameters { real mu; real<lower=0> s; } model { 1.5 ~ normal(mu, s); }";
    for program in [constant, rising, ridge] {
        for method in [Meanfield, Laplace, Pathfinder, MultiPathfinder] {
            let found = approximate(&problem(program), &options(method), &Session::default());
            let error = found.expect_err(program).to_string();
            let told = [
                "does not change",
                "does not fall",
                "no finite integral",
                "runs away",
                "not positive definite",
                "no mode",
            ];
            assert!(told.iter().any(|words| error.contains(words)), "{method:?}, {program}: {error}");
        }
    }
}

/// The support ends where normal distributions do not.
#[test]
fn an_infinite_bound_is_no_fit() {
    let cut = "parameters { real x; } model { if (x < 0) reject(\"below\"); x ~ normal(0.5, 1); }";
    let found = approximate(&problem(cut), &options(ApproximationChoice::Laplace), &Session::default());
    let error = found.expect_err("no bound").to_string();
    assert!(error.contains("the ELBO is -inf"), "{error}");
}

/// Two modes that are 20 standard deviations apart: draws of a fit to one of them say nothing of the other, but the starting
/// points that led there do. On a narrow ridge ends are far apart as well, and no valley is between them.
#[test]
fn starting_points_that_lead_elsewhere_leave_no_upper_bounds() {
    let modes =
        "parameters { real x; } model { target += log_mix(0.5, normal_lpdf(x | -10, 1), normal_lpdf(x | 10, 1)); }";
    let found = approximate(&problem(modes), &options(ApproximationChoice::Meanfield), &Session::default());
    let found = found.expect("a fit");
    assert!(found.errors.is_none() && found.notes.iter().any(|note| note.contains("elsewhere")), "{found:?}");
    let ridge = "parameters { vector[2] x; } model { x ~ multi_normal([0, 0]', [[1, 0.999], [0.999, 1]]); }";
    let found = approximate(&problem(ridge), &options(ApproximationChoice::Fullrank), &Session::default());
    let found = found.expect("a fit");
    assert!(found.errors.is_some() && found.notes.is_empty(), "{found:?}");
}

/// `E_q` w² is infinite or next to it, and a few thousand draws do not see it: the exponential tail of log x for
/// x ~ gamma(0.1, 1), and the diagonal of two coordinates with a correlation of 0.9996, for which k-hat was 0.2.
#[test]
fn what_draws_cannot_see_leaves_no_upper_bounds() {
    let tail = "parameters { real<lower=0> x; } model { x ~ gamma(0.1, 1); }";
    let ridge = "parameters { vector[2] x; } model { x ~ multi_normal([0, 0]', [[1, 0.9996], [0.9996, 1]]); }";
    for (program, methods) in [
        (tail, vec![ApproximationChoice::Meanfield, ApproximationChoice::Fullrank, ApproximationChoice::StudentT]),
        (ridge, vec![ApproximationChoice::Meanfield]),
    ] {
        for method in methods {
            for seed in 1..=4 {
                let session = Session { seed, ..Session::default() };
                let found = approximate(&problem(program), &options(method), &session).expect("a fit");
                assert!(found.errors.is_none(), "{program}, {method:?}, {seed}: {:?} {:?}", found.k_hat, found.errors);
            }
        }
    }
}

/// Methods that begin at one point look at others as well.
#[test]
fn a_fit_from_one_point_tells_of_other_modes() {
    let modes =
        "parameters { real x; } model { target += log_mix(0.5, normal_lpdf(x | -10, 1), normal_lpdf(x | 10, 1)); }";
    for method in [ApproximationChoice::Laplace, ApproximationChoice::Pathfinder] {
        let found = approximate(&problem(modes), &options(method), &Session::default()).expect("a fit");
        assert!(found.errors.is_none() && found.notes.iter().any(|note| note.contains("elsewhere")), "{found:?}");
        let one = "parameters { real x; } model { x ~ normal(3, 2); }";
        let found = approximate(&problem(one), &options(method), &Session::default()).expect("a fit");
        assert!(found.errors.is_some() && found.notes.is_empty(), "{found:?}");
    }
}

/// Between two modes the density rises along t however far one goes, since the modes become wider; it has an integral.
#[test]
fn a_mixture_is_not_taken_for_a_density_that_never_falls() {
    let program = "parameters { real x; real t; } model { t ~ student_t(3, -1, 0.5);
        target += log_mix(0.5, normal_lpdf(x | -10, exp(t)), normal_lpdf(x | 10, exp(t))); }";
    let mut both = 0;
    for seed in 1..=6 {
        let session = Session { seed, ..Session::default() };
        let found = approximate(&problem(program), &options(ApproximationChoice::MultiPathfinder), &session);
        both += u32::from(found.expect("a fit").sd[0] > 3.0);
    }
    assert!(both > 0);
}

/// x = log g for a gamma variate g of shape 3 has the mean ψ(3) and the variance ψ′(3). Ends of paths are at the mode,
/// log 3, 0.28 standard deviations away: importance weights know better, and bounds are about what they say.
#[test]
fn moments_of_several_paths_are_those_of_weighted_draws() {
    let program = "parameters { real<lower=0> g; real x; } model { g ~ gamma(3, 1); x ~ normal(log(g), 0.5); }";
    let (mean, sd) = (0.922_784_335_098_467, 0.394_934_066_848_226_f64.sqrt());
    for seed in 1..=4 {
        let session = Session { seed, ..Session::default() };
        let found = approximate(&problem(program), &options(ApproximationChoice::MultiPathfinder), &session);
        let found = found.expect("a fit");
        let errors = [(found.mean[0] - mean).abs(), (found.mean[1] - mean).abs(), (found.sd[0] - sd).abs()];
        assert!(errors.iter().all(|e| *e < 0.08 * sd), "{errors:?}");
        let covariance = found.covariance.as_ref().expect("a covariance");
        assert!((covariance[0][1] / (sd * sd) - 1.0).abs() < 0.15 && found.convergence.contains("weights"));
        if let Some(most) = &found.errors {
            assert!(errors[0] <= most.mean_at_most[0] && most.sd_at_most[0].is_none_or(|most| errors[2] <= most));
        }
    }
}

/// log g for a gamma variate g of shape 0.1: a thousand draws do not see what e^x costs a wide normal distribution. Its
/// ELBO has a closed form, and what is stated is above it by many standard errors in most runs.
#[test]
fn a_bound_that_rare_draws_decide_is_told() {
    let program = "parameters { real<lower=0> g; } model { g ~ gamma(0.1, 2); }";
    let mut wrong = 0;
    for seed in 1..=4 {
        let session = Session { seed, ..Session::default() };
        let found = approximate(&problem(program), &options(ApproximationChoice::Meanfield), &session).expect("a fit");
        let (m, s) = (found.mean[0], found.sd[0]);
        let entropy = s.ln() + 0.5 * (1.0 + std::f64::consts::TAU.ln());
        let truth = 0.1 * (m + 2.0_f64.ln()) - 2.0 * (m + 0.5 * s * s).exp() - 2.252_712_651_734_206 + entropy;
        let is_wrong = found.elbo - truth > 0.06 + 4.0 * found.elbo_se;
        let told = found.notes.iter().any(|note| note.contains("too high"));
        assert!(told || !is_wrong, "{} for {truth}: {found:?}", found.elbo);
        wrong += u32::from(is_wrong);
    }
    assert!(wrong > 0, "a test of something");
    for program in [NORMAL, "parameters { real<lower=0> g; } model { g ~ gamma(3, 2); }"] {
        let found = approximate(&problem(program), &options(ApproximationChoice::Fullrank), &Session::default());
        assert!(found.expect("a fit").notes.is_empty());
    }
}
