//! Probabilities of being below a number, and log probabilities of being below or above it: what censored, truncated
//! and binned observations need.

use crust_math::lanes::scalar::{
    exp, expm1, log, log_phi_with_rate, log1m_exp_with_slope, log1p_exp_with_slope, phi, pow_with_log,
};

use super::row::{Space, all, each, finite, nonnegative, ordinary, reciprocal};
use crate::machine::Rows;

/// log F(z) of a standard distribution and its derivative by z. That of 1 − F is the same at −z where the distribution
/// is symmetric.
trait Standard {
    fn lower(z: f64) -> (f64, f64);
    fn upper(z: f64) -> (f64, f64);
}

struct Normal;

impl Standard for Normal {
    #[inline(always)]
    fn lower(z: f64) -> (f64, f64) {
        log_phi_with_rate(z)
    }

    #[inline(always)]
    fn upper(z: f64) -> (f64, f64) {
        let (value, rate) = log_phi_with_rate(-z);
        (value, -rate)
    }
}

/// F(z) = 1 / (1 + exp(−z))
struct Logistic;

impl Standard for Logistic {
    #[inline(always)]
    fn lower(z: f64) -> (f64, f64) {
        let (softplus, upper) = log1p_exp_with_slope(-z);
        (-softplus, upper)
    }

    #[inline(always)]
    fn upper(z: f64) -> (f64, f64) {
        let (softplus, lower) = log1p_exp_with_slope(z);
        (-softplus, -lower)
    }
}

/// What a kernel computes of a standard distribution: a number and its derivative by z.
trait Part<S> {
    fn of(z: f64) -> (f64, f64);
}

/// log F(z)
struct Lower;

/// log(1 − F(z))
struct Upper;

/// F(z)
struct Below;

impl<S: Standard> Part<S> for Lower {
    #[inline(always)]
    fn of(z: f64) -> (f64, f64) {
        S::lower(z)
    }
}

impl<S: Standard> Part<S> for Upper {
    #[inline(always)]
    fn of(z: f64) -> (f64, f64) {
        S::upper(z)
    }
}

/// 1/√(2π)
const PEAK: f64 = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2 / 2.0;

impl Part<Normal> for Below {
    #[inline(always)]
    fn of(z: f64) -> (f64, f64) {
        (phi(z), PEAK * exp(-0.5 * z * z))
    }
}

/// With e = exp(−|z|) the smaller tail is e/(1 + e), and the density e/(1 + e)².
impl Part<Logistic> for Below {
    #[inline(always)]
    fn of(z: f64) -> (f64, f64) {
        let e = exp(-z.abs());
        let larger = 1.0 / (1.0 + e);
        let smaller = e * larger;
        (if z < 0.0 { smaller } else { larger }, smaller * larger)
    }
}

/// F(z) = exp(−exp(−z))
struct Gumbel;

impl Standard for Gumbel {
    #[inline(always)]
    fn lower(z: f64) -> (f64, f64) {
        let x = exp(-z);
        (-x, x)
    }

    #[inline(always)]
    fn upper(z: f64) -> (f64, f64) {
        let (value, slope) = log1m_exp_exp(-z, exp(-z));
        (value, -slope)
    }
}

/// log(1 − exp(−x)) and its derivative by t = log x. For small x these are t and 1: x itself might not be a number
/// that is large enough.
#[inline(always)]
fn log1m_exp_exp(t: f64, x: f64) -> (f64, f64) {
    let (value, slope) = log1m_exp_with_slope(x);
    let tiny = t < -40.0;
    // Where x is infinite the slope is 0, and their product is no number.
    let slope = if slope > 0.0 { x * slope } else { 0.0 };
    (if tiny { t } else { value }, if tiny { 1.0 } else { slope })
}

/// Where no standard distribution here overflows: all others are left to the exact function.
#[inline(always)]
fn moderate(z: f64) -> bool {
    z.abs() < 1e100
}

/// Where 1 − exp(−x) is nearly x, and x no subnormal number: log(1 − exp(−x)) has all its digits.
#[inline(always)]
fn not_too_low(value: f64) -> bool {
    value > -600.0
}

/// A part of a distribution at z = (y − μ)/σ.
#[inline(always)]
fn located<S, P: Part<S>>(rows: &mut Rows) -> bool {
    let [y, mu, sigma, ..] = rows.arguments;
    if !(all(y, finite) && all(mu, finite) && all(sigma, ordinary)) {
        return false;
    }
    let (mut inverse, mut z) = (Space::empty(), Space::empty());
    rows.hoisted(2).map(
        true,
        &mut inverse,
        #[inline(always)]
        |x| reciprocal(x),
    );
    z.zeros(y.len());
    each!([y, mu, sigma], [], [z], { *z = (y - mu) / sigma });
    standard::<S, P>(rows, &z, &inverse)
}

