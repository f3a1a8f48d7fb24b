//! Estimators of the marginal likelihood against conjugate answers.
//!
//! Statistical tests have fixed seeds; an estimate may be 5 standard errors away, which happens by chance once in two
//! million.

mod common;

use std::f64::consts::TAU;
use std::num::NonZero;

use common::{Lanes, Pointwise, count, key};
use crust_infer::anneal::{Pilot, Schedule, TunedKernels, tune};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::error::Error;
use crust_infer::evidence::{
    Euclidean, Explorer, Keep, NestedSettings, Proposal, Shared, Shrinkage, SmcSettings, StonesSettings, bridge,
    explore, harmonic_mean, importance, likelihood_weighting, log_mean_error, log_mean_exp, nested, smc, stones,
};
use crust_infer::kernel::{Kernel, Method};
use crust_infer::metric::Metric;
use crust_math::random::StreamKey;

const EXPLORER: Explorer = Explorer { chains: 16, warmup: 150, draws: 200 };

fn log_normal(x: f64, deviation: f64) -> f64 {
    -0.5 * (TAU * deviation * deviation).ln() - 0.5 * (x / deviation).powi(2)
}

/// xᵢ ~ N(0, 1), yᵢ ~ N(xᵢ, t²): the evidence is that of N(0, 1 + t²).
#[derive(Clone)]
struct Conjugate {
    y: Vec<f64>,
    t: f64,
}

impl Conjugate {
    fn new(dimension: usize, t: f64) -> Lanes<Self> {
        Lanes(Self { y: (0..dimension).map(|i| (1.3 * count(i)).sin() * 1.5).collect(), t })
    }

    fn truth(&self) -> f64 {
        self.y.iter().map(|y| log_normal(*y, self.t.hypot(1.0))).sum()
    }
}

impl Pointwise for Conjugate {
    fn dimension(&self) -> usize {
        self.y.len()
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        for (i, g) in gradient.iter_mut().enumerate() {
            *g = -x[i] + beta * (self.y[i] - x[i]) / self.t.powi(2);
        }
        let likelihood = x.iter().zip(&self.y).map(|(x, y)| log_normal(y - x, self.t)).sum();
        (x.iter().map(|x| log_normal(*x, 1.0)).sum(), likelihood)
    }
}

/// x ~ N(0, 1) in each coordinate, and a likelihood with two narrow peaks that are equally high: ½ N(x₁; 2, t²) + ½
/// N(x₁; −2, t²).
#[derive(Clone)]
struct TwoModes {
    t: f64,
}

impl TwoModes {
    fn truth(&self) -> f64 {
        log_normal(2.0, self.t.hypot(1.0))
    }
}

impl Pointwise for TwoModes {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (a, b) = (log_normal(x[0] - 2.0, self.t), log_normal(x[0] + 2.0, self.t));
        let (high, low) = (a.max(b), a.min(b));
        let share = 1.0 / (1.0 + (b - a).exp());
        let slope = share * (2.0 - x[0]) + (1.0 - share) * (-2.0 - x[0]);
        gradient[0] = -x[0] + beta * slope / self.t.powi(2);
        gradient[1] = -x[1];
        let likelihood = high + (low - high).exp().ln_1p() - 2.0_f64.ln();
        (x.iter().map(|x| log_normal(*x, 1.0)).sum(), likelihood)
    }
}

fn prior(dimension: usize) -> impl FnMut(StreamKey) -> Result<Vec<f64>, Error> {
    move |key| {
        let mut x = vec![0.0; dimension];
        key.stream().fill_normal(&mut x);
        Ok(x)
    }
}

fn draws(dimension: usize, n: u32, seed: u64) -> Vec<Vec<f64>> {
    let mut prior = prior(dimension);
    (0..n).map(|k| prior(key(seed).chain(k).step(9)).expect("a draw")).collect()
}

fn run(seed: u64, control: &Control) -> Shared<'_> {
    Shared { key: key(seed), how: Parallelism::default(), control }
}

