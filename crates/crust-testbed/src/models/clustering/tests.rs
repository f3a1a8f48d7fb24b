use crust_math::random::{Purpose, StreamKey};

use super::*;
use crate::check::ascent::find_rise;
use crate::check::enumerate::{Enumerable, Matrices, log_normaliser};
use crate::check::geweke::{Effort, Tested, geweke};
use crate::check::ratio::sides;
use crate::check::reversal::asserts::{does_not_drift, is_balanced};
use crate::model::{Fit, HeldOut, Proposal, Sequential, Variational};
use crate::models::conditional::InverseGamma;
use crate::models::hyper::asserts::finds_hyperparameters;

fn tiny(cases: usize, components: usize) -> Setting {
    let weights: Vec<f64> = [0.5, 0.3, 0.2][..components].to_vec();
    let total: f64 = weights.iter().sum();
    let prior = Prior {
        components,
        weights: Weights::Fixed(weights.iter().map(|w| w / total).collect()),
        between: Variance::Fixed(1.7),
        within: Variance::Fixed(0.8),
    };
    Setting { cases, dimensions: 2, prior }
}

fn with_priors(cases: usize, components: usize) -> Setting {
    let prior = Prior {
        components,
        weights: Weights::Unknown { concentration: 1.5 },
        between: Variance::Unknown(InverseGamma { shape: 4.0, scale: 3.0 }),
        within: Variance::Unknown(InverseGamma { shape: 5.0, scale: 4.0 }),
    };
    Setting { cases, dimensions: 3, prior }
}

fn stream(chain: u32) -> Stream {
    StreamKey::new(20, Purpose::TEST).chain(chain).stream()
}

fn simulated(setting: &Setting, chain: u32) -> (Clustering, State, Stream) {
    let mut stream = stream(chain);
    let (model, state) = Clustering::simulate(setting, &mut stream).expect("a model");
    (model, state, stream)
}

/// log `f_β` by integration over each centre and dimension on a grid: shares nothing with the closed form.
fn log_joint_by_quadrature(model: &Clustering, state: &State, beta: f64) -> f64 {
    let (step, half) = (0.01, 1500);
    let density =
        |x: f64, mean: f64, variance: f64| -0.5 * (f_log(TAU * variance) + (x - mean) * (x - mean) / variance);
    let mut log = state.z.iter().map(|&k| state.log_weights[k]).sum::<f64>();
    for k in 0..model.prior.components {
        for j in 0..model.data.columns() {
            let integrand = |i: i32| {
                let theta = f64::from(i) * step;
                let cases = (0..state.z.len()).filter(|&i| state.z[i] == k);
                let fit: f64 = cases.map(|i| density(model.data.row(i)[j], theta, state.within)).sum();
                pxfm::f_exp(density(theta, 0.0, state.between) + beta * fit)
            };
            log += f_log((-half..=half).map(integrand).sum::<f64>() * step);
        }
    }
    log
}

#[test]
fn joint_is_the_integral_over_centres() {
    let (mut model, state, _) = simulated(&tiny(4, 3), 1);
    for beta in [0.0, 0.3, 1.0] {
        let (found, expected) =
            (model.log_joint(&state, beta).expect("log f"), log_joint_by_quadrature(&model, &state, beta));
        assert!((found - expected).abs() < 1e-9, "β = {beta}: {found} {expected}");
    }
    let ratio = model.log_ratio(&state, 0.2, 0.9).expect("a ratio");
    let difference = model.log_joint(&state, 0.9).expect("log f") - model.log_joint(&state, 0.2).expect("log f");
    assert!((ratio - difference).abs() < 1e-11);
}

#[test]
fn conditionals_have_the_ratios_of_the_joint() {
    for chain in 0..20 {
        let (mut model, state, mut stream) = simulated(&with_priors(12, 3), chain);
        let beta = stream.uniform();
        let case = usize::try_from(stream.below(12)).expect("a case");
        let conditional = model.conditional_assignment(&state, case, beta);
        let joint = |z: &usize| {
            let mut other = state.clone();
            other.z[case] = *z;
            let other = model.state(other.z, state.log_weights(), state.between, state.within);
            model.clone().log_joint(&other, beta)
        };
        for (x, other) in [(0, 1), (1, 2), (2, 0)] {
            let sides = sides(&conditional, &x, &other, joint).expect("both sides");
            assert!(sides.discrepancy() < 1e-11, "{sides:?}");
        }
        let weights = model.conditional_weights(&state).expect("a conditional");
        let (a, b) = (weights.sample(&mut stream).expect("π"), weights.sample(&mut stream).expect("π"));
        let joint = |logs: &Vec<f64>| {
            model.clone().log_joint(&model.state(state.z.clone(), logs, state.between, state.within), beta)
        };
        assert!(sides(&weights, &a, &b, joint).expect("both sides").discrepancy() < 1e-11);
    }
}

