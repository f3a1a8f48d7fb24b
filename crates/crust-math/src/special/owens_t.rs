//! Owen's T function.

use super::normal::{FRAC_1_SQRT_TAU, Phi, erf, std_normal_density};
use super::tail::integrate;
use crate::density::Partials;
use std::f64::consts::FRAC_1_SQRT_2;

/// T(h, a) = 1/(2π) ∫₀ᵃ exp(−h² (1 + t²) / 2) / (1 + t²) dt: the probability of a standard normal X > h and 0 < Y < a
/// X.
pub fn owens_t(h: f64, a: f64) -> f64 {
    if h.is_nan() || a.is_nan() {
        return f64::NAN;
    }
    let (h, size) = (h.abs(), a.abs());
    let value = if size <= 1.0 {
        integral(h, size)
    } else {
        // Owen (1956): T(h, a) + T(ah, 1/a) in terms of normal probabilities, here of the upper tails
        let scaled = if h == 0.0 { 0.0 } else { h * size };
        let (p, q) = (Phi(-h), Phi(-scaled));
        0.5 * (p + q) - p * q - integral(scaled, 1.0 / size)
    };
    value.copysign(a)
}

/// [`owens_t`] with its partials for h and a.
pub fn owens_t_partials(h: f64, a: f64) -> Partials<2> {
    let product = if h == 0.0 { 0.0 } else { h * a };
    let dh = -0.5 * std_normal_density(h) * erf(product * FRAC_1_SQRT_2);
    let da = std_normal_density(h) * std_normal_density(product) / (1.0 + a * a);
    Partials { value: owens_t(h, a), d: [dh, da] }
}

/// T for 0 ≤ a ≤ 1, up to where the integrand has fallen to nothing.
fn integral(h: f64, a: f64) -> f64 {
    const NEGLIGIBLE: f64 = 40.0;
    if a == 0.0 || h.is_infinite() {
        return 0.0;
    }
    let width = a.min((2.0 * NEGLIGIBLE).sqrt() / h);
    let [mass] = integrate(width, |t| [(-0.5 * (h * t) * (h * t)).exp() / (1.0 + t * t)]);
    std_normal_density(h) * mass * FRAC_1_SQRT_TAU
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::{check, finite_difference};

    #[test]
    fn reference_values() {
        check(include_str!("reference/normal.txt"), "owens_t", [1e-14, 0.0], |a| [owens_t(a[0], a[1])]);
    }

    #[test]
    fn partials() {
        for (h, a) in [(0.3, 0.5), (-1.2, 0.9), (2.0, -1.7), (0.7, 5.0)] {
            let [dh, da] = owens_t_partials(h, a).d;
            assert!((dh - finite_difference(|h| owens_t(h, a), h, 0.01)).abs() < 1e-11, "{h} {a}");
            assert!((da - finite_difference(|a| owens_t(h, a), a, 0.01)).abs() < 1e-11, "{h} {a}");
        }
    }

    #[test]
    fn edges() {
        // T(0, a) = arctan(a) / (2π), T(h, ∞) = Φ(−|h|) / 2
        assert!((owens_t(0.0, 3.0) * std::f64::consts::TAU / 3.0_f64.atan() - 1.0).abs() < 1e-14);
        assert!((owens_t(1.3, f64::INFINITY) - Phi(-1.3) / 2.0).abs() < 1e-16);
        assert!((owens_t(0.0, f64::INFINITY) - 0.25).abs() < 1e-15);
        assert!(owens_t(f64::INFINITY, 2.0).abs() < 1e-300 && owens_t(2.0, 0.0).abs() < 1e-300);
        assert!(owens_t(f64::NAN, 1.0).is_nan() && owens_t(1.0, f64::NAN).is_nan());
        assert!((owens_t(0.4, 0.8) + owens_t(-0.4, -0.8)).abs() < 1e-16);
        let [dh, da] = owens_t_partials(0.0, f64::INFINITY).d;
        assert!(dh.is_finite() && da.abs() < 1e-300);
    }
}
