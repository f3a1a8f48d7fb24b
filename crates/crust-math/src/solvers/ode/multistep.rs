//! Variable-order, variable-step multistep methods in the manner of CVODES: Adams–Moulton and BDF.
//!
//! The decisions (initial step, error norms, when the order changes and by how much the step) are those that the CVODE
//! papers and guide describe: Hindmarsh et al. (2005), ACM TOMS 31, 363–396. The sensitivities follow "staggered": the
//! state is corrected and tested first, then its sensitivities with the same matrix and the same test.

mod corrector;
mod formula;
mod lanes;
mod start;
mod step;

pub(super) use formula::Family;
pub(super) use lanes::solve as solve_lanes;

use super::coupled::Coupled;
use super::{Span, Tolerances};
use crate::solvers::SolverError;
use crate::solvers::numbers::real;
use corrector::Corrector;
use formula::{Formula, SIZE, Steps};

/// The state of an integration. Vectors are coupled: y and then the columns of its sensitivities.
struct Multistep<'s> {
    system: Coupled<'s>,
    family: Family,
    tolerances: Tolerances,
    t: f64,
    steps: Steps,
    formula: Formula,
    /// The Nordsieck array; its last vector keeps a correction while a higher order is being considered.
    history: Vec<Vec<f64>>,
    /// The step to which the Nordsieck array is scaled.
    scaled_to: f64,
    weights: Vec<f64>,
    correction: Vec<f64>,
    corrector: Corrector,
    order: usize,
    next_order: usize,
    /// Whether the next step differs by the factor `growth`.
    step_changes: bool,
    /// Steps until a change of order is considered.
    patience: usize,
    /// The factor of the next step, and its upper limit.
    growth: f64,
    growth_limit: f64,
    /// `above_scale` of the formula whose correction was kept.
    kept_scale: f64,
    accepted: u64,
}

/// Integrates over the output times, with the state and sensitivities at each of them appended to `outputs`.
pub(super) fn integrate(
    family: Family,
    system: Coupled,
    start: Vec<f64>,
    span: Span,
    tolerances: Tolerances,
    outputs: &mut Vec<f64>,
) -> Result<(), SolverError> {
    let mut solver = Multistep::new(family, system, start, span.initial_time, tolerances);
    for (index, &time) in span.times.iter().enumerate() {
        if index == 0 {
            solver.choose_first_step(time)?;
        }
        solver.advance(time)?;
        solver.interpolate(time, outputs);
    }
    Ok(())
}

impl<'s> Multistep<'s> {
    fn new(family: Family, system: Coupled<'s>, start: Vec<f64>, t: f64, tolerances: Tolerances) -> Self {
        let len = start.len();
        let mut history = vec![vec![0.0; len]; family.max_order() + 1];
        history[0] = start;
        let steps = Steps { h: 0.0, past: [0.0; SIZE] };
        Self {
            system,
            family,
            tolerances,
            t,
            steps,
            formula: Formula::new(family, 1, &steps, false),
            history,
            scaled_to: 0.0,
            weights: vec![0.0; len],
            correction: vec![0.0; len],
            corrector: Corrector::default(),
            order: 1,
            next_order: 1,
            step_changes: false,
            patience: 2,
            growth: 1.0,
            growth_limit: step::FIRST_GROWTH_LIMIT,
            kept_scale: 0.0,
            accepted: 0,
        }
    }

    /// wᵢ = 1 / (rtol |zᵢ| + atol).
    fn update_weights(&mut self) {
        let Tolerances { relative, absolute, .. } = self.tolerances;
        for (w, z) in self.weights.iter_mut().zip(&self.history[0]) {
            *w = 1.0 / (relative * z.abs() + absolute);
        }
    }

    /// The root of the mean square of a column weighted with the weights from `offset` on.
    fn weighted_norm(&self, column: &[f64], offset: usize) -> f64 {
        let sum: f64 = column.iter().zip(&self.weights[offset..]).map(|(v, w)| (v * w) * (v * w)).sum();
        (sum / real(column.len())).sqrt()
    }

    /// The largest weighted norm among the sensitivities of a coupled vector.
    fn columns_norm(&self, coupled: &[f64]) -> f64 {
        let n = self.system.n;
        let columns = coupled.chunks_exact(n).enumerate().skip(1);
        columns.map(|(k, column)| self.weighted_norm(column, k * n)).fold(0.0, nan_max)
    }

    /// The largest weighted norm among all columns of a coupled vector.
    fn norm(&self, coupled: &[f64]) -> f64 {
        nan_max(self.weighted_norm(&coupled[..self.system.n], 0), self.columns_norm(coupled))
    }

    /// Steps until `time` is reached or passed.
    fn advance(&mut self, time: f64) -> Result<(), SolverError> {
        let mut steps = 0;
        while self.accepted == 0 || self.t < time {
            if self.accepted > 0 {
                self.update_weights();
            }
            if steps >= self.tolerances.max_steps {
                return Err(SolverError::TooManySteps { time });
            }
            if f64::EPSILON * self.norm(&self.history[0]) > 1.0 {
                return Err(SolverError::ToleranceTooSmall { time: self.t });
            }
            self.step()?;
            steps += 1;
        }
        Ok(())
    }

    /// The value of the Nordsieck polynomial at `time`.
    fn interpolate(&self, time: f64, outputs: &mut Vec<f64>) {
        let s = (time - self.t) / self.steps.h;
        let begin = outputs.len();
        outputs.extend_from_slice(&self.history[self.order]);
        let out = &mut outputs[begin..];
        for z in self.history[..self.order].iter().rev() {
            for (value, lower) in out.iter_mut().zip(z) {
                *value = *value * s + lower;
            }
        }
    }
}

/// The maximum, where NaN wins.
fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
