//! Ordinary differential equations y' = f(t, y, θ), with forward sensitivities by the initial state and θ.
//!
//! The sensitivities S = ∂y/∂(y₀, θ) obey S' = (∂f/∂y) S + (0, ∂f/∂θ) with S(t₀) = (1, 0). They are integrated along
//! with y and take part in the control of the error, as they do in Stan: with and without sensitivities the steps, and
//! so the last digits of y, differ.

mod coupled;
mod lanes;
mod multistep;
mod rows;
mod runge_kutta;

#[cfg(test)]
mod tests;

use super::SolverError;
use super::error::{check_finite, check_not_empty, check_positive};
use crate::linalg::vectors::{add_scaled, dot_in_order};
use coupled::Coupled;
pub use lanes::LaneSystem;
use rows::CoupledRows;

/// The right-hand side of a differential equation; it knows the values of its parameters θ.
pub trait System {
    /// The number of states, n.
    fn states(&self) -> usize;
    /// The number of parameters, p, by which derivatives are wanted.
    fn parameters(&self) -> usize;
    /// Writes f(t, y).
    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError>;
    /// Writes f, ∂f/∂y (n × n, column-major) and ∂f/∂θ (n × p, column-major). Where no derivative by the parameters
    /// is needed, `by_parameter` is empty.
    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        rate: &mut [f64],
        by_state: &mut [f64],
        by_parameter: &mut [f64],
    ) -> Result<(), SolverError>;
    /// Writes f, and the rates of sensitivities to `rates`: what [`Self::jacobian`] would give in a product, without
    /// the Jacobian. Says `false` where it knows no quick way.
    fn tangents(
        &mut self,
        _t: f64,
        _y: &[f64],
        _tangents: Tangents,
        _rate: &mut [f64],
        _rates: &mut [f64],
    ) -> Result<bool, SolverError> {
        Ok(false)
    }
}

/// Sensitivities by rows: row i holds the derivatives of state i, in each of `width` directions. The directions from
/// `first_parameter` on are those of the parameters, in which rates gain ∂f/∂θ. The first one and the last ones mean
/// nothing: a row is whole lines of eight numbers, and begins with the state itself.
#[derive(Debug, Clone, Copy)]
pub struct Tangents<'a> {
    pub rows: &'a [f64],
    pub width: usize,
    pub first_parameter: usize,
}

/// The families of solvers that Stan has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Dormand and Prince's explicit pair of order 5(4), output by its continuous extension.
    Rk45,
    /// Cash and Karp's explicit pair of order 5(4), which steps onto each output time.
    Ckrk,
    /// Backward differentiation formulas of order 1 to 5, for stiff systems.
    Bdf,
    /// Adams–Moulton formulas of order 1 to 12.
    Adams,
}

/// When a step is good enough, and how many there may be between two output times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerances {
    pub relative: f64,
    pub absolute: f64,
    pub max_steps: u64,
}

impl Tolerances {
    /// What Stan uses where the program gives no tolerances.
    pub fn of(method: Method) -> Self {
        match method {
            Method::Rk45 | Method::Ckrk => Self { relative: 1e-6, absolute: 1e-6, max_steps: 1_000_000 },
            Method::Bdf | Method::Adams => Self { relative: 1e-10, absolute: 1e-10, max_steps: 100_000_000 },
        }
    }
}

/// Where to start and at which times the state is wanted: after the start and not decreasing.
#[derive(Debug, Clone, Copy)]
pub struct Span<'a> {
    pub initial_state: &'a [f64],
    pub initial_time: f64,
    pub times: &'a [f64],
}

/// Which sensitivities are integrated along. The derivative by the initial time needs those by the initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sensitivities {
    pub initial_state: bool,
    pub parameters: bool,
}

/// The states at the output times and their sensitivities.
#[derive(Debug, Clone)]
pub struct Solution {
    states: usize,
    by_initial_state: usize,
    by_parameters: usize,
    /// For each output time the state and after it the columns of S.
    coupled: Vec<f64>,
}

/// Adjoints that [`Solution::pull_back`] adds to; those of times are wanted only where they are given.
#[derive(Debug)]
pub struct Adjoints<'a> {
    pub initial_state: &'a mut [f64],
    pub parameters: &'a mut [f64],
    pub initial_time: Option<&'a mut f64>,
    pub times: Option<&'a mut [f64]>,
}

/// Solves the initial value problem.
pub fn solve(
    method: Method,
    system: &mut dyn System,
    span: Span,
    tolerances: Tolerances,
    wanted: Sensitivities,
) -> Result<Solution, SolverError> {
    check(span, tolerances)?;
    let states = system.states();
    let by_initial_state = if wanted.initial_state { states } else { 0 };
    let by_parameters = if wanted.parameters { system.parameters() } else { 0 };
    let mut outputs = Vec::with_capacity(span.times.len() * states * (1 + by_initial_state + by_parameters));
    match method {
        Method::Rk45 | Method::Ckrk => {
            let mut coupled = CoupledRows::new(system, by_initial_state, by_parameters);
            let steps = if method == Method::Rk45 { runge_kutta::dense } else { runge_kutta::controlled };
            steps(&mut coupled, span, tolerances, &mut outputs)?;
        }
        Method::Bdf | Method::Adams => {
            let coupled = Coupled::new(system, by_initial_state, by_parameters);
            let family = family(method);
            let start = coupled.start(span.initial_state);
            multistep::integrate(family, coupled, start, span, tolerances, &mut outputs)?;
        }
    }
    Ok(Solution { states, by_initial_state, by_parameters, coupled: outputs })
}

