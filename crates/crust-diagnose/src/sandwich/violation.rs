//! Tests that a correct implementation fails with a probability that is known and tiny.
//!
//! Reverse estimates that are significantly below forward ones cannot happen: section 5.2.2 tells how such a case led
//! to a bug in a simulator. Each test here turns "significantly" into a probability.

use super::bennett::{bennett, logistic, variance};
use super::{log_mean_exp, lower_bound, upper_bound};
use crate::number::count;
use crust_math::special::erfc;

/// A check fails if a result as extreme has at most this probability in a correct implementation.
pub const LEVEL: f64 = 1e-6;

/// The level of the approximate check of the fluctuation identity.
pub const SLOPE_LEVEL: f64 = 1e-4;

/// Forward and reverse estimates of log Z at one T.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    pub forward: &'a [f64],
    pub reverse: &'a [f64],
}

/// A bound on the probability that lower bounds L are above upper bounds U by as much as they are, for one dataset in
/// each element of `datasets` and one T in each element of that.
///
/// Given the data, forward and reverse chains are independent and their mean weights have the expectations Z and 1/Z,
/// so E[e^(L − U)] = 1: by Markov's inequality P(L − U ≥ c) ≤ e^−c. Values of expectation 1 that are not negative
/// (e-values) stay so when they are averaged, however dependent they are, and when independent ones are multiplied.
/// Rungs of one dataset are averaged; datasets, which are independent, are multiplied after a stake λ of each is put at
/// risk: Π (1 − λ + λ e^(L − U)), averaged over some λ. So one dataset that is far off is seen, and many that are off
/// by little are seen too.
pub fn markov_check(datasets: &[Vec<Exchange<'_>>]) -> f64 {
    let gaps: Vec<f64> = datasets.iter().filter(|rungs| !rungs.is_empty()).map(|rungs| evidence(rungs)).collect();
    if gaps.is_empty() {
        return 1.0;
    }
    let stake = |lambda: f64| -> f64 {
        let term = |gap: &f64| {
            if lambda >= 1.0 { *gap } else { log_add((1.0 - lambda).ln(), lambda.ln() + gap) }
        };
        gaps.iter().map(term).sum()
    };
    let stakes = [1.0, 0.5, 0.1, 0.02].map(stake);
    (-log_mean_exp(&stakes)).exp().min(1.0)
}

/// log of the mean of e^(L − U) over the rungs of a dataset.
fn evidence(rungs: &[Exchange<'_>]) -> f64 {
    let gap = |rung: &Exchange<'_>| {
        let gap = lower_bound(rung.forward) - upper_bound(rung.reverse);
        // all weights of a direction are 0: no evidence
        if gap.is_nan() { f64::NEG_INFINITY } else { gap }
    };
    log_mean_exp(&rungs.iter().map(gap).collect::<Vec<f64>>())
}

fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// A bound on the probability of the signs of the gaps δ = reverse − forward between pairs of chains, one pair for each
/// of independent datasets.
///
/// From `q_rev`(v) = `q_fwd`(v) e^(v − log Z), whatever Z is: P(δ)/P(−δ) = e^δ. So given |δ|, the sign is negative with
/// probability 1/(1 + e^|δ|), independently for each dataset. Too many negative signs are a violation; the bound is
/// Chernoff's for the sum of the signs' surprises.
pub fn exchange_check(gaps: &[f64]) -> f64 {
    // log E[e^(−λ Σ negative)] is known exactly; the sharpest λ of a grid costs a factor, which is paid
    let grid: Vec<f64> = (1..=20).map(|i| 0.25 * f64::from(i)).collect();
    let bounds = grid.iter().map(|&lambda| {
        let term = |gap: &f64| {
            let p = logistic(-gap.abs());
            let gain = if *gap < 0.0 { lambda } else { 0.0 };
            gain - (p * lambda.exp_m1()).ln_1p()
        };
        -gaps.iter().filter(|gap| gap.is_finite()).map(term).sum::<f64>()
    });
    let best = bounds.fold(0.0, f64::min);
    (best + count(grid.len()).ln()).exp().min(1.0)
}

/// The two-sided p-value of the slope of the logistic regression behind [`bennett`], which is 1 for a correct
/// implementation (the fluctuation identity). `None` if the directions overlap too little to say.
///
/// It is a score test for many *independent* chains. Reverse chains that share their start are independent only if they
/// forget it, so that a slope other than 1 may also mean slow mixing.
pub fn fluctuation_slope(exchange: Exchange<'_>) -> Option<f64> {
    /// Less information than that of so many chains in the middle of the overlap is too little for the normal
    /// approximation.
    const LEAST_INFORMATION: f64 = 5.0;
    let Exchange { forward, reverse } = exchange;
    if forward.iter().chain(reverse).any(|v| !v.is_finite()) {
        return None;
    }
    let estimate = bennett(forward, reverse);
    let m = (count(forward.len()) / count(reverse.len())).ln();
    let centred = |v: f64| v - estimate.log_z - m;
    let both = || forward.iter().chain(reverse).map(|&v| centred(v));
    let information: f64 = both().map(variance).sum();
    if information.is_nan() || information < LEAST_INFORMATION {
        return None;
    }
    let middle = both().map(|x| x * variance(x)).sum::<f64>() / information;
    let spread: f64 = both().map(|x| (x - middle).powi(2) * variance(x)).sum();
    let forward_score: f64 = forward.iter().map(|&v| -logistic(centred(v)) * (centred(v) - middle)).sum();
    let reverse_score: f64 = reverse.iter().map(|&v| logistic(-centred(v)) * (centred(v) - middle)).sum();
    let z = (forward_score + reverse_score) / spread.sqrt();
    // weights that do not vary say nothing about a slope
    (spread > 1e-12).then(|| erfc(z.abs() / std::f64::consts::SQRT_2))
}

/// The p-values of one value among others with which it is exchangeable: that it is not too large, and that it is not
/// too small. Ties count against significance, so that they are never too small themselves.
pub fn rank_p_values(value: f64, others: &[f64]) -> [f64; 2] {
    let above = others.iter().filter(|&&o| o >= value).count() + 1;
    let below = others.iter().filter(|&&o| o <= value).count() + 1;
    [above, below].map(|rank| count(rank) / count(others.len() + 1))
}

/// Fisher's combination of independent p-values: −2 Σ log p has the χ² distribution with 2n degrees of freedom if they
/// are uniform, and is smaller if they are too large. Its upper tail is e^−s Σ sⁱ/i!, i < n, with s = −Σ log p.
pub fn fisher_combination(p_values: &[f64]) -> f64 {
    let s: f64 = p_values.iter().map(|p| -p.ln()).sum();
    let mut term = 1.0;
    let mut sum = 0.0;
    for i in 0..p_values.len() {
        sum += term;
        term *= s / count(i + 1);
    }
    if p_values.is_empty() { 1.0 } else { (sum.ln() - s).exp().min(1.0) }
}
