//! The rehearsal: chains go up and down the path with the kernels of the pilot run, and show where it is lossy.
//!
//! A pilot that only goes up does not see all: near a phase transition, states that come from below stay what they are
//! for a while, and so do states that come from above (hysteresis). In linear response the two directions differ at β
//! by
//!
//! > E↓[log likelihood] − E↑[log likelihood] = ζ(β) Δβ,
//!
//! Δβ being the rise for each move and ζ the friction (τ Var[log likelihood] where the kernel forgets in τ moves). The
//! gap of the sandwich is the sum of ζ Δβ² over all moves, and equal steps of ∫ √ζ dβ make it smallest. So ζ is
//! measured where it is larger than the noise, and kernels are tuned once more for the states of both directions.

use crust_math::random::StreamKey;

use super::Schedule;
use super::target::{Mover, Progress};
use super::tune::{FEWEST, PilotRun, Tuned};
use super::tuned::{Stages, TunedKernels, further};
use crate::drive::{Answer, Walker};
use crate::error::Error;
use crate::kernel::Stepper;
use crate::path::{Course, Path};

/// Moves of a rehearsal between two knots, on average, to compare kernels …
const FEW_MOVES_EACH: usize = 8;
/// … and once they are chosen.
const MOVES_EACH: usize = 12;
/// How many standard errors a measured gap must be off what the pilot run says to be believed.
const ERRORS: f64 = 1.5;
/// Moves in which the step size settles at a knot.
const SETTLE: usize = 8;
/// The least share of the pilot's estimate that is left of a gap.
const LEAST: f64 = 0.05;

/// What chains in one direction saw.
pub(super) struct Passage {
    /// Entry t: the log likelihoods of all chains where the path is between distributions t and t + 1. Entry 0 is
    /// empty.
    log_likelihoods: Vec<Vec<f64>>,
    /// The states at each knot.
    at_knots: Vec<Vec<Vec<f64>>>,
}

/// Kernels with the lengths that a rehearsal measured, and the states that it met.
pub(super) struct Rehearsed {
    pub(super) tuned: Tuned,
    /// At each knot, of both directions.
    states: Vec<Vec<Vec<f64>>>,
}

impl Rehearsed {
    /// A length that no kernel on this path is likely to fall below.
    pub(super) fn least_length(&self) -> f64 {
        let steps = self.tuned.kernels.knots().windows(2).map(|pair| pair[1].length - pair[0].length);
        steps.zip(&self.tuned.ideal).map(|(step, ideal)| step.min(*ideal)).sum()
    }
}

