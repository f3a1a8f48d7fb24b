use crust_math::random::{Purpose, StreamKey};
use crust_math::special::log_sum_exp_slice;

use super::*;
use crate::check::ascent::find_rise;
use crate::check::enumerate::{Enumerable, Matrices, log_normaliser};
use crate::check::geweke::{Effort, Tested, geweke};
use crate::check::ratio::sides;
use crate::check::reversal::asserts::{does_not_drift, is_balanced};
use crate::linear::{cholesky, solve_lower};
use crate::model::{Fit, HeldOut, Proposal, Sequential, Variational};
use crate::models::conditional::InverseGamma;
use crate::models::hyper::asserts::finds_hyperparameters;

fn tiny(cases: usize, components: usize) -> Setting {
    let prior = Prior {
        components,
        probabilities: Probabilities::Fixed([0.5, 0.3, 0.6][..components].to_vec()),
        features: Variance::Fixed(1.4),
        noise: Variance::Fixed(0.5),
    };
    Setting { cases, dimensions: 3, prior }
}

fn with_priors(cases: usize, components: usize) -> Setting {
    let prior = Prior {
        components,
        probabilities: Probabilities::Unknown(Beta { a: 2.0, b: 1.5 }),
        features: Variance::Unknown(InverseGamma { shape: 4.0, scale: 3.0 }),
        noise: Variance::Unknown(InverseGamma { shape: 6.0, scale: 4.0 }),
    };
    Setting { cases, dimensions: 3, prior }
}

fn simulated(setting: &Setting, chain: u32) -> (BinaryAttributes, State, Stream) {
    let mut stream = StreamKey::new(23, Purpose::TEST).chain(chain).stream();
    let (model, state) = BinaryAttributes::simulate(setting, &mut stream).expect("a model");
    (model, state, stream)
}

/// log `f_β` with the covariance of Y's columns, N × N: β > 0 makes them N(0, σ_n²/β I + σ_a² ZZᵀ), and
/// (2πσ_n²)^(−β/2) / (2πσ_n²/β)^(−1/2) remains for each entry.
fn log_joint_by_covariance(model: &BinaryAttributes, state: &State, beta: f64) -> f64 {
    let (n, k) = (state.z.rows(), model.prior.components);
    let Hyper { probabilities, features, noise, .. } = &state.hyper;
    let mut log = 0.0;
    for z in state.z.iter() {
        log += (0..k).map(|a| f_log(if z[a] > 0.0 { probabilities[a] } else { 1.0 - probabilities[a] })).sum::<f64>();
    }
    let entry =
        |i: usize, j: usize| features * dot(state.z.row(i), state.z.row(j)) + if i == j { noise / beta } else { 0.0 };
    let lower = cholesky(n, &(0..n * n).map(|at| entry(at / n, at % n)).collect::<Vec<f64>>());
    let pivots: f64 = (0..n).map(|i| f_log(lower[i * n + i])).sum();
    for j in 0..model.data.columns() {
        let y: Vec<f64> = (0..n).map(|i| model.data.row(i)[j]).collect();
        let x = solve_lower(&lower, &y);
        log += -0.5 * x.iter().map(|x| x * x).sum::<f64>() - pivots - 0.5 * float(n) * f_log(TAU);
        log += 0.5 * float(n) * (f_log(TAU * noise / beta) - beta * f_log(TAU * noise));
    }
    let Prior { probabilities: p, features: f, noise: s, .. } = &model.prior;
    log + p.log_prior(probabilities) + f.log_prior(*features) + s.log_prior(*noise)
}

#[test]
fn joint_is_the_integral_over_features() {
    for setting in [tiny(6, 3), with_priors(6, 3)] {
        let (mut model, state, _) = simulated(&setting, 1);
        for beta in [0.01, 0.3, 1.0] {
            let (found, expected) =
                (model.log_joint(&state, beta).expect("log f"), log_joint_by_covariance(&model, &state, beta));
            assert!((found - expected).abs() < 1e-9, "β = {beta}: {found} {expected}");
        }
        let ratio = model.log_ratio(&state, 0.2, 0.9).expect("a ratio");
        let difference = model.log_joint(&state, 0.9).expect("log f") - model.log_joint(&state, 0.2).expect("log f");
        assert!((ratio - difference).abs() < 1e-11);
    }
}

