//! What cannot be read, with the statement and the remedy.

use std::fmt::Write as _;

use super::factors::{Factor, Shape};
use super::split::{Role, Split};
use crate::ast::{BaseType, BlockKind, SpecialType};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::suggest;
use crate::typed::{Program, SizedKind, SizedType, VariableId};

/// How a user supplies what cannot be read.
const SUPPLY: &str = "supply the simulator: in `generated quantities` draw the outcome with `_rng` functions into a variable \
                      with `_sim` behind the outcome's name, or give another program with `--simulator`";

/// Why a factor cannot be drawn from; nothing if it can.
pub(super) fn unreadable(program: &Program, split: &Split, factor: &Factor) -> Option<Diagnostic> {
    let error = |code, message: String| Diagnostic::error(code, message, factor.span);
    let is_prior = factor.role == Role::Prior;
    let names = |role: Role| names_of(program, split, factor, role);
    let remedy = |d: Diagnostic| if is_prior { d } else { d.help(SUPPLY) };
    Some(match factor.shape {
        Shape::Draw | Shape::Mixture | Shape::Constant | Shape::Jacobian => return None,
        Shape::NoSampler => remedy(error(
            "no-sampler",
            format!("crust cannot draw from `{}`", factor.distribution),
        )),
        Shape::OwnDensity => remedy(
            error(
                "own-density",
                format!("`{}` is a density of the program's own, and nothing says how to draw from it", factor.distribution),
            )
            .help(format!("define `{}_rng` with the same arguments beside it", factor.distribution)),
        ),
        Shape::NotInvertible | Shape::Curved => not_invertible(factor, is_prior),
        Shape::OutOfRange => remedy(
            error("not-invertible", format!("`{}` draws values that the function on the left cannot have", factor.distribution))
                .note("what is drawn would have to be cut off there, and the statement does not divide by what is lost")
                .help("use a distribution of just those values, or write the distribution of the outcome itself"),
        ),
        Shape::IntegerVariate => integers(program, factor),
        Shape::LiteralVariate => remedy(
            error("literal-variate", "the variate is a number of the program, which nothing can draw".to_owned())
                .note("such a statement weighs parameters; it is no distribution of something that could be simulated"),
        ),
        Shape::NoDensity if is_prior => error(
            "term-without-variate",
            format!("this term weighs {}, but is no density that could be drawn from", names(Role::Prior)),
        )
        .note("the reading needs every factor as `variate ~ distribution(…)` or `target += distribution_lpdf(variate | …)`")
        .help("write the prior as a distribution of the parameter"),
        Shape::NoDensity => remedy(
            error(
                "term-without-variate",
                format!("this term of the likelihood is no density of {}", names(Role::Likelihood)),
            )
            .note("data can be drawn from `y ~ distribution(…)`, `target += distribution_lpdf(y | …)`, and from mixtures of those"),
        ),
        Shape::LpFunction => remedy(
            error("lp-function", "this function adds to the target in a way that cannot be followed".to_owned())
                .note("functions that return nothing and do not `return` early are followed")
                .help("write its `~` statements into the model block"),
        ),
        Shape::Mixed => error(
            "mixed-terms",
            "log densities of parameters and of data have been added up, and cannot be told apart here".to_owned(),
        )
        .help("add them to `target` in separate statements"),
        Shape::ParametricBranch => error(
            "parametric-branch",
            "this prior stands in a branch that depends on parameters".to_owned(),
        )
        .help("write one distribution that holds whatever the values of the other parameters are"),
    })
}

fn not_invertible(factor: &Factor, is_prior: bool) -> Diagnostic {
    let message = "what stands on the left cannot be computed back to one variable";
    let error = Diagnostic::error("not-invertible", message, factor.span);
    if is_prior {
        error
            .note(
                "the density of a function of parameters is no prior of theirs: unless the function is a shift, a constant \
                 factor or a new arrangement of one parameter, a Jacobian that depends on parameters is missing",
            )
            .help("state the prior of the parameter itself, for example `lognormal` for `log(x) ~ normal(…)`")
            .help("or add the Jacobian: `log(x) ~ normal(…); target += -log(x);`")
    } else {
        error
            .note(
                "shifts, new arrangements, factors that are data, and functions such as `log` of data alone can be computed back; a \
                 factor that is a parameter, or a parameter inside of such a function, leaves out a Jacobian that weighs it",
            )
            .help("write the distribution of the outcome itself: `y ~ normal(mu, sigma)` for `(y - mu) / sigma ~ normal(0, 1)`")
            .help(SUPPLY)
    }
}

/// Integers cannot be drawn from a distribution of real numbers.
fn integers(program: &Program, factor: &Factor) -> Diagnostic {
    let name = factor.root.map_or("it", |id| program.variable(id).name.as_str());
    Diagnostic::error(
        "integer-outcome",
        format!("`{name}` has integers, which `{}` does not draw as they stand on the left", factor.distribution),
        factor.span,
    )
    .note("a draw would have to be rounded, and the rounded value has another distribution than the statement names")
    .help(format!("declare `{name}` as real numbers, or write a distribution of integers of `{name}` itself"))
}

fn names_of(program: &Program, split: &Split, factor: &Factor, role: Role) -> String {
    let wanted = |id: &&VariableId| match role {
        Role::Prior => split.depends.is_parameter(**id),
        Role::Likelihood => !split.depends.is_parameter(**id) && !program.variable(**id).ty.is_scalar(),
    };
    let names: Vec<String> =
        factor.sources.iter().filter(wanted).map(|id| format!("`{}`", program.variable(*id).name)).collect();
    if names.is_empty() { "anything".to_owned() } else { names.join(", ") }
}