impl<P: Path + Clone + Send, S: Stepper + Clone> PilotRun<'_, P, S> {
    /// Measures lengths with some chains in both directions, enough to compare kernels.
    pub(super) fn rehearse(mut self, tuned: Tuned) -> Result<Rehearsed, Error> {
        let chains = self.basis.draws.len().div_ceil(2).max(FEWEST);
        let (up, down, schedule) = self.passages(&tuned.kernels, chains, (FEW_MOVES_EACH, 1))?;
        let kernels = with_lengths(&tuned.kernels, &up, &down, (&schedule, self.driver.course()))?;
        let states = up.at_knots.into_iter().zip(down.at_knots).map(|(up, down)| [up, down].concat()).collect();
        Ok(Rehearsed { tuned: Tuned { kernels, ..tuned }, states })
    }

    /// Kernels for the states of both directions, and the lengths with these kernels.
    pub(super) fn refine(mut self, rehearsed: Rehearsed) -> Result<TunedKernels, Error> {
        let kernels =
            if rehearsed.tuned.both_ways { rehearsed.tuned.kernels } else { self.retune(&rehearsed)?.kernels };
        let (up, down, schedule) = self.passages(&kernels, self.basis.draws.len(), (MOVES_EACH, 2))?;
        with_lengths(&kernels, &up, &down, (&schedule, self.driver.course()))
    }

    /// Kernels of this run's method in place of another, at the same knots, with lengths from how they forget.
    pub(super) fn lengthen(mut self, rehearsed: &Rehearsed) -> Result<Tuned, Error> {
        self.retune(rehearsed)
    }

    /// Up from the prior and down again.
    fn passages(
        &mut self,
        kernels: &TunedKernels,
        chains: usize,
        (moves_each, round): (usize, u64),
    ) -> Result<(Passage, Passage, Schedule), Error> {
        let distributions = moves_each * kernels.knots().len();
        let schedule = Schedule::from_pilot(distributions, kernels).map_err(|bad| Error::Setting {
            name: "the schedule of the rehearsal",
            value: bad.to_string(),
            must_be: "rising",
        })?;
        self.movers = self.basis.draws[..chains].iter().map(|draw| self.mover(draw)).collect();
        self.look(schedule.beta(2))?;
        self.movers.retain(|mover| mover.state.log_density().is_finite());
        let stages = Stages::new(kernels, &schedule);
        let knots = kernels.knots().iter().map(|knot| nearest(&schedule, knot.beta)).collect();
        let mut road = Road { stages, schedule: &schedule, knots, upwards: true };
        let key = |passage: u64| self.key.step(passage << 48);
        let (first, second) = (key(2 * round), key(2 * round + 1));
        let up = self.passage(&road, first)?;
        road.upwards = false;
        let down = self.passage(&road, second)?;
        Ok((up, down, schedule))
    }

    /// All chains through all moves in one direction.
    fn passage(&mut self, road: &Road<'_>, key: StreamKey) -> Result<Passage, Error> {
        let chains = self.movers.iter_mut().zip(0..);
        let mut chains: Vec<Passenger<'_, S>> =
            chains.map(|(mover, k)| Passenger::new(mover, road, key.chain(k))).collect();
        self.driver.drive(&mut chains, self.control)?;
        let mut passage =
            Passage { log_likelihoods: vec![vec![]; road.schedule.len()], at_knots: vec![vec![]; road.knots.len()] };
        for chain in chains {
            passage.log_likelihoods.iter_mut().zip(chain.log_likelihoods).for_each(|(all, value)| all.extend(value));
            passage.at_knots.iter_mut().zip(chain.at_knots).for_each(|(all, state)| all.extend(state));
        }
        self.control.check()?;
        Ok(passage)
    }

    /// Charts, metrics and step sizes for the states of both directions.
    fn retune(&mut self, Rehearsed { tuned, states }: &Rehearsed) -> Result<Tuned, Error> {
        let (kernels, method) = (&tuned.kernels, self.pilot.method);
        let mut knots = kernels.knots().to_vec();
        for k in 1..knots.len() {
            let before = knots[k - 1].length;
            let knot = &mut knots[k];
            self.movers = states[k].iter().map(|state| self.mover(state)).collect();
            self.stage = kernels.stage(knot.beta);
            self.stage.kernel.method = method;
            self.variance.clone_from(&knot.variance);
            self.look(knot.beta)?;
            self.measure_spread();
            let settled = self.settle_step_size(knot.beta, k, RETUNED..RETUNED + SETTLE)?;
            knot.step_size = self.stage.kernel.step_size;
            knot.accept = settled.accept;
            knot.variance.clone_from(&self.variance);
            knot.frame = self.frame();
            if method != kernels.method() {
                knot.length = further(before, tuned.ideal[k - 1] * settled.relaxation.sqrt());
            }
        }
        knots[0].step_size = knots[1].step_size;
        knots[0].accept = knots[1].accept;
        let kernels = kernels.with_knots(method, knots)?;
        Ok(Tuned { kernels, ideal: tuned.ideal.clone(), both_ways: true })
    }
}

/// What the chains of a rehearsal go along.
struct Road<'a> {
    stages: Stages,
    schedule: &'a Schedule,
    /// The distributions where states are kept.
    knots: Vec<usize>,
    upwards: bool,
}

/// A chain of a rehearsal.
struct Passenger<'a, S> {
    mover: &'a mut Mover<S>,
    road: &'a Road<'a>,
    key: StreamKey,
    /// The distribution of the next move; beyond the last one at the end.
    t: usize,
    log_likelihoods: Vec<Option<f64>>,
    at_knots: Vec<Option<Vec<f64>>>,
}

