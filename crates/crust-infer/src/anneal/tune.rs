//! The pilot run: a population goes from the prior to the posterior and leaves tuned kernels behind.
//!
//! It moves by steps that keep half of the weights' efficiency, is resampled, and at each new β settles the step size and the
//! metric. Nothing of it enters an estimate, so it may adapt as it likes; chains of annealed importance sampling use other streams.

use crust_math::random::StreamKey;
use pxfm::f_log;

use super::population::{Likelihoods, Stride, spread};
use super::target::{Mover, Repeat};
use super::tuned::{Knot, TunedKernels};
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
}

impl Pilot {
    /// The defaults for a method.
    pub fn new(method: Method) -> Self {
        let delta = if method == Method::Metropolis { 0.234 } else { 0.8 };
        Self { method, delta, jitter: 0.3, longest: std::f64::consts::FRAC_PI_2, moves: 12 }
    }

    /// The longest step.
    fn longest_step(&self) -> f64 {
        match self.method {
            Method::Hmc { length: Length::Steps(n), .. } => self.longest / f64::from(n.max(1)),
            Method::Hmc { .. } | Method::Nuts { .. } | Method::Metropolis => LONGEST,
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
    let mut run = Run::new(target, prior_draws, pilot, key, how, control);
    run.start()?;
    while run.knots[run.knots.len() - 1].beta < 1.0 {
        run.stride()?;
    }
    // At β = 0 no chain ever moves, but just above it they do, as at the first step.
    run.knots[0].step_size = run.knots[1].step_size;
    run.knots[0].accept = run.knots[1].accept;
    TunedKernels::new(pilot.method, pilot.jitter, run.knots)
}

struct Run<'a, T> {
    target: &'a T,
    pilot: &'a Pilot,
    key: StreamKey,
    how: Parallelism,
    control: &'a Control,
    /// The kernel as it is adapted.
    kernel: Kernel,
    variance: Vec<f64>,
    movers: Vec<Mover>,
    knots: Vec<Knot>,
}

impl<'a, T: Target + Clone + Send> Run<'a, T> {
    fn new(
        target: &'a T,
        draws: &[Vec<f64>],
        pilot: &'a Pilot,
        key: StreamKey,
        how: Parallelism,
        control: &'a Control,
    ) -> Self {
        let dimension = target.dimension();
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let d = dimension as f64;
        // Beyond the optimum of normal targets, which the first moves then find from above.
        let step_size = if pilot.method == Method::Metropolis { 2.38 / d.sqrt() } else { 1.5 / d.sqrt().sqrt() };
        let kernel = Kernel { method: pilot.method, step_size, jitter: pilot.jitter, metric: Metric::Unit };
        let movers = draws.iter().map(|draw| Mover::new(draw, &kernel)).collect();
        Self { target, pilot, key, how, control, kernel, variance: vec![1.0; dimension], movers, knots: vec![] }
    }

    /// Evaluates the draws of the prior.
    fn start(&mut self) -> Result<(), Error> {
        let mut looks: Vec<Look<'_>> = self
            .movers
            .iter_mut()
            .map(|mover| Look { mover, kernel: &self.kernel, done: false, reason: None })
            .collect();
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
        self.knots.push(Knot { beta: 0.0, step_size: 1.0, variance: self.variance.clone(), accept: 0.0, length: 0.0 });
        Ok(())
    }

    fn check_interrupt(&self) -> Result<(), Error> {
        if self.control.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn log_likelihoods(&self) -> Vec<f64> {
        self.movers.iter().map(|mover| mover.state.log_likelihood).collect()
    }

    /// The metric that the population suggests. A coordinate in which it has collapsed keeps what it had.
    fn measure_spread(&mut self) {
        for (i, variance) in self.variance.iter_mut().enumerate() {
            let values = self.movers.iter().map(|mover| mover.state.q[i]).collect();
            *variance = spread(values).unwrap_or(*variance);
        }
        self.kernel.metric = Metric::diagonal(self.variance.clone()).unwrap_or(Metric::Unit);
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
        let accept = self.settle_step_size(beta, knot, half..moves)?;
        let (step_size, variance) = (self.kernel.step_size, self.variance.clone());
        self.knots.push(Knot { beta, step_size, variance, accept, length: length_before + length });
        Ok(())
    }

    /// Moves with dual averaging of the acceptance probability, pooled over the population. Returns its mean.
    fn settle_step_size(&mut self, beta: f64, knot: usize, moves: std::ops::Range<usize>) -> Result<f64, Error> {
        let averaging = Averaging { delta: self.pilot.delta, ..Averaging::default() };
        let mut averaging = DualAveraging::new(averaging, f_log(self.kernel.step_size));
        let longest = self.pilot.longest_step();
        let mut total = 0.0;
        #[expect(clippy::cast_precision_loss, reason = "both are small")]
        let (n, count) = (self.movers.len() as f64, moves.len() as f64);
        for i in moves {
            let key = self.key.step((knot as u64) << 32 | i as u64);
            let repeats = self.movers.iter_mut().zip(0..);
            let mut repeats: Vec<Repeat<'_>> = repeats
                .map(|(mover, k)| Repeat::new(mover, &self.kernel, beta, 1, key.chain(k), self.control))
                .collect();
            drive(self.target, &mut repeats, self.how, self.control)?;
            let accept = repeats.iter().map(|repeat| repeat.accept).sum::<f64>() / n;
            drop(repeats);
            self.check_interrupt()?;
            self.kernel.step_size = averaging.learn(accept).clamp(SHORTEST, longest);
            total += accept;
        }
        self.kernel.step_size = averaging.average().unwrap_or(self.kernel.step_size).clamp(SHORTEST, longest);
        Ok(total / count)
    }
}

/// Asks for the densities of a state once.
struct Look<'a> {
    mover: &'a mut Mover,
    kernel: &'a Kernel,
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
        self.mover.advance(self.kernel, answer);
        if !(answer.log_prior + answer.log_likelihood).is_finite() {
            self.reason = answer.rejection();
        }
        self.done = true;
        Ok(())
    }
}
