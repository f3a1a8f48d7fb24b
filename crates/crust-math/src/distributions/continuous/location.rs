//! Distributions on the real line with a location and a scale.

use super::incomplete::beta_tails;
use super::tails::{Tails, cumulative};
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{LN_SQRT_TAU, digamma, inv_logit, lgamma_difference, log1p_exp};
use std::f64::consts::{LN_2, PI};

/// log π
const LN_PI: f64 = 1.144_729_885_849_400_2;

fn check(domain: Domain, mu: f64, sigma: f64) -> Result<(), DomainError> {
    domain.finite("Location parameter", mu)?;
    domain.positive_finite("Scale parameter", sigma)
}

/// log(1 + z²) without overflow
fn ln_1p_square(z: f64) -> f64 {
    if z.abs() < 1e150 { (z * z).ln_1p() } else { 2.0 * z.abs().ln() }
}

/// −½ z² − log σ − log √(2π), z = (y − μ)/σ
pub fn normal_lpdf(y: f64, mu: f64, sigma: f64, terms: Terms) -> Density<3> {
    let domain = Domain("normal_lpdf");
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive("Scale parameter", sigma)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let inv_sigma = 1.0 / sigma;
    let z = (y - mu) * inv_sigma;
    let mut value = -0.5 * z * z;
    if terms.keep(0) {
        value -= LN_SQRT_TAU;
    }
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    let slope = z * inv_sigma;
    Ok(Partials { value, d: [-slope, slope, (z * z - 1.0) * inv_sigma] })
}

fn normal_tails(domain: Domain, y: f64, mu: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive("Scale parameter", sigma)?;
    let z = (y - mu) / sigma;
    Ok(Tails::normal(z, [1.0 / sigma, -1.0 / sigma, -z / sigma]))
}

cumulative!(normal_tails(y, mu, sigma) -> 3: normal_cdf = cdf, normal_lcdf = lcdf, normal_lccdf = lccdf);

/// −½ y² − log √(2π)
pub fn std_normal_lpdf(y: f64, terms: Terms) -> Density<1> {
    Domain("std_normal_lpdf").not_nan("Random variable", y)?;
    if !terms.keep(1) {
        return Ok(Partials::constant(0.0));
    }
    let constant = if terms.keep(0) { LN_SQRT_TAU } else { 0.0 };
    Ok(Partials { value: -0.5 * y * y - constant, d: [-y] })
}

fn std_normal_tails(domain: Domain, y: f64) -> Result<Tails<1>, DomainError> {
    domain.not_nan("Random variable", y)?;
    Ok(Tails::normal(y, [1.0]))
}

cumulative!(std_normal_tails(y) -> 1: std_normal_cdf = cdf, std_normal_lcdf = lcdf, std_normal_lccdf = lccdf);

/// −½(ν+1) log(1 + z²/ν) + log Γ(½(ν+1)) − log Γ(½ν) − ½ log(νπ) − log σ, z = (y − μ)/σ
pub fn student_t_lpdf(y: f64, nu: f64, mu: f64, sigma: f64, terms: Terms) -> Density<4> {
    let domain = Domain("student_t_lpdf");
    domain.not_nan("Random variable", y)?;
    domain.positive_finite("Degrees of freedom parameter", nu)?;
    check(domain, mu, sigma)?;
    if !terms.keep(0b1111) {
        return Ok(Partials::constant(0.0));
    }
    let z = (y - mu) / sigma;
    let scaled = z / nu.sqrt();
    let log_tail = ln_1p_square(scaled);
    let half = 0.5 * nu;
    let mut value = -(half + 0.5) * log_tail;
    if terms.keep(0) {
        value -= 0.5 * LN_PI;
    }
    if terms.keep(0b10) {
        value += lgamma_difference(half, 0.5) - 0.5 * nu.ln();
    }
    if terms.keep(0b1000) {
        value -= sigma.ln();
    }
    // s = scaled² / (1 + scaled²), with neither overflow nor cancellation
    let s = if scaled.abs() > 1.0 {
        1.0 / (1.0 + 1.0 / (scaled * scaled))
    } else {
        scaled * scaled / (1.0 + scaled * scaled)
    };
    let slope = if scaled.abs() > 1.0 {
        (nu + 1.0) * s / (y - mu)
    } else {
        (nu + 1.0) * z / (nu * (1.0 + scaled * scaled) * sigma)
    };
    let rep = (nu + 1.0) * s - 1.0;
    let d_nu = 0.5 * (digamma(half + 0.5) - digamma(half) - log_tail + rep / nu);
    Ok(Partials { value, d: [-slope, d_nu, slope, rep / sigma] })
}

