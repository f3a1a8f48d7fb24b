//! The logarithm of the modified Bessel function of the first kind, of real order.

use super::gamma::{digamma, lgamma};
use super::normal::LN_SQRT_TAU;
use crate::density::Partials;

/// log `I_v(x)` for v ≥ −1 and x ≥ 0, without overflow.
pub fn log_modified_bessel_first_kind(v: f64, x: f64) -> f64 {
    log_modified_bessel_first_kind_partials(v, x).value
}

/// [`log_modified_bessel_first_kind`] with its partials for v and x.
#[expect(clippy::float_cmp, reason = "the order −1 is an exact point")]
pub fn log_modified_bessel_first_kind_partials(v: f64, x: f64) -> Partials<2> {
    if v.is_nan() || x.is_nan() || v < -1.0 || x < 0.0 || v.is_infinite() {
        return Partials { value: f64::NAN, d: [f64::NAN; 2] };
    }
    if v == -1.0 {
        // I₋₁ = I₁; there the derivative for v has no simple form, and Stan has none
        let Partials { value, d } = log_modified_bessel_first_kind_partials(1.0, x);
        return Partials { value, d: [f64::NAN, d[1]] };
    }
    if x == 0.0 {
        let value = if v == 0.0 { 0.0 } else { -v.signum() * f64::INFINITY };
        return Partials { value, d: [f64::NEG_INFINITY, if v == 0.0 { 0.0 } else { v * f64::INFINITY }] };
    }
    if x == f64::INFINITY {
        return Partials { value: x, d: [0.0, 1.0] };
    }
    if x > 40.0 && v * v < x { hankel(v, x) } else { series(v, x) }
}

/// `I_v` ~ eˣ / √(2πx) Σ (−1)ᵏ aₖ(v) / xᵏ, where aₖ = Π (4v² − (2j − 1)²) / (8j), DLMF 10.40.1. The terms shrink until
/// k is about 2x, so that what they leave out is of the order of e⁻²ˣ.
fn hankel(v: f64, x: f64) -> Partials<2> {
    let (mut term, mut d_term) = (1.0_f64, 0.0_f64);
    let (mut sum, mut d_sum, mut powers) = (1.0, 0.0, 0.0);
    for k in 1..=60 {
        let k = f64::from(k);
        let odd = 2.0 * k - 1.0;
        let ratio = -(2.0 * v - odd) * (2.0 * v + odd) / (8.0 * k * x);
        d_term = d_term * ratio - term * v / (k * x);
        term *= ratio;
        sum += term;
        d_sum += d_term;
        powers -= k * term;
        if term.abs() < 1e-18 && d_term.abs() <= 1e-17 * d_sum.abs() {
            break;
        }
    }
    let value = x - 0.5 * x.ln() - LN_SQRT_TAU + sum.ln();
    Partials { value, d: [d_sum / sum, 1.0 + (powers / sum - 0.5) / x] }
}

/// Σ (x/2)²ᵏ⁺ᵛ / (k! Γ(v + k + 1)), DLMF 10.25.2, from its largest term in both directions. The terms are the weights
/// of a distribution of k, and the partials are means: of log(x/2) − ψ(v + k + 1), and of (2k + v) / x.
fn series(v: f64, x: f64) -> Partials<2> {
    let quarter = 0.25 * x * x;
    // the ratio of successive terms, (x²/4) / (k (k + v)), is 1 at k = (√(v² + x²) − v) / 2
    let peak = if v > 0.0 { 2.0 * quarter / (v.hypot(x) + v) } else { 0.5 * (v.hypot(x) - v) }.floor();
    let (mut sum, mut moment, mut digammas) = (1.0, 0.0, 0.0);
    let (mut term, mut digamma_change, mut k) = (1.0, 0.0, peak);
    while term > 1e-18 * sum {
        k += 1.0;
        term *= quarter / (k * (k + v));
        digamma_change += 1.0 / (v + k);
        sum += term;
        moment += term * (k - peak);
        digammas += term * digamma_change;
    }
    (term, digamma_change, k) = (1.0, 0.0, peak);
    while k > 0.0 && term > 1e-18 * sum {
        term *= k * (k + v) / quarter;
        digamma_change -= 1.0 / (v + k);
        k -= 1.0;
        sum += term;
        moment -= term * (peak - k);
        digammas += term * digamma_change;
    }
    let log_half = (0.5 * x).ln();
    let value = (2.0 * peak + v) * log_half - lgamma(peak + 1.0) - lgamma(v + peak + 1.0) + sum.ln();
    let dv = log_half - digamma(v + peak + 1.0) - digammas / sum;
    Partials { value, d: [dv, (v + 2.0 * (peak + moment / sum)) / x] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/bessel.txt");

    #[test]
    fn reference_values() {
        check(TABLE, "log_modified_bessel_first_kind", [1e-13, 1e-11], |a| {
            let p = log_modified_bessel_first_kind_partials(a[0], a[1]);
            [p.value, p.d[0], p.d[1]]
        });
    }

    #[test]
    fn methods_agree() {
        for (v, x) in [(0.0, 41.0), (2.5, 60.0), (6.0, 45.0), (10.0, 150.0), (-0.7, 50.0)] {
            let (h, s) = (hankel(v, x), series(v, x));
            assert!((h.value / s.value - 1.0).abs() < 1e-14, "{v} {x}");
            assert!((h.d[0] - s.d[0]).abs() < 1e-14 && (h.d[1] / s.d[1] - 1.0).abs() < 1e-14, "{v} {x}");
        }
    }

    #[test]
    fn half_order_is_elementary() {
        // I_½(x) = √(2 / (πx)) sinh(x), I_−½(x) = √(2 / (πx)) cosh(x)
        for x in [1e-3, 0.5, 3.0, 30.0] {
            let scale = (2.0 / (std::f64::consts::PI * x)).sqrt();
            assert!((log_modified_bessel_first_kind(0.5, x) - (scale * x.sinh()).ln()).abs() < 1e-14 * (1.0 + x));
            assert!((log_modified_bessel_first_kind(-0.5, x) - (scale * x.cosh()).ln()).abs() < 1e-14 * (1.0 + x));
        }
    }

    #[test]
    fn edges() {
        assert!(log_modified_bessel_first_kind(0.0, 0.0).abs() < 1e-300);
        assert!(log_modified_bessel_first_kind(1.5, 0.0) < f64::MIN);
        assert!(log_modified_bessel_first_kind(0.0, f64::INFINITY) > f64::MAX);
        for (v, x) in [(f64::NAN, 1.0), (0.0, f64::NAN), (-1.5, 1.0), (0.0, -1.0)] {
            assert!(log_modified_bessel_first_kind(v, x).is_nan());
        }
        assert!((log_modified_bessel_first_kind(-1.0, 2.0) - log_modified_bessel_first_kind(1.0, 2.0)).abs() < 1e-15);
    }
}
