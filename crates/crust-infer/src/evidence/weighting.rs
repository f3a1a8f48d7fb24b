//! Estimators that weigh draws of one distribution: likelihood weighting, importance sampling and the harmonic mean.

use crust_math::random::{Purpose, StreamKey};

use super::bridge::weigh;
use super::posterior::Exploration;
use super::proposal::Proposal;
use super::trail::look;
use super::{Prior, Run, log_mean_error, log_mean_exp};
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

/// Likelihood weighting: Ẑ is the mean likelihood of draws from the prior (BDMC, section 3.1). Unbiased, and hopeless unless prior and
/// posterior are much alike.
pub fn likelihood_weighting<T: Target + Clone + Send>(
    target: &T,
    prior: &mut Prior<'_>,
    draws: u32,
    run: &Run<'_>,
) -> Result<Weights, Error> {
    let key = run.key.purpose(Purpose::PRIOR);
    let points = (0..draws).map(|k| prior(key.chain(k))).collect::<Result<Vec<_>, _>>()?;
    let looked = look(target, points, run)?;
    let weight = |p: &super::Particle| if p.log_joint().is_finite() { p.log_likelihood } else { f64::NEG_INFINITY };
    let weights = Weights::mean(looked.particles.iter().map(weight).collect());
    if weights.log_z == f64::NEG_INFINITY {
        return Err(Error::NoLikelihood { draws: draws as usize, reason: looked.reason });
    }
    Ok(weights)
}

/// Importance sampling: Ẑ is the mean of prior · likelihood/q over draws of a proposal q (BDMC, Eq. 4). Unbiased for every proposal that has not
/// seen the draws, if the prior is normalised.
pub fn importance<T: Target + Clone + Send>(
    target: &T,
    proposal: &Proposal,
    draws: usize,
    run: &Run<'_>,
) -> Result<Weights, Error> {
    let key = StreamKey { step: u64::MAX, ..run.key.purpose(Purpose::FIT) };
    Ok(Weights::mean(weigh(target, proposal, draws, key, run)?))
}

/// The harmonic mean of the likelihood over draws of the posterior: 1/Ẑ is the mean of 1/L (BDMC, Eq. 8), unbiased for exact draws, but as a rule
/// with infinite variance. The error is that between chains.
pub fn harmonic_mean(exploration: &Exploration) -> Weights {
    let inverse = |chain: &Vec<super::Particle>| -> Vec<f64> { chain.iter().map(|p| -p.log_likelihood).collect() };
    let chains: Vec<f64> = exploration.chains.iter().map(|chain| log_mean_exp(&inverse(chain))).collect();
    let log_weights: Vec<f64> = exploration.chains.iter().flat_map(inverse).collect();
    let (log_z, se) = (-log_mean_exp(&log_weights), log_mean_error(&chains));
    Weights { log_z, se, log_weights, evaluations: 0 }
}
