//! A normal scale with an inverse-gamma prior, in the coordinate log σ²: conjugate, with heavy tails.

use std::f64::consts::TAU;

use crust_math::random::{Stream, StreamKey};
use crust_math::special::lgamma;
use pxfm::{f_exp, f_log};

use crate::grid::float;
use crate::pointwise::Pointwise;
use crate::regression::Simulated;

/// σ² ~ InvGamma(shape, rate), yᵢ ~ N(0, σ²), in the coordinate x = log σ².
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    shape: f64,
    rate: f64,
    observations: usize,
    squares: f64,
}

/// What data are simulated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simulator {
    /// The model.
    #[default]
    Right,
    /// Twice the standard deviation: a bug that is planted to be found, since the values that the data were simulated
    /// with are then no draw of the posterior.
    WrongScale,
}

impl Scale {
    /// A draw of log σ² from `InvGamma`.
    fn draw_inverse_gamma(shape: f64, rate: f64, stream: &mut Stream) -> f64 {
        // Both are positive by construction, so there is a draw.
        f_log(rate) - stream.log_gamma(shape).unwrap_or(f64::NAN)
    }

    /// σ² from the prior, and data given it.
    pub fn simulate(
        shape: f64,
        rate: f64,
        observations: usize,
        simulator: Simulator,
        stream: &mut Stream,
    ) -> Simulated<Self> {
        let truth = Self::draw_inverse_gamma(shape, rate, stream);
        let deviation = f_exp(0.5 * truth) * if simulator == Simulator::WrongScale { 2.0 } else { 1.0 };
        let squares = (0..observations).map(|_| (deviation * stream.standard_normal()).powi(2)).sum();
        Simulated { model: Self { shape, rate, observations, squares }, truth: vec![truth] }
    }

    /// A small problem of random size, shape and rate, with its simulated data.
    pub fn random(key: StreamKey) -> Simulated<Self> {
        let mut stream = key.stream();
        let observations = 1 + floor(15.0 * stream.uniform());
        let (shape, rate) = (1.0 + 2.0 * stream.uniform(), 0.5 + 2.0 * stream.uniform());
        Self::simulate(shape, rate, observations, Simulator::Right, &mut stream)
    }

    /// A draw from the prior.
    pub fn draw_prior(&self, stream: &mut Stream) -> Vec<f64> {
        vec![Self::draw_inverse_gamma(self.shape, self.rate, stream)]
    }

    /// An exact draw of `p_β`.
    pub fn draw(&self, beta: f64, stream: &mut Stream) -> Vec<f64> {
        let (shape, rate) = self.tempered(beta);
        vec![Self::draw_inverse_gamma(shape, rate, stream)]
    }

    /// `p_β` is `InvGamma` with this shape and rate.
    fn tempered(&self, beta: f64) -> (f64, f64) {
        (self.shape + 0.5 * beta * float(self.observations), self.rate + 0.5 * beta * self.squares)
    }

    /// log `Z_β`; log p(y) at β = 1.
    pub fn log_normaliser(&self, beta: f64) -> f64 {
        let (shape, rate) = self.tempered(beta);
        self.shape * f_log(self.rate) - lgamma(self.shape) + lgamma(shape)
            - shape * f_log(rate)
            - 0.5 * beta * float(self.observations) * f_log(TAU)
    }
}

impl Pointwise for Scale {
    fn dimension(&self) -> usize {
        1
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (log_variance, precision) = (x[0], f_exp(-x[0]));
        let half = 0.5 * float(self.observations);
        // InvGamma has the power −shape − 1 of σ², and the Jacobian adds 1.
        let constant = self.shape * f_log(self.rate) - lgamma(self.shape);
        gradient[0] = -self.shape + self.rate * precision + beta * (-half + 0.5 * self.squares * precision);
        let log_likelihood = -half * (f_log(TAU) + log_variance) - 0.5 * self.squares * precision;
        (constant - self.shape * log_variance - self.rate * precision, log_likelihood)
    }
}

/// A small number that is not negative, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
pub(crate) fn floor(x: f64) -> usize {
    x as usize
}
