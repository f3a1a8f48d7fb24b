//! Positive parameters with multiplicative errors, in the coordinates of their logarithms: normal all the way, but with
//! a Jacobian.

use std::f64::consts::TAU;

use crust_math::random::Stream;
use pxfm::f_log;

use crate::grid::float;
use crate::pointwise::Pointwise;
use crate::regression::Simulated;

/// σᵢ ~ lognormal(0, τ), yᵢ ~ lognormal(log σᵢ, s), in the coordinates xᵢ = log σᵢ. In terms of log y it is xᵢ ~ N(0,
/// τ²), log yᵢ ~ N(xᵢ, s²).
#[derive(Clone, Debug, PartialEq)]
pub struct Positive {
    prior_deviation: f64,
    noise: f64,
    log_y: Vec<f64>,
    jacobian: Jacobian,
}

/// Whether the density that kernels see has the Jacobian of σ = exp(x).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jacobian {
    #[default]
    Present,
    /// A bug that is planted to be found: kernels leave another distribution p′ invariant than the one that chains
    /// start with.
    ///
    /// Both directions go along the same wrong path, so in the limit of long schedules they agree on the same wrong
    /// number, and no sandwich sees it. With kernels that forget at once, what is left of the gap is
    ///
    /// > Δβ · (mean log likelihood under `p′_T` − mean log likelihood under p₁),
    ///
    /// which is negative where the wrong posterior fits worse than the prior: with wide priors and weak data.
    Missing,
}

impl Positive {
    /// Parameters from the prior, and data given them.
    pub fn simulate(
        dimension: usize,
        prior_deviation: f64,
        noise: f64,
        jacobian: Jacobian,
        stream: &mut Stream,
    ) -> Simulated<Self> {
        let truth: Vec<f64> = (0..dimension).map(|_| prior_deviation * stream.standard_normal()).collect();
        let log_y = truth.iter().map(|x| x + noise * stream.standard_normal()).collect();
        Simulated { model: Self { prior_deviation, noise, log_y, jacobian }, truth }
    }

    /// A draw from the prior.
    pub fn draw_prior(&self, stream: &mut Stream) -> Vec<f64> {
        self.log_y.iter().map(|_| self.prior_deviation * stream.standard_normal()).collect()
    }

    /// log p(y): log yᵢ ~ N(0, τ² + s²).
    pub fn log_marginal_likelihood(&self) -> f64 {
        let variance = self.prior_deviation.powi(2) + self.noise.powi(2);
        self.log_y.iter().map(|y| -0.5 * f_log(TAU * variance) - 0.5 * y * y / variance - y).sum()
    }
}

impl Pointwise for Positive {
    fn dimension(&self) -> usize {
        self.log_y.len()
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (tau, s) = (self.prior_deviation.powi(2), self.noise.powi(2));
        let missing = f64::from(u8::from(self.jacobian == Jacobian::Missing));
        let half = 0.5 * float(self.log_y.len());
        let (mut log_prior, mut log_likelihood) = (-half * f_log(TAU * tau), -half * f_log(TAU * s));
        for ((g, x), y) in gradient.iter_mut().zip(x).zip(&self.log_y) {
            *g = -x / tau - missing + beta * (y - x) / s;
            log_prior -= 0.5 * x * x / tau + missing * x;
            // The density of y has 1/y, that of log y has not.
            log_likelihood -= 0.5 * (y - x) * (y - x) / s + y;
        }
        (log_prior, log_likelihood)
    }
}
