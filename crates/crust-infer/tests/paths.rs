//! Paths from the prior, from a reference distribution and through a damped likelihood end at the same marginal
//! likelihood.

mod common;

use common::one_by_one::prior_draws;
use common::{Lanes, NormalGamma, Pointwise, count, key};
use crust_infer::anneal::{Direction, Launch, Pilot, Schedule, anneal_target, tune};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::path::{AnyPath, Course, Damped, Damping, FirstDistribution, Fitted, Path, Reference, Tail};
use crust_infer::target::Batch;
use crust_math::random::{Stream, StreamKey};

/// Independent normal coordinates.
#[derive(Clone, Debug)]
struct Normals {
    mean: Vec<f64>,
    deviation: f64,
}

impl FirstDistribution for Normals {
    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let z = |(x, m): (&f64, &f64)| (x - m) / self.deviation;
        gradient.iter_mut().zip(x.iter().zip(&self.mean)).for_each(|(g, pair)| *g = -z(pair) / self.deviation);
        let squares: f64 = x.iter().zip(&self.mean).map(|pair| z(pair).powi(2)).sum();
        -0.5 * squares - count(x.len()) * (self.deviation * std::f64::consts::TAU.sqrt()).ln()
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        self.mean.iter().map(|m| m + self.deviation * stream.standard_normal()).collect()
    }
}

fn model() -> NormalGamma {
    NormalGamma { y: vec![1.3, 0.4, 2.2, 0.9, 1.1, -0.3, 2.0] }
}

/// log ∫ `f_β` of [`model`], constants included: √(2π/weight) Γ(shape)/rate^shape.
fn log_z(n: usize) -> f64 {
    let y = &model().y[..n];
    let mean = y.iter().sum::<f64>() / count(n.max(1));
    let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let (shape, weight) = (common::SHAPE + 0.5 * count(n), 1.0 + count(n));
    let rate = common::RATE + 0.5 * squares + 0.5 * count(n) / weight * mean * mean;
    crust_math::special::lgamma(shape) - shape * rate.ln() + 0.5 * (std::f64::consts::TAU / weight).ln()
}

/// σ of y ~ N(0, σ²) on the scale of log σ, with σ half-normal: the prior has mass at σ = 0, where 1/σ² has no mean.
#[derive(Clone, Debug)]
struct Deviation {
    y: Vec<f64>,
}

impl Pointwise for Deviation {
    fn dimension(&self) -> usize {
        1
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (variance, n) = ((2.0 * x[0]).exp(), count(self.y.len()));
        let squares: f64 = self.y.iter().map(|y| y * y).sum();
        gradient[0] = 1.0 - variance + beta * (squares / variance - n);
        let log_prior = x[0] - 0.5 * variance + 0.5 * (4.0 / std::f64::consts::TAU).ln();
        (log_prior, -n * x[0] - 0.5 * squares / variance - 0.5 * n * std::f64::consts::TAU.ln())
    }
}

impl Deviation {
    /// A grid of log σ with the logarithm of prior · likelihood: what is outside of it has a share below e⁻⁴⁰.
    fn grid(&self) -> (Vec<f64>, Vec<f64>, f64) {
        const CELLS: u32 = 40_000;
        let step = 10.0 / f64::from(CELLS);
        let x: Vec<f64> = (0..CELLS).map(|i| -5.0 + (f64::from(i) + 0.5) * step).collect();
        let joint = |x: &f64| {
            let (log_prior, log_likelihood) = self.at(&[*x], 1.0, &mut [0.0]);
            log_prior + log_likelihood
        };
        let log: Vec<f64> = x.iter().map(joint).collect();
        (x, log, step)
    }

    /// log p(y) by the midpoint rule.
    fn log_evidence(&self) -> f64 {
        let (_, log, step) = self.grid();
        let top = log.iter().copied().fold(f64::MIN, f64::max);
        top + (log.iter().map(|l| (l - top).exp()).sum::<f64>() * step).ln()
    }

