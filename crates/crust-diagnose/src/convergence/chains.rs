//! Chains × draws in one block, and the operations that diagnostics apply to them before they measure.

use super::autocovariance::Series;
use super::moments::median;
use super::order::Order;
use super::ranks::Scores;
use crust_math::lanes::{Kernel, dispatch};

/// Chains of equal length, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    values: Vec<f64>,
    length: usize,
}

/// The least and the greatest draw, where there are draws and none is NaN.
pub(super) type Range = Option<(f64, f64)>;

impl Chains {
    /// Copies the chains, each cut to the length of the shortest.
    pub(super) fn new<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let mut block = Self::default();
        block.fill(chains);
        block
    }

    /// Takes other chains.
    pub(super) fn fill<C: AsRef<[f64]>>(&mut self, chains: &[C]) {
        self.length = chains.iter().map(|chain| chain.as_ref().len()).min().unwrap_or(0);
        self.values.clear();
        chains.iter().for_each(|chain| self.values.extend_from_slice(&chain.as_ref()[..self.length]));
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

    /// The first and the second half of each chain of a block that is laid out as this one is: a trend inside a chain
    /// then shows as a difference between chains. The middle draw of an odd number is left out.
    pub(super) fn halves<'a>(&self, block: &'a [f64]) -> impl Iterator<Item = &'a [f64]> {
        let half = self.length / 2;
        block.chunks_exact(self.length.max(1)).flat_map(move |chain| [&chain[..half], &chain[chain.len() - half..]])
    }

    /// The halves as chains.
    pub(super) fn split(&self) -> Self {
        Self { values: self.halves(&self.values).flatten().copied().collect(), length: self.length / 2 }
    }

    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().map(|&x| f(x)).collect(), length: self.length }
    }

    /// Distances from the median: the scale of the draws as a location (the R-hat paper).
    pub(super) fn folded(&self) -> Self {
        let median = median(&self.values);
        self.map(|x| (x - median).abs())
    }

    /// Each draw replaced by the normal score of its rank among all draws of all chains.
    pub(super) fn rank_normalised(&self) -> Self {
        let order = Order::of(&self.values);
        let mut values = vec![f64::NAN; self.values.len()];
        if order.range().is_some() {
            Scores::among(values.len(), 1).write(&order, &mut values);
        }
        Self { values, length: self.length }
    }

    pub(super) fn series(&self) -> Series {
        let mut series = Series::default();
        series.fill(self.iter(), self.length);
        series
    }

    pub(super) fn range(&self) -> Range {
        range(&self.values)
    }
}

pub(super) fn range(values: &[f64]) -> Range {
    dispatch(FindRange(values))
}

struct FindRange<'a>(&'a [f64]);

impl Kernel for FindRange<'_> {
    type Output = Range;

    #[inline(always)]
    fn run(self) -> Range {
        let (mut least, mut greatest) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
        // a NaN that was seen, as it is neither less nor greater than anything
        let mut missing = [0.0; 8];
        let mut see = |i: usize, x: f64| {
            least[i] = if x < least[i] { x } else { least[i] };
            greatest[i] = if x > greatest[i] { x } else { greatest[i] };
            missing[i] = if x.is_nan() { x } else { missing[i] };
        };
        let (chunks, rest) = self.0.as_chunks::<8>();
        for chunk in chunks {
            for (i, &x) in chunk.iter().enumerate() {
                see(i, x);
            }
        }
        for (i, &x) in rest.iter().enumerate() {
            see(i, x);
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let greatest = greatest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let exists = !self.0.is_empty() && !missing.iter().any(|x| x.is_nan());
        exists.then_some((least, greatest))
    }
}

/// Whether statistics of variation exist: all draws are finite and not all are the same.
pub(super) fn vary(range: Range) -> bool {
    // posterior compares the range with ε, which takes draws on a small scale for constants: here ε is relative, so
    // that the two agree on draws of order 1
    range.is_some_and(|(least, greatest)| {
        let magnitude = least.abs().max(greatest.abs());
        magnitude.is_finite() && greatest - least > f64::EPSILON * magnitude
    })
}
