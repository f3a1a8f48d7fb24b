//! The experiments of TADDAA whose truth is known: the fits have the errors that theory says, and bounds hold.

use crust_api::reproduce::{TaddaaExperiment, TaddaaExperimentOptions, taddaa};
use crust_api::result::TaddaaTarget;
use crust_api::{CandyError, Error, LeukemiaError, Session, Source};
use std::num::NonZero;

fn run(experiment: TaddaaExperiment, dimension: usize) -> TaddaaTarget {
    let dimensions = NonZero::new(dimension).into_iter().collect();
    let table =
        taddaa(experiment, &TaddaaExperimentOptions { dimensions, data: None }, &Session::default()).expect("a table");
    assert!(!table.partial && table.experiment == experiment.name());
    let mut targets = table.targets;
    assert_eq!(targets.len(), 1);
    targets.remove(0)
}

/// What the approximation says, as far as 20,000 draws of it tell.
fn check_approximation(target: &TaddaaTarget, expected: &[f64]) {
    assert!(target.converged);
    assert_eq!(target.functionals.len(), expected.len());
    for (functional, expected) in target.functionals.iter().zip(expected) {
        let off = (functional.approximation - expected).abs();
        assert!(off < 0.1, "{}: {} for {expected}", functional.name, functional.approximation);
        assert!((functional.error - (functional.approximation - functional.truth).abs()).abs() < 1e-12);
    }
}

/// Bounds on errors above `least` hold, and Barker chains of the paper's length show at least a `share` of them. With a
/// `least` of 0 small errors have bounds, too.
fn check_bounds(target: &TaddaaTarget, least: f64, share: f64) {
    assert_eq!(target.runs.len(), 7);
    let kernels: Vec<&str> = target.runs.iter().map(|run| run.kernel.as_str()).collect();
    assert_eq!(kernels[..4], ["barker", "rwmh", "mala", "hmc"]);
    for (number, run) in target.runs.iter().enumerate() {
        assert_eq!((run.chains, run.bounds.len()), (387, target.functionals.len()));
        for (bound, functional) in run.bounds.iter().zip(&target.functionals) {
            let (b, error) = (bound.simultaneous_lower_bound, functional.error);
            let what = format!("{} {}: {b} for {error}", run.kernel, functional.name);
            assert!(bound.lower_bound >= b, "{what}");
            assert!(error < least || b <= error, "{what}");
            assert!(number > 0 || error < least.max(0.2) || b >= share * error, "{what}");
        }
    }
    let [quarter, half, whole, twice] = [4, 5, 0, 6].map(|k: usize| target.runs[k].iterations);
    assert_eq!([quarter, half, twice], [whole / 4, whole / 2, 2 * whole]);
}

/// Mean field has 1/Λᵢᵢ in place of Σᵢᵢ: with correlation ρ in d dimensions the ratio is (1 − ρ)(1 + (d − 1)ρ)/(1 + (d − 2)ρ).
#[test]
fn mean_field_on_a_correlated_normal() {
    let target = run(TaddaaExperiment::Gaussian, 5);
    let ratio: f64 = 0.3 * (1.0 + 4.0 * 0.7) / (1.0 + 3.0 * 0.7);
    check_approximation(&target, &[0.0, (10.0 * ratio).ln(), 0.0, ratio.ln()]);
    check_bounds(&target, 0.0, 0.5);
}

/// The best x[1] has variance s² = 2/(d + 1), all others have variance exp(−s²/2).
#[test]
fn mean_field_on_the_funnel() {
    let target = run(TaddaaExperiment::Funnel, 5);
    let variance: f64 = 2.0 / 6.0;
    let z = 1.281_551_565_544_600_5;
    let other = (-0.5 * variance).exp();
    let expected = [0.0, variance.ln(), z * variance.sqrt(), 0.0, other.ln(), z * other.sqrt()];
    check_approximation(&target, &expected);
    // Not those on small errors: the mean of x[1] is right, and the chains move it for a while.
    check_bounds(&target, 0.5, 0.3);
}

/// With u = x[1]/10 the best variance t of u solves 36 t² + t = 1; x[2] has mean 3 (1 − t) and variance 1.
#[test]
fn mean_field_on_the_banana() {
    let target = run(TaddaaExperiment::Banana, 2);
    let t = (145_f64.sqrt() - 1.0) / 72.0;
    check_approximation(&target, &[0.0, (100.0 * t).ln(), 3.0 * (1.0 - t), 0.0]);
    check_bounds(&target, 1.0, 0.3);
}

