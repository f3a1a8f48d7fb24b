//! Integers without upper bound: Poisson, negative binomial and its relatives, Yule–Simon.

use super::rising::{Slope, log_factorial, log_rising, log1pmx, real, rising_excess};
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{lgamma, lmultiply, log1p_exp};

/// n log λ − λ − log n!; −∞ for infinite λ, or for λ = 0 and n > 0
pub fn poisson_lpmf(n: i64, lambda: f64, terms: Terms) -> Density<2> {
    let domain = Domain("poisson_lpmf");
    domain.nonnegative("Random variable", real(n))?;
    domain.nonnegative("Rate parameter", lambda)?;
    let k = real(n);
    if lambda.is_infinite() || (lambda == 0.0 && n != 0) {
        return Ok(Partials::constant(if terms.keep(0b10) { f64::NEG_INFINITY } else { 0.0 }));
    }
    let mut value = 0.0;
    if terms.keep(0b10) {
        value += lmultiply(k, lambda) - lambda;
    }
    if terms.keep(0) {
        value -= log_factorial(k);
    }
    Ok(Partials { value, d: [0.0, if n == 0 { -1.0 } else { k / lambda - 1.0 }] })
}

/// The Poisson distribution with λ = exp(α): n α − exp(α) − log n!
pub fn poisson_log_lpmf(n: i64, alpha: f64, terms: Terms) -> Density<2> {
    let domain = Domain("poisson_log_lpmf");
    domain.nonnegative("Random variable", real(n))?;
    domain.not_nan("Log rate parameter", alpha)?;
    if alpha == f64::INFINITY || (alpha == f64::NEG_INFINITY && n != 0) {
        return Ok(Partials::constant(if terms.keep(0b10) { f64::NEG_INFINITY } else { 0.0 }));
    }
    let (k, lambda) = (real(n), alpha.exp());
    let mut value = 0.0;
    if terms.keep(0b10) {
        value += if n == 0 { -lambda } else { k * alpha - lambda };
    }
    if terms.keep(0) {
        value -= log_factorial(k);
    }
    Ok(Partials { value, d: [0.0, k - lambda] })
}

/// Shapes beyond this are treated as deviations from the Poisson distribution, which is their limit.
const NEAR_POISSON: f64 = 10.0;

/// log (k + α − 1 over k) + k log(odds) and ψ(α + k) − ψ(α), where `log_odds(c)` is log(c · odds).
fn log_failures(k: f64, alpha: f64, log_odds: impl Fn(f64) -> f64) -> Slope {
    if k == 0.0 {
        return Slope { value: 0.0, d: 0.0 };
    }
    if k > alpha {
        let value = log_gamma_ratio(k, alpha) - lgamma(alpha) + k * log_odds(1.0);
        return Slope { value, d: log_rising(alpha, k).d };
    }
    let (value, d) = if alpha < NEAR_POISSON {
        let rising = log_rising(alpha, k);
        (rising.value + k * log_odds(1.0), rising.d)
    } else {
        // the large k log α joins the small log(odds)
        let excess = rising_excess(alpha, k);
        (excess.value + k * log_odds(alpha), excess.d + k / alpha)
    };
    Slope { value: value - log_factorial(k), d }
}

/// log Γ(k + a) − log k!, which is much smaller than either where k is large.
fn log_gamma_ratio(k: f64, a: f64) -> f64 {
    if a < 1.0 { -log_rising(k + a, 1.0 - a).value } else { log_rising(k + 1.0, a - 1.0).value }
}

pub(super) fn neg_binomial_domain(domain: Domain, alpha: f64, beta: f64) -> Result<(), DomainError> {
    domain.positive_finite("Shape parameter", alpha)?;
    domain.positive_finite("Inverse scale parameter", beta)
}

