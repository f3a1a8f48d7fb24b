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
    pxfm::f_erfcinv(p)
}

/// The derivative of [`inv_erfc`].
#[inline]
pub fn inv_erfc_derivative(p: f64) -> f64 {
    let y = inv_erfc(p);
    -(y * y).exp() / TWO_OVER_SQRT_PI
}

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
    1.0 / std_normal_density(inv_Phi(p))
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
    1.0 / log_Phi_derivative(std_normal_log_qf(lp))
}
