//! R-hat: how much longer chains could still shrink the scale of the draws, 1 at convergence.

use super::autocovariance::{Autocovariances, Series};
use super::chains::{Chains, Range, vary};
use super::moments::variance;
use crate::number::count;

/// Rank-normalised split R-hat, the greater of bulk and tail (the R-hat paper): posterior's `rhat`, `ArviZ`'s
/// method "rank".
pub fn rhat<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let chains = Chains::new(chains);
    let bulk = of_chains(&chains.split().rank_normalised());
    // posterior folds about the median of all draws, then splits
    let tail = of_chains(&chains.folded().split().rank_normalised());
    greater(bulk, tail)
}

/// R-hat of the two parts: none if that of the tail does not exist.
pub(super) fn greater(bulk: f64, tail: f64) -> f64 {
    if tail.is_nan() { tail } else { bulk.max(tail) }
}

/// Split R-hat of the draws as they are: posterior's `rhat_basic`, `ArviZ`'s method "split".
pub fn rhat_split<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    of_chains(&Chains::new(chains).split())
}

/// R-hat of whole chains as they are (Gelman & Rubin 1992), NaN for one chain: `ArviZ`'s method "identity".
pub fn rhat_identity<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    of_chains(&Chains::new(chains))
}

/// The bulk part of [`rhat`]: `ArviZ`'s method `z_scale`.
pub fn rhat_z_scale<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    of_chains(&Chains::new(chains).split().rank_normalised())
}

/// R-hat of distances from the median: `ArviZ`'s method "folded", which splits first. It differs from the tail part of
/// [`rhat`] only for chains of odd length, whose middle draw is then not part of the median.
pub fn rhat_folded<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    of_chains(&Chains::new(chains).split().folded().rank_normalised())
}

fn of_chains(chains: &Chains) -> f64 {
    basic(&mut chains.series(), chains.range())
}

/// √(((n − 1)/n W + B/n) / W) with the within-chain variance W and n times the variance of the chains' means B
/// (the R-hat paper).
pub(super) fn basic(series: &mut Series, range: Range) -> f64 {
    if !vary(range) {
        return f64::NAN;
    }
    let n = count(series.length());
    let between = n * variance(series.means());
    let within = series.autocovariance(0) * n / (n - 1.0);
    ((between / within + n - 1.0) / n).sqrt()
}
