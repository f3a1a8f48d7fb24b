//! Newton's iteration for the implicit equations of a multistep step: first the state, then its sensitivities.
//!
//! With the rate's weight γ = h/l₁ the correction e of the state solves e + z₁/l₁ − γ f(t, z₀ + e) = 0. The matrix
//! M = 1 − γ ∂f/∂y is kept over several steps: until 20 steps have passed, γ has moved by 30 %, or the iteration fails.

use std::ops::Range;

use super::Multistep;
use crate::linalg::lu::Factors;
use crate::solvers::SolverError;
use crate::solvers::numbers::scale;

/// How far the last attempt of the same step came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    First,
    AfterNoConvergence,
    AfterErrorTest,
}

/// Why a new matrix is asked for: an old Jacobian does not do where it is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    Nobody,
    OldJacobian,
    Other,
}

/// The nonlinear tolerance as a part of the error test's.
pub(super) const TOLERANCE: f64 = 0.1;
const MAX_ITERATIONS: u32 = 3;
/// The estimated rate of convergence falls by no more than this in one iteration.
const RATE_DECREASE: f64 = 0.3;
/// The iteration diverges when a correction is this much larger than the one before.
const DIVERGENCE: f64 = 2.0;
pub(super) const STEPS_PER_MATRIX: u64 = 20;
pub(super) const STEPS_PER_JACOBIAN: u64 = 51;
pub(super) const GAMMA_CHANGE_FOR_MATRIX: f64 = 0.3;
pub(super) const GAMMA_CHANGE_FOR_JACOBIAN: f64 = 0.2;

/// The Newton matrix and what is known of its quality.
#[derive(Debug, Default)]
pub(super) struct Corrector {
    gamma: f64,
    /// γ of the matrix that is factored.
    matrix_gamma: f64,
    matrix_step: u64,
    jacobian: Vec<f64>,
    jacobian_step: u64,
    jacobian_is_new: bool,
    factors: Option<Factors>,
    rate_of_state: f64,
    rate_of_columns: f64,
    residual: Vec<f64>,
    point: Vec<f64>,
    rates: Vec<f64>,
}

/// The outcome of one sequence of iterations.
enum Iterations {
    /// Converged, with the norm of the whole correction.
    Converged(f64),
    Failed,
}

/// Judges a sequence of Newton corrections by its estimated rate of convergence.
#[derive(Default)]
pub(super) struct Judge {
    pub(super) iteration: u32,
    last: f64,
}

pub(super) enum Verdict {
    Converged,
    Continue,
    Diverged,
}

impl Judge {
    pub(super) fn judge(&mut self, size: f64, rate: &mut f64, tolerance: f64) -> Verdict {
        if self.iteration > 0 {
            *rate = (RATE_DECREASE * *rate).max(size / self.last);
        }
        if size * rate.min(1.0) / tolerance <= 1.0 {
            return Verdict::Converged;
        }
        if (self.iteration > 0 && size > DIVERGENCE * self.last) || self.iteration + 1 >= MAX_ITERATIONS {
            return Verdict::Diverged;
        }
        self.last = size;
        self.iteration += 1;
        Verdict::Continue
    }
}

