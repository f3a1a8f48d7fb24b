//! The pilot run: a population goes from the prior to the posterior and leaves tuned kernels behind.
//!
//! It moves by steps that keep half of the weights' efficiency, is resampled, and at each new β settles the
//! coordinates, the metric and the step size. Nothing of it enters an estimate, so it may adapt as it likes; chains of
//! annealed importance sampling use other streams.

use std::sync::Arc;

use crust_math::random::StreamKey;
use pxfm::{f_exp, f_log};

use super::chart::Chart;
use super::pilot::Pilot;
use super::population::{Likelihoods, Stride, relaxation, spread};
use super::scales::Scales;
use super::target::{Mover, Repeat};
use super::tuned::{Knot, Stage, TunedKernels, further};
use super::widths::Frame;
use crate::axes::Axes;
use crate::drive::{Answer, Control, Driver, Walker};
use crate::error::Error;
use crate::kernel::{Kernel, Stepper};
use crate::method::with_stepper;
use crate::metric::Metric;
use crate::path::{Course, Path};
use crate::step_size::{Averaging, DualAveraging};

/// The smallest number of prior draws that a pilot run can start with.
pub(super) const FEWEST: usize = 8;
/// Step sizes stay between these.
const SHORTEST: f64 = 1e-12;
pub(super) const LONGEST: f64 = 1e6;
/// How much of the efficiency of the weights a step along the path keeps.
const EFFICIENCY: f64 = 0.5;
/// A pilot that needs more steps than this goes on with longer ones, and after a second as many in one leap: kernels
/// for the rest are then worse, but valid.
const MANY: usize = 300;

/// Tunes kernels along the path from draws of the prior (64 or so). All random numbers come from the key, with its
/// purpose and dataset; chain and step are filled in.
pub fn tune<P: Path + Clone + Send>(
    driver: &mut Driver<P>,
    first_draws: &[Vec<f64>],
    pilot: &Pilot,
    key: StreamKey,
    control: &Control,
) -> Result<TunedKernels, Error> {
    pilot.check()?;
    let dimension = driver.dimension();
    let setting = |name, value: usize, must_be| Err(Error::Setting { name, value: value.to_string(), must_be });
    if dimension == 0 {
        return setting("the number of parameters", 0, "at least 1 to anneal");
    }
    if first_draws.len() < FEWEST {
        return setting("the number of prior draws of the pilot run", first_draws.len(), "at least 8");
    }
    if let Some(draw) = first_draws.iter().find(|draw| draw.len() != dimension) {
        return setting("the dimension of a prior draw", draw.len(), "that of the target");
    }
    let scales = if pilot.method.needs_gradient() { Scales::measure(driver, first_draws, control)? } else { None };
    let axes = driver.path().axes().map(Arc::new);
    let basis = Basis { draws: first_draws, key, control, scales: scales.map(Arc::new), axes };
    // What the rehearsal measures are the weights that chains would collect: they must be known without evaluations.
    let rehearse = pilot.rehearse && driver.course().is_known();
    if !rehearse {
        return tune_upwards(driver, &basis, pilot);
    }
    let mut best = with_stepper!(pilot.method, dimension, stepper => {
        let tuned = PilotRun::new(driver, &basis, *pilot, stepper.clone()).go()?;
        PilotRun::new(driver, &basis, *pilot, stepper).rehearse(tuned)?
    });
    while let Some(longer) = pilot.with_longer_trajectories(best.tuned.kernels.method()) {
        if !longer.may_be_preferred(&best) {
            break;
        }
        let next = with_stepper!(longer.method, dimension, stepper => {
            let tuned = PilotRun::new(driver, &basis, longer, stepper.clone()).lengthen(&best)?;
            PilotRun::new(driver, &basis, longer, stepper).rehearse(tuned)?
        });
        if !pilot.prefers(&next.tuned.kernels, &best.tuned.kernels) {
            break;
        }
        best = next;
    }
    let pilot = Pilot { method: best.tuned.kernels.method(), ..*pilot };
    with_stepper!(pilot.method, dimension, stepper => PilotRun::new(driver, &basis, pilot, stepper).refine(best))
}