#[test]
fn sweeps_leave_the_path_invariant_and_reverse_each_other() {
    let (mut model, ..) = simulated(&tiny(4, 3), 3);
    let states = model.all_states(100).expect("81 states");
    assert!(log_normaliser(&mut model, &states, 0.0).expect("a sum").abs() < 1e-12, "the prior is normalised");
    for beta in [0.0, 0.4, 1.0] {
        let faults = Matrices::new(&mut model, &states, beta).expect("matrices").faults();
        assert!(faults.normalisation < 1e-12 && faults.invariance < 1e-13 && faults.reversal < 1e-13, "{faults:?}");
    }
    // A kernel that is no reversal of the other does show.
    let mut wrong = Matrices::new(&mut model, &states, 1.0).expect("matrices");
    wrong.reverse.clone_from(&wrong.forward);
    assert!(wrong.faults().reversal > 1e-6);
}

#[test]
fn geweke_with_fixed_and_unknown_hyperparameters() {
    let statistics = |model: &mut Clustering, state: &State| {
        let largest = state.counts.iter().max().copied().unwrap_or(0);
        vec![
            ("Σ y²", model.data.sum_of_squares()),
            ("largest cluster", float(largest)),
            ("π₁", state.log_weights[0]),
            ("σ_θ²", state.between),
            ("σ_n²", state.within),
            ("log likelihood", model.log_likelihood(state).expect("a likelihood")),
        ]
    };
    for (setting, seed) in [(tiny(6, 3), 1), (with_priors(6, 3), 2)] {
        for tested in [Tested::Step, Tested::StepReversed] {
            let effort = Effort { replicates: 1500, steps: 20 };
            let found = geweke::<Clustering>(&setting, statistics, tested, effort, StreamKey::new(seed, Purpose::TEST));
            for comparison in found.expect("both ways") {
                // 22 comparisons: a false alarm in one of 4500 runs.
                assert!(comparison.p_value > 1e-5, "{}: {}", comparison.name, comparison.p_value);
            }
        }
    }
}

#[test]
fn predictive_factors_add_up_to_the_joint() {
    let (mut model, state, mut stream) = simulated(&with_priors(7, 3), 5);
    let mut particle = model.particle(&state).expect("a particle");
    let mut sum = 0.0;
    while !particle.z.is_empty() {
        let log_prior = particle.log_weights[particle.z[particle.z.len() - 1]];
        let before = particle.clone();
        sum += log_prior + model.retract(&mut particle, Proposal::Prior).expect("a factor");
        // The posterior proposal's factor is that of the prior proposal, summed over assignments.
        let by_sum = (0..3).map(|k| {
            let mut other = before.clone();
            *other.z.last_mut().expect("a case") = k;
            model.refresh_statistics(&mut other);
            pxfm::f_exp(other.log_weights[k] + model.retract(&mut other, Proposal::Prior).expect("a factor"))
        });
        let by_sum = f_log(by_sum.sum());
        let posterior = model.retract(&mut before.clone(), Proposal::Posterior).expect("a factor");
        assert!((by_sum - posterior).abs() < 1e-11);
    }
    let bits = state.z.iter().map(|&k| state.log_weights[k]).sum::<f64>();
    assert!((sum - bits - model.log_likelihood(&state).expect("a likelihood")).abs() < 1e-10);
    for proposal in [Proposal::Prior, Proposal::Posterior] {
        let mut particle = model.begin(&mut stream).expect("a particle");
        for _ in 0..4 {
            let before = particle.clone();
            let there = model.extend(&mut particle, proposal, &mut stream).expect("a factor");
            let mut back = particle.clone();
            assert!((model.retract(&mut back, proposal).expect("a factor") - there).abs() < 1e-12);
            assert_eq!(before, back);
        }
    }
}

#[test]
fn variational_updates_are_maxima_below_the_evidence() {
    let (mut model, _, mut stream) = simulated(&tiny(5, 2), 6);
    let states = model.all_states(100).expect("32 states");
    let evidence = log_normaliser(&mut model, &states, 1.0).expect("a sum");
    let mut factors = model.initial_factors(&mut stream).expect("factors");
    let mut last = f64::NEG_INFINITY;
    for _ in 0..30 {
        model.update(&mut factors).expect("an update");
        let bound = model.bound(&factors).expect("a bound");
        assert!(bound >= last - 1e-10 && bound <= evidence, "{bound} after {last}, evidence {evidence}");
        last = bound;
    }
    let mut noise = stream.clone();
    let centres = |factors: &Factors, size: f64| {
        let mut other = factors.clone();
        for k in 0..2 {
            other.means.row_mut(k)[..2].iter_mut().for_each(|m| *m += size * noise.standard_normal());
            other.variances[k] *= pxfm::f_exp(size * noise.standard_normal());
        }
        other
    };
    let rise = find_rise(&factors, &[1e-3; 50], |f| model.bound(f), centres).expect("bounds");
    assert_eq!(rise, None);
    let known = model.known("a test").expect("fixed");
    model.update_assignments(&known, &mut factors);
    let assignments = |factors: &Factors, size: f64| {
        let mut other = factors.clone();
        for i in 0..5 {
            let row = other.responsibilities.row_mut(i);
            row[0] = (row[0] * pxfm::f_exp(size * stream.standard_normal())).min(1.0);
            row[1] = 1.0 - row[0];
        }
        other
    };
    assert_eq!(find_rise(&factors, &[1e-2; 50], |f| model.bound(f), assignments).expect("bounds"), None);
}

