//! Explicit Runge–Kutta pairs of order 5(4) with the step control of odeint, which Stan uses.
//!
//! A step is accepted when maxᵢ |eᵢ| / (atol + rtol (|yᵢ| + |h yᵢ'|)) ≤ 1, where e is the difference of the two
//! formulas. The first step is 0.1; a step changes by the factor 0.9 ε^(−1/3) ≥ 1/5 after a failure of error ε, and by
//! 0.9 ε^(−1/5), at most 4.5, after a success with ε < 1/2.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use super::rows::{CoupledRows, LINE};
use super::{Span, Tolerances};
use crate::lanes::{Kernel, dispatch};
use crate::solvers::SolverError;

pub(super) const FIRST_STEP: f64 = 0.1;
/// Attempts at one step before it is given up.
pub(super) const ATTEMPTS: u32 = 500;

/// A pair of formulas: the nodes, the matrix, the weights of order 5 and the weights' difference to those of order 4.
pub(super) struct Pair {
    pub nodes: &'static [f64],
    pub matrix: &'static [&'static [f64]],
    weights: &'static [f64],
    pub error: &'static [f64],
}

/// Dormand and Prince (1980), table 2; the last stage is the rate at the new point.
pub(super) const DORMAND_PRINCE: Pair = Pair {
    nodes: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    matrix: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    weights: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    error: &[
        35.0 / 384.0 - 5179.0 / 57600.0,
        0.0,
        500.0 / 1113.0 - 7571.0 / 16695.0,
        125.0 / 192.0 - 393.0 / 640.0,
        -2187.0 / 6784.0 + 92097.0 / 339_200.0,
        11.0 / 84.0 - 187.0 / 2100.0,
        -1.0 / 40.0,
    ],
};

/// Cash and Karp (1990), the embedded pair of orders 5 and 4.
const CASH_KARP: Pair = Pair {
    nodes: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 3.0 / 5.0, 1.0, 7.0 / 8.0],
    matrix: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0],
        &[-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0],
        &[1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110_592.0, 253.0 / 4096.0],
    ],
    weights: &[37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0],
    error: &[
        37.0 / 378.0 - 2825.0 / 27648.0,
        0.0,
        250.0 / 621.0 - 18575.0 / 48384.0,
        125.0 / 594.0 - 13525.0 / 55296.0,
        -277.0 / 14336.0,
        512.0 / 1771.0 - 1.0 / 4.0,
    ],
};

/// One step in the making: where it starts, the stages' rates, and where it ends.
struct Stepper<'a, 's> {
    pair: &'static Pair,
    system: &'a mut CoupledRows<'s>,
    tolerances: Tolerances,
    t: f64,
    h: f64,
    state: Vec<f64>,
    /// One after the other; the first is the rate at the step's start.
    stages: Vec<f64>,
    proposal: Vec<f64>,
}

/// out = start + Σ (h cᵢ) kᵢ, where the stages lie one after the other.
struct Combine<'a> {
    out: &'a mut [f64],
    start: &'a [f64],
    h: f64,
    coefficients: &'a [f64],
    stages: &'a [f64],
}

/// The most stages that a formula has.
const STAGES: usize = 7;

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { out, start, h, coefficients, stages } = self;
        let len = out.len();
        let mut scaled = [0.0; STAGES];
        for (to, c) in scaled.iter_mut().zip(coefficients) {
            *to = h * c;
        }
        // Coefficients that are 0 stand at the same places in all formulas: they cost less than finding out.
        let (lines, starts) = (out.as_chunks_mut::<LINE>().0, start.as_chunks::<LINE>().0);
        for (at, (line, start)) in lines.iter_mut().zip(starts).enumerate() {
            let mut sum = *start;
            for (stage, c) in scaled.iter().enumerate().take(coefficients.len()) {
                let from = stage * len + at * LINE;
                let k: &[f64] = &stages[from..from + LINE];
                for l in 0..LINE {
                    sum[l] += c * k[l];
                }
            }
            *line = sum;
        }
    }
}

fn combine(out: &mut [f64], start: &[f64], h: f64, coefficients: &[f64], stages: &[f64]) {
    dispatch(Combine { out, start, h, coefficients, stages });
}

