//! Estimators that weigh draws of one distribution: likelihood weighting, importance sampling and the harmonic mean.

use crust_math::random::{Purpose, StreamKey};

use super::bridge::weigh;
use super::population::{Moving, Population};
use super::proposal::Proposal;
use super::{Shared, log_mean_error, log_mean_exp};
use crate::error::Error;
use crate::target::Target;

/// Weighted draws and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    pub log_z: f64,
    pub se: f64,
    pub log_weights: Vec<f64>,
    pub evaluations: u64,
}

impl Weights {
    /// log of the mean weight of independent draws: BDMC, Eq. 4.
    fn mean(log_weights: Vec<f64>) -> Self {
        let (log_z, se) = (log_mean_exp(&log_weights), log_mean_error(&log_weights));
        let evaluations = log_weights.len() as u64;
        Self { log_z, se, log_weights, evaluations }
    }
}

/// Draws that are in memory at the same time.
const AT_ONCE: u32 = 1024;

/// Likelihood weighting: Ẑ is the mean likelihood of draws from the prior (BDMC, section 3.1). Unbiased, and hopeless
/// unless prior and posterior are much alike.
pub fn likelihood_weighting<P: Population>(population: &mut P, draws: u32, key: StreamKey) -> Result<Weights, Error> {
    let mut log_weights = Vec::with_capacity(draws as usize);
    for first in (0..draws).step_by(AT_ONCE as usize) {
        let particles = population.draw(first..draws.min(first.saturating_add(AT_ONCE)), key)?;
        log_weights.extend(population.log_ratios(&particles, 0.0, 1.0)?);
    }
    let weights = Weights::mean(log_weights);
    if weights.log_z == f64::NEG_INFINITY {
        return Err(Error::NoLikelihood { draws: draws as usize, reason: population.rejection() });
    }
    Ok(weights)
}

/// Importance sampling: Ẑ is the mean of prior · likelihood/q over draws of a proposal q (BDMC, Eq. 4). Unbiased for
/// every proposal that has not seen the draws, if the prior is normalised.
pub fn importance<T: Target + Clone + Send>(
    target: &T,
    proposal: &Proposal,
    draws: usize,
    run: &Shared<'_>,
) -> Result<Weights, Error> {
    let key = StreamKey { step: u64::MAX, ..run.key.purpose(Purpose::FIT) };
    Ok(Weights::mean(weigh(target, proposal, draws, key, run)?))
}

/// The harmonic mean of the likelihood over draws of the posterior, chain by chain: 1/Ẑ is the mean of 1/L (BDMC, Eqs.
/// 6–7), unbiased for exact draws, but as a rule with infinite variance. The error is that between chains.
pub fn harmonic_mean(log_likelihoods: &[Vec<f64>]) -> Weights {
    let inverse = |chain: &Vec<f64>| -> Vec<f64> { chain.iter().map(|log| -log).collect() };
    let chains: Vec<f64> = log_likelihoods.iter().map(|chain| log_mean_exp(&inverse(chain))).collect();
    let log_weights: Vec<f64> = log_likelihoods.iter().flat_map(inverse).collect();
    let (log_z, se) = (-log_mean_exp(&log_weights), log_mean_error(&chains));
    Weights { log_z, se, log_weights, evaluations: 0 }
}

/// Log likelihoods along a chain of the posterior from an exact draw of it: every state is one.
pub fn posterior_log_likelihoods<P: Moving>(
    population: &mut P,
    exact: &<P as Population>::Particle,
    draws: usize,
    key: StreamKey,
) -> Result<Vec<f64>, Error> {
    let mut last = exact.clone();
    let mut log_likelihoods = Vec::with_capacity(draws);
    while log_likelihoods.len() < draws {
        let steps = (AT_ONCE as usize).min(draws - log_likelihoods.len());
        let key = key.step(key.step + log_likelihoods.len() as u64);
        let visited = population.walk(&[&last], 1.0, steps, key)?.visited.pop().unwrap_or_default();
        log_likelihoods.extend(population.log_ratios(&visited, 0.0, 1.0)?);
        last = visited.last().cloned().unwrap_or(last);
    }
    Ok(log_likelihoods)
}