fn family(method: Method) -> multistep::Family {
    if method == Method::Adams { multistep::Family::Adams } else { multistep::Family::Bdf }
}

/// Whether [`solve_lanes`] knows the method.
pub fn has_lanes(method: Method) -> bool {
    method != Method::Ckrk
}

/// Solves many problems, eight at once; each gets what it would get alone. None where something goes wrong: those have
/// to be solved alone, to find out what. The system goes in directions of its own for [`Method::Rk45`], and is asked for
/// Jacobians by the others.
pub fn solve_lanes(
    method: Method,
    system: &mut dyn LaneSystem,
    spans: &[Span],
    tolerances: Tolerances,
) -> Vec<Option<Solution>> {
    let (states, [by_initial_state, by_parameters]) = (system.states(), system.directions());
    let outputs = match method {
        Method::Rk45 => lanes::solve(system, spans, tolerances),
        Method::Ckrk => vec![None; spans.len()],
        Method::Bdf | Method::Adams => multistep::solve_lanes(family(method), system, spans, tolerances),
    };
    let solution = |coupled: Vec<f64>| Solution { states, by_initial_state, by_parameters, coupled };
    outputs.into_iter().map(|coupled| coupled.map(solution)).collect()
}

fn check(span: Span, tolerances: Tolerances) -> Result<(), SolverError> {
    check_not_empty("the initial state", span.initial_state)?;
    check_not_empty("times", span.times)?;
    check_finite("the initial state", span.initial_state)?;
    check_finite("the initial time", &[span.initial_time])?;
    check_finite("times", span.times)?;
    if let Some(index) = (1..span.times.len()).find(|&i| span.times[i] < span.times[i - 1]) {
        return Err(SolverError::TimesNotSorted { index });
    }
    if span.times[0] <= span.initial_time {
        return Err(SolverError::NotAfterStart { time: span.times[0], start: span.initial_time });
    }
    check_positive("relative_tolerance", tolerances.relative)?;
    check_positive("absolute_tolerance", tolerances.absolute)?;
    if tolerances.max_steps == 0 {
        return Err(SolverError::NotPositive("max_num_steps"));
    }
    Ok(())
}

impl Solution {
    fn width(&self) -> usize {
        self.states * (1 + self.by_initial_state + self.by_parameters)
    }

    /// The number of output times.
    pub fn times(&self) -> usize {
        self.coupled.len() / self.width()
    }

    /// The state at an output time.
    pub fn state(&self, time: usize) -> &[f64] {
        &self.coupled[time * self.width()..][..self.states]
    }

    /// ∂y/∂y₀ at an output time, column-major; empty if it was not wanted.
    pub fn by_initial_state(&self, time: usize) -> &[f64] {
        &self.coupled[time * self.width() + self.states..][..self.states * self.by_initial_state]
    }

    /// ∂y/∂θ at an output time, column-major; empty if it was not wanted.
    pub fn by_parameters(&self, time: usize) -> &[f64] {
        &self.coupled[time * self.width() + self.states * (1 + self.by_initial_state)..]
            [..self.states * self.by_parameters]
    }

    /// Adds `adjointᵀ · ∂y/∂(y₀, θ, t₀, ts)`, where `adjoint` has one column of n for each output time.
    ///
    /// The end of the solution moves with the rate, ∂y(ts)/∂ts = f(ts, y(ts)); a later start is the same as starting
    /// at t₀ from a state that lies a little back, ∂y/∂t₀ = −(∂y/∂y₀) f(t₀, y₀).
    pub fn pull_back(
        &self,
        system: &mut dyn System,
        span: Span,
        adjoint: &[f64],
        into: &mut Adjoints,
    ) -> Result<(), SolverError> {
        let n = self.states;
        let mut by_initial_state = vec![0.0; self.by_initial_state];
        for (time, seed) in adjoint.chunks_exact(n).enumerate() {
            for (sum, column) in by_initial_state.iter_mut().zip(self.by_initial_state(time).chunks_exact(n)) {
                *sum += dot_in_order(column, seed);
            }
            for (sum, column) in into.parameters.iter_mut().zip(self.by_parameters(time).chunks_exact(n)) {
                *sum += dot_in_order(column, seed);
            }
        }
        let mut rate = vec![0.0; n];
        if let Some(initial_time) = into.initial_time.as_deref_mut() {
            system.rate(span.initial_time, span.initial_state, &mut rate)?;
            *initial_time -= dot_in_order(&by_initial_state, &rate);
        }
        add_scaled(into.initial_state, 1.0, &by_initial_state);
        if let Some(times) = into.times.as_deref_mut() {
            for (time, (sum, seed)) in times.iter_mut().zip(adjoint.chunks_exact(n)).enumerate() {
                system.rate(span.times[time], self.state(time), &mut rate)?;
                *sum += dot_in_order(&rate, seed);
            }
        }
        Ok(())
    }
}