/// The value, and the derivatives by y, μ and σ for z = (y − μ)/σ.
#[inline(always)]
fn standard<S, P: Part<S>>(rows: &mut Rows, z: &[f64], inverse: &[f64]) -> bool {
    if !all(z, moderate) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, ..] = rows.partials;
    tail::<S, P>(z, inverse, value, d_y, d_mu, d_sigma);
    all(value, finite)
}

// Slices that are arguments of a function of their own are known not to overlap.
#[inline(always)]
fn tail<S, P: Part<S>>(
    z: &[f64],
    inverse: &[f64],
    value: &mut [f64],
    d_y: &mut [f64],
    d_mu: &mut [f64],
    d_sigma: &mut [f64],
) {
    let n = z.len();
    let (inverse, value) = (&inverse[..n], &mut value[..n]);
    let (d_y, d_mu, d_sigma) = (&mut d_y[..n], &mut d_mu[..n], &mut d_sigma[..n]);
    for i in 0..n {
        let (part, rate) = P::of(z[i]);
        let slope = rate * inverse[i];
        value[i] = part;
        d_y[i] = slope;
        d_mu[i] = -slope;
        d_sigma[i] = -slope * z[i];
    }
}

#[inline(always)]
pub fn normal_lcdf(rows: &mut Rows) -> bool {
    located::<Normal, Lower>(rows)
}

#[inline(always)]
pub fn normal_lccdf(rows: &mut Rows) -> bool {
    located::<Normal, Upper>(rows)
}

#[inline(always)]
pub fn normal_cdf(rows: &mut Rows) -> bool {
    located::<Normal, Below>(rows)
}

#[inline(always)]
pub fn logistic_lcdf(rows: &mut Rows) -> bool {
    located::<Logistic, Lower>(rows)
}

#[inline(always)]
pub fn logistic_lccdf(rows: &mut Rows) -> bool {
    located::<Logistic, Upper>(rows)
}

#[inline(always)]
pub fn logistic_cdf(rows: &mut Rows) -> bool {
    located::<Logistic, Below>(rows)
}

#[inline(always)]
pub fn gumbel_lcdf(rows: &mut Rows) -> bool {
    located::<Gumbel, Lower>(rows)
}

#[inline(always)]
pub fn gumbel_lccdf(rows: &mut Rows) -> bool {
    located::<Gumbel, Upper>(rows)
}

#[inline(always)]
pub fn std_normal_lcdf(rows: &mut Rows) -> bool {
    std_normal_of::<Lower>(rows)
}

#[inline(always)]
pub fn std_normal_lccdf(rows: &mut Rows) -> bool {
    std_normal_of::<Upper>(rows)
}

#[inline(always)]
pub fn std_normal_cdf(rows: &mut Rows) -> bool {
    std_normal_of::<Below>(rows)
}

#[inline(always)]
fn std_normal_of<P: Part<Normal>>(rows: &mut Rows) -> bool {
    let [y, ..] = rows.arguments;
    if !all(y, moderate) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, ..] = rows.partials;
    parts::<P>(y, value, d_y);
    all(value, finite)
}

// For the same reason a function of its own.
#[inline(always)]
fn parts<P: Part<Normal>>(z: &[f64], value: &mut [f64], d_z: &mut [f64]) {
    let n = z.len();
    let (value, d_z) = (&mut value[..n], &mut d_z[..n]);
    for i in 0..n {
        (value[i], d_z[i]) = P::of(z[i]);
    }
}

#[inline(always)]
pub fn lognormal_lcdf(rows: &mut Rows) -> bool {
    lognormal_of::<Lower>(rows)
}

#[inline(always)]
pub fn lognormal_lccdf(rows: &mut Rows) -> bool {
    lognormal_of::<Upper>(rows)
}

#[inline(always)]
pub fn lognormal_cdf(rows: &mut Rows) -> bool {
    lognormal_of::<Below>(rows)
}

