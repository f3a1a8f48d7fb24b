use crust_math::random::{Purpose, StreamKey};

use super::variational::Gaussians;
use super::*;
use crate::check::ascent::find_rise;
use crate::check::geweke::{Effort, Tested, geweke};
use crate::check::ratio::sides;
use crate::check::reversal::asserts::{does_not_drift, is_balanced};
use crate::model::{Constrained, Fit, Floor, HeldOut, Proposal, Sequential, Variational};
use crate::models::conditional::{Conditional, InverseGamma};
use crate::models::rows::dot;

fn tiny() -> Setting {
    let prior =
        Prior { components: 2, rows: Variance::Fixed(1.3), columns: Variance::Fixed(0.6), noise: Variance::Fixed(0.4) };
    Setting { cases: 5, dimensions: 4, prior }
}

fn with_priors() -> Setting {
    let unknown = |shape, scale| Variance::Unknown(InverseGamma { shape, scale });
    let prior = Prior { components: 2, rows: unknown(4.0, 3.0), columns: unknown(5.0, 3.0), noise: unknown(6.0, 3.0) };
    Setting { cases: 5, dimensions: 4, prior }
}

fn simulated(setting: &Setting, chain: u32) -> (LowRank, State, Stream) {
    let mut stream = StreamKey::new(21, Purpose::TEST).chain(chain).stream();
    let (model, state) = LowRank::simulate(setting, &mut stream).expect("a model");
    (model, state, stream)
}

/// log `f_β` factor by factor.
fn log_joint_by_hand(model: &LowRank, state: &State, beta: f64) -> f64 {
    let density = |x: f64, mean: f64, v: f64| -0.5 * (f_log(TAU * v) + (x - mean) * (x - mean) / v);
    let Variances { rows, columns, noise } = state.variances;
    let prior = |x: &Rows, v: f64| -> f64 {
        x.iter().map(|row| row[..x.columns()].iter().map(|&x| density(x, 0.0, v)).sum::<f64>()).sum()
    };
    let mut log = prior(&state.u, rows) + prior(&state.v, columns);
    for (y, u) in model.data.iter().zip(state.u.iter()) {
        log += beta * y.iter().zip(state.v.iter()).map(|(&y, v)| density(y, dot(u, v), noise)).sum::<f64>();
    }
    let Prior { rows: r, columns: c, noise: n, .. } = &model.prior;
    log + r.log_prior(rows) + c.log_prior(columns) + n.log_prior(noise)
}

#[test]
fn joint_has_all_of_its_factors() {
    for setting in [tiny(), with_priors()] {
        let (mut model, mut state, mut stream) = simulated(&setting, 1);
        for beta in [0.0, 0.35, 1.0] {
            // The residual that sweeps keep is the one that is added up entry by entry.
            model.step(&mut state, beta, &mut stream).expect("a step");
            let found = model.log_joint(&state, beta).expect("log f");
            assert!((found - log_joint_by_hand(&model, &state, beta)).abs() < 1e-10, "β = {beta}");
            model.step_reversed(&mut state, beta, &mut stream).expect("a step");
            let found = model.log_joint(&state, beta).expect("log f");
            assert!((found - log_joint_by_hand(&model, &state, beta)).abs() < 1e-10, "β = {beta}");
        }
        let ratio = model.log_ratio(&state, 0.2, 0.9).expect("a ratio");
        let difference = log_joint_by_hand(&model, &state, 0.9) - log_joint_by_hand(&model, &state, 0.2);
        assert!((ratio - difference).abs() < 1e-10);
    }
}

fn with_row(state: &State, side: Side, row: usize, x: &[f64]) -> State {
    let mut state = state.clone();
    let rows = if side == Side::U { &mut state.u } else { &mut state.v };
    rows.row_mut(row)[..x.len()].copy_from_slice(x);
    state
}

