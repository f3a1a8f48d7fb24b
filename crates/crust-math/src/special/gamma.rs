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
pub(crate) const STIRLING: [f64; 9] = [
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

/// A polynomial with the given coefficients at p, and its divided difference (f(p) − f(q)) / (p − q), by Horner's rule.
fn polynomial_difference(coefficients: impl DoubleEndedIterator<Item = f64>, p: f64, q: f64) -> (f64, f64) {
    let step = |(value, difference): (f64, f64), c: f64| (value.mul_add(p, c), difference.mul_add(q, value));
    coefficients.rev().fold((0.0, 0.0), step)
}

/// 1/y² − 1/x² where y = x + n.
fn inverse_square_difference(x: f64, y: f64, n: f64) -> f64 {
    -n * (x + y) / (x * x * y * y)
}

/// How often x is to be increased by one until it and x + n are where Stirling's formula holds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive integer")]
fn shifts(x: f64, y: f64) -> u32 {
    (STIRLING_FROM - x.min(y)).ceil().max(0.0) as u32
}

/// log |Γ(x + n)| − log |Γ(x)|, without cancellation where n is small or x is large.
pub fn lgamma_difference(x: f64, n: f64) -> f64 {
    let y = x + n;
    if !(x > 0.0 && y > 0.0 && x.is_finite() && y.is_finite()) || (n.abs() > 0.5 && x.min(y) < STIRLING_FROM) {
        return lgamma(y) - lgamma(x);
    }
    // Γ(x + n) / Γ(x) = Γ(x + m + n) / Γ(x + m) / Π (1 + n / (x + k)), k = 0…m − 1
    let mut shifted = 0.0;
    let m = shifts(x, y);
    for k in 0..m {
        shifted += (n / (x + f64::from(k))).ln_1p();
    }
    let x = x + f64::from(m);
    let y = x + n;
    let inverse = 1.0 / y;
    let (value, difference) = polynomial_difference(STIRLING.into_iter(), inverse * inverse, 1.0 / (x * x));
    let corrections = (difference * inverse_square_difference(x, y, n) - n * value * inverse) / x;
    (x - 0.5) * (n / x).ln_1p() + n * (y.ln() - 1.0) + corrections - shifted
}

/// ψ(x + n) − ψ(x), without cancellation where n is small or x is large.
pub fn digamma_difference(x: f64, n: f64) -> f64 {
    let y = x + n;
    if !(x > 0.0 && y > 0.0 && x.is_finite() && y.is_finite()) {
        return digamma(y) - digamma(x);
    }
    let mut shifted = 0.0;
    let m = shifts(x, y);
    for k in 0..m {
        let low = x + f64::from(k);
        shifted += n / (low * (low + n));
    }
    let x = x + f64::from(m);
    let y = x + n;
    // ψ(x) ~ log x − 1/(2x) − Σ B₂ₖ / (2k x²ᵏ), DLMF 5.11.2, where B₂ₖ / 2k is (2k − 1) times that of Stirling's
    // formula
    let (q, p) = (1.0 / (x * x), 1.0 / (y * y));
    let terms = STIRLING.iter().enumerate().map(|(k, c)| c * (2.0 * index(k) + 1.0));
    let (value, difference) = polynomial_difference(terms, p, q);
    // the polynomial starts at the first power of 1/x²: f(p) p − f(q) q = f(p) (p − q) + (f(p) − f(q)) q
    let series = (value + difference * q) * inverse_square_difference(x, y, n);
    (n / x).ln_1p() + 0.5 * n / (x * y) - series + shifted
}

#[expect(clippy::cast_precision_loss, reason = "an index into a short table")]
fn index(k: usize) -> f64 {
    k as f64
}

/// The n-th derivative of [`digamma`], for n ≥ 1 and x > 0, by recurrence and its asymptotic series (DLMF 5.15.8–9):
/// (−1)ⁿ⁺¹ ψ⁽ⁿ⁾(x) ~ (n−1)!/xⁿ + n!/(2xⁿ⁺¹) + Σ B₂ₖ (2k+n−1)! / ((2k)! x²ᵏ⁺ⁿ). NaN for x ≤ 0, unless n is 1 or 2.
pub fn polygamma(n: u32, x: f64) -> f64 {
    if n == 0 || x.is_nan() {
        return digamma(x);
    }
    if n == 1 {
        return trigamma(x);
    }
    if x <= 0.0 {
        return if n == 2 { tetragamma_reflected(x) } else { f64::NAN };
    }
    let order = f64::from(n);
    let factorial: f64 = (2..n).map(f64::from).product();
    let exponent = -n.cast_signed();
    let mut sum = 0.0;
    let mut at = x;
    // the terms shrink until 2k + n is near 2π x
    while at < 12.0 + order {
        sum += order * factorial * at.powi(exponent - 1);
        at += 1.0;
    }
    let scale = factorial * at.powi(exponent);
    // ratio of the k-th term to `scale`: B₂ₖ n (n + 1) … (n + 2k − 1) / ((2k)! x²ᵏ), and B₂ₖ = 2k (2k − 1) c_k
    let (mut series, mut product) = (1.0 + 0.5 * order / at, 1.0);
    for (k, c) in STIRLING.iter().enumerate() {
        let twice = 2.0 * index(k) + 2.0;
        product *= (order + twice - 2.0) * (order + twice - 1.0) / (twice * (twice - 1.0) * at * at);
        series += c * twice * (twice - 1.0) * product;
    }
    sum += scale * series;
    if n.is_multiple_of(2) { -sum } else { sum }
}

/// ψ″(x) = ψ″(1 − x) − 2π³ cot(πx) / sin²(πx) (DLMF 5.15.6).
fn tetragamma_reflected(x: f64) -> f64 {
    if x.fract() == 0.0 {
        return f64::NAN;
    }
    let (sine, cosine) = pxfm::f_sincospi(x);
    polygamma(2, 1.0 - x) - 2.0 * PI.powi(3) * cosine / sine.powi(3)
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
    Partials { value: lbeta(a, b), d: [-digamma_difference(a, b), -digamma_difference(b, a)] }
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
#[expect(clippy::float_cmp, reason = "the poles are at exact integers")]
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
    let rest = n - k + 1.0;
    Partials { value: lchoose(n, k), d: [digamma_difference(rest, k), digamma_difference(k + 1.0, n - 2.0 * k)] }
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
    let low = x - n + 1.0;
    Partials { value: log_falling_factorial(x, n), d: [digamma_difference(low, n), digamma(low)] }
}

/// log of the rising factorial x (x + 1) … (x + n − 1) = Γ(x + n) / Γ(x).
pub fn log_rising_factorial(x: f64, n: f64) -> f64 {
    lgamma_difference(x, n)
}

/// [`log_rising_factorial`] with its partials.
pub fn log_rising_factorial_partials(x: f64, n: f64) -> Partials<2> {
    Partials { value: log_rising_factorial(x, n), d: [digamma_difference(x, n), digamma(x + n)] }
}

/// x (x − 1) … (x − n + 1), a polynomial, with its derivative for x.
pub fn falling_factorial_partials(x: f64, n: u32) -> Partials<1> {
    factors((0..n).map(|i| x - f64::from(i)))
}

/// x (x + 1) … (x + n − 1), a polynomial, with its derivative for x.
pub fn rising_factorial_partials(x: f64, n: u32) -> Partials<1> {
    factors((0..n).map(|i| x + f64::from(i)))
}

/// x (x − 1) … (x − n + 1)
pub fn falling_factorial(x: f64, n: u32) -> f64 {
    falling_factorial_partials(x, n).value
}

/// x (x + 1) … (x + n − 1)
pub fn rising_factorial(x: f64, n: u32) -> f64 {
    rising_factorial_partials(x, n).value
}

/// A product of factors each of which has the derivative 1. The product rule also holds where a factor is 0.
fn factors(factors: impl Iterator<Item = f64>) -> Partials<1> {
    let (value, d) = factors.fold((1.0, 0.0_f64), |(product, d), f| (product * f, d.mul_add(f, product)));
    Partials { value, d: [d] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/gamma.txt");

    fn row<const N: usize, const M: usize>(p: Partials<N>) -> [f64; M] {
        std::array::from_fn(|i| if i == 0 { p.value } else { p.d[i - 1] })
    }

    #[test]
    fn gamma_and_derivatives() {
        check(TABLE, "lgamma", [1e-15, 0.0], |a| [lgamma(a[0])]);
        check(TABLE, "digamma", [1e-15, 0.0], |a| [digamma(a[0])]);
        check(TABLE, "trigamma", [1e-15, 0.0], |a| [trigamma(a[0])]);
        check(TABLE, "tgamma", [1e-15, 1e-15], |a| row::<1, 2>(tgamma_partials(a[0])));
    }

    #[test]
    fn polygammas() {
        check(TABLE, "polygamma2", [1e-14, 0.0], |a| [polygamma(2, a[0])]);
        check(TABLE, "polygamma5", [1e-14, 0.0], |a| [polygamma(5, a[0])]);
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the table has small integers")]
    fn products() {
        check(TABLE, "lmgamma", [1e-14, 1e-14], |a| {
            [lmgamma(a[0] as u32, a[1]), lmgamma_derivative(a[0] as u32, a[1])]
        });
        check(TABLE, "rising_factorial", [1e-14; 2], |a| row::<1, 2>(rising_factorial_partials(a[0], a[1] as u32)));
        check(TABLE, "falling_factorial", [1e-14; 2], |a| row::<1, 2>(falling_factorial_partials(a[0], a[1] as u32)));
    }

    #[test]
    fn beta_function() {
        check(TABLE, "lbeta", [1e-14, 1e-12], |a| row::<2, 3>(lbeta_partials(a[0], a[1])));
    }

    #[test]
    fn binomial_coefficient() {
        check(TABLE, "lchoose", [1e-14, 1e-12], |a| row::<2, 3>(lchoose_partials(a[0], a[1])));
    }

    #[test]
    fn log_factorials() {
        let rising = |a: &[f64]| row::<2, 3>(log_rising_factorial_partials(a[0], a[1]));
        check(TABLE, "log_rising_factorial", [2e-14, 1e-12], rising);
        let falling = |a: &[f64]| row::<2, 3>(log_falling_factorial_partials(a[0], a[1]));
        check(TABLE, "log_falling_factorial", [2e-14, 1e-12], falling);
    }

    #[test]
    fn differences_of_close_arguments() {
        for x in [0.01, 0.7, 3.0, 9.5, 20.0, 1e4] {
            let n = 1e-7;
            // three terms of Taylor's series around x leave a relative error of n³ / x³
            let lgammas = n * (digamma(x) + n * (trigamma(x) / 2.0 + n * polygamma(2, x) / 6.0));
            let digammas = n * (trigamma(x) + n * (polygamma(2, x) / 2.0 + n * polygamma(3, x) / 6.0));
            assert!((lgamma_difference(x, n) / lgammas - 1.0).abs() < 1e-13, "{x}");
            assert!((digamma_difference(x, n) / digammas - 1.0).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn integers_are_exact() {
        assert_eq!(choose(5, 2).to_bits(), 10.0_f64.to_bits());
        assert_eq!(choose(52, 5).to_bits(), 2_598_960.0_f64.to_bits());
        assert_eq!(choose(60, 30).to_bits(), 118_264_581_564_861_424.0_f64.to_bits());
        assert_eq!(choose(3, 4).to_bits(), 0.0_f64.to_bits());
        assert!((choose(1000, 500) / 2.702_882_409_454_366e299 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn reflection_and_recurrence() {
        for x in [0.1, 0.37, 0.5, 0.93, 2.2, 7.9] {
            let sine = (PI * x).sin();
            assert!((tgamma(x) * tgamma(1.0 - x) * sine / PI - 1.0).abs() < 1e-13, "{x}");
            assert!((lgamma(x + 1.0) - lgamma(x) - x.ln()).abs() < 1e-14, "{x}");
            for n in 1..6 {
                let step = polygamma(n, x) - polygamma(n, x + 1.0);
                let factorial: f64 = (1..=n).map(f64::from).product();
                let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
                let expected = sign * factorial / x.powi(n.cast_signed() + 1);
                assert!((step / expected - 1.0).abs() < 1e-9, "{n} {x}");
            }
        }
    }

    #[test]
    fn edges() {
        for x in [0.0, -0.0, -1.0, -17.0, f64::INFINITY] {
            assert!(lgamma(x) > f64::MAX, "{x}");
        }
        for f in [lgamma, digamma, trigamma, tgamma, |x| polygamma(3, x), |x| lbeta(x, 1.0), |x| lchoose(x, 1.0)] {
            assert!(f(f64::NAN).is_nan());
        }
        assert!(lchoose(3.0, 0.0).abs() < f64::MIN_POSITIVE && lchoose(3.0, 3.0).abs() < f64::MIN_POSITIVE);
        assert!(lchoose(3.0, 4.0) < f64::MIN && lchoose(3.0, -1.0) < f64::MIN);
        assert!(lbeta(0.0, 1.0) > f64::MAX);
    }
}
