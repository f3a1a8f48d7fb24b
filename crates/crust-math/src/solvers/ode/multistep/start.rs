//! The first step: h with h² ‖y''‖ / 2 about 1 in units of the tolerances, found by a few difference quotients.

use super::{Multistep, nan_max};
use crate::solvers::SolverError;

/// The first step is at most this part of the way to the first output, and changes no element by more than this part.
const LARGEST: f64 = 0.1;
/// The first step is at least this many roundings of the time.
pub(super) const SMALLEST: f64 = 100.0;
pub(super) const ITERATIONS: u32 = 4;
/// The found step is used only in part.
pub(super) const CAUTION: f64 = 0.5;

/// The largest step that moves no element by more than a tenth of itself plus its tolerance. Elements are given with
/// their rates and weights.
pub(super) fn largest_first_step(distance: f64, elements: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let fastest = elements.map(|(z, rate, weight)| rate.abs() / (LARGEST * z.abs() + 1.0 / weight)).fold(0.0, nan_max);
    let largest = LARGEST * distance;
    if largest * fastest > 1.0 { 1.0 / fastest } else { largest }
}

/// The trial step after one with this weighted norm of y'', and whether it is the last one.
pub(super) fn next_trial(iteration: u32, trial: f64, largest: f64, curvature: f64) -> (f64, bool) {
    let proposal =
        if curvature * largest * largest > 2.0 { (2.0 / curvature).sqrt() } else { (trial * largest).sqrt() };
    let ratio = proposal / trial;
    if iteration > 1 && ratio > 2.0 { (trial, true) } else { (proposal, ratio > 0.5 && ratio < 2.0) }
}

impl Multistep<'_> {
    /// Evaluates the initial rate, chooses the first step towards `time`, and scales the history to it.
    pub(super) fn choose_first_step(&mut self, time: f64) -> Result<(), SolverError> {
        self.update_weights();
        let (state, rate) = self.history.split_at_mut(1);
        self.system.rate(self.t, &state[0], &mut rate[0])?;
        if rate[0].iter().any(|v| v.is_nan()) {
            return Err(SolverError::RateNotANumber { time: self.t });
        }
        let h = self.first_step(time)?;
        self.steps.h = h;
        self.scaled_to = h;
        self.history[1].iter_mut().for_each(|v| *v *= h);
        Ok(())
    }

    fn first_step(&mut self, time: f64) -> Result<f64, SolverError> {
        let distance = time - self.t;
        let rounding = f64::EPSILON * self.t.abs().max(time.abs());
        let smallest = SMALLEST * rounding;
        let largest = self.largest_first_step(distance);
        let mut trial = (smallest * largest).sqrt();
        if largest < smallest {
            return Ok(trial);
        }
        let mut settled = false;
        let mut usable = trial;
        for iteration in 1..=ITERATIONS {
            let Some(curvature) = self.usable_curvature(&mut trial)? else {
                if iteration <= 2 {
                    return Err(SolverError::RateNotANumber { time: self.t });
                }
                trial = usable;
                break;
            };
            usable = trial;
            if settled || iteration == ITERATIONS {
                break;
            }
            (trial, settled) = next_trial(iteration, trial, largest, curvature);
        }
        Ok((CAUTION * trial).max(smallest).min(largest))
    }

    fn largest_first_step(&self, distance: f64) -> f64 {
        let element = |i: usize| (self.history[0][i], self.history[1][i], self.weights[i]);
        largest_first_step(distance, (0..self.system.len()).map(element))
    }

    /// The weighted norm of y'' by a difference quotient over the trial step, which shrinks where the rate is no
    /// number.
    fn usable_curvature(&mut self, trial: &mut f64) -> Result<Option<f64>, SolverError> {
        let mut rate = vec![0.0; self.system.len()];
        for _ in 0..ITERATIONS {
            let h = *trial;
            let point: Vec<f64> = self.history[0].iter().zip(&self.history[1]).map(|(z, f)| z + h * f).collect();
            self.system.rate(self.t + h, &point, &mut rate)?;
            let change: Vec<f64> = rate.iter().zip(&self.history[1]).map(|(b, a)| (b - a) / h).collect();
            let curvature = self.norm(&change);
            if !curvature.is_nan() {
                return Ok(Some(curvature));
            }
            *trial *= 0.2;
        }
        Ok(None)
    }
}
