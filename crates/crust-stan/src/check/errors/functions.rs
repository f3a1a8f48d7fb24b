//! Definitions of functions.

use crate::ast::Ident;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::types::{FunctionType, Type};

pub(in crate::check) fn defined_twice(name: &Ident, ty: &FunctionType, first: &FunctionType, span: Span) -> Diagnostic {
    let error = Diagnostic::error(
        "defined-twice",
        format!("`{}` is already defined for these arguments", name.name),
        name.span,
    )
    .related(span, "defined here");
    if ty.returns == first.returns {
        error.note("functions of one name must differ in the types of their arguments")
    } else {
        error.note("functions of one name cannot differ in what they return only")
    }
}

pub(in crate::check) fn library_function(name: &Ident, library: &FunctionType) -> Diagnostic {
    Diagnostic::error("library-function", format!("`{}` is a function of the library", name.name), name.span)
        .note(format!("it has the signature {}{library}", name.name))
        .help("choose another name; other types of arguments would be allowed")
}

pub(in crate::check) fn cannot_overload(name: &Ident) -> Diagnostic {
    Diagnostic::error("cannot-overload", format!("`{}` cannot be defined again", name.name), name.span)
        .note("it is a function of the library that takes any number of arguments")
}

pub(in crate::check) fn declared_only(name: &Ident, ty: &FunctionType) -> Diagnostic {
    Diagnostic::error("declared-only", format!("`{}` is declared, but never defined", name.name), name.span)
        .note(format!("the declaration is {}{ty}", name.name))
        .help("define it, with a body in braces; functions need no declaration before they are used")
}

pub(in crate::check) fn declared_after_definition(name: &Ident, definition: Span) -> Diagnostic {
    Diagnostic::error(
        "declared-after-definition",
        format!("`{}` is declared behind its definition", name.name),
        name.span,
    )
    .related(definition, "defined here")
    .help("remove the declaration")
}

pub(in crate::check) fn declared_twice(name: &Ident, ty: &FunctionType, first: Span) -> Diagnostic {
    Diagnostic::error("declared-twice", format!("`{}` is declared twice with the same arguments", name.name), name.span)
        .related(first, "declared here")
        .note(format!("the declaration is {}{ty}", name.name))
}

pub(in crate::check) fn declaration_mismatch(
    name: &Ident,
    declared: &FunctionType,
    defined: &FunctionType,
    span: Span,
) -> Diagnostic {
    Diagnostic::error(
        "declaration-mismatch",
        format!("the declaration of `{}` does not match its definition", name.name),
        name.span,
    )
    .label(format!("declared {declared}"))
    .related(span, format!("defined {defined}"))
}

pub(in crate::check) fn unnormalised_definition(name: &Ident) -> Diagnostic {
    Diagnostic::error("unnormalised-definition", format!("`{}` cannot be defined", name.name), name.span)
        .note("an unnormalised density is the normalised one with its constant terms dropped")
        .help(format!("define `{}`, and call it by either name", crate::names::normalised(&name.name)))
}

pub(in crate::check) fn density_returns(name: &Ident, found: Option<&Type>) -> Diagnostic {
    let found = found.map_or("void".to_owned(), ToString::to_string);
    Diagnostic::error("density-returns", format!("`{}` must return a `real`, found `{found}`", name.name), name.span)
        .note("functions whose names end in `_lpdf`, `_lpmf`, `_cdf`, `_lcdf` or `_lccdf` give probabilities or their logarithms")
}

pub(in crate::check) fn density_variate(name: &Ident, kind: &str, found: Option<&Type>, span: Span) -> Diagnostic {
    let message = match found {
        Some(found) => format!("the first argument of `{}` must be of {kind} type, found `{found}`", name.name),
        None => format!("`{}` needs a first argument of {kind} type", name.name),
    };
    let error = Diagnostic::error("density-variate", message, span);
    if kind == "real" {
        error.help("a mass function of integers ends in `_lpmf`")
    } else {
        error.help("a density of real numbers ends in `_lpdf`")
    }
}

pub(in crate::check) fn missing_return(name: &Ident, body: Span) -> Diagnostic {
    let end = Span { start: body.end.saturating_sub(1), end: body.end };
    Diagnostic::error(
        "missing-return",
        format!("`{}` can come to its end without returning a value", name.name),
        name.span,
    )
    .related(end, "the end is here")
    .help("add a `return`, or `reject` where it must not happen")
}