    /// Draws of the posterior by its distribution function on the grid.
    fn posterior(&self, n: u32) -> Vec<Vec<f64>> {
        let (x, log, step) = self.grid();
        let total = self.log_evidence() - step.ln();
        let mut sum = 0.0;
        let rising: Vec<f64> = log
            .iter()
            .map(|l| {
                sum += (l - total).exp();
                sum
            })
            .collect();
        let draw = |k: u32| {
            let u = key(21).chain(k).stream().uniform();
            vec![x[rising.partition_point(|s| *s < u).min(x.len() - 1)]]
        };
        (0..n).map(draw).collect()
    }
}

/// What chains in both directions say of log `Z_T`/Z₁.
struct Bounds {
    /// Mean log weights, with their standard errors.
    lower: (f64, f64),
    upper: (f64, f64),
    /// The logarithm of the mean weight relative to the truth, in standard errors.
    biases: [f64; 2],
}

const CHAINS: u32 = 400;

/// Anneals with kernels that a pilot run has tuned on the path.
fn bounds(path: AnyPath<'_>, starts: &[Vec<f64>], posterior: &[Vec<f64>], truth: f64) -> Bounds {
    let (control, how) = (Control::default(), Parallelism::default());
    let mut driver = Driver::new(path, how);
    let (pilots, starts) = starts.split_at(64);
    let kernels = tune(&mut driver, pilots, &Pilot::default(), key(22), &control).expect("kernels");
    let schedule = Schedule::from_pilot(100, &kernels).expect("a schedule");
    let mut both = [Direction::Forward, Direction::Reverse].map(|direction| {
        let run = Launch { direction, first_chain: 0, key: key(23), how, control: &control };
        let from = if direction == Direction::Forward { starts } else { posterior };
        let outcomes = anneal_target(&mut driver, &kernels, &schedule, from, &run).expect("chains");
        outcomes.iter().map(|chain| chain.log_weight).collect::<Vec<f64>>()
    });
    let n = f64::from(CHAINS);
    let mean_and_error = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|w| (w - mean).powi(2)).sum::<f64>().sqrt() / n)
    };
    let bias = |logs: &[f64], truth: f64| {
        let (mean, error) = mean_and_error(&logs.iter().map(|w| (w - truth).exp()).collect::<Vec<f64>>());
        (mean - 1.0) / error
    };
    let biases = [bias(&both[0], truth), bias(&both[1], -truth)];
    both[1].iter_mut().for_each(|w| *w = -*w);
    Bounds { lower: mean_and_error(&both[0]), upper: mean_and_error(&both[1]), biases }
}

/// Weights are unbiased in both directions (5 standard errors, were they normal a false alarm has the probability
/// 6·10⁻⁷), the truth is between the bounds (5 standard errors), and they are near each other.
#[track_caller]
fn check(name: &str, found: &Bounds, truth: f64, widest: f64) {
    let Bounds { lower, upper, biases } = found;
    assert!(biases.iter().all(|bias| bias.abs() < 5.0), "{name}: {biases:?}");
    assert!(lower.0 < truth + 5.0 * lower.1, "{name}: {lower:?} for {truth}");
    assert!(upper.0 > truth - 5.0 * upper.1, "{name}: {upper:?} for {truth}");
    assert!(upper.0 - lower.0 < widest, "{name}: {lower:?} {upper:?}");
}

fn draws(q: &Normals, key: StreamKey) -> Vec<Vec<f64>> {
    (0..CHAINS + 64).map(|k| q.draw(&mut key.chain(k).stream())).collect()
}

