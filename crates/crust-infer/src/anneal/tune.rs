//! The pilot run: a population goes from the prior to the posterior and leaves tuned kernels behind.
//!
//! It moves by steps that keep half of the weights' efficiency, is resampled, and at each new β settles the coordinates, the
//! metric and the step size. Nothing of it enters an estimate, so it may adapt as it likes; chains of annealed importance sampling use other streams.

use std::sync::Arc;

use crust_math::random::StreamKey;
use pxfm::f_log;

use super::chart::Frame;
use super::population::{Likelihoods, Stride, relaxation, spread};
use super::scales::Scales;
use super::target::{Mover, Repeat};
use super::tuned::{Knot, Stage, TunedKernels};
use crate::drive::{Answer, Control, Parallelism, Walker, drive};
use crate::error::Error;
use crate::kernel::{Kernel, Length, MAX_ENERGY_ERROR, Method};
use crate::metric::Metric;
use crate::step_size::{Averaging, DualAveraging};
use crate::target::Target;

/// How a pilot run goes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pilot {
    pub method: Method,
    /// δ, the mean acceptance probability to reach.
    pub delta: f64,
    /// The step size of each transition is uniform within this fraction of the tuned one.
    pub jitter: f64,
    /// The longest trajectory of Hamiltonian Monte Carlo, in units where the pilot's chains have the spread 1. On a normal target
    /// a quarter of a revolution (π/2) forgets the start; half of one only mirrors it, which is as bad as not moving.
    pub longest: f64,
    /// Moves at each β, in which the step size settles.
    pub moves: usize,
    /// Trajectories of a fixed number of steps are made twice as long, up to this, as long as that pays.
    pub most_steps: u32,
}

impl Pilot {
    /// The defaults for a method.
    pub fn new(method: Method) -> Self {
        let delta = if method == Method::Metropolis { 0.234 } else { 0.8 };
        Self { method, delta, jitter: 0.3, longest: std::f64::consts::FRAC_PI_2, moves: 12, most_steps: 32 }
    }

    /// The longest step.
    fn longest_step(&self) -> f64 {
        match self.method {
            Method::Hmc { length: Length::Steps(n), .. } => self.longest / f64::from(n.max(1)),
            Method::Hmc { .. } | Method::Nuts { .. } | Method::Metropolis => LONGEST,
        }
    }

    /// The same with trajectories of twice as many steps, if that is allowed.
    fn with_longer_trajectories(&self, method: Method) -> Option<Self> {
        match method {
            Method::Hmc { length: Length::Steps(n), max_energy_error } if 2 * n <= self.most_steps => {
                Some(Self { method: Method::Hmc { length: Length::Steps(2 * n), max_energy_error }, ..*self })
            }
            _ => None,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let setting = |name, value: String, must_be| Err(Error::Setting { name, value, must_be });
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return setting("the acceptance probability to reach", self.delta.to_string(), "between 0 and 1");
        }
        if !(0.0..1.0).contains(&self.jitter) {
            return setting("jitter", self.jitter.to_string(), "at least 0 and below 1");
        }
        if self.longest.is_nan() || self.longest <= 0.0 {
            return setting("the longest trajectory", self.longest.to_string(), "positive");
        }
        if self.moves < 2 {
            return setting("the number of moves of the pilot run", self.moves.to_string(), "at least 2");
        }
        Ok(())
    }
}

impl Default for Pilot {
    /// Trajectories of three steps. A move costs four gradients then, since the one at the start is that of another β. Measured on
    /// normal and logistic regressions, no other number closed the sandwich with clearly fewer gradients (`docs/anneal.md`).
    fn default() -> Self {
        Self::new(Method::Hmc { length: Length::Steps(3), max_energy_error: MAX_ENERGY_ERROR })
    }
}

/// The smallest number of prior draws that a pilot run can start with.
const FEWEST: usize = 8;
/// Step sizes stay between these.
const SHORTEST: f64 = 1e-12;
const LONGEST: f64 = 1e6;
/// How much of the efficiency of the weights a step along the path keeps.
const EFFICIENCY: f64 = 0.5;
/// A pilot that needs more steps than this goes on with longer ones, and after a second as many in one leap: kernels for the
/// rest are then worse, but valid.
const MANY: usize = 300;

