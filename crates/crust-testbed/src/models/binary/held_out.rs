//! Held-out likelihood: the features are known, and one case has K bits to be summed over.

use std::f64::consts::TAU;

use crust_infer::anneal::{Direction, Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::log_sum_exp_slice;
use pxfm::{f_log, f_log1p};

use super::enumerate::{self, LARGEST, Quadratic};
use super::{BinaryAttributes, Hyper, State};
use crate::grid::float;
use crate::model::{HeldOut, Model};
use crate::models::conditional::{Bernoulli, Conditional};
use crate::models::rows::Rows;

/// A and the hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    pub(super) a: Rows,
    pub(super) hyper: Hyper,
}

/// One case: which attributes does it have? The state is one bit for each.
#[derive(Clone, Debug)]
pub struct Case {
    error: Quadratic,
    hyper: Hyper,
    dimensions: f64,
}

impl Case {
    fn log_fit(&self, error: f64) -> f64 {
        -0.5 * (self.dimensions * f_log(TAU * self.hyper.noise) + error / self.hyper.noise)
    }

    /// log p(y | z).
    fn at(&self, z: &[bool]) -> f64 {
        let z: Vec<f64> = z.iter().map(|&bit| f64::from(u8::from(bit))).collect();
        self.log_fit(self.error.at(&z))
    }

    fn sweep(&self, z: &mut [bool], beta: f64, direction: Direction, stream: &mut Stream) -> Result<(), Fatal> {
        for place in 0..z.len() {
            let k = if direction == Direction::Forward { place } else { z.len() - 1 - place };
            z[k] = true;
            let one = self.at(z);
            z[k] = false;
            let log_odds = self.hyper.log_odds[k] + beta * (one - self.at(z));
            z[k] = Bernoulli { log_odds }.sample(stream)?;
        }
        Ok(())
    }
}

impl System for Case {
    type State = Vec<bool>;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<Vec<bool>, Fatal> {
        Ok(self.hyper.probabilities.iter().map(|&p| stream.uniform() < p).collect())
    }

    fn log_ratio(&mut self, z: &Vec<bool>, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * self.at(z))
    }

    fn step(&mut self, z: &mut Vec<bool>, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.sweep(z, beta, Direction::Forward, stream)?;
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }

    fn step_reversed(&mut self, z: &mut Vec<bool>, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.sweep(z, beta, Direction::Reverse, stream)?;
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }
}

impl Model for Case {
    fn log_joint(&mut self, z: &Vec<bool>, beta: f64) -> Result<f64, Fatal> {
        let log = |(&bit, &p): (&bool, &f64)| if bit { f_log(p) } else { f_log1p(-p) };
        let log_prior: f64 = z.iter().zip(&self.hyper.probabilities).map(log).sum();
        Ok(log_prior + beta * self.at(z))
    }

    fn cases(&self) -> usize {
        1
    }
}

impl Features {
    /// log p(z, y | A) for all settings of the bits.
    pub(super) fn logs(&self, y: &[f64]) -> Vec<f64> {
        let k = self.a.rows();
        let (error, noise) = (Quadratic::error(y, &self.a), self.hyper.noise);
        let zeros: f64 = self.hyper.probabilities.iter().map(|p| f_log1p(-p)).sum();
        let constant = zeros - 0.5 * float(self.a.columns()) * f_log(TAU * noise);
        let priors = enumerate::linear(&self.hyper.log_odds[..k]);
        error.everywhere().into_iter().zip(priors).map(|(e, prior)| constant + prior - 0.5 * e / noise).collect()
    }
}

impl HeldOut for BinaryAttributes {
    type Parameters = Features;
    type Case = Case;

    fn parameters(&mut self, state: &State, stream: &mut Stream) -> Result<Features, Fatal> {
        Ok(Features { a: self.draw_features(state, 1.0, stream), hyper: state.hyper.clone() })
    }

    fn case(&self, parameters: &Features, y: &[f64]) -> Case {
        let row = Rows::from_fn(1, self.data.columns(), |_, j| y[j]);
        let error = Quadratic::error(row.row(0), &parameters.a);
        Case { error, hyper: parameters.hyper.clone(), dimensions: float(y.len()) }
    }

    fn log_held_out(&mut self, parameters: &Features, y: &[f64]) -> Result<Option<f64>, Fatal> {
        if self.prior.components > LARGEST {
            return Ok(None);
        }
        let row = Rows::from_fn(1, self.data.columns(), |_, j| y[j]);
        Ok(Some(log_sum_exp_slice(&parameters.logs(row.row(0)))))
    }
}
