//! The parser's messages: one constructor for each kind of mistake.

use super::{Parser, Reported};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

pub(super) fn reserved_word(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("reserved-word", format!("`{word}` is a reserved word and cannot be used as a name"), span)
        .help(format!("choose another name, such as `{word}_`"))
}

pub(super) fn block_order(name: &str, before: &str, span: Span) -> Diagnostic {
    Diagnostic::error("block-order", format!("the block `{name}` must stand before the block `{before}`"), span).note(
        "the order is: functions, data, transformed data, parameters, transformed parameters, model, generated quantities",
    )
}

pub(super) fn duplicate_block(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("duplicate-block", format!("the block `{name}` stands twice"), span)
        .related(first, "it is here already")
        .help("move everything into one block")
}

pub(super) fn no_initial_value(block: &str, span: Span) -> Diagnostic {
    Diagnostic::error("no-initial-value", format!("variables of the block `{block}` cannot be given a value"), span)
        .help("move the declaration to a transformed block, or leave the value out")
}

pub(super) fn only_declarations(block: &str, span: Span) -> Diagnostic {
    Diagnostic::error("statement-in-block", format!("the block `{block}` holds declarations only"), span)
        .help("statements belong into a transformed block, the model or generated quantities")
}

pub(super) fn not_assignable(span: Span) -> Diagnostic {
    Diagnostic::error("not-assignable", "a value can only be assigned to a variable or a part of one", span)
        .note("the left side may be a name, a name with indices, a part of a tuple, or a tuple of such")
}

pub(super) fn argument_with_size(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("argument-with-size", "types in a function's head have no sizes", span)
        .help(format!("write `{ty}`: the sizes are those of the argument given"))
}

pub(super) fn argument_with_constraint(span: Span) -> Diagnostic {
    Diagnostic::error("argument-with-constraint", "types in a function's head have no constraints", span)
        .help("leave the constraint out; check the value in the body and `reject` where it must not be")
}

pub(super) fn retired(what: &str, replacement: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("retired-syntax", format!("{what} is retired"), span).help(format!("write `{replacement}`"))
}

impl Parser<'_> {
    /// "expected … {place}, found …"
    pub(super) fn expected(&mut self, what: &str, place: &str) -> Reported {
        let place = if place.is_empty() { String::new() } else { format!(" {place}") };
        let (found, span) = self.found();
        let missing_end = matches!(what, "`;`" | "`)`" | "`]`" | "`}`" | "`,`");
        // Something that should close a construct is missing behind what stands, not before what follows.
        let span = if missing_end && self.at > 0 { self.previous().after() } else { span };
        let problem = Diagnostic::error("syntax", format!("expected {what}{place}, found {found}"), span);
        let problem = if missing_end { problem.label(format!("{what} is missing here")) } else { problem };
        self.report(problem)
    }

    /// The token at hand for a message, with its text where that says more than its kind.
    pub(super) fn found(&self) -> (String, Span) {
        let span = self.here();
        let found = match self.peek() {
            TokenKind::Ident | TokenKind::Int | TokenKind::Real | TokenKind::DotNumber | TokenKind::Imaginary => {
                format!("`{}`", self.slice(span))
            }
            kind => kind.describe().to_owned(),
        };
        (found, span)
    }

    pub(super) fn expected_expression(&mut self) -> Reported {
        let (found, span) = self.found();
        let problem = match self.peek() {
            TokenKind::Keyword(keyword) if keyword.word().contains("target") => {
                Diagnostic::error("syntax", "`target` is not a variable", span).help("its value is `target()`")
            }
            TokenKind::Keyword(keyword) => reserved_word(keyword.word(), span),
            TokenKind::Text => Diagnostic::error("text-as-value", "a text is not a value", span)
                .note("texts can stand in `print`, `reject`, `fatal_error` and `profile` only"),
            _ => Diagnostic::error("syntax", format!("expected an expression, found {found}"), span),
        };
        self.report(problem)
    }
}