/// Tunes kernels along the path from draws of the prior (64 or so). All random numbers come from the key, with its purpose
/// and dataset; chain and step are filled in.
pub fn tune<T: Target + Clone + Send>(
    target: &T,
    prior_draws: &[Vec<f64>],
    pilot: &Pilot,
    key: StreamKey,
    how: Parallelism,
    control: &Control,
) -> Result<TunedKernels, Error> {
    pilot.check()?;
    let dimension = target.dimension();
    let setting = |name, value: usize, must_be| Err(Error::Setting { name, value: value.to_string(), must_be });
    if dimension == 0 {
        return setting("the number of parameters", 0, "at least 1 to anneal");
    }
    if prior_draws.len() < FEWEST {
        return setting("the number of prior draws of the pilot run", prior_draws.len(), "at least 8");
    }
    if let Some(draw) = prior_draws.iter().find(|draw| draw.len() != dimension) {
        return setting("the dimension of a prior draw", draw.len(), "that of the target");
    }
    let scales = if pilot.method.needs_gradient() { Scales::measure(target, prior_draws, how, control)? } else { None };
    let scales = scales.map(Arc::new);
    let pilot_run = |pilot: &Pilot| Run::new(target, prior_draws, pilot, key, how, control, scales.clone()).go();
    let mut best = pilot_run(pilot)?;
    while let Some(longer) = pilot.with_longer_trajectories(best.method()) {
        let next = pilot_run(&longer)?;
        if expense(&next) > WORTH_IT * expense(&best) {
            break;
        }
        best = next;
    }
    Ok(best)
}

/// Longer trajectories must promise to be cheaper by this factor: the lengths of pilot runs are uncertain.
const WORTH_IT: f64 = 0.85;

/// What a gap of one nat costs a chain, in evaluations: the gap of T distributions is about length²/T, and each move of n steps takes
/// n + 1 evaluations.
fn expense(kernels: &TunedKernels) -> f64 {
    let steps = if let Method::Hmc { length: Length::Steps(n), .. } = kernels.method() { n } else { 1 };
    kernels.length() * kernels.length() * (f64::from(steps) + 1.0)
}

struct Run<'a, T> {
    target: &'a T,
    pilot: &'a Pilot,
    key: StreamKey,
    how: Parallelism,
    control: &'a Control,
    /// The kernel as it is adapted, and its coordinates.
    stage: Stage,
    scales: Option<Arc<Scales>>,
    variance: Vec<f64>,
    movers: Vec<Mover>,
    knots: Vec<Knot>,
}

/// How moves at one β went.
struct Settled {
    /// The mean acceptance probability.
    accept: f64,
    /// The integrated autocorrelation time of the log likelihood, in moves.
    relaxation: f64,
}

impl<'a, T: Target + Clone + Send> Run<'a, T> {
    fn new(
        target: &'a T,
        draws: &[Vec<f64>],
        pilot: &'a Pilot,
        key: StreamKey,
        how: Parallelism,
        control: &'a Control,
        scales: Option<Arc<Scales>>,
    ) -> Self {
        let dimension = target.dimension();
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let d = dimension as f64;
        // Beyond the optimum of normal targets, which the first moves then find from above.
        let step_size = if pilot.method == Method::Metropolis { 2.38 / d.sqrt() } else { 1.5 / d.sqrt().sqrt() };
        let kernel = Kernel { method: pilot.method, step_size, jitter: pilot.jitter, metric: Metric::Unit };
        let movers = draws.iter().map(|draw| Mover::new(draw, pilot.method)).collect();
        let stage = Stage { kernel, chart: None };
        Self { target, pilot, key, how, control, stage, scales, variance: vec![1.0; dimension], movers, knots: vec![] }
    }

    /// From the prior to the posterior.
    fn go(mut self) -> Result<TunedKernels, Error> {
        self.start()?;
        while self.knots[self.knots.len() - 1].beta < 1.0 {
            self.stride()?;
        }
        // At β = 0 no chain ever moves, but just above it they do, as at the first step.
        self.knots[0].step_size = self.knots[1].step_size;
        self.knots[0].accept = self.knots[1].accept;
        let kernels = TunedKernels::new(self.pilot.method, self.pilot.jitter, self.knots)?;
        kernels.in_charts(self.scales.map(|scales| (*scales).clone()))
    }

    /// Evaluates the draws of the prior.
    fn start(&mut self) -> Result<(), Error> {
        let mut looks: Vec<Look<'_>> =
            self.movers.iter_mut().map(|mover| Look { mover, stage: &self.stage, done: false, reason: None }).collect();
        drive(self.target, &mut looks, self.how, self.control)?;
        let reason = looks.iter().find_map(|look| look.reason.clone());
        self.check_interrupt()?;
        for mover in &mut self.movers {
            if !mover.state.log_prior.is_finite() {
                mover.state.log_likelihood = f64::NEG_INFINITY;
            }
        }
        if !(Likelihoods { values: &self.log_likelihoods() }).has_any() {
            return Err(Error::NoLikelihood { draws: self.movers.len(), reason });
        }
        self.measure_spread();
        let (variance, frame) = (self.variance.clone(), self.frame());
        self.knots.push(Knot { beta: 0.0, step_size: 1.0, variance, accept: 0.0, length: 0.0, frame });
        Ok(())
    }