fn student_t_tails(domain: Domain, y: f64, nu: f64, mu: f64, sigma: f64) -> Result<Tails<4>, DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.positive_finite("Degrees of freedom parameter", nu)?;
    check(domain, mu, sigma)?;
    let t = (y - mu) / sigma;
    if t.is_infinite() {
        return Ok(Tails::end(t));
    }
    // F(−|t|) = ½ I_x(½ν, ½) with x = ν/(ν + t²)
    let ratio = t.abs() / nu.sqrt();
    let (x, x_complement) = if ratio > 1.0 {
        let inverse = 1.0 / (ratio * ratio);
        (inverse / (1.0 + inverse), 1.0 / (1.0 + inverse))
    } else {
        (1.0 / (1.0 + ratio * ratio), ratio * ratio / (1.0 + ratio * ratio))
    };
    let half = beta_tails(0.5 * nu, 0.5, x, x_complement);
    let log_density =
        lgamma_difference(0.5 * nu, 0.5) - 0.5 * (nu.ln() + LN_PI) - (0.5 * nu + 0.5) * ln_1p_square(ratio);
    // ∂(½ I)/∂ν at fixed t is ¼ ∂I/∂a + ½ ∂I/∂x ∂x/∂ν; the latter is |t|/(2ν) times the density
    let lower = half.lower - LN_2;
    let d_shape = if half.lower_rate == 0.0 { 0.0 } else { 0.5 * half.slope[1] * half.lower_rate };
    let rate = (log_density - lower).exp();
    let d_nu = d_shape / rate + t.abs() / (2.0 * nu);
    let tails = Tails::from_lower(lower, log_density, [1.0, d_nu]);
    let Tails { slope: [_, d_nu], .. } = tails;
    let sign = if t < 0.0 { 1.0 } else { -1.0 };
    let tails = if t < 0.0 { tails } else { tails.flip() };
    Ok(tails.with_slope([1.0 / sigma, sign * d_nu, -1.0 / sigma, -t / sigma]))
}

cumulative!(student_t_tails(y, nu, mu, sigma) -> 4:
    student_t_cdf = cdf, student_t_lcdf = lcdf, student_t_lccdf = lccdf);

/// −log(1 + z²) − log σ − log π, z = (y − μ)/σ
pub fn cauchy_lpdf(y: f64, mu: f64, sigma: f64, terms: Terms) -> Density<3> {
    // Stan looks at the arguments only if something is wanted
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let domain = Domain("cauchy_lpdf");
    domain.not_nan("Random variable", y)?;
    check(domain, mu, sigma)?;
    let z = (y - mu) / sigma;
    let mut value = -ln_1p_square(z);
    if terms.keep(0) {
        value -= LN_PI;
    }
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    let slope = 2.0 / (sigma * (z + 1.0 / z));
    let slope = if z == 0.0 || z.is_infinite() { 0.0 } else { slope };
    let d_sigma = if z.abs() > 1.0 { 1.0 - 2.0 / (1.0 + z * z) } else { (z * z - 1.0) / (1.0 + z * z) };
    Ok(Partials { value, d: [-slope, slope, d_sigma / sigma] })
}

fn cauchy_tails(domain: Domain, y: f64, mu: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    domain.not_nan("Random variable", y)?;
    check(domain, mu, sigma)?;
    let z = (y - mu) / sigma;
    if z.is_infinite() {
        return Ok(Tails::end(z));
    }
    let slope = [1.0 / sigma, -1.0 / sigma, -z / sigma];
    let tail = (1.0_f64.atan2(z.abs()) / PI).ln();
    let log_density = -LN_PI - ln_1p_square(z);
    let from = if z < 0.0 { Tails::from_lower } else { Tails::from_upper };
    Ok(from(tail, log_density, slope))
}

