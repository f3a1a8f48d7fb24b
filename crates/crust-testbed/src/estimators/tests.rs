//! Every estimator against the exact evidence of models that can be enumerated.

use super::urn::Urn;
use super::*;
use crate::model::{HeldOut, Proposal};
use crust_infer::anneal::System;
use crust_math::random::Purpose;

fn key(dataset: u32) -> StreamKey {
    StreamKey::new(20, Purpose::TEST).dataset(dataset)
}

fn urn(cases: usize, groups: usize, spread: f64) -> Urn {
    Urn::random(cases, groups, spread, &mut key(0).chain(9).stream())
}

/// Estimates of trials, with a new exact draw for each.
fn trials<E: Estimator<Urn>>(urn: &Urn, estimator: &E, count: u32) -> Vec<f64> {
    let control = Control::default();
    let posterior = urn.clone().posterior();
    let trial = |trial: u32| {
        let exact = posterior.draw(&mut key(trial).step(u64::MAX).stream());
        let problem = Problem { model: urn, exact: Some(&exact), control: &control };
        estimator.estimate(&problem, key(trial)).unwrap()
    };
    (1..=count).map(trial).collect()
}

/// How many standard errors a mean is off.
fn z_score(values: &[f64], expected: f64) -> f64 {
    let centre = mean(values);
    let variance = values.iter().map(|v| (v - centre) * (v - centre)).sum::<f64>() / float(values.len() - 1);
    (centre - expected) / (variance / float(values.len())).sqrt().max(1e-12)
}

/// Unbiased in the right space, and low or high in expectation: 5 standard errors, a false alarm in 10⁶ for each.
fn is_unbiased<E: Estimator<Urn>>(urn: &Urn, estimator: &E, count: u32) {
    let truth = urn.clone().log_evidence();
    let estimates = trials(urn, estimator, count);
    let sign = match estimator.kind() {
        Kind::StochasticLowerBound => 1.0,
        Kind::StochasticUpperBound => -1.0,
        kind => panic!("{kind:?}"),
    };
    let name = estimator.name();
    let ratios: Vec<f64> = estimates.iter().map(|e| (sign * (e - truth)).exp()).collect();
    let off = z_score(&ratios, 1.0);
    assert!(off.abs() < 5.0, "{name}: {off} standard errors off, mean ratio {}", mean(&ratios));
    // Theory: the logarithm is on one side. With as little noise as here, the test is only that it is not clearly on
    // the other.
    assert!(sign * z_score(&estimates, truth) < 5.0, "{name} is on the wrong side");
    let combined = estimator.combination().combine(&estimates);
    assert!((combined - truth).abs() < 0.2, "{name}: combined {combined}, exact {truth}");
}

#[test]
fn likelihood_weighting_ais_and_their_mirror_images_are_unbiased() {
    let urn = urn(5, 2, 1.0);
    is_unbiased(&urn, &LikelihoodWeighting { proposals: 2 }, 4000);
    is_unbiased(&urn, &HarmonicMean { draws: 2 }, 4000);
    for chains in [1, 3] {
        is_unbiased(&urn, &Ais { distributions: 4, chains }, 4000);
        is_unbiased(&urn, &ReverseAis { distributions: 4, chains }, 4000);
    }
}

#[test]
fn particles_are_unbiased_with_every_proposal_and_resampling() {
    let urn = urn(5, 3, 1.2);
    for proposal in [Proposal::Prior, Proposal::Posterior] {
        for (particles, resampling) in
            [(1, Resampling::Systematic), (4, Resampling::Systematic), (4, Resampling::Multinomial)]
        {
            for threshold in [0.7, 1.1] {
                let smc = Smc { particles, transitions: 1, proposal, threshold, resampling };
                is_unbiased(&urn, &smc, 3000);
                let shme = Shme { particles, transitions: 1, proposal, threshold, resampling };
                is_unbiased(&urn, &shme, 3000);
            }
        }
    }
    is_unbiased(&urn, &TemperedSmc { particles: 4, sweeps: 1, efficiency: 0.6 }, 4000);
}

#[test]
fn the_cms_estimator_is_unbiased_for_chains_of_any_length() {
    // Strong likelihoods make the chain slow, and its order matter.
    let urn = urn(4, 2, 1.5);
    for transitions in [1, 2, 5] {
        is_unbiased(&urn, &ChibMurraySalakhutdinov { transitions, pilot: 3 }, 6000);
    }
}

/// No theory, but they converge: the mean of 40 long runs is within 5 of its standard errors or 0.03 nats.
#[test]
fn estimators_without_a_guarantee_converge() {
    let urn = urn(5, 2, 1.0);
    let truth = urn.clone().log_evidence();
    let check = |name: &str, estimates: &[f64]| {
        let off = mean(estimates) - truth;
        assert!(off.abs() < 0.03 || z_score(estimates, truth).abs() < 5.0, "{name} is off by {off}");
        assert!(off.abs() < 0.1, "{name} is off by {off}");
    };
    for method in [PathMethod::Thermodynamic, PathMethod::SteppingStone, PathMethod::Bridge] {
        let estimator = PathSampling { method, distributions: 20, sweeps: 100 };
        check(Estimator::<Urn>::name(&estimator), &trials(&urn, &estimator, 40));
    }
    check("BAR", &trials(&urn, &BothDirections { distributions: 10, chains: 20 }, 40));
    // 32 states for 300 particles: nearly all likelihoods are ties.
    check("NS", &trials(&urn, &NestedSampling { particles: 300, transitions: 2, shrinkage: Shrinkage::Geometric }, 40));
}