#[test]
fn conditionals_have_the_ratios_of_the_joint() {
    for chain in 0..20 {
        let (mut model, state, mut stream) = simulated(&with_priors(9, 3), chain);
        let beta = stream.uniform();
        let case = usize::try_from(stream.below(9)).expect("a case");
        for k in 0..3 {
            let conditional = model.conditional_attribute(&state, case, k, beta);
            let joint = |&bit: &bool| {
                let mut z = state.z.clone();
                z.row_mut(case)[k] = f64::from(u8::from(bit));
                model.clone().log_joint(&model.state(z, state.hyper.clone()), beta)
            };
            let sides = sides(&conditional, &true, &false, joint).expect("both sides");
            assert!(sides.discrepancy() < 1e-10, "{sides:?}");
            let probability = model.conditional_probability(&state, k).expect("a conditional");
            let joint = |&p: &f64| {
                let mut values = state.hyper.probabilities.clone();
                values[k] = p;
                let hyper = Hyper::new(values, state.hyper.features, state.hyper.noise);
                model.clone().log_joint(&model.state(state.z.clone(), hyper), beta)
            };
            assert!(
                crate::check::ratio::sides(&probability, &0.3, &0.8, joint).expect("both sides").discrepancy() < 1e-11
            );
        }
    }
}

