//! Chains × draws in one block, and the operations that diagnostics apply to them before they measure.

use super::moments::{median, quantile};
use super::ranks::normal_scores;

/// Chains of equal length, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    values: Vec<f64>,
    length: usize,
}

impl Chains {
    /// Copies the chains, each cut to the length of the shortest.
    pub(super) fn new<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let length = chains.iter().map(|chain| chain.as_ref().len()).min().unwrap_or(0);
        let values = chains.iter().flat_map(|chain| &chain.as_ref()[..length]).copied().collect();
        Self { values, length }
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Draws in each chain.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        // no values, no chunks: the size only must not be 0
        self.values.chunks_exact(self.length.max(1))
    }

    /// The first and the second half of each chain, as two chains: a trend inside a chain then shows as a difference between
    /// chains. The middle draw of an odd number is left out.
    pub(super) fn split(&self) -> Self {
        let half = self.length / 2;
        let halves = |chain: &[f64]| [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()].concat();
        Self { values: self.iter().flat_map(halves).collect(), length: half }
    }

    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().map(|&x| f(x)).collect(), length: self.length }
    }

    /// 1 where the draw satisfies the condition, else 0.
    pub(super) fn indicator(&self, condition: impl Fn(f64) -> bool) -> Self {
        self.map(|x| f64::from(u8::from(condition(x))))
    }

    /// Distances from the median: the scale of the draws as a location (the R-hat paper).
    pub(super) fn folded(&self) -> Self {
        let median = median(&self.values);
        self.map(|x| (x - median).abs())
    }

    /// Each draw replaced by the normal score of its rank among all draws of all chains.
    pub(super) fn rank_normalised(&self) -> Self {
        if self.values.iter().any(|x| x.is_nan()) {
            return self.map(|_| f64::NAN);
        }
        Self { values: normal_scores(&self.values), length: self.length }
    }

    /// The quantile of all draws together; NaN where there are none or one is NaN.
    pub(super) fn quantile(&self, probability: f64) -> f64 {
        quantile(&self.values, probability)
    }

    /// Whether statistics of variation exist: all draws are finite and not all are the same.
    pub(super) fn vary(&self) -> bool {
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in &self.values {
            if !x.is_finite() {
                return false;
            }
            least = least.min(x);
            greatest = greatest.max(x);
        }
        // posterior compares the range with ε, which takes draws on a small scale for constants: here ε is relative, so that
        // the two agree on draws of order 1
        let magnitude = least.abs().max(greatest.abs());
        !self.values.is_empty() && greatest - least > f64::EPSILON * magnitude
    }
}
