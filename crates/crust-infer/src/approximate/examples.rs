//! Targets whose answers are known, for the tests.

use crust_math::random::{Purpose, StreamKey};

use super::coordinates::Family;
use super::elbo::{self, divergence, importance_weighted};
use super::evaluate::Evaluations;
use super::family::{Approximation, Elliptical, standard_log_density};
use super::fixed::{self, Convergence};
use super::laplace::laplace;
use super::lbfgs::End;
use super::pathfinder::{self, resample};
use super::scale::Scale;
use super::{Error, laplace};
use crate::drive::{Control, Parallelism};
use crate::target::{Batch, Fatal, Target};
use crate::vector::dot;

/// A density given by log p and its gradient at one point.
#[derive(Clone)]
pub struct Function {
    dimension: usize,
    f: fn(&[f64], &mut [f64]) -> f64,
}

impl Target for Function {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let mut gradient = vec![0.0; self.dimension];
        for lane in 0..batch.lanes {
            let x: Vec<f64> = batch.point(lane).collect();
            batch.log_prior[lane] = (self.f)(&x, &mut gradient);
            batch.log_likelihood[lane] = 0.0;
            if batch.wants_gradient() {
                batch.gradient.iter_mut().skip(lane).step_by(batch.lanes).zip(&gradient).for_each(|(to, g)| *to = *g);
            }
        }
        Ok(())
    }
}

/// A normalised normal density with mean i and covariance 0.9^|i−j| in 10 dimensions: the precision has three
/// diagonals.
fn autoregressive(x: &[f64], gradient: &mut [f64]) -> f64 {
    const RHO: f64 = 0.9;
    let variance = 1.0 - RHO * RHO;
    gradient.fill(0.0);
    let at = |i: usize| x[i] - super::family::float(i);
    let mut value = -0.5 * (at(0).powi(2) + std::f64::consts::TAU.ln());
    gradient[0] -= at(0);
    for i in 1..x.len() {
        let residual = at(i) - RHO * at(i - 1);
        value -= 0.5 * (residual * residual / variance + variance.ln() + std::f64::consts::TAU.ln());
        gradient[i] -= residual / variance;
        gradient[i - 1] += RHO * residual / variance;
    }
    value
}

/// Neal's funnel as in the reference: v ~ N(0, 3), nine xᵢ ~ N(0, e^(v/2)).
fn funnel(x: &[f64], gradient: &mut [f64]) -> f64 {
    let v = x[0];
    let square = dot(&x[1..], &x[1..]);
    gradient[0] = -v / 9.0 - 4.5 + 0.5 * square * (-v).exp();
    gradient[1..].iter_mut().zip(&x[1..]).for_each(|(g, x)| *g = -x * (-v).exp());
    -0.5 * v * v / 9.0 - 3.0_f64.ln() - 4.5 * v - 0.5 * square * (-v).exp() - 5.0 * std::f64::consts::TAU.ln()
}

/// Independent double exponential coordinates, which have kinks.
fn kinks(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x.signum());
    -x.iter().map(|x| x.abs() + 2.0_f64.ln()).sum::<f64>()
}

/// log Gamma(3, 1) of e^x with Jacobian, and a normal second coordinate: one mode, skewed.
fn log_gamma(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient[0] = 3.0 - x[0].exp();
    gradient[1] = -x[1] / 4.0;
    3.0 * x[0] - x[0].exp() - 2.0_f64.ln() - x[1] * x[1] / 8.0 - (2.0 * std::f64::consts::TAU.sqrt()).ln()
}

