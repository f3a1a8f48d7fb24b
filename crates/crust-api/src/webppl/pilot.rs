//! The pilot run: how long random-walk steps are at each β, and how far apart the distributions of the path are.
//!
//! A population of prior draws is led to the posterior by sequential Monte Carlo. At each β on its way, random walks
//! are tuned to an acceptance rate of 0.44, the best one for single numbers, and trajectories to one of 0.8.

use crust_infer::anneal::{BadSchedule, Schedule};
use crust_infer::drive::Control;
use crust_infer::error::Error as InferError;
use crust_math::random::{Stream, StreamKey};
use crust_webppl::simulator::{Execution, Simulator, TraceKernel};
use serde::{Deserialize, Serialize};

use super::problem::Trouble;
use crate::annealing::KernelChoice;
use crate::experiment::Spacing;

/// Kernels along the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tuned {
    pub knots: Vec<Knot>,
    /// Proposals in a step.
    proposals: usize,
    /// Draws from the prior only.
    single_site: bool,
    /// Whether there are trajectories.
    leaps: bool,
}

/// A place on the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knot {
    pub beta: f64,
    /// The length of random-walk steps, in spreads of the prior.
    pub drift: f64,
    /// The length of leaps.
    leap: f64,
    pub accept: f64,
    /// The length of the path up to here.
    length: f64,
}

const PARTICLES: usize = 32;
/// Steps at each β.
const MOVES: usize = 4;
/// What part of the population a stride to the next β keeps.
const EFFICIENCY: f64 = 0.5;
const WISHED_ACCEPT: f64 = 0.44;
const WISHED_LEAPS: f64 = 0.8;
/// A step has one proposal for so many choices.
const CHOICES_EACH: usize = 8;
const MOST_PROPOSALS: usize = 64;
/// δ of the sigmoid schedule, BDMC, section 6.2.
const DELTA: f64 = 4.0;

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn float(n: usize) -> f64 {
    n as f64
}

impl Tuned {
    /// The kernel at β: between two knots, the logarithm of the length of steps is linear.
    pub fn at(&self, beta: f64) -> TraceKernel {
        if self.single_site {
            return TraceKernel::single_site();
        }
        let after = self.knots.partition_point(|knot| knot.beta < beta).min(self.knots.len().saturating_sub(1));
        let (low, high) = (self.knots[after.saturating_sub(1)], self.knots[after]);
        let share =
            if high.beta > low.beta { ((beta - low.beta) / (high.beta - low.beta)).clamp(0.0, 1.0) } else { 0.0 };
        let between = |a: f64, b: f64| (a.ln() * (1.0 - share) + b.ln() * share).exp();
        let leap = if self.leaps { between(low.leap, high.leap) } else { 0.0 };
        TraceKernel { proposals: self.proposals, drift: between(low.drift, high.drift), pairs: true, leap }
    }

    /// β₁ … `β_T`.
    pub fn schedule(&self, t: usize, spacing: Spacing) -> Result<Schedule, BadSchedule> {
        match spacing {
            Spacing::Linear => Schedule::linear(t),
            Spacing::Sigmoid => Schedule::sigmoid(t, DELTA),
            Spacing::Adaptive => {
                let last = t.saturating_sub(1).max(1);
                let beta = |i: usize| if i == last { 1.0 } else { self.beta_at(float(i) / float(last)) };
                Schedule::try_from((0..t).map(beta).collect::<Vec<f64>>())
            }
        }
    }

    /// The β at a share of the length of the path.
    fn beta_at(&self, share: f64) -> f64 {
        let wanted = share * self.knots.last().map_or(0.0, |knot| knot.length);
        let after = self.knots.partition_point(|knot| knot.length <= wanted).min(self.knots.len() - 1);
        let (low, high) = (self.knots[after.saturating_sub(1)], self.knots[after]);
        let within = if high.length > low.length { (wanted - low.length) / (high.length - low.length) } else { 1.0 };
        low.beta + within * (high.beta - low.beta)
    }
}

/// Tunes kernels for the data that the simulator observes.
pub(super) fn tune(
    simulator: &mut Simulator,
    choice: KernelChoice,
    key: StreamKey,
    control: &Control,
) -> Result<Tuned, Trouble> {
    let mut states = Vec::with_capacity(PARTICLES);
    for k in 0..PARTICLES {
        states.push(simulator.prior(&mut key.chain(chain(k)).stream())?);
    }
    let mut sizes: Vec<usize> = states.iter().map(Execution::choices).collect();
    sizes.sort_unstable();
    let proposals = sizes[PARTICLES / 2].div_ceil(CHOICES_EACH).clamp(1, MOST_PROPOSALS);
    let single_site = choice == KernelChoice::Mh;
    let mut knots = vec![Knot { beta: 0.0, drift: 1.0, leap: 0.3, accept: 1.0, length: 0.0 }];
    let leaps = choice == KernelChoice::Hmc;
    let mut tuned = Tuned { knots: knots.clone(), proposals, single_site, leaps };
    let mut round = 0;
    loop {
        let last = knots[knots.len() - 1];
        let logs: Vec<f64> = states.iter().map(Execution::log_likelihood).collect();
        if !logs.iter().any(|log| log.is_finite()) {
            return Err(InferError::NoLikelihood { draws: PARTICLES, reason: None }.into());
        }
        if last.beta >= 1.0 {
            break;
        }
        round += 1;
        let stream = &mut key.chain(chain(PARTICLES)).step(round).stream();
        let (beta, length) = stride(&logs, last.beta);
        let chosen = resample(&logs, beta - last.beta, stream);
        states = chosen.into_iter().map(|i| states[i].clone()).collect();
        let mut knot = Knot { beta, length: last.length + length, ..last };
        for round_of_moves in 0..MOVES {
            control.check()?;
            tuned.knots = vec![knot];
            let (mut accepted, mut proposed, mut leaps) = (0, 0, [0_u32; 2]);
            let first = MOVES as u64 * round + round_of_moves as u64;
            for (k, state) in states.iter_mut().enumerate() {
                let stream = &mut key.chain(chain(PARTICLES + 1 + k)).step(first).stream();
                let steps = simulator.step(state, beta, &tuned.at(beta), stream)?;
                if steps.leapt {
                    leaps = [leaps[0] + u32::from(steps.accepted > 0), leaps[1] + 1];
                    // frozen kernels do not try what was impossible here
                    tuned.leaps &= !steps.no_leaps;
                } else {
                    accepted += steps.accepted;
                    proposed += steps.proposed;
                }
                control.count_iteration();
            }
            #[expect(clippy::cast_precision_loss, reason = "proposals are few")]
            let accept = if proposed == 0 { 1.0 } else { accepted as f64 / proposed as f64 };
            knot.accept = accept;
            if leaps[1] > 0 {
                let rate = f64::from(leaps[0]) / f64::from(leaps[1]);
                knot.leap = (knot.leap * (1.5 * (rate - WISHED_LEAPS)).exp()).clamp(1e-5, 1.0);
            }
            knot.drift = (knot.drift * (1.5 * (accept - WISHED_ACCEPT)).exp()).clamp(1e-4, 3.0);
        }
        knots.push(knot);
    }
    knots[0].drift = knots.get(1).map_or(1.0, |knot| knot.drift.max(1.0));
    Ok(Tuned { knots, ..tuned })
}

