//! Mean-field variational Bayes for clustering, and the fit for the Bayesian information criterion.
//!
//! > q(z, θ) = Πᵢ Categorical(zᵢ; rᵢ) Πₖ N(θₖ; mₖ, vₖ I)
//!
//! Given r, with Rₖ = Σᵢ rᵢₖ: vₖ = 1/(1/σ_θ² + Rₖ/σ_n²) and mₖ = vₖ/σ_n² Σᵢ rᵢₖ yᵢ. Given m and v:
//! log rᵢₖ = log πₖ − (|yᵢ − mₖ|² + D vₖ)/(2σ_n²), up to a constant.

use std::f64::consts::{E, TAU};

use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::{lgamma, log_sum_exp_slice};
use pxfm::{f_exp, f_log};

use super::{Clustering, Prior};
use crate::grid::float;
use crate::model::{Fit, Variational};
use crate::models::hyper::{NeedsFixed, Variance, Weights};
use crate::models::rows::{Rows, add_scaled, distance, dot, vectorised};

/// q(z) q(θ).
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// rᵢₖ
    pub responsibilities: Rows,
    /// mₖ
    pub means: Rows,
    /// vₖ
    pub variances: Vec<f64>,
}

/// Hyperparameters that are known.
pub(super) struct Known {
    log_weights: Vec<f64>,
    between: f64,
    within: f64,
}

impl Clustering {
    pub(super) fn known(&self, what: &'static str) -> Result<Known, Fatal> {
        match (&self.prior.weights, self.prior.between, self.prior.within) {
            (Weights::Fixed(weights), Variance::Fixed(between), Variance::Fixed(within)) => {
                Ok(Known { log_weights: weights.iter().map(|&w| f_log(w)).collect(), between, within })
            }
            _ => Err(Fatal::new(NeedsFixed { what, which: "hyperparameters", model: "clustering" })),
        }
    }

    /// Responsibilities that are uniform on the simplex, without centres.
    fn random_factors(&self, stream: &mut Stream) -> Result<Factors, Fatal> {
        let k = self.prior.components;
        let mut responsibilities = Rows::zeros(self.data.rows(), k);
        for case in 0..self.data.rows() {
            stream.dirichlet(&vec![1.0; k], &mut responsibilities.row_mut(case)[..k]).map_err(Fatal::new)?;
        }
        Ok(Factors { responsibilities, means: Rows::zeros(k, self.data.columns()), variances: vec![0.0; k] })
    }

    /// q(θ) given q(z).
    #[inline(always)]
    pub(super) fn update_centres(&self, known: &Known, factors: &mut Factors) {
        let Factors { responsibilities, means, variances } = factors;
        means.fill(0.0);
        let mut totals = vec![0.0; variances.len()];
        for (y, r) in self.data.iter().zip(responsibilities.iter()) {
            for (k, total) in totals.iter_mut().enumerate() {
                *total += r[k];
                add_scaled(means.row_mut(k), r[k], y);
            }
        }
        for (k, total) in totals.into_iter().enumerate() {
            variances[k] = 1.0 / (1.0 / known.between + total / known.within);
            let scale = variances[k] / known.within;
            means.row_mut(k).iter_mut().for_each(|m| *m *= scale);
        }
    }

    /// log πₖ + E[log p(yᵢ | θₖ)] for all k.
    #[inline(always)]
    fn expected_logs(&self, known: &Known, factors: &Factors, case: usize) -> Vec<f64> {
        let d = float(self.data.columns());
        let constant = d * f_log(TAU * known.within);
        let log = |k: usize| {
            let spread = distance(self.data.row(case), factors.means.row(k)) + d * factors.variances[k];
            known.log_weights[k] - 0.5 * (constant + spread / known.within)
        };
        (0..self.prior.components).map(log).collect()
    }

    /// q(z) given q(θ).
    #[inline(always)]
    pub(super) fn update_assignments(&self, known: &Known, factors: &mut Factors) {
        for case in 0..self.data.rows() {
            let logs = self.expected_logs(known, factors, case);
            let total = log_sum_exp_slice(&logs);
            for (r, log) in factors.responsibilities.row_mut(case).iter_mut().zip(logs) {
                *r = f_exp(log - total);
            }
        }
    }
}

impl Variational for Clustering {
    type Factors = Factors;