/// Eight schools, non-centred; log Z is −31.995 (bridge sampling of real Stan's draws).
fn schools(x: &[f64], gradient: &mut [f64]) -> f64 {
    const EFFECTS: [(f64, f64); 8] =
        [(28.0, 15.0), (8.0, 10.0), (-3.0, 16.0), (7.0, 11.0), (-1.0, 9.0), (1.0, 11.0), (18.0, 10.0), (12.0, 18.0)];
    let (mu, log_tau) = (x[0], x[1]);
    let tau = log_tau.exp();
    let ratio = (tau / 5.0).powi(2);
    let log_2pi = std::f64::consts::TAU.ln();
    let mut value = -0.5 * mu * mu / 25.0 - 5.0_f64.ln() - 0.5 * log_2pi;
    value += log_tau - (5.0 * std::f64::consts::PI).ln() - ratio.ln_1p();
    gradient[0] = -mu / 25.0;
    gradient[1] = 1.0 - 2.0 * ratio / (1.0 + ratio);
    for (k, (y, sigma)) in EFFECTS.iter().enumerate() {
        let raw = x[2 + k];
        let residual = (y - mu - tau * raw) / sigma;
        value -= 0.5 * (raw * raw + residual * residual) + sigma.ln() + log_2pi;
        gradient[0] += residual / sigma;
        gradient[1] += residual / sigma * tau * raw;
        gradient[2 + k] = -raw + residual / sigma * tau;
    }
    value
}

fn with<R>(target: &Function, run: impl FnOnce(&mut Evaluations<'_, Function>) -> R) -> R {
    let control = Control::default();
    run(&mut Evaluations::new(target, Parallelism::default(), &control))
}

fn key(seed: u64) -> StreamKey {
    StreamKey::new(seed, Purpose::FIT)
}

#[test]
fn laplace_is_exact_for_normal_targets_and_equals_formulas() {
    let normal = with(&Function { dimension: 10, f: autoregressive }, |e| laplace(e, None, 2.0, key(1))).unwrap();
    assert!(normal.log_z.abs() < 1e-9, "{}", normal.log_z);
    let covariance = normal.approximation.covariance().unwrap();
    for (k, c) in covariance.iter().enumerate() {
        let lag = i32::try_from((k / 10).abs_diff(k % 10)).unwrap();
        assert!((c - 0.9_f64.powi(lag)).abs() < 1e-9, "{k}: {c}");
    }
    normal.mode.x.iter().enumerate().for_each(|(i, x)| assert!((x - super::family::float(i)).abs() < 1e-9));
    // The mode of the logarithm is log 3, where the curvature is 3.
    let skewed = with(&Function { dimension: 2, f: log_gamma }, |e| laplace(e, None, 2.0, key(1))).unwrap();
    assert!((skewed.mode.x[0] - 3.0_f64.ln()).abs() < 1e-10);
    assert!((skewed.approximation.variances()[0] - 1.0 / 3.0).abs() < 1e-9);
    assert!((skewed.approximation.variances()[1] - 4.0).abs() < 1e-9);
}

#[test]
fn laplace_refuses_what_has_no_mode_or_no_curvature() {
    let slope = |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(&[1.0, -x[1]]);
        x[0] - 0.5 * x[1] * x[1]
    };
    let refused = with(&Function { dimension: 2, f: slope }, |e| laplace(e, None, 2.0, key(1)));
    assert!(matches!(refused, Err(Error::NoMode(_))), "{refused:?}");
    let ridge = |x: &[f64], g: &mut [f64]| {
        let sum = x[0] + x[1];
        g.fill(-sum);
        -0.5 * sum * sum
    };
    let refused = with(&Function { dimension: 2, f: ridge }, |e| laplace(e, None, 2.0, key(1)));
    assert!(matches!(refused, Err(Error::Curvature { .. })), "{refused:?}");
}

/// Where the density does not end, the ELBO has no maximum: that is told, and no number is.
#[test]
fn fits_refuse_what_has_no_integral() {
    let line = |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(&[-x[0], 0.0]);
        -0.5 * x[0] * x[0]
    };
    let slope = |x: &[f64], g: &mut [f64]| {
        g.fill(1.0);
        x[0] + x[1]
    };
    for family in [Family::MeanField, Family::FullRank, Family::LowRank(1)] {
        for f in [line as fn(&[f64], &mut [f64]) -> f64, slope] {
            let fit = |seed| {
                let settings = fixed::Settings::new(key(seed), family);
                with(&Function { dimension: 2, f }, |e| fixed::fit(e, &settings))
            };
            for seed in 1..=3 {
                let refused = fit(seed).map(|fit| (fit.elbo.value, fit.convergence));
                assert!(matches!(refused, Err(Error::RunsAway { .. })), "{family:?} {refused:?}");
            }
        }
    }
    let path = |e: &mut Evaluations<'_, Function>| pathfinder::path(e, &pathfinder::Settings::new(key(1)), 1, None);
    let refused = with(&Function { dimension: 2, f: slope }, path);
    assert!(matches!(refused, Err(Error::RunsAway { .. })), "{refused:?}");
}

