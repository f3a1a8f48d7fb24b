//! The state together with its sensitivities, row by row, as one larger system: what explicit methods work on, whose
//! steps are judged by single numbers.

use super::{System, Tangents};
use crate::linalg::vectors::add_scaled;
use crate::solvers::SolverError;

/// Rows are whole lines: they fill vector registers.
pub(super) const LINE: usize = 8;

/// A system and the sensitivities that go along: vectors are y (in whole lines) and then the rows of S, each of them by
/// y₀ and by θ. What is missing in a line is 0 at the start and stays so.
pub(super) struct CoupledRows<'s> {
    system: &'s mut dyn System,
    n: usize,
    /// Where the rows begin.
    first: usize,
    width: usize,
    by_initial_state: usize,
    by_parameters: usize,
    by_state: Vec<f64>,
    by_parameter: Vec<f64>,
}

impl<'s> CoupledRows<'s> {
    pub(super) fn new(system: &'s mut dyn System, by_initial_state: usize, by_parameters: usize) -> Self {
        let n = system.states();
        Self {
            system,
            n,
            first: n.next_multiple_of(LINE),
            width: (by_initial_state + by_parameters).next_multiple_of(LINE),
            by_initial_state,
            by_parameters,
            by_state: vec![0.0; n * n],
            by_parameter: vec![0.0; n * by_parameters],
        }
    }

    /// The number of elements of a coupled vector.
    pub(super) fn len(&self) -> usize {
        self.first + self.n * self.width
    }

    /// The coupled vector at t₀: y₀, the unit matrix, zeros.
    pub(super) fn start(&self, initial_state: &[f64]) -> Vec<f64> {
        let mut start = vec![0.0; self.len()];
        start[..self.n].copy_from_slice(initial_state);
        for i in 0..self.by_initial_state {
            start[self.first + i * self.width + i] = 1.0;
        }
        start
    }

    /// The rate of the whole coupled vector: f, and (∂f/∂y) S + (0, ∂f/∂θ).
    pub(super) fn rate(&mut self, t: f64, z: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        let n = self.n;
        if self.width == 0 {
            return self.system.rate(t, &z[..n], &mut rate[..n]);
        }
        let tangents = Tangents { rows: &z[self.first..], width: self.width, first_parameter: self.by_initial_state };
        let (state, rates) = rate.split_at_mut(self.first);
        if self.system.tangents(t, &z[..n], tangents, &mut state[..n], rates)? {
            return Ok(());
        }
        self.system.jacobian(t, &z[..n], &mut state[..n], &mut self.by_state, &mut self.by_parameter)?;
        for (i, rate) in rates.chunks_exact_mut(self.width).enumerate() {
            rate.fill(0.0);
            let own = rate[self.by_initial_state..].iter_mut();
            own.zip(self.by_parameter.iter().skip(i).step_by(n)).for_each(|(rate, slope)| *rate = *slope);
            for (row, slope) in tangents.rows.chunks_exact(self.width).zip(self.by_state.iter().skip(i).step_by(n)) {
                add_scaled(rate, *slope, row);
            }
        }
        Ok(())
    }

    /// Appends the state and after it the columns of S.
    pub(super) fn output(&self, z: &[f64], outputs: &mut Vec<f64>) {
        outputs.extend_from_slice(&z[..self.n]);
        for column in 0..self.by_initial_state + self.by_parameters {
            outputs.extend((0..self.n).map(|i| z[self.first + i * self.width + column]));
        }
    }
}