impl<'a, S: Stepper> Passenger<'a, S> {
    fn new(mover: &'a mut Mover<S>, road: &'a Road<'a>, key: StreamKey) -> Self {
        mover.refresh();
        let t = if road.upwards { 2 } else { road.schedule.len() };
        let (log_likelihoods, at_knots) = (vec![None; road.schedule.len()], vec![None; road.knots.len()]);
        Self { mover, road, key, t, log_likelihoods, at_knots }
    }

    fn record(&mut self) {
        self.log_likelihoods[self.t - 1] = Some(self.mover.state.densities.log_likelihood);
    }

    /// To the next distribution.
    fn go_on(&mut self) {
        for (knot, state) in self.road.knots.iter().zip(&mut self.at_knots) {
            if *knot == self.t {
                *state = Some(self.mover.state.q.clone());
            }
        }
        self.t = if self.road.upwards { self.t + 1 } else { self.t - 1 };
        self.mover.refresh();
    }
}

impl<S: Stepper> Walker for Passenger<'_, S> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        (2..=self.road.schedule.len()).contains(&self.t)
    }

    fn beta(&self) -> f64 {
        self.road.schedule.beta(self.t)
    }

    fn position(&self) -> &[f64] {
        self.mover.position()
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        self.mover.gradient_mut()
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        let stage = self.road.stages.at(self.t);
        match self.mover.advance(stage, answer) {
            Progress::UnderWay => {}
            Progress::Refreshed => {
                // Up, weights are collected before the move; down, after it.
                if self.road.upwards {
                    self.record();
                }
                let stream = self.key.step(self.key.step | self.t as u64).stream();
                self.mover.begin(stage, stream);
            }
            Progress::Moved(_) => {
                if !self.road.upwards {
                    self.record();
                }
                self.go_on();
            }
        }
        Ok(())
    }
}

/// Moves of the retuning are numbered from here, beyond those of the pilot run.
const RETUNED: usize = 1 << 16;

/// The distribution whose β is nearest, among those at which chains move.
fn nearest(schedule: &Schedule, beta: f64) -> usize {
    let after = schedule.betas().partition_point(|b| *b < beta) + 1;
    let off = |t: usize| (schedule.beta(t) - beta).abs();
    let after = after.clamp(2, schedule.len());
    if after > 2 && off(after - 1) < off(after) { after - 1 } else { after }
}

/// The same kernels with the lengths that both directions suggest.
fn with_lengths(
    kernels: &TunedKernels,
    up: &Passage,
    down: &Passage,
    (schedule, course): (&Schedule, &Course),
) -> Result<TunedKernels, Error> {
    let mut knots = kernels.knots().to_vec();
    let old: Vec<f64> = knots.iter().map(|knot| knot.length).collect();
    for k in 1..knots.len() {
        let moves: Vec<usize> = (2..=schedule.len())
            .filter(|&t| {
                let middle = f64::midpoint(schedule.beta(t - 1), schedule.beta(t));
                knots[k - 1].beta <= middle && middle < knots[k].beta
            })
            .collect();
        let step = old[k] - old[k - 1];
        let length = if moves.is_empty() { step } else { measured(step, &moves, (up, down), (schedule, course)) };
        knots[k].length = further(knots[k - 1].length, length);
    }
    kernels.with_knots(kernels.method(), knots)
}