/// log (n + α − 1 over α − 1) + α log(β / (β + 1)) − n log(β + 1)
pub fn neg_binomial_lpmf(n: i64, alpha: f64, beta: f64, terms: Terms) -> Density<3> {
    let domain = Domain("neg_binomial_lpmf");
    domain.nonnegative("Failures variable", real(n))?;
    neg_binomial_domain(domain, alpha, beta)?;
    let k = real(n);
    let log_inverse = if beta < 1e-300 { -beta.ln() } else { (1.0 / beta).ln_1p() };
    let log_odds = |c: f64| if beta < 1.0 { c.ln() - beta.ln_1p() } else { (c / (1.0 + beta)).ln() };
    let failures = log_failures(k, alpha, log_odds);
    let mut value = 0.0;
    if terms.keep(0b10) {
        value += failures.value - alpha * log_inverse;
    } else if terms.keep(0b100) {
        value -= alpha * log_inverse + k * beta.ln_1p();
    }
    Ok(Partials { value, d: [0.0, failures.d - log_inverse, (alpha / beta - k) / (1.0 + beta)] })
}

pub(super) fn neg_binomial_2_domain(domain: Domain, mu: f64, phi: f64) -> Result<(), DomainError> {
    domain.positive_finite("Location parameter", mu)?;
    domain.positive_finite("Precision parameter", phi)
}

/// log (n + φ − 1 over n) + n log(μ / (μ + φ)) + φ log(φ / (μ + φ))
pub fn neg_binomial_2_lpmf(n: i64, mu: f64, phi: f64, terms: Terms) -> Density<3> {
    let domain = Domain("neg_binomial_2_lpmf");
    domain.nonnegative("Failures variable", real(n))?;
    neg_binomial_2_domain(domain, mu, phi)?;
    let k = real(n);
    let ratio = Ratio::new(mu, mu.ln(), phi);
    let (all, d_phi) = ratio.negative_binomial(k, mu, phi);
    let value = match (terms.keep(0b10), terms.keep(0b100)) {
        (true, true) => all,
        (false, true) => all - lmultiply(k, mu),
        (true, false) => lmultiply(k, mu) - phi * ratio.log1p - k * (mu + phi).ln(),
        (false, false) => 0.0,
    };
    Ok(Partials { value, d: [0.0, (k / mu - 1.0) / (1.0 + ratio.x), d_phi] })
}

/// The distribution [`neg_binomial_2_lpmf`] with μ = exp(η)
pub fn neg_binomial_2_log_lpmf(n: i64, eta: f64, phi: f64, terms: Terms) -> Density<3> {
    let domain = Domain("neg_binomial_2_log_lpmf");
    domain.nonnegative("Failures variable", real(n))?;
    domain.finite("Log location parameter", eta)?;
    domain.positive_finite("Precision parameter", phi)?;
    let (k, mu) = (real(n), eta.exp());
    let ratio = Ratio::new(mu, eta, phi);
    let (all, d_phi) = ratio.negative_binomial(k, mu, phi);
    let value = match (terms.keep(0b10), terms.keep(0b100)) {
        (true, true) => all,
        (false, true) => all - k * eta,
        (true, false) => k * eta - phi * ratio.log1p - k * (phi.ln() + ratio.log1p),
        (false, false) => 0.0,
    };
    let d_eta = if ratio.x < 1.0 { (k - mu) / (1.0 + ratio.x) } else { k * (1.0 - ratio.odds) - phi * ratio.odds };
    Ok(Partials { value, d: [0.0, d_eta, d_phi] })
}

/// How the mean of a negative binomial distribution compares to its precision.
struct Ratio {
    /// μ / φ
    x: f64,
    /// log(1 + x)
    log1p: f64,
    /// x / (1 + x)
    odds: f64,
    /// log x
    logit: f64,
}

impl Ratio {
    /// The logarithm serves where μ or the ratio has left the range of numbers.
    fn new(mu: f64, log_mu: f64, phi: f64) -> Self {
        let direct = mu / phi;
        let normal = direct.is_normal() && mu.is_normal();
        let logit = log_mu - phi.ln();
        let x = if normal { direct } else { logit.exp() };
        let odds = if x < 1.0 { x / (1.0 + x) } else { 1.0 / (1.0 + 1.0 / x) };
        Self { x, log1p: if normal { x.ln_1p() } else { log1p_exp(logit) }, odds, logit }
    }

