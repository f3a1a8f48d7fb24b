//! Targets with known answers, and an observer that keeps everything.
#![allow(dead_code, reason = "each test file uses a part of this")]

pub mod one_by_one;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;

use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::error::Error;
use crust_infer::kernel::{Kernel, Statistics};
use crust_infer::path::{AnyPath, Course, Path};
use crust_infer::sample::{Draw, Observer, Sampled, Settings, Start, sample};
use crust_infer::target::{Batch, Fatal, Target};
use crust_math::random::{Purpose, Stream, StreamKey};

pub fn key(seed: u64) -> StreamKey {
    StreamKey::new(seed, Purpose::TEST)
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub fn count(n: usize) -> f64 {
    n as f64
}

/// Densities and gradient of one point: (log prior, log likelihood, gradient of `log f_β` written to the last
/// argument).
pub trait Pointwise: Clone + Send {
    fn dimension(&self) -> usize;
    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64);

    fn hyperparameters(&self) -> Vec<usize> {
        vec![]
    }

    fn is_geometric(&self) -> bool {
        true
    }
}

fn evaluate<P: Pointwise>(model: &P, batch: &mut Batch) {
    let mut gradient = vec![0.0; model.dimension()];
    let mut x = gradient.clone();
    for lane in 0..batch.lanes {
        x.iter_mut().zip(batch.point(lane)).for_each(|(to, x)| *to = x);
        let beta = batch.beta[lane];
        (batch.log_prior[lane], batch.log_likelihood[lane]) = model.at(&x, beta, &mut gradient);
        if batch.wants_gradient() {
            let column = batch.gradient.iter_mut().skip(lane).step_by(batch.lanes);
            column.zip(&gradient).for_each(|(to, &g)| *to = g);
        }
    }
}

/// A path that only evaluations know.
#[derive(Clone)]
struct ByEvaluation<P>(P);

impl<P: Pointwise> Path for ByEvaluation<P> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        evaluate(&self.0, batch);
        Ok(())
    }

    fn course(&self) -> Course {
        Course::Evaluated
    }
}

/// The path of a model, whichever it is.
pub fn path<'a, P: Pointwise + 'a>(model: P) -> AnyPath<'a> {
    if model.is_geometric() { AnyPath::new(Lanes(model)) } else { AnyPath::new(ByEvaluation(model)) }
}

/// A target that evaluates one lane after the other.
#[derive(Clone)]
pub struct Lanes<P>(pub P);

impl<P: Pointwise> Target for Lanes<P> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn hyperparameters(&self) -> Vec<usize> {
        self.0.hyperparameters()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        evaluate(&self.0, batch);
        Ok(())
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        Some(format!("lane {lane} is outside"))
    }
}

/// N(mean, A Aᵀ) for a sparse lower triangular A. All of the density is likelihood.
#[derive(Clone)]
pub struct Normal {
    pub mean: Vec<f64>,
    /// The elements of A by rows with their columns; the diagonal comes last.
    pub root: Vec<Vec<(usize, f64)>>,
}

impl Normal {
    /// Standard deviations from 0.1 to 10 and more, and correlations of both signs.
    pub fn awkward(dimension: usize, seed: u64) -> Self {
        let mut stream = key(seed).stream();
        let mut row = |i: usize| {
            let scale = 10.0_f64.powf(2.0 * stream.uniform() - 1.0);
            let mut row = vec![];
            if i > 0 {
                row.push((i / 2, scale * (2.0 * stream.uniform() - 1.0)));
            }
            if i > 2 {
                row.push((i - 1, scale * (2.0 * stream.uniform() - 1.0)));
            }
            row.push((i, scale));
            row
        };
        let root: Vec<_> = (0..dimension).map(&mut row).collect();
        Self { mean: (0..dimension).map(|_| 5.0 * stream.standard_normal()).collect(), root }
    }

    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let z: Vec<f64> = self.mean.iter().map(|_| stream.standard_normal()).collect();
        let rows = self.mean.iter().zip(&self.root);
        rows.map(|(mean, row)| mean + row.iter().map(|&(column, a)| a * z[column]).sum::<f64>()).collect()
    }

    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        let other = |column| self.root[j].iter().filter(move |(c, _)| *c == column).map(|(_, a)| a).sum::<f64>();
        self.root[i].iter().map(|&(column, a)| a * other(column)).sum()
    }
}

