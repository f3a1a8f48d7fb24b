//! The state together with its sensitivities, row by row, as one larger system: what explicit methods work on, whose
//! steps are judged by single numbers.

use super::{System, Tangents};
use crate::linalg::vectors::add_scaled;
use crate::solvers::SolverError;

/// Rows are whole lines: they fill vector registers.
pub(super) const LINE: usize = 8;

/// A system and the sensitivities that go along. Row i is yᵢ and then its derivatives by y₀ and by θ, in whole lines: with
/// up to seven derivatives a state is a single line. What is missing in a line is 0 at the start and stays so. Without
/// derivatives the vector is y, in whole lines.
pub(super) struct CoupledRows<'s> {
    system: &'s mut dyn System,
    n: usize,
    /// Of a row; 0 without derivatives.
    width: usize,
    by_initial_state: usize,
    by_parameters: usize,
    /// y and its rate, one after the other.
    state: Vec<f64>,
    state_rate: Vec<f64>,
    by_state: Vec<f64>,
    by_parameter: Vec<f64>,
}

/// Where the derivatives of a row begin.
const DERIVATIVES: usize = 1;

impl<'s> CoupledRows<'s> {
    pub(super) fn new(system: &'s mut dyn System, by_initial_state: usize, by_parameters: usize) -> Self {
        let (n, derivatives) = (system.states(), by_initial_state + by_parameters);
        Self {
            system,
            n,
            width: if derivatives == 0 { 0 } else { (DERIVATIVES + derivatives).next_multiple_of(LINE) },
            by_initial_state,
            by_parameters,
            state: vec![0.0; n],
            state_rate: vec![0.0; n],
            by_state: vec![0.0; n * n],
            by_parameter: vec![0.0; n * by_parameters],
        }
    }

    /// The number of elements of a coupled vector.
    pub(super) fn len(&self) -> usize {
        if self.width == 0 { self.n.next_multiple_of(LINE) } else { self.n * self.width }
    }

    /// How far one state is from the next.
    fn stride(&self) -> usize {
        self.width.max(1)
    }

    /// The coupled vector at t₀: y₀, the unit matrix, zeros.
    pub(super) fn start(&self, initial_state: &[f64]) -> Vec<f64> {
        let (mut start, stride) = (vec![0.0; self.len()], self.stride());
        for (i, y) in initial_state.iter().enumerate() {
            start[i * stride] = *y;
        }
        for i in 0..self.by_initial_state {
            start[i * stride + DERIVATIVES + i] = 1.0;
        }
        start
    }

    /// The rate of the whole coupled vector: f, and (∂f/∂y) S + (0, ∂f/∂θ).
    pub(super) fn rate(&mut self, t: f64, z: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        let (n, width) = (self.n, self.width);
        if width == 0 {
            return self.system.rate(t, &z[..n], &mut rate[..n]);
        }
        for (y, row) in self.state.iter_mut().zip(z.chunks_exact(width)) {
            *y = row[0];
        }
        let first_parameter = DERIVATIVES + self.by_initial_state;
        let tangents = Tangents { rows: z, width, first_parameter };
        if !self.system.tangents(t, &self.state, tangents, &mut self.state_rate, rate)? {
            self.system.jacobian(t, &self.state, &mut self.state_rate, &mut self.by_state, &mut self.by_parameter)?;
            for (i, rate) in rate.chunks_exact_mut(width).enumerate() {
                rate.fill(0.0);
                let own = rate[first_parameter..].iter_mut();
                own.zip(self.by_parameter.iter().skip(i).step_by(n)).for_each(|(rate, slope)| *rate = *slope);
                for (row, slope) in tangents.rows.chunks_exact(width).zip(self.by_state.iter().skip(i).step_by(n)) {
                    add_scaled(rate, *slope, row);
                }
            }
        }
        for (row, f) in rate.chunks_exact_mut(width).zip(&self.state_rate) {
            row[0] = *f;
        }
        Ok(())
    }

    /// Appends the state and after it the columns of S.
    pub(super) fn output(&self, z: &[f64], outputs: &mut Vec<f64>) {
        let stride = self.stride();
        outputs.extend((0..self.n).map(|i| z[i * stride]));
        for column in 0..self.by_initial_state + self.by_parameters {
            outputs.extend((0..self.n).map(|i| z[i * stride + DERIVATIVES + column]));
        }
    }
}