/// A prior that looks at an outcome, directly or through what is computed from it.
pub(super) fn depends_on_outcome(program: &Program, factor: &Factor, outcome: VariableId) -> Diagnostic {
    let from = &program.variable(outcome).name;
    let whose = factor.root.map_or("a prior".to_owned(), |id| format!("the prior of `{}`", program.variable(id).name));
    Diagnostic::error(
        "prior-depends-on-outcome",
        format!("{whose} depends on the outcome `{from}`, so it would change with simulated data"),
        factor.span,
    )
    .note("parameters are drawn before outcomes: a prior must not look at what is going to be drawn given it")
    .help("give the number that the prior needs as data of its own")
}

/// A parameter whose size or bounds look at an outcome, directly or through what is computed from it.
pub(super) fn declared_by_outcome(program: &Program, parameter: VariableId, outcome: VariableId) -> Diagnostic {
    let (own, from) = (program.variable(parameter), &program.variable(outcome).name);
    Diagnostic::error(
        "declaration-depends-on-outcome",
        format!(
            "the size or a bound of `{}` depends on the outcome `{from}`, so it would change with simulated data",
            own.name
        ),
        own.span,
    )
    .note("with other data such a parameter has other values, or is another one")
    .help("give the number that the declaration needs as data of its own")
}

pub(super) fn rejects(span: Span) -> Diagnostic {
    Diagnostic::warning("reject-cuts-prior", "the program rejects some values of its parameters", span)
        .note("what is rejected has no density: parameters are drawn again until none is rejected")
        .help("bounds in the declaration of a parameter say the same, and leave a prior whose integral is known")
}

pub(super) fn cycle(program: &Program, round: &[VariableId], span: Span) -> Diagnostic {
    let names: Vec<String> = round.iter().map(|id| format!("`{}`", program.variable(*id).name)).collect();
    let message = match names.as_slice() {
        [one] => format!("the distribution of {one} depends on {one} itself"),
        _ => format!("{} depend on each other in a circle", names.join(", ")),
    };
    Diagnostic::error("cyclic-program", message, span)
        .note("such statements weigh the parameters together; they give no order in which to draw them")
        .help("write one of them as a distribution that does not depend on the others")
}

pub(super) fn no_such_parameter(program: &Program, name: &str) -> Diagnostic {
    let names: Vec<&str> =
        program.declared_in(BlockKind::Parameters).map(|id| program.variable(id).name.as_str()).collect();
    let error =
        Diagnostic::error("unknown-hyperparameter", format!("the program has no parameter `{name}`"), Span::default());
    match suggest::closest(name, names.iter().copied()) {
        Some(other) => error.help(format!("did you mean `{other}`?")),
        None => error.help(format!("its parameters are {}", names.join(", "))),
    }
}

/// A parameter without a prior.
pub(super) fn improper(program: &Program, id: VariableId) -> Diagnostic {
    let variable = program.variable(id);
    Diagnostic::error(
        "improper-prior",
        format!("the parameter `{}` has no prior: it is flat, and improper", variable.name),
        variable.span,
    )
    .note("nothing can be drawn from a flat density that has no end, and the marginal likelihood does not exist")
    .help(format!("add a statement such as `{};` to the model", example(&variable.name, variable.declared.as_ref())))
}

/// A prior that fits the declaration of a parameter.
fn example(name: &str, declared: Option<&SizedType>) -> String {
    match declared.map(|declared| &declared.kind) {
        Some(SizedKind::Array { sizes, element }) => match &element.kind {
            SizedKind::Plain { base: BaseType::Real, .. } if sizes.len() == 1 => format!("{name} ~ normal(0, 1)"),
            SizedKind::Plain { base: BaseType::Real, .. } => format!("to_array_1d({name}) ~ normal(0, 1)"),
            // Densities of numbers take no arrays of containers.
            _ => {
                let (mut loops, mut name) = (String::new(), name.to_owned());
                for index in ('i'..='z').take(sizes.len()) {
                    let _ = write!(loops, "for ({index} in 1:size({name})) ");
                    name = format!("{name}[{index}]");
                }
                loops + &example(&name, Some(element))
            }
        },
        Some(SizedKind::Plain { base: BaseType::Matrix, .. }) => format!("to_vector({name}) ~ normal(0, 1)"),
        Some(SizedKind::Special { special: SpecialType::CovMatrix, .. }) => {
            format!("{name} ~ inv_wishart(rows({name}) + 1, identity_matrix(rows({name})))")
        }
        Some(SizedKind::Special { special: SpecialType::CholeskyFactorCov, .. }) => {
            format!("{name} ~ inv_wishart_cholesky(rows({name}) + 1, identity_matrix(rows({name})))")
        }
        Some(SizedKind::Special { special: SpecialType::SumToZeroMatrix, .. }) => {
            format!("to_vector({name}) ~ normal(0, 1)")
        }
        _ => format!("{name} ~ normal(0, 1)"),
    }
}

pub(super) fn two_priors(program: &Program, id: VariableId, first: Span, second: Span) -> Diagnostic {
    let name = &program.variable(id).name;
    Diagnostic::error("two-priors", format!("`{name}` has two priors"), second)
        .related(first, "the first one")
        .note("Stan multiplies the two densities; the product is no distribution that either statement names")
        .help("keep one of them, or write their product as one distribution")
}
