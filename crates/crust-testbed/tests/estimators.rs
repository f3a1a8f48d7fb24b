//! The estimators on tiny instances of the three models, whose evidence is a sum over all states or an integral over
//! one number.
//!
//! Each trial simulates data of its own, so that the state which generated them is an exact draw: for all data,
//! E[p̂(Y)] = p(Y) of an unbiased estimator, and E[1/p̂(Y)] = 1/p(Y) of one that is unbiased for the reciprocal.

use crust_infer::drive::Control;
use crust_math::random::{Purpose, StreamKey};
use crust_testbed::check::enumerate::{Enumerable, log_normaliser};
use crust_testbed::estimators::{Estimator, Kind, NestedSampling, Problem, Shrinkage};
use crust_testbed::model::Simulate;
use crust_testbed::models::hyper::{Probabilities, Variance, Weights};
use crust_testbed::models::{binary, clustering, low_rank};
use crust_testbed::roster::{Complete, Family};

fn key(trial: u32) -> StreamKey {
    StreamKey::new(77, Purpose::TEST).dataset(trial)
}

/// Differences between estimates and the exact log evidence, one for each simulated dataset.
fn errors<M: Complete + Simulate>(
    setting: &M::Setting,
    exact: fn(&mut M) -> f64,
    estimator: &dyn Estimator<M>,
    trials: u32,
) -> Vec<f64> {
    let control = Control::default();
    let error = |trial: u32| {
        let (mut model, state) = M::simulate(setting, &mut key(trial).step(u64::MAX).stream()).expect("data");
        let problem = Problem { model: &model, exact: Some(&state), control: &control };
        let estimate = estimator.estimate(&problem, key(trial)).expect("an estimate");
        estimate - exact(&mut model)
    };
    (0..trials).map(error).collect()
}

/// Mean and its standard error.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = f64::from(u32::try_from(values.len()).expect("few"));
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// 5 standard errors: a false alarm in 10⁶ for each estimator, if its weights have no heavy tails, as is so for the
/// families and knobs that are asked for.
fn are_unbiased<M: Complete + Simulate>(setting: &M::Setting, exact: fn(&mut M) -> f64, families: &[(Family, usize)]) {
    for (family, knob) in families {
        let estimator = family.at::<M>(*knob);
        let errors = errors(setting, exact, &*estimator, 1500);
        let sign = if estimator.kind() == Kind::StochasticLowerBound { 1.0 } else { -1.0 };
        let ratios: Vec<f64> = errors.iter().map(|e| (sign * e).exp()).collect();
        let (mean, se) = moments(&ratios);
        assert!((mean - 1.0).abs() < 5.0 * se && se < 0.3, "{family:?}: mean ratio {mean} ± {se}");
        let (mean, se) = moments(&errors);
        assert!(sign * mean < 5.0 * se, "{family:?} is on the wrong side: {mean} ± {se}");
    }
}

/// Estimates without a guarantee that converge, and variational Bayes, which must be below.
fn others<M: Complete + Simulate>(setting: &M::Setting, exact: fn(&mut M) -> f64) {
    for (family, knob) in [
        (Family::BothDirections, 30),
        (Family::Bridge, 100),
        (Family::SteppingStone, 100),
        (Family::Thermodynamic, 100),
    ] {
        let (mean, se) = moments(&errors(setting, exact, &*family.at::<M>(knob), 40));
        assert!(mean.abs() < 5.0 * se + 0.05 && se < 0.1, "{family:?}: {mean} ± {se}");
    }
    let nested = NestedSampling { particles: 50, transitions: 3, shrinkage: Shrinkage::Geometric };
    let (mean, se) = moments(&errors(setting, exact, &nested, 40));
    assert!(mean.abs() < 5.0 * se + 0.05 && se < 0.1, "nested sampling: {mean} ± {se}");
    let bounds = errors(setting, exact, &*Family::VariationalBayes.at::<M>(2), 40);
    assert!(bounds.iter().all(|b| *b < 1e-6), "a variational bound is above the evidence: {bounds:?}");
}

const EVERY: [(Family, usize); 9] = [
    (Family::LikelihoodWeighting, 20),
    (Family::HarmonicMean, 20),
    (Family::Ais, 10),
    (Family::ReverseAis, 10),
    (Family::Smc, 1),
    (Family::SmcParticles, 4),
    (Family::Shme, 1),
    (Family::ChibMurraySalakhutdinov, 5),
    (Family::TemperedSmc, 1),
];

#[test]
fn clustering() {
    let weights = Weights::Fixed(vec![0.4, 0.6]);
    let prior =
        clustering::Prior { components: 2, weights, between: Variance::Fixed(1.0), within: Variance::Fixed(1.5) };
    let setting = clustering::Setting { cases: 5, dimensions: 2, prior };
    let exact = |model: &mut clustering::Clustering| {
        let states = model.all_states(32).expect("32 states");
        log_normaliser(model, &states, 1.0).expect("a number")
    };
    are_unbiased(&setting, exact, &EVERY);
    others(&setting, exact);
}

#[test]
fn binary_attributes() {
    let probabilities = Probabilities::Fixed(vec![0.3, 0.6]);
    let prior =
        binary::Prior { components: 2, probabilities, features: Variance::Fixed(1.0), noise: Variance::Fixed(1.0) };
    let setting = binary::Setting { cases: 4, dimensions: 2, prior };
    let exact = |model: &mut binary::BinaryAttributes| {
        let states = model.all_states(256).expect("256 states");
        log_normaliser(model, &states, 1.0).expect("a number")
    };
    are_unbiased(&setting, exact, &EVERY);
    others(&setting, exact);
}

/// One component and one column: given v, the cases are independent and normal with variance `σ_u²` v² + `σ_n²`.
fn low_rank_evidence(model: &mut low_rank::LowRank) -> f64 {
    const STEP: f64 = 0.01;
    let log_normal = |x: f64, variance: f64| -0.5 * (x * x / variance + (std::f64::consts::TAU * variance).ln());
    let density = |i: i32| {
        let v = STEP * f64::from(i);
        let data: f64 = model.data().iter().map(|row| log_normal(row[0], 0.5 * v * v + 2.0)).sum();
        (log_normal(v, 0.5) + data).exp() * STEP
    };
    (-1200..=1200).map(density).sum::<f64>().ln()
}

#[test]
fn low_rank() {
    let prior = low_rank::Prior {
        components: 1,
        rows: Variance::Fixed(0.5),
        columns: Variance::Fixed(0.5),
        noise: Variance::Fixed(2.0),
    };
    let setting = low_rank::Setting { cases: 4, dimensions: 1, prior };
    // Reciprocals of Gaussian likelihoods have hardly a variance unless their powers are small or there is much noise,
    // as here: with a quarter of the noise and more signal, the mean of 1500 reciprocals of SHME is 0.86 ± 0.03, since
    // rare ones are missing. No harmonic mean therefore, and more distributions.
    let families: Vec<(Family, usize)> = EVERY.into_iter().filter(|(f, _)| *f != Family::HarmonicMean).collect();
    let families: Vec<(Family, usize)> =
        families.into_iter().map(|(f, knob)| (f, if f == Family::ReverseAis { 40 } else { knob })).collect();
    are_unbiased(&setting, low_rank_evidence, &families);
    others(&setting, low_rank_evidence);
}