#[test]
fn conditionals_have_the_ratios_of_the_joint() {
    for chain in 0..20 {
        let (mut model, state, mut stream) = simulated(&with_priors(), chain);
        let beta = stream.uniform();
        for (side, row) in [(Side::U, 3), (Side::V, 2), (Side::U, 0)] {
            let conditional = model.conditional_row(&state, side, row, beta);
            let x: Vec<f64> = (0..2).map(|_| stream.standard_normal()).collect();
            let other = conditional.sample(&mut stream).expect("a row");
            let joint = |x: &Vec<f64>| Ok::<_, ()>(log_joint_by_hand(&model, &with_row(&state, side, row, x), beta));
            let sides = sides(&conditional, &x, &other, joint).expect("both sides");
            assert!(sides.discrepancy() < 1e-11, "{side:?} {sides:?}");
        }
        let noise = model.prior.noise.conditional(beta, 20.0, state.residual).expect("a conditional");
        let joint = |&noise: &f64| {
            let variances = Variances { noise, ..state.variances };
            Ok::<_, ()>(log_joint_by_hand(&model, &State { variances, ..state.clone() }, beta))
        };
        assert!(sides(&noise, &0.3, &0.7, joint).expect("both sides").discrepancy() < 1e-11);
    }
}

/// Both with fixed variances and with unknown ones.
#[test]
fn sweeps_reverse_each_other() {
    for (setting, chain) in (0..20).map(|chain| (if chain % 2 == 0 { tiny() } else { with_priors() }, chain)) {
        let (mut model, from, mut stream) = simulated(&setting, chain);
        let to = model.draw_initial(&mut stream).expect("a state");
        is_balanced(&mut model, &from, &mut stream);
        for beta in [0.3, 1.0] {
            let back = model.log_transition(&to, &from, beta, Direction::Reverse).expect("a density");
            let unreversed = model.log_transition(&to, &from, beta, Direction::Forward).expect("a density");
            assert!((unreversed - back).abs() > 1e-3, "the two directions differ");
        }
    }
}

#[test]
fn constrained_moves_keep_unknown_variances_where_they_are() {
    let (mut model, _, mut stream) = simulated(&with_priors(), 5);
    let statistics = |s: &State| [s.variances.rows.ln(), s.variances.columns.ln(), s.variances.noise.ln()];
    does_not_drift(&mut model, statistics, &mut stream);
}

#[test]
fn transition_densities_are_those_of_the_conditionals() {
    let (mut model, from, mut stream) = simulated(&tiny(), 3);
    let to = model.draw_initial(&mut stream).expect("a state");
    let row = |x: &Rows, i: usize| x.row(i)[..2].to_vec();
    let mut sum = 0.0;
    for i in 0..5 {
        sum += model.conditional_row(&from, Side::U, i, 0.7).log_density(&row(&to.u, i));
    }
    let between = model.state(to.u.clone(), from.v.clone(), from.variances);
    for j in 0..4 {
        sum += model.conditional_row(&between, Side::V, j, 0.7).log_density(&row(&to.v, j));
    }
    let found = model.log_transition(&from, &to, 0.7, Direction::Forward).expect("a density");
    assert!((found - sum).abs() < 1e-10 * (1.0 + sum.abs()));
}

#[test]
fn geweke_with_fixed_and_unknown_hyperparameters() {
    let statistics = |model: &mut LowRank, state: &State| {
        vec![
            ("Σ y²", model.data.sum_of_squares()),
            ("u₁₁²", state.u.row(0)[0].powi(2)),
            ("v₁₁", state.v.row(0)[0]),
            ("σ_u²", state.variances.rows),
            ("σ_v²", state.variances.columns),
            ("σ_n²", state.variances.noise),
            ("residual", state.residual),
        ]
    };
    for (setting, seed) in [(tiny(), 1), (with_priors(), 2)] {
        for tested in [Tested::Step, Tested::StepReversed] {
            let effort = Effort { replicates: 1500, steps: 20 };
            let found = geweke::<LowRank>(&setting, statistics, tested, effort, StreamKey::new(seed, Purpose::TEST));
            for comparison in found.expect("both ways") {
                // 22 comparisons: a false alarm in one of 4500 runs.
                assert!(comparison.p_value > 1e-5, "{}: {}", comparison.name, comparison.p_value);
            }
        }
    }
}

