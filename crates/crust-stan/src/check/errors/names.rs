//! Names: undeclared, used twice, reserved.

use crate::ast::{BlockKind, Ident};
use crate::diagnostics::Diagnostic;
use crate::span::Span;

pub(in crate::check) fn redeclared(name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error("redeclared", format!("the name `{}` is already in use", name.name), name.span)
        .related(first, "declared here")
        .note("a variable cannot hide another one, also not from an inner block")
        .help("choose another name")
}

pub(in crate::check) fn reserved_word(name: &Ident) -> Diagnostic {
    Diagnostic::error(
        "reserved-word",
        format!("`{}` is a reserved word and cannot be used as a name", name.name),
        name.span,
    )
    .help(format!("choose another name, such as `{}_`", name.name))
}

pub(in crate::check) fn reserved_as_value(name: &str, span: Span) -> Diagnostic {
    let error = Diagnostic::error("reserved-word", format!("`{name}` is a reserved word and has no value"), span);
    match name {
        "true" => error.help("write `1`"),
        "false" => error.help("write `0`"),
        _ => error,
    }
}

pub(in crate::check) fn trailing_underscores(name: &Ident) -> Diagnostic {
    Diagnostic::error("trailing-underscores", format!("the name `{}` ends in two underscores", name.name), name.span)
        .note("such names are kept for Stan's own output, like `lp__`")
}

pub(in crate::check) fn unnormalised_name(name: &Ident) -> Diagnostic {
    Diagnostic::error("unnormalised-name", format!("a variable cannot be called `{}`", name.name), name.span)
        .note("names that end in `_lupdf` or `_lupmf` are kept for unnormalised densities")
}

pub(in crate::check) fn undeclared_variable(name: &str, suggestion: Option<&str>, span: Span) -> Diagnostic {
    let error = Diagnostic::error("undeclared-variable", format!("there is no variable `{name}` here"), span);
    match suggestion {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

pub(in crate::check) fn assignment_to_target(span: Span) -> Diagnostic {
    Diagnostic::error("target-assignment", "the target can only be added to", span).help("write `target += …;`")
}

pub(in crate::check) fn function_as_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("function-as-value", format!("`{name}` is a function, not a value"), span)
        .help(format!("call it: `{name}(…)`"))
}

pub(in crate::check) fn not_a_function(name: &Ident) -> Diagnostic {
    Diagnostic::error("not-a-function", format!("`{}` is a variable and cannot be called", name.name), name.span)
}

pub(in crate::check) fn assignment_to_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("assignment-to-function", format!("`{name}` is a function: nothing can be assigned to it"), span)
}

pub(in crate::check) fn assignment_to_argument(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "assignment-to-argument",
        format!("`{name}` is an argument of the function and cannot be changed"),
        span,
    )
    .help("copy it into a local variable")
}

pub(in crate::check) fn assignment_to_loop_variable(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("assignment-to-loop-variable", format!("`{name}` is a loop variable and cannot be changed"), span)
}

pub(in crate::check) fn assignment_to_block(name: &str, block: BlockKind, span: Span, declared: Span) -> Diagnostic {
    let (message, help) = match block {
        BlockKind::Data => {
            (format!("`{name}` is data and cannot be changed"), "copy it into a variable of `transformed data`")
        }
        BlockKind::Parameters => {
            (format!("`{name}` is a parameter and cannot be changed"), "compute from it in `transformed parameters`")
        }
        _ => (
            format!("`{name}` can be changed in its own block `{}` only", block.name()),
            "assign it where it is declared, or use a local variable here",
        ),
    };
    Diagnostic::error("assignment-to-block-variable", message, span).related(declared, "declared here").help(help)
}

pub(in crate::check) fn duplicate_target(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("duplicate-target", format!("`{name}` is assigned to more than once in one assignment"), span)
}
