//! The regularised incomplete gamma functions and their logarithms, with both partial derivatives.
//!
//! Every method works on the side of x that it can compute with a small relative error, as a log probability with
//! derivatives; see [`tail`]. The derivative for a is that of the series, of the continued fraction (by differentiating
//! its recurrence) or the integral of log t − ψ(a), which has no change of sign on the side in question.

use super::gamma::{STIRLING_FROM, digamma, lgamma, lgamma1p, stirling_correction};
use super::normal::LN_SQRT_TAU;
use super::tail::{Tail, integrate, log1p_minus};
use crate::density::Partials;
use std::f64::consts::LN_2;

/// From this shape on the density is so close to normal that quadrature takes fewer terms than series.
const LARGE: f64 = 2000.0;
/// Terms of a series or continued fraction; 9 √a are needed, and a is at most [`LARGE`].
const MAX_TERMS: u32 = 2000;

/// P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)
pub fn gamma_p(a: f64, x: f64) -> f64 {
    tail(a, x).side(true).value
}

/// Q(a, x) = 1 − P(a, x)
pub fn gamma_q(a: f64, x: f64) -> f64 {
    tail(a, x).side(false).value
}

/// [`gamma_p`] with its partials for a and x.
pub fn gamma_p_partials(a: f64, x: f64) -> Partials<2> {
    tail(a, x).side(true)
}

/// [`gamma_q`] with its partials for a and x.
pub fn gamma_q_partials(a: f64, x: f64) -> Partials<2> {
    tail(a, x).side(false)
}

/// log P(a, x), without underflow, with its partials for a and x.
pub fn log_gamma_p_partials(a: f64, x: f64) -> Partials<2> {
    tail(a, x).log_side(true)
}

/// log Q(a, x), without underflow, with its partials for a and x.
pub fn log_gamma_q_partials(a: f64, x: f64) -> Partials<2> {
    tail(a, x).log_side(false)
}

/// log P(a, x), without underflow.
pub fn log_gamma_p(a: f64, x: f64) -> f64 {
    log_gamma_p_partials(a, x).value
}

/// log Q(a, x), without underflow.
pub fn log_gamma_q(a: f64, x: f64) -> f64 {
    log_gamma_q_partials(a, x).value
}

/// The side of x whose log probability is computed directly.
fn tail(a: f64, x: f64) -> Tail<2> {
    if a.is_nan() || x.is_nan() || a <= 0.0 || x < 0.0 || (a.is_infinite() && x.is_infinite()) {
        return Tail { is_lower: true, log: Partials { value: f64::NAN, d: [f64::NAN; 2] } };
    }
    if x == 0.0 {
        return at_zero(a);
    }
    if a == f64::INFINITY || x == f64::INFINITY {
        return Tail::empty(a == f64::INFINITY);
    }
    if a >= LARGE {
        return quadrature(a, x);
    }
    if a < 1.0 && x <= 1.0 {
        let log_scale = a * x.ln() - lgamma1p(a);
        return if log_scale > -LN_2 { upper_series(a, x, log_scale) } else { lower_series(a, x) };
    }
    if x < a + 1.0 && a >= 1.0 { lower_series(a, x) } else { continued_fraction(a, x) }
}

/// At x = 0 the lower side is empty. Its density is 0, 1 or ∞: the derivative of P, which has no logarithm here.
fn at_zero(a: f64) -> Tail<2> {
    let density = if a < 1.0 {
        f64::INFINITY
    } else if a > 1.0 {
        0.0
    } else {
        1.0
    };
    Tail { is_lower: false, log: Partials { value: 0.0, d: [0.0, -density] } }
}

/// log(xᵃ e⁻ˣ / Γ(a)). For large a the terms of the size of a log a are taken out (Loader 2000).
fn log_power(a: f64, x: f64) -> f64 {
    if a < STIRLING_FROM {
        return a * x.ln() - x - lgamma(a);
    }
    a * log1p_minus((x - a) / a, x / a) + 0.5 * a.ln() - LN_SQRT_TAU - stirling_correction(a)
}

/// P = xᵃ e⁻ˣ / Γ(a + 1) Σ xⁿ / ((a + 1) … (a + n)), DLMF 8.11.4. All terms are positive, and so are the terms of its
/// derivative negative.
fn lower_series(a: f64, x: f64) -> Tail<2> {
    let (mut term, mut d_term) = (1.0, 0.0);
    let (mut sum, mut d_sum) = (1.0, 0.0);
    for n in 1..=MAX_TERMS {
        let next = a + f64::from(n);
        let ratio = x / next;
        d_term = ratio * (d_term - term / next);
        term *= ratio;
        sum += term;
        d_sum += d_term;
        if term < sum * f64::EPSILON * 0.1 && d_term.abs() <= d_sum.abs() * f64::EPSILON {
            break;
        }
    }
    let log_scale = if a < 0.5 { a * x.ln() - x - lgamma1p(a) } else { log_power(a, x) - a.ln() };
    let da = x.ln() - digamma(a + 1.0) + d_sum / sum;
    Tail { is_lower: true, log: Partials { value: log_scale + sum.ln(), d: [da, a / (x * sum)] } }
}

