//! Continuous distributions of one real number.
//!
//! Each has its log density, and where Stan has them the cumulative functions `_cdf`, `_lcdf` and `_lccdf`, with every
//! partial derivative. [`ALL`] lists them for code that treats all alike.

mod bounded;
mod gamma;
mod incomplete;
mod location;
mod positive;
mod quadrature;
mod skewed;
mod tails;
#[cfg(test)]
mod tests;

pub use bounded::*;
pub use gamma::*;
pub use location::*;
pub use positive::*;
pub use skewed::*;

use crate::density::{Density, DomainError, Terms};

/// The most arguments that a distribution here has, the variate included.
pub const MOST_ARGUMENTS: usize = 4;

/// A value and its partials; what is beyond the arity of the distribution is 0.
pub type SlicePartials = Result<(f64, [f64; MOST_ARGUMENTS]), DomainError>;

/// A log density of the arguments in a slice, the variate first.
pub type SliceDensity = fn(&[f64], Terms) -> SlicePartials;

/// A cumulative function of the arguments in a slice, the variate first.
pub type SliceCumulative = fn(&[f64]) -> SlicePartials;

/// A distribution with its functions as functions of slices. Each panics for a slice that is not `arity` long.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousDistribution {
    /// As in `normal_lpdf`.
    pub name: &'static str,
    /// The number of arguments, the variate included.
    pub arity: usize,
    pub lpdf: SliceDensity,
    pub cdf: Option<SliceCumulative>,
    pub lcdf: Option<SliceCumulative>,
    pub lccdf: Option<SliceCumulative>,
}

/// The distribution with this name.
pub fn by_name(name: &str) -> Option<&'static ContinuousDistribution> {
    ALL.iter().find(|d| d.name == name)
}

fn erase<const N: usize>(density: Density<N>) -> SlicePartials {
    density.map(|partials| {
        let mut d = [0.0; MOST_ARGUMENTS];
        d[..N].copy_from_slice(&partials.d);
        (partials.value, d)
    })
}

fn arguments<const N: usize>(slice: &[f64]) -> [f64; N] {
    slice.try_into().expect("as many arguments as the distribution has")
}

macro_rules! distribution {
    ($name:literal, $arity:literal, $lpdf:ident($($arg:ident),+) $(, cdf $cdf:ident)? $(, lcdf $lcdf:ident)? $(, lccdf $lccdf:ident)?) => {
        ContinuousDistribution {
            name: $name,
            arity: $arity,
            lpdf: |slice, terms| {
                let [$($arg),+] = arguments::<$arity>(slice);
                erase($lpdf($($arg),+, terms))
            },
            cdf: distribution!(@cumulative $arity ($($arg),+) $($cdf)?),
            lcdf: distribution!(@cumulative $arity ($($arg),+) $($lcdf)?),
            lccdf: distribution!(@cumulative $arity ($($arg),+) $($lccdf)?),
        }
    };
    (@cumulative $arity:literal ($($arg:ident),+)) => { None };
    (@cumulative $arity:literal $args:tt $function:ident) => {
        Some(|slice| distribution!(@call $arity slice $args $function))
    };
    (@call $arity:literal $slice:ident ($($arg:ident),+) $function:ident) => {{
        let [$($arg),+] = arguments::<$arity>($slice);
        erase($function($($arg),+))
    }};
}

