//! Which distributions can be drawn from, and how their arguments spread over the elements of a variate.

use crate::names::Suffix;
use crate::typed::{Callee, FunctionId, Program};

/// How a distribution of the library is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// One number at a time; every argument is a number, or has one for each element.
    Scalar,
    /// One cell at a time (an int, a vector, a matrix). A letter for each argument: `s` is a number for each cell or
    /// one for all, `c` a container for each cell or one for all.
    Cell(&'static str),
    /// Like `Cell`, with the total of the counts, which the density does not name, behind the arguments.
    Counts(&'static str),
}

/// How the distribution with this name (without suffix) is drawn; `None` where crust has no sampler for it.
pub fn sampler(stem: &str) -> Option<Sampler> {
    Some(match stem {
        "categorical" | "categorical_logit" | "dirichlet" => Sampler::Cell("c"),
        "ordered_logistic"
        | "ordered_probit"
        | "wishart"
        | "inv_wishart"
        | "wishart_cholesky"
        | "inv_wishart_cholesky" => Sampler::Cell("sc"),
        "multi_normal" | "multi_normal_cholesky" => Sampler::Cell("cc"),
        "multi_student_t" | "multi_student_t_cholesky" => Sampler::Cell("scc"),
        "lkj_corr" | "lkj_corr_cholesky" => Sampler::Cell("s"),
        "categorical_logit_glm" => Sampler::Cell("xcc"),
        "multinomial" | "multinomial_logit" | "dirichlet_multinomial" => Sampler::Counts("c"),
        "bernoulli"
        | "bernoulli_logit"
        | "beta"
        | "beta_binomial"
        | "beta_neg_binomial"
        | "beta_proportion"
        | "binomial"
        | "binomial_logit"
        | "cauchy"
        | "chi_square"
        | "discrete_range"
        | "double_exponential"
        | "exp_mod_normal"
        | "exponential"
        | "frechet"
        | "gamma"
        | "gumbel"
        | "hypergeometric"
        | "inv_chi_square"
        | "inv_gamma"
        | "logistic"
        | "loglogistic"
        | "lognormal"
        | "neg_binomial"
        | "neg_binomial_2"
        | "neg_binomial_2_log"
        | "normal"
        | "pareto"
        | "pareto_type_2"
        | "poisson"
        | "poisson_log"
        | "rayleigh"
        | "scaled_inv_chi_square"
        | "skew_double_exponential"
        | "skew_normal"
        | "std_normal"
        | "student_t"
        | "uniform"
        | "von_mises"
        | "weibull"
        | "yule_simon" => Sampler::Scalar,
        _ => return None,
    })
}

/// The program's own `foo_rng` for its own density `foo_lpdf`, if it takes the same arguments.
pub fn user_sampler(program: &Program, density: &Callee) -> Option<FunctionId> {
    let Callee::User(id) = density else { return None };
    let function = program.function(*id);
    let name = format!("{}_rng", Suffix::split(&function.name).0);
    let wanted = function.ty.arguments.get(1..)?;
    let fits = |f: &crate::typed::Function| {
        let arguments = f.ty.arguments.iter().map(|a| &a.ty);
        f.name == name && arguments.eq(wanted.iter().map(|a| &a.ty))
    };
    let at = program.functions.iter().position(fits)?;
    u32::try_from(at).ok().map(FunctionId)
}

/// Where a distribution of numbers lives, as far as bounds can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    Line,
    Positive,
    Unit,
    /// Between its first two arguments.
    Arguments,
    /// Above its first argument.
    AboveFirst,
    Other,
}

pub(super) fn support(stem: &str) -> Support {
    match stem {
        "normal"
        | "std_normal"
        | "student_t"
        | "cauchy"
        | "double_exponential"
        | "logistic"
        | "gumbel"
        | "skew_normal"
        | "skew_double_exponential"
        | "exp_mod_normal" => Support::Line,
        "lognormal"
        | "chi_square"
        | "inv_chi_square"
        | "scaled_inv_chi_square"
        | "exponential"
        | "gamma"
        | "inv_gamma"
        | "weibull"
        | "frechet"
        | "rayleigh"
        | "loglogistic" => Support::Positive,
        "beta" | "beta_proportion" => Support::Unit,
        "uniform" => Support::Arguments,
        "pareto" | "pareto_type_2" => Support::AboveFirst,
        _ => Support::Other,
    }
}

/// The argument that a symmetric distribution is symmetric about.
pub(super) fn centre(stem: &str) -> Option<usize> {
    Some(match stem {
        "normal" | "cauchy" | "double_exponential" | "logistic" => 0,
        "student_t" => 1,
        _ => return None,
    })
}

/// Which arguments are scales: noise, dispersion, covariance.
pub(super) fn scales(stem: &str) -> &'static [usize] {
    match stem {
        "normal"
        | "cauchy"
        | "double_exponential"
        | "logistic"
        | "lognormal"
        | "gumbel"
        | "neg_binomial_2"
        | "neg_binomial_2_log"
        | "multi_normal"
        | "multi_normal_cholesky"
        | "skew_double_exponential"
        | "von_mises"
        | "beta_proportion" => &[1],
        "student_t" | "multi_student_t" | "multi_student_t_cholesky" => &[0, 2],
        "skew_normal" | "exp_mod_normal" => &[1, 2],
        "gamma" | "inv_gamma" | "weibull" | "frechet" => &[0],
        _ => &[],
    }
}
