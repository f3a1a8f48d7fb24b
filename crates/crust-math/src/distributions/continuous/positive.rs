//! Other distributions of a positive number: lognormal, exponential, Weibull, Fréchet, Rayleigh, log-logistic, Pareto.

use super::tails::{Tails, cumulative};
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{LN_SQRT_TAU, inv_logit, lmultiply, log1p_exp};

fn check_shape_scale(domain: Domain, shape: f64, scale: f64) -> Result<(), DomainError> {
    domain.positive_finite("Shape parameter", shape)?;
    domain.positive_finite("Scale parameter", scale)
}

fn check_lognormal(domain: Domain, y: f64, mu: f64, sigma: f64) -> Result<(), DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.positive_finite("Scale parameter", sigma)
}

/// −½ z² − log y − log σ − log √(2π), z = (log y − μ)/σ; −∞ at 0
pub fn lognormal_lpdf(y: f64, mu: f64, sigma: f64, terms: Terms) -> Density<3> {
    check_lognormal(Domain("lognormal_lpdf"), y, mu, sigma)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    if y == 0.0 || y == f64::INFINITY {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let log_y = y.ln();
    let z = (log_y - mu) / sigma;
    // Stan keeps the constant of this density in every mode
    let mut value = -LN_SQRT_TAU - 0.5 * z * z;
    if terms.keep(0b100) {
        value -= sigma.ln();
    }
    if terms.keep(0b001) {
        value -= log_y;
    }
    let slope = z / sigma;
    Ok(Partials { value, d: [-(1.0 + slope) / y, slope, (z * z - 1.0) / sigma] })
}

fn lognormal_tails(domain: Domain, y: f64, mu: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    check_lognormal(domain, y, mu, sigma)?;
    if y == 0.0 {
        return Ok(Tails::lowest());
    }
    let z = (y.ln() - mu) / sigma;
    Ok(Tails::normal(z, [1.0 / (y * sigma), -1.0 / sigma, -z / sigma]))
}

cumulative!(lognormal_tails(y, mu, sigma) -> 3: lognormal_cdf = cdf, lognormal_lcdf = lcdf, lognormal_lccdf = lccdf);

fn check_exponential(domain: Domain, y: f64, beta: f64) -> Result<(), DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.positive_finite("Inverse scale parameter", beta)
}

/// log β − β y
pub fn exponential_lpdf(y: f64, beta: f64, terms: Terms) -> Density<2> {
    check_exponential(Domain("exponential_lpdf"), y, beta)?;
    let mut value = 0.0;
    if terms.keep(0b10) {
        value += beta.ln();
    }
    if terms.keep(0b11) {
        value -= beta * y;
    }
    Ok(Partials { value, d: [-beta, 1.0 / beta - y] })
}

fn exponential_tails(domain: Domain, y: f64, beta: f64) -> Result<Tails<2>, DomainError> {
    check_exponential(domain, y, beta)?;
    Ok(Tails::exponential(beta * y, [beta, y]))
}

cumulative!(exponential_tails(y, beta) -> 2: exponential_cdf = cdf, exponential_lcdf = lcdf, exponential_lccdf = lccdf);