/// Without a rehearsal each length of trajectories is tried from the prior on.
fn tune_upwards<P: Path + Clone + Send>(
    driver: &mut Driver<P>,
    basis: &Basis<'_>,
    pilot: &Pilot,
) -> Result<TunedKernels, Error> {
    let dimension = driver.dimension();
    let mut go = |pilot: Pilot| -> Result<TunedKernels, Error> {
        let run = with_stepper!(pilot.method, dimension, stepper => PilotRun::new(driver, basis, pilot, stepper).go());
        Ok(run?.kernels)
    };
    let mut best = go(*pilot)?;
    while let Some(longer) = pilot.with_longer_trajectories(best.method()) {
        let next = go(longer)?;
        if !pilot.prefers(&next, &best) {
            break;
        }
        best = next;
    }
    Ok(best)
}

/// Kernels as a pilot run leaves them.
pub(super) struct Tuned {
    pub(super) kernels: TunedKernels,
    /// What the length of the way from each knot to the next would be with kernels that forget at once.
    pub(super) ideal: Vec<f64>,
    /// Whether they were tuned for states of both directions.
    pub(super) both_ways: bool,
}

/// What all parts of a pilot run share.
pub(super) struct Basis<'a> {
    /// Draws of the path's first distribution.
    pub(super) draws: &'a [Vec<f64>],
    key: StreamKey,
    control: &'a Control,
    scales: Option<Arc<Scales>>,
    /// Directions of the first distribution, for kernels without scales.
    axes: Option<Arc<Axes>>,
}

/// A population and its kernel.
pub(super) struct PilotRun<'a, P, S> {
    pub(super) driver: &'a mut Driver<P>,
    pub(super) basis: &'a Basis<'a>,
    pub(super) pilot: Pilot,
    pub(super) key: StreamKey,
    pub(super) control: &'a Control,
    /// The kernel as it is adapted, and its coordinates.
    pub(super) stage: Stage,
    pub(super) variance: Vec<f64>,
    /// The largest ratio of the metric's width of a coordinate and its spread, at most 1.
    widest: f64,
    /// As good as new.
    stepper: S,
    pub(super) movers: Vec<Mover<S>>,
    knots: Vec<Knot>,
    /// [`Tuned::ideal`].
    ideal: Vec<f64>,
}

/// How moves at one β went.
pub(super) struct Settled {
    /// The mean acceptance probability.
    pub(super) accept: f64,
    /// The integrated autocorrelation time of the log likelihood, in moves.
    pub(super) relaxation: f64,
}

impl<'a, P: Path + Clone + Send, S: Stepper + Clone> PilotRun<'a, P, S> {
    fn new(driver: &'a mut Driver<P>, basis: &'a Basis<'a>, pilot: Pilot, stepper: S) -> Self {
        let dimension = driver.dimension();
        // Beyond the optimum of normal targets, which the first moves then find from above.
        let step_size = pilot.method.first_step(dimension);
        let kernel = Kernel { method: pilot.method, step_size, jitter: pilot.jitter, short: 0.0, metric: Metric::Unit };
        let mut run = Self {
            driver,
            basis,
            pilot,
            key: basis.key,
            control: basis.control,
            stage: Stage { kernel, chart: None },
            variance: vec![1.0; dimension],
            widest: 1.0,
            stepper,
            movers: vec![],
            knots: vec![],
            ideal: vec![],
        };
        run.movers = basis.draws.iter().map(|draw| run.mover(draw)).collect();
        run
    }

    /// A chain at a point.
    pub(super) fn mover(&self, at: &[f64]) -> Mover<S> {
        Mover::new(at, self.pilot.method.needs_gradient(), self.stepper.clone())
    }

