//! The error function and the standard normal distribution, in both tails.

#![expect(non_snake_case, reason = "Stan writes Φ as Phi")]

use crate::density::Partials;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, SQRT_2, TAU};

/// 1 / √(2π)
pub const FRAC_1_SQRT_TAU: f64 = 0.398_942_280_401_432_7;
/// log √(2π)
pub const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_8;
/// √(2/π)
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
/// 2/√π
const TWO_OVER_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

#[inline]
pub fn erf(x: f64) -> f64 {
    pxfm::f_erf(x)
}

/// 1 − erf(x), accurate in the right tail.
#[inline]
pub fn erfc(x: f64) -> f64 {
    pxfm::f_erfc(x)
}

/// The derivative of [`erf`]; that of [`erfc`] is its negative.
#[inline]
pub fn erf_derivative(x: f64) -> f64 {
    TWO_OVER_SQRT_PI * exp_minus_square(x)
}

/// exp(x²) erfc(x)
#[inline]
pub fn erfcx(x: f64) -> f64 {
    pxfm::f_erfcx(x)
}

/// The inverse of [`erfc`]. Its derivative is −√π/2 exp(y²) at its value y.
#[inline]
pub fn inv_erfc(p: f64) -> f64 {
    let y = pxfm::f_erfcinv(p);
    if p > POLISH_BELOW || !y.is_finite() {
        return y;
    }
    // Newton's step for log erfc(y) = log p: pxfm's value is off by 5e-9 at 1e-300
    let scaled = erfcx(y);
    y + (scaled.ln() - y * y - p.ln()) * scaled / TWO_OVER_SQRT_PI
}

/// The derivative of [`inv_erfc`].
#[inline]
pub fn inv_erfc_derivative(p: f64) -> f64 {
    // exp(y²) = erfcx(y) / erfc(y), and erfc(y) is p: this does not amplify the error of y
    let tail = if p > 1.0 { 2.0 - p } else { p };
    -erfcx(inv_erfc(p).abs()) / (tail * TWO_OVER_SQRT_PI)
}

/// Tail probabilities below this are where pxfm's `f_erfcinv` was measured to lose digits.
const POLISH_BELOW: f64 = 1e-10;

/// exp(−x²), where the rounding error of x² is carried along: in the tail it would be x² ulps.
#[inline]
fn exp_minus_square(x: f64) -> f64 {
    let square = x * x;
    if !square.is_finite() {
        return (-square).exp();
    }
    let rest = x.mul_add(x, -square);
    let e = (-square).exp();
    (-rest).mul_add(e, e)
}

/// The standard normal density.
#[inline]
pub fn std_normal_density(x: f64) -> f64 {
    let half = 0.5 * x * x;
    if !half.is_finite() {
        return (-half).exp();
    }
    let rest = (0.5 * x).mul_add(x, -half);
    let e = FRAC_1_SQRT_TAU * (-half).exp();
    (-rest).mul_add(e, e)
}

/// The standard normal cumulative probability, with full relative accuracy in the left tail. Its derivative is
/// [`std_normal_density`].
#[inline]
pub fn Phi(x: f64) -> f64 {
    if x < -1.0 && x > -39.0 {
        // Φ(x) = φ(x) · √(π/2) erfcx(−x/√2): erfcx forgives the rounding of its argument, erfc does not
        std_normal_density(x) / SQRT_2_OVER_PI * erfcx(-x * FRAC_1_SQRT_2)
    } else {
        0.5 * erfc(-x * FRAC_1_SQRT_2)
    }
}

/// The logistic approximation of [`Phi`] of Bowling et al. (2009): `inv_logit`(0.07056 x³ + 1.5976 x).
#[inline]
pub fn Phi_approx(x: f64) -> f64 {
    super::inv_logit(x * 0.07056_f64.mul_add(x * x, 1.5976))
}

/// The derivative of [`Phi_approx`].
#[inline]
pub fn Phi_approx_derivative(x: f64) -> f64 {
    let logit = x * 0.07056_f64.mul_add(x * x, 1.5976);
    let slope = (3.0 * 0.07056_f64).mul_add(x * x, 1.5976);
    let p = super::inv_logit_derivative(logit);
    if p == 0.0 { 0.0 } else { p * slope }
}

/// The standard normal quantile: the inverse of [`Phi`].
#[inline]
pub fn inv_Phi(p: f64) -> f64 {
    -SQRT_2 * inv_erfc(2.0 * p)
}

/// The derivative of [`inv_Phi`].
#[inline]
pub fn inv_Phi_derivative(p: f64) -> f64 {
    // φ(x) = Φ(x) times the inverse Mills ratio, and Φ(x) is p: this does not amplify the error of x
    let tail = if p > 0.5 { 1.0 - p } else { p };
    1.0 / (tail * log_Phi_derivative(-inv_Phi(p).abs()))
}

/// log Φ(x), Stan's `std_normal_lcdf`, without underflow.
pub fn log_Phi(x: f64) -> f64 {
    if x < -1.0 {
        (0.5 * erfcx(-x * FRAC_1_SQRT_2)).ln() - 0.5 * x * x
    } else if x < 0.0 {
        Phi(x).ln()
    } else {
        (-Phi(-x)).ln_1p()
    }
}

