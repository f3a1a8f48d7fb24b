//! Confidence intervals for how much a functional has moved (equations 2 to 4 of the paper, corrected).

use super::Item;
use super::functional::{Functional, Kind, moments, sorted};
use super::quantiles::{binomial, chi_square, student};
use crate::number::count;
use crust_math::special::{inv_Phi, inv_inc_beta};

/// An interval; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// What the approximation says of a functional: exactly if it has a formula, with an error if it was computed from
/// draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    pub value: f64,
    pub standard_error: f64,
}

impl Known {
    pub fn exactly(value: f64) -> Self {
        Self { value, standard_error: 0.0 }
    }

    /// From draws of the approximation. `efficiency` is how many independent draws one of them is worth: 1, unless they
    /// are of a Markov chain.
    pub fn of_draws(functional: &Functional, draws: &[f64], other: Option<&[f64]>, efficiency: f64) -> Self {
        const ALPHA: f64 = 0.05;
        let item = Item { functional: functional.clone(), end: draws, other, before: Self::exactly(0.0) };
        let Interval { low, high } = item.interval(ALPHA);
        let normal = inv_Phi(1.0 - 0.5 * ALPHA);
        Self { value: item.estimate(), standard_error: (high - low) / (2.0 * normal) / efficiency.sqrt() }
    }
}

impl Item<'_> {
    /// An interval for F(after) − F(approximation) at the level 1 − α. The error of what the approximation says is
    /// added in squares.
    pub fn interval(&self, alpha: f64) -> Interval {
        let after = self.interval_after(alpha);
        let estimate = self.estimate();
        let more = inv_Phi(1.0 - 0.5 * alpha) * self.before.standard_error;
        let at = estimate - self.before.value;
        Interval { low: at - (estimate - after.low).hypot(more), high: at + (after.high - estimate).hypot(more) }
    }

    /// An interval for the functional of the distribution of the ends of the chains.
    fn interval_after(&self, alpha: f64) -> Interval {
        let n = self.end.len();
        if n < 2 || self.end.iter().any(|x| !x.is_finite()) {
            return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        match self.functional.kind {
            Kind::Mean => mean(self.end, alpha),
            Kind::LogVariance => log_variance(self.end, alpha),
            Kind::Deviation => {
                let of_log = log_variance(self.end, alpha);
                Interval { low: (0.5 * of_log.low).exp(), high: (0.5 * of_log.high).exp() }
            }
            Kind::Quantile(p) => quantile(self.end, p, alpha),
            Kind::Covariance => {
                let spread = moments(&self.influence()).1.sqrt();
                let margin = student(count(n - 1), 1.0 - 0.5 * alpha) * spread / count(n).sqrt();
                Interval { low: self.estimate() - margin, high: self.estimate() + margin }
            }
            Kind::Probability => probability(self.end, alpha),
        }
    }
}

/// Equation 2: x̄ ± s/√N t(1 − α/2).
fn mean(x: &[f64], alpha: f64) -> Interval {
    let n = x.len();
    let (mean, variance) = moments(x);
    let margin = student(count(n - 1), 1.0 - 0.5 * alpha) * (variance / count(n)).sqrt();
    Interval { low: mean - margin, high: mean + margin }
}

/// Equation 3 for log σ², with s² where the paper prints s: log(ν s²/χ²(1 − α/2)), log(ν s²/χ²(α/2)).
///
/// ν is N − 1 for normal values. In general the variance of log s² is (κ − 1)/N with the kurtosis κ, as with ν = 2(N −
/// 1)/(κ − 1) degrees of freedom (Box 1953); heavier tails than the normal one's therefore widen the interval.
fn log_variance(x: &[f64], alpha: f64) -> Interval {
    let (mean, variance) = moments(x);
    if variance <= 0.0 {
        return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let n = count(x.len());
    let fourth = x.iter().map(|x| (x - mean).powi(4)).sum::<f64>() / n;
    let kurtosis = fourth / (variance * (n - 1.0) / n).powi(2);
    let degrees = ((n - 1.0) * 2.0 / (kurtosis.max(3.0) - 1.0)).max(1.0);
    let end = |p: f64| (degrees * variance / chi_square(degrees, p)).ln();
    Interval { low: end(1.0 - 0.5 * alpha), high: end(0.5 * alpha) }
}

/// The order statistics of ranks B(α/2) and B(1 − α/2) + 1 (below equation 4). Ranks 0 and N + 1 are infinitely far.
fn quantile(x: &[f64], p: f64, alpha: f64) -> Interval {
    let n = x.len();
    if !(p > 0.0 && p < 1.0) {
        return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let sorted = sorted(x);
    let low = binomial(0.5 * alpha, n, p);
    let high = binomial(1.0 - 0.5 * alpha, n, p) + 1;
    Interval { low: order_statistic(&sorted, low), high: order_statistic(&sorted, high) }
}

/// X₍ₖ₎, with X₍₀₎ = −∞ and X₍ₙ₊₁₎ = ∞.
pub(super) fn order_statistic(sorted: &[f64], rank: usize) -> f64 {
    match rank {
        0 => f64::NEG_INFINITY,
        rank => sorted.get(rank - 1).copied().unwrap_or(f64::INFINITY),
    }
}

/// Clopper & Pearson's (1934) exact interval; valid also where the event never happened.
fn probability(x: &[f64], alpha: f64) -> Interval {
    let n = count(x.len());
    let happened = x.iter().filter(|x| **x != 0.0).count();
    let k = count(happened);
    Interval {
        low: if happened == 0 { 0.0 } else { inv_inc_beta(k, n - k + 1.0, 0.5 * alpha) },
        high: if happened == x.len() { 1.0 } else { inv_inc_beta(k + 1.0, n - k, 1.0 - 0.5 * alpha) },
    }
}