fn kernels<P: Pointwise>(target: &Lanes<P>, seed: u64) -> TunedKernels {
    let d = target.0.dimension();
    let pilot = Pilot { moves: 4, ..Pilot::default() };
    let mut driver = Driver::new(target.clone(), Parallelism::default());
    tune(&mut driver, &draws(d, 32, seed), &pilot, key(seed), &Control::default()).expect("a pilot")
}

/// A population with draws from the standard normal prior.
fn population<'a, P: Pointwise>(
    target: &'a Lanes<P>,
    run: &Shared<'a>,
) -> Euclidean<'a, Lanes<P>, impl FnMut(StreamKey) -> Result<Vec<f64>, Error>> {
    Euclidean::new(target, prior(target.0.dimension()), *run)
}

fn climbing(live: usize, steps: usize, remainder: f64, most_nats: f64) -> NestedSettings {
    let shrinkage = Shrinkage::Geometric;
    NestedSettings { live, replaced: (live / 8).max(1), steps, shrinkage, remainder, most_nats }
}

#[track_caller]
fn close(found: f64, se: f64, truth: f64, most_se: f64) {
    assert!(se > 0.0 && se < most_se, "standard error {se}");
    assert!((found - truth).abs() < 5.0 * se, "{found} ± {se}, not {truth}");
}

#[test]
fn bridge_and_importance_find_a_conjugate_evidence() {
    let control = Control::default();
    for (dimension, t, seed) in [(1, 0.3, 1), (4, 0.1, 2), (10, 0.5, 3)] {
        let target = Conjugate::new(dimension, t);
        let truth = target.0.truth();
        let exploration = explore(&target, EXPLORER, &run(seed, &control)).expect("draws");
        let found = bridge(&target, &exploration, &run(seed, &control)).expect("no failure").expect("a proposal");
        close(found.log_z, found.se, truth, 0.02);
        let bound = importance(&target, &found.proposal, 4000, &run(seed, &control)).expect("weights");
        close(bound.log_z, bound.se, truth, 0.02);
        // the promise that the number of draws is computed from
        let wanted = found.draws_for(bound.se);
        assert!((1000.0..16000.0).contains(&wanted), "{wanted} draws for the error of 4000");
    }
}

/// The errors that bridge sampling states are the ones that it makes: over 60 seeds the mean square of error/se is
/// χ²₆₀/60, which is outside of [0.45, 1.9] once in 10⁵ times; short chains and few draws make it a little more.
#[test]
fn the_error_of_bridge_sampling_is_calibrated() {
    let target = Conjugate::new(3, 0.4);
    let (truth, control) = (target.0.truth(), Control::default());
    let square = |seed: u64| {
        let explorer = Explorer { chains: 16, warmup: 150, draws: 60 };
        let exploration = explore(&target, explorer, &run(100 + seed, &control)).expect("draws");
        let found = bridge(&target, &exploration, &run(100 + seed, &control)).expect("no failure").expect("a proposal");
        ((found.log_z - truth) / found.se).powi(2)
    };
    let mean = (0..60).map(square).sum::<f64>() / 60.0;
    assert!((0.45..2.1).contains(&mean), "mean square of error/se: {mean}");
}

/// A kernel that hardly moves, few particles and a coarse schedule: the estimate is poor, but its mean over islands is
/// p(y).
#[test]
fn smc_is_unbiased_with_poor_kernels() {
    let target = Conjugate::new(2, 0.5);
    let kernel = Kernel { method: Method::Metropolis, step_size: 0.3, jitter: 0.0, short: 0.0, metric: Metric::Unit };
    let kernels = TunedKernels::constant(&kernel, 2).expect("a kernel");
    let schedule = Schedule::try_from(vec![0.0, 0.2, 0.6, 1.0]).expect("a schedule");
    for (resampled, chain, seed, keep) in
        [(2, 2, 1, Keep::All), (3, 4, 2, Keep::All), (8, 2, 3, Keep::All), (4, 3, 4, Keep::Last)]
    {
        let settings = SmcSettings { islands: 4000, resampled, chain, keep };
        let control = Control::default();
        let run = run(seed, &control);
        let found =
            smc(&mut population(&target, &run).with_kernels(&kernels), &schedule, settings, &run).expect("a run");
        let ratios: Vec<f64> = found.islands.iter().map(|log| log - target.0.truth()).collect();
        let (log_mean, se) = (log_mean_exp(&ratios), log_mean_error(&ratios));
        assert!(se < 0.05 && log_mean.abs() < 5.0 * se, "{resampled}, {chain}: {log_mean} ± {se}");
        // and single islands are below on average
        assert!(ratios.iter().sum::<f64>() < 0.0);
    }
}