/// Q = 1 − eᴸ (1 + a J) for small a and x, where L = `log_scale` = log(xᵃ / Γ(a + 1)) and
/// J = Σ (−x)ⁿ / (n! (a + n)), n ≥ 1 (DLMF 8.7.1). 1 − eᴸ does not cancel as 1 − P would for P near 1.
fn upper_series(a: f64, x: f64, log_scale: f64) -> Tail<2> {
    let (mut power, mut j, mut d_j) = (1.0, 0.0, 0.0);
    for n in 1..=30 {
        let n = f64::from(n);
        power *= -x / n;
        let term = power / (a + n);
        j += term;
        d_j -= term / (a + n);
    }
    let scale = log_scale.exp();
    let q = -log_scale.exp_m1() - scale * a * j;
    let d_log_scale = x.ln() - digamma(1.0 + a);
    let dq = -scale * (d_log_scale * (1.0 + a * j) + j + a * d_j);
    let density = a * scale * (-x).exp() / x;
    Tail { is_lower: false, log: Partials { value: q.ln(), d: [dq / q, -density / q] } }
}

/// Q = xᵃ e⁻ˣ / Γ(a) / (x + 1 − a − 1 (1 − a) / (x + 3 − a − 2 (2 − a) / …)), DLMF 8.9.2, by the method of Lentz in the
/// form of Thompson and Barnett (1986), with its derivative for a carried along.
fn continued_fraction(a: f64, x: f64) -> Tail<2> {
    let b0 = x + 1.0 - a;
    let (mut fraction, mut d_log_fraction) = (b0, -1.0 / b0);
    let (mut c, mut dc) = (b0, -1.0);
    let (mut d, mut dd) = (0.0, 0.0);
    for n in 1..=MAX_TERMS {
        let n = f64::from(n);
        let (numerator, d_numerator) = (n * (a - n), n);
        let denominator = b0 + 2.0 * n;
        let inverse = denominator + numerator * d;
        dd = -(-1.0 + d_numerator * d + numerator * dd) / (inverse * inverse);
        d = 1.0 / inverse;
        dc = -1.0 + (d_numerator - numerator * dc / c) / c;
        c = denominator + numerator / c;
        let (step, d_step) = (c * d, dc / c + dd / d);
        fraction *= step;
        d_log_fraction += d_step;
        if (step - 1.0).abs() < f64::EPSILON && d_step.abs() <= 1e-14 * d_log_fraction.abs() {
            break;
        }
    }
    let value = log_power(a, x) - fraction.ln();
    Tail { is_lower: false, log: Partials { value, d: [x.ln() - digamma(a) - d_log_fraction, -fraction / x] } }
}