/// The length of a piece of the path from its gap in the rehearsal: length² = gap · moves.
fn measured(
    expected: f64,
    moves: &[usize],
    (up, down): (&Passage, &Passage),
    (schedule, course): (&Schedule, &Course),
) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "moves are few")]
    let count = moves.len() as f64;
    // Σ log fₜ − log fₜ₋₁ of each chain: Δβ log likelihood on the geometric path. Where only evaluations tell, nothing
    // is rehearsed.
    let totals = |passage: &Passage| -> Vec<f64> {
        let chains = passage.log_likelihoods.last().map_or(0, Vec::len);
        let gain = |t: usize, log_likelihood: f64| {
            course.log_ratio(log_likelihood, schedule.beta(t - 1), schedule.beta(t)).unwrap_or(f64::NAN)
        };
        let total = |c: usize| moves.iter().map(|&t| gain(t, passage.log_likelihoods[t - 1][c])).sum();
        (0..chains).map(total).collect()
    };
    let ((mean_up, error_up), (mean_down, error_down)) = (mean_and_error(&totals(up)), mean_and_error(&totals(down)));
    let (gap, error) = (mean_down - mean_up, error_up.hypot(error_down));
    let theory = expected * expected / count;
    if !(gap + error).is_finite() {
        return expected;
    }
    let gap = theory.clamp(gap - ERRORS * error, gap + ERRORS * error).max(LEAST * theory);
    (gap * count).sqrt()
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    #[expect(clippy::cast_precision_loss, reason = "chains are few")]
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::tuned::Knot;
    use super::super::widths::Frame;
    use super::*;
    use crate::kernel::Method;

    fn kernels() -> TunedKernels {
        let knot = |beta, length| Knot {
            beta,
            step_size: 1.0,
            variance: vec![1.0],
            accept: 0.8,
            length,
            frame: Frame::default(),
        };
        TunedKernels::new(Method::Metropolis, 0.0, vec![knot(0.0, 0.0), knot(0.5, 1.0), knot(1.0, 2.0)]).unwrap()
    }

    /// Eight chains whose log likelihoods are a constant with a known spread.
    fn passage(schedule: &Schedule, level: impl Fn(f64) -> f64, spread: f64) -> Passage {
        let at = |t: usize| {
            let beta = f64::midpoint(schedule.beta(t.max(1)), schedule.beta(t + 1));
            (0..8).map(|c| level(beta) + if c % 2 == 0 { spread } else { -spread }).collect()
        };
        Passage { log_likelihoods: (0..schedule.len()).map(at).collect(), at_knots: vec![] }
    }

    /// Where the directions differ by ζ Δβ, the length is ∫ √ζ dβ, whatever the pilot run has said.
    #[test]
    fn lengths_are_those_of_the_friction() {
        let schedule = Schedule::linear(41).unwrap();
        let friction = |beta: f64| if beta < 0.5 { 100.0 } else { 3600.0 };
        let up = passage(&schedule, |_| -50.0, 1e-9);
        let down = passage(&schedule, |beta| -50.0 + friction(beta) / 40.0, 1e-9);
        let found = with_lengths(&kernels(), &up, &down, (&schedule, &Course::Straight)).unwrap();
        let lengths: Vec<f64> = found.knots().iter().map(|knot| knot.length).collect();
        assert!((lengths[1] - 0.5 * 10.0).abs() < 1e-5 && (lengths[2] - 0.5 * 70.0).abs() < 1e-5, "{lengths:?}");
    }

    /// Within the noise the pilot run is believed, and lengths rise even where the directions are in the wrong order.
    #[test]
    fn noise_changes_nothing() {
        let schedule = Schedule::linear(41).unwrap();
        let (up, down) = (passage(&schedule, |_| 0.0, 50.0), passage(&schedule, |_| 3.0, 50.0));
        assert_eq!(with_lengths(&kernels(), &up, &down, (&schedule, &Course::Straight)).unwrap(), kernels());
        let (up, down) = (passage(&schedule, |_| 0.0, 1e-9), passage(&schedule, |_| -3.0, 1e-9));
        let found = with_lengths(&kernels(), &up, &down, (&schedule, &Course::Straight)).unwrap();
        assert!(found.knots().windows(2).all(|pair| pair[0].length < pair[1].length));
        let nothing = passage(&schedule, |_| f64::NEG_INFINITY, 0.0);
        assert_eq!(with_lengths(&kernels(), &nothing, &nothing, (&schedule, &Course::Straight)).unwrap(), kernels());
    }

    #[test]
    fn knots_are_met_at_the_nearest_move() {
        let schedule = Schedule::linear(11).unwrap();
        let at = |beta| nearest(&schedule, beta);
        assert_eq!((at(0.0), at(0.1), at(0.14), at(0.16), at(1.0)), (2, 2, 2, 3, 11));
    }
}
