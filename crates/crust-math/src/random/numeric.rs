//! Log probabilities for the samplers, without cancellation and with the same bits on every machine.
//!
//! The textbook forms subtract numbers of size n log n: at n = 10⁹ they are off by 10⁻⁶. Loader, "Fast and accurate
//! computation of binomial probabilities" (2000), has only terms of the size of the result.

use std::f64::consts::{PI, TAU};

use pxfm::{f_log, f_log1p};

/// An integer as a number. Above 2⁵³ it is rounded, which no sampler can tell.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "rounding is meant")]
pub(super) fn float(n: i64) -> f64 {
    n as f64
}

/// A number that is known to be an integer.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the callers have integers below 2⁶³")]
pub(super) fn integer(x: f64) -> i64 {
    x as i64
}

/// log(1 + t) − t
#[inline]
pub(super) fn log1p_minus(t: f64) -> f64 {
    if t.abs() > 0.2 {
        return f_log1p(t) - t;
    }
    // log(1 + t) = 2 (v + v³/3 + v⁵/5 + …) with v = t / (2 + t), and t − 2 v = t v. Here v² < 0.0124, so that v¹⁹/19 is
    // the last term to count.
    let v = t / (2.0 + t);
    let s = v * v;
    let series = (1..=9).rev().fold(0.0, |sum, i| (sum + 1.0 / f64::from(2 * i + 1)) * s);
    2.0 * v * series - t * v
}

/// Stirling's series, B₂ₖ / (2k (2k − 1)) with the Bernoulli numbers B. From n = 16 on, what is left out is below
/// 10⁻¹⁷.
const STIRLING: [f64; 6] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];

/// log n! − log(√(2πn) (n/e)ⁿ) for n ≥ 1.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        // The factorials are exact.
        let factorial: f64 = (1..=integer(n)).map(float).product();
        return f_log(factorial) + n - (n + 0.5) * f_log(n) - 0.5 * f_log(TAU);
    }
    let r = 1.0 / (n * n);
    STIRLING.iter().rev().fold(0.0, |sum, b| sum * r + b) / n
}

/// x log(x / m) + m − x
#[inline]
fn deviance(x: f64, m: f64) -> f64 {
    -x * log1p_minus((m - x) / x)
}

/// The log probability of `k` under the Poisson distribution.
pub(super) fn log_poisson(k: f64, mean: f64) -> f64 {
    if k == 0.0 {
        return -mean;
    }
    -stirling_error(k) - deviance(k, mean) - 0.5 * f_log(TAU * k)
}

/// The log probability of `k` under the binomial distribution, where q = 1 − p.
pub(super) fn log_binomial(k: f64, n: f64, p: f64, q: f64) -> f64 {
    if k == 0.0 {
        return if n == 0.0 { 0.0 } else { n * log_of(q, p) };
    }
    if k >= n {
        return n * log_of(p, q);
    }
    let l = n - k;
    let stirling = stirling_error(n) - stirling_error(k) - stirling_error(l);
    stirling - deviance(k, n * p) - deviance(l, n * q) + 0.5 * f_log(n / (2.0 * PI * k * l))
}

/// log x, given also 1 − x: accurate where x is near 1.
#[inline]
fn log_of(x: f64, complement: f64) -> f64 {
    if complement < 0.5 { f_log1p(-complement) } else { f_log(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, relative: f64) {
        assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
    }

    #[test]
    fn log1p_minus_is_smooth_where_its_two_forms_meet() {
        for t in [-0.2, 0.2] {
            close(log1p_minus(t), f_log1p(t) - t, 1e-14);
        }
        // −t²/2 + t³/3 − t⁴/4
        close(log1p_minus(1e-8), -5e-17 + 1e-24 / 3.0, 1e-15);
    }

    #[test]
    fn stirling_error_agrees_with_factorials() {
        let mut log_factorial = 0.0;
        for n in 1..100 {
            let n = f64::from(n);
            log_factorial += n.ln();
            let direct = log_factorial - (n + 0.5) * n.ln() + n - 0.5 * TAU.ln();
            assert!((stirling_error(n) - direct).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn probabilities_sum_to_one() {
        for mean in [0.3, 9.0, 400.0] {
            let sum: f64 = (0..2000).map(|k| log_poisson(f64::from(k), mean).exp()).sum();
            close(sum, 1.0, 1e-12);
        }
        for (n, p) in [(1, 0.3), (7, 1e-5), (1000, 0.02), (1500, 0.5)] {
            let sum: f64 = (0..=n).map(|k| log_binomial(f64::from(k), f64::from(n), p, 1.0 - p).exp()).sum();
            close(sum, 1.0, 1e-12);
        }
    }
}
