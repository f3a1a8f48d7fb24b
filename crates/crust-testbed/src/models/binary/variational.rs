//! Mean-field variational Bayes for binary attributes, and the fit for the Bayesian information criterion.
//!
//! > q(Z, A) = Πᵢₖ Bernoulli(zᵢₖ; rᵢₖ) Πⱼ N(aⱼ; mⱼ, S)
//!
//! Given r: S⁻¹ = I/σ_a² + Σᵢ E[zᵢzᵢᵀ]/σ_n² and m = S Σᵢ rᵢ yᵢᵀ/σ_n². Given m and S, with E[aₖ·aₗ] = mₖ·mₗ + D Sₖₗ the
//! log odds of zᵢₖ are those of πₖ − (E|aₖ|² + 2 Σ_{l≠k} rᵢₗ E[aₖ·aₗ] − 2 yᵢ·mₖ)/(2σ_n²).

use std::f64::consts::{E, TAU};

use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::{inv_logit, lgamma};
use pxfm::{f_log, f_log1p};

use super::enumerate::{LARGEST, bits, softmax};
use super::held_out::Features;
use super::sweep::Posterior;
use super::{BinaryAttributes, Hyper, Prior};
use crate::grid::float;
use crate::model::{Fit, Variational};
use crate::models::hyper::{NeedsFixed, Probabilities, Variance};
use crate::models::rows::{Rows, add_scaled, dot, vectorised};

/// q(Z) q(A).
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// rᵢₖ
    pub probabilities: Rows,
    /// mₖ by rows, K × D.
    pub means: Rows,
    /// S, K × K.
    pub covariance: Rows,
    log_determinant: f64,
}

/// Σᵢ E[zᵢ zᵢᵀ] and Σᵢ E[zᵢ] yᵢᵀ.
struct Moments {
    gram: Rows,
    cross: Rows,
}

impl Factors {
    #[inline(always)]
    fn moments(&self, data: &Rows) -> Moments {
        let k = self.means.rows();
        let mut moments = Moments { gram: Rows::zeros(k, k), cross: Rows::zeros(k, data.columns()) };
        for (r, y) in self.probabilities.iter().zip(data.iter()) {
            for a in 0..k {
                add_scaled(moments.gram.row_mut(a), r[a], r);
                moments.gram.row_mut(a)[a] += r[a] * (1.0 - r[a]);
                add_scaled(moments.cross.row_mut(a), r[a], y);
            }
        }
        moments
    }

    /// E[aₖ·aₗ]
    fn products(&self) -> Rows {
        let (k, d) = (self.means.rows(), float(self.means.columns()));
        let product = |a: usize, b: usize| dot(self.means.row(a), self.means.row(b)) + d * self.covariance.row(a)[b];
        Rows::from_fn(k, k, product)
    }
}

impl BinaryAttributes {
    pub(super) fn known(&self, what: &'static str) -> Result<Hyper, Fatal> {
        match (&self.prior.probabilities, self.prior.features, self.prior.noise) {
            (Probabilities::Fixed(probabilities), Variance::Fixed(features), Variance::Fixed(noise)) => {
                Ok(Hyper::new(probabilities.clone(), features, noise))
            }
            _ => Err(Fatal::new(NeedsFixed { what, which: "hyperparameters", model: "binary attribute" })),
        }
    }

    pub(super) fn update_features(&mut self, hyper: &Hyper, factors: &mut Factors) {
        let posterior = &mut self.scratch.posterior;
        vectorised(|| {
            let Moments { gram, cross } = factors.moments(&self.data);
            posterior.solve(&gram, &cross, hyper.features, 1.0 / hyper.noise);
        });
        let Posterior { covariance, mean, log_determinant, .. } = &self.scratch.posterior;
        factors.means.clone_from(mean);
        factors.covariance.clone_from(covariance);
        factors.log_determinant = -log_determinant;
    }

    #[inline(always)]
    pub(super) fn update_attributes(&self, hyper: &Hyper, factors: &mut Factors) {
        let products = factors.products();
        for (i, y) in self.data.iter().enumerate() {
            for k in 0..self.prior.components {
                let r = factors.probabilities.row_mut(i);
                r[k] = 0.0;
                let others = dot(r, products.row(k));
                let fit = products.row(k)[k] + 2.0 * (others - dot(y, factors.means.row(k)));
                r[k] = inv_logit(hyper.log_odds[k] - 0.5 * fit / hyper.noise);
            }
        }
    }
}

/// x log x, which is 0 at 0.
fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * f_log(x) } else { 0.0 }
}

impl Variational for BinaryAttributes {
    type Factors = Factors;

    /// Probabilities that are uniform between 0 and 1.
    fn initial_factors(&mut self, stream: &mut Stream) -> Result<Factors, Fatal> {
        let hyper = self.known("variational Bayes")?;
        let k = self.prior.components;
        let mut factors = Factors {
            probabilities: Rows::from_fn(self.data.rows(), k, |_, _| stream.uniform()),
            means: Rows::zeros(k, self.data.columns()),
            covariance: Rows::zeros(k, k),
            log_determinant: 0.0,
        };
        self.update_features(&hyper, &mut factors);
        Ok(factors)
    }

    fn update(&mut self, factors: &mut Factors) -> Result<(), Fatal> {
        let hyper = self.known("variational Bayes")?;
        vectorised(|| self.update_attributes(&hyper, factors));
        self.update_features(&hyper, factors);
        Ok(())
    }