    /// From the prior to the posterior.
    fn go(mut self) -> Result<Tuned, Error> {
        self.start()?;
        while self.knots[self.knots.len() - 1].beta < 1.0 {
            self.stride()?;
        }
        // At β = 0 no chain ever moves, but just above it they do, as at the first step.
        self.knots[0].step_size = self.knots[1].step_size;
        self.knots[0].accept = self.knots[1].accept;
        let kernels = TunedKernels::new(self.pilot.method, self.pilot.jitter, self.knots)?;
        let kernels = kernels.in_charts(self.basis.scales.as_deref().cloned(), self.basis.axes.as_deref().cloned())?;
        Ok(Tuned { kernels, ideal: self.ideal, both_ways: false })
    }

    /// Evaluates the draws of the prior.
    fn start(&mut self) -> Result<(), Error> {
        let reason = self.look(1.0)?;
        self.refuse_outside();
        if !(Likelihoods { values: &self.log_likelihoods() }).has_any() {
            return Err(Error::NoLikelihood { draws: self.movers.len(), reason });
        }
        self.look(0.0)?;
        self.refuse_outside();
        self.measure_spread();
        let (variance, frame) = (self.variance.clone(), self.frame());
        self.knots.push(Knot { beta: 0.0, step_size: 1.0, variance, accept: 0.0, length: 0.0, frame });
        Ok(())
    }

    /// States outside of the prior do not go on.
    fn refuse_outside(&mut self) {
        for mover in &mut self.movers {
            if !mover.state.densities.log_prior.is_finite() {
                mover.state.densities.log_likelihood = f64::NEG_INFINITY;
            }
        }
    }

    /// Evaluates the population at β. Returns a reason why a state has no density, if there is one.
    pub(super) fn look(&mut self, beta: f64) -> Result<Option<String>, Error> {
        let stage = &self.stage;
        let look = |mover| Look { mover, stage, beta, done: false, reason: None };
        self.movers.iter_mut().for_each(Mover::refresh);
        let mut looks: Vec<Look<'_, S>> = self.movers.iter_mut().map(look).collect();
        self.driver.drive(&mut looks, self.control)?;
        let reason = looks.into_iter().find_map(|look| look.reason);
        self.control.check()?;
        Ok(reason)
    }

    pub(super) fn log_likelihoods(&self) -> Vec<f64> {
        self.movers.iter().map(|mover| mover.state.densities.log_likelihood).collect()
    }

    /// The numbers of the chart.
    pub(super) fn frame(&self) -> Frame {
        match &self.stage.chart {
            Some(Chart::Widths(widths)) => widths.frame.clone(),
            _ => Frame::default(),
        }
    }

    /// The coordinates that the population suggests.
    fn chart(&self, population: &[Vec<f64>]) -> Option<Chart> {
        let Some(scales) = &self.basis.scales else {
            return self.basis.axes.clone().map(Chart::Axes);
        };
        let population: Vec<&[f64]> = population.iter().map(Vec::as_slice).collect();
        let before = match &self.stage.chart {
            Some(Chart::Widths(widths)) => Some(&widths.frame),
            _ => None,
        };
        Some(Chart::Widths(scales.chart(scales.frame(&population, before))))
    }