fn chain(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

/// The furthest β that keeps the efficiency, and the length of the way to it: over a short way of length s the log
/// weights are about normal with variance s², so that the efficiency is e^(−s²).
fn stride(logs: &[f64], beta: f64) -> (f64, f64) {
    let efficiency = |rise: f64| {
        let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
        let top = logs.iter().copied().filter(|l| l.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        for log in logs.iter().filter(|l| l.is_finite()) {
            let w = (rise * (log - top)).exp();
            sum += w;
            squares += w * w;
            n += 1.0;
        }
        sum * sum / (squares * n)
    };
    let length = |rise: f64| (-efficiency(rise).ln()).max(1e-12).sqrt();
    if efficiency(1.0 - beta) >= EFFICIENCY {
        return (1.0, length(1.0 - beta));
    }
    let (mut low, mut high) = (1e-12_f64.ln(), (1.0 - beta).ln());
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if efficiency(middle.exp()) >= EFFICIENCY {
            low = middle;
        } else {
            high = middle;
        }
    }
    let rise = low.exp().max(beta * 1e-9);
    ((beta + rise).min(1.0), length(rise))
}

/// Which states go on, by systematic resampling.
fn resample(logs: &[f64], rise: f64, stream: &mut Stream) -> Vec<usize> {
    let top = logs.iter().copied().filter(|l| l.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let weight = |log: f64| if log.is_finite() { (rise * (log - top)).exp() } else { 0.0 };
    let weights: Vec<f64> = logs.iter().map(|&log| weight(log)).collect();
    let spacing = weights.iter().sum::<f64>() / float(logs.len());
    let (mut point, mut before, mut chosen) = (stream.uniform() * spacing, 0.0, Vec::with_capacity(logs.len()));
    let mut last = 0;
    for (i, w) in weights.iter().enumerate() {
        before += w;
        while *w > 0.0 && point < before && chosen.len() < logs.len() {
            chosen.push(i);
            point += spacing;
        }
        last = if *w > 0.0 { i } else { last };
    }
    chosen.resize(logs.len(), last);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log likelihoods of a normal distribution with deviation s: the efficiency of a rise r is e^(−(rs)²).
    #[test]
    fn strides_keep_the_efficiency() {
        let mut stream = StreamKey::new(1, crust_math::random::Purpose::TEST).stream();
        let logs: Vec<f64> = (0..20_000).map(|_| -50.0 + 3.0 * stream.standard_normal()).collect();
        let (beta, length) = stride(&logs, 0.0);
        assert!((length - 2.0_f64.ln().sqrt()).abs() < 0.02 && (beta * 3.0 - length).abs() < 0.03);
        assert_eq!(stride(&[-5.0; 8], 0.25).0.to_bits(), 1.0_f64.to_bits());
        let counts = resample(&[0.0, f64::NEG_INFINITY, 0.0, f64::NAN], 1.0, &mut stream);
        assert!(counts.len() == 4 && counts.iter().all(|i| [0, 2].contains(i)));
    }

    #[test]
    fn schedules_rise_from_0_to_1() {
        let knot = |beta: f64, length: f64| Knot { beta, drift: 1.0 + beta, leap: 0.1, accept: 0.4, length };
        let knots = vec![knot(0.0, 0.0), knot(0.01, 1.0), knot(1.0, 2.0)];
        let tuned = Tuned { knots, proposals: 3, single_site: false, leaps: false };
        let schedule = tuned.schedule(5, Spacing::Adaptive).expect("rises");
        let wanted = [0.0, 0.005, 0.01, 0.505, 1.0];
        assert!(schedule.betas().iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{:?}", schedule.betas());
        assert!(tuned.schedule(2, Spacing::Adaptive).is_ok());
        assert_eq!(tuned.at(0.0).drift.to_bits(), 1.0_f64.to_bits());
        assert!(tuned.at(0.5).drift > 1.01 && tuned.at(0.5).drift < 2.0);
        assert_eq!(Tuned { single_site: true, ..tuned }.at(0.5), TraceKernel::single_site());
    }
}
