//! All statistics of a row of the summary at once: the draws are copied and sorted once, and nothing is computed twice.

use super::autocovariance::Series;
use super::chains::{Chains, Range, range, vary};
use super::ess::{TAILS, below, effective_size, smaller};
use super::indicator::Indicator;
use super::mcse::of_squares;
use super::moments::{MAD_SCALE, mean, total};
use super::order::Order;
use super::ranks::Scores;
use super::rhat::{basic, greater};
use crate::number::count;
use std::sync::Arc;

/// What the functions of the same names give.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) mean: f64,
    pub(crate) mcse_mean: f64,
    pub(crate) sd: f64,
    pub(crate) mcse_sd: f64,
    pub(crate) median: f64,
    pub(crate) mad: f64,
    pub(crate) ess_bulk: f64,
    pub(crate) ess_tail: f64,
    pub(crate) rhat: f64,
    pub(crate) quantiles: Vec<f64>,
}

/// Memory that one quantity after the other uses.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    draws: Chains,
    squares: Vec<f64>,
    order: Order,
    folded: Order,
    scores: Arc<Scores>,
    /// The score of each draw.
    scored: Vec<f64>,
    series: Series,
    indicator: Indicator,
}

impl Workspace {
    /// Memory for quantities whose ranks have these scores.
    pub(crate) fn new(scores: Arc<Scores>) -> Self {
        Self { scores, ..Self::default() }
    }

    /// The statistics of one quantity, with its quantiles at these probabilities.
    pub(crate) fn statistics<C: AsRef<[f64]>>(&mut self, chains: &[C], quantiles: &[f64]) -> Statistics {
        self.draws.fill(chains);
        let mean = self.distances_from_mean();
        let n = count(self.draws.values().len());
        let sd = if n < 2.0 { f64::NAN } else { (total(&self.squares) / (n - 1.0)).sqrt() };
        self.order.sort(self.draws.values());
        let median = self.order.median();
        let quantiles = quantiles.iter().map(|&p| self.order.quantile(p)).collect();
        let [lower, upper] = TAILS.map(|p| below(&mut self.indicator, &self.draws, self.order.quantile(p)));
        let mad = self.fold(median);
        self.forget_middle_draws();
        let mcse_sd = self.mcse_sd();
        let ess_mean = self.ess_mean();
        let (ess_bulk, bulk) = self.bulk();
        let rhat = if mad.is_nan() { f64::NAN } else { greater(bulk, self.tail()) };
        let ess_tail = smaller(lower, upper);
        let mcse_mean = sd / ess_mean.sqrt();
        Statistics { mean, mcse_mean, sd, mcse_sd, median, mad, ess_bulk, ess_tail, rhat, quantiles }
    }

    /// The mean; sets the squared distances from it.
    fn distances_from_mean(&mut self) -> f64 {
        let centre = mean(self.draws.values());
        self.squares.clear();
        self.squares.extend(self.draws.values().iter().map(|x| (x - centre) * (x - centre)));
        centre
    }

    /// Sorts the distances from the median, and returns the median of them. An infinite median has no distances to
    /// draws that are equal to it, and these are more than the middle draws of chains.
    fn fold(&mut self, median: f64) -> f64 {
        if !median.is_finite() {
            return f64::NAN;
        }
        self.folded.of_distances(&self.order, median);
        MAD_SCALE * self.folded.median()
    }

    /// Ranks are those among the halves of chains.
    fn forget_middle_draws(&mut self) {
        let n = self.draws.length();
        if !n.is_multiple_of(2) {
            self.order.retain(|place| place % n != n / 2);
            self.folded.retain(|place| place % n != n / 2);
        }
    }

    fn ess_mean(&mut self) -> f64 {
        if !vary(self.order.range()) {
            return f64::NAN;
        }
        self.series.fill(self.draws.halves(self.draws.values()), self.draws.length() / 2);
        effective_size(&mut self.series)
    }

    fn mcse_sd(&mut self) -> f64 {
        self.series.fill(self.draws.halves(&self.squares), self.draws.length() / 2);
        let ranges = self.draws.halves(&self.squares).map(range);
        let range = ranges.reduce(|a, b| a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)))).flatten();
        let ess = if vary(range) { effective_size(&mut self.series) } else { f64::NAN };
        of_squares(&self.squares, ess)
    }

    /// The effective sample size and R-hat of the ranks.
    fn bulk(&mut self) -> (f64, f64) {
        let range = self.rank(|workspace| &workspace.order);
        let rhat = basic(&mut self.series, range);
        (if vary(range) { effective_size(&mut self.series) } else { f64::NAN }, rhat)
    }

    /// R-hat of the ranks of the distances from the median.
    fn tail(&mut self) -> f64 {
        let range = self.rank(|workspace| &workspace.folded);
        basic(&mut self.series, range)
    }

    /// Makes series of the normal scores of ranks, and returns the range of the scores.
    fn rank(&mut self, order: impl Fn(&Self) -> &Order) -> Range {
        let ranked = order(self).sorted().len();
        order(self).range()?;
        if self.scores.len() != ranked {
            self.scores = Scores::among(ranked, 1);
        }
        let mut scored = std::mem::take(&mut self.scored);
        scored.resize(self.draws.values().len(), 0.0);
        let range = self.scores.write(order(self), &mut scored);
        self.series.fill(self.draws.halves(&scored), self.draws.length() / 2);
        self.scored = scored;
        Some(range)
    }
}