    /// log (k + φ − 1 over k) + k log(x / (1 + x)) − φ log(1 + x) and its derivative for φ, accurate for any φ.
    fn negative_binomial(&self, k: f64, mu: f64, phi: f64) -> (f64, f64) {
        let Self { x, log1p, odds, logit } = *self;
        let log_odds = |c: f64| match x {
            x if x > 1.0 => c.ln() - (1.0 / x).ln_1p(),
            _ if odds.is_normal() => (c * odds).ln(),
            _ => c.ln() + logit,
        };
        let failures = log_failures(k, phi, log_odds);
        let value = failures.value - phi * log1p;
        let d = if phi >= NEAR_POISSON && x < 1.0 {
            // the sum of differences that go to 0 like 1 / φ²
            rising_excess(phi, k).d - log1pmx(x) + odds * (k - mu) / phi
        } else {
            failures.d - log1p + odds - k * (1.0 - odds) / phi
        };
        (value, d)
    }
}

pub(super) fn beta_neg_binomial_domain(domain: Domain, r: f64, alpha: f64, beta: f64) -> Result<(), DomainError> {
    domain.positive_finite("Number of successes parameter", r)?;
    domain.positive_finite("Prior success parameter", alpha)?;
    domain.positive_finite("Prior failure parameter", beta)
}

/// log B(n + r, α + β) − log B(r, α) + log Γ(n + β) − log Γ(β) − log n!
pub fn beta_neg_binomial_lpmf(n: i64, r: f64, alpha: f64, beta: f64, terms: Terms) -> Density<4> {
    let domain = Domain("beta_neg_binomial_lpmf");
    domain.nonnegative("Failures variable", real(n))?;
    beta_neg_binomial_domain(domain, r, alpha, beta)?;
    let k = real(n);
    let successes = log_rising(r, k);
    let failures = log_rising(beta, k);
    let mixed = log_rising(r + alpha, k + beta);
    let prior = log_rising(alpha, beta);
    let all = if k > r + alpha + beta {
        // the same gamma functions, paired such that none is much larger than the result
        let beta_functions = log_rising(r, alpha).value + prior.value - lgamma(beta);
        log_gamma_ratio(k, r) - log_rising(k + beta, r + alpha).value + beta_functions
    } else {
        successes.value + failures.value + prior.value - mixed.value - log_factorial(k)
    };
    let value = match (terms.keep(0), terms.keep(0b1110)) {
        (true, _) => all,
        (false, true) => all + log_factorial(k),
        (false, false) => 0.0,
    };
    let d_beta = failures.d - log_rising(alpha + beta, k + r).d;
    Ok(Partials { value, d: [0.0, successes.d - mixed.d, prior.d - mixed.d, d_beta] })
}

/// log α + log B(n, α + 1) = log α + log Γ(n) + log Γ(α + 1) − log Γ(n + α + 1), n ≥ 1
pub fn yule_simon_lpmf(n: i64, alpha: f64, terms: Terms) -> Density<2> {
    let domain = Domain("yule_simon_lpmf");
    domain.that(n >= 1, "Outcome variable", real(n), "greater than or equal to 1")?;
    domain.positive_finite("Shape parameter", alpha)?;
    let k = real(n);
    let rising = log_rising(alpha + 1.0, k);
    let value = match (terms.keep(0), terms.keep(0b10)) {
        (true, _) if k > alpha + 1.0 => alpha.ln() + log_factorial(alpha) - log_rising(k, alpha + 1.0).value,
        (true, _) => alpha.ln() - rising.value + log_factorial(k - 1.0),
        (false, true) => alpha.ln() - rising.value,
        (false, false) => 0.0,
    };
    Ok(Partials { value, d: [0.0, 1.0 / alpha - rising.d] })
}
