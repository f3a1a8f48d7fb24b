//! The state together with the columns of its sensitivities, as one larger system: what multistep methods work on,
//! whose norms are those of columns.

use super::System;
use crate::linalg::vectors::add_scaled;
use crate::solvers::SolverError;

/// A system and the sensitivities that go along: vectors are y and then the columns of S by y₀ and by θ.
pub(super) struct Coupled<'s> {
    system: &'s mut dyn System,
    pub(super) n: usize,
    by_initial_state: usize,
    by_parameters: usize,
    by_state: Vec<f64>,
    by_parameter: Vec<f64>,
}

impl<'s> Coupled<'s> {
    pub(super) fn new(system: &'s mut dyn System, by_initial_state: usize, by_parameters: usize) -> Self {
        let n = system.states();
        let by_state = vec![0.0; n * n];
        let by_parameter = vec![0.0; n * by_parameters];
        Self { system, n, by_initial_state, by_parameters, by_state, by_parameter }
    }

    /// The number of elements of a coupled vector.
    pub(super) fn len(&self) -> usize {
        self.n * (1 + self.by_initial_state + self.by_parameters)
    }

    /// The coupled vector at t₀: y₀, the unit matrix, zeros.
    pub(super) fn start(&self, initial_state: &[f64]) -> Vec<f64> {
        let mut start = vec![0.0; self.len()];
        start[..self.n].copy_from_slice(initial_state);
        for i in 0..self.by_initial_state {
            start[self.n * (1 + i) + i] = 1.0;
        }
        start
    }

    /// f(t, y) alone.
    pub(super) fn state_rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        self.system.rate(t, y, rate)
    }

    /// ∂f/∂y alone.
    pub(super) fn state_jacobian(&mut self, t: f64, y: &[f64]) -> Result<&[f64], SolverError> {
        let mut rate = vec![0.0; self.n];
        self.system.jacobian(t, y, &mut rate, &mut self.by_state, &mut [])?;
        Ok(&self.by_state)
    }

    /// Evaluates the derivatives of f once, for any number of calls of [`Self::column_rates`] at the same place.
    pub(super) fn linearise(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        self.system.jacobian(t, y, rate, &mut self.by_state, &mut self.by_parameter)
    }

    /// The rates of the columns of S where f was linearised: (∂f/∂y) S + (0, ∂f/∂θ).
    pub(super) fn column_rates(&self, columns: &[f64], rates: &mut [f64]) {
        let n = self.n;
        let (by_start, by_parameter) = rates.split_at_mut(n * self.by_initial_state);
        by_start.fill(0.0);
        by_parameter.copy_from_slice(&self.by_parameter);
        for (rate, column) in rates.chunks_exact_mut(n).zip(columns.chunks_exact(n)) {
            for (gradient, &value) in self.by_state.chunks_exact(n).zip(column) {
                add_scaled(rate, value, gradient);
            }
        }
    }

    /// The rate of the whole coupled vector.
    pub(super) fn rate(&mut self, t: f64, z: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        let n = self.n;
        if z.len() == n {
            return self.system.rate(t, z, rate);
        }
        let (state, columns) = rate.split_at_mut(n);
        self.linearise(t, &z[..n], state)?;
        self.column_rates(&z[n..], columns);
        Ok(())
    }
}
