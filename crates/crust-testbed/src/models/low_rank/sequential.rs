//! Particle learning for the low rank model: V is in the particle, and the row of U of a new case is integrated out.

use std::f64::consts::TAU;

use crust_infer::anneal::Direction;
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::f_log;

use super::super::Scan;
use super::half::multiply;
use super::{LowRank, State};
use crate::grid::float;
use crate::model::{Proposal, Sequential};
use crate::models::rows::{Rows, dot};

impl LowRank {
    /// log p(y | V), and in `scratch` what is needed to draw u given y: with t = L⁻¹ V y / σ_n² and L Lᵀ = I/σ_u² + V
    /// Vᵀ/σ_n²,
    ///
    /// > log p(y | V) = −½ (D log 2πσ_n² + K log σ_u² + log det L Lᵀ + |y|²/σ_n² − |t|²).
    pub(super) fn predict(&mut self, state: &State, y: &Rows) -> f64 {
        let (k, noise) = (state.v.columns(), state.variances.noise);
        let mut product = vec![0.0; state.v.stride()];
        multiply(y, &state.v, 1, &mut product);
        self.scratch.prepare(&state.v, state.variances.rows, 1.0 / noise);
        self.scratch.whiten(&product, 1.0 / noise, k);
        let determinant = float(k) * f_log(state.variances.rows) + self.scratch.log_determinant;
        let fit = y.sum_of_squares() / noise - dot(&self.scratch.whitened, &self.scratch.whitened);
        -0.5 * (float(y.columns()) * f_log(TAU * noise) + determinant + fit)
    }

    pub(super) fn case_row(&self, case: usize) -> Rows {
        Rows::from_fn(1, self.data.columns(), |_, j| self.data.row(case)[j])
    }

    /// |y − u V|² of one case.
    pub(super) fn case_residual(&self, state: &State, case: usize) -> f64 {
        let (y, u) = (self.data.row(case), state.u.row(case));
        y.iter().zip(state.v.iter()).map(|(y, v)| (y - dot(u, v)) * (y - dot(u, v))).sum()
    }

    pub(super) fn log_case(&self, state: &State, residual: f64) -> f64 {
        let noise = state.variances.noise;
        -0.5 * (float(self.data.columns()) * f_log(TAU * noise) + residual / noise)
    }
}

impl Sequential for LowRank {
    type Particle = State;

    fn begin(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        self.draw_factors(0, stream)
    }

    fn extend(&mut self, particle: &mut State, proposal: Proposal, stream: &mut Stream) -> Result<f64, Fatal> {
        let (case, k) = (particle.u.rows(), particle.u.columns());
        if case == self.data.rows() {
            return Err(Fatal::new("a particle with all cases has none to take in"));
        }
        let log_factor = match proposal {
            Proposal::Posterior => Some(self.predict(particle, &self.case_row(case))),
            Proposal::Prior => None,
        };
        particle.u.resize(case + 1);
        let u = particle.u.row_mut(case);
        if proposal == Proposal::Posterior {
            self.scratch.whitened[..k].iter_mut().for_each(|t| *t += stream.standard_normal());
            self.scratch.unwhiten(&self.scratch.whitened, u, k);
        } else {
            let scale = particle.variances.rows.sqrt();
            u[..k].iter_mut().for_each(|x| *x = scale * stream.standard_normal());
        }
        let residual = self.case_residual(particle, case);
        particle.residual += residual;
        Ok(log_factor.unwrap_or_else(|| self.log_case(particle, residual)))
    }

    fn retract(&mut self, particle: &mut State, proposal: Proposal) -> Result<f64, Fatal> {
        let Some(case) = particle.u.rows().checked_sub(1) else {
            return Err(Fatal::new("a particle without cases has none to give up"));
        };
        let residual = self.case_residual(particle, case);
        let log_factor = match proposal {
            Proposal::Posterior => self.predict(particle, &self.case_row(case)),
            Proposal::Prior => self.log_case(particle, residual),
        };
        particle.u.resize(case);
        particle.residual = (particle.residual - residual).max(0.0);
        Ok(log_factor)
    }

    fn refresh(&mut self, particle: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.scan(particle, 1.0, Direction::Forward, stream).map(|_| ())
    }

    fn refresh_reversed(&mut self, particle: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.scan(particle, 1.0, Direction::Reverse, stream).map(|_| ())
    }

    fn particle(&mut self, state: &State) -> Result<State, Fatal> {
        Ok(state.clone())
    }
}
