//! All distributions of integers behind one signature.

use super::{bounded, categories, counts, cumulative, multinomial};
use crate::density::{Density, DomainError, Terms};

/// What an argument is. The variate is the first; the place of an argument is its bit in [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    Integer,
    Integers,
    Real,
    Reals,
}

/// Takes the integer arguments and the real arguments, each in order and with vectors laid flat, and overwrites the
/// partials for the real ones.
pub type Lpmf = fn(&[i64], &[f64], Terms, &mut [f64]) -> Result<f64, DomainError>;

/// As [`Lpmf`], for functions without terms to drop.
pub type Cdf = fn(&[i64], &[f64], &mut [f64]) -> Result<f64, DomainError>;

#[derive(Clone, Copy, Debug)]
pub struct Cumulative {
    pub cdf: Cdf,
    pub lcdf: Cdf,
    pub lccdf: Cdf,
}

#[derive(Clone, Copy, Debug)]
pub struct Distribution {
    /// Stan's name, without suffix.
    pub name: &'static str,
    pub arguments: &'static [Argument],
    pub lpmf: Lpmf,
    pub cumulative: Option<Cumulative>,
}

/// Splits value and partials: the last ones belong to the real arguments.
fn split<const K: usize>(density: Density<K>, d: &mut [f64]) -> Result<f64, DomainError> {
    let density = density?;
    d.copy_from_slice(&density.d[K - d.len()..]);
    Ok(density.value)
}

/// The adapters of a distribution whose arguments are all scalars.
macro_rules! scalars {
    ($name:literal, [$($i:literal),*], [$($x:literal),*], $lpmf:path) => {
        scalars!(@entry $name, [$($i),*], [$($x),*], $lpmf, None)
    };
    ($name:literal, [$($i:literal),*], [$($x:literal),*], $lpmf:path, $cdf:path, $lcdf:path, $lccdf:path) => {
        scalars!(@entry $name, [$($i),*], [$($x),*], $lpmf, Some(Cumulative {
            cdf: |n, x, d| { let _ = x; split($cdf($(n[$i],)* $(x[$x]),*), d) },
            lcdf: |n, x, d| { let _ = x; split($lcdf($(n[$i],)* $(x[$x]),*), d) },
            lccdf: |n, x, d| { let _ = x; split($lccdf($(n[$i],)* $(x[$x]),*), d) },
        }))
    };
    (@entry $name:literal, [$($i:literal),*], [$($x:literal),*], $lpmf:path, $cumulative:expr) => {
        Distribution {
            name: $name,
            arguments: &[$(scalars!(@integer $i),)* $(scalars!(@real $x)),*],
            lpmf: |n, x, terms, d| { let _ = x; split($lpmf($(n[$i],)* $(x[$x],)* terms), d) },
            cumulative: $cumulative,
        }
    };
    (@integer $i:literal) => { Argument::Integer };
    (@real $x:literal) => { Argument::Real };
}

/// A category y, a location λ and cutpoints.
fn ordered(
    lpmf: fn(i64, f64, &[f64], Terms, &mut [f64]) -> Density<2>,
    (y, x, terms, d): (i64, &[f64], Terms, &mut [f64]),
) -> Result<f64, DomainError> {
    let density = lpmf(y, x[0], &x[1..], terms, &mut d[1..])?;
    d[0] = density.d[1];
    Ok(density.value)
}

use Argument::{Integer, Integers, Real, Reals};