    fn initial_factors(&mut self, stream: &mut Stream) -> Result<Factors, Fatal> {
        let known = self.known("variational Bayes")?;
        let mut factors = self.random_factors(stream)?;
        self.update_centres(&known, &mut factors);
        Ok(factors)
    }

    fn update(&mut self, factors: &mut Factors) -> Result<(), Fatal> {
        let known = self.known("variational Bayes")?;
        vectorised(|| {
            self.update_assignments(&known, factors);
            self.update_centres(&known, factors);
        });
        Ok(())
    }

    fn bound(&mut self, factors: &Factors) -> Result<f64, Fatal> {
        let known = self.known("variational Bayes")?;
        let d = float(self.data.columns());
        let mut bound = 0.0;
        for (case, r) in factors.responsibilities.iter().enumerate() {
            for (log, &r) in self.expected_logs(&known, factors, case).into_iter().zip(r) {
                if r > 0.0 {
                    bound += r * (log - f_log(r));
                }
            }
        }
        for (m, &v) in factors.means.iter().zip(&factors.variances) {
            let log_prior = -0.5 * (d * f_log(TAU * known.between) + (dot(m, m) + d * v) / known.between);
            bound += log_prior + 0.5 * d * f_log(TAU * E * v);
        }
        Ok(bound)
    }

    fn log_symmetries(&self) -> f64 {
        lgamma(float(self.prior.components) + 1.0)
    }
}

/// A search ends when the log likelihood rises by less.
const SETTLED: f64 = 1e-6;
/// Rounds of a search, at most.
const ROUNDS: usize = 2000;
/// The least variance of a fit, relative to that of the data.
const SMALLEST: f64 = 1e-9;

impl Fit for Clustering {
    /// Expectation maximisation over the centres, and over π and σ_n² where these are not fixed; assignments are summed
    /// out. The updates are those of variational Bayes without the prior of the centres, whose spread is 0.
    fn maximum_log_likelihood(&mut self, stream: &mut Stream) -> Result<f64, Fatal> {
        let mut factors = self.random_factors(stream)?;
        let k = self.prior.components;
        let log_weights = match &self.prior.weights {
            Weights::Fixed(weights) => weights.iter().map(|&w| f_log(w)).collect(),
            Weights::Unknown { .. } => vec![-f_log(float(k)); k],
        };
        let spread = self.data.sum_of_squares() / self.data.entries();
        let within = self.prior.within.value().unwrap_or(spread);
        let mut known = Known { log_weights, between: f64::INFINITY, within };
        let mut best = f64::NEG_INFINITY;
        for _ in 0..ROUNDS {
            self.update_centres(&known, &mut factors);
            factors.variances.fill(0.0);
            self.fit_hyperparameters(&factors, SMALLEST * spread, &mut known);
            let logs = (0..self.data.rows()).map(|case| log_sum_exp_slice(&self.expected_logs(&known, &factors, case)));
            let log_likelihood: f64 = logs.sum();
            self.update_assignments(&known, &mut factors);
            if log_likelihood < best + SETTLED {
                break;
            }
            best = log_likelihood;
        }
        Ok(best)
    }

    /// σ_θ² is no parameter of the likelihood.
    fn free_parameters(&self) -> usize {
        let Prior { components, weights, within, .. } = &self.prior;
        let weights = if weights.is_fixed() { 0 } else { components - 1 };
        components * self.data.columns() + weights + usize::from(!within.is_fixed())
    }
}

impl Clustering {
    /// The π and the σ_n² that are best for given responsibilities and centres, where they are not fixed.
    fn fit_hyperparameters(&self, factors: &Factors, least: f64, known: &mut Known) {
        if self.prior.weights.is_fixed() && self.prior.within.is_fixed() {
            return;
        }
        let (mut totals, mut squares) = (vec![0.0; self.prior.components], 0.0);
        for (y, r) in self.data.iter().zip(factors.responsibilities.iter()) {
            for (k, (total, centre)) in totals.iter_mut().zip(factors.means.iter()).enumerate() {
                *total += r[k];
                squares += r[k] * distance(y, centre);
            }
        }
        if !self.prior.weights.is_fixed() {
            let n = float(self.data.rows());
            known.log_weights = totals.iter().map(|total| f_log(total / n)).collect();
        }
        if !self.prior.within.is_fixed() {
            // As many centres as cases fit exactly, and the likelihood has no maximum.
            known.within = (squares / self.data.entries()).max(least);
        }
    }
}
