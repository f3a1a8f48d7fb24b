//! Mean-field variational Bayes for the low rank model, and the fit for the Bayesian information criterion.
//!
//! > q(U, V) = Πᵢ N(uᵢ; mᵢ, S_U) Πⱼ N(vⱼ; mⱼ, S_V)
//!
//! The best q(U) has S_U⁻¹ = I/σ_u² + (Σⱼ mⱼmⱼᵀ + D S_V)/σ_n² and mᵢ = S_U Σⱼ yᵢⱼ mⱼ / σ_n²; the best q(V) likewise.

use std::f64::consts::{E, TAU};

use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::lgamma;
use pxfm::f_log;

use super::{LowRank, Variances};
use crate::grid::float;
use crate::linear::{cholesky, solve_lower, solve_upper};
use crate::model::{Fit, Variational};
use crate::models::hyper::{NeedsFixed, Variance};
use crate::models::rows::{Rows, dot};
use crust_math::linalg::eigen;

/// The factor of one side: the means of its rows, and the covariance (K × K, by rows) that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussians {
    pub means: Rows,
    pub covariance: Vec<f64>,
    log_determinant: f64,
}

/// q(U) q(V).
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    pub u: Gaussians,
    pub v: Gaussians,
}

impl Gaussians {
    /// Σ E[x xᵀ] over its rows.
    fn second_moment(&self) -> Vec<f64> {
        let k = self.means.columns();
        let n = float(self.means.rows());
        let mut sum: Vec<f64> = self.covariance.iter().map(|s| n * s).collect();
        for row in self.means.iter() {
            for a in 0..k {
                for b in 0..k {
                    sum[a * k + b] += row[a] * row[b];
                }
            }
        }
        sum
    }

    /// The best factor, given the other one.
    pub(super) fn best(data: &Rows, other: &Self, variance: f64, noise: f64) -> Self {
        let k = other.means.columns();
        let mut precision: Vec<f64> = other.second_moment().into_iter().map(|s| s / noise).collect();
        (0..k).for_each(|a| precision[a * k + a] += 1.0 / variance);
        let lower = cholesky(k, &precision);
        let log_determinant = -2.0 * (0..k).map(|a| f_log(lower[a * k + a])).sum::<f64>();
        let solve = |b: &[f64]| solve_upper(&lower, &solve_lower(&lower, b));
        let unit = |a: usize| (0..k).map(|b| f64::from(u8::from(a == b))).collect::<Vec<f64>>();
        let covariance = (0..k).flat_map(|a| solve(&unit(a))).collect();
        let mut means = Rows::zeros(data.rows(), k);
        for (i, y) in data.iter().enumerate() {
            let mut b = vec![0.0; k];
            for (y, mean) in y.iter().zip(other.means.iter()) {
                b.iter_mut().zip(mean).for_each(|(b, m)| *b += y * m / noise);
            }
            means.row_mut(i)[..k].copy_from_slice(&solve(&b));
        }
        Self { means, covariance, log_determinant }
    }

    /// E[log N(x; 0, variance)] + entropy.
    fn divergence_from_prior(&self, variance: f64) -> f64 {
        let (n, k) = (float(self.means.rows()), self.means.columns());
        let trace: f64 = (0..k).map(|a| self.covariance[a * k + a]).sum();
        let size = self.means.sum_of_squares() + n * trace;
        let log_prior = -0.5 * (n * float(k) * f_log(TAU * variance) + size / variance);
        log_prior + 0.5 * n * (float(k) * f_log(TAU * E) + self.log_determinant)
    }
}

impl LowRank {
    pub(super) fn known(&self, what: &'static str) -> Result<Variances, Fatal> {
        match (self.prior.rows, self.prior.columns, self.prior.noise) {
            (Variance::Fixed(rows), Variance::Fixed(columns), Variance::Fixed(noise)) => {
                Ok(Variances { rows, columns, noise })
            }
            _ => Err(Fatal::new(NeedsFixed { what, which: "hyperparameters", model: "low rank" })),
        }
    }
}

impl Variational for LowRank {
    type Factors = Factors;