#[test]
fn smc_and_stones_weigh_both_modes() {
    let target = Lanes(TwoModes { t: 0.1 });
    let (truth, control) = (target.0.truth(), Control::default());
    let kernels = kernels(&target, 5);
    let schedule = Schedule::from_pilot(12, &kernels).expect("a schedule");
    let settings = SmcSettings { islands: 16, resampled: 64, chain: 4, keep: Keep::All };
    let run6 = run(6, &control);
    let found = smc(&mut population(&target, &run6).with_kernels(&kernels), &schedule, settings, &run6).expect("a run");
    close(log_mean_exp(&found.islands), log_mean_error(&found.islands), truth, 0.1);
    let settings = StonesSettings { chains: 64, burn_in: 10, draws: 40 };
    let run7 = run(7, &control);
    let found =
        stones(&mut population(&target, &run7).with_kernels(&kernels), &schedule, settings, &run7).expect("a run");
    close(found.log_z, found.se, truth, 0.1);
    close(found.thermodynamic, found.thermodynamic_se, truth, 0.2);
}

#[test]
fn stones_find_a_conjugate_evidence() {
    let target = Conjugate::new(5, 0.3);
    let control = Control::default();
    let kernels = kernels(&target, 8);
    let schedule = Schedule::from_pilot(20, &kernels).expect("a schedule");
    let settings = StonesSettings { chains: 32, burn_in: 8, draws: 24 };
    let run = run(8, &control);
    let found =
        stones(&mut population(&target, &run).with_kernels(&kernels), &schedule, settings, &run).expect("a run");
    close(found.log_z, found.se, target.0.truth(), 0.1);
    close(found.thermodynamic, found.thermodynamic_se, target.0.truth(), 0.15);
}

/// With a step that hardly any draw of the prior survives, the stones are nats too low, by more than their error.
/// Draws of the next distribution tell. With steps that the pilot chose both sides agree.
#[test]
fn draws_of_both_sides_tell_what_one_side_misses() {
    let target = Conjugate::new(3, 0.05);
    let (truth, control) = (target.0.truth(), Control::default());
    let kernels = kernels(&target, 18);
    let coarse = Schedule::try_from(vec![0.0, 0.3, 1.0]).expect("a schedule");
    let fine = Schedule::from_pilot(30, &kernels).expect("a schedule");
    for seed in 1..=5 {
        let run = run(seed, &control);
        let stones_of = |schedule: &Schedule| {
            let settings = StonesSettings { chains: 32, burn_in: 8, draws: 16 };
            stones(&mut population(&target, &run).with_kernels(&kernels), schedule, settings, &run).expect("a run")
        };
        let found = stones_of(&coarse);
        let (plain, both) = (found.log_z - truth, found.log_z + found.shortfall - truth);
        assert!(plain < -1.0 && found.shortfall > 2.0 * found.se, "{seed}: {plain}, {}", found.shortfall);
        assert!(both.abs() < 0.7 * plain.abs(), "{seed}: {both} of {plain}");
        let found = stones_of(&fine);
        assert!(found.shortfall.abs() < 2.0 * found.se, "{seed}: {} ± {}", found.shortfall, found.se);
    }
}