/// The largest error in units of the tolerances.
struct Worst<'a> {
    pair: &'static Pair,
    tolerances: Tolerances,
    h: f64,
    state: &'a [f64],
    stages: &'a [f64],
}

impl Kernel for Worst<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Self { pair, tolerances: Tolerances { relative, absolute, .. }, h, state, stages } = self;
        let len = state.len();
        let mut worst = [0.0_f64; LINE];
        for (at, state) in state.as_chunks::<LINE>().0.iter().enumerate() {
            let stage = |stage: usize| -> &[f64] { &stages[stage * len + at * LINE..][..LINE] };
            let mut error = [0.0; LINE];
            for (number, c) in pair.error.iter().enumerate() {
                let k = stage(number);
                for l in 0..LINE {
                    error[l] += h * c * k[l];
                }
            }
            let first = stage(0);
            for l in 0..LINE {
                let size = state[l].abs() + h.abs() * first[l].abs();
                let error = error[l].abs() / (absolute + relative * size);
                worst[l] = if error > worst[l] { error } else { worst[l] };
            }
        }
        worst.into_iter().fold(0.0, f64::max)
    }
}

/// An attempt at a step of length h: one kernel, so that what is done between two rates uses vector registers, too.
struct Attempt<'x, 'a, 's> {
    stepper: &'x mut Stepper<'a, 's>,
    h: f64,
}

impl Kernel for Attempt<'_, '_, '_> {
    type Output = Result<f64, SolverError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { stepper, h } = self;
        let pair = stepper.pair;
        for (stage, coefficients) in pair.matrix.iter().enumerate().skip(1) {
            stepper.propose(h, coefficients);
            stepper.evaluate(stage, stepper.t + h * pair.nodes[stage])?;
        }
        // The last stage of some pairs is the new state already.
        if pair.matrix[pair.nodes.len() - 1] != pair.weights {
            stepper.propose(h, pair.weights);
        }
        let Stepper { tolerances, ref state, ref stages, .. } = *stepper;
        Ok(Worst { pair, tolerances, h, state, stages }.run())
    }
}

impl<'a, 's> Stepper<'a, 's> {
    /// The proposal becomes the state moved by stages.
    #[inline(always)]
    fn propose(&mut self, h: f64, coefficients: &[f64]) {
        let Self { proposal: out, state: start, stages, .. } = self;
        Combine { out, start, h, coefficients, stages }.run();
    }

    fn new(
        pair: &'static Pair,
        system: &'a mut CoupledRows<'s>,
        span: Span,
        tolerances: Tolerances,
    ) -> Result<Self, SolverError> {
        let (state, t) = (system.start(span.initial_state), span.initial_time);
        let stages = vec![0.0; state.len() * pair.nodes.len()];
        let mut stepper = Self { pair, tolerances, t, h: FIRST_STEP, proposal: state.clone(), state, stages, system };
        stepper.evaluate(0, t)?;
        Ok(stepper)
    }

    /// The rate at the proposal becomes a stage.
    #[inline(always)]
    fn evaluate(&mut self, stage: usize, t: f64) -> Result<(), SolverError> {
        let own = &mut self.stages[stage * self.state.len()..][..self.state.len()];
        self.system.rate(t, &self.proposal, own)?;
        // Whatever is not finite leaves a NaN, which takes fewer instructions than to look at each.
        let mut sums = [0.0; LINE];
        for line in own.as_chunks::<LINE>().0 {
            for l in 0..LINE {
                sums[l] += 0.0 * line[l];
            }
        }
        if sums.iter().sum::<f64>().is_nan() && own.iter().any(|v| v.is_nan()) {
            return Err(SolverError::RateNotANumber { time: t });
        }
        Ok(())
    }

    /// Computes the stages and the new state, and returns the error in units of the tolerances.
    fn attempt(&mut self, h: f64) -> Result<f64, SolverError> {
        dispatch(Attempt { stepper: self, h })
    }

    /// The last stage becomes the first.
    fn last_stage_first(&mut self) {
        let last = self.stages.len() - self.state.len();
        self.stages.copy_within(last.., 0);
    }