#[test]
fn predictive_factors_come_from_the_joint() {
    let (mut model, state, mut stream) = simulated(&tiny(), 5);
    let mut particle = model.particle(&state).expect("a particle");
    let mut sum = 0.0;
    for case in (0..5).rev() {
        let before = particle.clone();
        // p(y, u | V) / p(u | y, V) = p(y | V) at any u.
        let y = |x: &Vec<f64>| {
            let fit = model.log_case(&before, model.case_residual(&with_row(&before, Side::U, case, x), case));
            fit - x.iter().map(|x| 0.5 * (f_log(TAU * 1.3) + x * x / 1.3)).sum::<f64>()
        };
        let at = vec![0.4, -0.9];
        let joint = y(&at);
        let expected = joint - model.conditional_row(&state, Side::U, case, 1.0).log_density(&at);
        let posterior = model.retract(&mut before.clone(), Proposal::Posterior).expect("a factor");
        assert!((posterior - expected).abs() < 1e-10, "{posterior} {expected}");
        sum += model.retract(&mut particle, Proposal::Prior).expect("a factor");
    }
    assert!(particle.u.rows() == 0 && particle.residual < 1e-12);
    assert!((sum - model.log_likelihood(&state).expect("a likelihood")).abs() < 1e-10);
    for proposal in [Proposal::Prior, Proposal::Posterior] {
        let mut particle = model.begin(&mut stream).expect("a particle");
        for _ in 0..4 {
            let there = model.extend(&mut particle, proposal, &mut stream).expect("a factor");
            let back = model.retract(&mut particle.clone(), proposal).expect("a factor");
            assert!((back - there).abs() < 1e-11);
            model.refresh(&mut particle, &mut stream).expect("a move");
            assert!((particle.residual - model.residual(&particle)).abs() < 1e-10, "the residual of the cases so far");
        }
    }
}

#[test]
fn variational_updates_are_maxima() {
    let (mut model, _, mut stream) = simulated(&tiny(), 6);
    let mut factors = model.initial_factors(&mut stream).expect("factors");
    let mut last = f64::NEG_INFINITY;
    for _ in 0..30 {
        model.update(&mut factors).expect("an update");
        let bound = model.bound(&factors).expect("a bound");
        assert!(bound >= last - 1e-10, "{bound} after {last}");
        last = bound;
    }
    // The best factor is the best of those with other means, and of those that other hyperparameters would give.
    let shifted = |factors: &Factors, size: f64| {
        let mut other = factors.clone();
        other.v.means.row_mut(1)[..2].iter_mut().for_each(|m| *m += size * stream.standard_normal());
        other
    };
    assert_eq!(find_rise(&factors, &[1e-3; 30], |f| model.bound(f), shifted).expect("bounds"), None);
    let data = model.transposed.clone();
    let rescaled = |factors: &Factors, size: f64| {
        let v = Gaussians::best(&data, &factors.u, 0.6 * (1.0 + size), 0.4 * (1.0 - size));
        Factors { u: factors.u.clone(), v }
    };
    assert_eq!(find_rise(&factors, &[0.1, -0.1, 0.01, -0.01], |f| model.bound(f), rescaled).expect("bounds"), None);
}

#[test]
fn bounds_and_evidence_agree_for_one_row_and_one_column() {
    // N = D = K = 1: the evidence by quadrature over u with v integrated out, p(y | u) = N(0, σ_n² + u² σ_v²).
    let prior = Prior { components: 1, ..tiny().prior };
    let data = Rows::from_fn(1, 1, |_, _| 1.1);
    let mut model = LowRank::new(data, prior).expect("a model");
    let density = |x: f64, v: f64| pxfm::f_exp(-0.5 * x * x / v) / (TAU * v).sqrt();
    let step = 1e-3;
    let integrand = |i: i32| {
        let u = f64::from(i) * step;
        density(u, 1.3) * density(1.1, 0.4 + 0.6 * u * u)
    };
    let evidence = f_log((-20_000..20_000).map(integrand).sum::<f64>() * step);
    let mut stream = StreamKey::new(22, Purpose::TEST).stream();
    let mut factors = model.initial_factors(&mut stream).expect("factors");
    (0..100).for_each(|_| model.update(&mut factors).expect("an update"));
    let bound = model.bound(&factors).expect("a bound");
    assert!(bound < evidence && bound > evidence - 1.0, "{bound} {evidence}");
    // Likelihood weighting with posterior proposals of u: E[p(y | v)] over v from the prior.
    let n = 40_000;
    let mut one = || {
        let mut particle = model.begin(&mut stream).expect("a particle");
        pxfm::f_exp(model.extend(&mut particle, Proposal::Posterior, &mut stream).expect("a factor"))
    };
    let mean = (0..n).map(|_| one()).sum::<f64>() / f64::from(n);
    // Weights are below 0.4 / √0.4 and their deviation below 0.3: five standard errors.
    assert!((mean - pxfm::f_exp(evidence)).abs() < 5.0 * 0.3 / f64::from(n).sqrt(), "{mean} {}", pxfm::f_exp(evidence));
}

