//! Estimators of log p(y), the log marginal likelihood, over any [`Target`](crate::target::Target) with a prior to draw from.
//!
//! Every one says what [`Kind`] of number it gives. An unbiased estimate of p(y) is, on the logarithmic scale, a *stochastic lower bound*:
//! by Jensen's inequality E[log Ẑ] ≤ log Z, and by Markov's P(log Ẑ > log Z + b) < e^−b (BDMC, Eq. 25). That holds only if nothing that
//! steers the estimate (schedule, kernels, proposal, numbers of draws) has seen the random numbers it is made of: all of it is settled in
//! pilot runs with numbers of their own.

mod bridge;
mod nested;
mod posterior;
mod proposal;
mod smc;
mod stones;
mod trail;
mod weighting;

pub use bridge::{Bridge, bridge};
pub use nested::{Nested, NestedSettings, nested};
pub use posterior::{Exploration, Explorer, explore};
pub use proposal::{BadProposal, Proposal};
pub use smc::{Smc, SmcSettings, smc};
pub use stones::{Stones, StonesSettings, stones};
pub use weighting::{Weights, harmonic_mean, importance, likelihood_weighting};

use crust_math::random::StreamKey;
use pxfm::{f_exp, f_log};

use crate::drive::{Control, Parallelism};
use crate::error::Error;

/// What an estimate of log p(y) is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The logarithm of an unbiased estimate of p(y): above log p(y) + b with probability below e^−b.
    StochasticLowerBound,
    /// Consistent, but on no side of the truth.
    Estimate,
}

/// Draws from the prior: one for each key.
pub type Prior<'a> = dyn FnMut(StreamKey) -> Result<Vec<f64>, Error> + 'a;

/// What all estimators of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Seed and dataset of all random numbers; purpose, chain and step are filled in.
    pub key: StreamKey,
    pub how: Parallelism,
    pub control: &'a Control,
}

impl Run<'_> {
    /// Interrupted runs have nothing to say.
    fn check_interrupt(&self) -> Result<(), Error> {
        if self.control.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// A point with its densities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particle {
    pub q: Vec<f64>,
    pub log_prior: f64,
    pub log_likelihood: f64,
}

impl Particle {
    /// log prior + log likelihood; −∞ where either has no value.
    pub fn log_joint(&self) -> f64 {
        let sum = self.log_prior + self.log_likelihood;
        if sum.is_finite() { sum } else { f64::NEG_INFINITY }
    }
}

/// log of the mean of exp: −∞ of nothing but −∞, and of nothing.
pub fn log_mean_exp(values: &[f64]) -> f64 {
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest.is_infinite() {
        return greatest;
    }
    let sum: f64 = values.iter().map(|v| f_exp(v - greatest)).sum();
    greatest + f_log(sum / float(values.len()))
}

/// The standard error of the log of the mean weight of independent draws, by the delta method: √((E[w²]/E[w]² − 1)/n).
pub fn log_mean_error(log_weights: &[f64]) -> f64 {
    let greatest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let n = float(log_weights.len());
    if greatest.is_infinite() || n < 2.0 {
        return f64::NAN;
    }
    let weights = || log_weights.iter().map(|v| f_exp(v - greatest));
    let mean = weights().sum::<f64>() / n;
    let variance = weights().map(|w| (w / mean - 1.0).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
fn float(n: usize) -> f64 {
    n as f64
}