/// The same for particles: where steps are too long, what both sides see is nearer to the truth than the weights alone.
/// Islands that have no weight must not speak for the others.
#[test]
fn particles_tell_what_their_weights_have_missed() {
    let target = Conjugate::new(3, 0.05);
    let (truth, control) = (target.0.truth(), Control::default());
    let kernels = kernels(&target, 18);
    let coarse = Schedule::try_from(vec![0.0, 0.05, 0.3, 1.0]).expect("a schedule");
    let fine = Schedule::from_pilot(30, &kernels).expect("a schedule");
    let settings = SmcSettings { islands: 16, resampled: 8, chain: 16, keep: Keep::All };
    let (mut weights, mut both_sides) = (0.0, 0.0);
    for seed in 1..=8 {
        let run = run(seed, &control);
        let smc_of = |schedule: &Schedule| {
            smc(&mut population(&target, &run).with_kernels(&kernels), schedule, settings, &run).expect("a run")
        };
        let (low, fair) = (smc_of(&coarse), smc_of(&fine));
        let error = log_mean_exp(&low.islands) - truth;
        weights += error.powi(2);
        both_sides += (error + low.shortfall).powi(2);
        assert!(fair.shortfall.abs() < log_mean_error(&fair.islands), "{seed}: {}", fair.shortfall);
    }
    assert!(both_sides < 0.5 * weights, "{both_sides}, {weights}");
}

#[test]
fn nested_sampling_finds_a_conjugate_evidence() {
    let control = Control::default();
    let settings = climbing(256, 30, 1e-3, 1000.0);
    for (dimension, t, seed) in [(1, 0.05, 1), (3, 0.2, 2)] {
        let target = Conjugate::new(dimension, t);
        let run = run(seed, &control);
        let found = nested(&mut population(&target, &run), settings, &run).expect("a run");
        close(found.log_z, found.se, target.0.truth(), 0.3);
        // H = Σ ½ (−1 − 2 log s + s² + m²) for the posterior N(m, s²) of each coordinate
        let s = t / t.hypot(1.0);
        let mean = |y: f64| y / (1.0 + t * t);
        let truth: f64 = target.0.y.iter().map(|&y| 0.5 * (s * s + mean(y).powi(2) - 1.0) - s.ln()).sum();
        assert!((found.information - truth).abs() < 0.25 * truth, "H {} for {truth}", found.information);
        assert!(!found.unfinished);
    }
    // It says so if it is not allowed to get to the end.
    let short = NestedSettings { most_nats: 1.0, ..settings };
    let target = Conjugate::new(3, 0.05);
    let run = run(1, &control);
    assert!(nested(&mut population(&target, &run), short, &run).expect("a run").unfinished);
}

/// A likelihood that is the same everywhere: all volume is on one plateau.
#[test]
fn a_flat_likelihood_is_exact() {
    let target = Conjugate::new(2, 1e6);
    let (truth, control) = (target.0.truth(), Control::default());
    let run = run(1, &control);
    let found = likelihood_weighting(&mut population(&target, &run), 50, run.key).expect("weights");
    assert!((found.log_z - truth).abs() < 1e-9);
    let settings = climbing(16, 4, 1e-3, 100.0);
    let found = nested(&mut population(&target, &run), settings, &run).expect("a run");
    assert!((found.log_z - truth).abs() < 1e-9 && found.information < 1e-9, "{found:?}");
}

#[test]
fn likelihood_weighting_and_the_harmonic_mean() {
    let target = Conjugate::new(1, 1.0);
    let (truth, control) = (target.0.truth(), Control::default());
    let run = run(1, &control);
    let found = likelihood_weighting(&mut population(&target, &run), 4000, run.key).expect("weights");
    close(found.log_z, found.se, truth, 0.05);
    // with a likelihood as wide as the prior, 1/L has a mean but no variance
    let exploration = explore(&target, EXPLORER, &run).expect("draws");
    let found = harmonic_mean(&exploration.log_likelihoods());
    assert!((found.log_z - truth).abs() < 0.5, "{} for {truth}", found.log_z);
}

/// The mean of p/q over draws of q is 1 for every density p: here a normal one that is narrower than the fit and
/// elsewhere.
#[test]
fn a_proposal_is_normalised() {
    let points = draws(3, 200, 4);
    let points: Vec<Vec<f64>> = points.iter().map(|x| vec![2.0 + x[0], x[0] + 0.5 * x[1], 3.0 * x[2] - x[1]]).collect();
    let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
    let proposal = Proposal::fit(&points).expect("a fit");
    let centre = [2.1, 0.2, 0.2];
    let log_p = |x: &[f64]| (0..3).map(|i| log_normal(x[i] - centre[i], [0.3, 0.3, 1.0][i])).sum::<f64>();
    let ratio = |k: u32| {
        let x = proposal.draw(&mut key(5).chain(k).stream());
        log_p(&x) - proposal.log_density(&x)
    };
    let ratios: Vec<f64> = (0..40_000).map(ratio).collect();
    let (log_mean, se) = (log_mean_exp(&ratios), log_mean_error(&ratios));
    assert!(se < 0.02 && log_mean.abs() < 5.0 * se, "{log_mean} ± {se}");
    assert!(Proposal::fit(&points[..1]).is_err());
    assert!(Proposal::fit(&[&[1.0, 2.0][..], &[1.0, 3.0][..]]).is_err(), "a coordinate that does not vary");
}