#[test]
fn conditionals_hold_where_rank_one_changes_would_not() {
    // A signal so strong that the posterior without a case is computed from scratch.
    let mut setting = tiny(4, 3);
    (setting.prior.features, setting.prior.noise) = (Variance::Fixed(1e3), Variance::Fixed(1e-5));
    let (mut model, state, _) = simulated(&setting, 2);
    for (case, k) in [(0, 0), (1, 2), (3, 1)] {
        let conditional = model.conditional_attribute(&state, case, k, 1.0);
        let mut z = state.z.clone();
        let mut log = |bit: f64| {
            z.row_mut(case)[k] = bit;
            model.log_joint(&model.state(z.clone(), state.hyper.clone()), 1.0).expect("log f")
        };
        let expected = log(1.0) - log(0.0);
        assert!((conditional.log_odds - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{conditional:?} {expected}");
    }
}

#[test]
fn sweeps_leave_the_path_invariant_and_reverse_each_other() {
    let (mut model, ..) = simulated(&tiny(3, 2), 3);
    let states = model.all_states(100).expect("64 states");
    assert!(log_normaliser(&mut model, &states, 0.0).expect("a sum").abs() < 1e-12, "the prior is normalised");
    for beta in [0.0, 0.4, 1.0] {
        let faults = Matrices::new(&mut model, &states, beta).expect("matrices").faults();
        assert!(faults.normalisation < 1e-12 && faults.invariance < 1e-12 && faults.reversal < 1e-12, "{faults:?}");
    }
    let mut wrong = Matrices::new(&mut model, &states, 1.0).expect("matrices");
    wrong.reverse.clone_from(&wrong.forward);
    assert!(wrong.faults().reversal > 1e-6);
}

#[test]
fn geweke_with_fixed_and_unknown_hyperparameters() {
    let statistics = |model: &mut BinaryAttributes, state: &State| {
        vec![
            ("Σ y²", model.data.sum_of_squares()),
            ("Σ z", (0..3).map(|k| state.gram.row(k)[k]).sum()),
            ("π₁", state.hyper.probabilities[0]),
            ("σ_a²", state.hyper.features),
            ("σ_n²", state.hyper.noise),
            ("log likelihood", model.log_likelihood(state).expect("a likelihood")),
        ]
    };
    for (setting, seed) in [(tiny(5, 3), 1), (with_priors(5, 3), 2)] {
        for tested in [Tested::Step, Tested::StepReversed] {
            let effort = Effort { replicates: 1500, steps: 20 };
            let key = StreamKey::new(seed, Purpose::TEST);
            let found = geweke::<BinaryAttributes>(&setting, statistics, tested, effort, key);
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
    while particle.z.rows() > 0 {
        let (before, case) = (particle.clone(), particle.z.rows() - 1);
        sum += model.retract(&mut particle, Proposal::Prior).expect("a factor");
        let mut one = |setting: usize| {
            let mut z = before.z.clone();
            let mut log_prior = 0.0;
            for (k, bit) in enumerate::bits(setting, 3).enumerate() {
                z.row_mut(case)[k] = bit;
                let p = state.hyper.probabilities[k];
                log_prior += f_log(if bit > 0.0 { p } else { 1.0 - p });
            }
            let mut other = model.state(z, state.hyper.clone());
            log_prior + model.retract(&mut other, Proposal::Prior).expect("a factor")
        };
        let logs: Vec<f64> = (0..8).map(&mut one).collect();
        let posterior = model.retract(&mut before.clone(), Proposal::Posterior).expect("a factor");
        assert!((log_sum_exp_slice(&logs) - posterior).abs() < 1e-10);
    }
    assert!((sum - model.log_likelihood(&state).expect("a likelihood")).abs() < 1e-9);
    for proposal in [Proposal::Prior, Proposal::Posterior] {
        let mut particle = model.begin(&mut stream).expect("a particle");
        for _ in 0..4 {
            let there = model.extend(&mut particle, proposal, &mut stream).expect("a factor");
            let mut back = particle.clone();
            assert!((model.retract(&mut back, proposal).expect("a factor") - there).abs() < 1e-10);
        }
    }
}

#[test]
fn many_attributes_are_proposed_with_exact_weights() {
    // One case of 15 attributes: the mean weight is its evidence, which a sum over all settings gives.
    let components = enumerate::LARGEST + 1;
    let prior = Prior {
        components,
        probabilities: Probabilities::Fixed(vec![0.2; components]),
        features: Variance::Fixed(0.3),
        noise: Variance::Fixed(1.0),
    };
    let data = Rows::from_fn(1, 2, |_, j| [1.0, -2.0][j]);
    let mut model = BinaryAttributes::new(data, prior).expect("a model");
    // Given the number of ones m ~ Binomial(15, 0.2), y ~ N(0, 1 + 0.3 m).
    let term = |m: u32| {
        let (m, n) = (f64::from(m), float(components));
        let v = 1.0 + 0.3 * m;
        let log = crust_math::special::lchoose(n, m) + m * f_log(0.2) + (n - m) * f_log(0.8);
        pxfm::f_exp(log - f_log(TAU * v) - 0.5 * 5.0 / v)
    };
    let exact: f64 = (0..=15).map(term).sum();
    let mut stream = StreamKey::new(24, Purpose::TEST).stream();
    let mut weights = vec![];
    for _ in 0..4000 {
        let mut particle = model.begin(&mut stream).expect("a particle");
        let log = model.extend(&mut particle, Proposal::Posterior, &mut stream).expect("a factor");
        assert!((model.retract(&mut particle, Proposal::Posterior).expect("a factor") - log).abs() < 1e-10);
        weights.push(pxfm::f_exp(log));
    }
    let mean = weights.iter().sum::<f64>() / 4000.0;
    let variance = weights.iter().map(|w| (w - mean) * (w - mean)).sum::<f64>() / 4000.0;
    // Five standard errors.
    assert!((mean - exact).abs() < 5.0 * (variance / 4000.0).sqrt(), "{mean} {exact}");
}

#[test]
fn variational_updates_are_maxima_below_the_evidence() {
    let (mut model, _, mut stream) = simulated(&tiny(4, 2), 6);
    let states = model.all_states(256).expect("256 states");
    let evidence = log_normaliser(&mut model, &states, 1.0).expect("a sum");
    let mut factors = model.initial_factors(&mut stream).expect("factors");
    let mut last = f64::NEG_INFINITY;
    for _ in 0..30 {
        model.update(&mut factors).expect("an update");
        let bound = model.bound(&factors).expect("a bound");
        assert!(bound >= last - 1e-10 && bound <= evidence, "{bound} after {last}, evidence {evidence}");
        last = bound;
    }
    let features = |factors: &Factors, size: f64| {
        let mut other = factors.clone();
        (0..2).for_each(|k| other.means.row_mut(k)[..3].iter_mut().for_each(|m| *m += size * stream.standard_normal()));
        other
    };
    assert_eq!(find_rise(&factors, &[1e-3; 30], |f| model.bound(f), features).expect("bounds"), None);
    // The best q(A) is the best of those that other hyperparameters would give: its covariance is a maximum too.
    for (factor, divisor) in [(1.1, 1.0), (0.9, 1.0), (1.0, 1.05), (1.0, 0.95)] {
        let other = Hyper::new(vec![0.5, 0.3], 1.4 * factor, 0.5 * divisor);
        let mut changed = factors.clone();
        model.update_features(&other, &mut changed);
        assert!(model.bound(&changed).expect("a bound") < last);
    }
    // After one bit's update no other probability is better for that bit; the last one that was updated is the last of
    // the last case.
    let hyper = model.known("a test").expect("fixed");
    model.update_attributes(&hyper, &mut factors);
    let bits = |factors: &Factors, size: f64| {
        let mut other = factors.clone();
        let r = &mut other.probabilities.row_mut(3)[1];
        *r = crust_math::special::inv_logit(crust_math::special::logit(*r) + size);
        other
    };
    assert_eq!(find_rise(&factors, &[0.01, -0.01, 0.1, -0.1], |f| model.bound(f), bits).expect("bounds"), None);
}

#[test]
fn constrained_moves_stay_above_the_floor_and_reach_all_that_is() {
    let (mut model, _, mut stream) = simulated(&tiny(2, 2), 7);
    let states = model.all_states(16).expect("16 states");
    let likelihoods: Vec<f64> = states.iter().map(|s| model.log_likelihood(s).expect("a likelihood")).collect();
    let mut sorted = likelihoods.clone();
    sorted.sort_by(f64::total_cmp);
    let floor = Floor { log_likelihood: sorted[8], label: 0.3, rounding: 1e-11 };
    let mut weights = vec![];
    for (state, &l) in states.iter().zip(&likelihoods) {
        weights.push(floor.share(l) * pxfm::f_exp(model.log_joint(state, 0.0).expect("log f")));
    }
    let total: f64 = weights.iter().sum();
    let best = likelihoods.iter().position(|l| l.total_cmp(&sorted[15]).is_eq()).expect("the largest");
    let mut state = states[best].clone();
    let (n, mut visits) = (40_000, vec![0.0; 16]);
    for _ in 0..n {
        let found = model.step_constrained(&mut state, &floor, &mut stream).expect("a move");
        assert!(floor.share(found) > 0.0);
        visits[states.iter().position(|s| s.z == state.z).expect("a state")] += 1.0;
    }
    for ((visits, weight), likelihood) in visits.iter().zip(&weights).zip(&likelihoods) {
        let expected = weight / total;
        assert!((visits / f64::from(n) - expected).abs() < 0.03, "{likelihood}: {visits} {expected}");
    }
}

#[test]
fn held_out_likelihood_sums_over_the_bits() {
    let (mut model, state, mut stream) = simulated(&tiny(6, 3), 8);
    let parameters = model.parameters(&state, &mut stream).expect("features");
    let y = [0.3, -1.2, 0.5];
    let mut case = model.case(&parameters, &y);
    let z = |setting: usize| enumerate::bits(setting, 3).map(|bit| bit > 0.0).collect::<Vec<bool>>();
    let logs: Vec<f64> = (0..8).map(|s| case.log_joint(&z(s), 1.0).expect("log f")).collect();
    let exact = model.log_held_out(&parameters, &y).expect("a sum").expect("a number");
    assert!((log_sum_exp_slice(&logs) - exact).abs() < 1e-12);
    let prior: f64 = (0..8).map(|s| pxfm::f_exp(case.log_joint(&z(s), 0.0).expect("log f"))).sum();
    assert!((prior - 1.0).abs() < 1e-13);
}

/// Features drawn given Z have the mean and covariance of p(A | Z, Y): E[A] = μ and Cov = Σ.
#[test]
fn features_have_their_posterior_moments() {
    let (mut model, state, mut stream) = simulated(&tiny(6, 2), 9);
    let n = 20_000;
    let (mut sum, mut product) = ([0.0; 2], 0.0);
    for _ in 0..n {
        let a = model.draw_features(&state, 0.7, &mut stream);
        let pair = [a.row(0)[1], a.row(1)[1]];
        (0..2).for_each(|k| sum[k] += pair[k]);
        product += pair[0] * pair[1];
    }
    let Posterior { mean, covariance, .. } = &model.scratch.posterior;
    let n = f64::from(n);
    for (k, sum) in sum.iter().enumerate() {
        let se = (covariance.row(k)[k] / n).sqrt();
        assert!((sum / n - mean.row(k)[1]).abs() < 5.0 * se);
    }
    let found = product / n - sum[0] * sum[1] / (n * n);
    let se = (2.0 * covariance.row(0)[0] * covariance.row(1)[1] / n).sqrt();
    assert!((found - covariance.row(0)[1]).abs() < 5.0 * se, "{found} {}", covariance.row(0)[1]);
}

#[test]
fn the_fit_rises_above_the_truth() {
    let (mut model, state, mut stream) = simulated(&tiny(20, 3), 10);
    let parameters = model.parameters(&state, &mut stream).expect("features");
    let rows: Vec<Vec<f64>> = model.data.iter().map(|row| row[..3].to_vec()).collect();
    let truth: f64 = rows.iter().filter_map(|y| model.log_held_out(&parameters, y).expect("a sum")).sum();
    let best =
        (0..5).map(|_| model.maximum_log_likelihood(&mut stream).expect("a fit")).fold(f64::NEG_INFINITY, f64::max);
    assert!(best > truth && best < truth + 100.0, "{best} {truth}");
}

#[test]
fn sweeps_with_unknown_probabilities_reverse_each_other() {
    let mut setting = with_priors(6, 3);
    setting.prior.features = Variance::Fixed(1.2);
    setting.prior.noise = Variance::Fixed(0.7);
    let (mut model, from, mut stream) = simulated(&setting, 11);
    is_balanced(&mut model, &from, &mut stream);
    let (mut model, from, _) = simulated(&with_priors(6, 3), 11);
    let refused = model.log_transition(&from, &from, 1.0, Direction::Forward).expect_err("unknown variances");
    assert!(refused.to_string().contains("needs fixed variances"), "{refused}");
}

#[test]
fn constrained_moves_keep_unknown_hyperparameters_where_they_are() {
    let (mut model, _, mut stream) = simulated(&with_priors(6, 2), 5);
    let statistics = |s: &State| [s.hyper.features.ln(), s.hyper.noise.ln(), s.hyper.probabilities[1]];
    does_not_drift(&mut model, statistics, &mut stream);
}

#[test]
fn the_fit_finds_hyperparameters_that_are_not_fixed() {
    let (model, _, _) = simulated(&tiny(20, 2), 12);
    let best = |noise: Variance, equal: bool| {
        let unknown = Probabilities::Unknown(Beta { a: 1.0, b: 1.0 });
        let probabilities = if equal { Probabilities::Fixed(vec![0.5; 2]) } else { unknown };
        let prior = Prior { probabilities, noise, ..model.prior.clone() };
        let mut model = BinaryAttributes::new(model.data.clone(), prior).expect("a model");
        let mut stream = StreamKey::new(20, Purpose::TEST).chain(13).stream();
        let fits = (0..12).map(|_| model.maximum_log_likelihood(&mut stream).expect("a fit"));
        (fits.fold(f64::NEG_INFINITY, f64::max), model.free_parameters())
    };
    finds_hyperparameters(best, 2);
}