#[test]
fn modes_of_quadratics_are_found_from_anywhere() {
    let found = with(&Function { dimension: 10, f: autoregressive }, |e| laplace::mode(e, None, 2.0, key(7))).unwrap();
    assert_eq!(found.end, End::Converged);
    assert!(found.gradient.iter().all(|g| g.abs() < 1e-4));
}

#[test]
fn pathfinder_finds_a_normal_target_and_does_not_fall_into_the_funnel() {
    let settings = pathfinder::Settings::new(key(3));
    let found = with(&Function { dimension: 10, f: autoregressive }, |e| {
        let path = pathfinder::path(e, &settings, 1, None)?;
        elbo::estimate(e, &path.approximation, 4096, key(3).step(99))
    });
    let found = found.unwrap().value;
    assert!(found > -3.0, "{found}");
    let several = with(&Function { dimension: 10, f: funnel }, |e| pathfinder::multi_path(e, &settings, 1000)).unwrap();
    assert!(several.elbo.value > -12.0, "{}", several.elbo.value);
    assert_eq!(several.paths.len(), 4);
}

/// Of 40 paths three quarters have KL(q‖p) below 5 nats. As wide as curvature says, three quarters were below 9.4 in 60.
#[test]
fn paths_of_hierarchical_models_are_not_too_wide() {
    const LOG_Z: f64 = -31.995;
    let divergence = |seed| {
        with(&Function { dimension: 10, f: schools }, |e| {
            let path = pathfinder::path(e, &pathfinder::Settings::new(key(seed)), 1, None)?;
            Ok::<f64, Error>(LOG_Z - elbo::estimate(e, &path.approximation, 1024, key(seed).step(99))?.value)
        })
    };
    let mut all: Vec<f64> = (1..=40).map(|seed| divergence(seed).unwrap()).collect();
    all.sort_by(f64::total_cmp);
    assert!(all[0] > 0.5 && all[29] < 5.0, "{all:?}");
}

/// Paths that go side by side are those that go alone.
#[test]
fn paths_do_not_disturb_each_other() {
    let target = Function { dimension: 10, f: schools };
    let settings = pathfinder::Settings::new(key(5));
    let together = with(&target, |e| pathfinder::paths(e, &settings)).unwrap();
    for (number, path) in (1..=4).zip(&together) {
        assert_eq!(path, &with(&target, |e| pathfinder::path(e, &settings, number, None)).unwrap());
    }
    assert_ne!(together[0], together[1]);
}

#[test]
fn resampling_keeps_proportions() {
    let weights = [0.5_f64, 0.25, 0.0, 0.25].map(f64::ln);
    let mut stream = key(1).stream();
    let mut counts = [0; 4];
    resample(&weights, 400, &mut stream).into_iter().for_each(|i| counts[i] += 1);
    assert_eq!(counts, [200, 100, 0, 100]);
}

