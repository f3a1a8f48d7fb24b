//! Densities on ℝᵈ as a population: moved in lanes, with kernels that a pilot run has tuned.

use std::ops::Range;

use crust_math::random::{Stream, StreamKey};
use pxfm::f_exp;

use super::population::{Climbers, Climbing, Crowd, Floor, Moving, Population, Walks, forget};
use super::trail::{Trail, look};
use super::{Particle, Shared, float};
use crate::anneal::{self, ChainOutcome, Direction, Schedule, TunedKernels, anneal_target};
use crate::drive::{Answer, Control, Driver, Walker};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::metric::cholesky;
use crate::target::Target;
use crate::vector::dot;

/// A target with draws from its prior, one for each key. K is what it is moved with: nothing, or the kernels of a pilot
/// run.
pub struct Euclidean<'a, T, D, K = ()> {
    driver: Driver<T>,
    prior: D,
    kernels: K,
    run: Shared<'a>,
    rejection: Option<String>,
    /// Of steps in the constrained prior, in units of the live points' spread.
    scale: f64,
}

impl<'a, T, D> Euclidean<'a, T, D>
where
    T: Target + Clone + Send,
    D: FnMut(StreamKey) -> Result<Vec<f64>, Error>,
{
    pub fn new(target: &T, prior: D, run: Shared<'a>) -> Self {
        let scale = 2.38 / float(target.dimension()).sqrt();
        Self { driver: Driver::new(target.clone(), run.how), prior, kernels: (), run, rejection: None, scale }
    }

    /// The same with kernels.
    pub fn with_kernels(self, kernels: &'a TunedKernels) -> Euclidean<'a, T, D, &'a TunedKernels> {
        let Self { driver, prior, run, rejection, scale, .. } = self;
        Euclidean { driver, prior, kernels, run, rejection, scale }
    }
}

impl<T, D, K> Population for Euclidean<'_, T, D, K>
where
    T: Target + Clone + Send,
    D: FnMut(StreamKey) -> Result<Vec<f64>, Error>,
{
    type Particle = Particle;

    fn draw(&mut self, numbers: Range<u32>, key: StreamKey) -> Result<Vec<Particle>, Error> {
        let points = numbers.map(|k| (self.prior)(key.chain(k))).collect::<Result<Vec<_>, _>>()?;
        let looked = look(&mut self.driver, points, self.run.control)?;
        self.rejection = self.rejection.take().or(looked.reason);
        Ok(looked.particles)
    }

    fn log_ratios(&mut self, particles: &[Particle], from: f64, to: f64) -> Result<Vec<f64>, Error> {
        let rise = to - from;
        let ratio = |p: &Particle| if p.log_joint().is_finite() { rise * p.log_likelihood } else { f64::NEG_INFINITY };
        Ok(particles.iter().map(ratio).collect())
    }

    fn known_log_likelihood(&self, particle: &Particle) -> Option<f64> {
        Some(particle.log_likelihood)
    }

    fn evaluations(&self) -> u64 {
        self.run.control.evaluations()
    }

    fn rejection(&self) -> Option<String> {
        self.rejection.clone()
    }
}

/// Step sizes that transitions take in turn, relative to the tuned one. What is tuned suits most of a distribution; a
/// funnel has a neck in which only short steps are accepted, and chains that cannot get there all agree on an estimate
/// without it.
const STEPS: [f64; 4] = [1.0, 0.25, 1.0, 0.06];

impl<T, D> Moving for Euclidean<'_, T, D, &TunedKernels>
where
    T: Target + Clone + Send,
    D: FnMut(StreamKey) -> Result<Vec<f64>, Error>,
{
    fn walk(
        &mut self,
        starts: &[&Particle],
        beta: f64,
        steps: usize,
        key: StreamKey,
    ) -> Result<Walks<Particle>, Error> {
        let kernel = self.kernels.at(beta);
        let shorter = |factor: f64| Kernel { step_size: factor * kernel.step_size, ..kernel.clone() };
        let kernels = STEPS.map(shorter);
        let trail =
            |(start, k): (&&Particle, u32)| Trail::new(&start.q, &kernels, beta, steps, key.chain(k), self.run.control);
        let mut trails: Vec<Trail<'_>> = starts.iter().zip(0..).map(trail).collect();
        self.driver.drive(&mut trails, self.run.control)?;
        self.run.check_interrupt()?;
        let accept = trails.iter().map(|trail| trail.accept).sum();
        Ok(Walks { visited: trails.into_iter().map(|trail| trail.visited).collect(), accept })
    }

    fn anneal(
        &mut self,
        schedule: &Schedule,
        starts: &[Particle],
        (direction, first_chain): (Direction, u32),
        key: StreamKey,
    ) -> Result<Vec<ChainOutcome<()>>, Error> {
        let Shared { how, control, .. } = self.run;
        let starts: Vec<Vec<f64>> = starts.iter().map(|start| start.q.clone()).collect();
        let run = anneal::Launch { direction, first_chain, key, how, control };
        let outcomes = anneal_target(&mut self.driver, self.kernels, schedule, &starts, &run)?;
        Ok(outcomes.iter().map(forget).collect())
    }
}