    fn bound(&mut self, factors: &Factors) -> Result<f64, Fatal> {
        let hyper = self.known("variational Bayes")?;
        let (d, k) = (float(self.data.columns()), float(self.prior.components));
        let Moments { gram, cross } = factors.moments(&self.data);
        let products = factors.products();
        let residual = self.data.sum_of_squares() - 2.0 * dot(cross.values(), factors.means.values())
            + dot(gram.values(), products.values());
        let mut bound = -0.5 * (self.data.entries() * f_log(TAU * hyper.noise) + residual / hyper.noise);
        for r in factors.probabilities.iter() {
            for (&r, &p) in r.iter().zip(&hyper.probabilities) {
                bound += r * f_log(p) + (1.0 - r) * f_log1p(-p) - x_log_x(r) - x_log_x(1.0 - r);
            }
        }
        let size: f64 = (0..products.rows()).map(|a| products.row(a)[a]).sum();
        bound -= 0.5 * (k * d * f_log(TAU * hyper.features) + size / hyper.features);
        Ok(bound + 0.5 * d * (k * f_log(TAU * E) + factors.log_determinant))
    }

    fn log_symmetries(&self) -> f64 {
        lgamma(float(self.prior.components) + 1.0)
    }
}

/// A search ends when the log likelihood rises by less.
const SETTLED: f64 = 1e-4;
/// Rounds of a search, at most.
const ROUNDS: usize = 500;
/// The least variance of a fit, relative to that of the data.
const SMALLEST: f64 = 1e-9;
/// Settings of bits that are less probable are left out of the expectations of a search.
const NEGLIGIBLE: f64 = 1e-12;

impl Fit for BinaryAttributes {
    /// Expectation maximisation over A, and over π and σ_n² where these are not fixed, with the attributes summed out.
    fn maximum_log_likelihood(&mut self, stream: &mut Stream) -> Result<f64, Fatal> {
        let k = self.prior.components;
        if k > LARGEST {
            return Err(Fatal::new(format!(
                "a fit sums over all 2^K settings of the attributes: K is {k}, not at most {LARGEST}"
            )));
        }
        let probabilities = match &self.prior.probabilities {
            Probabilities::Fixed(values) => values.clone(),
            Probabilities::Unknown(_) => vec![0.5; k],
        };
        let spread = self.data.sum_of_squares() / self.data.entries();
        let (features, noise) = (self.prior.features.value(), self.prior.noise.value());
        let hyper = Hyper::new(probabilities, features.unwrap_or(spread), noise.unwrap_or(spread));
        let scale = hyper.features.sqrt();
        let a = Rows::from_fn(k, self.data.columns(), |_, _| scale * stream.standard_normal());
        let mut features = Features { a, hyper };
        let mut best = f64::NEG_INFINITY;
        for _ in 0..ROUNDS {
            let (log_likelihood, moments) = vectorised(|| self.expect(&features));
            if log_likelihood < best + SETTLED {
                break;
            }
            best = log_likelihood;
            // A flat prior of A, but for what keeps attributes that no case has from being singular.
            self.scratch.posterior.solve(&moments.gram, &moments.cross, 1e8, 1.0);
            features.a.clone_from(&self.scratch.posterior.mean);
            self.fit_hyperparameters(&moments, SMALLEST * spread, &mut features);
        }
        Ok(best)
    }

    /// σ_a² is no parameter of the likelihood.
    fn free_parameters(&self) -> usize {
        let Prior { components, probabilities, noise, .. } = &self.prior;
        let probabilities = if probabilities.is_fixed() { 0 } else { *components };
        components * self.data.columns() + probabilities + usize::from(!noise.is_fixed())
    }
}

impl BinaryAttributes {
    /// The π and the σ_n² that are best for given expectations and features, where they are not fixed.
    fn fit_hyperparameters(&self, moments: &Moments, least: f64, features: &mut Features) {
        let Features { a, hyper } = features;
        if !self.prior.probabilities.is_fixed() {
            let n = float(self.data.rows());
            for (k, p) in hyper.probabilities.iter_mut().enumerate() {
                *p = (moments.gram.row(k)[k] / n).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
            }
            hyper.refresh();
        }
        if !self.prior.noise.is_fixed() {
            let mut residual = self.data.sum_of_squares() - 2.0 * dot(moments.cross.values(), a.values());
            for (k, row) in a.iter().enumerate() {
                for (l, other) in a.iter().enumerate() {
                    residual += moments.gram.row(k)[l] * dot(row, other);
                }
            }
            hyper.noise = (residual / self.data.entries()).max(least);
        }
    }

    /// log p(Y | A), and the expectations given Y and A.
    #[inline(always)]
    fn expect(&self, features: &Features) -> (f64, Moments) {
        let k = self.prior.components;
        let mut moments = Moments { gram: Rows::zeros(k, k), cross: Rows::zeros(k, self.data.columns()) };
        let mut sum = 0.0;
        for y in self.data.iter() {
            let mut weights = features.logs(y);
            let (log_total, total) = softmax(&mut weights);
            sum += log_total;
            for (setting, w) in weights.iter().enumerate().filter(|(_, w)| **w > NEGLIGIBLE * total) {
                let z: Vec<f64> = bits(setting, k).collect();
                for a in (0..k).filter(|&a| z[a] > 0.0) {
                    add_scaled(&mut moments.gram.row_mut(a)[..k], w / total, &z);
                    add_scaled(moments.cross.row_mut(a), w / total, y);
                }
            }
        }
        (sum, moments)
    }
}