#[test]
fn fixed_draws_reach_the_family_optimum_of_a_normal_target_exactly() {
    let target = Function { dimension: 10, f: autoregressive };
    for seed in 1..=5 {
        let full = with(&target, |e| fixed::fit(e, &fixed::Settings::new(key(seed), Family::FullRank))).unwrap();
        assert_eq!(full.convergence, Convergence::Converged);
        // The tolerance of the optimiser is 1e-4 nats.
        assert!(full.elbo.value.abs() < 2e-3, "{}", full.elbo.value);
        let mean = with(&target, |e| fixed::fit(e, &fixed::Settings::new(key(seed), Family::MeanField))).unwrap();
        // sd = 1/√Λᵢᵢ, with Λ = (1, 1 + ρ², …, 1)/(1 − ρ²); KL = ½ Σ log Λᵢᵢ − ½ log |Λ|.
        let precision = |i: usize| -> f64 { if i == 0 || i == 9 { 1.0 / 0.19 } else { 1.81 / 0.19 } };
        let kl = 0.5 * (0..10).map(|i| precision(i).ln()).sum::<f64>() - 0.5 * -9.0 * 0.19_f64.ln();
        let slack = 3.0 * mean.elbo.standard_error + 1e-3;
        assert!((mean.elbo.value + kl).abs() < slack, "{} for {}", mean.elbo.value, -kl);
        for (i, v) in mean.approximation.variances().iter().enumerate() {
            assert!((v * precision(i) - 1.0).abs() < 0.02, "{i}: {v}");
        }
    }
}

/// In many dimensions, where products of matrices do the work: full rank is exact, and Student's t distribution, which
/// begins at it, is not far.
#[test]
fn full_rank_is_exact_in_many_dimensions() {
    let target = Function { dimension: 200, f: autoregressive };
    let settings = fixed::Settings::new(key(1), Family::FullRank);
    let full = with(&target, |e| fixed::fit(e, &settings)).unwrap();
    assert_eq!(full.convergence, Convergence::Converged);
    assert!(full.elbo.value.abs() < 5e-3, "{}", full.elbo.value);
    let covariance = full.approximation.covariance().unwrap();
    for (k, found) in covariance.iter().enumerate() {
        let truth = 0.9_f64.powi(i32::try_from((k / 200).abs_diff(k % 200)).unwrap());
        assert!((found - truth).abs() < 0.02, "{k}: {found} {truth}");
    }
    let settings = fixed::Settings { degrees: Some(30.0), ..settings };
    let student = with(&target, |e| fixed::fit_near(e, &settings, full.approximation.clone())).unwrap();
    // The best one has the covariance of the target: −KL = H(t) − ½ d log 2πe, where S Sᵀ is (ν − 2)/ν of the covariance.
    let (d, nu) = (200.0, 30.0);
    let half = 0.5 * (nu + d);
    let digammas = crust_math::special::digamma(half) - crust_math::special::digamma(0.5 * nu);
    let entropy = half * digammas - standard_log_density(d, Some(nu), 0.0) + 0.5 * d * ((nu - 2.0) / nu).ln();
    let best = entropy - 0.5 * d * (1.0 + std::f64::consts::TAU.ln());
    assert_eq!(student.convergence, Convergence::Converged);
    assert!((student.elbo.value - best).abs() < 0.1, "{} {best}", student.elbo.value);
}

#[test]
fn fixed_draws_reach_the_family_optimum_of_the_funnel() {
    // ../shared/reference/vi: ELBO −1.862847, v ~ N(0, 0.465690), xᵢ ~ N(0, 0.947227).
    for (family, seed) in [Family::MeanField, Family::FullRank].into_iter().flat_map(|f| (1..=5).map(move |s| (f, s))) {
        let target = Function { dimension: 10, f: funnel };
        let fit = with(&target, |e| fixed::fit(e, &fixed::Settings::new(key(seed), family))).unwrap();
        assert_eq!(fit.convergence, Convergence::Converged);
        assert!((fit.elbo.value + 1.862_847).abs() < 0.06, "{seed}: {}", fit.elbo.value);
        let sd: Vec<f64> = fit.approximation.variances().iter().map(|v| v.sqrt()).collect();
        assert!((sd[0] / 0.465_690 - 1.0).abs() < 0.08 && (sd[5] / 0.947_227 - 1.0).abs() < 0.08, "{seed}: {sd:?}");
    }
}