    /// The chart and the metric that the population suggests. A coordinate in which it has collapsed keeps what it had.
    ///
    /// The metric is the geometric mean of the variance of a coordinate and the inverse of the variance of its gradient
    /// (the spread where all others are fixed, since E[(∂ log f)²] = −E[∂² log f]). For independent normal coordinates
    /// both are the same, and the mean is exact for any population: what is large by chance in the one is large in the
    /// other.
    pub(super) fn measure_spread(&mut self) {
        let mut points: Vec<Vec<f64>> = self.movers.iter().map(|mover| mover.state.q.clone()).collect();
        let mut gradients: Vec<Vec<f64>> = self.movers.iter().map(|mover| mover.state.gradient.clone()).collect();
        self.stage.chart = self.chart(&points);
        if let Some(chart) = &self.stage.chart {
            for ((mover, point), gradient) in self.movers.iter().zip(&mut points).zip(&mut gradients) {
                chart.to_coordinates(&mover.state.q, point);
                chart.pull_back(&mover.state.q, &mover.state.gradient, gradient);
            }
        }
        let (mut widest, with_gradient) = (0.0_f64, self.pilot.method.needs_gradient());
        for (i, metric) in self.variance.iter_mut().enumerate() {
            let column = |rows: &[Vec<f64>]| spread(rows.iter().map(|row| row[i]).collect()).map(|s| s.variance);
            let Some(variance) = column(&points) else { continue };
            let curvature = if with_gradient { column(&gradients) } else { None };
            let mean = curvature.map(|curvature| (variance / curvature).sqrt());
            *metric = mean.filter(|mean| mean.is_normal()).unwrap_or(variance);
            widest = widest.max(*metric / variance);
        }
        self.widest = if widest > 0.0 { widest.min(1.0).sqrt() } else { 1.0 };
        self.stage.kernel.metric = Metric::diagonal(self.variance.clone()).unwrap_or(Metric::Unit);
    }

    /// Goes one step along the path, and tunes a kernel there.
    fn stride(&mut self) -> Result<(), Error> {
        let knot = self.knots.len();
        let (before, length_before) = (self.knots[knot - 1].beta, self.knots[knot - 1].length);
        let efficiency = match knot {
            k if k < MANY => EFFICIENCY,
            k if k < 2 * MANY => 0.2 * EFFICIENCY,
            _ => 0.0,
        };
        let mut stream = self.key.chain(u32::MAX).step(knot as u64).stream();
        let (Stride { beta, length }, chosen) = if let Course::Straight = self.driver.course() {
            let values = self.log_likelihoods();
            let likelihoods = Likelihoods { values: &values };
            let stride = likelihoods.stride(before, efficiency);
            (stride, likelihoods.resample(stride.beta - before, &mut stream))
        } else {
            let (stride, ratios) = self.stride_by_bisection(before, efficiency)?;
            (stride, Likelihoods { values: &ratios }.resample(1.0, &mut stream))
        };
        self.movers = chosen.iter().map(|&i| self.movers[i].clone()).collect();
        self.look(beta)?;
        self.measure_spread();
        // The first step size is a guess, and the last kernel is the one that matters most.
        let moves = if knot == 1 || beta >= 1.0 { 2 * self.pilot.moves } else { self.pilot.moves };
        let half = moves / 2;
        self.settle_step_size(beta, knot, 0..half)?;
        self.measure_spread();
        let Settled { accept, relaxation } = self.settle_step_size(beta, knot, half..moves)?;
        let (step_size, variance, frame) = (self.stage.kernel.step_size, self.variance.clone(), self.frame());
        // A population that lags behind by the relaxation time loses that much more on the same way.
        self.ideal.push(length);
        let length = further(length_before, length * relaxation.sqrt());
        self.knots.push(Knot { beta, step_size, variance, accept, length, frame });
        Ok(())
    }

