//! Newton's method with a line search in the manner of KINSOL, as Stan sets it up.
//!
//! The Jacobian is kept for up to ten iterations while the residual falls fast enough. With φ = ‖f‖²/2 and the slope
//! φ' along the direction, a step λ must satisfy φ(λ) ≤ φ + 10⁻⁴ λ φ' and, unless λ = 1, φ(λ) ≥ φ + 0.9 λ φ'
//! (Dennis and Schnabel 1983, section 6.3).

use super::{Equations, check_guess};
use crate::linalg::lu::Factors;
use crate::linalg::vectors::{max_norm, norm};
use crate::solvers::SolverError;
use crate::solvers::error::check_not_negative;
use crate::solvers::numbers::real;

/// When Newton's method stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonTolerances {
    /// The smallest step, relative to 1 + |x|.
    pub scaling_step: f64,
    /// The largest |fᵢ| at a solution.
    pub function: f64,
    pub max_steps: u64,
}

impl Default for NewtonTolerances {
    fn default() -> Self {
        Self { scaling_step: 1e-3, function: 1e-6, max_steps: 200 }
    }
}

const SUFFICIENT_DECREASE: f64 = 1e-4;
const ENOUGH_PROGRESS: f64 = 0.9;
const ITERATIONS_PER_JACOBIAN: u64 = 10;
/// The residual is monitored every five iterations: it must have fallen by a factor between these two.
const ITERATIONS_PER_MONITOR: u64 = 5;
const MONITOR_STRICT: f64 = 1e-5;
const MONITOR_LAX: f64 = 0.9;
/// Steps of the largest length in a row before the search is given up.
const MAX_LONGEST_STEPS: u32 = 5;

struct Newton<'e> {
    equations: &'e mut dyn Equations,
    tolerances: NewtonTolerances,
    x: Vec<f64>,
    value: Vec<f64>,
    norm: f64,
    factors: Option<Factors>,
    longest_step: f64,
    longest_steps: u32,
    iteration: u64,
    jacobian_iteration: u64,
    jacobian_is_new: bool,
    jacobian_wanted: bool,
    monitor_iteration: u64,
    monitored_norm: f64,
    restart_monitor: bool,
}

/// A point of the line search.
struct Trial {
    x: Vec<f64>,
    norm: f64,
}

impl Trial {
    fn half_square(&self) -> f64 {
        0.5 * self.norm * self.norm
    }
}

enum Search {
    Found { trial: Trial, is_longest: bool },
    TooSmall,
}

enum Next {
    Continue,
    Retry,
    Done,
}

/// Solves f(x) = 0 from a guess.
pub fn solve_newton(
    equations: &mut dyn Equations,
    guess: &[f64],
    tolerances: NewtonTolerances,
) -> Result<Vec<f64>, SolverError> {
    check_guess(guess, tolerances.max_steps)?;
    check_not_negative("scaling_step_size", tolerances.scaling_step)?;
    check_not_negative("function_tolerance", tolerances.function)?;
    let mut value = vec![0.0; guess.len()];
    equations.value(guess, &mut value)?;
    let size = norm(guess);
    let longest_step = if size == 0.0 { real(guess.len()) } else { 1000.0 * size };
    let start = norm(&value);
    let newton = Newton {
        equations,
        tolerances,
        x: guess.to_vec(),
        norm: start,
        value,
        factors: None,
        longest_step: longest_step.max(1.0),
        longest_steps: 0,
        iteration: 0,
        jacobian_iteration: 0,
        jacobian_is_new: false,
        jacobian_wanted: true,
        monitor_iteration: 0,
        monitored_norm: start,
        restart_monitor: false,
    };
    newton.run()
}

/// The largest element of a step relative to 1 + |x|.
fn relative_length(step: &[f64], x: &[f64]) -> f64 {
    step.iter().zip(x).fold(0.0, |m: f64, (s, x)| m.max((s / (1.0 + x.abs())).abs()))
}