impl Pointwise for Normal {
    fn dimension(&self) -> usize {
        self.mean.len()
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let mut z = vec![0.0; x.len()];
        for (i, row) in self.root.iter().enumerate() {
            let (diagonal, before) = row.split_last().expect("a diagonal");
            let before: f64 = before.iter().map(|&(column, a)| a * z[column]).sum();
            z[i] = (x[i] - self.mean[i] - before) / diagonal.1;
        }
        let log = -0.5 * z.iter().map(|z| z * z).sum::<f64>();
        for (i, row) in self.root.iter().enumerate().rev() {
            let (diagonal, before) = row.split_last().expect("a diagonal");
            let g = z[i] / diagonal.1;
            before.iter().for_each(|&(column, a)| z[column] -= a * g);
            gradient[i] = -beta * g;
        }
        (0.0, log)
    }
}

/// τ ~ Gamma(3, 3), μ ~ N(0, 1/τ), yᵢ ~ N(μ, 1/τ), in the coordinates x = (μ, log τ). Everything is conjugate, also
/// with the likelihood to the power β.
#[derive(Clone)]
pub struct NormalGamma {
    pub y: Vec<f64>,
}

pub const SHAPE: f64 = 3.0;
pub const RATE: f64 = 3.0;

impl NormalGamma {
    /// Parameters from the prior.
    pub fn prior(stream: &mut Stream) -> [f64; 2] {
        Self { y: vec![] }.posterior(1.0).draw(stream)
    }

    /// n observations, given the parameters.
    pub fn simulate(x: [f64; 2], n: usize, stream: &mut Stream) -> Self {
        let deviation = (-0.5 * x[1]).exp();
        Self { y: (0..n).map(|_| x[0] + deviation * stream.standard_normal()).collect() }
    }

    pub fn posterior(&self, beta: f64) -> Posterior {
        let n = beta * count(self.y.len());
        let mean = self.y.iter().sum::<f64>() / count(self.y.len().max(1));
        let squares: f64 = self.y.iter().map(|y| (y - mean).powi(2)).sum();
        Posterior {
            location: n * mean / (1.0 + n),
            weight: 1.0 + n,
            shape: SHAPE + 0.5 * n,
            rate: RATE + 0.5 * beta * squares + 0.5 * n / (1.0 + n) * mean * mean,
        }
    }
}

/// τ ~ Gamma(shape, rate), μ ~ N(location, 1 / (weight τ)).
pub struct Posterior {
    location: f64,
    weight: f64,
    shape: f64,
    rate: f64,
}

impl Posterior {
    pub fn draw(&self, stream: &mut Stream) -> [f64; 2] {
        let log_tau = stream.log_gamma(self.shape).expect("a shape") - self.rate.ln();
        [self.location + stream.standard_normal() * (-0.5 * log_tau).exp() / self.weight.sqrt(), log_tau]
    }

    /// Two independent numbers that are uniform if x is a draw.
    pub fn pivots(&self, x: &[f64]) -> [f64; 2] {
        let tau = x[1].exp();
        let z = (x[0] - self.location) * (self.weight * tau).sqrt();
        [crust_math::special::Phi(z), crust_math::special::gamma_p(self.shape, self.rate * tau)]
    }
}