/// The acceptance rate that steps in the constrained prior are scaled for.
const ACCEPT: f64 = 0.3;

impl<T, D, K> Climbing for Euclidean<'_, T, D, K>
where
    T: Target + Clone + Send,
    D: FnMut(StreamKey) -> Result<Vec<f64>, Error>,
{
    /// The same point has the same density to the last bit.
    const ROUNDING: f64 = 0.0;

    fn climb(
        &mut self,
        crowd: Crowd<'_, Particle>,
        floor: &Floor,
        steps: usize,
        starts: Vec<(usize, Stream)>,
    ) -> Result<Climbers<Particle>, Error> {
        let count = starts.len();
        let root = spread(&crowd.particles[crowd.below.min(crowd.particles.len() - 2)..], crowd.particles);
        let walker = |(from, stream): (usize, Stream)| {
            let state = crowd.particles[from].clone();
            let mut walker = Constrained {
                proposal: state.q.clone(),
                state,
                height: crowd.log_likelihoods[from],
                root: &root,
                scale: self.scale,
                floor: *floor,
                stream,
                left: steps,
                accepted: 0,
                control: self.run.control,
            };
            walker.propose();
            walker
        };
        let mut walkers: Vec<Constrained<'_>> = starts.into_iter().map(walker).collect();
        self.driver.drive(&mut walkers, self.run.control)?;
        self.run.check_interrupt()?;
        let accepted: usize = walkers.iter().map(|walker| walker.accepted).sum();
        let accept = float(accepted) / float(count * steps);
        // Steps follow the acceptance rate of the round before: what moves a point does not depend on its own path.
        self.scale *= f_exp(accept - ACCEPT);
        Ok(Climbers { ends: walkers.into_iter().map(|walker| (walker.state, walker.height)).collect(), accept })
    }
}

/// The root of the covariance of points, by rows; only the deviations of `others` if there are too few of them.
fn spread(points: &[Particle], others: &[Particle]) -> Vec<f64> {
    let d = others[0].q.len();
    let points = if points.len() > 2 * d { points } else { others };
    let n = float(points.len());
    let mean: Vec<f64> = (0..d).map(|i| points.iter().map(|p| p.q[i]).sum::<f64>() / n).collect();
    let mut covariance = vec![0.0; d * d];
    for point in points {
        for i in 0..d {
            for j in 0..=i {
                covariance[i * d + j] += (point.q[i] - mean[i]) * (point.q[j] - mean[j]) / n;
            }
        }
    }
    let diagonal = |i: usize| covariance[i * d + i].max(f64::MIN_POSITIVE).sqrt();
    let deviations = (0..d * d).map(|k| if k % (d + 1) == 0 { diagonal(k / (d + 1)) } else { 0.0 });
    let few = points.len() <= 2 * d;
    if few { deviations.collect() } else { cholesky(d, &covariance).unwrap_or_else(|_| deviations.collect()) }
}

/// Random-walk Metropolis on prior · [`Floor::share`].
struct Constrained<'a> {
    state: Particle,
    /// log L, −∞ where there is no density.
    height: f64,
    proposal: Vec<f64>,
    root: &'a [f64],
    scale: f64,
    floor: Floor,
    stream: Stream,
    left: usize,
    accepted: usize,
    control: &'a Control,
}

impl Constrained<'_> {
    fn propose(&mut self) {
        let d = self.proposal.len();
        let mut z = vec![0.0; d];
        self.stream.fill_normal(&mut z);
        for i in 0..d {
            self.proposal[i] = self.state.q[i] + self.scale * dot(&self.root[i * d..][..=i], &z[..=i]);
        }
    }

    /// Moves with this probability, or surely if it is above 1: Metropolis' rule. No state without a prior density is
    /// ever moved to.
    fn acceptance(&self, log_prior: f64, height: f64) -> f64 {
        let shares = self.floor.share(height) / self.floor.share(self.height);
        if !log_prior.is_finite() {
            return 0.0;
        }
        let rise = log_prior - self.state.log_prior;
        // From a state without a prior density every move is right.
        if rise.is_nan() { shares } else { f_exp(rise) * shares }
    }
}

impl Walker for Constrained<'_> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        self.left > 0
    }

    fn beta(&self) -> f64 {
        1.0
    }

    fn position(&self) -> &[f64] {
        &self.proposal
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        let (log_prior, log_likelihood) = (answer.log_prior, answer.log_likelihood);
        let has_density = (log_prior + log_likelihood).is_finite();
        let height = if has_density { log_likelihood } else { f64::NEG_INFINITY };
        let uniform = self.stream.uniform();
        if uniform < self.acceptance(log_prior, height) {
            self.state.q.copy_from_slice(&self.proposal);
            (self.state.log_prior, self.state.log_likelihood) = (log_prior, log_likelihood);
            self.height = height;
            self.accepted += 1;
        }
        self.control.count_iteration();
        self.left -= 1;
        self.propose();
        Ok(())
    }
}
