//! Powell's hybrid method in the manner of MINPACK (Moré, Garbow and Hillstrom 1980): a dogleg in a trust region, with
//! Broyden's updates of the Jacobian between its evaluations.
//!
//! After two failures in a row the Jacobian is evaluated anew where the iteration stands. (Stan uses the one of the
//! last rejected point there; solutions at tight tolerances are the same, and ours are found more often.)

use super::{Equations, check_guess};
use crate::linalg::lu::Factors;
use crate::linalg::vectors::{add_scaled, dot_in_order, norm};
use crate::solvers::SolverError;
use crate::solvers::error::check_not_negative;

/// When Powell's method stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowellTolerances {
    /// The trust region's radius relative to x at which x counts as found.
    pub relative: f64,
    /// The largest ‖f‖ at a solution.
    pub function: f64,
    /// Evaluations of f.
    pub max_steps: u64,
}

impl Default for PowellTolerances {
    fn default() -> Self {
        Self { relative: 1e-10, function: 1e-6, max_steps: 200 }
    }
}

/// The first trust region in units of ‖D x‖.
const FIRST_RADIUS: f64 = 100.0;
/// Iterations with less than 0.1 % progress, and new Jacobians with less than 10 % progress, that end the search.
const MAX_SLOW_STEPS: u32 = 10;
const MAX_SLOW_JACOBIANS: u32 = 5;

struct Powell<'e> {
    equations: &'e mut dyn Equations,
    tolerances: PowellTolerances,
    x: Vec<f64>,
    value: Vec<f64>,
    /// The Jacobian or its approximation.
    jacobian: Vec<f64>,
    /// D: the largest norms that the Jacobian's columns have had.
    scales: Vec<f64>,
    radius: f64,
    evaluations: u64,
    moved: bool,
    successes: u32,
    failures: u32,
    slow_steps: u32,
    slow_jacobians: u32,
}

/// Solves f(x) = 0 from a guess.
pub fn solve_powell(
    equations: &mut dyn Equations,
    guess: &[f64],
    tolerances: PowellTolerances,
) -> Result<Vec<f64>, SolverError> {
    check_guess(guess, tolerances.max_steps)?;
    check_not_negative("relative_tolerance", tolerances.relative)?;
    check_not_negative("function_tolerance", tolerances.function)?;
    let n = guess.len();
    let mut powell = Powell {
        equations,
        tolerances,
        x: guess.to_vec(),
        value: vec![0.0; n],
        jacobian: vec![0.0; n * n],
        scales: vec![0.0; n],
        radius: f64::NAN,
        evaluations: 1,
        moved: false,
        successes: 0,
        failures: 0,
        slow_steps: 0,
        slow_jacobians: 0,
    };
    while !powell.with_new_jacobian()? {}
    if powell.evaluations >= tolerances.max_steps {
        return Err(SolverError::TooManyIterations { maximum: tolerances.max_steps });
    }
    let norm = norm(&powell.value);
    if norm.is_nan() || norm > tolerances.function {
        return Err(SolverError::NotARoot { norm, tolerance: tolerances.function });
    }
    Ok(powell.x)
}

fn scaled(scales: &[f64], x: &[f64]) -> Vec<f64> {
    scales.iter().zip(x).map(|(d, v)| d * v).collect()
}

/// B v for a column-major matrix.
fn product(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; v.len()];
    for (column, &factor) in matrix.chunks_exact(v.len()).zip(v) {
        add_scaled(&mut out, factor, column);
    }
    out
}

