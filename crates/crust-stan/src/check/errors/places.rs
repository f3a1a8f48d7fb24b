//! Statements and calls in places where they are not allowed.

use crate::ast::{BlockKind, Ident, SpecialType};
use crate::diagnostics::Diagnostic;
use crate::span::Span;

pub(in crate::check) fn target_not_allowed(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("target-not-allowed", format!("{what} cannot be used here"), span)
        .note("the target density belongs to the model block and to functions whose names end in `_lp`")
}

pub(in crate::check) fn jacobian_not_allowed(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("jacobian-not-allowed", format!("{what} cannot be used here"), span).note(
        "the Jacobian adjustment belongs to `transformed parameters` and to functions whose names end in `_jacobian`",
    )
}

pub(in crate::check) fn rng_not_allowed(function: &Ident) -> Diagnostic {
    Diagnostic::error(
        "rng-not-allowed",
        format!("`{}` draws random numbers, which is not allowed here", function.name),
        function.span,
    )
    .note("random numbers belong to `transformed data`, `generated quantities` and functions whose names end in `_rng`")
}

pub(in crate::check) fn unnormalised_not_allowed(function: &Ident) -> Diagnostic {
    Diagnostic::error("unnormalised-not-allowed", format!("`{}` cannot be used here", function.name), function.span)
        .note("unnormalised densities belong to the model block and to functions whose names end in `_lpdf` or `_lpmf`")
        .help(format!("use `{}`", crate::names::normalised(&function.name)))
}

pub(in crate::check) fn lp_in_transformed_parameters(function: &Ident) -> Diagnostic {
    Diagnostic::warning(
        "lp-in-transformed-parameters",
        format!("`{}` changes the target in `transformed parameters`, which is being retired", function.name),
        function.span,
    )
    .help("for a change of variables, use a function whose name ends in `_jacobian` with `jacobian +=`")
}

pub(in crate::check) fn outside_loop(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("outside-loop", format!("`{word}` stands outside a loop"), span)
}

pub(in crate::check) fn unreachable(span: Span, after: Span) -> Diagnostic {
    Diagnostic::warning("unreachable", "this statement is never reached", span).related(after, "everything ends here")
}

pub(in crate::check) fn return_outside_function(span: Span) -> Diagnostic {
    Diagnostic::error("return-outside-function", "`return` stands outside a function", span)
}

pub(in crate::check) fn return_value_in_void(span: Span) -> Diagnostic {
    Diagnostic::error("return-value-in-void", "a `void` function returns no value", span)
        .help("write `return;`, or give the function a return type")
}

pub(in crate::check) fn local_constraint(span: Span) -> Diagnostic {
    Diagnostic::error("local-constraint", "local variables cannot have constraints", span)
        .note("constraints are for variables at the top of a block, except the model block")
        .help("leave the constraint out")
}

pub(in crate::check) fn local_special_type(special: SpecialType, span: Span) -> Diagnostic {
    let ty = special.ty();
    Diagnostic::error("local-constraint", format!("local variables cannot be `{}`", special.name()), span)
        .note("constrained types are for variables at the top of a block, except the model block")
        .help(format!("use `{ty}`"))
}

pub(in crate::check) fn int_parameter(block: BlockKind, span: Span) -> Diagnostic {
    let what = if block == BlockKind::Parameters { "parameters" } else { "transformed parameters" };
    Diagnostic::error("int-parameter", format!("{what} cannot be integers"), span)
        .note("sampling moves through continuous values, and needs derivatives")
        .help("sum a discrete parameter out of the model, or use `real`")
}

pub(in crate::check) fn size_not_data(name: &str, block: BlockKind, span: Span) -> Diagnostic {
    Diagnostic::error("size-not-data", format!("this size depends on `{name}`, which is not data"), span)
        .label(format!("declared in `{}`", block.name()))
        .note("sizes at the top of a block can use the variables of `data` and `transformed data` only")
}

pub(in crate::check) fn size_random(span: Span) -> Diagnostic {
    Diagnostic::error("size-random", "a size at the top of a block cannot be random", span)
        .help("draw it into a variable of `transformed data` first")
}

pub(in crate::check) fn nested_multiple_index(span: Span) -> Diagnostic {
    Diagnostic::error(
        "nested-multiple-index",
        "what a multiple index selects cannot be indexed again on the left of `=`",
        span,
    )
    .help("put all indices into one pair of brackets: `x[a:b, c]`")
}

pub(in crate::check) fn self_index(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "self-index",
        format!("an index on the left of `=` cannot read `{name}`, which is being changed"),
        span,
    )
    .help("put the index into a variable of its own first")
}
