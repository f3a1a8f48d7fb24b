//! Distributions on the real line with a skewness: skew normal, skew double exponential, exponentially modified normal.

use super::quadrature::falling;
use super::tails::{Tails, cumulative};
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{LN_SQRT_TAU, erfcx, log_Phi, log_Phi_derivative, log_sum_exp};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

fn check_skew_normal(domain: Domain, y: f64, mu: f64, sigma: f64, alpha: f64) -> Result<(), DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.finite("Shape parameter", alpha)?;
    domain.positive("Scale parameter", sigma)
}

/// log 2Φ(αz) − ½ z² − log σ − log √(2π), z = (y − μ)/σ
pub fn skew_normal_lpdf(y: f64, mu: f64, sigma: f64, alpha: f64, terms: Terms) -> Density<4> {
    check_skew_normal(Domain("skew_normal_lpdf"), y, mu, sigma, alpha)?;
    if !terms.keep(0b1111) {
        return Ok(Partials::constant(0.0));
    }
    let z = (y - mu) / sigma;
    let skew = if alpha == 0.0 { 0.0 } else { alpha * z };
    let mut value = log_Phi(skew) + LN_2;
    if terms.keep(0) {
        value -= LN_SQRT_TAU;
    }
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    if terms.keep(0b111) {
        value -= 0.5 * z * z;
    }
    let mills = log_Phi_derivative(skew);
    let slope = (z - alpha * mills) / sigma;
    Ok(Partials { value, d: [-slope, slope, z * slope - 1.0 / sigma, z * mills] })
}

fn skew_normal_tails(domain: Domain, y: f64, mu: f64, sigma: f64, alpha: f64) -> Result<Tails<4>, DomainError> {
    check_skew_normal(domain, y, mu, sigma, alpha)?;
    let z = (y - mu) / sigma;
    if z.is_infinite() {
        return Ok(Tails::end(z));
    }
    let log_density = |t: f64| LN_2 - LN_SQRT_TAU + log_Phi(alpha * t) - 0.5 * t * t;
    let here = log_density(z);
    // ∂F/∂α = −exp(−½ z² (1 + α²)) / (π (1 + α²)); divided by the density 2φ(z)Φ(αz)
    let d_alpha = -log_Phi_derivative(alpha * z) / (1.0 + alpha * alpha);
    let slope = [1.0 / sigma, -1.0 / sigma, -z / sigma, d_alpha];
    // the density is log-concave: on either side of its mode, that side's tail is one descent and holds ≤ 1 − 1/e
    let rising = alpha * log_Phi_derivative(alpha * z) - z;
    let side = if rising > 0.0 { -1.0 } else { 1.0 };
    // the exponent's difference without its large terms: −½ (t² − z²) = −s (½ s + side z)
    let phi_here = log_Phi(alpha * z);
    let fall = |s: f64| log_Phi(alpha * (z + side * s)) - phi_here - s * (0.5 * s + side * z);
    let (integral, _) = falling(f64::MAX, fall, |_| 1.0);
    let from = if rising > 0.0 { Tails::from_lower } else { Tails::from_upper };
    let tails = from(here + integral.ln(), here, slope);
    Ok(if rising > 0.0 {
        Tails { lower_rate: 1.0 / integral, ..tails }
    } else {
        Tails { upper_rate: 1.0 / integral, ..tails }
    })
}

cumulative!(skew_normal_tails(y, mu, sigma, alpha) -> 4:
    skew_normal_cdf = cdf, skew_normal_lcdf = lcdf, skew_normal_lccdf = lccdf);

fn check_skew_exponential(domain: Domain, y: f64, mu: f64, sigma: f64, tau: f64) -> Result<(), DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive_finite("Scale parameter", sigma)?;
    domain.bounded("Skewness parameter", tau, 0.0, 1.0, "in the interval [0, 1]")
}

/// log 2 + log τ(1−τ) − log σ − 2 w |y − μ|/σ, where w is 1 − τ below μ and τ above
pub fn skew_double_exponential_lpdf(y: f64, mu: f64, sigma: f64, tau: f64, terms: Terms) -> Density<4> {
    if !terms.keep(0b1111) {
        return Ok(Partials::constant(0.0));
    }
    check_skew_exponential(Domain("skew_double_exponential_lpdf"), y, mu, sigma, tau)?;
    let sign = if y > mu {
        1.0
    } else if y < mu {
        -1.0
    } else {
        0.0
    };
    let weight = if y < mu { 1.0 - tau } else { tau };
    let distance = (y - mu).abs() / sigma;
    let mut value = -2.0 * weight * distance;
    if terms.keep(0) {
        value += LN_2;
    }
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    if terms.keep(0b1000) {
        value += tau.ln() + (-tau).ln_1p();
    }
    let slope = 2.0 * weight * sign / sigma;
    let d_tau = 1.0 / tau - 1.0 / (1.0 - tau) - 2.0 * sign * distance;
    Ok(Partials { value, d: [-slope, slope, (2.0 * weight * distance - 1.0) / sigma, d_tau] })
}