#[test]
fn all_paths_lead_to_the_same_marginal_likelihood() {
    let truth = log_z(7);
    let exact = model().posterior(1.0);
    let posterior: Vec<Vec<f64>> = (0..CHAINS).map(|k| exact.draw(&mut key(24).chain(k).stream()).to_vec()).collect();
    let priors = prior_draws(CHAINS + 64);
    let ratio = truth - log_z(0);
    check("geometric", &bounds(AnyPath::new(Lanes(model())), &priors, &posterior, ratio), ratio, 0.5);
    let damping = Damping { top: -3.0, scale: 4.0, power: 2.0 };
    let damped = Damped::new(Lanes(model()), damping);
    check("damped", &bounds(AnyPath::new(damped), &priors, &posterior, ratio), ratio, 0.5);
    let q = Normals { mean: vec![0.8, 0.2], deviation: 0.7 };
    let reference = Reference::new(Lanes(model()), q.clone());
    check("reference", &bounds(AnyPath::new(reference), &draws(&q, key(25)), &posterior, truth), truth, 0.5);
    let through = Reference::new(Lanes(model()), q.clone()).through(Some(damping));
    check("damped reference", &bounds(AnyPath::new(through), &draws(&q, key(25)), &posterior, truth), truth, 0.5);
}

/// Where the log likelihood has no mean under the prior, the lower bound of the geometric path is as low as its worst
/// chain makes it; the other paths have finite steps.
#[test]
fn bounds_are_finite_where_the_prior_has_mass_at_zero() {
    let model = Deviation { y: vec![0.8, -1.1, 0.4, 1.9, -0.2, 0.7] };
    let (truth, posterior) = (model.log_evidence(), model.posterior(CHAINS));
    let half_normal = |k: u32| vec![key(26).chain(k).stream().standard_normal().abs().ln()];
    let priors: Vec<Vec<f64>> = (0..CHAINS + 64).map(half_normal).collect();
    let damping = Damping { top: -7.0, scale: 3.0, power: 2.0 };
    let damped = Damped::new(Lanes(model.clone()), damping);
    check("damped", &bounds(AnyPath::new(damped), &priors, &posterior, truth), truth, 0.5);
    // A normal distribution of log σ gives 1/σ² a mean.
    let q = Normals { mean: vec![0.1], deviation: 0.5 };
    let reference = Reference::new(Lanes(model.clone()), q.clone());
    check("reference", &bounds(AnyPath::new(reference), &draws(&q, key(27)), &posterior, truth), truth, 0.5);
    // A million prior draws: the mean of ℓ is its least value over the number of draws, that of g is near its median.
    let mut stream = key(28).stream();
    let (mut plain, mut tilted, mut least) = (0.0, 0.0, 0.0_f64);
    let course = Damped::new(Lanes(model.clone()), damping).course();
    for _ in 0..1_000_000 {
        let (_, log_likelihood) = model.at(&[stream.standard_normal().abs().ln()], 1.0, &mut [0.0]);
        plain += 1e-6 * log_likelihood;
        least = least.min(log_likelihood);
        tilted += 1e-6 * course.tilt(log_likelihood, 0.5);
    }
    assert!(plain < -1e3 && least < 1e5 * plain && (-20.0..0.0).contains(&tilted), "{plain} {least} {tilted}");
}

/// A volatility: x = (log s, z) ~ N(0, I), y ~ N(0, e^(s z)). It is 0 for a number where s z is below −700 or so.
#[derive(Clone, Debug)]
struct Volatility {
    y: f64,
}

impl Pointwise for Volatility {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let s = x[0].exp();
        let square = self.y * self.y * (-s * x[1]).exp();
        let of_product = beta * 0.5 * (square - 1.0);
        gradient[0] = -x[0] + of_product * s * x[1];
        gradient[1] = -x[1] + of_product * s;
        let constant = std::f64::consts::TAU.ln();
        (-0.5 * (x[0] * x[0] + x[1] * x[1]) - constant, -0.5 * (s * x[1] + square) - 0.5 * constant)
    }
}