    fn check_interrupt(&self) -> Result<(), Error> {
        if self.control.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn log_likelihoods(&self) -> Vec<f64> {
        self.movers.iter().map(|mover| mover.state.log_likelihood).collect()
    }

    /// The numbers of the chart.
    fn frame(&self) -> Frame {
        self.stage.chart.as_ref().map(|chart| chart.frame.clone()).unwrap_or_default()
    }

    /// The chart and the metric that the population suggests. A coordinate in which it has collapsed keeps what it had.
    fn measure_spread(&mut self) {
        let mut points: Vec<Vec<f64>> = self.movers.iter().map(|mover| mover.state.q.clone()).collect();
        if let Some(scales) = &self.scales {
            let population: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
            let before = self.stage.chart.as_ref().map(|chart| &chart.frame);
            let chart = scales.chart(scales.frame(&population, before));
            for (mover, point) in self.movers.iter().zip(&mut points) {
                chart.to_coordinates(&mover.state.q, point);
            }
            self.stage.chart = Some(chart);
        }
        for (i, variance) in self.variance.iter_mut().enumerate() {
            let values = points.iter().map(|point| point[i]).collect();
            *variance = spread(values).map_or(*variance, |spread| spread.variance);
        }
        self.stage.kernel.metric = Metric::diagonal(self.variance.clone()).unwrap_or(Metric::Unit);
    }

    /// Goes one step along the path, and tunes a kernel there.
    fn stride(&mut self) -> Result<(), Error> {
        let knot = self.knots.len();
        let (before, length_before) = (self.knots[knot - 1].beta, self.knots[knot - 1].length);
        let values = self.log_likelihoods();
        let likelihoods = Likelihoods { values: &values };
        let Stride { beta, length } = match knot {
            k if k < MANY => likelihoods.stride(before, EFFICIENCY),
            k if k < 2 * MANY => likelihoods.stride(before, 0.2 * EFFICIENCY),
            _ => likelihoods.stride(before, 0.0),
        };
        let mut stream = self.key.chain(u32::MAX).step(knot as u64).stream();
        let chosen = likelihoods.resample(beta - before, &mut stream);
        self.movers = chosen.iter().map(|&i| self.movers[i].clone()).collect();
        self.movers.iter_mut().for_each(Mover::refresh);
        self.measure_spread();
        // The first step size is a guess, and the last kernel is the one that matters most.
        let moves = if knot == 1 || beta >= 1.0 { 2 * self.pilot.moves } else { self.pilot.moves };
        let half = moves / 2;
        self.settle_step_size(beta, knot, 0..half)?;
        self.measure_spread();
        let Settled { accept, relaxation } = self.settle_step_size(beta, knot, half..moves)?;
        let (step_size, variance, frame) = (self.stage.kernel.step_size, self.variance.clone(), self.frame());
        // A population that lags behind by the relaxation time loses that much more on the same way.
        let length = length_before + length * relaxation.sqrt();
        self.knots.push(Knot { beta, step_size, variance, accept, length, frame });
        Ok(())
    }

    /// Moves with dual averaging of the acceptance probability, pooled over the population.
    fn settle_step_size(&mut self, beta: f64, knot: usize, moves: std::ops::Range<usize>) -> Result<Settled, Error> {
        let averaging = Averaging { delta: self.pilot.delta, ..Averaging::default() };
        let mut averaging = DualAveraging::new(averaging, f_log(self.stage.kernel.step_size));
        let longest = self.pilot.longest_step();
        let mut total = 0.0;
        let mut likelihoods = vec![self.log_likelihoods()];
        #[expect(clippy::cast_precision_loss, reason = "both are small")]
        let (n, count) = (self.movers.len() as f64, moves.len() as f64);
        for i in moves {
            let key = self.key.step((knot as u64) << 32 | i as u64);
            let repeats = self.movers.iter_mut().zip(0..);
            let mut repeats: Vec<Repeat<'_>> = repeats
                .map(|(mover, k)| Repeat::new(mover, &self.stage, beta, 1, key.chain(k), self.control))
                .collect();
            drive(self.target, &mut repeats, self.how, self.control)?;
            let accept = repeats.iter().map(|repeat| repeat.accept).sum::<f64>() / n;
            drop(repeats);
            self.check_interrupt()?;
            likelihoods.push(self.log_likelihoods());
            self.stage.kernel.step_size = averaging.learn(accept).clamp(SHORTEST, longest);
            total += accept;
        }
        let step_size = averaging.average().unwrap_or(self.stage.kernel.step_size);
        self.stage.kernel.step_size = step_size.clamp(SHORTEST, longest);
        Ok(Settled { accept: total / count, relaxation: relaxation(&likelihoods) })
    }
}

/// Asks for the densities of a state once.
struct Look<'a> {
    mover: &'a mut Mover,
    stage: &'a Stage,
    done: bool,
    reason: Option<String>,
}

impl Walker for Look<'_> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        !self.done
    }

    fn beta(&self) -> f64 {
        1.0
    }

    fn position(&self) -> &[f64] {
        &self.mover.state.q
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut self.mover.state.gradient
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        self.mover.advance(self.stage, answer);
        if !(answer.log_prior + answer.log_likelihood).is_finite() {
            self.reason = answer.rejection();
        }
        self.done = true;
        Ok(())
    }
}
