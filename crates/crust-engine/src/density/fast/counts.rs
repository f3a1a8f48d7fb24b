//! Distributions of integers.

use crust_math::lanes::scalar::{digamma, exp, lgamma, log, log1p, log1p_exp_with_slope, rising_product};
use crust_math::special::LN_SQRT_TAU;

use super::row::{Hoisted, Space, all, each, factor, finite, map, nonnegative, number, ordinary, reciprocal};
use crate::machine::Rows;

#[inline(always)]
#[allow(clippy::float_cmp, reason = "integers are exact")]
fn bit(n: f64) -> bool {
    n == 0.0 || n == 1.0
}

#[inline(always)]
fn probability(theta: f64) -> bool {
    theta > 1e-290 && theta < 1.0
}

/// The exponential and its reciprocal stay within the range of numbers.
#[inline(always)]
fn moderate(eta: f64) -> bool {
    eta.abs() < 600.0
}

/// log n!
#[inline(always)]
pub(super) fn log_factorial(n: f64) -> f64 {
    lgamma(n + 1.0)
}

/// n log θ + (1 − n) log(1 − θ), n ∈ {0, 1}
#[inline(always)]
pub fn bernoulli(rows: &mut Rows) -> bool {
    let ([n, theta, ..], terms) = (rows.arguments, rows.terms);
    if !(all(n, bit) && all(theta, probability)) {
        return false;
    }
    let kept = factor(terms.keep(0b10));
    let value = &mut *rows.value;
    let [d_n, d_theta, ..] = rows.partials;
    each!([n, theta], [kept], [value, d_n, d_theta], {
        let hit = n > 0.5;
        let complement = 1.0 - theta;
        let p = if hit { theta } else { complement };
        // 1 − θ is rounded; to the first order that adds its error over 1 − θ to the logarithm.
        let error = if hit { 0.0 } else { (1.0 - complement) - theta };
        let inverse = 1.0 / p;
        *value = kept * (error * inverse + log(p));
        *d_n = 0.0;
        *d_theta = if hit { inverse } else { -inverse };
    });
    all(value, finite)
}

/// The Bernoulli distribution with θ = logit⁻¹(α): −log(1 + exp(∓α))
#[inline(always)]
pub fn bernoulli_logit(rows: &mut Rows) -> bool {
    let ([n, alpha, ..], terms) = (rows.arguments, rows.terms);
    if !(all(n, bit) && all(alpha, finite)) {
        return false;
    }
    let kept = factor(terms.keep(0b10));
    let value = &mut *rows.value;
    let [d_n, d_alpha, ..] = rows.partials;
    each!([n, alpha], [kept], [value, d_n, d_alpha], {
        let sign = 2.0 * n - 1.0;
        let (softplus, miss) = log1p_exp_with_slope(-sign * alpha);
        *value = -kept * softplus;
        *d_n = 0.0;
        *d_alpha = sign * miss;
    });
    true
}

/// Whether n successes among so many trials are possible.
#[inline(always)]
pub(super) fn possible(n: &[f64], trials: &[f64]) -> bool {
    let mut misses = Space::empty();
    misses.zeros(n.len());
    each!([n, trials], [], [misses], { *misses = trials - n });
    all(n, nonnegative) && all(&misses, nonnegative)
}

/// log (N over n), or 0 where that is not needed.
#[inline(always)]
pub(super) fn log_choose(needed: bool, n: &[f64], trials: &[f64], out: &mut Space) {
    if !needed {
        out.zeros(n.len());
        return;
    }
    let (mut misses, mut below, mut above) = (Space::empty(), Space::empty(), Space::empty());
    misses.zeros(n.len());
    each!([n, trials], [], [misses], { *misses = trials - n });
    Hoisted::new(trials).map(
        true,
        out,
        #[inline(always)]
        |x| log_factorial(x),
    );
    Hoisted::new(n).map(
        true,
        &mut above,
        #[inline(always)]
        |x| log_factorial(x),
    );
    Hoisted::new(&misses).map(
        true,
        &mut below,
        #[inline(always)]
        |x| log_factorial(x),
    );
    each!([above, below], [], [out], { *out -= above + below });
}