    /// The best factors given means of V that are drawn from the prior.
    fn initial_factors(&mut self, stream: &mut Stream) -> Result<Factors, Fatal> {
        let known = self.known("variational Bayes")?;
        let k = self.prior.components;
        let scale = known.columns.sqrt();
        let means = Rows::from_fn(self.data.columns(), k, |_, _| scale * stream.standard_normal());
        let start = Gaussians { means, covariance: vec![0.0; k * k], log_determinant: 0.0 };
        let u = Gaussians::best(&self.data, &start, known.rows, known.noise);
        let v = Gaussians::best(&self.transposed, &u, known.columns, known.noise);
        Ok(Factors { u, v })
    }

    fn update(&mut self, factors: &mut Factors) -> Result<(), Fatal> {
        let known = self.known("variational Bayes")?;
        factors.u = Gaussians::best(&self.data, &factors.v, known.rows, known.noise);
        factors.v = Gaussians::best(&self.transposed, &factors.u, known.columns, known.noise);
        Ok(())
    }

    /// E\[R\] = Σ y² − 2 Σ yᵢⱼ mᵢ·mⱼ + ⟨Σ E\[uuᵀ\], Σ E\[vvᵀ\]⟩.
    fn bound(&mut self, factors: &Factors) -> Result<f64, Fatal> {
        let known = self.known("variational Bayes")?;
        let Factors { u, v } = factors;
        let mut cross = 0.0;
        for (y, mean) in self.data.iter().zip(u.means.iter()) {
            cross += y.iter().zip(v.means.iter()).map(|(y, other)| y * dot(mean, other)).sum::<f64>();
        }
        let moments: f64 = u.second_moment().iter().zip(v.second_moment()).map(|(a, b)| a * b).sum();
        let residual = self.data.sum_of_squares() - 2.0 * cross + moments;
        let fit = -0.5 * (self.data.entries() * f_log(TAU * known.noise) + residual / known.noise);
        Ok(fit + u.divergence_from_prior(known.rows) + v.divergence_from_prior(known.columns))
    }

    fn log_symmetries(&self) -> f64 {
        lgamma(float(self.prior.components) + 1.0)
    }
}

impl Fit for LowRank {
    /// The largest likelihood over V, and over σ_n² where that is not fixed, with U integrated out, is known: Y has
    /// independent rows with covariance σ_n² I + σ_u² VᵀV, and the best one keeps the K largest eigenvalues of YᵀY/N
    /// that exceed the noise, which is the mean of the others (Tipping and Bishop 1999). No search is needed, and the
    /// stream not used.
    fn maximum_log_likelihood(&mut self, _stream: &mut Stream) -> Result<f64, Fatal> {
        let (n, d) = (float(self.data.rows()), self.transposed.rows());
        let entry = |a: usize, b: usize| dot(self.transposed.row(a), self.transposed.row(b)) / n;
        let mut eigenvalues =
            symmetric_eigenvalues(d, &(0..d * d).map(|at| entry(at / d, at % d)).collect::<Vec<_>>())?;
        eigenvalues.sort_by(|a, b| b.total_cmp(a));
        let rest = eigenvalues.get(self.prior.components..).unwrap_or_default();
        // As many components as columns fit exactly, and the likelihood has no maximum.
        let least = SMALLEST * eigenvalues.iter().sum::<f64>() / float(d);
        let noise =
            self.prior.noise.value().unwrap_or((rest.iter().sum::<f64>() / float(rest.len().max(1))).max(least));
        let term = |(k, &value): (usize, &f64)| {
            if k < self.prior.components && value > noise { f_log(value) + 1.0 } else { f_log(noise) + value / noise }
        };
        let sum: f64 = eigenvalues.iter().enumerate().map(term).sum();
        Ok(-0.5 * n * (float(d) * f_log(TAU) + sum))
    }

    /// Rotations of the K rows of V do not count, nor do σ_u² and σ_v²: they change nothing that V could not.
    fn free_parameters(&self) -> usize {
        let k = self.prior.components;
        (k * self.data.columns()).saturating_sub(k * (k - 1) / 2) + usize::from(!self.prior.noise.is_fixed())
    }
}

/// The least variance of a fit, relative to that of the data.
const SMALLEST: f64 = 1e-9;

/// Eigenvalues of a symmetric matrix.
fn symmetric_eigenvalues(d: usize, a: &[f64]) -> Result<Vec<f64>, Fatal> {
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    eigen::decompose(a, &mut values, &mut vectors, d, &mut vec![0.0; eigen::scratch(d)]).map_err(Fatal::new)?;
    Ok(values)
}
