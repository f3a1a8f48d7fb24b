//! Logistic regression with a normal prior: no closed form, but exact draws by simulation.

use std::f64::consts::TAU;

use crust_math::random::Stream;
use pxfm::{f_exp, f_log, f_log1p};

use crate::grid::float;
use crate::pointwise::Pointwise;
use crate::regression::Simulated;
use crust_math::linalg::vectors::dot_in_order as dot;

/// w ~ N(0, τ² I), P(yᵢ = 1) = σ(xᵢ · w).
#[derive(Clone, Debug, PartialEq)]
pub struct Logistic {
    dimension: usize,
    prior_deviation: f64,
    /// The rows of X, with the opposite sign where y = 0.
    signed: Vec<f64>,
}

impl Logistic {
    /// Weights from the prior, and data given them. Covariates are normal, each correlated with the one before.
    pub fn simulate(
        observations: usize,
        dimension: usize,
        prior_deviation: f64,
        correlation: f64,
        stream: &mut Stream,
    ) -> Simulated<Self> {
        let truth: Vec<f64> = (0..dimension).map(|_| prior_deviation * stream.standard_normal()).collect();
        let fresh = (1.0 - correlation * correlation).sqrt();
        let mut signed = vec![0.0; observations * dimension];
        for row in signed.chunks_exact_mut(dimension) {
            let mut before = stream.standard_normal();
            for x in row.iter_mut() {
                *x = correlation * before + fresh * stream.standard_normal();
                before = *x;
            }
            let one = stream.uniform() < 1.0 / (1.0 + f_exp(-dot(row, &truth)));
            if !one {
                row.iter_mut().for_each(|x| *x = -*x);
            }
        }
        Simulated { model: Self { dimension, prior_deviation, signed }, truth }
    }

    /// A draw from the prior.
    pub fn draw_prior(&self, stream: &mut Stream) -> Vec<f64> {
        (0..self.dimension).map(|_| self.prior_deviation * stream.standard_normal()).collect()
    }
}

impl Pointwise for Logistic {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn at(&self, w: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let tau = self.prior_deviation.powi(2);
        gradient.iter_mut().zip(w).for_each(|(g, w)| *g = -w / tau);
        let mut log_likelihood = 0.0;
        for row in self.signed.chunks_exact(self.dimension) {
            let eta = dot(row, w);
            // log σ(η) and 1 − σ(η), without overflow.
            let small = f_exp(-eta.abs());
            log_likelihood += eta.min(0.0) - f_log1p(small);
            let miss = if eta > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
            gradient.iter_mut().zip(row).for_each(|(g, x)| *g += beta * miss * x);
        }
        (-0.5 * float(self.dimension) * f_log(TAU * tau) - 0.5 * dot(w, w) / tau, log_likelihood)
    }
}