impl Pointwise for NormalGamma {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (mu, log_tau) = (x[0], x[1]);
        let tau = log_tau.exp();
        let n = count(self.y.len());
        let sum: f64 = self.y.iter().map(|y| y - mu).sum();
        let squares: f64 = self.y.iter().map(|y| (y - mu).powi(2)).sum();
        gradient[0] = -tau * mu + beta * tau * sum;
        gradient[1] = (SHAPE + 0.5) - RATE * tau - 0.5 * tau * mu * mu + beta * (0.5 * n - 0.5 * tau * squares);
        // The Jacobian of τ = exp(log τ) makes the power of τ the shape, not the shape − 1.
        let log_prior = (SHAPE + 0.5) * log_tau - RATE * tau - 0.5 * tau * mu * mu;
        (log_prior, 0.5 * n * log_tau - 0.5 * tau * squares)
    }
}

/// Neal's funnel in `1 + others` dimensions: v ~ N(0, 3²), xᵢ ~ N(0, exp(v)).
#[derive(Clone)]
pub struct Funnel {
    pub others: usize,
}

impl Pointwise for Funnel {
    fn dimension(&self) -> usize {
        1 + self.others
    }

    fn at(&self, x: &[f64], _beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (v, rest) = (x[0], &x[1..]);
        let precision = (-v).exp();
        let squares = rest.iter().map(|x| x * x).sum::<f64>() * precision;
        let n = count(self.others);
        gradient[0] = -v / 9.0 - 0.5 * n + 0.5 * squares;
        gradient[1..].iter_mut().zip(rest).for_each(|(g, x)| *g = -x * precision);
        (-v * v / 18.0 - 0.5 * n * v - 0.5 * squares, 0.0)
    }
}

/// A draw that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub iteration: usize,
    pub warmup: bool,
    pub q: Vec<f64>,
    pub log_density: f64,
    pub statistics: Statistics,
}

/// Draws and kernels by chain.
#[derive(Default)]
pub struct Keep {
    pub draws: Mutex<BTreeMap<u32, Vec<Kept>>>,
    pub kernels: Mutex<BTreeMap<u32, Kernel>>,
}

impl Observer for Keep {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        let kept = Kept {
            iteration: draw.iteration,
            warmup: draw.warmup,
            q: draw.state.q.clone(),
            log_density: draw.log_density(),
            statistics: draw.statistics,
        };
        self.draws.lock().expect("no panic").entry(draw.chain).or_default().push(kept);
        ControlFlow::Continue(())
    }

    fn warmed_up(&self, chain: u32, kernel: &Kernel) -> ControlFlow<()> {
        assert!(self.kernels.lock().expect("no panic").insert(chain, kernel.clone()).is_none(), "once");
        ControlFlow::Continue(())
    }
}

impl Keep {
    /// Draws after warm-up by chain.
    pub fn chains(self) -> Vec<Vec<Kept>> {
        let draws = self.draws.into_inner().expect("no panic").into_values();
        draws.map(|chain| chain.into_iter().filter(|kept| !kept.warmup).collect()).collect()
    }
}

pub fn parallelism(threads: usize, width: usize) -> Parallelism {
    let number = |n| NonZero::new(n).expect("not 0");
    Parallelism { threads: number(threads), width: number(width) }
}

/// Runs chains on one thread.
pub fn run<T: Target + Clone + Send>(
    target: &T,
    settings: &Settings,
    starts: &[Start],
) -> Result<(Keep, Vec<Sampled>), Error> {
    let keep = Keep::default();
    let mut driver = Driver::new(target.clone(), parallelism(1, 64));
    let outcomes = sample(&mut driver, settings, starts, &keep, &Control::default())?;
    Ok((keep, outcomes))
}

/// Kolmogorov and Smirnov's test of uniformity. The false-alarm rate is at most 10⁻⁶ for every n (Massart, 1990).
pub fn assert_uniform(name: &str, mut u: Vec<f64>) {
    u.sort_by(f64::total_cmp);
    let n = count(u.len());
    let distance = |(i, &u): (usize, &f64)| (u - count(i) / n).max(count(i + 1) / n - u);
    let distance = u.iter().enumerate().map(distance).fold(0.0, f64::max);
    let critical = ((2.0 / 1e-6_f64).ln() / (2.0 * n)).sqrt();
    assert!(distance < critical, "{name}: KS distance {distance} > {critical}");
}