/// Every continuous distribution of one real number.
pub const ALL: &[ContinuousDistribution] = &[
    distribution!("normal", 3, normal_lpdf(y, a, b), cdf normal_cdf, lcdf normal_lcdf, lccdf normal_lccdf),
    distribution!("std_normal", 1, std_normal_lpdf(y), cdf std_normal_cdf, lcdf std_normal_lcdf, lccdf std_normal_lccdf),
    distribution!("student_t", 4, student_t_lpdf(y, a, b, c), cdf student_t_cdf, lcdf student_t_lcdf, lccdf student_t_lccdf),
    distribution!("cauchy", 3, cauchy_lpdf(y, a, b), cdf cauchy_cdf, lcdf cauchy_lcdf, lccdf cauchy_lccdf),
    distribution!("double_exponential", 3, double_exponential_lpdf(y, a, b), cdf double_exponential_cdf, lcdf double_exponential_lcdf, lccdf double_exponential_lccdf),
    distribution!("logistic", 3, logistic_lpdf(y, a, b), cdf logistic_cdf, lcdf logistic_lcdf, lccdf logistic_lccdf),
    distribution!("gumbel", 3, gumbel_lpdf(y, a, b), cdf gumbel_cdf, lcdf gumbel_lcdf, lccdf gumbel_lccdf),
    distribution!("skew_normal", 4, skew_normal_lpdf(y, a, b, c), cdf skew_normal_cdf, lcdf skew_normal_lcdf, lccdf skew_normal_lccdf),
    distribution!("skew_double_exponential", 4, skew_double_exponential_lpdf(y, a, b, c), cdf skew_double_exponential_cdf, lcdf skew_double_exponential_lcdf, lccdf skew_double_exponential_lccdf),
    distribution!("exp_mod_normal", 4, exp_mod_normal_lpdf(y, a, b, c), cdf exp_mod_normal_cdf, lcdf exp_mod_normal_lcdf, lccdf exp_mod_normal_lccdf),
    distribution!("lognormal", 3, lognormal_lpdf(y, a, b), cdf lognormal_cdf, lcdf lognormal_lcdf, lccdf lognormal_lccdf),
    distribution!("exponential", 2, exponential_lpdf(y, a), cdf exponential_cdf, lcdf exponential_lcdf, lccdf exponential_lccdf),
    distribution!("gamma", 3, gamma_lpdf(y, a, b), cdf gamma_cdf, lcdf gamma_lcdf, lccdf gamma_lccdf),
    distribution!("inv_gamma", 3, inv_gamma_lpdf(y, a, b), cdf inv_gamma_cdf, lcdf inv_gamma_lcdf, lccdf inv_gamma_lccdf),
    distribution!("chi_square", 2, chi_square_lpdf(y, a), cdf chi_square_cdf, lcdf chi_square_lcdf, lccdf chi_square_lccdf),
    distribution!("inv_chi_square", 2, inv_chi_square_lpdf(y, a), cdf inv_chi_square_cdf, lcdf inv_chi_square_lcdf, lccdf inv_chi_square_lccdf),
    distribution!("scaled_inv_chi_square", 3, scaled_inv_chi_square_lpdf(y, a, b), cdf scaled_inv_chi_square_cdf, lcdf scaled_inv_chi_square_lcdf, lccdf scaled_inv_chi_square_lccdf),
    distribution!("weibull", 3, weibull_lpdf(y, a, b), cdf weibull_cdf, lcdf weibull_lcdf, lccdf weibull_lccdf),
    distribution!("frechet", 3, frechet_lpdf(y, a, b), cdf frechet_cdf, lcdf frechet_lcdf, lccdf frechet_lccdf),
    distribution!("rayleigh", 2, rayleigh_lpdf(y, a), cdf rayleigh_cdf, lcdf rayleigh_lcdf, lccdf rayleigh_lccdf),
    distribution!("loglogistic", 3, loglogistic_lpdf(y, a, b), cdf loglogistic_cdf),
    distribution!("pareto", 3, pareto_lpdf(y, a, b), cdf pareto_cdf, lcdf pareto_lcdf, lccdf pareto_lccdf),
    distribution!("pareto_type_2", 4, pareto_type_2_lpdf(y, a, b, c), cdf pareto_type_2_cdf, lcdf pareto_type_2_lcdf, lccdf pareto_type_2_lccdf),
    distribution!("beta", 3, beta_lpdf(y, a, b), cdf beta_cdf, lcdf beta_lcdf, lccdf beta_lccdf),
    distribution!("beta_proportion", 3, beta_proportion_lpdf(y, a, b), lcdf beta_proportion_lcdf, lccdf beta_proportion_lccdf),
    distribution!("von_mises", 3, von_mises_lpdf(y, a, b), cdf von_mises_cdf, lcdf von_mises_lcdf, lccdf von_mises_lccdf),
    distribution!("uniform", 3, uniform_lpdf(y, a, b), cdf uniform_cdf, lcdf uniform_lcdf, lccdf uniform_lccdf),
];
