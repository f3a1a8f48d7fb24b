//! Calls and distributions.

use super::{alternatives, argument_name, count};
use crate::ast::Ident;
use crate::check::higher_order::Misfit;
use crate::diagnostics::Diagnostic;
use crate::names::Suffix;
use crate::signatures::{Candidate, Mismatch};
use crate::span::Span;
use crate::typed::Expr;
use crate::types::Type;

/// More signatures than this are not shown.
const MOST_CANDIDATES: usize = 6;

pub(in crate::check) fn unknown_function(name: &Ident, suggestion: Option<&str>) -> Diagnostic {
    let error = Diagnostic::error("unknown-function", format!("there is no function `{}`", name.name), name.span);
    match suggestion {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

pub(in crate::check) fn distribution_as_function(name: &Ident, forms: &[String]) -> Diagnostic {
    let forms: Vec<_> = forms.iter().map(|f| format!("`{f}`")).collect();
    Diagnostic::error(
        "distribution-as-function",
        format!("`{}` is a distribution, not a function", name.name),
        name.span,
    )
    .help(format!("its functions are {}; as a statement it is `y ~ {}(…)`", forms.join(", "), name.name))
}

pub(in crate::check) fn distribution_form_missing(name: &Ident, forms: &[String]) -> Diagnostic {
    let (stem, _) = Suffix::split(&name.name);
    let forms: Vec<_> = forms.iter().map(|f| format!("`{f}`")).collect();
    Diagnostic::error("distribution-form", format!("the distribution `{stem}` has no `{}`", name.name), name.span)
        .help(format!("there is {}", forms.join(", ")))
}

pub(in crate::check) fn void_as_value(name: &Ident) -> Diagnostic {
    Diagnostic::error("void-as-value", format!("`{}` returns nothing, so it has no value to use", name.name), name.span)
}

pub(in crate::check) fn value_unused(name: &Ident) -> Diagnostic {
    let error =
        Diagnostic::error("value-unused", format!("the value that `{}` returns is not used", name.name), name.span);
    if Suffix::of(&name.name).is_density() {
        error.help(format!("add it to the density: `target += {}(…);`", name.name))
    } else {
        error.help("assign it to a variable")
    }
}

pub(in crate::check) fn bar_missing(name: &Ident) -> Diagnostic {
    Diagnostic::error("bar-missing", format!("`{}` needs a `|` behind its first argument", name.name), name.span)
        .help(format!("write `{}(y | …)`", name.name))
}

pub(in crate::check) fn bar_not_allowed(name: &Ident) -> Diagnostic {
    Diagnostic::error("misplaced-bar", format!("`{}` takes no `|`", name.name), name.span)
        .note("the bar is for functions whose names end in `_lpdf`, `_lpmf`, `_lupdf`, `_lupmf`, `_cdf`, `_lcdf` or `_lccdf`")
        .help("write `,`")
}

pub(in crate::check) fn data_required(function: &str, span: Span) -> Diagnostic {
    Diagnostic::error("data-required", format!("this argument of `{function}` must be data"), span)
        .label("may depend on parameters")
        .note("variables of `data` and `transformed data` are data, and arguments that are declared `data`")
}

pub(in crate::check) fn ambiguous_call(
    name: &Ident,
    arguments: &[Expr],
    candidates: &[Candidate],
    span: Span,
) -> Diagnostic {
    let message = format!("the call of `{}` with ({}) can mean several functions", name.name, types(arguments));
    let error = Diagnostic::error("ambiguous-call", message, span);
    let texts: Vec<_> = candidates.iter().map(|c| c.text.clone()).collect();
    with_candidates(error, &name.name, &texts)
        .help("convert the arguments, or define the function for exactly these types")
}

pub(in crate::check) fn call_mismatch(
    name: &Ident,
    mismatch: &Mismatch,
    arguments: &[Expr],
    candidates: &[String],
    span: Span,
) -> Diagnostic {
    let error = match mismatch {
        Mismatch::Arity { expected, found } => arity(&name.name, expected, *found, span),
        Mismatch::Argument { index, expected, found } => {
            let at = arguments.get(*index).map_or(span, |a| a.span);
            wrong_argument(&format!("{} of `{}`", argument_name(*index), name.name), expected, found, at)
        }
    };
    with_candidates(error, &name.name, candidates)
}

pub(in crate::check) fn tilde_mismatch(
    name: &Ident,
    mismatch: &Mismatch,
    variate: &Expr,
    arguments: &[Expr],
    candidates: &[String],
    span: Span,
) -> Diagnostic {
    let error = match mismatch {
        Mismatch::Arity { expected, found } => {
            let expected: Vec<_> = expected.iter().map(|n| n.saturating_sub(1)).collect();
            arity(&name.name, &expected, found.saturating_sub(1), span)
        }
        Mismatch::Argument { index: 0, expected, found } => {
            let what = format!("the variate of `{}`", name.name);
            let error = wrong_argument(&what, expected, found, variate.span);
            return with_candidates(Diagnostic { code: "variate-type", ..error }, &name.name, candidates);
        }
        Mismatch::Argument { index, expected, found } => {
            let at = arguments.get(index - 1).map_or(span, |a| a.span);
            wrong_argument(&format!("{} of `{}`", argument_name(index - 1), name.name), expected, found, at)
        }
    };
    with_candidates(error, &name.name, candidates)
}

fn arity(name: &str, expected: &[usize], found: usize, span: Span) -> Diagnostic {
    let expected = match expected {
        [n] => count(*n, "argument"),
        many => format!("{} arguments", alternatives(&many.iter().map(ToString::to_string).collect::<Vec<_>>())),
    };
    Diagnostic::error("argument-count", format!("`{name}` takes {expected}, found {found}"), span)
}

fn wrong_argument(what: &str, expected: &[String], found: &Type, span: Span) -> Diagnostic {
    let message = if expected.is_empty() {
        format!("{what} cannot be `{found}`")
    } else {
        format!("{what} must be {}, found `{found}`", alternatives(expected))
    };
    Diagnostic::error("argument-type", message, span).label(format!("`{found}`"))
}

fn with_candidates(error: Diagnostic, name: &str, candidates: &[String]) -> Diagnostic {
    if candidates.is_empty() {
        return error;
    }
    let mut shown: Vec<_> = candidates.iter().take(MOST_CANDIDATES).map(|c| format!("{name}{c}")).collect();
    if candidates.len() > MOST_CANDIDATES {
        shown.push(format!("and {} more", candidates.len() - MOST_CANDIDATES));
    }
    let mut words: Vec<_> = candidates
        .iter()
        .take(MOST_CANDIDATES)
        .flat_map(|c| {
            c.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect::<Vec<_>>()
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    let meanings = words.into_iter().filter_map(|w| crate::signatures::meaning(w).map(|m| format!("{w} = {m}")));
    let meanings: Vec<_> = meanings.collect();
    let error = error.note(format!("signatures:\n{}", shown.join("\n")));
    if meanings.is_empty() { error } else { error.note(format!("where {}", meanings.join("\n"))) }
}

fn types(arguments: &[Expr]) -> String {
    arguments.iter().map(|a| a.ty.to_string()).collect::<Vec<_>>().join(", ")
}

pub(in crate::check) fn functor_missing(name: &Ident, span: Span) -> Diagnostic {
    Diagnostic::error("functor", format!("`{}` needs a function as its first argument", name.name), span)
}

pub(in crate::check) fn functor_suffix(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("functor-suffix", format!("`{name}` cannot be passed to another function"), span).note(
        "a function that is passed on must be an ordinary one: it cannot draw random numbers or change the target",
    )
}

pub(in crate::check) fn higher_order_misfit(
    function: &str,
    misfit: &Misfit,
    arguments: &[Expr],
    span: Span,
) -> Diagnostic {
    let at = |index: usize| arguments.get(index).map_or(span, |a| a.span);
    let found = |index: usize| arguments.get(index).map_or_else(String::new, |a| a.ty.to_string());
    match misfit {
        Misfit::NotAFunction => Diagnostic::error("functor", format!("`{function}` needs a function here"), at(0))
            .label(format!("`{}`", found(0))),
        Misfit::Functor { wanted } => Diagnostic::error(
            "functor",
            format!("the function passed to `{function}` does not have the form that it needs"),
            at(0),
        )
        .label(format!("`{}`", found(0)))
        .note(format!("it must be `{wanted}`")),
        Misfit::Count { wanted, found } => Diagnostic::error(
            "argument-count",
            format!("`{function}` with this function takes {}, found {found}", count(*wanted, "argument")),
            span,
        )
        .note("behind its own arguments stand those that are passed on to the function"),
        Misfit::Argument { index, wanted } => Diagnostic::error(
            "argument-type",
            format!("{} of `{function}` must be `{wanted}`, found `{}`", argument_name(*index), found(*index)),
            at(*index),
        ),
        Misfit::Ambiguous { overloads } => {
            let message =
                format!("the function passed to `{function}` has several overloads that fit as well as each other");
            Diagnostic::error("ambiguous-call", message, at(0)).note(overloads.join("\n"))
        }
        Misfit::Part { index, part, wanted, found } => {
            let message = format!("part {part} of these arguments to pass on must be `{wanted}`, found `{found}`");
            Diagnostic::error("argument-type", message, at(*index))
        }
        Misfit::PartCount { index, wanted, found } => {
            let message = format!("the function takes {} to pass on, found {found}", count(*wanted, "argument"));
            Diagnostic::error("argument-count", message, at(*index))
        }
        Misfit::NotATuple { index } => {
            let message = format!("the arguments to pass on must stand in a tuple, found `{}`", found(*index));
            Diagnostic::error("argument-type", message, at(*index)).help("a tuple of one value is written `(a,)`")
        }
        Misfit::NotData { index } => data_required(function, at(*index)),
    }
}

pub(in crate::check) fn tilde_with_suffix(name: &Ident) -> Diagnostic {
    let (stem, _) = Suffix::split(&name.name);
    Diagnostic::error(
        "tilde-with-suffix",
        format!("`~` takes the name of a distribution, not of its density `{}`", name.name),
        name.span,
    )
    .help(format!("write `~ {stem}(…)`"))
}

pub(in crate::check) fn tilde_with_cdf(name: &Ident, stem: &str) -> Diagnostic {
    let message = format!("`~` takes the name of a distribution, not of its distribution function `{}`", name.name);
    Diagnostic::error("tilde-with-suffix", message, name.span).help(format!("write `target += {stem}_lcdf(y | …);`"))
}

pub(in crate::check) fn unknown_distribution(name: &Ident, is_function: bool, suggestion: Option<&str>) -> Diagnostic {
    let error =
        Diagnostic::error("unknown-distribution", format!("there is no distribution `{}`", name.name), name.span);
    let error =
        if is_function { error.note(format!("`{}` is a function, but not a density", name.name)) } else { error };
    match suggestion {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.note(format!("a distribution of your own needs a function `{0}_lpdf` or `{0}_lpmf`", name.name)),
    }
}

pub(in crate::check) fn truncation_without_cdf(
    name: &Ident,
    function: &str,
    exists: bool,
    bound: &Type,
    span: Span,
) -> Diagnostic {
    let error = Diagnostic::error("truncation-without-cdf", format!("`{}` cannot be truncated here", name.name), span);
    if exists {
        error.note(format!("`{function}` does not take a bound of type `{bound}` with these arguments"))
    } else {
        error.note(format!(
            "truncation needs the functions `{0}_lcdf` and `{0}_lccdf`, and there is no `{function}`",
            name.name
        ))
    }
}