/// A part of the normal distribution at z = (log y − μ)/σ.
#[inline(always)]
fn lognormal_of<P: Part<Normal>>(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, ..], wanted) = (rows.arguments, rows.wanted);
    if !(all(y, ordinary) && all(mu, finite) && all(sigma, ordinary)) {
        return false;
    }
    let (mut inverse, mut log_y, mut z) = (Space::empty(), Space::empty(), Space::empty());
    rows.hoisted(2).map(
        true,
        &mut inverse,
        #[inline(always)]
        |x| reciprocal(x),
    );
    rows.hoisted(0).map(
        true,
        &mut log_y,
        #[inline(always)]
        |x| log(x),
    );
    z.zeros(y.len());
    each!([log_y, mu, sigma], [], [z], { *z = (log_y - mu) / sigma });
    let fine = standard::<Normal, P>(rows, &z, &inverse);
    if fine && wanted & 1 != 0 {
        let [d_y, ..] = rows.partials;
        each!([y], [], [d_y], { *d_y /= y });
    }
    fine
}

#[inline(always)]
pub fn exponential_lcdf(rows: &mut Rows) -> bool {
    let [y, beta, ..] = rows.arguments;
    if !(all(y, ordinary) && all(beta, ordinary)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, d_beta, ..] = rows.partials;
    each!([y, beta], [], [value, d_y, d_beta], {
        let (log_tail, rate) = log1m_exp_with_slope(beta * y);
        *value = log_tail;
        *d_y = rate * beta;
        *d_beta = rate * y;
    });
    all(value, not_too_low)
}

/// −β y
#[inline(always)]
pub fn exponential_lccdf(rows: &mut Rows) -> bool {
    let [y, beta, ..] = rows.arguments;
    if !(all(y, nonnegative) && all(y, finite) && all(beta, ordinary)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, d_beta, ..] = rows.partials;
    each!([y, beta], [], [value, d_y, d_beta], {
        *value = -(beta * y);
        *d_y = -beta;
        *d_beta = -y;
    });
    all(value, finite)
}

/// 1 − exp(−β y)
#[inline(always)]
pub fn exponential_cdf(rows: &mut Rows) -> bool {
    let [y, beta, ..] = rows.arguments;
    if !(all(y, ordinary) && all(beta, ordinary)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, d_beta, ..] = rows.partials;
    each!([y, beta], [], [value, d_y, d_beta], {
        let x = -(beta * y);
        let above = exp(x);
        *value = -expm1(x);
        *d_y = above * beta;
        *d_beta = above * y;
    });
    all(value, finite)
}

#[inline(always)]
pub fn weibull_lcdf(rows: &mut Rows) -> bool {
    weibull_of::<false>(rows)
}

#[inline(always)]
pub fn weibull_lccdf(rows: &mut Rows) -> bool {
    weibull_of::<true>(rows)
}

/// −x or log(1 − exp(−x)), x = (y/σ)^α
#[inline(always)]
fn weibull_of<const UPPER: bool>(rows: &mut Rows) -> bool {
    let ([y, alpha, sigma, ..], wanted) = (rows.arguments, rows.wanted);
    if !(all(y, ordinary) && all(alpha, ordinary) && all(sigma, ordinary)) {
        return false;
    }
    let (mut ratio, mut inverse_sigma, mut inverse_y) = (Space::empty(), Space::empty(), Space::empty());
    rows.hoisted(2).map(
        true,
        &mut inverse_sigma,
        #[inline(always)]
        |x| reciprocal(x),
    );
    rows.hoisted(0).map(
        wanted & 1 != 0,
        &mut inverse_y,
        #[inline(always)]
        |x| reciprocal(x),
    );
    ratio.zeros(y.len());
    each!([y, sigma], [], [ratio], { *ratio = y / sigma });
    if !all(&ratio, ordinary) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_sigma, ..] = rows.partials;
    // The derivatives are those by log x, times those of log x.
    if UPPER {
        each!([alpha, ratio, inverse_sigma, inverse_y], [], [value, d_y, d_alpha, d_sigma], {
            let (x, log_ratio) = pow_with_log(ratio, alpha);
            *value = -x;
            *d_y = -x * (alpha * inverse_y);
            *d_alpha = -x * log_ratio;
            *d_sigma = x * (alpha * inverse_sigma);
        });
    } else {
        each!([alpha, ratio, inverse_sigma, inverse_y], [], [value, d_y, d_alpha, d_sigma], {
            let (x, log_ratio) = pow_with_log(ratio, alpha);
            let (log_tail, slope) = log1m_exp_exp(alpha * log_ratio, x);
            *value = log_tail;
            *d_y = slope * (alpha * inverse_y);
            *d_alpha = slope * log_ratio;
            *d_sigma = -slope * (alpha * inverse_sigma);
        });
    }
    // Products of factors that are far outside of what is usual may not be numbers.
    let n = value.len();
    all(value, finite) && all(&d_y[..n], finite) && all(&d_alpha[..n], finite) && all(&d_sigma[..n], finite)
}
