//! R-hat: how much longer chains could still shrink the scale of the draws, 1 at convergence.

use super::chains::Chains;
use super::moments::{mean, variance};
use crate::number::count;

/// Rank-normalised split R-hat, the greater of bulk and tail (the R-hat paper): posterior's `rhat`, `ArviZ`'s
/// method "rank".
pub fn rhat<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let chains = Chains::new(chains);
    let bulk = basic(&chains.split().rank_normalised());
    // posterior folds about the median of all draws, then splits
    let tail = basic(&chains.folded().split().rank_normalised());
    if tail.is_nan() { tail } else { bulk.max(tail) }
}

/// Split R-hat of the draws as they are: posterior's `rhat_basic`, `ArviZ`'s method "split".
pub fn rhat_split<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    basic(&Chains::new(chains).split())
}

/// R-hat of whole chains as they are (Gelman & Rubin 1992), NaN for one chain: `ArviZ`'s method "identity".
pub fn rhat_identity<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    basic(&Chains::new(chains))
}

/// The bulk part of [`rhat`]: `ArviZ`'s method `z_scale`.
pub fn rhat_z_scale<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    basic(&Chains::new(chains).split().rank_normalised())
}

/// R-hat of distances from the median: `ArviZ`'s method "folded", which splits first. It differs from the tail part of [`rhat`]
/// only for chains of odd length, whose middle draw is then not part of the median.
pub fn rhat_folded<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    basic(&Chains::new(chains).split().folded().rank_normalised())
}

/// √(((n − 1)/n W + B/n) / W) with the within-chain variance W and n times the variance of the chains' means B
/// (the R-hat paper).
fn basic(chains: &Chains) -> f64 {
    if !chains.vary() {
        return f64::NAN;
    }
    let n = count(chains.length());
    let means: Vec<f64> = chains.iter().map(mean).collect();
    let variances: Vec<f64> = chains.iter().map(variance).collect();
    let between = n * variance(&means);
    let within = mean(&variances);
    ((between / within + n - 1.0) / n).sqrt()
}