/// For large a: with t = x (1 + u), u = ±s, the density relative to that at x is exp(−c s + (a − 1) (log(1 + u) − u)),
/// which falls at least as fast as a normal tail. The derivative for a is the mean of log t − ψ(a).
fn quadrature(a: f64, x: f64) -> Tail<2> {
    const NEGLIGIBLE: f64 = 45.0;
    let is_lower = x < a;
    let sign = if is_lower { -1.0 } else { 1.0 };
    // s is in units of x, so that nothing underflows for a tiny x
    let slope = sign * (x - (a - 1.0));
    let mut width = 2.0 * NEGLIGIBLE / (slope + (slope * slope + 2.0 * NEGLIGIBLE * (a - 1.0)).sqrt());
    if is_lower {
        width = width.min(1.0);
    }
    let [mass, log_moment] = integrate(width, |s| {
        let u = sign * s;
        let relative = (-slope * s + (a - 1.0) * log1p_minus(u, 1.0 + u)).exp();
        [relative, relative * u.ln_1p()]
    });
    let value = log_power(a, x) + mass.ln();
    let da = x.ln() - digamma(a) + log_moment / mass;
    Tail { is_lower, log: Partials { value, d: [da, -sign / (mass * x)] } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::{check, finite_difference};

    const TABLE: &str = include_str!("reference/incomplete_gamma.txt");

    fn row(p: Partials<2>) -> [f64; 3] {
        [p.value, p.d[0], p.d[1]]
    }

    // A probability of e⁻⁶⁰⁰ comes from an exponent that is rounded to 1e-13: bounds are for |log p| up to 690.
    #[test]
    fn reference_values() {
        check(TABLE, "gamma_p", [2e-13, 1e-11], |a| row(gamma_p_partials(a[0], a[1])));
        check(TABLE, "gamma_q", [2e-13, 1e-11], |a| row(gamma_q_partials(a[0], a[1])));
        check(TABLE, "log_gamma_p", [2e-13, 1e-11], |a| row(log_gamma_p_partials(a[0], a[1])));
        check(TABLE, "log_gamma_q", [2e-13, 1e-11], |a| row(log_gamma_q_partials(a[0], a[1])));
    }

    #[test]
    fn recurrence_in_a() {
        // Q(a + 1, x) − Q(a, x) = xᵃ e⁻ˣ / Γ(a + 1), DLMF 8.8.6, also across the change of method at LARGE
        for (a, x) in
            [(0.2, 0.5), (0.2, 2.0), (3.0, 3.9), (50.0, 45.0), (1999.5, 1980.0), (1999.5, 2020.0), (1e7, 1.0003e7)]
        {
            let step = gamma_q(a + 1.0, x) - gamma_q(a, x);
            let expected = (log_power(a, x) - a.ln()).exp();
            assert!((step - expected).abs() < 1e-13, "{a} {x}: {step} {expected}");
            assert!((gamma_p(a, x) + gamma_q(a, x) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn methods_agree() {
        for (a, x) in [(2000.0, 1990.0), (3000.0, 3050.0), (2500.0, 2000.0), (2500.0, 3100.0)] {
            let series = if x < a { lower_series(a, x) } else { continued_fraction(a, x) };
            let (s, q) = (row(series.log_side(true)), row(quadrature(a, x).log_side(true)));
            for i in 0..3 {
                assert!((s[i] / q[i] - 1.0).abs() < 1e-11, "{a} {x} [{i}]: {} {}", s[i], q[i]);
            }
        }
        for (a, x) in [(0.3_f64, 0.9_f64), (0.9, 0.7), (0.05, 0.02)] {
            let upper = row(upper_series(a, x, a * x.ln() - lgamma1p(a)).side(true));
            let lower = row(lower_series(a, x).side(true));
            for i in 0..3 {
                assert!((upper[i] / lower[i] - 1.0).abs() < 1e-13, "{a} {x} [{i}]: {} {}", upper[i], lower[i]);
            }
        }
    }

    #[test]
    fn partials_are_differences() {
        for (a, x) in [(0.4, 0.3), (0.4, 2.0), (5.0, 3.0), (5.0, 9.0), (3e3, 2.95e3), (3e3, 3.1e3)] {
            let d = gamma_p_partials(a, x).d;
            let numeric = [
                finite_difference(|a| gamma_p(a, x), a, 0.02 * a.sqrt()),
                finite_difference(|x| gamma_p(a, x), x, 0.02 * x.sqrt()),
            ];
            for (d, n) in d.iter().zip(numeric) {
                assert!((d - n).abs() < 1e-9, "{a} {x}: {d} {n}");
            }
        }
    }

    #[test]
    fn far_tails() {
        // Q(1, x) = e⁻ˣ; and the leading term of Q(a, x) where x is much larger than a
        assert!((log_gamma_q(1.0, 1e6) / -1e6 - 1.0).abs() < 1e-15);
        let p = log_gamma_q_partials(2.0, 1e8);
        assert!((p.value - (-1e8 + 1e8_f64.ln_1p())).abs() < 1e-7 && (p.d[1] + 1.0).abs() < 1e-7);
        let p = log_gamma_p_partials(1e5, 1e-300);
        let leading = 1e5 * 1e-300_f64.ln() - lgamma(1e5 + 1.0);
        assert!((p.value / leading - 1.0).abs() < 1e-14 && (p.d[1] / 1e305 - 1.0).abs() < 1e-14);
        assert!(log_gamma_p(1e9, 1e3).is_finite() && log_gamma_q(1e9, 2e9).is_finite());
        assert!((gamma_p(1e14, 1e14) - 0.5).abs() < 1e-7);
    }

    #[test]
    fn edges() {
        for a in [0.5, 1.0, 30.0] {
            assert!(gamma_p(a, 0.0).abs() < 1e-300 && (gamma_q(a, 0.0) - 1.0).abs() < 1e-300);
            assert!((gamma_p(a, f64::INFINITY) - 1.0).abs() < 1e-300 && gamma_q(a, f64::INFINITY).abs() < 1e-300);
            assert!(log_gamma_p(a, 0.0) < f64::MIN && log_gamma_q(a, f64::INFINITY) < f64::MIN);
        }
        assert!((gamma_p_partials(1.0, 0.0).d[1] - 1.0).abs() < 1e-300);
        assert!(gamma_p_partials(0.5, 0.0).d[1] > f64::MAX);
        for (a, x) in [(f64::NAN, 1.0), (1.0, f64::NAN), (-1.0, 1.0), (1.0, -1.0), (0.0, 1.0)] {
            assert!(gamma_p(a, x).is_nan() && log_gamma_q(a, x).is_nan(), "{a} {x}");
        }
    }
}