/// The best normal distribution has the variance π/2 in each coordinate, where E |x| = 1. Gradients of the bound on few
/// draws never become small: in 30 dimensions 4,800,000 evaluations had not been enough.
#[test]
fn a_search_ends_where_it_gets_no_further() {
    let target = Function { dimension: 30, f: kinks };
    let best = 30.0 * (0.5 * (0.5 * std::f64::consts::PI).ln() + 0.5 * std::f64::consts::TAU.ln() - 0.5 - 2.0_f64.ln());
    with(&target, |evaluations| {
        for family in [Family::MeanField, Family::FullRank] {
            let fit = fixed::fit(evaluations, &fixed::Settings::new(key(1), family)).unwrap();
            assert!((fit.elbo.value - best).abs() < 0.1, "{family:?}: {} {best}", fit.elbo.value);
            assert_eq!(fit.convergence, Convergence::Converged, "{family:?}");
        }
        assert!(evaluations.count() < 2_000_000, "{}", evaluations.count());
    });
}

#[test]
fn low_rank_and_student_fits_are_better_where_they_should_be() {
    let target = Function { dimension: 10, f: autoregressive };
    let elbo = |family| with(&target, |e| fixed::fit(e, &fixed::Settings::new(key(4), family))).unwrap().elbo.value;
    let (mean, low) = (elbo(Family::MeanField), elbo(Family::LowRank(3)));
    assert!(low > mean + 1.0, "{low} {mean}");
    // Student's t distribution with 4 degrees of freedom, two coordinates: within its own family the bound is exact.
    let student = |x: &[f64], g: &mut [f64]| {
        let square = 1.0 + dot(x, x) / 4.0;
        g.iter_mut().zip(x).for_each(|(g, x)| *g = -6.0 / 4.0 * x / square);
        -3.0 * square.ln() - std::f64::consts::TAU.ln()
    };
    let target = Function { dimension: 2, f: student };
    let settings = fixed::Settings::new(key(4), Family::FullRank);
    let fit = |degrees| with(&target, |e| fixed::fit(e, &fixed::Settings { degrees, ..settings })).unwrap();
    let (normal, heavy) = (fit(None), fit(Some(4.0)));
    assert!(heavy.elbo.value > -0.01 && heavy.elbo.value < 0.01, "{}", heavy.elbo.value);
    assert!(normal.elbo.value < -0.02, "{}", normal.elbo.value);
}

#[test]
fn bounds_are_in_order_and_the_divergence_lies_between_them() {
    let target = Function { dimension: 2, f: log_gamma };
    let q = Elliptical::normal(vec![1.0, 0.3], Scale::Diagonal(vec![0.8, 1.5]));
    let found = with(&target, |e| elbo::estimate(e, &q, 20_000, key(5))).unwrap();
    // KL(q‖p) exactly: E_q log q − E_q log p, with E e^x = e^(m + s²/2).
    let entropy = std::f64::consts::TAU.ln() + 1.0 + 0.8_f64.ln() + 1.5_f64.ln();
    let energy =
        3.0 - (1.0 + 0.32_f64).exp() - 2.0_f64.ln() - (0.09 + 2.25) / 8.0 - (2.0 * std::f64::consts::TAU.sqrt()).ln();
    let truth = -(energy + entropy);
    assert!((found.value + truth).abs() < 4.0 * found.standard_error + 1e-9);
    let (ten, error) = importance_weighted(&found.log_ratios, 10).unwrap();
    assert!(found.value < ten && ten < 3.0 * error);
    let between = divergence(found.value, found.standard_error, 3.0, -0.05, Some(0.02));
    assert!(between.at_least < truth && truth < between.at_most.unwrap());
}

#[test]
fn results_do_not_depend_on_threads_or_lanes() {
    let target = Function { dimension: 10, f: funnel };
    let run = |threads, width| {
        let how = Parallelism {
            threads: std::num::NonZero::new(threads).unwrap(),
            width: std::num::NonZero::new(width).unwrap(),
        };
        let control = Control::default();
        let mut evaluations = Evaluations::new(&target, how, &control);
        let fit = fixed::fit(&mut evaluations, &fixed::Settings::new(key(6), Family::MeanField)).unwrap();
        fixed::Fit { bound_seconds: 0.0, ..fit }
    };
    // Not `assert_eq`, which would print all draws.
    assert!(run(1, 64) == run(3, 5));
}