impl Volatility {
    /// log p(y) and draws of the posterior, on a grid.
    fn exactly(&self, n: u32) -> (f64, Vec<Vec<f64>>) {
        const CELLS: u32 = 600;
        let width = 12.0 / f64::from(CELLS);
        let at = |i: u32| -6.0 + (f64::from(i) + 0.5) * width;
        let mass = |(i, j): (u32, u32)| {
            let (log_prior, log_likelihood) = self.at(&[at(i), at(j)], 1.0, &mut [0.0; 2]);
            (log_prior + log_likelihood).exp() * width * width
        };
        let mut total = 0.0;
        let cells: Vec<(u32, u32)> = (0..CELLS).flat_map(|i| (0..CELLS).map(move |j| (i, j))).collect();
        let rising: Vec<f64> = cells
            .iter()
            .map(|&cell| {
                total += mass(cell);
                total
            })
            .collect();
        let draw = |k: u32| {
            let mut stream = key(34).chain(k).stream();
            let u = total * stream.uniform();
            let (i, j) = cells[rising.partition_point(|sum| *sum < u).min(cells.len() - 1)];
            [i, j].map(|c| at(c) + width * (stream.uniform() - 0.5)).to_vec()
        };
        (total.ln(), (0..n).map(draw).collect())
    }
}

/// No tails of a reference give minus the exponential of an exponential a mean; a damped path has one, chains that begin
/// where the density is 0 for a number leave, and weights are unbiased.
#[test]
fn damped_references_have_means_where_no_reference_has() {
    let model = Volatility { y: 0.3 };
    let (truth, posterior) = model.exactly(CHAINS);
    // wider than the posterior, so that bad draws are not rare
    let q = Normals { mean: vec![0.2, -0.3], deviation: 1.6 };
    let starts = draws(&q, key(35));
    let damping = Damping { top: -1.0, scale: 8.0, power: 4.0 };
    let through = Reference::new(Lanes(model.clone()), q.clone()).through(Some(damping));
    check("damped", &bounds(AnyPath::new(through), &starts, &posterior, truth), truth, 0.8);
    let ratio = |x: &Vec<f64>| {
        let (log_prior, log_likelihood) = model.at(x, 1.0, &mut [0.0; 2]);
        log_prior + log_likelihood - q.log_density(x, &mut [])
    };
    let worst = starts.iter().map(ratio).fold(f64::INFINITY, f64::min);
    assert!(worst < -1e9, "without bad draws this shows nothing: {worst}");
}

/// A ridge: a ~ N(0, 1), b ~ N(−200 a, 1).
#[derive(Clone, Debug)]
struct Ridge;

impl Pointwise for Ridge {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let off = x[1] + 200.0 * x[0];
        gradient[0] = -x[0] - beta * 200.0 * off;
        gradient[1] = -beta * off;
        let constant = 0.5 * std::f64::consts::TAU.ln();
        (-0.5 * x[0] * x[0] - constant, -0.5 * off * off - constant)
    }
}

impl Ridge {
    /// Draws around (centre, −200 · centre), all deviations times a width.
    fn draws(n: u32, key: StreamKey, centre: f64, width: f64) -> Vec<Vec<f64>> {
        let draw = |k: u32| {
            let mut stream = key.chain(k).stream();
            let a = centre + width * stream.standard_normal();
            vec![a, -200.0 * a + width * stream.standard_normal()]
        };
        (0..n).map(draw).collect()
    }
}

/// A distribution that keeps its axes to itself.
#[derive(Clone, Debug)]
struct WithoutAxes(Fitted);

impl FirstDistribution for WithoutAxes {
    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.0.log_density(x, gradient)
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        self.0.draw(stream)
    }
}