impl Newton<'_> {
    fn run(mut self) -> Result<Vec<f64>, SolverError> {
        if max_norm(&self.value) <= 0.01 * self.tolerances.function {
            return Ok(self.x);
        }
        self.iteration = 1;
        let mut retried = false;
        loop {
            let direction = self.direction()?;
            let (trial, next) = match self.search(direction)? {
                Search::TooSmall if self.jacobian_is_new => return Err(SolverError::LineSearch),
                Search::TooSmall => {
                    self.jacobian_wanted = true;
                    (None, Next::Retry)
                }
                Search::Found { trial, is_longest } => {
                    self.norm = trial.norm;
                    let next = self.judge(&trial.x, is_longest, retried)?;
                    (Some(trial), next)
                }
            };
            if let Some(trial) = trial {
                self.x = trial.x;
            }
            match next {
                Next::Done => return Ok(self.x),
                Next::Retry => retried = true,
                Next::Continue => {
                    retried = false;
                    self.iteration += 1;
                }
            }
        }
    }

    /// Newton's direction −J⁻¹ f, with a new Jacobian where one is due.
    fn direction(&mut self) -> Result<Vec<f64>, SolverError> {
        if self.iteration - self.jacobian_iteration >= ITERATIONS_PER_JACOBIAN {
            self.jacobian_wanted = true;
            self.restart_monitor = true;
        }
        self.jacobian_is_new = self.jacobian_wanted;
        if self.jacobian_wanted {
            let n = self.x.len();
            let mut by_unknown = vec![0.0; n * n];
            self.equations.jacobian(&self.x, &mut self.value, &mut by_unknown)?;
            self.factors = Factors::new(n, &by_unknown).ok();
            self.jacobian_iteration = self.iteration;
            self.monitor_iteration = self.iteration;
        }
        let factors = self.factors.as_ref().ok_or(SolverError::SingularJacobian)?;
        let mut direction: Vec<f64> = self.value.iter().map(|v| -v).collect();
        factors.solve(&mut direction);
        // A Jacobian that is almost singular, or a function that is not a number.
        if direction.iter().all(|p| p.is_finite()) { Ok(direction) } else { Err(SolverError::SingularJacobian) }
    }

    fn trial(&mut self, direction: &[f64], step: f64) -> Result<Trial, SolverError> {
        let x: Vec<f64> = self.x.iter().zip(direction).map(|(x, p)| x + step * p).collect();
        self.equations.value(&x, &mut self.value)?;
        Ok(Trial { norm: norm(&self.value), x })
    }

    /// Finds a point along the direction; leaves its value in `value`.
    fn search(&mut self, mut direction: Vec<f64>) -> Result<Search, SolverError> {
        let start = 0.5 * self.norm * self.norm;
        let mut length = norm(&direction);
        // The slope of φ in Newton's direction is −‖f‖², for the Jacobian that is used.
        let mut slope = -self.norm * self.norm;
        if length > self.longest_step {
            let ratio = self.longest_step / length;
            direction.iter_mut().for_each(|p| *p *= ratio);
            slope *= ratio;
            length = self.longest_step;
        }
        let smallest = self.tolerances.scaling_step / relative_length(&direction, &self.x);
        let sufficient = |step: f64| start + SUFFICIENT_DECREASE * slope * step;
        let mut step = 1.0;
        let mut last: Option<(f64, f64)> = None;
        let mut trial = self.trial(&direction, step)?;
        // Written so that a value that is not a number is not sufficient.
        while trial.half_square().is_nan() || trial.half_square() > sufficient(step) {
            let here = trial.half_square();
            let shorter = backtrack(start, slope, step, here, last);
            last = Some((step, here));
            step = shorter.max(0.1 * step);
            if step < smallest {
                let x = self.x.clone();
                self.equations.value(&x, &mut self.value)?;
                return Ok(Search::TooSmall);
            }
            trial = self.trial(&direction, step)?;
        }
        if trial.half_square() < start + ENOUGH_PROGRESS * slope * step {
            (step, trial) = self.search_longer(&direction, (start, slope), step, last, (length, smallest), trial)?;
        }
        let is_longest = step * length > 0.99 * self.longest_step;
        Ok(Search::Found { trial, is_longest })
    }

    /// The step was sufficient but shorter than it need be: looks for one between it and the last insufficient one.
    fn search_longer(
        &mut self,
        direction: &[f64],
        (start, slope): (f64, f64),
        mut step: f64,
        last: Option<(f64, f64)>,
        (length, smallest): (f64, f64),
        mut trial: Trial,
    ) -> Result<(f64, Trial), SolverError> {
        let sufficient = |trial: &Trial, step: f64| trial.half_square() <= start + SUFFICIENT_DECREASE * slope * step;
        let short = |trial: &Trial, step: f64| trial.half_square() < start + ENOUGH_PROGRESS * slope * step;
        let mut previous = last.map_or(step, |(previous, _)| previous);
        let longest = self.longest_step / length;
        if last.is_none() && length < self.longest_step {
            while sufficient(&trial, step) && short(&trial, step) && step < longest {
                previous = step;
                step = (2.0 * step).min(longest);
                trial = self.trial(direction, step)?;
            }
        }
        if step < 1.0 || (step > 1.0 && !sufficient(&trial, step)) {
            let mut low = step.min(previous);
            let mut width = (previous - step).abs();
            loop {
                let half = 0.5 * width;
                step = low + half;
                trial = self.trial(direction, step)?;
                if !sufficient(&trial, step) {
                    width = half;
                } else if short(&trial, step) {
                    low = step;
                    width -= half;
                } else {
                    break;
                }
                if sufficient(&trial, step) && width <= smallest {
                    break;
                }
            }
            if short(&trial, step) {
                step = low;
                trial = self.trial(direction, step)?;
            }
        }
        Ok((step, trial))
    }

    /// Whether to go on, and with which Jacobian.
    fn judge(&mut self, x: &[f64], is_longest: bool, retried: bool) -> Result<Next, SolverError> {
        if max_norm(&self.value) <= self.tolerances.function {
            return Ok(Next::Done);
        }
        let step: Vec<f64> = x.iter().zip(&self.x).map(|(new, old)| new - old).collect();
        if relative_length(&step, x) <= self.tolerances.scaling_step {
            self.jacobian_wanted = true;
            return Ok(if self.jacobian_is_new { Next::Done } else { Next::Continue });
        }
        if self.iteration >= self.tolerances.max_steps {
            return Err(SolverError::TooManyIterations { maximum: self.tolerances.max_steps });
        }
        self.longest_steps = if is_longest { self.longest_steps + 1 } else { 0 };
        if self.longest_steps == MAX_LONGEST_STEPS {
            return Err(SolverError::LineSearch);
        }
        self.monitor(retried);
        Ok(Next::Continue)
    }

    /// Asks for a new Jacobian where the residual has not fallen enough since the last look.
    fn monitor(&mut self, retried: bool) {
        if self.iteration - self.monitor_iteration < ITERATIONS_PER_MONITOR {
            if retried || self.restart_monitor {
                self.monitored_norm = self.norm;
            }
            self.restart_monitor = false;
            self.jacobian_wanted = false;
            return;
        }
        self.monitor_iteration = self.iteration;
        let excess = (self.norm / self.tolerances.function - 1.0).max(0.0);
        let factor = if excess > 12.0 { MONITOR_LAX } else { (MONITOR_STRICT * excess.exp()).min(MONITOR_LAX) };
        if self.norm > factor * self.monitored_norm {
            self.jacobian_wanted = !self.jacobian_is_new;
        } else {
            self.monitored_norm = self.norm;
            self.jacobian_wanted = false;
        }
    }
}

/// The minimiser of the polynomial through what is known of φ: quadratic at first, then cubic.
fn backtrack(start: f64, slope: f64, step: f64, here: f64, last: Option<(f64, f64)>) -> f64 {
    let Some((previous, there)) = last else {
        return -slope / (2.0 * (here - start - slope));
    };
    let rest = |step: f64, value: f64| (value - start - step * slope) / (step * step);
    let (a, b) = (rest(step, here), rest(previous, there));
    let cubic = (a - b) / (step - previous);
    let quadratic = (step * b - previous * a) / (step - previous);
    let minimum = if cubic.abs() < f64::EPSILON {
        -slope / (2.0 * quadratic)
    } else {
        (-quadratic + (quadratic * quadratic - 3.0 * cubic * slope).sqrt()) / (3.0 * cubic)
    };
    if minimum > 0.5 * step { 0.5 * step } else { minimum }
}