    /// The state at `t` inside of the step of length h that starts at `begin`: Hairer, Nørsett and Wanner (1993),
    /// section II.6, the continuous extension of order 4.
    fn interpolate(&self, previous: &[f64], begin: f64, h: f64, t: f64, out: &mut [f64]) {
        combine(out, previous, h, &continuous((t - begin) / h), &self.stages);
    }
}

/// The coefficients of the continuous extension at the fraction θ of a step.
pub(super) fn continuous(theta: f64) -> [f64; STAGES] {
    let weights = DORMAND_PRINCE.weights;
    let x1 = 5.0 * (2_558_722_523.0 - 31_403_016.0 * theta) / 11_282_082_432.0;
    let x3 = 100.0 * (882_725_551.0 - 15_701_508.0 * theta) / 32_700_410_799.0;
    let x4 = 25.0 * (443_332_067.0 - 31_403_016.0 * theta) / 1_880_347_072.0;
    let x5 = 32805.0 * (23_143_187.0 - 3_489_224.0 * theta) / 199_316_789_632.0;
    let x6 = 55.0 * (29_972_135.0 - 7_076_736.0 * theta) / 822_651_844.0;
    let x7 = 10.0 * (7_414_447.0 - 829_305.0 * theta) / 29_380_423.0;
    let a = theta * theta * (3.0 - 2.0 * theta);
    let b = theta * theta * (theta - 1.0);
    let c = b * (theta - 1.0);
    let d = theta * (theta - 1.0) * (theta - 1.0);
    [
        a * weights[0] - c * x1 + d,
        0.0,
        a * weights[2] + c * x3,
        a * weights[3] - c * x4,
        a * weights[4] + c * x5,
        a * weights[5] - c * x6,
        b + c * x7,
    ]
}

/// The factor by which a step shrinks after an error above 1.
pub(super) fn shrink(error: f64) -> f64 {
    (0.9 * error.powf(-1.0 / 3.0)).max(0.2)
}

/// The factor by which a step grows after an error of at most 1.
pub(super) fn grow(error: f64) -> f64 {
    if error < 0.5 { 0.9 * error.max(5.0_f64.powi(-5)).powf(-1.0 / 5.0) } else { 1.0 }
}

/// Steps of Dormand and Prince's pair that pass over the output times; only the last output time is stepped onto.
pub(super) fn dense(
    system: &mut CoupledRows,
    span: Span,
    tolerances: Tolerances,
    outputs: &mut Vec<f64>,
) -> Result<(), SolverError> {
    let mut stepper = Stepper::new(&DORMAND_PRINCE, system, span, tolerances)?;
    let end = span.times[span.times.len() - 1];
    let mut previous = stepper.state.clone();
    let mut begin = span.initial_time;
    let mut output = stepper.state.clone();
    let mut pending = span.times.iter().peekable();
    let mut steps = 0;
    loop {
        while let Some(&&time) = pending.peek() {
            if time - stepper.t > f64::EPSILON {
                break;
            }
            // An output time within rounding of the start is the start.
            if begin < stepper.t {
                stepper.interpolate(&previous, begin, stepper.t - begin, time, &mut output);
            }
            stepper.system.output(&output, outputs);
            pending.next();
            steps = 0;
        }
        let Some(&&next) = pending.peek() else { return Ok(()) };
        // The stages of the last step serve the interpolation until the next one begins.
        if begin < stepper.t {
            stepper.last_stage_first();
        }
        if steps >= tolerances.max_steps {
            return Err(SolverError::TooManySteps { time: next });
        }
        steps += 1;
        if stepper.t + stepper.h - end > f64::EPSILON {
            stepper.h = end - stepper.t;
        }
        begin = stepper.t;
        accepted_step(&mut stepper)?;
        std::mem::swap(&mut previous, &mut stepper.state);
        std::mem::swap(&mut stepper.state, &mut stepper.proposal);
    }
}

/// Tries smaller and smaller steps until one is accepted; moves the time and leaves the new state in the proposal.
fn accepted_step(stepper: &mut Stepper) -> Result<(), SolverError> {
    for _ in 0..ATTEMPTS {
        let error = stepper.attempt(stepper.h)?;
        if error > 1.0 {
            stepper.h *= shrink(error);
        } else {
            stepper.t += stepper.h;
            stepper.h *= grow(error);
            return Ok(());
        }
    }
    Err(SolverError::ErrorTest { time: stepper.t })
}

