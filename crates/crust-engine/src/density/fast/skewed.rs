//! Distributions with a skewness, and the one on a circle.

use std::f64::consts::{LN_2, TAU};

use crust_math::lanes::scalar::{TRIGONOMETRIC_LIMIT, cos, log, log1p, phi_factors, sin};
use crust_math::special::{LN_SQRT_TAU, bessel_ratio, log_bessel_scaled};

use super::location::Scale;
use super::row::{Space, all, each, factor, finite, map_kept, nonnegative, ordinary};
use crate::machine::Rows;

/// log 2Φ(αz) − ½ z² − log σ − log √(2π), z = (y − μ)/σ
#[inline(always)]
pub fn skew_normal(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, alpha, ..], terms) = (rows.arguments, rows.terms);
    let fine = all(y, finite) && all(mu, finite) && all(sigma, ordinary) && all(alpha, finite);
    if !(terms.keep(0b1111) && fine) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log: log_sigma } = &scale;
    let constant = LN_2 - factor(terms.keep(0)) * LN_SQRT_TAU;
    let half = 0.5 * factor(terms.keep(0b111));
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, d_alpha, ..] = rows.partials;
    each!([y, mu, alpha, inverse, log_sigma], [constant, half], [value, d_y, d_mu, d_sigma, d_alpha], {
        let z = (y - mu) * inverse;
        let (exponent, p, rate) = phi_factors(alpha * z);
        let slope = (z - alpha * rate) * inverse;
        *value = ((exponent + log(p)) + constant) - log_sigma - half * z * z;
        *d_y = -slope;
        *d_mu = slope;
        *d_sigma = z * slope - inverse;
        *d_alpha = z * rate;
    });
    all(value, finite)
}

/// Strictly between 0 and 1, and not so small that the reciprocal leaves the range of numbers.
#[inline(always)]
fn inner(tau: f64) -> bool {
    tau > 1e-290 && tau < 1.0
}

/// log 2 + log τ(1 − τ) − log σ − 2 w |y − μ|/σ, where w is 1 − τ below μ and τ above
#[inline(always)]
pub fn skew_double_exponential(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, tau, ..], terms) = (rows.arguments, rows.terms);
    let fine = all(y, finite) && all(mu, finite) && all(sigma, ordinary) && all(tau, inner);
    if !(terms.keep(0b1111) && fine) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log: log_sigma } = &scale;
    let mut log_tau = Space::empty();
    rows.hoisted(3).map(
        terms.keep(0b1000),
        &mut log_tau,
        #[inline(always)]
        |tau| log(tau) + log1p(-tau),
    );
    let constant = factor(terms.keep(0)) * LN_2;
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, d_tau, ..] = rows.partials;
    each!([y, mu, tau, inverse, log_sigma, log_tau], [constant], [value, d_y, d_mu, d_sigma, d_tau], {
        let difference = y - mu;
        let complement = 1.0 - tau;
        let weight = if difference < 0.0 { complement } else { tau };
        let distance = difference.abs() * inverse;
        let sign = if distance == 0.0 { 0.0 } else { 1.0_f64.copysign(difference) };
        let slope = 2.0 * weight * sign * inverse;
        let drop = 2.0 * weight * distance;
        *value = (constant + log_tau) - log_sigma - drop;
        *d_y = -slope;
        *d_mu = slope;
        *d_sigma = (drop - 1.0) * inverse;
        *d_tau = (complement - tau) / (tau * complement) - 2.0 * sign * distance;
    });
    all(value, finite)
}

/// Half of a difference of two such angles can be reduced to the first quadrant.
#[inline(always)]
fn angle(y: f64) -> bool {
    y.abs() < TRIGONOMETRIC_LIMIT
}

/// κ cos(y − μ) − log I₀(κ) − log 2π
///
/// By the half angle, sin² of which is what cos lacks to 1: κ (cos − 1) − (log I₀(κ) − κ) has no large parts.
#[inline(always)]
pub fn von_mises(rows: &mut Rows) -> bool {
    let ([y, mu, kappa, ..], terms) = (rows.arguments, rows.terms);
    let fine = all(y, angle) && all(mu, angle) && all(kappa, nonnegative) && all(kappa, finite);
    if !(terms.keep(0b111) && fine) {
        return false;
    }
    let (mut bessel, mut ratio) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(2);
    map_kept!(hoisted, terms.keep(0b100), &mut bessel, |kappa| log_bessel_scaled(kappa));
    map_kept!(hoisted, rows.wanted & 0b100 != 0, &mut ratio, |kappa| bessel_ratio(kappa));
    let constant = factor(terms.keep(0)) * TAU.ln();
    // Without the terms of κ the maximum is κ, not 0.
    let top = factor(!terms.keep(0b100));
    let value = &mut *rows.value;
    let [d_y, d_mu, d_kappa, ..] = rows.partials;
    each!([y, mu, kappa, bessel, ratio], [constant, top], [value, d_y, d_mu, d_kappa], {
        let half = 0.5 * (y - mu);
        let (s, c) = (sin(half), cos(half));
        let drop = 2.0 * s * s;
        let slope = kappa * (2.0 * s * c);
        *value = kappa * (top - drop) - bessel - constant;
        *d_y = -slope;
        *d_mu = slope;
        *d_kappa = (1.0 - drop) - ratio;
    });
    all(value, finite)
}