/// Made up, in the form of the real ones: chocolate is rarely fruity, and wins more often.
fn candies() -> String {
    let mut text = "competitorname,chocolate,fruity,caramel,peanutyalmondy,nougat,crispedricewafer,hard,bar,pluribus,\
                    sugarpercent,pricepercent,winpercent\n"
        .to_owned();
    for i in 0..40_u32 {
        let y = i % 2;
        let fruity = if i % 7 == 0 { y } else { 1 - y };
        let bits: Vec<String> = (1..8).map(|k| u32::from((i * k) % 5 == 1).to_string()).collect();
        let (sugar, price, win) = ((i * 37) % 100, (i * 53) % 100, 35 + (i * 29) % 40 + 10 * y);
        let row = format!("\"A, {i}\",{y},{fruity},{},0.{sugar:02},0.{price:02},{win}\n", bits.join(","));
        text.push_str(&row);
    }
    text
}

/// The truth is that of NUTS, which is known with an error.
#[test]
fn mean_field_for_a_regression() {
    let data = Some(Source::text("candy.csv", candies()));
    let options = TaddaaExperimentOptions { data, ..TaddaaExperimentOptions::default() };
    let table = taddaa(TaddaaExperiment::Candy, &options, &Session::default()).expect("a table");
    let target = &table.targets[0];
    assert_eq!((target.dimension, target.runs.len(), target.functionals.len()), (11, 7, 4));
    let reference = target.reference.as_ref().expect("NUTS");
    assert!(reference.r_hat < 1.01 && reference.ess > 4000.0, "{reference:?}");
    for functional in &target.functionals {
        assert!(functional.truth_se > 0.0 && functional.truth_se < 0.05, "{functional:?}");
    }
    // The coefficient of the feature that is never near 0 has the others for company: mean field is too narrow.
    let narrow = &target.functionals[3];
    assert!(narrow.approximation < narrow.truth - 0.5, "{narrow:?}");
    let bound = target.runs[0].bounds[3].simultaneous_lower_bound;
    assert!(bound >= 0.5 * narrow.error && bound <= narrow.error + 3.0 * narrow.truth_se, "{bound} for {narrow:?}");
}

#[test]
fn candies_are_asked_for() {
    for experiment in [TaddaaExperiment::Candy, TaddaaExperiment::Bnn] {
        let error = taddaa(experiment, &TaddaaExperimentOptions::default(), &Session::default());
        assert!(matches!(error, Err(Error::Candy(CandyError::Missing))), "{error:?}");
    }
}

/// Made up: the first gene is higher in one kind of leukemia, with exceptions; the others are noise.
fn patients() -> String {
    let mut text = "gene 1,gene 2,ALL,gene 3\n".to_owned();
    for i in 0..30_u32 {
        let y = i % 2;
        let first = 100 + 40 * (if i % 5 == 0 { 1 - y } else { y }) + (i * 7) % 13;
        let row = format!("{first},{},{y},{}\n", (i * 11) % 17, -300_i64 + i64::from((i * 5) % 19));
        text.push_str(&row);
    }
    text
}

/// Two parameters for each gene, and three for all.
#[test]
fn mean_field_for_a_horseshoe() {
    let data = Some(Source::text("leukemia.csv", patients()));
    let options = TaddaaExperimentOptions { data, ..TaddaaExperimentOptions::default() };
    let table = taddaa(TaddaaExperiment::Cancer, &options, &Session::default()).expect("a table");
    let target = &table.targets[0];
    assert_eq!((target.dimension, target.runs.len(), target.functionals.len()), (9, 7, 4));
    assert_eq!(target.functionals[3].name, "log_variance(log_lambda[3])");
    let reference = target.reference.as_ref().expect("NUTS");
    assert!(reference.r_hat < 1.02 && reference.ess > 400.0, "{reference:?}");
    for run in &target.runs {
        for (bound, functional) in run.bounds.iter().zip(&target.functionals) {
            let most = functional.error + 4.0 * functional.truth_se;
            assert!(bound.simultaneous_lower_bound <= most, "{}: {bound:?} for {functional:?}", run.kernel);
        }
    }
}

#[test]
fn patients_are_asked_for() {
    let error = taddaa(TaddaaExperiment::Cancer, &TaddaaExperimentOptions::default(), &Session::default());
    assert!(matches!(error, Err(Error::Leukemia(LeukemiaError::Missing))), "{error:?}");
    let data = Some(Source::text("leukemia.csv", "ALL,gene 1\n1,2\n0,x\n"));
    let options = TaddaaExperimentOptions { data, ..TaddaaExperimentOptions::default() };
    let error = taddaa(TaddaaExperiment::Cancer, &options, &Session::default());
    assert!(matches!(error, Err(Error::Leukemia(LeukemiaError::In { .. }))), "{error:?}");
}