#[test]
fn variational_bayes_is_below_and_the_correction_adds_the_relabellings() {
    let urn = urn(6, 3, 1.0);
    let truth = urn.clone().log_evidence();
    let plain = trials(&urn, &VariationalBayes { restarts: 2, symmetry_correction: false }, 20);
    assert!(plain.iter().all(|b| *b < truth && *b > truth - 3.0), "{plain:?}, exact {truth}");
    let corrected = trials(&urn, &VariationalBayes { restarts: 2, symmetry_correction: true }, 20);
    for (plain, corrected) in plain.iter().zip(&corrected) {
        assert!((corrected - plain - 6.0_f64.ln()).abs() < 1e-9);
    }
}

#[test]
fn the_bic_penalises_each_parameter_by_half_a_log_of_n() {
    // All cases prefer the first group by far: θ̂ = (1, 0), and the likelihood is 1.
    let urn = Urn { table: vec![vec![0.0, -50.0]; 7], alpha: 1.0 };
    let estimates = trials(&urn, &Bic { restarts: 2 }, 2);
    assert!(estimates.iter().all(|b| (b + 0.5 * 7.0_f64.ln()).abs() < 1e-6), "{estimates:?}");
}

/// Where data decide everything, or nothing, estimators agree. Their likelihoods are so small that underflow would
/// show.
#[test]
fn all_agree_at_extreme_signal_to_noise() {
    let sharp = (0..6).map(|i| vec![-400.0 - 60.0 * f64::from(i % 2), -400.0 - 60.0 * f64::from((i + 1) % 2)]);
    let flat = vec![vec![-400.0, -400.0]; 6];
    for (table, truth_is_flat) in [(sharp.collect::<Vec<_>>(), false), (flat, true)] {
        let urn = Urn { table, alpha: 0.7 };
        let truth = urn.clone().log_evidence();
        let long: [&dyn Estimator<Urn>; 9] = [
            &Ais { distributions: 300, chains: 4 },
            &ReverseAis { distributions: 300, chains: 4 },
            &BothDirections { distributions: 300, chains: 4 },
            &Smc::single(2),
            &Shme::single(2),
            &TemperedSmc { particles: 50, sweeps: 2, efficiency: 0.5 },
            &ChibMurraySalakhutdinov { transitions: 50, pilot: 10 },
            &NestedSampling { particles: 100, transitions: 2, shrinkage: Shrinkage::Geometric },
            &PathSampling { method: PathMethod::Bridge, distributions: 300, sweeps: 5 },
        ];
        let control = Control::default();
        for estimator in long {
            let exact = urn.clone().posterior().draw(&mut key(1).step(u64::MAX).stream());
            let problem = Problem { model: &urn, exact: Some(&exact), control: &control };
            let estimate = estimator.estimate(&problem, key(2)).unwrap();
            let name = estimator.name();
            assert!((estimate - truth).abs() < 1.0, "{name}: {estimate}, exact {truth}, flat {truth_is_flat}");
        }
    }
}

#[test]
fn held_out_cases_are_models_of_their_own() {
    let mut urn = urn(6, 3, 1.0);
    let mut stream = key(3).stream();
    let state = urn.draw_initial(&mut stream).unwrap();
    let theta = urn.parameters(&state, &mut stream).unwrap();
    let cases: Vec<Vec<f64>> = (0..4).map(|_| (0..3).map(|_| stream.standard_normal()).collect()).collect();
    let control = Control::default();
    let estimator = LikelihoodWeighting { proposals: 40_000 };
    let estimates = held_out(&urn, &theta, &cases, &estimator, key(4), &control).unwrap();
    for (estimate, y) in estimates.iter().zip(&cases) {
        let exact = urn.log_held_out(&theta, y).unwrap().unwrap();
        // Likelihoods differ by factors below 20, so the relative standard error is below 0.01: 5 of them.
        assert!((estimate - exact).abs() < 0.05, "{estimate} {exact}");
    }
    let annealed = held_out(&urn, &theta, &cases, &Ais { distributions: 20, chains: 2000 }, key(4), &control).unwrap();
    estimates.iter().zip(&annealed).for_each(|(a, b)| assert!((a - b).abs() < 0.08, "{a} {b}"));
}

#[test]
fn bad_settings_and_missing_draws_are_errors() {
    let urn = urn(3, 2, 1.0);
    let control = Control::default();
    let problem = Problem { model: &urn, exact: None, control: &control };
    let text = |e: Result<f64, Error>| e.unwrap_err().to_string();
    assert!(text(Shme::single(1).estimate(&problem, key(1))).contains("only simulated data have"));
    let one = NestedSampling { particles: 1, transitions: 1, shrinkage: Shrinkage::Mean };
    assert_eq!(text(one.estimate(&problem, key(1))), "nested sampling needs at least 2 particles, but was given 1");
    assert!(text(Ais { distributions: 1, chains: 1 }.estimate(&problem, key(1))).contains('1'));
    assert!(text(LikelihoodWeighting { proposals: 0 }.estimate(&problem, key(1))).contains("proposals"));
    control.interrupt();
    let ended = HarmonicMean { draws: 5 }.estimate(&Problem { exact: Some(&vec![0; 3]), ..problem }, key(1));
    assert!(ended.unwrap_err().is_interruption());
}
