//! One of K categories: probabilities, logits, and cutpoints on a latent scale.
//!
//! Partials for a vector overwrite a slice of its length that the caller owns.

use super::rising::real;
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::special::{inv_logit, log1m_exp, log1p_exp};

/// Stan's `CONSTRAINT_TOLERANCE`: how far from 1 the sum of a simplex may be.
const CONSTRAINT_TOLERANCE: f64 = 1e-8;

pub(super) fn simplex(domain: Domain, theta: &[f64]) -> Result<(), DomainError> {
    let name = "Probabilities parameter";
    let sum: f64 = theta.iter().sum();
    domain.that((1.0 - sum).abs() <= CONSTRAINT_TOLERANCE, name, sum, "a simplex: its sum must be 1")?;
    theta.iter().try_for_each(|&p| domain.that(p >= 0.0, name, p, "a simplex: its elements must be nonnegative"))
}

/// The category's index from 0, for 1 ≤ n ≤ `categories`.
fn category(domain: Domain, argument: &'static str, n: i64, categories: usize) -> Result<usize, DomainError> {
    match usize::try_from(n) {
        Ok(n) if n >= 1 && n <= categories => Ok(n - 1),
        _ => Err(DomainError {
            function: domain.0,
            argument,
            value: real(n),
            must_be: "between 1 and the number of categories",
        }),
    }
}

/// log θₙ, 1 ≤ n ≤ K
pub fn categorical_lpmf(n: i64, theta: &[f64], terms: Terms, d_theta: &mut [f64]) -> Result<f64, DomainError> {
    let domain = Domain("categorical_lpmf");
    let i = category(domain, "Number of categories", n, theta.len())?;
    simplex(domain, theta)?;
    d_theta.fill(0.0);
    d_theta[i] = 1.0 / theta[i];
    Ok(if terms.keep(0b10) { theta[i].ln() } else { 0.0 })
}

/// log Σ exp βᵢ, and the softmax of β in `softmax`.
pub(super) fn log_sum_exp(beta: &[f64], softmax: &mut [f64]) -> f64 {
    let max = beta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (p, &b) in softmax.iter_mut().zip(beta) {
        *p = (b - max).exp();
        sum += *p;
    }
    softmax.iter_mut().for_each(|p| *p /= sum);
    max + sum.ln()
}

/// log softmax(β)ₙ = βₙ − log Σ exp βᵢ
pub fn categorical_logit_lpmf(n: i64, beta: &[f64], terms: Terms, d_beta: &mut [f64]) -> Result<f64, DomainError> {
    let domain = Domain("categorical_logit_lpmf");
    let i = category(domain, "categorical outcome out of support", n, beta.len())?;
    beta.iter().try_for_each(|&b| domain.finite("log odds parameter", b))?;
    let total = log_sum_exp(beta, d_beta);
    // 1 − softmax, without cancellation where the softmax is near 1
    let others: f64 = d_beta.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, p)| p).sum();
    d_beta.iter_mut().for_each(|p| *p = -*p);
    d_beta[i] = others;
    let value = if others < 0.5 { (-others).ln_1p() } else { beta[i] - total };
    Ok(if terms.keep(0b10) { value } else { 0.0 })
}

/// The cutpoints below and above category `y`, −∞ and +∞ at the ends.
struct Between {
    /// The index of the category from 0: also that of the cutpoint above it.
    above: usize,
    low: f64,
    high: f64,
}

fn between(domain: Domain, y: i64, lambda: f64, c: &[f64]) -> Result<Between, DomainError> {
    domain.finite("Location parameter", lambda)?;
    let above = category(domain, "Random variable", y, c.len() + 1)?;
    c.windows(2).try_for_each(|pair| domain.that(pair[1] > pair[0], "Cut-points", pair[1], "ordered"))?;
    if let (Some(&first), Some(&last)) = (c.first(), c.last()) {
        domain.finite("Final cut-point", last)?;
        domain.finite("First cut-point", first)?;
    }
    Ok(Between {
        above,
        low: if above == 0 { f64::NEG_INFINITY } else { c[above - 1] },
        high: c.get(above).copied().unwrap_or(f64::INFINITY),
    })
}

impl Between {
    /// Writes the derivatives for the two cutpoints next to the category.
    fn scatter(&self, d_low: f64, d_high: f64, d_c: &mut [f64]) {
        d_c.fill(0.0);
        if self.above > 0 {
            d_c[self.above - 1] = d_low;
        }
        if let Some(d) = d_c.get_mut(self.above) {
            *d = d_high;
        }
    }
}