/// log α + (α − 1) log y − α log σ − (y/σ)^α; −∞ for y < 0
pub fn weibull_lpdf(y: f64, alpha: f64, sigma: f64, terms: Terms) -> Density<3> {
    let domain = Domain("weibull_lpdf");
    domain.finite("Random variable", y)?;
    check_shape_scale(domain, alpha, sigma)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    if y < 0.0 {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let log_ratio = y.ln() - sigma.ln();
    let power = (y / sigma).powf(alpha);
    let mut value = -power;
    if terms.keep(0b010) {
        value += alpha.ln();
    }
    if terms.keep(0b011) {
        value += lmultiply(alpha - 1.0, y);
    }
    if terms.keep(0b110) {
        value -= alpha * sigma.ln();
    }
    let d_y = (alpha * (1.0 - power) - 1.0) / y;
    let d_alpha = 1.0 / alpha + (1.0 - power) * log_ratio;
    Ok(Partials { value, d: [d_y, d_alpha, alpha / sigma * (power - 1.0)] })
}

fn weibull_tails(domain: Domain, y: f64, alpha: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    check_shape_scale(domain, alpha, sigma)?;
    let ratio = y / sigma;
    let (log_ratio, x) = (ratio.ln(), ratio.powf(alpha));
    // (y/σ)^α is a standard exponential
    Ok(Tails::log_exponential(alpha * log_ratio, x, [alpha / y, log_ratio, -alpha / sigma]))
}

cumulative!(weibull_tails(y, alpha, sigma) -> 3: weibull_cdf = cdf, weibull_lcdf = lcdf, weibull_lccdf = lccdf);

/// log α − (α + 1) log y + α log σ − (σ/y)^α
pub fn frechet_lpdf(y: f64, alpha: f64, sigma: f64, terms: Terms) -> Density<3> {
    let domain = Domain("frechet_lpdf");
    domain.positive("Random variable", y)?;
    check_shape_scale(domain, alpha, sigma)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let log_ratio = sigma.ln() - y.ln();
    let power = (sigma / y).powf(alpha);
    let mut value = -power;
    if terms.keep(0b010) {
        value += alpha.ln();
    }
    if terms.keep(0b011) {
        value -= (alpha + 1.0) * y.ln();
    }
    if terms.keep(0b110) {
        value += alpha * sigma.ln();
    }
    let d_y = (alpha * power - (alpha + 1.0)) / y;
    let d_alpha = 1.0 / alpha + (1.0 - power) * log_ratio;
    Ok(Partials { value, d: [d_y, d_alpha, alpha / sigma * (1.0 - power)] })
}

fn frechet_tails(domain: Domain, y: f64, alpha: f64, sigma: f64) -> Result<Tails<3>, DomainError> {
    domain.positive("Random variable", y)?;
    check_shape_scale(domain, alpha, sigma)?;
    let ratio = sigma / y;
    let (log_ratio, x) = (ratio.ln(), ratio.powf(alpha));
    // (σ/y)^α is a standard exponential
    Ok(Tails::log_exponential(alpha * log_ratio, x, [-alpha / y, log_ratio, alpha / sigma]).flip())
}

cumulative!(frechet_tails(y, alpha, sigma) -> 3: frechet_cdf = cdf, frechet_lcdf = lcdf, frechet_lccdf = lccdf);

/// log y − 2 log σ − ½ (y/σ)²
pub fn rayleigh_lpdf(y: f64, sigma: f64, terms: Terms) -> Density<2> {
    let domain = Domain("rayleigh_lpdf");
    domain.positive("Scale parameter", sigma)?;
    domain.positive("Random variable", y)?;
    if !terms.keep(0b11) {
        return Ok(Partials::constant(0.0));
    }
    let z = y / sigma;
    let mut value = -0.5 * z * z;
    if terms.keep(0b10) {
        value -= 2.0 * sigma.ln();
    }
    if terms.keep(0b01) {
        value += y.ln();
    }
    Ok(Partials { value, d: [1.0 / y - z / sigma, (z * z - 2.0) / sigma] })
}

fn rayleigh_tails(domain: Domain, y: f64, sigma: f64) -> Result<Tails<2>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.positive("Scale parameter", sigma)?;
    let z = y / sigma;
    Ok(Tails::exponential(0.5 * z * z, [z / sigma, -z * z / sigma]))
}

cumulative!(rayleigh_tails(y, sigma) -> 2: rayleigh_cdf = cdf, rayleigh_lcdf = lcdf, rayleigh_lccdf = lccdf);

/// log β − log α + (β − 1) log(y/α) − 2 log(1 + (y/α)^β)
pub fn loglogistic_lpdf(y: f64, alpha: f64, beta: f64, terms: Terms) -> Density<3> {
    let domain = Domain("loglogistic_lpdf");
    domain.positive_finite("Random variable", y)?;
    domain.positive_finite("Scale parameter", alpha)?;
    domain.positive_finite("Shape parameter", beta)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let log_ratio = (y / alpha).ln();
    let z = beta * log_ratio;
    let mut value = (beta - 1.0) * y.ln() - 2.0 * log1p_exp(z);
    if terms.keep(0b110) {
        value += beta.ln() - beta * alpha.ln();
    }
    // 1 − 2F, by whichever tail is small
    let centred = if z > 0.0 { 2.0 * inv_logit(-z) - 1.0 } else { 1.0 - 2.0 * inv_logit(z) };
    let d_beta = 1.0 / beta + log_ratio * centred;
    Ok(Partials { value, d: [(beta * centred - 1.0) / y, -beta / alpha * centred, d_beta] })
}