    /// How far to go on a path that is not straight, and log `f_to` − log `f_from` of all states: by bisection of the
    /// logarithm of the rise. Where only evaluations tell, the population is evaluated for each.
    fn stride_by_bisection(&mut self, before: f64, efficiency: f64) -> Result<(Stride, Vec<f64>), Error> {
        const BISECTIONS: usize = 20;
        const LEAST: f64 = 1e-10;
        if !self.driver.course().is_known() {
            self.look(before)?;
        }
        let from = Origin { beta: before, log_densities: self.log_densities() };
        let to_end = self.ratios(&from, 1.0)?;
        if let Some(length) = (Likelihoods { values: &to_end }).whole_step(efficiency) {
            return Ok((Stride { beta: 1.0, length }, to_end));
        }
        let (mut low, mut high) = (f_log(LEAST * (1.0 - before)), f_log(1.0 - before));
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            let ratios = self.ratios(&from, before + f_exp(middle))?;
            match (Likelihoods { values: &ratios }).whole_step(efficiency) {
                Some(_) => low = middle,
                None => high = middle,
            }
        }
        let beta = (before + f_exp(low)).max(before * (1.0 + f64::EPSILON)).min(1.0);
        let ratios = self.ratios(&from, beta)?;
        if !(Likelihoods { values: &ratios }).has_any() {
            return Err(Error::NoLikelihood { draws: self.movers.len(), reason: None });
        }
        // The least step is made even if it is too long.
        let length = (Likelihoods { values: &ratios }).whole_step(0.0).unwrap_or(1.0);
        Ok((Stride { beta, length }, ratios))
    }

    fn log_densities(&self) -> Vec<f64> {
        self.movers.iter().map(|mover| mover.state.log_density()).collect()
    }

    /// log `f_β` of all states, less what it was elsewhere.
    fn ratios(&mut self, from: &Origin, beta: f64) -> Result<Vec<f64>, Error> {
        let course = self.driver.course();
        let known =
            self.movers.iter().map(|mover| course.log_ratio(mover.state.densities.log_likelihood, from.beta, beta));
        if let Some(ratios) = known.collect() {
            return Ok(ratios);
        }
        self.look(beta)?;
        Ok(self.log_densities().iter().zip(&from.log_densities).map(|(to, from)| to - from).collect())
    }

    /// Moves every state once. Returns the mean acceptance probability.
    pub(super) fn move_all(&mut self, beta: f64, key: StreamKey) -> Result<f64, Error> {
        let (stage, control) = (&self.stage, self.control);
        let repeats = self.movers.iter_mut().zip(0..);
        let mut repeats: Vec<Repeat<'_, S>> =
            repeats.map(|(mover, k)| Repeat::new(mover, stage, beta, 1, key.chain(k), control)).collect();
        self.driver.drive(&mut repeats, self.control)?;
        #[expect(clippy::cast_precision_loss, reason = "populations are small")]
        let accept = repeats.iter().map(|repeat| repeat.accept).sum::<f64>() / repeats.len() as f64;
        drop(repeats);
        self.control.check()?;
        Ok(accept)
    }

    /// Moves with dual averaging of the acceptance probability, pooled over the population.
    pub(super) fn settle_step_size(
        &mut self,
        beta: f64,
        knot: usize,
        moves: std::ops::Range<usize>,
    ) -> Result<Settled, Error> {
        let averaging = Averaging { delta: self.pilot.delta, ..Averaging::default() };
        let mut averaging = DualAveraging::new(averaging, f_log(self.stage.kernel.step_size));
        let longest = self.pilot.longest_step() / self.widest;
        let mut total = 0.0;
        let mut likelihoods = vec![self.log_likelihoods()];
        #[expect(clippy::cast_precision_loss, reason = "moves are few")]
        let count = moves.len() as f64;
        for i in moves {
            let key = self.key.step((knot as u64) << 32 | i as u64);
            let accept = self.move_all(beta, key)?;
            likelihoods.push(self.log_likelihoods());
            self.stage.kernel.step_size = averaging.learn(accept).clamp(SHORTEST, longest);
            total += accept;
        }
        let step_size = averaging.average().unwrap_or(self.stage.kernel.step_size);
        self.stage.kernel.step_size = step_size.clamp(SHORTEST, longest);
        Ok(Settled { accept: total / count, relaxation: relaxation(&likelihoods) })
    }
}

/// Where a step along the path begins.
struct Origin {
    beta: f64,
    log_densities: Vec<f64>,
}

/// Asks for the densities of a state once.
struct Look<'a, S> {
    mover: &'a mut Mover<S>,
    stage: &'a Stage,
    beta: f64,
    done: bool,
    reason: Option<String>,
}

impl<S: Stepper> Walker for Look<'_, S> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        !self.done
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn position(&self) -> &[f64] {
        &self.mover.state.q
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut self.mover.state.gradient
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        self.mover.advance(self.stage, answer);
        if !self.mover.state.log_density().is_finite() {
            self.reason = answer.rejection();
        }
        self.done = true;
        Ok(())
    }
}