/// log(logit⁻¹(λ − c[y − 1]) − logit⁻¹(λ − c\[y\])), where c\[0\] = −∞ and c\[K\] = ∞
pub fn ordered_logistic_lpmf(y: i64, lambda: f64, c: &[f64], terms: Terms, d_c: &mut [f64]) -> Density<2> {
    let b = between(Domain("ordered_logistic_lpmf"), y, lambda, c)?;
    let gap = b.high - b.low;
    // with u = λ − low and v = λ − high: the difference is (1 − exp(−gap)) logit⁻¹(u) logit⁻¹(−v)
    let (u, v) = (lambda - b.low, lambda - b.high);
    let value = log1m_exp(-gap) - log1p_exp(-u) - log1p_exp(v);
    let narrow = 1.0 / gap.exp_m1();
    b.scatter(-(inv_logit(-u) + narrow), inv_logit(v) + narrow, d_c);
    let d_lambda = inv_logit(-u) - inv_logit(v);
    Ok(Partials { value: if terms.keep(0b110) { value } else { 0.0 }, d: [0.0, d_lambda] })
}

/// log(Φ(c\[y\] − λ) − Φ(c[y − 1] − λ)), where c\[0\] = −∞ and c\[K\] = ∞. Stan never drops it.
pub fn ordered_probit_lpmf(y: i64, lambda: f64, c: &[f64], _terms: Terms, d_c: &mut [f64]) -> Density<2> {
    let domain = Domain("ordered_probit_lpmf");
    domain.that(!c.is_empty(), "Cut-points", 0.0, "of nonzero size")?;
    let b = between(domain, y, lambda, c)?;
    let (low, high, gap) = (b.low - lambda, b.high - lambda, b.high - b.low);
    let value = log_normal_interval(low, high, gap);
    let (at_low, at_high) = ((log_phi(low) - value).exp(), (log_phi(high) - value).exp());
    b.scatter(-at_low, at_high, d_c);
    // φ(low) − φ(high) without cancellation: the log of their ratio is a product
    let ratio = 0.5 * gap * (low + high);
    let d_lambda = match ratio {
        r if !r.is_finite() => at_low - at_high,
        r if r > 0.0 => -at_low * (-r).exp_m1(),
        r => at_high * r.exp_m1(),
    };
    Ok(Partials { value, d: [0.0, d_lambda] })
}

/// The log density of the standard normal distribution.
fn log_phi(x: f64) -> f64 {
    -0.5 * x * x - 0.5 * std::f64::consts::TAU.ln()
}

/// log Φ(x) for x ≤ 0.
fn log_normal_tail(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return x;
    }
    (0.5 * pxfm::f_erfcx(-x * std::f64::consts::FRAC_1_SQRT_2)).ln() - 0.5 * x * x
}

/// log(Φ(high) − Φ(low)) for low < high, where `gap` is their difference before rounding.
fn log_normal_interval(low: f64, high: f64, gap: f64) -> f64 {
    if low > 0.0 {
        return log_normal_interval(-high, -low, gap);
    }
    if gap < 0.5 / (1.0 + low.abs()) {
        return log_normal_short_interval(0.5 * (low + high), 0.5 * gap);
    }
    if high > 0.0 {
        // 1 minus both tails
        let tail = |x: f64| 0.5 * pxfm::f_erfc(x * std::f64::consts::FRAC_1_SQRT_2);
        let outside = tail(high) + tail(-low);
        return if outside < 0.5 { (-outside).ln_1p() } else { half_erf(low, high).ln() };
    }
    let outer = log_normal_tail(high);
    outer + log1m_exp(log_normal_tail(low) - outer)
}

/// Φ(high) − Φ(low) for low ≤ 0 < high, as a sum of two positive numbers.
fn half_erf(low: f64, high: f64) -> f64 {
    let side = |x: f64| 0.5 * pxfm::f_erf(x * std::f64::consts::FRAC_1_SQRT_2);
    side(high) + side(-low)
}

/// Nodes and weights of the Gauss–Legendre rule with eight points (Abramowitz & Stegun, table 25.4).
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// The same where both ends are so close that the difference would cancel: an integral of the density.
fn log_normal_short_interval(middle: f64, half: f64) -> f64 {
    let density = |s: f64| (-s * (middle + 0.5 * s)).exp();
    let mean: f64 = GAUSS.iter().map(|&(x, w)| 0.5 * w * (density(x * half) + density(-x * half))).sum();
    log_phi(middle) + (2.0 * half * mean).ln()
}