fn loglogistic_tails(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<Tails<3>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.positive_finite("Scale parameter", alpha)?;
    domain.positive_finite("Shape parameter", beta)?;
    let log_ratio = (y / alpha).ln();
    Ok(Tails::logistic(beta * log_ratio, [beta / y, -beta / alpha, log_ratio]))
}

cumulative!(loglogistic_tails(y, alpha, beta) -> 3: loglogistic_cdf = cdf);

/// log α + α log `y_min` − (α + 1) log y; −∞ below `y_min`
pub fn pareto_lpdf(y: f64, y_min: f64, alpha: f64, terms: Terms) -> Density<3> {
    let domain = Domain("pareto_lpdf");
    domain.not_nan("Random variable", y)?;
    domain.positive_finite("Scale parameter", y_min)?;
    domain.positive_finite("Shape parameter", alpha)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    if y < y_min {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let mut value = 0.0;
    if terms.keep(0b100) {
        value += alpha.ln();
    }
    if terms.keep(0b101) {
        value -= (alpha + 1.0) * y.ln();
    }
    if terms.keep(0b110) {
        value += alpha * y_min.ln();
    }
    Ok(Partials { value, d: [-(alpha + 1.0) / y, alpha / y_min, 1.0 / alpha + y_min.ln() - y.ln()] })
}

fn pareto_tails(domain: Domain, y: f64, y_min: f64, alpha: f64) -> Result<Tails<3>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    domain.positive_finite("Scale parameter", y_min)?;
    domain.positive_finite("Shape parameter", alpha)?;
    if y < y_min {
        return Ok(Tails::lowest());
    }
    let log_ratio = if y < 2.0 * y_min { ((y - y_min) / y_min).ln_1p() } else { (y / y_min).ln() };
    Ok(Tails::exponential(alpha * log_ratio, [alpha / y, -alpha / y_min, log_ratio]))
}

cumulative!(pareto_tails(y, y_min, alpha) -> 3: pareto_cdf = cdf, pareto_lcdf = lcdf, pareto_lccdf = lccdf);

fn check_pareto_type_2(domain: Domain, y: f64, mu: f64, lambda: f64, alpha: f64) -> Result<(), DomainError> {
    domain.that(y >= mu, "Random variable", y, "greater than or equal to the location parameter")?;
    domain.positive_finite("Scale parameter", lambda)?;
    domain.positive_finite("Shape parameter", alpha)
}

/// log α − log λ − (α + 1) log(1 + (y − μ)/λ)
pub fn pareto_type_2_lpdf(y: f64, mu: f64, lambda: f64, alpha: f64, terms: Terms) -> Density<4> {
    check_pareto_type_2(Domain("pareto_type_2_lpdf"), y, mu, lambda, alpha)?;
    if !terms.keep(0b1111) {
        return Ok(Partials::constant(0.0));
    }
    let log_ratio = ((y - mu) / lambda).ln_1p();
    let mut value = -(alpha + 1.0) * log_ratio;
    if terms.keep(0b1000) {
        value += alpha.ln();
    }
    if terms.keep(0b0100) {
        value -= lambda.ln();
    }
    let inv_sum = 1.0 / (lambda + (y - mu));
    let slope = (alpha + 1.0) * inv_sum;
    let d_lambda = (alpha * (y - mu) / lambda - 1.0) * inv_sum;
    Ok(Partials { value, d: [-slope, slope, d_lambda, 1.0 / alpha - log_ratio] })
}

fn pareto_type_2_tails(domain: Domain, y: f64, mu: f64, lambda: f64, alpha: f64) -> Result<Tails<4>, DomainError> {
    domain.nonnegative("Random variable", y)?;
    check_pareto_type_2(domain, y, mu, lambda, alpha)?;
    let ratio = (y - mu) / lambda;
    let slope = alpha / (lambda + (y - mu));
    Ok(Tails::exponential(alpha * ratio.ln_1p(), [slope, -slope, -slope * ratio, ratio.ln_1p()]))
}

cumulative!(pareto_type_2_tails(y, mu, lambda, alpha) -> 4:
    pareto_type_2_cdf = cdf, pareto_type_2_lcdf = lcdf, pareto_type_2_lccdf = lccdf);
