//! Distributions on an interval: beta, von Mises, uniform.

use super::incomplete::beta_tails;
use super::quadrature::falling;
use super::tails::{Tails, cumulative};
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{bessel_ratio, digamma, lgamma, lmultiply, log_bessel_scaled};
use std::f64::consts::{PI, TAU};

const UNIT: &str = "in the interval [0, 1]";

fn check_beta(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<(), DomainError> {
    domain.positive_finite("First shape parameter", alpha)?;
    domain.positive_finite("Second shape parameter", beta)?;
    domain.bounded("Random variable", y, 0.0, 1.0, UNIT)
}

/// (α − 1) log y + (β − 1) log(1 − y) + log Γ(α + β) − log Γ(α) − log Γ(β)
pub fn beta_lpdf(y: f64, alpha: f64, beta: f64, terms: Terms) -> Density<3> {
    check_beta(Domain("beta_lpdf"), y, alpha, beta)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let mut value = 0.0;
    if terms.keep(0b010) {
        value -= lgamma(alpha);
    }
    if terms.keep(0b100) {
        value -= lgamma(beta);
    }
    if terms.keep(0b011) {
        value += lmultiply(alpha - 1.0, y);
    }
    if terms.keep(0b101) {
        value += log1m_times(beta - 1.0, y);
    }
    if terms.keep(0b110) {
        value += lgamma(alpha + beta);
    }
    let psi = digamma(alpha + beta);
    let d_y = (alpha - 1.0) / y - (beta - 1.0) / (1.0 - y);
    Ok(Partials { value, d: [d_y, y.ln() + psi - digamma(alpha), (-y).ln_1p() + psi - digamma(beta)] })
}

/// x log(1 − y), which is 0 where x is 0
fn log1m_times(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * (-y).ln_1p() }
}

