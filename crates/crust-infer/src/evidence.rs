//! Estimators of log p(y), the log marginal likelihood, over any [`Population`]: densities on ℝᵈ ([`Euclidean`]) and
//! everything else with a path and kernels ([`OneByOne`]). Those that fit a density to draws of the posterior need a
//! [`Target`](crate::target::Target).
//!
//! Every one says what [`Kind`] of number it gives. An unbiased estimate of p(y) is, on the logarithmic scale, a
//! *stochastic lower bound*: by Jensen's inequality E[log Ẑ] ≤ log Z, and by Markov's P(log Ẑ > log Z + b) < e^−b
//! (BDMC, Eq. 25). That holds only if nothing that steers the estimate (schedule, kernels, proposal, numbers of draws)
//! has seen the random numbers it is made of: all of it is settled in pilot runs with numbers of their own.

mod ais;
mod bridge;
mod euclidean;
mod kind;
mod nested;
mod one_by_one;
mod population;
mod posterior;
mod proposal;
mod resample;
mod smc;
mod stones;
mod trail;
mod weighting;

pub use ais::{Annealed, ais, reverse_ais};
pub use bridge::{Bridge, bridge};
pub use euclidean::Euclidean;
pub use kind::{Combination, Kind};
pub use nested::{Nested, NestedSettings, Shrinkage, nested};
pub use one_by_one::{Constrained, OneByOne};
pub use population::{Climbers, Climbing, Crowd, Floor, Moving, Population, Walks};
pub use posterior::{Exploration, Explorer, explore};
pub use proposal::{BadProposal, Proposal};
pub use resample::{Resampling, effective_size, take};
pub use smc::{Keep, Smc, SmcSettings, find_schedule, smc};
pub use stones::{Pair, Stones, StonesSettings, stones};
pub use weighting::{Weights, harmonic_mean, importance, likelihood_weighting, posterior_log_likelihoods};

pub use crust_math::special::log_mean_exp;

use crust_math::random::StreamKey;
use pxfm::f_exp;

use crate::drive::{Control, Parallelism};
use crate::error::Error;

/// What all estimators of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    /// Seed and dataset of all random numbers; purpose, chain and step are filled in.
    pub key: StreamKey,
    pub how: Parallelism,
    pub control: &'a Control,
}

impl Shared<'_> {
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

/// The standard error of the log of the mean weight of independent draws, by the delta method: √((E\[w²\]/E\[w\]² −
/// 1)/n).
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

/// The number of a chain.
fn number(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
fn float(n: usize) -> f64 {
    n as f64
}