impl Powell<'_> {
    /// Evaluates the Jacobian and iterates until two steps in a row fail; whether the search is over.
    fn with_new_jacobian(&mut self) -> Result<bool, SolverError> {
        let n = self.x.len();
        let x = self.x.clone();
        self.equations.jacobian(&x, &mut self.value, &mut self.jacobian)?;
        for (scale, column) in self.scales.iter_mut().zip(self.jacobian.chunks_exact(n)) {
            *scale = scale.max(norm(column));
            // Only at the first time a column can be zero without a scale from before.
            if *scale == 0.0 {
                *scale = 1.0;
            }
        }
        if self.radius.is_nan() {
            let size = norm(&scaled(&self.scales, &x));
            self.radius = if size == 0.0 { FIRST_RADIUS } else { FIRST_RADIUS * size };
        }
        let mut is_new = true;
        loop {
            if self.step(is_new)? {
                return Ok(true);
            }
            if self.failures == 2 {
                return Ok(false);
            }
            is_new = false;
        }
    }

    /// One step in the trust region; whether the search is over.
    fn step(&mut self, jacobian_is_new: bool) -> Result<bool, SolverError> {
        let step = self.dogleg();
        let length = norm(&scaled(&self.scales, &step));
        if !self.moved {
            self.radius = self.radius.min(length);
        }
        let trial: Vec<f64> = self.x.iter().zip(&step).map(|(x, p)| x + p).collect();
        let mut value = vec![0.0; trial.len()];
        self.equations.value(&trial, &mut value)?;
        self.evaluations += 1;
        let mut linear = product(&self.jacobian, &step);
        add_scaled(&mut linear, 1.0, &self.value);
        let before = norm(&self.value);
        let reduction = |after: f64, otherwise: f64| {
            if after < before { 1.0 - (after / before) * (after / before) } else { otherwise }
        };
        let actual = reduction(norm(&value), -1.0);
        let predicted = reduction(norm(&linear), 0.0);
        let ratio = if predicted > 0.0 { actual / predicted } else { 0.0 };
        self.adjust_radius(ratio, length);
        self.broyden(&step, &value, &linear, length);
        if ratio >= 1e-4 {
            self.x = trial;
            self.value = value;
            self.moved = true;
        }
        Ok(self.is_over(actual, jacobian_is_new, length))
    }

    fn adjust_radius(&mut self, ratio: f64, length: f64) {
        if ratio < 0.1 {
            self.successes = 0;
            self.failures += 1;
            self.radius *= 0.5;
            return;
        }
        self.failures = 0;
        self.successes += 1;
        if ratio >= 0.5 || self.successes > 1 {
            self.radius = self.radius.max(2.0 * length);
        }
        if (ratio - 1.0).abs() <= 0.1 {
            self.radius = 2.0 * length;
        }
    }

    fn is_over(&mut self, actual: f64, jacobian_is_new: bool, length: f64) -> bool {
        self.slow_steps = if actual >= 0.001 { 0 } else { self.slow_steps + 1 };
        if actual >= 0.1 {
            self.slow_jacobians = 0;
        } else if jacobian_is_new {
            self.slow_jacobians += 1;
        }
        let size = norm(&scaled(&self.scales, &self.x));
        self.radius <= self.tolerances.relative * size
            || norm(&self.value) == 0.0
            || self.evaluations >= self.tolerances.max_steps
            || 0.1 * (0.1 * self.radius).max(length) <= f64::EPSILON * size
            || self.slow_jacobians == MAX_SLOW_JACOBIANS
            || self.slow_steps == MAX_SLOW_STEPS
    }

    /// Broyden's update in the scaled norm: B += (f(x + p) − f − B p) (D² p)ᵀ / ‖D p‖².
    fn broyden(&mut self, step: &[f64], value: &[f64], linear: &[f64], length: f64) {
        if length == 0.0 {
            return;
        }
        let change: Vec<f64> = value.iter().zip(linear).map(|(v, l)| (v - l) / length).collect();
        let n = step.len();
        for (j, column) in self.jacobian.chunks_exact_mut(n).enumerate() {
            add_scaled(column, self.scales[j] * self.scales[j] * step[j] / length, &change);
        }
    }

    /// The step: Newton's where it fits into the trust region, else along the gradient and bent towards Newton's.
    fn dogleg(&self) -> Vec<f64> {
        let n = self.x.len();
        let negative: Vec<f64> = self.value.iter().map(|v| -v).collect();
        let newton = Factors::new(n, &self.jacobian).ok().map(|factors| {
            let mut step = negative.clone();
            factors.solve(&mut step);
            step
        });
        let newton = newton.filter(|step| step.iter().all(|v| v.is_finite()));
        let newton_length = newton.as_ref().map_or(f64::INFINITY, |step| norm(&scaled(&self.scales, step)));
        if let Some(step) = newton.as_ref().filter(|_| newton_length <= self.radius) {
            return step.clone();
        }
        let columns = self.jacobian.chunks_exact(n);
        let gradient: Vec<f64> =
            columns.zip(&self.scales).map(|(column, d)| dot_in_order(column, &negative) / d).collect();
        let slope = norm(&gradient);
        if slope == 0.0 {
            let fraction = self.radius / newton_length;
            return newton.map_or(vec![0.0; n], |step| step.iter().map(|v| fraction * v).collect());
        }
        let descent: Vec<f64> = gradient.iter().zip(&self.scales).map(|(g, d)| g / slope / d).collect();
        let curvature = norm(&product(&self.jacobian, &descent));
        let cauchy = slope / curvature / curvature;
        let mut bend = 0.0;
        if cauchy < self.radius && newton_length.is_finite() {
            let (inner, outer) = (cauchy / self.radius, self.radius / newton_length);
            let size = norm(&self.value);
            let cosine = size / slope * (size / newton_length) * inner;
            let root = ((cosine - outer) * (cosine - outer) + (1.0 - outer * outer) * (1.0 - inner * inner)).sqrt();
            bend = outer * (1.0 - inner * inner) / (cosine - outer * inner * inner + root);
        }
        let along = (1.0 - bend) * cauchy.min(self.radius);
        let mut step: Vec<f64> = descent.iter().map(|v| along * v).collect();
        if let Some(newton) = &newton {
            add_scaled(&mut step, bend, newton);
        }
        step
    }
}