fn beta_distribution_tails(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<Tails<3>, DomainError> {
    check_beta(domain, y, alpha, beta)?;
    Ok(beta_tails(alpha, beta, y, 1.0 - y))
}

cumulative!(beta_distribution_tails(y, alpha, beta) -> 3: beta_cdf = cdf, beta_lcdf = lcdf, beta_lccdf = lccdf);

fn check_beta_proportion(domain: Domain, y: f64, mu: f64, kappa: f64) -> Result<(), DomainError> {
    domain.positive("Location parameter", mu)?;
    domain.that(mu < 1.0, "Location parameter", mu, "less than 1")?;
    domain.positive_finite("Precision parameter", kappa)?;
    domain.bounded("Random variable", y, 0.0, 1.0, UNIT)
}

/// The [beta distribution](beta_lpdf) with α = μκ and β = (1 − μ)κ
pub fn beta_proportion_lpdf(y: f64, mu: f64, kappa: f64, terms: Terms) -> Density<3> {
    check_beta_proportion(Domain("beta_proportion_lpdf"), y, mu, kappa)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let (alpha, beta) = (mu * kappa, kappa - mu * kappa);
    let mut value = lmultiply(alpha - 1.0, y) + log1m_times(beta - 1.0, y);
    if terms.keep(0b100) {
        value += lgamma(kappa);
    }
    if terms.keep(0b110) {
        value -= lgamma(alpha) + lgamma(beta);
    }
    let d_y = (alpha - 1.0) / y - (beta - 1.0) / (1.0 - y);
    let (d_alpha, d_beta) = (y.ln() - digamma(alpha), (-y).ln_1p() - digamma(beta));
    let d_kappa = digamma(kappa) + mu * d_alpha + (1.0 - mu) * d_beta;
    Ok(Partials { value, d: [d_y, kappa * (d_alpha - d_beta), d_kappa] })
}

fn beta_proportion_tails(domain: Domain, y: f64, mu: f64, kappa: f64) -> Result<Tails<3>, DomainError> {
    check_beta_proportion(domain, y, mu, kappa)?;
    let tails = beta_tails(mu * kappa, kappa - mu * kappa, y, 1.0 - y);
    let [d_y, d_alpha, d_beta] = tails.slope;
    Ok(tails.with_slope([d_y, kappa * (d_alpha - d_beta), mu * d_alpha + (1.0 - mu) * d_beta]))
}

cumulative!(beta_proportion_tails(y, mu, kappa) -> 3: beta_proportion_lcdf = lcdf, beta_proportion_lccdf = lccdf);

/// κ cos(y − μ) − log I₀(κ) − log 2π
pub fn von_mises_lpdf(y: f64, mu: f64, kappa: f64, terms: Terms) -> Density<3> {
    let domain = Domain("von_mises_lpdf");
    domain.finite("Random variable", y)?;
    domain.finite("Location parameter", mu)?;
    domain.nonnegative("Scale parameter", kappa)?;
    domain.finite("Scale parameter", kappa)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    let (sin, cos) = (y - mu).sin_cos();
    let half_sin = (0.5 * (y - mu)).sin();
    let mut value = if terms.keep(0b100) {
        // κ (cos − 1) − (log I₀(κ) − κ): the large parts of both cancel exactly
        -2.0 * kappa * half_sin * half_sin - log_bessel_scaled(kappa)
    } else {
        kappa * cos
    };
    if terms.keep(0) {
        value -= TAU.ln();
    }
    Ok(Partials { value, d: [-kappa * sin, kappa * sin, cos - bessel_ratio(kappa)] })
}

/// log ∫ exp(κ (cos t − 1)) dt over [from, to] within one turn that starts at an antimode, and the mean of cos t under
/// it.
fn von_mises_integral(from: f64, to: f64, kappa: f64) -> (f64, f64) {
    let cos_drop = |t: f64, s: f64| {
        // cos(t + s) − cos t
        -2.0 * (t + 0.5 * s).sin() * (0.5 * s).sin()
    };
    let (mut log_total, mut mean) = (f64::NEG_INFINITY, 0.0);
    // between an antimode and a mode the density is monotone: integrate away from the higher end
    for (low, high, direction, start) in
        [(from.min(0.0), to.min(0.0), -1.0, to.min(0.0)), (from.max(0.0), to.max(0.0), 1.0, from.max(0.0))]
    {
        if high <= low {
            continue;
        }
        let (mass, weighted) =
            falling(high - low, |s| kappa * cos_drop(start, direction * s), |s| (start + direction * s).cos());
        let half_sin = (0.5 * start).sin();
        let log_mass = mass.ln() - 2.0 * kappa * half_sin * half_sin;
        let larger = log_total.max(log_mass);
        let (old, new) = ((log_total - larger).exp(), (log_mass - larger).exp());
        mean = (mean * old + weighted / mass * new) / (old + new);
        log_total = larger + (old + new).ln();
    }
    (log_total, mean)
}

/// Like [`von_mises_integral`], for any interval of at most one turn.
fn von_mises_arc(from: f64, to: f64, kappa: f64) -> (f64, f64) {
    let turns = ((from + PI) / TAU).floor() * TAU;
    let (from, to) = (from - turns, to - turns);
    if to <= PI {
        return von_mises_integral(from, to, kappa);
    }
    let (first, first_mean) = von_mises_integral(from, PI, kappa);
    let (second, second_mean) = von_mises_integral(-PI, to - TAU, kappa);
    let larger = first.max(second);
    let (a, b) = ((first - larger).exp(), (second - larger).exp());
    (larger + (a + b).ln(), (first_mean * a + second_mean * b) / (a + b))
}

fn von_mises_tails(domain: Domain, y: f64, mu: f64, kappa: f64) -> Result<Tails<3>, DomainError> {
    domain.bounded("Random variable", y, -PI, PI, "in the interval [-pi, pi]")?;
    domain.finite("Location parameter", mu)?;
    domain.positive_finite("Scale parameter", kappa)?;
    if y.abs() >= PI {
        return Ok(Tails::end(y));
    }
    let log_norm = TAU.ln() + log_bessel_scaled(kappa);
    let log_density = |t: f64| {
        let half_sin = (0.5 * (t - mu)).sin();
        -2.0 * kappa * half_sin * half_sin - log_norm
    };
    let here = log_density(y);
    let (below, mean_below) = von_mises_arc(-PI - mu, y - mu, kappa);
    let (above, mean_above) = von_mises_arc(y - mu, PI - mu, kappa);
    let (lower, upper) = (below - log_norm, above - log_norm);
    let tails =
        if lower < upper { Tails::from_lower(lower, here, [1.0]) } else { Tails::from_upper(upper, here, [1.0]) };
    // ∂F/∂κ = F (E[cos | below] − I₁/I₀), or the negative of the same above; by the smaller tail
    let ratio = bessel_ratio(kappa);
    let d_kappa =
        if lower < upper { (mean_below - ratio) / tails.lower_rate } else { (ratio - mean_above) / tails.upper_rate };
    // F is also a function of μ through the density at its lower end, −π
    let d_mu = (log_density(-PI) - here).exp() - 1.0;
    Ok(tails.with_slope([1.0, d_mu, d_kappa]))
}

cumulative!(von_mises_tails(y, mu, kappa) -> 3: von_mises_cdf = cdf, von_mises_lcdf = lcdf, von_mises_lccdf = lccdf);

fn check_uniform(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<(), DomainError> {
    domain.not_nan("Random variable", y)?;
    domain.finite("Lower bound parameter", alpha)?;
    domain.finite("Upper bound parameter", beta)?;
    domain.that(beta > alpha, "Upper bound parameter", beta, "greater than the lower bound parameter")
}

/// −log(β − α) for y in [α, β], −∞ elsewhere
pub fn uniform_lpdf(y: f64, alpha: f64, beta: f64, terms: Terms) -> Density<3> {
    check_uniform(Domain("uniform_lpdf"), y, alpha, beta)?;
    if !terms.keep(0b111) {
        return Ok(Partials::constant(0.0));
    }
    if y < alpha || y > beta {
        return Ok(Partials::constant(f64::NEG_INFINITY));
    }
    let width = beta - alpha;
    let value = if terms.keep(0b110) { -width.ln() } else { 0.0 };
    Ok(Partials { value, d: [0.0, 1.0 / width, -1.0 / width] })
}

fn uniform_tails(domain: Domain, y: f64, alpha: f64, beta: f64) -> Result<Tails<3>, DomainError> {
    check_uniform(domain, y, alpha, beta)?;
    if y < alpha || y > beta {
        // above the interval this is Stan's answer too, although the probability is 1 there
        return Ok(Tails::lowest());
    }
    let width = beta - alpha;
    let (below, above) = ((y - alpha) / width, (beta - y) / width);
    let (lower, upper) = if below < above { (below.ln(), (-below).ln_1p()) } else { ((-above).ln_1p(), above.ln()) };
    let slope = [1.0 / width, -above / width, -below / width];
    Ok(Tails { lower, upper, density: 1.0, lower_rate: 1.0 / below, upper_rate: 1.0 / above, slope })
}

cumulative!(uniform_tails(y, alpha, beta) -> 3: uniform_cdf = cdf, uniform_lcdf = lcdf, uniform_lccdf = lccdf);
