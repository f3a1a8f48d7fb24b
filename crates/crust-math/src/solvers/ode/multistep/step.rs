//! One step of a multistep method: predict, correct, test, and choose the next order and step.

use super::Multistep;
use super::corrector::Attempt;
use super::formula::{self, Formula};
use crate::linalg::vectors::add_scaled;
use crate::solvers::SolverError;
use crate::solvers::numbers::{real, scale};

/// The step may grow by this factor at first, and by [`GROWTH_LIMIT`] later.
pub(super) const FIRST_GROWTH_LIMIT: f64 = 10_000.0;
pub(super) const GROWTH_LIMIT: f64 = 10.0;
/// A smaller growth is not worth the effort.
pub(super) const GROWTH_WORTHWHILE: f64 = 1.5;
/// Safety factors of the errors at the order below, at the order itself, and at the order above.
pub(super) const BIAS_BELOW: f64 = 6.0;
pub(super) const BIAS: f64 = 6.0;
pub(super) const BIAS_ABOVE: f64 = 10.0;
/// Keeps the growth finite where the error is zero.
const ADDEND: f64 = 1e-6;
/// Bounds of the step's factor after failures.
pub(super) const SMALLEST_SHRINK: f64 = 0.1;
pub(super) const REPEATED_SHRINK: f64 = 0.2;
pub(super) const CONVERGENCE_SHRINK: f64 = 0.25;
/// Error test failures of one step: from the second on it shrinks more, after the third the order falls, then the end.
pub(super) const FAILURES_BEFORE_REPEATED: u32 = 2;
pub(super) const FAILURES_BEFORE_LOWER: u32 = 3;
pub(super) const MAX_ERROR_FAILURES: u32 = 20;
pub(super) const MAX_CONVERGENCE_FAILURES: u32 = 50;
const LONG_PATIENCE: usize = 10;

/// How often the current step has failed. The state and its sensitivities are counted apart.
#[derive(Default)]
pub(super) struct Failures {
    pub(super) convergence: [u32; 2],
    pub(super) error: [u32; 2],
}

/// The step's factor that brings an error (in units of the tolerance) of a formula of order `exponent − 1` to 1.
pub(super) fn growth(bias: f64, error: f64, exponent: usize) -> f64 {
    1.0 / ((bias * error).powf(1.0 / real(exponent)) + ADDEND)
}