#[test]
fn constrained_moves_stay_above_the_floor_and_reach_all_that_is() {
    let (mut model, _, mut stream) = simulated(&tiny(3, 2), 7);
    let states = model.all_states(10).expect("8 states");
    let likelihoods: Vec<f64> = states.iter().map(|s| model.log_likelihood(s).expect("a likelihood")).collect();
    let mut sorted = likelihoods.clone();
    sorted.sort_by(f64::total_cmp);
    let floor = Floor { log_likelihood: sorted[3], label: 0.5, rounding: 1e-11 };
    let weight = |s: &State, l: f64| floor.share(l) * pxfm::f_exp(s.z.iter().map(|&k| s.log_weights[k]).sum::<f64>());
    let weights: Vec<f64> = states.iter().zip(&likelihoods).map(|(s, &l)| weight(s, l)).collect();
    let total: f64 = weights.iter().sum();
    let best = likelihoods.iter().position(|l| l.total_cmp(&sorted[7]).is_eq()).expect("the largest");
    let mut state = states[best].clone();
    let (n, mut visits) = (40_000, vec![0.0; 8]);
    for _ in 0..n {
        let found = model.step_constrained(&mut state, &floor, &mut stream).expect("a move");
        assert!(floor.share(found) > 0.0);
        let at = states.iter().position(|s| s.z == state.z).expect("a state");
        visits[at] += 1.0;
    }
    for ((visits, weight), likelihood) in visits.iter().zip(&weights).zip(&likelihoods) {
        let expected = weight / total;
        // Moves are not independent: 40 standard deviations of independent ones would be absurd, 0.03 is many of these.
        assert!((visits / f64::from(n) - expected).abs() < 0.03, "{likelihood}: {visits} {expected}");
    }
}

#[test]
fn held_out_likelihood_is_the_mixture() {
    let (mut model, state, mut stream) = simulated(&tiny(6, 3), 8);
    let parameters = model.parameters(&state, &mut stream).expect("centres");
    let y = [0.3, -1.2];
    let mut case = model.case(&parameters, &y);
    let logs: Vec<f64> = (0..3).map(|k| case.log_joint(&k, 1.0).expect("log f")).collect();
    let exact = model.log_held_out(&parameters, &y).expect("a sum").expect("a number");
    assert!((crust_math::special::log_sum_exp_slice(&logs) - exact).abs() < 1e-13);
    let prior: f64 = (0..3).map(|k| pxfm::f_exp(case.log_joint(&k, 0.0).expect("log f"))).sum();
    assert!((prior - 1.0).abs() < 1e-13);
}

#[test]
fn sweeps_with_unknown_mixture_weights_reverse_each_other() {
    let mut setting = with_priors(6, 3);
    setting.prior.between = Variance::Fixed(1.2);
    setting.prior.within = Variance::Fixed(0.7);
    let (mut model, from, mut stream) = simulated(&setting, 11);
    is_balanced(&mut model, &from, &mut stream);
    let (mut model, from, _) = simulated(&with_priors(6, 3), 11);
    let refused = model.log_transition(&from, &from, 1.0, Direction::Forward).expect_err("unknown variances");
    assert!(refused.to_string().contains("needs fixed variances"), "{refused}");
}

#[test]
fn constrained_moves_keep_unknown_hyperparameters_where_they_are() {
    let (mut model, _, mut stream) = simulated(&with_priors(6, 2), 5);
    let statistics = |s: &State| [s.between.ln(), s.within.ln(), s.log_weights[0]];
    does_not_drift(&mut model, statistics, &mut stream);
}

#[test]
fn the_fit_finds_hyperparameters_that_are_not_fixed() {
    let (model, _, _) = simulated(&tiny(30, 2), 12);
    let best = |within: Variance, equal: bool| {
        let weights = if equal { Weights::equal(2) } else { Weights::Unknown { concentration: 1.0 } };
        let prior = Prior { weights, within, ..model.prior.clone() };
        let mut model = Clustering::new(model.data.clone(), prior).expect("a model");
        let mut stream = stream(13);
        let fits = (0..12).map(|_| model.maximum_log_likelihood(&mut stream).expect("a fit"));
        (fits.fold(f64::NEG_INFINITY, f64::max), model.free_parameters())
    };
    finds_hyperparameters(best, 1);
}