fn skew_double_exponential_tails(
    domain: Domain,
    y: f64,
    mu: f64,
    sigma: f64,
    tau: f64,
) -> Result<Tails<4>, DomainError> {
    check_skew_exponential(domain, y, mu, sigma, tau)?;
    let z = (y - mu) / sigma;
    if z.is_infinite() {
        return Ok(Tails::end(z));
    }
    let slope = |d_tau| [1.0 / sigma, -1.0 / sigma, -z / sigma, d_tau];
    let log_product = LN_2 + tau.ln() + (-tau).ln_1p();
    // F = τ exp(2(1−τ)z) below, 1 − F = (1−τ) exp(−2τz) above
    Ok(if z <= 0.0 {
        let exponent = 2.0 * (1.0 - tau) * z;
        let d_tau = (1.0 / tau - 2.0 * z) / (2.0 * (1.0 - tau));
        Tails::from_lower(tau.ln() + exponent, log_product + exponent, slope(d_tau))
    } else {
        let exponent = -2.0 * tau * z;
        let d_tau = (1.0 / (1.0 - tau) + 2.0 * z) / (2.0 * tau);
        Tails::from_upper((-tau).ln_1p() + exponent, log_product + exponent, slope(d_tau))
    })
}

cumulative!(skew_double_exponential_tails(y, mu, sigma, tau) -> 4:
    skew_double_exponential_cdf = cdf, skew_double_exponential_lcdf = lcdf, skew_double_exponential_lccdf = lccdf);

fn check_exp_mod(domain: Domain, y: f64, mu: f64, sigma: f64, lambda: f64) -> Result<(), DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive_finite("Scale parameter", sigma)?;
    domain.positive_finite("Inv_scale parameter", lambda)
}

/// −λ(y − μ) + ½ λ²σ² + log Φ((y − μ)/σ − λσ) without cancellation: u = (y − μ)/σ, w = λσ
fn exp_mod_exponent(u: f64, w: f64) -> f64 {
    if u - w < 0.0 {
        (0.5 * erfcx((w - u) * FRAC_1_SQRT_2)).ln() - 0.5 * u * u
    } else {
        w * (0.5 * w - u) + log_Phi(u - w)
    }
}

/// log λ − λ(y − μ) + ½ λ²σ² + log Φ((y − μ)/σ − λσ): the sum of a normal(μ, σ) and an exponential(λ)
pub fn exp_mod_normal_lpdf(y: f64, mu: f64, sigma: f64, lambda: f64, terms: Terms) -> Density<4> {
    check_exp_mod(Domain("exp_mod_normal_lpdf"), y, mu, sigma, lambda)?;
    if !terms.keep(0b1111) {
        return Ok(Partials::constant(0.0));
    }
    if y.is_infinite() {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let (u, w) = ((y - mu) / sigma, lambda * sigma);
    let mut value = exp_mod_exponent(u, w);
    if !terms.keep(0) {
        // Stan writes Φ as ½ erfc, and drops the ½
        value += LN_2;
    }
    if terms.keep(0b1000) {
        value += lambda.ln();
    }
    let mills = log_Phi_derivative(u - w);
    let slope = lambda - mills / sigma;
    let d_sigma = lambda * w - mills * (lambda + u / sigma);
    let d_lambda = 1.0 / lambda + sigma * (w - u - mills);
    Ok(Partials { value, d: [-slope, slope, d_sigma, d_lambda] })
}

/// 1/R(x) − x, where R(x) = Φ(−x)/φ(x) is Mills' ratio
fn inverse_mills_excess(x: f64) -> f64 {
    let inverse_mills = log_Phi_derivative(-x);
    if x < 25.0 {
        return inverse_mills - x;
    }
    // the asymptotic series 1 − x R(x) = 1/x² − 1·3/x⁴ + 1·3·5/x⁶ − …
    let inv = 1.0 / (x * x);
    let (mut term, mut sum) = (inv, inv);
    for k in 1..10 {
        term *= -(2.0 * f64::from(k) + 1.0) * inv;
        sum += term;
    }
    sum * inverse_mills
}

fn exp_mod_normal_tails(domain: Domain, y: f64, mu: f64, sigma: f64, lambda: f64) -> Result<Tails<4>, DomainError> {
    check_exp_mod(domain, y, mu, sigma, lambda)?;
    if y.is_infinite() {
        return Ok(Tails::end(y));
    }
    let (u, w) = ((y - mu) / sigma, lambda * sigma);
    // in units of σ: the density of u is w exp(½w² − wu) Φ(u − w)
    let tilted = exp_mod_exponent(u, w);
    let log_density = w.ln() + tilted;
    // ∂F/∂w = φ(u) (1 − x R(x)) with x = w − u; the density is w φ(u) R(x)
    let d_w = inverse_mills_excess(w - u) / w;
    let slope = [1.0 / sigma, -1.0 / sigma, -u / sigma + lambda * d_w, sigma * d_w];
    let upper = log_sum_exp(log_Phi(-u), tilted);
    if upper < -0.5 {
        return Ok(Tails::from_upper(upper, log_density, slope));
    }
    // F = ∫ w exp(−wr) Φ(u − r) dr, as the ratio to Φ(u); Φ(u) − exp(…)Φ(u − w) would cancel where w is small
    let phi = log_Phi(u);
    let (integral, _) = falling(f64::MAX, |r| log_Phi(u - r) - phi - w * r, |_| 1.0);
    let lower = phi + (w * integral).ln();
    Ok(Tails::from_lower(lower, log_density, slope))
}

cumulative!(exp_mod_normal_tails(y, mu, sigma, lambda) -> 4:
    exp_mod_normal_cdf = cdf, exp_mod_normal_lcdf = lcdf, exp_mod_normal_lccdf = lccdf);