/// Steps of Cash and Karp's pair that end at every output time; the step size survives being cut short.
pub(super) fn controlled(
    system: &mut CoupledRows,
    span: Span,
    tolerances: Tolerances,
    outputs: &mut Vec<f64>,
) -> Result<(), SolverError> {
    let mut stepper = Stepper::new(&CASH_KARP, system, span, tolerances)?;
    for &time in span.times {
        let (mut steps, mut failures) = (0, 0);
        while time - stepper.t > f64::EPSILON {
            let h = stepper.h.min(time - stepper.t);
            let error = stepper.attempt(h)?;
            if error > 1.0 {
                failures += 1;
                if failures > ATTEMPTS {
                    return Err(SolverError::ErrorTest { time: stepper.t });
                }
                stepper.h = h * shrink(error);
                continue;
            }
            if steps >= tolerances.max_steps {
                return Err(SolverError::TooManySteps { time });
            }
            steps += 1;
            failures = 0;
            stepper.t += h;
            stepper.h = stepper.h.max(h * grow(error));
            stepper.state.copy_from_slice(&stepper.proposal);
            stepper.evaluate(0, stepper.t)?;
        }
        // Boost begins each output time at that time, not at the sum of the steps.
        stepper.t = time;
        stepper.system.output(&stepper.state, outputs);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::System;
    use super::*;

    /// y' = y cos t with the solution exp(sin t).
    struct Wave;

    impl System for Wave {
        fn states(&self) -> usize {
            1
        }
        fn parameters(&self) -> usize {
            0
        }
        fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
            rate[0] = y[0] * t.cos();
            Ok(())
        }
        fn jacobian(
            &mut self,
            t: f64,
            y: &[f64],
            rate: &mut [f64],
            by_state: &mut [f64],
            _: &mut [f64],
        ) -> Result<(), SolverError> {
            by_state[0] = t.cos();
            self.rate(t, y, rate)
        }
    }

    /// The error of one step of length h, at its end and by interpolation at 0.4 h.
    fn errors(pair: &'static Pair, h: f64) -> (f64, f64) {
        let mut wave = Wave;
        let mut system = CoupledRows::new(&mut wave, 0, 0);
        let tolerances = Tolerances { relative: 1.0, absolute: 1.0, max_steps: 1 };
        let t = 0.3_f64;
        let start = [t.sin().exp()];
        let span = Span { initial_state: &start, initial_time: t, times: &[] };
        let mut stepper = Stepper::new(pair, &mut system, span, tolerances).expect("smooth");
        let begin = stepper.state.clone();
        stepper.attempt(h).expect("smooth");
        let end = (stepper.proposal[0] - (t + h).sin().exp()).abs();
        let mut inside = vec![0.0; begin.len()];
        if pair.nodes.len() == 7 {
            stepper.interpolate(&begin, t, h, t + 0.4 * h, &mut inside);
        }
        (end, (inside[0] - (t + 0.4 * h).sin().exp()).abs())
    }

    #[test]
    fn steps_are_of_order_five_and_interpolation_of_order_four() {
        for pair in [&DORMAND_PRINCE, &CASH_KARP] {
            let order = (errors(pair, 0.1).0 / errors(pair, 0.05).0).log2();
            assert!((order - 6.0).abs() < 0.4, "local order {order}");
        }
        let order = (errors(&DORMAND_PRINCE, 0.1).1 / errors(&DORMAND_PRINCE, 0.05).1).log2();
        assert!((order - 5.0).abs() < 0.6, "local order of the interpolation {order}");
    }

    #[test]
    fn weights_and_nodes_are_consistent() {
        for pair in [&DORMAND_PRINCE, &CASH_KARP] {
            assert!((pair.weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(pair.error.iter().sum::<f64>().abs() < 1e-15);
            for (node, row) in pair.nodes.iter().zip(pair.matrix) {
                assert!((row.iter().sum::<f64>() - node).abs() < 1e-14, "node {node}");
            }
        }
    }
}
