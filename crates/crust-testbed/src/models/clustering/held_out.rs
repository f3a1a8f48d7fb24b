//! Held-out likelihood: the centres are known, and one case has one assignment to be summed over.

use std::f64::consts::TAU;

use crust_infer::anneal::{Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::log_sum_exp_slice;
use pxfm::f_log;

use super::{Clustering, State};
use crate::grid::float;
use crate::model::{HeldOut, Model};
use crate::models::conditional::{Categorical, Conditional};
use crate::models::rows::Rows;

/// Centres and hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Centres {
    log_weights: Vec<f64>,
    means: Rows,
    within: f64,
}

/// One case: which component does it belong to?
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    log_weights: Vec<f64>,
    /// log p(y | θₖ)
    log_likelihood: Vec<f64>,
}

impl Case {
    fn conditional(&self, beta: f64) -> Categorical {
        let log = |(prior, likelihood): (&f64, &f64)| prior + beta * likelihood;
        Categorical { log_weights: self.log_weights.iter().zip(&self.log_likelihood).map(log).collect() }
    }
}

impl System for Case {
    type State = usize;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<usize, Fatal> {
        self.conditional(0.0).sample(stream)
    }

    fn log_ratio(&mut self, &k: &usize, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * self.log_likelihood[k])
    }

    fn step(&mut self, k: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        *k = self.conditional(beta).sample(stream)?;
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }

    fn step_reversed(&mut self, k: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(k, beta, stream)
    }
}

impl Model for Case {
    fn log_joint(&mut self, &k: &usize, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_weights[k] + beta * self.log_likelihood[k])
    }

    fn cases(&self) -> usize {
        1
    }
}

impl HeldOut for Clustering {
    type Parameters = Centres;
    type Case = Case;

    fn parameters(&mut self, state: &State, stream: &mut Stream) -> Result<Centres, Fatal> {
        let mut centres = Rows::zeros(self.prior.components, self.data.columns());
        for (k, &count) in state.counts.iter().enumerate() {
            let precision = 1.0 / state.between + float(count) / state.within;
            let (scale, shrink) = (1.0 / precision.sqrt(), 1.0 / (precision * state.within));
            for (centre, sum) in centres.row_mut(k)[..self.data.columns()].iter_mut().zip(state.sums.row(k)) {
                *centre = shrink * sum + scale * stream.standard_normal();
            }
        }
        Ok(Centres { log_weights: state.log_weights().to_vec(), means: centres, within: state.within })
    }

    fn case(&self, parameters: &Centres, y: &[f64]) -> Case {
        let Centres { log_weights, means, within } = parameters;
        let log = |centre: &[f64]| {
            let distance: f64 = y.iter().zip(centre).map(|(y, centre)| (y - centre) * (y - centre)).sum();
            -0.5 * (float(y.len()) * f_log(TAU * within) + distance / within)
        };
        Case { log_weights: log_weights.clone(), log_likelihood: means.iter().map(log).collect() }
    }

    fn log_held_out(&mut self, parameters: &Centres, y: &[f64]) -> Result<Option<f64>, Fatal> {
        Ok(Some(log_sum_exp_slice(&self.case(parameters, y).conditional(1.0).log_weights)))
    }
}