/// The derivative of [`log_Phi`]: φ(x) / Φ(x), the inverse Mills ratio.
pub fn log_Phi_derivative(x: f64) -> f64 {
    if x < 0.0 { SQRT_2_OVER_PI / erfcx(-x * FRAC_1_SQRT_2) } else { std_normal_density(x) / Phi(x) }
}

/// [`log_Phi`] with its derivative.
pub fn std_normal_lcdf(x: f64) -> Partials<1> {
    Partials { value: log_Phi(x), d: [log_Phi_derivative(x)] }
}

/// log(1 − Φ(x)) with its derivative.
pub fn std_normal_lccdf(x: f64) -> Partials<1> {
    Partials { value: log_Phi(-x), d: [-log_Phi_derivative(-x)] }
}

/// The standard normal quantile of the log probability `lp` ≤ 0.
pub fn std_normal_log_qf(lp: f64) -> f64 {
    if lp > -LN_2 {
        return -inv_Phi(-lp.exp_m1());
    }
    if lp > -700.0 {
        return inv_Phi(lp.exp());
    }
    if lp == f64::NEG_INFINITY {
        return lp;
    }
    // log Φ(x) ≈ −x²/2 − log(−x) − log √(2π); Newton's steps then converge quadratically
    let mut x = -(-2.0 * lp).sqrt();
    x = -(-2.0 * lp - TAU.ln() - 2.0 * (-x).ln()).sqrt();
    for _ in 0..3 {
        x -= (log_Phi(x) - lp) / log_Phi_derivative(x);
    }
    x
}

/// The derivative of [`std_normal_log_qf`].
pub fn std_normal_log_qf_derivative(lp: f64) -> f64 {
    let x = std_normal_log_qf(lp);
    if x < 0.0 {
        return 1.0 / log_Phi_derivative(x);
    }
    // Φ(x) / φ(x), where φ(x) is 1 − Φ(x) = −expm1(lp) times the inverse Mills ratio of the upper tail
    1.0 / ((-lp).exp_m1() * log_Phi_derivative(-x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/normal.txt");

    #[test]
    fn error_functions() {
        check(TABLE, "erf", [5e-16, 2e-15], |a| [erf(a[0]), erf_derivative(a[0])]);
        check(TABLE, "erfc", [5e-16, 2e-15], |a| [erfc(a[0]), -erf_derivative(a[0])]);
        check(TABLE, "inv_erfc", [2e-15, 5e-15], |a| [inv_erfc(a[0]), inv_erfc_derivative(a[0])]);
    }

    #[test]
    fn probabilities() {
        check(TABLE, "Phi", [2e-15, 2e-15], |a| [Phi(a[0]), std_normal_density(a[0])]);
        check(TABLE, "log_Phi", [2e-15, 2e-15], |a| [log_Phi(a[0]), log_Phi_derivative(a[0])]);
        // exp of a cubic: at −20 the exponent is −600, and its rounding is that of 600
        check(TABLE, "Phi_approx", [1e-13, 1e-13], |a| [Phi_approx(a[0]), Phi_approx_derivative(a[0])]);
    }

    #[test]
    fn quantiles() {
        check(TABLE, "inv_Phi", [2e-15, 5e-15], |a| [inv_Phi(a[0]), inv_Phi_derivative(a[0])]);
        let log_quantile = |a: &[f64]| [std_normal_log_qf(a[0]), std_normal_log_qf_derivative(a[0])];
        check(TABLE, "std_normal_log_qf", [5e-15, 5e-15], log_quantile);
    }

    #[test]
    fn quantiles_invert_probabilities() {
        for lp in [-1e-3, -0.5, -3.0, -650.0, -701.0, -1e5, -1e12] {
            assert!((log_Phi(std_normal_log_qf(lp)) / lp - 1.0).abs() < 1e-12, "{lp}");
        }
        for x in [-30.0, -3.0, -0.2, 0.0, 0.7, 4.0] {
            assert!((inv_Phi(Phi(x)) - x).abs() < 1e-12, "{x}");
            assert!((Phi(x) + Phi(-x) - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn edges() {
        assert!(inv_Phi(0.0) < f64::MIN && inv_Phi(1.0) > f64::MAX);
        assert!(inv_Phi(-0.1).is_nan() && inv_Phi(1.1).is_nan() && std_normal_log_qf(0.1).is_nan());
        assert!(std_normal_log_qf(0.0) > f64::MAX && std_normal_log_qf(f64::NEG_INFINITY) < f64::MIN);
        assert!(log_Phi(f64::NEG_INFINITY) < f64::MIN && log_Phi(f64::INFINITY).abs() < f64::MIN_POSITIVE);
        assert!(Phi(-40.0).abs() < f64::MIN_POSITIVE && Phi(f64::NEG_INFINITY).abs() < f64::MIN_POSITIVE);
        assert!(log_Phi_derivative(f64::NEG_INFINITY) > f64::MAX && log_Phi_derivative(f64::INFINITY) < 1e-300);
        for f in [Phi, log_Phi, inv_Phi, Phi_approx, std_normal_log_qf, inv_erfc, log_Phi_derivative, erf, erfc] {
            assert!(f(f64::NAN).is_nan());
        }
    }
}
