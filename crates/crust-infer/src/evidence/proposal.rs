//! A normalised density fitted to draws of the posterior: mostly normal, with a share of heavy tails.
//!
//! > q = (1 − a) N(μ, Σ) + a t_ν(μ, Σ)
//!
//! The share a of Student's distribution keeps the weights f/q from having infinite variance where the posterior has
//! heavier tails than the normal distribution, and costs at most a factor 1/(1 − a) where it has not (a defensive
//! mixture, Hesterberg 1995).

use std::f64::consts::TAU;

use crust_math::random::Stream;
use crust_math::special::lgamma;
use pxfm::{f_exp, f_log, f_log1p};

use super::float;
use crate::covariance::shrunk_correlations;
use crate::metric::cholesky;
use crate::vector::dot;

/// a
const SHARE: f64 = 0.1;
/// ν
const DEGREES: f64 = 5.0;

/// A fitted density.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    mean: Vec<f64>,
    /// L by rows, with Σ = L Lᵀ.
    lower: Vec<f64>,
    /// log |L|.
    log_determinant: f64,
}

/// Why no density can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProposal {
    #[error("a proposal needs at least 2 draws, and there are {0}")]
    TooFew(usize),
    #[error("the draws do not vary in coordinate {0}: there is no density to fit")]
    Constant(usize),
    #[error("the covariance of the draws is not positive definite (row {0})")]
    NotPositive(usize),
}

impl Proposal {
    /// Fits mean and covariance; correlations are shrunk as far as chance may have made them.
    pub fn fit(draws: &[&[f64]]) -> Result<Self, BadProposal> {
        let n = draws.len();
        if n < 2 {
            return Err(BadProposal::TooFew(n));
        }
        let d = draws[0].len();
        let mean: Vec<f64> = (0..d).map(|i| draws.iter().map(|x| x[i]).sum::<f64>() / float(n)).collect();
        let square = |i: usize| draws.iter().map(|x| (x[i] - mean[i]).powi(2)).sum::<f64>() / float(n - 1);
        let deviation: Vec<f64> = (0..d).map(|i| square(i).sqrt()).collect();
        if let Some(i) = deviation.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
            return Err(BadProposal::Constant(i + 1));
        }
        let mut covariance = shrunk_correlations(draws, &mean, &deviation);
        for (i, row) in covariance.chunks_exact_mut(d).enumerate() {
            row.iter_mut().zip(&deviation).for_each(|(c, s)| *c *= s * deviation[i]);
        }
        let lower = cholesky(d, &covariance).map_err(|bad| BadProposal::NotPositive(bad.row))?;
        let log_determinant = lower.iter().step_by(d + 1).map(|l| f_log(*l)).sum();
        Ok(Self { mean, lower, log_determinant })
    }

    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// An exact draw.
    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let d = self.dimension();
        let heavy = stream.uniform() < SHARE;
        let mut z: Vec<f64> = vec![0.0; d];
        stream.fill_normal(&mut z);
        // Student's t is a normal distribution with a random scale: √(ν/χ²). ν is positive, so that there is such a
        // draw.
        let stretch = if heavy { stream.chi_square(DEGREES).map_or(1.0, |c| (DEGREES / c).sqrt()) } else { 1.0 };
        let row = |i: usize| dot(&self.lower[i * d..][..=i], &z[..=i]);
        (0..d).map(|i| self.mean[i] + stretch * row(i)).collect()
    }

    /// log q(x), normaliser included.
    pub fn log_density(&self, x: &[f64]) -> f64 {
        let d = self.dimension();
        let mut z = vec![0.0; d];
        for i in 0..d {
            let before = dot(&self.lower[i * d..][..i], &z[..i]);
            z[i] = (x[i] - self.mean[i] - before) / self.lower[i * d + i];
        }
        let (square, n) = (dot(&z, &z), float(d));
        let normal = -0.5 * n * f_log(TAU) - self.log_determinant - 0.5 * square;
        let scale = lgamma(0.5 * (DEGREES + n)) - lgamma(0.5 * DEGREES) - 0.5 * n * f_log(0.5 * TAU * DEGREES);
        let student = scale - self.log_determinant - 0.5 * (DEGREES + n) * f_log1p(square / DEGREES);
        let (a, b) = (normal + f_log1p(-SHARE), student + f_log(SHARE));
        let greatest = a.max(b);
        if greatest == f64::NEG_INFINITY {
            greatest
        } else {
            greatest + f_log(f_exp(a - greatest) + f_exp(b - greatest))
        }
    }
}
