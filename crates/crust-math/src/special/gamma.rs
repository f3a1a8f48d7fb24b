//! The gamma function, its logarithm and what is made of it: beta functions, binomial coefficients, factorials.

use crate::density::Partials;
use std::f64::consts::PI;

/// log |Γ(x)|, ∞ at 0 and the negative integers.
#[inline]
pub fn lgamma(x: f64) -> f64 {
    pxfm::f_lgamma(x)
}

/// The derivative of [`lgamma`].
#[inline]
pub fn digamma(x: f64) -> f64 {
    pxfm::f_digamma(x)
}

/// The derivative of [`digamma`].
#[inline]
pub fn trigamma(x: f64) -> f64 {
    pxfm::f_trigamma(x)
}

/// Γ(x). Its derivative is Γ(x) ψ(x).
#[inline]
pub fn tgamma(x: f64) -> f64 {
    pxfm::f_tgamma(x)
}

/// [`tgamma`] with its derivative.
pub fn tgamma_partials(x: f64) -> Partials<1> {
    let value = tgamma(x);
    Partials { value, d: [value * digamma(x)] }
}

/// Coefficients of the correction to Stirling's formula, B₂ₖ / (2k (2k − 1)) for k = 1…9 (DLMF 5.11.1).
const STIRLING: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
    43867.0 / 244_188.0,
];

/// From here on [`stirling_correction`] is exact to rounding.
pub(super) const STIRLING_FROM: f64 = 10.0;

/// log Γ(x) − [(x − ½) log x − x + log √(2π)] for x ≥ 10.
pub(super) fn stirling_correction(x: f64) -> f64 {
    let r = 1.0 / (x * x);
    STIRLING.iter().rev().fold(0.0_f64, |sum, c| sum.mul_add(r, *c)) / x
}

/// log |Γ(x + n)| − log |Γ(x)|, without cancellation where x is large.
pub fn lgamma_difference(x: f64, n: f64) -> f64 {
    let y = x + n;
    if x >= STIRLING_FROM && y >= STIRLING_FROM && y.is_finite() {
        let corrections = stirling_correction(y) - stirling_correction(x);
        (x - 0.5) * (n / x).ln_1p() + n * (y.ln() - 1.0) + corrections
    } else {
        lgamma(y) - lgamma(x)
    }
}

/// log Γ(1 + x) for |x| ≤ ½, with full relative accuracy around 0.
pub(super) fn lgamma1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    let rest = x - (sum - 1.0);
    rest.mul_add(digamma(sum), lgamma(sum))
}

/// log Γ(a) + log Γ(b) − log Γ(a + b)
pub fn lbeta(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low >= STIRLING_FROM && high.is_finite() {
        // Stirling's formula in all three places; the terms that remain are all negative or small
        let corrections = stirling_correction(low) + stirling_correction(high) - stirling_correction(a + b);
        let ratio = low / high;
        super::LN_SQRT_TAU - 0.5 * high.ln() + (low - 0.5) * (ratio.ln() - ratio.ln_1p()) - high * ratio.ln_1p()
            + corrections
    } else {
        lgamma(low) - lgamma_difference(high, low)
    }
}

/// [`lbeta`] with its partials.
pub fn lbeta_partials(a: f64, b: f64) -> Partials<2> {
    let both = digamma(a + b);
    Partials { value: lbeta(a, b), d: [digamma(a) - both, digamma(b) - both] }
}

/// Γ(a) Γ(b) / Γ(a + b)
pub fn beta(a: f64, b: f64) -> f64 {
    lbeta(a, b).exp()
}

/// [`beta`] with its partials.
pub fn beta_partials(a: f64, b: f64) -> Partials<2> {
    let log = lbeta_partials(a, b);
    let value = log.value.exp();
    Partials { value, d: log.d.map(|d| value * d) }
}

/// The log of the multivariate gamma function of dimension k:
/// k (k − 1) / 4 log π + Σⱼ log Γ(x + (1 − j) / 2), j = 1…k.
pub fn lmgamma(k: u32, x: f64) -> f64 {
    let dimension = f64::from(k);
    let sum: f64 = (0..k).map(|j| lgamma(x - 0.5 * f64::from(j))).sum();
    0.25 * dimension * (dimension - 1.0) * PI.ln() + sum
}

/// The derivative of [`lmgamma`] in x.
pub fn lmgamma_derivative(k: u32, x: f64) -> f64 {
    (0..k).map(|j| digamma(x - 0.5 * f64::from(j))).sum()
}

/// log of the binomial coefficient, continued to real arguments with n ≥ −1 and −1 ≤ k ≤ n + 1:
/// −log(n + 1) − log B(k + 1, n − k + 1).
pub fn lchoose(n: f64, k: f64) -> f64 {
    if k == 0.0 || k == n {
        return if n.is_nan() { n } else { 0.0 };
    }
    if n - k == -1.0 || k == -1.0 {
        return f64::NEG_INFINITY;
    }
    -n.ln_1p() - lbeta(k + 1.0, n - k + 1.0)
}

/// [`lchoose`] with its partials.
pub fn lchoose_partials(n: f64, k: f64) -> Partials<2> {
    let rest = digamma(n - k + 1.0);
    Partials { value: lchoose(n, k), d: [digamma(n + 1.0) - rest, rest - digamma(k + 1.0)] }
}

/// The binomial coefficient of integers, exact as long as it is below 2⁵³. Zero for k < 0 or k > n.
#[expect(clippy::cast_precision_loss, reason = "values above 2⁵³ are rounded, as documented")]
pub fn choose(n: i64, k: i64) -> f64 {
    if k < 0 || k > n {
        return 0.0;
    }
    let k = k.min(n - k);
    let mut product: u128 = 1;
    for i in 1..=k {
        let factor = u128::from((n - k + i).unsigned_abs());
        match product.checked_mul(factor) {
            Some(p) => product = p / u128::from(i.unsigned_abs()),
            None => return lchoose(n as f64, k as f64).exp(),
        }
    }
    product as f64
}

/// log of the falling factorial x (x − 1) … (x − n + 1) = Γ(x + 1) / Γ(x − n + 1).
pub fn log_falling_factorial(x: f64, n: f64) -> f64 {
    -lgamma_difference(x + 1.0, -n)
}

/// [`log_falling_factorial`] with its partials.
pub fn log_falling_factorial_partials(x: f64, n: f64) -> Partials<2> {
    let low = digamma(x - n + 1.0);
    Partials { value: log_falling_factorial(x, n), d: [digamma(x + 1.0) - low, low] }
}

/// log of the rising factorial x (x + 1) … (x + n − 1) = Γ(x + n) / Γ(x).
pub fn log_rising_factorial(x: f64, n: f64) -> f64 {
    lgamma_difference(x, n)
}

/// [`log_rising_factorial`] with its partials.
pub fn log_rising_factorial_partials(x: f64, n: f64) -> Partials<2> {
    let high = digamma(x + n);
    Partials { value: log_rising_factorial(x, n), d: [high - digamma(x), high] }
}

/// x (x − 1) … (x − n + 1)
pub fn falling_factorial(x: f64, n: u32) -> f64 {
    (0..n).map(|i| x - f64::from(i)).product()
}

/// x (x + 1) … (x + n − 1)
pub fn rising_factorial(x: f64, n: u32) -> f64 {
    (0..n).map(|i| x + f64::from(i)).product()
}