/// From a reference that is off by 1.5 along a ridge and too wide, kernels that move along its axes close the gap; those
/// that move along the coordinates hardly change anything in as many steps. Weights are unbiased either way.
#[test]
fn kernels_move_along_the_axes_of_their_reference() {
    let q = Fitted::fit(&[Ridge::draws(2000, key(31), 1.5, 1.2)], &[[Tail::Normal; 2]; 2]).expect("a reference");
    let posterior = Ridge::draws(CHAINS, key(32), 0.0, 1.0);
    let starts: Vec<Vec<f64>> = (0..CHAINS + 64).map(|k| q.draw(&mut key(33).chain(k).stream())).collect();
    let along = bounds(AnyPath::new(Reference::new(Lanes(Ridge), q.clone())), &starts, &posterior, 0.0);
    check("along", &along, 0.0, 0.3);
    let across = bounds(AnyPath::new(Reference::new(Lanes(Ridge), WithoutAxes(q))), &starts, &posterior, 0.0);
    check("across", &across, 0.0, 10.0);
    let gap = |bounds: &Bounds| bounds.upper.0 - bounds.lower.0;
    assert!(gap(&across) > 1.0, "{} and {}", gap(&along), gap(&across));
}

/// Gradients of every path are those of its own log `f_β`, by central differences.
#[test]
fn gradients_are_those_of_the_path() {
    let damping = Damping { top: -3.0, scale: 4.0, power: 2.0 };
    let q = Normals { mean: vec![0.8, 0.2], deviation: 0.7 };
    let paths = [
        AnyPath::new(Lanes(model())),
        AnyPath::new(Damped::new(Lanes(model()), damping)),
        AnyPath::new(Reference::new(Lanes(model()), q.clone())),
        AnyPath::new(Reference::new(Lanes(model()), q).through(Some(damping))),
    ];
    for (number, mut path) in paths.into_iter().enumerate() {
        let course = path.course();
        let mut at = |x: [f64; 2], beta: f64| {
            let mut batch = Batch::default();
            batch.resize(2, 1, true);
            batch.x.copy_from_slice(&x);
            batch.beta[0] = beta;
            path.evaluate(&mut batch).expect("densities");
            assert!((batch.beta[0] - beta).abs() < 1e-300, "β stays what it was");
            (batch.log_prior[0] + course.tilt(batch.log_likelihood[0], beta), batch.gradient.clone())
        };
        for beta in [0.0, 0.2, 0.5, 0.7, 1.0] {
            for x in [[0.3, -0.4], [1.2, 0.9], [-3.0, 2.0]] {
                let gradient = at(x, beta).1;
                for i in 0..2 {
                    let mut moved = |step: f64| {
                        let mut x = x;
                        x[i] += step;
                        at(x, beta).0
                    };
                    let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let scale = 1.0 + difference.abs();
                    assert!(
                        (gradient[i] - difference).abs() < 1e-6 * scale,
                        "{number} {beta} {x:?}: {gradient:?} {difference}"
                    );
                }
            }
        }
    }
}

/// Ratios along a path add up, and nothing is made of a likelihood of zero at β = 0.
#[test]
fn ratios_are_differences_of_tilts() {
    let bent = Damped::new(Lanes(model()), Damping { top: -3.0, scale: 4.0, power: 2.0 }).course();
    for course in [Course::Straight, bent] {
        for log_likelihood in [-1e3, -9.0, -2.0] {
            let pairs = [(0.0, 0.3), (0.3, 0.5), (0.5, 0.8), (0.8, 1.0)];
            let ratio = |&(from, to): &(f64, f64)| course.log_ratio(log_likelihood, from, to).expect("known");
            assert!((pairs.iter().map(ratio).sum::<f64>() - log_likelihood).abs() < 1e-9);
            assert!((course.tilt(log_likelihood, 1.0) - log_likelihood).abs() < 1e-12);
        }
        assert_eq!(course.tilt(f64::NEG_INFINITY, 0.0).to_bits(), 0.0_f64.to_bits());
        assert!(course.tilt(f64::NEG_INFINITY, 0.4).is_infinite());
    }
    assert_eq!(Course::Evaluated.log_ratio(-1.0, 0.0, 1.0), None);
}