impl Multistep<'_> {
    /// Takes one step, as often as it needs to be tried.
    pub(super) fn step(&mut self) -> Result<(), SolverError> {
        let start = self.t;
        if self.step_changes {
            self.change_order(self.next_order);
            self.rescale();
        }
        let mut failures = Failures::default();
        let mut attempt = Attempt::First;
        let error = loop {
            match self.attempt(start, attempt, &mut failures)? {
                Ok(error) => break error,
                Err(failed) => attempt = failed,
            }
        };
        self.complete();
        self.prepare_next(error, attempt != Attempt::First);
        self.growth_limit = GROWTH_LIMIT;
        Ok(())
    }

    /// One attempt: the step's error, or how it failed.
    fn attempt(
        &mut self,
        start: f64,
        attempt: Attempt,
        failures: &mut Failures,
    ) -> Result<Result<f64, Attempt>, SolverError> {
        self.predict();
        self.formula = Formula::new(self.family, self.order, &self.steps, self.patience == 1);
        self.begin_correction();
        let columns = self.system.len() > self.system.n;
        let mut worst = 0.0_f64;
        for part in 0..=usize::from(columns) {
            let norm = if part == 0 { self.correct_state(attempt)? } else { self.correct_columns()? };
            let Some(norm) = norm else {
                self.after_no_convergence(start, &mut failures.convergence[part])?;
                return Ok(Err(Attempt::AfterNoConvergence));
            };
            let error = norm * self.formula.error;
            if error > 1.0 {
                self.after_error_test(start, error, &mut failures.error[part])?;
                return Ok(Err(Attempt::AfterErrorTest));
            }
            worst = worst.max(error);
        }
        Ok(Ok(worst))
    }

    /// Moves the time and the polynomial's origin: Taylor's formula as Pascal's triangle.
    fn predict(&mut self) {
        self.t += self.steps.h;
        self.pascal(1.0);
    }

    /// Undoes the prediction.
    fn restore(&mut self, start: f64) {
        self.t = start;
        self.pascal(-1.0);
    }

    fn pascal(&mut self, sign: f64) {
        for k in 1..=self.order {
            for j in (k..=self.order).rev() {
                let (low, high) = self.history.split_at_mut(j);
                add_scaled(&mut low[j - 1], sign, &high[0]);
            }
        }
    }

    /// Scales the history to a step that is `growth` times as long.
    fn rescale(&mut self) {
        let mut factor = self.growth;
        for z in &mut self.history[1..=self.order] {
            scale(z, factor);
            factor *= self.growth;
        }
        self.steps.h = self.scaled_to * self.growth;
        self.scaled_to = self.steps.h;
    }

    /// Changes the order by one at most.
    fn change_order(&mut self, order: usize) {
        if order == self.order {
            return;
        }
        let mut steps = self.steps;
        steps.h = self.scaled_to;
        let q = self.order;
        if order > q {
            let raise = formula::raise(self.family, q, &steps);
            let mut highest = self.history[self.family.max_order()].clone();
            scale(&mut highest, raise.highest);
            for j in 2..=q {
                add_scaled(&mut self.history[j], raise.lower[j], &highest);
            }
            self.history[order] = highest;
        } else if q > 2 {
            let lower = formula::lower(self.family, q, &steps);
            let (rest, highest) = self.history.split_at_mut(q);
            for (z, factor) in rest.iter_mut().zip(lower).skip(2) {
                add_scaled(z, -factor, &highest[0]);
            }
        }
        self.order = order;
        self.patience = order + 1;
    }

    fn after_no_convergence(&mut self, start: f64, failures: &mut u32) -> Result<(), SolverError> {
        self.restore(start);
        *failures += 1;
        if *failures == MAX_CONVERGENCE_FAILURES {
            return Err(SolverError::Corrector { time: start });
        }
        self.growth = CONVERGENCE_SHRINK;
        self.rescale();
        Ok(())
    }

    fn after_error_test(&mut self, start: f64, error: f64, failures: &mut u32) -> Result<(), SolverError> {
        self.restore(start);
        *failures += 1;
        if *failures == MAX_ERROR_FAILURES {
            return Err(SolverError::ErrorTest { time: start });
        }
        if *failures <= FAILURES_BEFORE_LOWER {
            self.growth = growth(BIAS, error, self.order + 1).max(SMALLEST_SHRINK);
            if *failures >= FAILURES_BEFORE_REPEATED {
                self.growth = self.growth.min(REPEATED_SHRINK);
            }
            self.rescale();
            return Ok(());
        }
        self.growth = SMALLEST_SHRINK;
        if self.order > 1 {
            self.change_order(self.order - 1);
            self.rescale();
            return Ok(());
        }
        // Even the lowest order fails: forget the past but the state.
        self.steps.h *= self.growth;
        self.scaled_to = self.steps.h;
        self.patience = LONG_PATIENCE;
        let (state, rate) = self.history.split_at_mut(1);
        self.system.rate(self.t, &state[0], &mut rate[0])?;
        scale(&mut rate[0], self.steps.h);
        Ok(())
    }

    /// Accepts the step: the history takes the correction up.
    fn complete(&mut self) {
        self.accepted += 1;
        for i in (2..=self.order).rev() {
            self.steps.past[i] = self.steps.past[i - 1];
        }
        if self.order == 1 && self.accepted > 1 {
            self.steps.past[2] = self.steps.past[1];
        }
        self.steps.past[1] = self.steps.h;
        for (z, &l) in self.history[..=self.order].iter_mut().zip(&self.formula.l) {
            add_scaled(z, l, &self.correction);
        }
        self.patience -= 1;
        if self.patience == 1 && self.order != self.family.max_order() {
            self.keep_correction();
            self.kept_scale = self.formula.above_scale;
        }
    }

    fn keep_correction(&mut self) {
        let last = self.family.max_order();
        self.history[last].copy_from_slice(&self.correction);
    }

    /// Chooses the order among three and the step that promise the longest steps; none is longer right after a failure.
    fn prepare_next(&mut self, error: f64, failed: bool) {
        self.next_order = self.order;
        self.step_changes = false;
        if failed {
            self.patience = self.patience.max(2);
            return;
        }
        self.growth = growth(BIAS, error, self.order + 1);
        if self.patience == 0 {
            self.patience = 2;
            self.choose_order();
        }
        if self.growth >= GROWTH_WORTHWHILE {
            self.growth = self.growth.min(self.growth_limit);
            self.step_changes = true;
        }
    }

    /// Compares the growth that the neighbouring orders promise.
    fn choose_order(&mut self) {
        let (below, above) = (self.growth_below(), self.growth_above());
        let best = below.max(above);
        if self.growth >= best {
            return;
        }
        self.growth = best;
        if best < GROWTH_WORTHWHILE {
            return;
        }
        if below >= above {
            self.next_order = self.order - 1;
        } else {
            self.next_order = self.order + 1;
            if self.family == super::Family::Bdf {
                self.keep_correction();
            }
        }
    }

    fn growth_below(&self) -> f64 {
        if self.order == 1 {
            return 0.0;
        }
        growth(BIAS_BELOW, self.norm(&self.history[self.order]) * self.formula.error_below, self.order)
    }

    fn growth_above(&self) -> f64 {
        let last = self.family.max_order();
        if self.order == last || self.kept_scale == 0.0 {
            return 0.0;
        }
        let exponent = real(self.order + 1);
        let ratio = self.formula.above_scale / self.kept_scale * (self.steps.h / self.steps.past[2]).powf(exponent);
        let change: Vec<f64> = self.correction.iter().zip(&self.history[last]).map(|(c, k)| c - ratio * k).collect();
        growth(BIAS_ABOVE, self.norm(&change) * self.formula.error_above, self.order + 2)
    }
}
