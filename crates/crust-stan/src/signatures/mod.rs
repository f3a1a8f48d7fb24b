//! The signatures of the Stan library, and overload resolution over them.
//!
//! The library has some 24,000 signatures, nearly all of which follow few patterns. Here they are written down as these
//! patterns, in `vocabulary.txt` (which explains the notation), `functions.txt` and `distributions.txt`, and calls are
//! matched against the patterns, argument by argument, without ever listing what they expand to.
//!
//! Functions that take a function and any number of further arguments have no signature in this sense: see
//! [`VARIADIC`].

mod resolve;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashSet;

use crate::types::{ArgumentType, FunctionType, Type};
use table::{library, stored_name};

/// One candidate as shown to people, such as `(reals, reals, reals) => real`. What a word like `reals` means, says
/// [`meaning`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
}

/// The signature that a call means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The types of the parameters: what the arguments are promoted to.
    pub arguments: Vec<ArgumentType>,
    /// `None` for `void`.
    pub returns: Option<Type>,
}

/// The outcome of overload resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    Match(Match),
    /// Several signatures need the same, smallest number of promotions.
    Ambiguous(Vec<Candidate>),
    Mismatch(Mismatch),
    UnknownFunction,
}

/// Why no signature fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    Arity {
        /// Sorted.
        expected: Vec<usize>,
        found: usize,
    },
    Argument {
        /// The first argument, counted from 0, that does not fit the closest candidate.
        index: usize,
        /// The types that would have fitted there.
        expected: Vec<String>,
        found: Type,
    },
}

/// Functions of the library that take a function and then any number of arguments, to be passed on to it. They are not
/// among the signatures, so [`resolve`] does not know them. The densities also have an unnormalised form, `_lupmf`.
pub const VARIADIC: &[&str] = &[
    "dae",
    "dae_tol",
    "laplace_latent_bernoulli_logit_rng",
    "laplace_latent_neg_binomial_2_log_rng",
    "laplace_latent_poisson_log_rng",
    "laplace_latent_rng",
    "laplace_latent_tol_bernoulli_logit_rng",
    "laplace_latent_tol_neg_binomial_2_log_rng",
    "laplace_latent_tol_poisson_log_rng",
    "laplace_latent_tol_rng",
    "laplace_marginal",
    "laplace_marginal_bernoulli_logit_lpmf",
    "laplace_marginal_neg_binomial_2_log_lpmf",
    "laplace_marginal_poisson_log_lpmf",
    "laplace_marginal_tol",
    "laplace_marginal_tol_bernoulli_logit_lpmf",
    "laplace_marginal_tol_neg_binomial_2_log_lpmf",
    "laplace_marginal_tol_poisson_log_lpmf",
    "ode_adams",
    "ode_adams_tol",
    "ode_adjoint_tol_ctl",
    "ode_bdf",
    "ode_bdf_tol",
    "ode_ckrk",
    "ode_ckrk_tol",
    "ode_rk45",
    "ode_rk45_tol",
    "reduce_sum",
    "reduce_sum_static",
    "solve_newton",
    "solve_newton_tol",
    "solve_powell",
    "solve_powell_tol",
];

/// Whether `name` is one of [`VARIADIC`], perhaps in its unnormalised form.
pub fn is_variadic(name: &str) -> bool {
    VARIADIC.binary_search(&&*stored_name(name)).is_ok()
}

/// Finds the signature of the library function `name` for arguments of these types: the one that needs the fewest
/// promotions in sum. [`Type::Unknown`] fits everywhere; where it leaves several signatures, the result has the types
/// that these agree on, and is unknown elsewhere.
pub fn resolve(name: &str, arguments: &[Type]) -> Resolution {
    resolve::resolve(name, &[], arguments)
}

/// Like [`resolve`], for a function that a program defines itself (`own` are the definitions), perhaps as further
/// overloads of a function of the library. All compete on the same terms.
pub fn resolve_with(name: &str, own: &[FunctionType], arguments: &[Type]) -> Resolution {
    resolve::resolve(name, own, arguments)
}

/// Whether the library has signatures for `name`. Unnormalised densities count (`normal_lupdf`), variadic functions do
/// not.
pub fn is_function(name: &str) -> bool {
    library().shapes(name).next().is_some()
}

/// All candidates of a function in compact form, for messages. Empty if there is no such function.
pub fn candidates(name: &str) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for text in library().shapes(name).flat_map(text::texts) {
        if candidates.iter().all(|other| other.text != text) {
            candidates.push(Candidate { text });
        }
    }
    candidates
}

/// What a word in a [`Candidate`] stands for: `reals` is `real, vector, row_vector or array[] real`. `None` for the
/// names of types.
pub fn meaning(word: &str) -> Option<String> {
    library().set(word).map(|types| text::meaning_of_set(&types))
}

/// The names of all functions with signatures, sorted.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    library().names()
}

/// Whether there is a distribution of this name: whether the library has `stem_lpdf` or `stem_lpmf`.
pub fn is_distribution(stem: &str) -> bool {
    library().is_distribution(stem)
}

/// The names of all distributions, sorted.
pub fn distributions() -> impl Iterator<Item = &'static str> {
    library().distributions()
}

/// All concrete signatures of a function, each once. Array dimensions go as deep as in stanc.
pub fn expand(name: &str) -> Vec<FunctionType> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for shape in library().shapes(name) {
        shape.expand_into(&mut all, &mut seen);
    }
    all
}