/// In one dimension the density can be integrated.
#[test]
fn a_proposal_integrates_to_one() {
    let points: Vec<Vec<f64>> = draws(1, 100, 6);
    let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
    let proposal = Proposal::fit(&points).expect("a fit");
    let step = 0.01;
    let sum: f64 = (-20_000..20_000).map(|i| proposal.log_density(&[f64::from(i) * step]).exp() * step).sum();
    // Student's tails beyond ±200 hold less than 1e-9
    assert!((sum - 1.0).abs() < 1e-7, "{sum}");
}

#[test]
fn results_do_not_depend_on_threads_and_lanes() {
    let target = Conjugate::new(3, 0.3);
    let with = |threads: usize, width: usize| {
        let control = Control::default();
        let nonzero = |n: usize| NonZero::new(n).expect("positive");
        let how = Parallelism { threads: nonzero(threads), width: nonzero(width) };
        let run = Shared { key: key(11), how, control: &control };
        let exploration = explore(&target, Explorer { draws: 40, ..EXPLORER }, &run).expect("draws");
        let found = bridge(&target, &exploration, &run).expect("no failure").expect("a proposal");
        let climbed = nested(&mut population(&target, &run), climbing(32, 8, 1e-2, 100.0), &run).expect("a run");
        let kernels = kernels(&target, 3);
        let schedule = Schedule::from_pilot(6, &kernels).expect("a schedule");
        let settings = SmcSettings { islands: 3, resampled: 4, chain: 2, keep: Keep::All };
        let mut moving = population(&target, &run).with_kernels(&kernels);
        let islands = smc(&mut moving, &schedule, settings, &run).expect("a run").islands;
        (found.log_z.to_bits(), climbed.log_z.to_bits(), islands)
    };
    let one = with(1, 64);
    assert_eq!(one, with(2, 64));
    assert_eq!(one, with(3, 1));
}

#[test]
fn data_that_are_impossible_are_an_error() {
    /// No point has a likelihood.
    #[derive(Clone)]
    struct Impossible;
    impl Pointwise for Impossible {
        fn dimension(&self) -> usize {
            1
        }
        fn at(&self, x: &[f64], _: f64, gradient: &mut [f64]) -> (f64, f64) {
            gradient[0] = 0.0;
            (log_normal(x[0], 1.0), f64::NEG_INFINITY)
        }
    }
    let control = Control::default();
    let (target, run) = (Lanes(Impossible), run(1, &control));
    let settings = climbing(8, 2, 1e-3, 10.0);
    let messages = [
        likelihood_weighting(&mut population(&target, &run), 20, run.key).expect_err("no likelihood").to_string(),
        nested(&mut population(&target, &run), settings, &run).expect_err("no likelihood").to_string(),
    ];
    for message in messages {
        assert!(message.contains("draws from the prior") && message.contains("is outside"), "{message}");
    }
    // islands without a particle count with weight 0
    let kernel = Kernel { method: Method::Metropolis, step_size: 1.0, jitter: 0.0, short: 0.0, metric: Metric::Unit };
    let kernels = TunedKernels::constant(&kernel, 1).expect("a kernel");
    let schedule = Schedule::linear(3).expect("a schedule");
    let settings = SmcSettings { islands: 2, resampled: 2, chain: 2, keep: Keep::All };
    let found = smc(&mut population(&target, &run).with_kernels(&kernels), &schedule, settings, &run).expect("a run");
    assert_eq!(found.islands, [f64::NEG_INFINITY; 2]);
}
