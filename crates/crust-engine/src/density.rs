//! Log densities, log probabilities and cumulative functions by name.

mod fast;

pub use fast::{Pattern, pair};

use crust_math::density::{DomainError, Terms};
use crust_math::distributions::continuous::{self, ContinuousDistribution, SliceCumulative, SliceDensity};
use crust_math::distributions::discrete::{self, Argument, Distribution};
use crust_math::distributions::multivariate::wiener_lpdf;
use crust_math::functions::VectorDensity;
use crust_stan::names::Suffix;

use crate::machine::{MOST, RowKernel};

/// A log density or one of its relatives.
#[derive(Clone, Copy, Debug)]
pub enum Density {
    /// Of scalars; applied element by element, the results added up.
    Scalar(Scalar),
    /// Of containers.
    Vector(Vector),
    /// Of scalars, with a linear predictor made from a matrix.
    Linear(Linear),
}

/// A density of scalars.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    pub name: &'static str,
    pub function: Function,
    pub arity: usize,
    /// A vectorised version.
    pub fast: Option<RowKernel>,
    /// Whether the values of elements are multiplied instead of added: `_cdf`.
    pub product: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Function {
    Density(SliceDensity),
    Cumulative(SliceCumulative),
    Probability(&'static Distribution),
    CumulativeProbability(&'static Distribution, discrete::Cdf),
    /// `wiener` with five arguments.
    Passage,
}

#[derive(Clone, Copy)]
pub struct Vector(pub &'static dyn VectorDensity);

impl std::fmt::Debug for Vector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

/// `d_glm(y | x, α, β, …)` is `d(y | α + x β, …)`.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    pub name: &'static str,
    /// The density of the variate given the linear predictor.
    pub inner: Scalar,
    /// How many arguments come before the matrix: the variate, and the number of trials of a binomial.
    pub before: usize,
}

impl Density {
    /// The function with this name, suffix included.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(density) = crate::lower::vector_density(name) {
            return Some(Self::Vector(Vector(density)));
        }
        let (stem, suffix) = Suffix::split(name);
        if let Some(stem) = stem.strip_suffix("_glm") {
            return linear(stem);
        }
        if let Some(d) = continuous::by_name(stem) {
            return of_continuous(d, suffix).map(Self::Scalar);
        }
        let d = discrete::TABLE.iter().find(|d| d.name == stem)?;
        of_discrete(d, suffix).map(Self::Scalar)
    }
}

fn of_continuous(d: &'static ContinuousDistribution, suffix: Suffix) -> Option<Scalar> {
    let scalar = |function, product| Scalar { name: d.name, function, arity: d.arity, fast: None, product };
    Some(match suffix {
        Suffix::Lpdf | Suffix::Lupdf => {
            Scalar { fast: fast::kernel(d.name), ..scalar(Function::Density(d.lpdf), false) }
        }
        Suffix::Cdf => {
            Scalar { fast: fast::kernel(&format!("{}_cdf", d.name)), ..scalar(Function::Cumulative(d.cdf?), true) }
        }
        Suffix::Lcdf => {
            Scalar { fast: fast::kernel(&format!("{}_lcdf", d.name)), ..scalar(Function::Cumulative(d.lcdf?), false) }
        }
        Suffix::Lccdf => {
            Scalar { fast: fast::kernel(&format!("{}_lccdf", d.name)), ..scalar(Function::Cumulative(d.lccdf?), false) }
        }
        _ => return None,
    })
}

fn of_discrete(d: &'static Distribution, suffix: Suffix) -> Option<Scalar> {
    if d.arguments.iter().any(|a| matches!(a, Argument::Integers | Argument::Reals)) {
        return None;
    }
    let scalar = |function, product| Scalar { name: d.name, function, arity: d.arguments.len(), fast: None, product };
    Some(match suffix {
        Suffix::Lpmf | Suffix::Lupmf => {
            Scalar { fast: fast::kernel(d.name), ..scalar(Function::Probability(d), false) }
        }
        Suffix::Cdf => scalar(Function::CumulativeProbability(d, d.cumulative?.cdf), true),
        Suffix::Lcdf => scalar(Function::CumulativeProbability(d, d.cumulative?.lcdf), false),
        Suffix::Lccdf => scalar(Function::CumulativeProbability(d, d.cumulative?.lccdf), false),
        _ => return None,
    })
}