/// log (N over n) + n log θ + (N − n) log(1 − θ)
#[inline(always)]
pub fn binomial(rows: &mut Rows) -> bool {
    let ([n, trials, theta, ..], terms) = (rows.arguments, rows.terms);
    if !(possible(n, trials) && all(theta, probability)) {
        return false;
    }
    let (mut choose, mut log_theta, mut log1m_theta) = (Space::empty(), Space::empty(), Space::empty());
    log_choose(terms.keep(0), n, trials, &mut choose);
    let mut hoisted = rows.hoisted(2);
    hoisted.map(
        terms.keep(0b100),
        &mut log_theta,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        terms.keep(0b100),
        &mut log1m_theta,
        #[inline(always)]
        |theta| log1p(-theta),
    );
    let value = &mut *rows.value;
    let [d_n, d_trials, d_theta, ..] = rows.partials;
    each!([n, trials, theta, choose, log_theta, log1m_theta], [], [value, d_n, d_trials, d_theta], {
        let misses = trials - n;
        *value = choose + n * log_theta + misses * log1m_theta;
        *d_n = 0.0;
        *d_trials = 0.0;
        *d_theta = n / theta - misses / (1.0 - theta);
    });
    all(value, finite)
}

/// The binomial distribution with θ = logit⁻¹(α): log (N over n) − n log(1 + exp(−α)) − (N − n) log(1 + exp(α))
#[inline(always)]
pub fn binomial_logit(rows: &mut Rows) -> bool {
    let ([n, trials, alpha, ..], terms) = (rows.arguments, rows.terms);
    if !(possible(n, trials) && all(alpha, finite)) {
        return false;
    }
    let mut choose = Space::empty();
    log_choose(terms.keep(0), n, trials, &mut choose);
    let kept = factor(terms.keep(0b100));
    let value = &mut *rows.value;
    let [d_n, d_trials, d_alpha, ..] = rows.partials;
    each!([n, trials, alpha, choose], [kept], [value, d_n, d_trials, d_alpha], {
        let misses = trials - n;
        // log(1 + exp(±α)) is the same for both signs but for |α|, which belongs to the unlikely outcome.
        let (softplus, small) = log1p_exp_with_slope(-alpha.abs());
        let large = 1.0 - small;
        let (unlikely, p, q) = if alpha > 0.0 { (misses, large, small) } else { (n, small, large) };
        *value = choose - kept * (trials * softplus + unlikely * alpha.abs());
        *d_n = 0.0;
        *d_trials = 0.0;
        *d_alpha = n * q - misses * p;
    });
    all(value, finite)
}

