//! Distributions of integers.
//!
//! Every function gives the log probability together with all partial derivatives. Real parameters that are vectors
//! have their partials written into a slice of the caller; integers have none. [`TABLE`] lists all of them behind one
//! signature.

mod bounded;
mod categories;
mod counts;
mod cumulative;
mod dual;
mod multinomial;
mod rising;
mod table;
mod tails;
#[cfg(test)]
mod tests;

pub use bounded::{
    bernoulli_logit_lpmf, bernoulli_lpmf, beta_binomial_lpmf, binomial_logit_lpmf, binomial_lpmf, discrete_range_lpmf,
    hypergeometric_lpmf,
};
pub use categories::{categorical_logit_lpmf, categorical_lpmf, ordered_logistic_lpmf, ordered_probit_lpmf};
pub use counts::{
    beta_neg_binomial_lpmf, neg_binomial_2_log_lpmf, neg_binomial_2_lpmf, neg_binomial_lpmf, poisson_log_lpmf,
    poisson_lpmf, yule_simon_lpmf,
};
pub use cumulative::{
    bernoulli_cdf, bernoulli_lccdf, bernoulli_lcdf, beta_binomial_cdf, beta_binomial_lccdf, beta_binomial_lcdf,
    beta_neg_binomial_cdf, beta_neg_binomial_lccdf, beta_neg_binomial_lcdf, binomial_cdf, binomial_lccdf,
    binomial_lcdf, discrete_range_cdf, discrete_range_lccdf, discrete_range_lcdf, neg_binomial_2_cdf,
    neg_binomial_2_lccdf, neg_binomial_2_lcdf, neg_binomial_cdf, neg_binomial_lccdf, neg_binomial_lcdf, poisson_cdf,
    poisson_lccdf, poisson_lcdf, yule_simon_cdf, yule_simon_lccdf, yule_simon_lcdf,
};
pub use multinomial::{dirichlet_multinomial_lpmf, multinomial_logit_lpmf, multinomial_lpmf};
pub use table::{Argument, Cdf, Cumulative, Distribution, Lpmf, TABLE};
