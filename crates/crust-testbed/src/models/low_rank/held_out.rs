//! Held-out likelihood: V is known, and one case has one row u to be integrated over.

use std::f64::consts::TAU;

use crust_infer::anneal::{Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::f_log;

use super::{LowRank, Prior, Side, State};
use crate::grid::float;
use crate::model::{HeldOut, Model};
use crate::models::conditional::Conditional;
use crate::models::hyper::Variance;
use crate::models::rows::{Rows, dot};

/// V and the variances: a state of a model without cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Loadings(State);

/// One case: the state is u, in a model of one row whose V stays as it is.
#[derive(Clone, Debug)]
pub struct Case {
    model: LowRank,
    loadings: State,
}

impl Case {
    fn with(&self, u: &[f64]) -> State {
        let row = Rows::from_fn(1, u.len(), |_, k| u[k]);
        self.model.state(row, self.loadings.v.clone(), self.loadings.variances)
    }
}

impl System for Case {
    type State = Vec<f64>;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<Vec<f64>, Fatal> {
        let scale = self.loadings.variances.rows.sqrt();
        Ok((0..self.loadings.v.columns()).map(|_| scale * stream.standard_normal()).collect())
    }

    fn log_ratio(&mut self, u: &Vec<f64>, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * self.model.log_fit(&self.with(u)))
    }

    fn step(&mut self, u: &mut Vec<f64>, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        let state = self.with(u);
        *u = self.model.conditional_row(&state, Side::U, 0, beta).sample(stream)?;
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }

    fn step_reversed(&mut self, u: &mut Vec<f64>, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(u, beta, stream)
    }
}

impl Model for Case {
    fn log_joint(&mut self, u: &Vec<f64>, beta: f64) -> Result<f64, Fatal> {
        let variance = self.loadings.variances.rows;
        let size: f64 = u.iter().map(|x| x * x).sum();
        let log_prior = -0.5 * (float(u.len()) * f_log(TAU * variance) + size / variance);
        Ok(log_prior + beta * self.model.log_fit(&self.with(u)))
    }

    fn cases(&self) -> usize {
        1
    }
}

impl HeldOut for LowRank {
    type Parameters = Loadings;
    type Case = Case;

    fn parameters(&mut self, state: &State, _stream: &mut Stream) -> Result<Loadings, Fatal> {
        let u = Rows::zeros(0, state.u.columns());
        Ok(Loadings(State { u, v: state.v.clone(), variances: state.variances, residual: 0.0 }))
    }

    fn case(&self, parameters: &Loadings, y: &[f64]) -> Case {
        let data = Rows::from_fn(1, self.data.columns(), |_, j| y[j]);
        let scratch = super::Scratch::new(data.columns(), parameters.0.v.columns());
        let fixed = Variance::Fixed(1.0);
        let prior = Prior { rows: fixed, columns: fixed, noise: fixed, ..self.prior };
        let squares_up_to = vec![0.0, dot(data.row(0), data.row(0))];
        let model = LowRank { transposed: data.transposed(), data, squares_up_to, prior, scratch };
        Case { model, loadings: parameters.0.clone() }
    }

    fn log_held_out(&mut self, parameters: &Loadings, y: &[f64]) -> Result<Option<f64>, Fatal> {
        let row = Rows::from_fn(1, self.data.columns(), |_, j| y[j]);
        Ok(Some(self.predict(&parameters.0, &row)))
    }
}