/// Every distribution of integers.
pub const TABLE: [Distribution; 21] = [
    scalars!(
        "bernoulli",
        [0],
        [0],
        bounded::bernoulli_lpmf,
        cumulative::bernoulli_cdf,
        cumulative::bernoulli_lcdf,
        cumulative::bernoulli_lccdf
    ),
    scalars!("bernoulli_logit", [0], [0], bounded::bernoulli_logit_lpmf),
    scalars!(
        "binomial",
        [0, 1],
        [0],
        bounded::binomial_lpmf,
        cumulative::binomial_cdf,
        cumulative::binomial_lcdf,
        cumulative::binomial_lccdf
    ),
    scalars!("binomial_logit", [0, 1], [0], bounded::binomial_logit_lpmf),
    scalars!(
        "beta_binomial",
        [0, 1],
        [0, 1],
        bounded::beta_binomial_lpmf,
        cumulative::beta_binomial_cdf,
        cumulative::beta_binomial_lcdf,
        cumulative::beta_binomial_lccdf
    ),
    scalars!("hypergeometric", [0, 1, 2, 3], [], bounded::hypergeometric_lpmf),
    scalars!(
        "discrete_range",
        [0, 1, 2],
        [],
        bounded::discrete_range_lpmf,
        cumulative::discrete_range_cdf,
        cumulative::discrete_range_lcdf,
        cumulative::discrete_range_lccdf
    ),
    scalars!(
        "poisson",
        [0],
        [0],
        counts::poisson_lpmf,
        cumulative::poisson_cdf,
        cumulative::poisson_lcdf,
        cumulative::poisson_lccdf
    ),
    scalars!("poisson_log", [0], [0], counts::poisson_log_lpmf),
    scalars!(
        "neg_binomial",
        [0],
        [0, 1],
        counts::neg_binomial_lpmf,
        cumulative::neg_binomial_cdf,
        cumulative::neg_binomial_lcdf,
        cumulative::neg_binomial_lccdf
    ),
    scalars!(
        "neg_binomial_2",
        [0],
        [0, 1],
        counts::neg_binomial_2_lpmf,
        cumulative::neg_binomial_2_cdf,
        cumulative::neg_binomial_2_lcdf,
        cumulative::neg_binomial_2_lccdf
    ),
    scalars!("neg_binomial_2_log", [0], [0, 1], counts::neg_binomial_2_log_lpmf),
    scalars!(
        "beta_neg_binomial",
        [0],
        [0, 1, 2],
        counts::beta_neg_binomial_lpmf,
        cumulative::beta_neg_binomial_cdf,
        cumulative::beta_neg_binomial_lcdf,
        cumulative::beta_neg_binomial_lccdf
    ),
    scalars!(
        "yule_simon",
        [0],
        [0],
        counts::yule_simon_lpmf,
        cumulative::yule_simon_cdf,
        cumulative::yule_simon_lcdf,
        cumulative::yule_simon_lccdf
    ),
    Distribution {
        name: "categorical",
        arguments: &[Integer, Reals],
        lpmf: |n, x, terms, d| categories::categorical_lpmf(n[0], x, terms, d),
        cumulative: None,
    },
    Distribution {
        name: "categorical_logit",
        arguments: &[Integer, Reals],
        lpmf: |n, x, terms, d| categories::categorical_logit_lpmf(n[0], x, terms, d),
        cumulative: None,
    },
    Distribution {
        name: "ordered_logistic",
        arguments: &[Integer, Real, Reals],
        lpmf: |n, x, terms, d| ordered(categories::ordered_logistic_lpmf, (n[0], x, terms, d)),
        cumulative: None,
    },
    Distribution {
        name: "ordered_probit",
        arguments: &[Integer, Real, Reals],
        lpmf: |n, x, terms, d| ordered(categories::ordered_probit_lpmf, (n[0], x, terms, d)),
        cumulative: None,
    },
    Distribution {
        name: "multinomial",
        arguments: &[Integers, Reals],
        lpmf: multinomial::multinomial_lpmf,
        cumulative: None,
    },
    Distribution {
        name: "multinomial_logit",
        arguments: &[Integers, Reals],
        lpmf: multinomial::multinomial_logit_lpmf,
        cumulative: None,
    },
    Distribution {
        name: "dirichlet_multinomial",
        arguments: &[Integers, Reals],
        lpmf: multinomial::dirichlet_multinomial_lpmf,
        cumulative: None,
    },
];
