//! Vectorised densities: the ones that models spend their time in.
//!
//! A kernel computes the same numbers as the exact density, to a few units in the last place of its terms. Functions of
//! a single argument, such as log σ, are computed only once where the row repeats itself. A kernel says `false` for
//! arguments outside of the domain, for special cases within it, and where no term at all is wanted: these are left to
//! the exact density.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::redundant_closure, reason = "the function itself would be called through a shim that is not inlined")]

mod counts;
mod location;
mod pairs;
mod passage;
mod positive;
mod proportion;
mod rising;
mod row;
mod scaled;
mod skewed;
mod tails;
#[cfg(test)]
mod tests;

pub use row::Pattern;

use crate::machine::RowKernel;

macro_rules! kernels {
    ($($module:ident::$name:ident),+ $(,)?) => {
        &[$((stringify!($name), |rows| row::compiled(rows, #[inline(always)] |rows| $module::$name(rows)))),+]
    };
}

/// The vectorised densities by name.
const KERNELS: &[(&str, RowKernel)] = kernels![
    location::normal,
    location::std_normal,
    location::lognormal,
    location::student_t,
    location::cauchy,
    location::double_exponential,
    location::logistic,
    location::gumbel,
    positive::exponential,
    positive::gamma,
    positive::inv_gamma,
    positive::chi_square,
    positive::inv_chi_square,
    positive::weibull,
    positive::beta,
    positive::uniform,
    proportion::beta_proportion,
    counts::bernoulli,
    counts::bernoulli_logit,
    counts::binomial,
    counts::binomial_logit,
    counts::poisson,
    counts::poisson_log,
    counts::neg_binomial_2,
    counts::neg_binomial_2_log,
    rising::neg_binomial,
    rising::beta_binomial,
    scaled::pareto,
    scaled::pareto_type_2,
    scaled::loglogistic,
    scaled::frechet,
    scaled::rayleigh,
    scaled::scaled_inv_chi_square,
    skewed::skew_normal,
    skewed::skew_double_exponential,
    skewed::von_mises,
    tails::normal_cdf,
    tails::normal_lcdf,
    tails::normal_lccdf,
    tails::std_normal_cdf,
    tails::std_normal_lcdf,
    tails::std_normal_lccdf,
    tails::lognormal_cdf,
    tails::lognormal_lcdf,
    tails::lognormal_lccdf,
    tails::logistic_cdf,
    tails::logistic_lcdf,
    tails::logistic_lccdf,
    tails::gumbel_lcdf,
    tails::gumbel_lccdf,
    tails::exponential_cdf,
    tails::exponential_lcdf,
    tails::exponential_lccdf,
    tails::weibull_lcdf,
    tails::weibull_lccdf,
];

/// The vectorised functions of two numbers by name.
const PAIRS: &[(&str, RowKernel)] = kernels![
    pairs::log_diff_exp,
    pairs::log_inv_logit_diff,
    pairs::fmax,
    pairs::fmin,
    pairs::lmultiply,
    pairs::multiply_log,
    pairs::pow,
];

/// The first passage time, which is a density of containers elsewhere.
const PASSAGE: &[(&str, RowKernel)] = kernels![passage::wiener];

/// The vectorised density of first passage times.
pub fn passage() -> Option<RowKernel> {
    PASSAGE.first().map(|(_, kernel)| *kernel)
}

/// The vectorised version of a function of two numbers.
pub fn pair(name: &str) -> Option<RowKernel> {
    PAIRS.iter().find(|(known, _)| *known == name).map(|(_, kernel)| *kernel)
}

/// The vectorised version of a density, by its name without suffix; of (log) probabilities, with it.
pub fn kernel(name: &str) -> Option<RowKernel> {
    KERNELS.iter().find(|(known, _)| *known == name).map(|(_, kernel)| *kernel)
}
