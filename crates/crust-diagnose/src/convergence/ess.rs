//! Effective sample size: how many independent draws would give the same Monte Carlo error.

use super::autocovariance::Autocovariances;
use super::chains::{Chains, vary};
use super::indicator::Indicator;
use super::moments::{mean, variance};
use super::order::Order;
use crate::number::count;

/// Probabilities of the quantiles whose effective sample sizes [`ess_tail`] compares (the R-hat paper).
pub(super) const TAILS: [f64; 2] = [0.05, 0.95];

/// ESS of the rank-normalised draws: how well the bulk of the distribution is explored.
pub fn ess_bulk<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    of_chains(&Chains::new(chains).split().rank_normalised())
}

/// The smaller ESS of the 5% and 95% quantiles.
pub fn ess_tail<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let chains = Chains::new(chains);
    let [lower, upper] = TAILS.map(|probability| of_quantile(&chains, probability));
    smaller(lower, upper)
}

/// The smaller of two effective sizes, if both exist.
pub(super) fn smaller(lower: f64, upper: f64) -> f64 {
    if lower.is_nan() || upper.is_nan() { f64::NAN } else { lower.min(upper) }
}

/// ESS for the mean.
pub fn ess_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    of_chains(&Chains::new(chains).split())
}

/// ESS for the standard deviation: that of the distances from the mean, as in posterior. (`ArviZ` squares them.)
pub fn ess_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let chains = Chains::new(chains);
    let centre = mean(chains.values());
    of_chains(&chains.map(|x| (x - centre).abs()).split())
}

/// ESS for the median.
pub fn ess_median<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    ess_quantile(chains, 0.5)
}

/// ESS for the median absolute deviation: that of whether a draw lies nearer to the median than half of them.
pub fn ess_mad<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let folded = Chains::new(chains).folded();
    of_quantile(&folded, 0.5)
}

/// ESS for a quantile: that of whether a draw lies below it.
pub fn ess_quantile<C: AsRef<[f64]>>(chains: &[C], probability: f64) -> f64 {
    of_quantile(&Chains::new(chains), probability)
}

/// ESS for the probability of the interval between two quantiles (the R-hat paper).
pub fn ess_local<C: AsRef<[f64]>>(chains: &[C], lower: f64, upper: f64) -> f64 {
    let chains = Chains::new(chains);
    let order = Order::of(chains.values());
    let (low, high) = (order.quantile(lower), order.quantile(upper));
    if low.is_nan() || high.is_nan() {
        return f64::NAN;
    }
    of_indicator(&mut Indicator::default(), &chains, |x| low <= x && x <= high)
}

fn of_quantile(chains: &Chains, probability: f64) -> f64 {
    let quantile = Order::of(chains.values()).quantile(probability);
    below(&mut Indicator::default(), chains, quantile)
}

/// ESS of whether a draw lies below a quantile, unless that is NaN.
pub(super) fn below(indicator: &mut Indicator, chains: &Chains, quantile: f64) -> f64 {
    if quantile.is_nan() { f64::NAN } else { of_indicator(indicator, chains, |x| x <= quantile) }
}

fn of_indicator(indicator: &mut Indicator, chains: &Chains, holds: impl Fn(f64) -> bool) -> f64 {
    indicator.fill(chains.halves(chains.values()), chains.length() / 2, holds);
    if indicator.varies() { effective_size(indicator) } else { f64::NAN }
}

fn of_chains(chains: &Chains) -> f64 {
    if vary(chains.range()) { effective_size(&mut chains.series()) } else { f64::NAN }
}

/// m n / τ of series that vary, with the autocorrelation time τ of Geyer's (1992) initial monotone sequence over all m
/// chains (the R-hat paper).
pub(super) fn effective_size(series: &mut impl Autocovariances) -> f64 {
    if series.length() < 3 {
        return f64::NAN;
    }
    let size = count(series.length() * series.means().len());
    // antithetic chains can make the estimate of τ arbitrarily small: posterior and Stan bound the ESS by m n log₁₀(m
    // n)
    let least_time = 1.0 / size.log10();
    size / autocorrelation_time(series).max(least_time)
}

fn autocorrelation_time(series: &mut impl Autocovariances) -> f64 {
    let length = series.length();
    let n = count(length);
    let biased = series.autocovariance(0);
    let within = biased * n / (n - 1.0);
    let means = series.means();
    let total = if means.len() > 1 { biased + variance(means) } else { biased };
    if total > within + biased {
        // no correlation is negative, whatever the lag: chains that are apart
        series.expect_all();
    }
    let mut correlation = |lag: usize| 1.0 - (within - series.autocovariance(lag)) / total;

    // Geyer: sums of neighbouring lags are positive and decrease in a reversible chain; where they cease to be, noise
    // rules
    let mut pairs: Vec<[f64; 2]> = Vec::new();
    let mut pair = [1.0, correlation(1)];
    let mut lag = 0;
    while lag + 5 < length && pair[0] + pair[1] > 0.0 {
        pairs.push(pair);
        lag += 2;
        pair = [correlation(lag), correlation(lag + 1)];
    }
    if pairs.is_empty() && pair[0] + pair[1] > 0.0 {
        // too short for any pair: two draws for one, as posterior has it
        return 2.0;
    }
    // the even lag of the first pair left out still lowers the variance of the estimate for antithetic chains
    let last_even = if pair[0] > 0.0 || pair[0] + pair[1] >= 0.0 { pair[0] } else { 0.0 };
    let mut bound = f64::INFINITY;
    let mut sum = 0.0;
    for [even, odd] in pairs {
        bound = bound.min(even + odd);
        sum += bound;
    }
    -1.0 + 2.0 * sum + last_even
}