#[test]
fn constrained_moves_stay_above_the_floor() {
    let (mut model, mut state, mut stream) = simulated(&tiny(), 7);
    let floor = Floor {
        log_likelihood: model.log_likelihood(&state).expect("a likelihood") - 2.0,
        label: 0.0,
        rounding: 1e-11,
    };
    let mut moved = 0.0;
    for _ in 0..500 {
        let before = state.u.row(0)[0];
        let found = model.step_constrained(&mut state, &floor, &mut stream).expect("a move");
        assert!(found >= floor.log_likelihood - 1e-8, "{found}");
        moved += (state.u.row(0)[0] - before).abs();
    }
    assert!(moved > 10.0, "{moved}");
    // Without a constraint the moves are draws from the prior.
    let all = Floor { log_likelihood: -1e6, label: 0.0, rounding: 1e-11 };
    let draws: Vec<f64> = (0..4000)
        .map(|_| {
            model.step_constrained(&mut state, &all, &mut stream).expect("a move");
            state.v.row(2)[1]
        })
        .collect();
    let variance = draws.iter().map(|x| x * x).sum::<f64>() / 4000.0;
    // Five standard errors of a variance estimate.
    assert!((variance - 0.6).abs() < 5.0 * 0.6 * (2.0_f64 / 4000.0).sqrt(), "{variance}");
}

#[test]
fn held_out_likelihood_is_the_integral_over_u() {
    let (mut model, state, mut stream) = simulated(&tiny(), 8);
    let parameters = model.parameters(&state, &mut stream).expect("loadings");
    let y = [0.3, -1.2, 0.4, 2.0];
    let mut case = model.case(&parameters, &y);
    let exact = model.log_held_out(&parameters, &y).expect("an integral").expect("a number");
    let step = 0.05;
    let mut sum = 0.0;
    for i in -160..=160 {
        for j in -160..=160 {
            let u = vec![f64::from(i) * step, f64::from(j) * step];
            sum += pxfm::f_exp(case.log_joint(&u, 1.0).expect("log f")) * step * step;
        }
    }
    assert!((f_log(sum) - exact).abs() < 1e-8, "{} {exact}", f_log(sum));
}

#[test]
fn the_fit_is_a_maximum() {
    let (mut model, state, mut stream) = simulated(&Setting { cases: 12, ..tiny() }, 9);
    let best = model.maximum_log_likelihood(&mut stream).expect("a fit");
    let mut log_likelihood = |v: &Rows| {
        let empty = State { u: Rows::zeros(0, 2), v: v.clone(), ..state.clone() };
        let rows: Vec<Rows> = (0..12).map(|i| model.case_row(i)).collect();
        rows.iter().map(|y| model.predict(&empty, y)).sum::<f64>()
    };
    let (mut v, mut at) = (state.v.clone(), log_likelihood(&state.v));
    for round in 0..3000 {
        let mut other = v.clone();
        let size = 0.3 / (1.0 + f64::from(round) / 100.0);
        (0..4).for_each(|j| other.row_mut(j)[..2].iter_mut().for_each(|x| *x += size * stream.standard_normal()));
        let value = log_likelihood(&other);
        if value > at {
            (v, at) = (other, value);
        }
    }
    assert!(at <= best + 1e-9 && at > best - 0.05, "{at} {best}");
}

/// A fit that chooses the noise is as good as the best of fits with given ones.
#[test]
fn the_fit_finds_noise_that_is_not_fixed() {
    let (model, _, mut stream) = simulated(&Setting { cases: 12, ..tiny() }, 9);
    let mut best = |noise: Variance| {
        let mut model = LowRank::new(model.data.clone(), Prior { noise, ..model.prior }).expect("a model");
        (model.maximum_log_likelihood(&mut stream).expect("a fit"), model.free_parameters())
    };
    let (chosen, parameters) = best(Variance::Unknown(InverseGamma { shape: 1.0, scale: 1.0 }));
    let grid = (0..2000).map(|i| best(Variance::Fixed(0.02 * 1.004_f64.powi(i))).0);
    let on_grid = grid.fold(f64::NEG_INFINITY, f64::max);
    assert!(chosen >= on_grid - 1e-9 && chosen < on_grid + 1e-3, "{chosen} {on_grid}");
    assert_eq!(parameters, best(Variance::Fixed(1.0)).1 + 1);
}
