//! The gamma family: gamma, inverse gamma and their reparametrisations as χ² distributions.

use super::incomplete::gamma_tails;
use super::tails::{Tails, cumulative};
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{digamma, lgamma, lmultiply};
use std::f64::consts::LN_2;

const DEGREES: &str = "Degrees of freedom parameter";

/// α log β − log Γ(α) + (α − 1) log y − β y
pub fn gamma_lpdf(y: f64, alpha: f64, beta: f64, terms: Terms) -> Density<3> {
    let domain = Domain("gamma_lpdf");
    domain.positive_finite("Random variable", y)?;
    domain.positive_finite("Shape parameter", alpha)?;
    domain.positive_finite("Inverse scale parameter", beta)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let mut value = 0.0;
    if terms.keep(0b010) {
        value -= lgamma(alpha);
    }
    if terms.keep(0b110) {
        value += alpha * beta.ln();
    }
    if terms.keep(0b011) {
        value += (alpha - 1.0) * y.ln();
    }
    if terms.keep(0b101) {
        value -= beta * y;
    }
    let d_alpha = beta.ln() - digamma(alpha) + y.ln();
    Ok(Partials { value, d: [(alpha - 1.0) / y - beta, d_alpha, alpha / beta - y] })
}

fn gamma_distribution_tails(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<Tails<3>, DomainError> {
    domain.positive_finite("Shape parameter", alpha)?;
    domain.positive_finite("Inverse scale parameter", beta)?;
    domain.nonnegative("Random variable", y)?;
    let tails = gamma_tails(alpha, beta * y);
    let [d_x, d_alpha] = tails.slope;
    Ok(tails.with_slope([d_x * beta, d_alpha, chain(d_x, y)]))
}

/// The chain rule at the ends of the support, where F depends on nothing.
fn chain(slope: f64, factor: f64) -> f64 {
    if slope == 0.0 { 0.0 } else { slope * factor }
}

cumulative!(gamma_distribution_tails(y, alpha, beta) -> 3: gamma_cdf = cdf, gamma_lcdf = lcdf, gamma_lccdf = lccdf);

/// α log β − log Γ(α) − (α + 1) log y − β/y; −∞ for y ≤ 0
pub fn inv_gamma_lpdf(y: f64, alpha: f64, beta: f64, terms: Terms) -> Density<3> {
    let domain = Domain("inv_gamma_lpdf");
    domain.not_nan("Random variable", y)?;
    domain.positive_finite("Shape parameter", alpha)?;
    domain.positive_finite("Scale parameter", beta)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    if y <= 0.0 {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let mut value = 0.0;
    if terms.keep(0b010) {
        value -= lgamma(alpha);
    }
    if terms.keep(0b110) {
        value += alpha * beta.ln();
    }
    if terms.keep(0b011) {
        value -= (alpha + 1.0) * y.ln();
    }
    if terms.keep(0b101) {
        value -= beta / y;
    }
    let d_alpha = beta.ln() - digamma(alpha) - y.ln();
    Ok(Partials { value, d: [(beta / y - alpha - 1.0) / y, d_alpha, alpha / beta - 1.0 / y] })
}

/// F(y) = Q(a, x) for an x that falls as y grows. `d_x` are the derivatives of x, `d_a` those of a.
fn inverse_tails<const N: usize>(a: f64, x: f64, d_x: [f64; N], d_a: [f64; N]) -> Tails<N> {
    let tails = gamma_tails(a, x).flip();
    let [s_x, s_a] = tails.slope;
    tails.with_slope(std::array::from_fn(|i| chain(s_x, d_x[i]) + chain(s_a, d_a[i])))
}

fn inv_gamma_tails(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<Tails<3>, DomainError> {
    domain.positive_finite("Shape parameter", alpha)?;
    domain.positive_finite("Scale parameter", beta)?;
    domain.nonnegative("Random variable", y)?;
    let x = beta / y;
    Ok(inverse_tails(alpha, x, [-x / y, 0.0, 1.0 / y], [0.0, 1.0, 0.0]))
}

cumulative!(inv_gamma_tails(y, alpha, beta) -> 3: inv_gamma_cdf = cdf, inv_gamma_lcdf = lcdf, inv_gamma_lccdf = lccdf);

/// (½ν − 1) log y − ½ y − ½ν log 2 − log Γ(½ν)
pub fn chi_square_lpdf(y: f64, nu: f64, terms: Terms) -> Density<2> {
    let domain = Domain("chi_square_lpdf");
    domain.nonnegative("Random variable", y)?;
    domain.positive_finite(DEGREES, nu)?;
    if !terms.keep(0b11) {
        return Ok(Partials::constant(0.0));
    }
    let half = 0.5 * nu;
    let mut value = lmultiply(half - 1.0, y);
    if terms.keep(0b10) {
        value -= half * LN_2 + lgamma(half);
    }
    if terms.keep(0b01) {
        value -= 0.5 * y;
    }
    let d_nu = 0.5 * (y.ln() - digamma(half) - LN_2);
    Ok(Partials { value, d: [(half - 1.0) / y - 0.5, d_nu] })
}

fn chi_square_tails(domain: Domain, y: f64, nu: f64) -> Result<Tails<2>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.positive_finite(DEGREES, nu)?;
    let tails = gamma_tails(0.5 * nu, 0.5 * y);
    Ok(tails.with_slope(tails.slope.map(|s| 0.5 * s)))
}

cumulative!(chi_square_tails(y, nu) -> 2: chi_square_cdf = cdf, chi_square_lcdf = lcdf, chi_square_lccdf = lccdf);

/// −(½ν + 1) log y − 1/(2y) − ½ν log 2 − log Γ(½ν); −∞ for y ≤ 0
pub fn inv_chi_square_lpdf(y: f64, nu: f64, terms: Terms) -> Density<2> {
    let domain = Domain("inv_chi_square_lpdf");
    domain.positive_finite(DEGREES, nu)?;
    domain.not_nan("Random variable", y)?;
    if !terms.keep(0b11) {
        return Ok(Partials::constant(0.0));
    }
    if y <= 0.0 {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let half = 0.5 * nu;
    let mut value = -(half + 1.0) * y.ln();
    if terms.keep(0b10) {
        value -= half * LN_2 + lgamma(half);
    }
    if terms.keep(0b01) {
        value -= 0.5 / y;
    }
    let d_nu = -0.5 * (LN_2 + digamma(half) + y.ln());
    Ok(Partials { value, d: [(0.5 / y - half - 1.0) / y, d_nu] })
}

fn inv_chi_square_tails(domain: Domain, y: f64, nu: f64) -> Result<Tails<2>, DomainError> {
    domain.positive_finite(DEGREES, nu)?;
    domain.nonnegative("Random variable", y)?;
    let x = 0.5 / y;
    Ok(inverse_tails(0.5 * nu, x, [-x / y, 0.0], [0.0, 0.5]))
}

cumulative!(inv_chi_square_tails(y, nu) -> 2:
    inv_chi_square_cdf = cdf, inv_chi_square_lcdf = lcdf, inv_chi_square_lccdf = lccdf);

/// ½ν log ½ν − log Γ(½ν) + ν log s − (½ν + 1) log y − ½ν s²/y; −∞ for y ≤ 0
pub fn scaled_inv_chi_square_lpdf(y: f64, nu: f64, s: f64, terms: Terms) -> Density<3> {
    let domain = Domain("scaled_inv_chi_square_lpdf");
    domain.not_nan("Random variable", y)?;
    domain.positive_finite(DEGREES, nu)?;
    domain.positive_finite("Scale parameter", s)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    if y <= 0.0 {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let half = 0.5 * nu;
    let ratio = s * s / y;
    let mut value = -half * ratio;
    if terms.keep(0b010) {
        value += half * half.ln() - lgamma(half);
    }
    if terms.keep(0b110) {
        value += nu * s.ln();
    }
    if terms.keep(0b011) {
        value -= (half + 1.0) * y.ln();
    }
    let d_y = (half * ratio - half - 1.0) / y;
    let d_nu = 0.5 * (half.ln() + 1.0 - digamma(half) - y.ln() - ratio) + s.ln();
    Ok(Partials { value, d: [d_y, d_nu, nu / s - nu * s / y] })
}

fn scaled_inv_chi_square_tails(domain: Domain, y: f64, nu: f64, s: f64) -> Result<Tails<3>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.positive_finite(DEGREES, nu)?;
    domain.positive_finite("Scale parameter", s)?;
    let per_nu = 0.5 * s * s / y;
    let x = nu * per_nu;
    Ok(inverse_tails(0.5 * nu, x, [-x / y, per_nu, nu * s / y], [0.0, 0.5, 0.0]))
}

cumulative!(scaled_inv_chi_square_tails(y, nu, s) -> 3:
    scaled_inv_chi_square_cdf = cdf, scaled_inv_chi_square_lcdf = lcdf, scaled_inv_chi_square_lccdf = lccdf);
