//! Bounds on a log marginal likelihood, and on the divergence from the posterior, from forward and reverse annealing.
//!
//! Throughout, `forward` holds log w of forward chains and `reverse` holds −log w of reverse chains, so that both are
//! estimates of log Z, where Z = `Z_T`/Z₁ is the marginal likelihood. Equation numbers are those of the BREAD preprint.

mod bennett;
mod tails;
#[cfg(test)]
mod tests;
mod violation;

pub use bennett::{Bennett, bennett};
pub(crate) use tails::small_sample_quantile;
pub use tails::{JeffreysLimit, LIMIT_LEVEL, MeanLimit, jeffreys_limit, mean_limit};
pub use violation::{
    Exchange, LEVEL, SLOPE_LEVEL, exchange_check, fisher_combination, fluctuation_slope, markov_check, rank_p_values,
};

pub use crust_math::special::log_mean_exp;

use crate::convergence::{mean, sd};
use crate::number::count;

/// The stochastic lower bound on log Z of section 2.3: log of the mean weight. E\[w\] = Z (Eq. 23), so by Jensen's
/// inequality E[log mean w] ≤ log Z, and by Markov's P(log mean w > log Z + b) < e^−b.
pub fn lower_bound(forward: &[f64]) -> f64 {
    log_mean_exp(forward)
}

/// The stochastic upper bound of section 2.4: `E[w_rev]` = 1/Z, so minus log of the mean reverse weight is above log Z
/// − b with probability at least 1 − e^−b. The mean of weights stays unbiased when the reverse chains share their exact
/// start.
pub fn upper_bound(reverse: &[f64]) -> f64 {
    let weights: Vec<f64> = reverse.iter().map(|r| -r).collect();
    -log_mean_exp(&weights)
}

/// An estimate with the standard error that the chains show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub se: f64,
}

/// B̂ = −log `w_rev` − log w of section 3.1, averaged over *single* chains. E[B̂] = B ≥ J (Eqs. 8, 11–13), the Jeffreys
/// divergence between the posterior and the distribution of the samples that one forward chain makes. Averages of
/// weights inside of the logarithm would bound the divergence of another sampler, which resamples from all chains: they
/// are not used.
pub fn jeffreys_bound(forward: &[f64], reverse: &[f64]) -> Estimate {
    let se = error_of_mean(forward).hypot(error_of_mean(reverse));
    Estimate { value: mean(reverse) - mean(forward), se }
}

/// Quartiles of B̂ over pairs of a forward and a reverse chain.
pub fn jeffreys_quartiles(forward: &[f64], reverse: &[f64]) -> [f64; 3] {
    /// All pairs of 1,000 chains each.
    const MOST_PAIRS: usize = 1_000_000;
    if forward.is_empty() || reverse.is_empty() {
        return [f64::NAN; 3];
    }
    // with more chains, each forward chain meets the same number of reverse ones
    let partners = (MOST_PAIRS / forward.len()).clamp(1, reverse.len());
    let mut gaps = Vec::with_capacity(forward.len() * partners);
    for (i, w) in forward.iter().enumerate() {
        gaps.extend((0..partners).map(|s| reverse[(i + s) % reverse.len()] - w));
    }
    quartiles(&gaps)
}

/// E[U − log w] ≥ KL(q ‖ p) for an upper bound U on log Z (after Eq. 12): how much of what the sampler produces lies
/// where the posterior does not. U is independent of the forward chains, and in expectation above log Z.
pub fn kl_forward_bound(forward: &[f64], upper: f64) -> Estimate {
    Estimate { value: upper - mean(forward), se: error_of_mean(forward) }
}

/// E[−log `w_rev` − L] ≥ KL(p ‖ q) for a lower bound L on log Z: how much of the posterior the sampler misses.
pub fn kl_reverse_bound(reverse: &[f64], lower: f64) -> Estimate {
    Estimate { value: mean(reverse) - lower, se: error_of_mean(reverse) }
}

/// Quartiles, interpolated as R does by default; infinities are allowed, NaN is not.
pub fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| {
        let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
        let (index, rest) = (last * quarter / 4, last * quarter % 4);
        let (low, high) = (sorted[index], sorted[(index + 1).min(last)]);
        // the same infinity twice has no difference
        if rest == 0 || low >= high { low } else { low + (high - low) * count(rest) / 4.0 }
    })
}

/// Not a number for one chain, or if a chain has weight 0.
fn error_of_mean(values: &[f64]) -> f64 {
    sd(values) / count(values.len()).sqrt()
}