impl Multistep<'_> {
    /// Prepares for a step of the current formula: γ and its change since the matrix was made.
    pub(super) fn begin_correction(&mut self) {
        self.corrector.gamma = self.steps.h * (1.0 / self.formula.l[1]);
        if self.accepted == 0 {
            self.corrector.matrix_gamma = self.corrector.gamma;
        }
    }

    fn gamma_ratio(&self) -> f64 {
        if self.accepted > 0 { self.corrector.gamma / self.corrector.matrix_gamma } else { 1.0 }
    }

    /// Solves for the state's correction and returns its weighted norm; `None` where the iteration fails.
    pub(super) fn correct_state(&mut self, attempt: Attempt) -> Result<Option<f64>, SolverError> {
        let due = attempt != Attempt::First
            || self.accepted == 0
            || self.accepted >= self.corrector.matrix_step + STEPS_PER_MATRIX
            || (self.gamma_ratio() - 1.0).abs() > GAMMA_CHANGE_FOR_MATRIX;
        let blame = if attempt == Attempt::AfterNoConvergence { Blame::Other } else { Blame::Nobody };
        self.corrector.jacobian_is_new = false;
        self.solve_twice(due.then_some(blame), 0..self.system.n, Self::iterate_state)
    }

    /// Solves for the corrections of the sensitivities at the corrected state; likewise.
    pub(super) fn correct_columns(&mut self) -> Result<Option<f64>, SolverError> {
        let n = self.system.n;
        let mut rate = vec![0.0; n];
        self.corrector.jacobian_is_new = false;
        self.place_state();
        let point = std::mem::take(&mut self.corrector.point);
        self.system.linearise(self.t, &point[..n], &mut rate)?;
        self.corrector.point = point;
        self.solve_twice(None, n..self.system.len(), Self::iterate_columns)
    }

    /// Iterates, and where that fails with an old matrix, once more with a new one.
    fn solve_twice(
        &mut self,
        setup: Option<Blame>,
        unknowns: Range<usize>,
        iterate: fn(&mut Self) -> Result<Iterations, SolverError>,
    ) -> Result<Option<f64>, SolverError> {
        self.correction[unknowns.clone()].fill(0.0);
        if let Some(blame) = setup
            && !self.factor(blame)?
        {
            return Ok(None);
        }
        if let Iterations::Converged(norm) = iterate(self)? {
            return Ok(Some(norm));
        }
        self.correction[unknowns].fill(0.0);
        if self.corrector.jacobian_is_new || !self.factor(Blame::OldJacobian)? {
            return Ok(None);
        }
        match iterate(self)? {
            Iterations::Converged(norm) => Ok(Some(norm)),
            Iterations::Failed => Ok(None),
        }
    }

    /// Makes the matrix M anew, with a new Jacobian where the old one is too old or to blame.
    fn factor(&mut self, blame: Blame) -> Result<bool, SolverError> {
        let n = self.system.n;
        let change = (self.corrector.gamma / self.corrector.matrix_gamma - 1.0).abs();
        let stale = self.accepted == 0
            || self.accepted >= self.corrector.jacobian_step + STEPS_PER_JACOBIAN
            || (blame == Blame::OldJacobian && change < GAMMA_CHANGE_FOR_JACOBIAN)
            || blame == Blame::Other;
        if stale {
            self.place_state();
            let jacobian = self.system.state_jacobian(self.t, &self.corrector.point[..n])?;
            self.corrector.jacobian.clear();
            self.corrector.jacobian.extend_from_slice(jacobian);
            self.corrector.jacobian_step = self.accepted;
        }
        self.corrector.jacobian_is_new = stale;
        let mut matrix = self.corrector.jacobian.clone();
        scale(&mut matrix, -self.corrector.gamma);
        for i in 0..n {
            matrix[i * (n + 1)] += 1.0;
        }
        self.corrector.factors = Factors::new(n, &matrix).ok();
        self.corrector.matrix_gamma = self.corrector.gamma;
        self.corrector.matrix_step = self.accepted;
        self.corrector.rate_of_state = 1.0;
        self.corrector.rate_of_columns = 1.0;
        Ok(self.corrector.factors.is_some())
    }

    /// Writes the state with its current correction to the front of `point`.
    fn place_state(&mut self) {
        let n = self.system.n;
        self.corrector.point.resize(self.system.len(), 0.0);
        self.corrector.rates.resize(self.system.len(), 0.0);
        self.corrector.residual.resize(self.system.len(), 0.0);
        for i in 0..n {
            self.corrector.point[i] = self.history[0][i] + self.correction[i];
        }
    }

    /// −residual of the elements in `range`, from the rates there.
    fn negative_residual(&mut self, range: Range<usize>) {
        let inverse = 1.0 / self.formula.l[1];
        for i in range {
            self.corrector.residual[i] =
                self.corrector.gamma * self.corrector.rates[i] - (inverse * self.history[1][i] + self.correction[i]);
        }
    }

    /// Turns residuals into Newton corrections and adds them.
    fn newton_update(&mut self, range: Range<usize>) {
        let n = self.system.n;
        let ratio = self.gamma_ratio();
        let Some(factors) = &self.corrector.factors else { return };
        for column in self.corrector.residual[range.clone()].chunks_exact_mut(n) {
            factors.solve(column);
            // M was made for another γ: for stiff components this factor makes up for it (BDF only).
            if self.family == super::Family::Bdf {
                scale(column, 2.0 / (1.0 + ratio));
            }
        }
        for i in range {
            self.correction[i] += self.corrector.residual[i];
        }
    }

    fn iterate_state(&mut self) -> Result<Iterations, SolverError> {
        let n = self.system.n;
        let mut judge = Judge::default();
        loop {
            self.place_state();
            self.system.state_rate(self.t, &self.corrector.point[..n], &mut self.corrector.rates[..n])?;
            self.negative_residual(0..n);
            self.newton_update(0..n);
            let size = self.weighted_norm(&self.corrector.residual[..n], 0);
            match judge.judge(size, &mut self.corrector.rate_of_state, TOLERANCE / self.formula.error) {
                Verdict::Converged if judge.iteration == 0 => return Ok(Iterations::Converged(size)),
                Verdict::Converged => return Ok(Iterations::Converged(self.weighted_norm(&self.correction[..n], 0))),
                Verdict::Diverged => return Ok(Iterations::Failed),
                Verdict::Continue => {}
            }
        }
    }

    fn iterate_columns(&mut self) -> Result<Iterations, SolverError> {
        let (n, all) = (self.system.n, self.system.len());
        let mut judge = Judge::default();
        loop {
            for i in n..all {
                self.corrector.point[i] = self.history[0][i] + self.correction[i];
            }
            self.system.column_rates(&self.corrector.point[n..], &mut self.corrector.rates[n..]);
            self.negative_residual(n..all);
            self.newton_update(n..all);
            let size = self.columns_norm(&self.corrector.residual);
            match judge.judge(size, &mut self.corrector.rate_of_columns, TOLERANCE / self.formula.error) {
                Verdict::Converged if judge.iteration == 0 => return Ok(Iterations::Converged(size)),
                Verdict::Converged => return Ok(Iterations::Converged(self.columns_norm(&self.correction))),
                Verdict::Diverged => return Ok(Iterations::Failed),
                Verdict::Continue => {}
            }
        }
    }
}
