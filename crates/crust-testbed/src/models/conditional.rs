//! Conditional distributions as objects that can be drawn from *and* evaluated: BDMC, appendix B.

use std::f64::consts::TAU;

use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::{lbeta, lgamma, log_sum_exp_slice, log1p_exp};
use pxfm::{f_log, f_log1p};

use crate::grid::float;

/// p(x | u) for some u.
pub trait Conditional {
    type Value;

    fn sample(&self, stream: &mut Stream) -> Result<Self::Value, Fatal>;

    /// log p(x | u) with all constants.
    fn log_density(&self, x: &Self::Value) -> f64;
}

/// One of several values, by unnormalised log probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Categorical {
    pub log_weights: Vec<f64>,
}

impl Conditional for Categorical {
    type Value = usize;

    fn sample(&self, stream: &mut Stream) -> Result<usize, Fatal> {
        stream.categorical_log(&self.log_weights).map_err(Fatal::new)
    }

    fn log_density(&self, &x: &usize) -> f64 {
        self.log_weights[x] - log_sum_exp_slice(&self.log_weights)
    }
}

/// A bit that is 1 with these log odds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bernoulli {
    pub log_odds: f64,
}

impl Conditional for Bernoulli {
    type Value = bool;

    fn sample(&self, stream: &mut Stream) -> Result<bool, Fatal> {
        stream.bernoulli_logit(self.log_odds).map_err(Fatal::new)
    }

    fn log_density(&self, &x: &bool) -> f64 {
        -log1p_exp(if x { -self.log_odds } else { self.log_odds })
    }
}

/// Density ∝ x^(−shape − 1) exp(−scale / x).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGamma {
    pub shape: f64,
    pub scale: f64,
}

impl Conditional for InverseGamma {
    type Value = f64;

    fn sample(&self, stream: &mut Stream) -> Result<f64, Fatal> {
        stream.inv_gamma(self.shape, self.scale).map_err(Fatal::new)
    }

    fn log_density(&self, &x: &f64) -> f64 {
        self.shape * f_log(self.scale) - lgamma(self.shape) - (self.shape + 1.0) * f_log(x) - self.scale / x
    }
}

/// Density ∝ x^(a − 1) (1 − x)^(b − 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    pub a: f64,
    pub b: f64,
}

impl Conditional for Beta {
    type Value = f64;

    fn sample(&self, stream: &mut Stream) -> Result<f64, Fatal> {
        stream.beta(self.a, self.b).map_err(Fatal::new)
    }

    fn log_density(&self, &x: &f64) -> f64 {
        (self.a - 1.0) * f_log(x) + (self.b - 1.0) * f_log1p(-x) - lbeta(self.a, self.b)
    }
}

/// A point of the simplex, given by logarithms; the density is that of all coordinates but the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Dirichlet {
    pub concentration: Vec<f64>,
}

impl Conditional for Dirichlet {
    type Value = Vec<f64>;

    fn sample(&self, stream: &mut Stream) -> Result<Vec<f64>, Fatal> {
        let mut logs = vec![0.0; self.concentration.len()];
        stream.log_dirichlet(&self.concentration, &mut logs).map_err(Fatal::new)?;
        Ok(logs)
    }

    fn log_density(&self, logs: &Vec<f64>) -> f64 {
        let total: f64 = self.concentration.iter().sum();
        let terms = self.concentration.iter().zip(logs).map(|(&a, &log)| (a - 1.0) * log - lgamma(a));
        lgamma(total) + terms.sum::<f64>()
    }
}

/// A normal distribution by its mean and the Cholesky factor L (by rows) of its precision L Lᵀ.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiNormal {
    pub mean: Vec<f64>,
    pub lower: Vec<f64>,
}

impl Conditional for MultiNormal {
    type Value = Vec<f64>;

    /// mean + L⁻ᵀ ε.
    fn sample(&self, stream: &mut Stream) -> Result<Vec<f64>, Fatal> {
        let mut noise = vec![0.0; self.mean.len()];
        stream.fill_normal(&mut noise);
        let offset = crate::linear::solve_upper(&self.lower, &noise);
        Ok(self.mean.iter().zip(offset).map(|(mean, offset)| mean + offset).collect())
    }

    fn log_density(&self, x: &Vec<f64>) -> f64 {
        let k = self.mean.len();
        let centred: Vec<f64> = x.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let log_pivots: f64 = (0..k).map(|d| f_log(self.lower[d * k + d])).sum();
        let noise = |c: usize| (c..k).map(|r| self.lower[r * k + c] * centred[r]).sum::<f64>();
        log_pivots - 0.5 * float(k) * f_log(TAU) - 0.5 * (0..k).map(|c| noise(c) * noise(c)).sum::<f64>()
    }
}
