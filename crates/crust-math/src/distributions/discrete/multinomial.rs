//! Counts of K categories: multinomial with probabilities or logits, Dirichlet-multinomial.
//!
//! Partials for a vector overwrite a slice of its length that the caller owns.

use super::categories::{log_sum_exp, simplex};
use super::rising::{log_factorial, log_rising, real};
use crate::density::{Domain, DomainError, Terms};
use crate::special::lmultiply;

/// Checks the counts and returns their sum.
fn total(domain: Domain, ns: &[i64], parameters: usize) -> Result<f64, DomainError> {
    let name = "Size of number of trials variable";
    domain.that(
        ns.len() == parameters,
        name,
        real(i64::try_from(ns.len()).unwrap_or(i64::MAX)),
        "that of the parameter",
    )?;
    ns.iter().try_for_each(|&n| domain.nonnegative("Number of trials variable", real(n)))?;
    Ok(ns.iter().map(|&n| real(n)).sum())
}

/// log (Σ nᵢ)! − Σ log nᵢ!
fn log_arrangements(ns: &[i64], total: f64) -> f64 {
    log_factorial(total) - ns.iter().map(|&n| log_factorial(real(n))).sum::<f64>()
}

/// log (Σ nᵢ)! − Σ log nᵢ! + Σ nᵢ log θᵢ
pub fn multinomial_lpmf(ns: &[i64], theta: &[f64], terms: Terms, d_theta: &mut [f64]) -> Result<f64, DomainError> {
    let domain = Domain("multinomial_lpmf");
    let total = total(domain, ns, theta.len())?;
    simplex(domain, theta)?;
    let mut value = 0.0;
    for ((d, &n), &p) in d_theta.iter_mut().zip(ns).zip(theta) {
        value += lmultiply(real(n), p);
        *d = if n == 0 { 0.0 } else { real(n) / p };
    }
    if !terms.keep(0b10) {
        value = 0.0;
    }
    if terms.keep(0) {
        value += log_arrangements(ns, total);
    }
    Ok(value)
}

/// The multinomial distribution with θ = softmax(β): log (Σ nᵢ)! − Σ log nᵢ! + Σ nᵢ (βᵢ − log Σ exp βⱼ)
pub fn multinomial_logit_lpmf(ns: &[i64], beta: &[f64], terms: Terms, d_beta: &mut [f64]) -> Result<f64, DomainError> {
    let domain = Domain("multinomial_logit_lpmf");
    let total = total(domain, ns, beta.len())?;
    beta.iter().try_for_each(|&b| domain.finite("log-probabilities parameter", b))?;
    let normalizer = log_sum_exp(beta, d_beta);
    let mut value = 0.0;
    for ((d, &n), &b) in d_beta.iter_mut().zip(ns).zip(beta) {
        value += real(n) * (b - normalizer);
        *d = real(n) - total * *d;
    }
    if !terms.keep(0b10) {
        value = 0.0;
    }
    if terms.keep(0) {
        value += log_arrangements(ns, total);
    }
    Ok(value)
}

/// With A = Σ αᵢ and N = Σ nᵢ: log N − Σ log nᵢ + log B(A, N) − Σ log B(αᵢ, nᵢ), sums over nᵢ > 0; 0 if N = 0
pub fn dirichlet_multinomial_lpmf(
    ns: &[i64],
    alpha: &[f64],
    terms: Terms,
    d_alpha: &mut [f64],
) -> Result<f64, DomainError> {
    let domain = Domain("dirichlet_multinomial_lpmf");
    let total = total(domain, ns, alpha.len())?;
    alpha.iter().try_for_each(|&a| domain.positive_finite("Prior size parameter", a))?;
    let all = log_rising(alpha.iter().sum(), total);
    let mut value = -all.value;
    for ((d, &n), &a) in d_alpha.iter_mut().zip(ns).zip(alpha) {
        let one = log_rising(a, real(n));
        value += one.value;
        *d = one.d - all.d;
    }
    let value = if total == 0.0 {
        0.0
    } else if terms.keep(0) {
        value + log_arrangements(ns, total)
    } else if terms.keep(0b10) {
        // Γ(N) and Γ(nᵢ) belong to the beta functions, which stay
        let counts = ns.iter().filter(|&&n| n > 0);
        value + log_factorial(total - 1.0) - counts.map(|&n| log_factorial(real(n) - 1.0)).sum::<f64>()
    } else {
        0.0
    };
    Ok(value)
}
