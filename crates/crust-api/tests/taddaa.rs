//! `taddaa` as a library function: exact approximations pass, wrong ones are told by how much.

use crust_api::{
    Diagnosis, Error, Problem, Session, ShortKernel, Source, Subject, TaddaaOptions, TaddaaOutput, taddaa,
};
use crust_diagnose::taddaa::Level;
use std::num::NonZero;

/// Variances 1 and 4, correlation 0.9.
const NORMAL: &str = "parameters { vector[2] x; }
model { x ~ multi_normal([1, -2]', [[1, 1.8], [1.8, 4]]); }
generated quantities { real root = sqrt(x[1]); }";
const EXACT: &str = r#"{"mean": [1, -2], "covariance": [[1, 1.8], [1.8, 4]]}"#;

fn run(approximation: &str, kernel: ShortKernel, functionals: &[&str]) -> Result<TaddaaOutput, Error> {
    let problem = Problem::read(Source::text("m.stan", NORMAL), None)?;
    let options = TaddaaOptions {
        subject: Subject::Approximation(Source::text("q.json", approximation)),
        kernel,
        functionals: functionals.iter().map(|&text| text.to_owned()).collect(),
        ..TaddaaOptions::default()
    };
    taddaa(&problem, &options, &Session::default())
}

/// With each kernel a false alarm has a probability of 5 % at most; the seed is fixed.
#[test]
fn an_exact_approximation_passes() {
    for kernel in [ShortKernel::Mala, ShortKernel::Barker, ShortKernel::Hmc] {
        let found = run(EXACT, kernel, &[]).expect("a diagnosis");
        assert_eq!(found.diagnosis, Diagnosis::Fine, "{kernel:?}: {:?}", found.result.found.verdict);
        assert_eq!(found.result.found.functionals.len(), 10);
    }
}

/// The mean of x[1] is wrong by 0.5, and the variance of x[2] by a factor of 4; x[1] has the right variance.
#[test]
fn a_wrong_approximation_is_told_by_how_much() {
    let wrong = r#"{"names": ["x[1]", "x[2]"], "mean": [1.5, -2], "covariance": [[1, 0.9], [0.9, 1]]}"#;
    let asked = ["mean(x[1])", "log_variance(x[2])", "covariance(x[1], x[2])", "P(x[1] > 1)", "log_variance(x[1])"];
    let found = run(wrong, ShortKernel::Barker, &asked).expect("a diagnosis");
    assert_eq!(found.diagnosis, Diagnosis::Bad);
    let errors = [0.5, 4_f64.ln(), 0.9, 0.19146, 0.0];
    for (judged, error) in found.result.found.functionals.iter().zip(errors) {
        let bound = judged.simultaneous_lower_bound;
        assert!(bound <= error && bound >= 0.3 * error, "{}: {bound} is no bound of {error}", judged.name);
        assert!(judged.lower_bound >= bound);
    }
}

/// Importance sampling puts right what is wrong with an approximation that is wide enough, and is silent where it is not.
#[test]
fn weights_improve_what_is_wide_enough() {
    let asked = ["mean(x[1])", "sd(x[2])", "quantile(x[1], 0.95)", "P(x[1] > 1)", "covariance(x[1], x[2])"];
    let wide = r#"{"mean": [1.4, -1.8], "covariance": [[1.4, 1.8], [1.8, 6]]}"#;
    let found = run(wide, ShortKernel::Hmc, &asked).expect("a diagnosis");
    let truths = [1.0, 2.0, 1.0 + 1.644_854, 0.5, 1.8];
    for (judged, truth) in found.result.found.functionals.iter().zip(truths) {
        let psis = judged.psis.expect("weights that can be relied on");
        assert!((psis - truth).abs() < 0.05, "{}: {psis} for {truth}", judged.name);
    }
    let narrow = r#"{"mean": [1, -2], "covariance": [[0.2, 0], [0, 0.2]]}"#;
    let found = run(narrow, ShortKernel::Hmc, &asked).expect("a diagnosis");
    assert!(
        found.result.found.functionals.iter().all(|judged| judged.psis.is_none()),
        "k-hat {:?}",
        found.result.k_hat
    );
}

/// Both marginal distributions are right, the correlation has the wrong sign: KL(q‖p) = 0.9²·2/(1 − 0.9²) = 8.5, and no
/// default functional sees it.
#[test]
fn what_no_functional_shows_is_told_by_the_divergence() {
    let mirrored = r#"{"mean": [1, -2], "covariance": [[1, -1.8], [-1.8, 4]]}"#;
    let found = run(mirrored, ShortKernel::Hmc, &[]).expect("a diagnosis");
    let least = found.result.bounds.expect("bounds").kl_at_least;
    assert!(least > 7.0 && least < 8.6, "{least}");
    assert_eq!(found.diagnosis, Diagnosis::Bad);
    let verdict = &found.result.found.verdict;
    assert_eq!(verdict.level, Level::Bad);
    assert!(verdict.sentence.contains("KL(q‖p) is at least"), "{verdict:?}");
}

/// Chains that start at one of two modes do not find the other; the fit has seen it.
#[test]
fn a_mode_that_the_fit_leaves_out_is_no_good_news() {
    let modes =
        "parameters { real x; } model { target += log_mix(0.5, normal_lpdf(x | -10, 1), normal_lpdf(x | 10, 1)); }";
    let problem = Problem::read(Source::text("m.stan", modes), None).expect("a program");
    let found = taddaa(&problem, &TaddaaOptions::default(), &Session::default()).expect("a diagnosis");
    let verdict = &found.result.found.verdict;
    assert!(verdict.level == Level::Unknown && verdict.sentence.contains("elsewhere"), "{verdict:?}");
}

#[test]
fn what_cannot_be_judged_is_told() {
    let told = |approximation: &str, functionals: &[&str]| {
        run(approximation, ShortKernel::Barker, functionals).expect_err("nothing to judge").to_string()
    };
    let names = r#"{"names": ["x.2", "x.1"], "mean": [0, 0], "sd": [1, 1]}"#;
    assert!(told(names, &[]).contains("named x.2"));
    assert!(told(r#"{"mean": [0, 0]}"#, &[]).contains("neither a covariance nor an sd"));
    let mixture = r#"{"method": "multi-pathfinder", "mean": [0, 0], "sd": [1, 1]}"#;
    assert!(told(mixture, &[]).contains("--method multi-pathfinder"));
    // The root of a negative number: intervals that say nothing are no good news.
    assert!(told(EXACT, &["mean(root)"]).contains("NaN"));
    let problem = Problem::read(Source::text("m.stan", NORMAL), None).expect("a program");
    let options = TaddaaOptions { chains: Some(1), iterations: NonZero::new(3), ..TaddaaOptions::default() };
    let error = taddaa(&problem, &options, &Session::default()).expect_err("one chain");
    assert!(matches!(error, Error::Option { name: "chains", .. }), "{error}");
}