fn linear(stem: &str) -> Option<Density> {
    let (name, inner, before) = match stem {
        "normal_id" => ("normal_id_glm", of_continuous(continuous::by_name("normal")?, Suffix::Lpdf)?, 1),
        "bernoulli_logit" | "poisson_log" | "neg_binomial_2_log" => {
            let d = discrete::TABLE.iter().find(|d| d.name == stem)?;
            (d.name, of_discrete(d, Suffix::Lpmf)?, 1)
        }
        "binomial_logit" => {
            let d = discrete::TABLE.iter().find(|d| d.name == stem)?;
            ("binomial_logit_glm", of_discrete(d, Suffix::Lpmf)?, 2)
        }
        _ => return None,
    };
    Some(Density::Linear(Linear { name, inner, before }))
}

impl Scalar {
    /// The first passage time of one trial (`wiener` is a density of containers).
    pub fn passage() -> Self {
        Self { name: "wiener", function: Function::Passage, arity: 5, fast: fast::passage(), product: false }
    }

    /// Whether this is `normal_lpdf`.
    pub fn is_normal_density(&self) -> bool {
        self.name == "normal" && matches!(self.function, Function::Density(_))
    }

    /// Whether these are the same function.
    pub fn same(&self, other: &Self) -> bool {
        let alike = match (self.function, other.function) {
            (Function::Density(a), Function::Density(b)) => std::ptr::fn_addr_eq(a, b),
            (Function::Cumulative(a), Function::Cumulative(b)) => std::ptr::fn_addr_eq(a, b),
            (Function::Probability(a), Function::Probability(b)) => std::ptr::eq(a, b),
            (Function::CumulativeProbability(a, f), Function::CumulativeProbability(b, g)) => {
                std::ptr::eq(a, b) && std::ptr::fn_addr_eq(f, g)
            }
            (Function::Passage, Function::Passage) => true,
            _ => false,
        };
        alike && self.name == other.name && self.product == other.product
    }

    /// Whether this is `poisson_lccdf`.
    pub fn is_poisson_tail(&self) -> bool {
        let Function::CumulativeProbability(d, f) = self.function else { return false };
        self.name == "poisson" && d.cumulative.is_some_and(|own| std::ptr::fn_addr_eq(own.lccdf, f))
    }

    /// Whether this is the log probability of integers.
    pub fn is_probability(&self) -> bool {
        matches!(self.function, Function::Probability(_))
    }

    /// The value and the partial derivatives for one item.
    pub fn at(&self, x: &[f64], terms: Terms) -> Result<(f64, [f64; MOST]), DomainError> {
        let widen = |(value, d): (f64, [f64; continuous::MOST_ARGUMENTS])| {
            let mut all = [0.0; MOST];
            all[..d.len()].copy_from_slice(&d);
            (value, all)
        };
        match self.function {
            Function::Density(f) => f(x, terms).map(widen),
            Function::Cumulative(f) => f(x).map(widen),
            Function::Probability(d) => discrete_at(d, x, |n, x, partials| (d.lpmf)(n, x, terms, partials)),
            Function::CumulativeProbability(d, f) => discrete_at(d, x, f),
            Function::Passage => {
                let &[y, alpha, tau, beta, delta] = x else { return Ok((f64::NAN, [f64::NAN; MOST])) };
                wiener_lpdf(y, alpha, tau, beta, delta, terms).map(|partials| (partials.value, partials.d))
            }
        }
    }
}

/// Calls a function of integers and reals with arguments that are all reals here.
#[allow(clippy::cast_possible_truncation, reason = "Stan's int has 32 bits")]
fn discrete_at(
    d: &Distribution,
    x: &[f64],
    f: impl Fn(&[i64], &[f64], &mut [f64]) -> Result<f64, DomainError>,
) -> Result<(f64, [f64; MOST]), DomainError> {
    let (mut integers, mut reals, mut partials) = ([0; MOST], [0.0; MOST], [0.0; MOST]);
    let (mut n, mut m) = (0, 0);
    for (argument, &x) in d.arguments.iter().zip(x) {
        if *argument == Argument::Integer {
            integers[n] = x as i64;
            n += 1;
        } else {
            reals[m] = x;
            m += 1;
        }
    }
    let value = f(&integers[..n], &reals[..m], &mut partials[..m])?;
    let mut all = [0.0; MOST];
    let mut next = 0;
    for (to, argument) in all.iter_mut().zip(d.arguments) {
        if *argument != Argument::Integer {
            *to = partials[next];
            next += 1;
        }
    }
    Ok((value, all))
}
