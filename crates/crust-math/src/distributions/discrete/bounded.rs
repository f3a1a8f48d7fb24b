//! Integers between two bounds: Bernoulli, binomial, beta-binomial, hypergeometric, uniform.

use super::rising::{log_choose, log_rising, real};
use crate::density::{Density, Domain, Partials, Terms};
use crate::special::{inv_logit, log1p_exp};

const PROBABILITY: &str = "in the interval [0, 1]";

/// `scale` · x, which is 0 where `scale` is 0 even if x is infinite.
#[inline]
fn times(scale: f64, x: f64) -> f64 {
    if scale == 0.0 { 0.0 } else { scale * x }
}

/// n log θ + (1 − n) log(1 − θ), n ∈ {0, 1}
pub fn bernoulli_lpmf(n: i64, theta: f64, terms: Terms) -> Density<2> {
    let domain = Domain("bernoulli_lpmf");
    domain.bounded("n", real(n), 0.0, 1.0, PROBABILITY)?;
    domain.bounded("Probability parameter", theta, 0.0, 1.0, PROBABILITY)?;
    let (value, d) = if n == 1 { (theta.ln(), 1.0 / theta) } else { ((-theta).ln_1p(), 1.0 / (theta - 1.0)) };
    Ok(Partials { value: if terms.keep(0b10) { value } else { 0.0 }, d: [0.0, d] })
}

/// The Bernoulli distribution with θ = logit⁻¹(α): −log(1 + exp(∓α))
pub fn bernoulli_logit_lpmf(n: i64, alpha: f64, terms: Terms) -> Density<2> {
    let domain = Domain("bernoulli_logit_lpmf");
    domain.bounded("n", real(n), 0.0, 1.0, PROBABILITY)?;
    domain.not_nan("Logit transformed probability parameter", alpha)?;
    let sign = if n == 1 { 1.0 } else { -1.0 };
    let value = if terms.keep(0b10) { -log1p_exp(-sign * alpha) } else { 0.0 };
    Ok(Partials { value, d: [0.0, sign * inv_logit(-sign * alpha)] })
}

fn successes(domain: Domain, n: i64, trials: i64) -> Result<(), crate::density::DomainError> {
    domain.that(n >= 0 && n <= trials, "Successes variable", real(n), "in the interval [0, population size]")
}

/// log (N over n) + n log θ + (N − n) log(1 − θ)
pub fn binomial_lpmf(n: i64, trials: i64, theta: f64, terms: Terms) -> Density<3> {
    let domain = Domain("binomial_lpmf");
    successes(domain, n, trials)?;
    domain.bounded("Probability parameter", theta, 0.0, 1.0, PROBABILITY)?;
    let (hits, misses) = (real(n), real(trials - n));
    let mut value = 0.0;
    if terms.keep(0b100) {
        value += times(hits, theta.ln()) + times(misses, (-theta).ln_1p());
    }
    if terms.keep(0) {
        value += log_choose(real(trials), hits);
    }
    Ok(Partials { value, d: [0.0, 0.0, times(hits, 1.0 / theta) - times(misses, 1.0 / (1.0 - theta))] })
}

/// The binomial distribution with θ = logit⁻¹(α): log (N over n) − n log(1 + exp(−α)) − (N − n) log(1 + exp(α))
pub fn binomial_logit_lpmf(n: i64, trials: i64, alpha: f64, terms: Terms) -> Density<3> {
    let domain = Domain("binomial_logit_lpmf");
    successes(domain, n, trials)?;
    domain.finite("Probability parameter", alpha)?;
    let (hits, misses) = (real(n), real(trials - n));
    let mut value = 0.0;
    if terms.keep(0b100) {
        value -= hits * log1p_exp(-alpha) + misses * log1p_exp(alpha);
    }
    if terms.keep(0) {
        value += log_choose(real(trials), hits);
    }
    Ok(Partials { value, d: [0.0, 0.0, hits * inv_logit(-alpha) - misses * inv_logit(alpha)] })
}

/// log (N over n) + log B(n + α, N − n + β) − log B(α, β); −∞ outside of 0 ≤ n ≤ N
pub fn beta_binomial_lpmf(n: i64, trials: i64, alpha: f64, beta: f64, terms: Terms) -> Density<4> {
    beta_binomial_domain(Domain("beta_binomial_lpmf"), trials, alpha, beta)?;
    if n < 0 || n > trials {
        return Ok(Partials::constant(if terms.keep(0b1100) { f64::NEG_INFINITY } else { 0.0 }));
    }
    let hits = log_rising(alpha, real(n));
    let misses = log_rising(beta, real(trials - n));
    let all = log_rising(alpha + beta, real(trials));
    let mut value = 0.0;
    if terms.keep(0b1100) {
        value += hits.value + misses.value - all.value;
    }
    if terms.keep(0) {
        value += log_choose(real(trials), real(n));
    }
    Ok(Partials { value, d: [0.0, 0.0, hits.d - all.d, misses.d - all.d] })
}

pub(super) fn beta_binomial_domain(
    domain: Domain,
    trials: i64,
    alpha: f64,
    beta: f64,
) -> Result<(), crate::density::DomainError> {
    domain.nonnegative("Population size parameter", real(trials))?;
    domain.positive_finite("First prior sample size parameter", alpha)?;
    domain.positive_finite("Second prior sample size parameter", beta)
}

/// The number n of successes among N draws without replacement from a successes and b failures:
/// log (a over n) + log (b over N − n) − log (a + b over N)
pub fn hypergeometric_lpmf(n: i64, draws: i64, a: i64, b: i64, terms: Terms) -> Density<4> {
    let domain = Domain("hypergeometric_lpmf");
    domain.that(n >= 0 && n <= a, "Successes variable", real(n), "in the interval [0, successes in population]")?;
    domain.that(draws >= n, "Draws parameter", real(draws), "at least the successes variable")?;
    let failures = draws - n;
    domain.that(
        failures <= b,
        "Draws parameter minus successes variable",
        real(failures),
        "at most the failures in population",
    )?;
    let value = if terms.keep(0) {
        log_choose(real(a), real(n)) + log_choose(real(b), real(failures)) - log_choose(real(a + b), real(draws))
    } else {
        0.0
    };
    Ok(Partials::constant(value))
}

/// −log(upper − lower + 1); −∞ outside of lower ≤ y ≤ upper
pub fn discrete_range_lpmf(y: i64, lower: i64, upper: i64, terms: Terms) -> Density<3> {
    discrete_range_domain(Domain("discrete_range_lpmf"), lower, upper)?;
    let value = match terms.keep(0) {
        false => 0.0,
        true if y < lower || y > upper => f64::NEG_INFINITY,
        true => -real(upper - lower + 1).ln(),
    };
    Ok(Partials::constant(value))
}

pub(super) fn discrete_range_domain(domain: Domain, lower: i64, upper: i64) -> Result<(), crate::density::DomainError> {
    domain.that(upper >= lower, "Upper bound parameter", real(upper), "at least the lower bound")
}