/// n log λ − λ − log n!
#[inline(always)]
pub fn poisson(rows: &mut Rows) -> bool {
    let ([n, lambda, ..], terms) = (rows.arguments, rows.terms);
    if !(all(n, nonnegative) && all(lambda, ordinary)) {
        return false;
    }
    let (mut factorial, mut log_lambda, mut inverse) = (Space::empty(), Space::empty(), Space::empty());
    rows.hoisted(0).map(
        terms.keep(0),
        &mut factorial,
        #[inline(always)]
        |x| log_factorial(x),
    );
    let mut hoisted = rows.hoisted(1);
    hoisted.map(
        terms.keep(0b10),
        &mut log_lambda,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        rows.wanted & 0b10 != 0,
        &mut inverse,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let kept = factor(terms.keep(0b10));
    let value = &mut *rows.value;
    let [d_n, d_lambda, ..] = rows.partials;
    each!([n, lambda, factorial, log_lambda, inverse], [kept], [value, d_n, d_lambda], {
        *value = (n * log_lambda - kept * lambda) - factorial;
        *d_n = 0.0;
        *d_lambda = n * inverse - 1.0;
    });
    all(value, finite)
}

/// The Poisson distribution with λ = exp(α): n α − exp(α) − log n!
#[inline(always)]
pub fn poisson_log(rows: &mut Rows) -> bool {
    let ([n, alpha, ..], terms) = (rows.arguments, rows.terms);
    if !(all(n, nonnegative) && all(alpha, number)) {
        return false;
    }
    let mut factorial = Space::empty();
    rows.hoisted(0).map(
        terms.keep(0),
        &mut factorial,
        #[inline(always)]
        |x| log_factorial(x),
    );
    let kept = factor(terms.keep(0b10));
    let value = &mut *rows.value;
    let [d_n, d_alpha, ..] = rows.partials;
    each!([n, alpha, factorial], [kept], [value, d_n, d_alpha], {
        let lambda = exp(alpha);
        *value = kept * (n * alpha - lambda) - factorial;
        *d_n = 0.0;
        *d_alpha = n - lambda;
    });
    // Infinite rates are left to the exact density.
    all(value, finite)
}

/// From here on differences of log Γ are computed by Stirling's series.
const LARGE: f64 = 10.0;

/// The rows that both parametrisations of the negative binomial distribution need.
struct Negative {
    mu: Space,
    log_mu: Space,
    log_phi: Space,
    lgamma_phi: Space,
    digamma_phi: Space,
    factorial: Space,
}

impl Negative {
    #[inline(always)]
    fn empty() -> Self {
        Self {
            mu: Space::empty(),
            log_mu: Space::empty(),
            log_phi: Space::empty(),
            lgamma_phi: Space::empty(),
            digamma_phi: Space::empty(),
            factorial: Space::empty(),
        }
    }
}

/// log (n + φ − 1 over n) + n log(μ / (μ + φ)) + φ log(φ / (μ + φ))
#[inline(always)]
pub fn neg_binomial_2(rows: &mut Rows) -> bool {
    let ([n, mu, phi, ..], mut space) = (rows.arguments, Negative::empty());
    if !(all(n, nonnegative) && all(mu, ordinary) && all(phi, ordinary)) {
        return false;
    }
    rows.hoisted(1).map(
        true,
        &mut space.log_mu,
        #[inline(always)]
        |x| log(x),
    );
    space.mu.zeros(n.len()).copy_from_slice(mu);
    if !negative_binomial(rows, &mut space) {
        return false;
    }
    let [_, d_mu, ..] = rows.partials;
    each!([n, mu, phi], [], [d_mu], {
        *d_mu = (n - mu) / mu * (phi / (mu + phi));
    });
    all(rows.value, finite)
}

/// The distribution [`neg_binomial_2`] with μ = exp(η)
#[inline(always)]
pub fn neg_binomial_2_log(rows: &mut Rows) -> bool {
    let ([n, eta, phi, ..], mut space) = (rows.arguments, Negative::empty());
    if !(all(n, nonnegative) && all(eta, moderate) && all(phi, ordinary)) {
        return false;
    }
    map(
        eta,
        space.mu.zeros(n.len()),
        #[inline(always)]
        |eta| exp(eta),
    );
    space.log_mu.zeros(n.len()).copy_from_slice(eta);
    if !negative_binomial(rows, &mut space) {
        return false;
    }
    let mu = &space.mu;
    let [_, d_eta, ..] = rows.partials;
    each!([n, mu, phi], [], [d_eta], {
        *d_eta = (n - mu) * (phi / (mu + phi));
    });
    all(rows.value, finite)
}

/// The value and the derivative for φ.
#[inline(always)]
fn negative_binomial(rows: &mut Rows, space: &mut Negative) -> bool {
    let ([_, _, phi, ..], terms) = (rows.arguments, rows.terms);
    let with_phi = terms.keep(0b100);
    if !(terms.keep(0b110) && (with_phi || rows.wanted & 0b100 == 0)) {
        return false;
    }
    rows.hoisted(0).map(
        with_phi,
        &mut space.factorial,
        #[inline(always)]
        |x| log_factorial(x),
    );
    let mut hoisted = rows.hoisted(2);
    hoisted.map(
        true,
        &mut space.log_phi,
        #[inline(always)]
        |x| log(x),
    );
    // Below, log Γ(n + φ) and log Γ(φ) are so large that digits of their difference are lost.
    if with_phi
        && !all(
            phi,
            #[inline(always)]
            |phi| phi > 1e-6,
        )
    {
        return false;
    }
    // log(n + φ − 1 over n) comes with φ, n log μ with μ: whatever is left out is data.
    if !with_phi {
        negative_binomial_of_mean(rows, space);
        return true;
    }
    if !all(
        phi,
        #[inline(always)]
        |phi| phi >= LARGE,
    ) {
        hoisted.map(
            true,
            &mut space.lgamma_phi,
            #[inline(always)]
            |x| lgamma(x),
        );
        hoisted.map(
            true,
            &mut space.digamma_phi,
            #[inline(always)]
            |x| digamma(x),
        );
        small_precision(rows, space);
    }
    if !all(
        phi,
        #[inline(always)]
        |phi| phi < LARGE,
    ) {
        large_precision(rows, space);
    }
    true
}

/// Only the terms with μ: n log μ − (n + φ) log(μ + φ) + φ log φ
#[inline(always)]
fn negative_binomial_of_mean(rows: &mut Rows, space: &Negative) {
    let [n, _, phi, ..] = rows.arguments;
    let Negative { mu, log_mu, log_phi, .. } = space;
    let value = &mut *rows.value;
    let [d_n, _, d_phi, ..] = rows.partials;
    each!([n, mu, phi, log_mu, log_phi], [], [value, d_n, d_phi], {
        let log_ratio = log1p(mu / phi);
        *value = n * log_mu - phi * log_ratio - n * (log_phi + log_ratio);
        *d_n = 0.0;
        *d_phi = 0.0;
    });
}

/// log Γ(n + φ) − log Γ(φ) − log n! + n log μ + φ log φ − (n + φ) log(μ + φ), for φ that are not large.
///
/// With x = n + φ, y = x + k and P = x (x + 1) … (x + k − 1), where k is 8 below 8 and 0 above, Stirling's formula for
/// log Γ(y) = log Γ(x) + log P leaves two logarithms for the value and the derivative:
/// log Γ(x) − x log(μ + φ) = x log(y / (μ + φ)) − y + log √(2π) + S(y) − log(P y^(½ − k))
/// ψ(x) − log(μ + φ) = log(y / (μ + φ)) − 1/(2y) + S′(y) − P′/P
#[inline(always)]
fn small_precision(rows: &mut Rows, space: &Negative) {
    let ([n, _, phi, ..], with_mu) = (rows.arguments, factor(rows.terms.keep(0b010)));
    let Negative { mu, log_mu, log_phi, lgamma_phi, digamma_phi, factorial } = space;
    let value = &mut *rows.value;
    let [d_n, _, d_phi, ..] = rows.partials;
    each!([n, mu, phi, log_mu, log_phi, lgamma_phi, digamma_phi, factorial], [with_mu], [value, d_n, d_phi], {
        let (x, sum) = (n + phi, mu + phi);
        let up = x < 8.0;
        let y = if up { x + 8.0 } else { x };
        let (product, slope) = rising_product(x);
        let rising = if up { slope / product } else { 0.0 };
        let u = 1.0 / y;
        let (series, series_slope) = stirling(u);
        let u4 = (u * u) * (u * u);
        let scaled = if up { product * (u4 * u4) } else { 1.0 };
        let inverse = 1.0 / sum;
        let log_ratio = log(y * inverse);
        let gamma = (x * log_ratio - y) + (LN_SQRT_TAU + series) - log(scaled * y.sqrt());
        *value = (gamma - factorial) + (phi * log_phi - lgamma_phi) + with_mu * (n * log_mu);
        *d_n = 0.0;
        let psi = log_ratio - 0.5 * u + series_slope - rising;
        *d_phi = psi + (log_phi - digamma_phi) + (mu - n) * inverse;
    });
}

/// The same for φ ≥ 10, where log Γ(φ) = (φ − ½) log φ − φ + ½ log 2π + S(φ). With t = (n − μ)/(μ + φ) the large terms
/// add up to (n + φ) log(1 + t) − n, which stays small as φ grows:
/// (n + φ) log(1 + t) − n − ½ log(1 + n/φ) + S(n + φ) − S(φ) + n log μ − log n!
#[inline(always)]
fn large_precision(rows: &mut Rows, space: &Negative) {
    let ([n, _, phi, ..], with_mu) = (rows.arguments, factor(rows.terms.keep(0b010)));
    let Negative { mu, log_mu, factorial, .. } = space;
    let value = &mut *rows.value;
    let [d_n, _, d_phi, ..] = rows.partials;
    each!([n, mu, phi, log_mu, factorial], [with_mu], [value, d_n, d_phi], {
        let large = phi >= LARGE;
        let t = (n - mu) / (mu + phi);
        // Far from 1 the ratio has more digits than its difference from 1.
        let ratio = (n + phi) / (mu + phi);
        let near = ratio > 0.5 && ratio < 2.0;
        let log_t = if near { log1p(t) } else { log(ratio) };
        let (upper, lower) = (stirling(1.0 / (n + phi)), stirling(1.0 / phi));
        let main = (n + phi) * log_t - n - 0.5 * log1p(n / phi);
        let total = main + (upper.0 - lower.0) + n * (with_mu * log_mu) - factorial;
        *value = if large { total } else { *value };
        *d_n = 0.0;
        // ψ(x) = log x − 1/(2x) + S′(x)
        let half = 0.5 * n / (phi * (n + phi));
        let slope = (log_t - t) + half + (upper.1 - lower.1);
        *d_phi = if large { slope } else { *d_phi };
    });
}

/// Stirling's series S(x) = Σ B(2k) / (2k (2k − 1) x^(2k−1)) and its derivative (Abramowitz and Stegun 6.1.41),
/// for u = 1/x, x ≥ 8.
#[inline(always)]
pub(super) fn stirling(u: f64) -> (f64, f64) {
    let w = u * u;
    let series = w
        .mul_add(-3617.0 / 122_400.0, 1.0 / 156.0)
        .mul_add(w, -691.0 / 360_360.0)
        .mul_add(w, 1.0 / 1188.0)
        .mul_add(w, -1.0 / 1680.0)
        .mul_add(w, 1.0 / 1260.0)
        .mul_add(w, -1.0 / 360.0)
        .mul_add(w, 1.0 / 12.0);
    let slope = w
        .mul_add(3617.0 / 8160.0, -1.0 / 12.0)
        .mul_add(w, 691.0 / 32_760.0)
        .mul_add(w, -1.0 / 132.0)
        .mul_add(w, 1.0 / 240.0)
        .mul_add(w, -1.0 / 252.0)
        .mul_add(w, 1.0 / 120.0)
        .mul_add(w, -1.0 / 12.0);
    (u * series, w * slope)
}