cumulative!(cauchy_tails(y, mu, sigma) -> 3: cauchy_cdf = cdf, cauchy_lcdf = lcdf, cauchy_lccdf = lccdf);

/// −|y − μ|/σ − log σ − log 2
pub fn double_exponential_lpdf(y: f64, mu: f64, sigma: f64, terms: Terms) -> Density<3> {
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let domain = Domain("double_exponential_lpdf");
    domain.finite("Random variable", y)?;
    check(domain, mu, sigma)?;
    let inv_sigma = 1.0 / sigma;
    let distance = (y - mu).abs() * inv_sigma;
    let mut value = -distance;
    if terms.keep(0) {
        value -= LN_2;
    }
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    let slope = if distance == 0.0 { 0.0 } else { inv_sigma.copysign(y - mu) };
    Ok(Partials { value, d: [-slope, slope, (distance - 1.0) * inv_sigma] })
}

fn double_exponential_tails(domain: Domain, y: f64, mu: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    domain.not_nan("Random variable", y)?;
    check(domain, mu, sigma)?;
    let z = (y - mu) / sigma;
    if z.is_infinite() {
        return Ok(Tails::end(z));
    }
    let tail = -z.abs() - LN_2;
    let from = if z < 0.0 { Tails::from_lower } else { Tails::from_upper };
    Ok(from(tail, tail, [1.0 / sigma, -1.0 / sigma, -z / sigma]))
}

cumulative!(double_exponential_tails(y, mu, sigma) -> 3:
    double_exponential_cdf = cdf, double_exponential_lcdf = lcdf, double_exponential_lccdf = lccdf);

/// −z − 2 log(1 + exp(−z)) − log σ, z = (y − μ)/σ
pub fn logistic_lpdf(y: f64, mu: f64, sigma: f64, terms: Terms) -> Density<3> {
    let domain = Domain("logistic_lpdf");
    domain.finite("Random variable", y)?;
    check(domain, mu, sigma)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let z = (y - mu) / sigma;
    let mut value = -z.abs() - 2.0 * log1p_exp(-z.abs());
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    // 2F − 1, by whichever tail is small
    let centred = if z > 0.0 { 1.0 - 2.0 * inv_logit(-z) } else { 2.0 * inv_logit(z) - 1.0 };
    Ok(Partials { value, d: [-centred / sigma, centred / sigma, (z * centred - 1.0) / sigma] })
}

fn logistic_tails(domain: Domain, y: f64, mu: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    domain.not_nan("Random variable", y)?;
    check(domain, mu, sigma)?;
    let z = (y - mu) / sigma;
    Ok(Tails::logistic(z, [1.0 / sigma, -1.0 / sigma, -z / sigma]))
}

cumulative!(logistic_tails(y, mu, sigma) -> 3: logistic_cdf = cdf, logistic_lcdf = lcdf, logistic_lccdf = lccdf);

/// −z − exp(−z) − log β, z = (y − μ)/β
pub fn gumbel_lpdf(y: f64, mu: f64, beta: f64, terms: Terms) -> Density<3> {
    let domain = Domain("gumbel_lpdf");
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive("Scale parameter", beta)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let inv_beta = 1.0 / beta;
    let z = (y - mu) * inv_beta;
    if z == f64::NEG_INFINITY {
        return Ok(Partials::constant(z));
    }
    let mut value = -(z + (-z).exp());
    if terms.keep(0b100) {
        value -= beta.ln();
    }
    let slope = -inv_beta * (-z).exp_m1();
    Ok(Partials { value, d: [-slope, slope, slope * z - inv_beta] })
}

fn gumbel_tails(domain: Domain, y: f64, mu: f64, beta: f64) -> Result<Tails<3>, DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive("Scale parameter", beta)?;
    let z = (y - mu) / beta;
    // F(y) = exp(−exp(−z)): −z is the logarithm of a standard exponential
    Ok(Tails::log_exponential(-z, (-z).exp(), [-1.0 / beta, 1.0 / beta, z / beta]).flip())
}

cumulative!(gumbel_tails(y, mu, beta) -> 3: gumbel_cdf = cdf, gumbel_lcdf = lcdf, gumbel_lccdf = lccdf);
