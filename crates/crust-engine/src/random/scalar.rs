//! Generators of one number.

use crust_math::density::Domain;
use crust_math::random::{Draw, Stream};

/// A generator of one number from up to three.
#[derive(Debug)]
pub struct Scalar {
    /// With the suffix `_rng`.
    pub name: &'static str,
    pub arity: usize,
    pub draw: fn(&mut Stream, [f64; 3]) -> Draw<f64>,
}

const fn scalar(name: &'static str, arity: usize, draw: fn(&mut Stream, [f64; 3]) -> Draw<f64>) -> Scalar {
    Scalar { name, arity, draw }
}

/// Where Stan ends rates of counts: 2³⁰, so that a count fits its `int`.
const LARGEST_RATE: f64 = 1_073_741_824.0;

/// An `int` among the arguments.
#[allow(clippy::cast_possible_truncation, reason = "Stan's int has 32 bits")]
pub(super) fn int(x: f64) -> i64 {
    x as i64
}

/// A count as a number. One beyond Stan's `int` is no draw.
pub(super) fn count(n: i64) -> Draw<f64> {
    #[allow(clippy::cast_precision_loss, reason = "only for the message where it is not exact")]
    let x = n as f64;
    Domain("").that(i32::try_from(n).is_ok(), "Random number", x, "an int of 32 bits")?;
    Ok(x)
}

fn poisson(stream: &mut Stream, rate: f64) -> Draw<f64> {
    Domain("").that(rate < LARGEST_RATE, "Rate parameter", rate, "less than 1073741824")?;
    count(stream.poisson(rate)?)
}

fn poisson_log(stream: &mut Stream, log_rate: f64) -> Draw<f64> {
    Domain("").that(log_rate < LARGEST_RATE.ln(), "Log rate parameter", log_rate, "less than log(1073741824)")?;
    count(stream.poisson_log(log_rate)?)
}

/// Every generator of one number.
pub static ALL: &[Scalar] = &[
    scalar("bernoulli_rng", 1, |s, [p, ..]| s.bernoulli(p).map(f64::from)),
    scalar("bernoulli_logit_rng", 1, |s, [x, ..]| s.bernoulli_logit(x).map(f64::from)),
    scalar("beta_rng", 2, |s, [a, b, _]| s.beta(a, b)),
    scalar("beta_binomial_rng", 3, |s, [n, a, b]| count(s.beta_binomial(int(n), a, b)?)),
    scalar("beta_neg_binomial_rng", 3, |s, [r, a, b]| count(s.beta_neg_binomial(r, a, b)?)),
    scalar("beta_proportion_rng", 2, |s, [mu, kappa, _]| s.beta_proportion(mu, kappa)),
    scalar("binomial_rng", 2, |s, [n, p, _]| count(s.binomial(int(n), p)?)),
    scalar("cauchy_rng", 2, |s, [mu, sigma, _]| s.cauchy(mu, sigma)),
    scalar("chi_square_rng", 1, |s, [nu, ..]| s.chi_square(nu)),
    scalar("discrete_range_rng", 2, |s, [low, high, _]| count(s.uniform_integer(int(low), int(high))?)),
    scalar("double_exponential_rng", 2, |s, [mu, sigma, _]| s.double_exponential(mu, sigma)),
    scalar("exp_mod_normal_rng", 3, |s, [mu, sigma, lambda]| s.exp_mod_normal(mu, sigma, lambda)),
    scalar("exponential_rng", 1, |s, [beta, ..]| s.exponential(beta)),
    scalar("frechet_rng", 2, |s, [alpha, sigma, _]| s.frechet(alpha, sigma)),
    scalar("gamma_rng", 2, |s, [alpha, beta, _]| s.gamma(alpha, beta)),
    scalar("gumbel_rng", 2, |s, [mu, beta, _]| s.gumbel(mu, beta)),
    scalar("hypergeometric_rng", 3, |s, [n, a, b]| count(s.hypergeometric(int(n), int(a), int(b))?)),
    scalar("inv_chi_square_rng", 1, |s, [nu, ..]| s.inv_chi_square(nu)),
    scalar("inv_gamma_rng", 2, |s, [alpha, beta, _]| s.inv_gamma(alpha, beta)),
    scalar("logistic_rng", 2, |s, [mu, sigma, _]| s.logistic(mu, sigma)),
    scalar("loglogistic_rng", 2, |s, [alpha, beta, _]| s.loglogistic(alpha, beta)),
    scalar("lognormal_rng", 2, |s, [mu, sigma, _]| s.lognormal(mu, sigma)),
    scalar("neg_binomial_rng", 2, |s, [alpha, beta, _]| count(s.neg_binomial(alpha, beta)?)),
    scalar("neg_binomial_2_rng", 2, |s, [mu, phi, _]| count(s.neg_binomial_2(mu, phi)?)),
    scalar("neg_binomial_2_log_rng", 2, |s, [eta, phi, _]| count(s.neg_binomial_2_log(eta, phi)?)),
    scalar("normal_rng", 2, |s, [mu, sigma, _]| s.normal(mu, sigma)),
    scalar("pareto_rng", 2, |s, [minimum, alpha, _]| s.pareto(minimum, alpha)),
    scalar("pareto_type_2_rng", 3, |s, [mu, lambda, alpha]| s.pareto_type_2(mu, lambda, alpha)),
    scalar("poisson_rng", 1, |s, [lambda, ..]| poisson(s, lambda)),
    scalar("poisson_log_rng", 1, |s, [alpha, ..]| poisson_log(s, alpha)),
    scalar("rayleigh_rng", 1, |s, [sigma, ..]| s.rayleigh(sigma)),
    scalar("scaled_inv_chi_square_rng", 2, |s, [nu, sigma, _]| s.scaled_inv_chi_square(nu, sigma)),
    scalar("skew_double_exponential_rng", 3, |s, [mu, sigma, tau]| s.skew_double_exponential(mu, sigma, tau)),
    scalar("skew_normal_rng", 3, |s, [xi, omega, alpha]| s.skew_normal(xi, omega, alpha)),
    scalar("std_normal_rng", 0, |s, _| Ok(s.standard_normal())),
    scalar("student_t_rng", 3, |s, [nu, mu, sigma]| s.student_t(nu, mu, sigma)),
    scalar("uniform_rng", 2, |s, [low, high, _]| s.uniform_range(low, high)),
    scalar("von_mises_rng", 2, |s, [mu, kappa, _]| s.von_mises(mu, kappa)),
    scalar("weibull_rng", 2, |s, [alpha, sigma, _]| s.weibull(alpha, sigma)),
    scalar("yule_simon_rng", 1, |s, [alpha, ..]| count(s.yule_simon(alpha)?)),
];
