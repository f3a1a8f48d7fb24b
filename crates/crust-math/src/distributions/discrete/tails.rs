//! Both tails of a distribution on the log scale, each with its own digits.
//!
//! The smaller tail is a sum or continued fraction of positive terms times one probability; the larger is its
//! complement.

use super::dual::Dual;
use crate::density::Partials;
use crate::special::log1m_exp;
use std::array;

/// log P(N ≤ n) and log P(N > n).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tails<const K: usize> {
    pub lower: Partials<K>,
    pub upper: Partials<K>,
}

impl<const K: usize> Tails<K> {
    /// n lies below the support.
    pub fn none() -> Self {
        Self { lower: Partials::constant(f64::NEG_INFINITY), upper: Partials::constant(0.0) }
    }

    /// n is the largest value or lies beyond it.
    pub fn all() -> Self {
        Self { lower: Partials::constant(0.0), upper: Partials::constant(f64::NEG_INFINITY) }
    }

    pub fn from_lower(lower: Partials<K>) -> Self {
        Self { lower, upper: complement(lower) }
    }

    pub fn from_upper(upper: Partials<K>) -> Self {
        Self { lower: complement(upper), upper }
    }

    /// P(N ≤ n)
    pub fn cdf(self) -> Partials<K> {
        let Self { lower, upper } = self;
        let (p, q) = (lower.value.exp(), upper.value.exp());
        let value = if p < 0.5 { p } else { 1.0 - q };
        // the log of an empty tail has no slope: then the other one tells
        let use_lower = q <= 0.0 || (p < 0.5 && p > 0.0);
        Partials { value, d: if use_lower { lower.d.map(|d| d * p) } else { upper.d.map(|d| -d * q) } }
    }
}

/// log(1 − exp(tail))
fn complement<const K: usize>(tail: Partials<K>) -> Partials<K> {
    let value = log1m_exp(tail.value.min(0.0));
    let odds = (tail.value - value).exp();
    Partials { value, d: tail.d.map(|d| if d == 0.0 { 0.0 } else { -odds * d }) }
}

/// The continued fraction 1 + d₁ / (1 + d₂ / (1 + …)) with
/// `I_x(a, b)` = x^a (1 − x)^b / (a B(a, b)) / fraction (Abramowitz & Stegun 26.5.8).
///
/// It converges after about √max(a, b) steps where x ≤ (a + 1) / (a + b + 2).
pub(super) fn beta_fraction<const M: usize>(a: Dual<M>, b: Dual<M>, x: Dual<M>) -> Dual<M> {
    let one = Dual::constant(1.0);
    let (mut c, mut d, mut fraction) = (one, Dual::constant(0.0), one);
    let (mut m, mut last) = (0.0, f64::INFINITY);
    while m < last {
        let even = a + 2.0 * m;
        let odd_step = -((a + m) * (a + b + m) * x / (even * (even + 1.0)));
        m += 1.0;
        let even = a + 2.0 * m;
        let even_step = (b + -m) * x * m / ((even + -1.0) * even);
        let mut change = one;
        for step in [odd_step, even_step] {
            c = step / c + 1.0;
            d = (step * d + 1.0).recip();
            change = change * c * d;
        }
        fraction = fraction * change;
        // the derivatives converge as fast, from a larger error
        if last.is_infinite() && (change.value - 1.0).abs() < 4e-16 {
            last = m + 0.5 * m + 4.0;
        }
        if m > 1e6 {
            break;
        }
    }
    fraction
}

/// Whether [`beta_fraction`] converges fast.
pub(super) fn beta_fraction_is_fast(a: f64, b: f64, x: f64) -> bool {
    x <= (a + 1.0) / (a + b + 2.0)
}

/// Adds log Σ to a log probability: the weights of the sum are relative to that probability.
pub(super) fn sum_from<const K: usize, const M: usize>(
    first: Partials<K>,
    sum: Dual<M>,
    arguments: [usize; M],
) -> Partials<K> {
    let mut tail = first;
    tail.value += sum.value.ln();
    for (&argument, slope) in arguments.iter().zip(sum.d) {
        tail.d[argument] += slope / sum.value;
    }
    tail
}

/// Σ over k ≥ K of the terms with t[k] = 1 for k = K and ratio t[k+1] / t[k] = (k + r)(k + β) / ((k + 1)(k + s)), as a
/// series in 1 / K: good where K is at least ten times s. The coefficients follow from ρ(k) = 1 + ratio(k) ρ(k + 1),
/// power by power.
pub(super) fn power_law_remainder<const M: usize>(k: f64, r: Dual<M>, beta: Dual<M>, s: Dual<M>) -> Dual<M> {
    const ORDER: usize = 14;
    let zero = Dual::constant(0.0);
    let numerator = [Dual::constant(1.0), r + beta, r * beta];
    let mut ratio = [zero; ORDER];
    for i in 0..ORDER {
        let mut sum = if i < 3 { numerator[i] } else { zero };
        if i >= 1 {
            sum = sum - (s + 1.0) * ratio[i - 1];
        }
        if i >= 2 {
            sum = sum - s * ratio[i - 2];
        }
        ratio[i] = sum;
    }
    // in round j the series of ratio(k) (1 + 1/k)^(1 − j), which multiplies the coefficient of k^(1 − j)
    let mut product: [Dual<M>; ORDER] = array::from_fn(|i| if i == 0 { ratio[0] } else { ratio[i] + ratio[i - 1] });
    let mut pending = [zero; ORDER];
    pending[0] = Dual::constant(1.0);
    let (mut total, mut power) = (zero, k);
    for j in 0..ORDER - 1 {
        let coefficient = -(pending[j] / product[1]);
        total += coefficient * power;
        for i in 2..ORDER - j {
            pending[j + i - 1] += coefficient * product[i];
        }
        for i in 1..ORDER {
            product[i] = product[i] - product[i - 1];
        }
        power /= k;
    }
    total
}
