//! The parser's messages: one constructor for each kind of mistake.

use super::{Parser, Reported};
use crate::ast::Ident;
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

/// The Stan type that a type of another language stands for.
pub(super) fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" | "double" | "numeric" | "number" => "real",
        "integer" | "bool" | "boolean" | "long" => "int",
        "list" => "array",
        "rowvector" => "row_vector",
        _ => return None,
    })
}

/// What looks like a call, but is a statement of another language.
pub(super) fn foreign_statement(name: &Ident) -> Option<Diagnostic> {
    let help = match name.name.as_str() {
        "elif" | "elseif" | "elsif" => "write `else if (…)`",
        "switch" => "write a chain of `if … else if …`",
        "foreach" => "write `for (x in xs)`",
        "unless" => "write `if (!…)`",
        "repeat" | "until" | "do" => "write `while (…)`",
        _ => return None,
    };
    Some(Diagnostic::error("unknown-statement", format!("Stan has no `{}`", name.name), name.span).help(help))
}

fn with_idiom(problem: Diagnostic, idiom: Option<&str>) -> Diagnostic {
    match idiom {
        Some(help) => problem.help(help),
        None => problem,
    }
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
        let problem = with_idiom(problem, self.foreign_idiom());
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
            TokenKind::Keyword(keyword) => {
                let word = keyword.word();
                Diagnostic::error("syntax", format!("expected an expression, found `{word}`"), span)
                    .note(format!("`{word}` is a reserved word and has no value"))
            }
            TokenKind::Text => Diagnostic::error("text-as-value", "a text is not a value", span)
                .note("texts can stand in `print`, `reject`, `fatal_error` and `profile` only"),
            _ => Diagnostic::error("syntax", format!("expected an expression, found {found}"), span),
        };
        let problem = with_idiom(problem, self.foreign_idiom());
        self.report(problem)
    }

    /// Habits of other languages that the tokens at hand look like.
    fn foreign_idiom(&self) -> Option<&'static str> {
        let before = self.at.checked_sub(1).map_or(TokenKind::End, |i| self.tokens[i].kind);
        let word = if self.is(TokenKind::Ident) { self.slice(self.here()) } else { "" };
        Some(match (before, self.peek()) {
            (TokenKind::Star, TokenKind::Star) => "a power is written `a ^ b`",
            (TokenKind::Plus, TokenKind::Semicolon) => "one is added by `i += 1`",
            (TokenKind::Minus, TokenKind::Semicolon) => "one is subtracted by `i -= 1`",
            (TokenKind::Caret | TokenKind::EltPower | TokenKind::Percent | TokenKind::IntDivide, TokenKind::Assign) => {
                "this operator has no assigning form: write `a = a ^ b`"
            }
            (TokenKind::Less | TokenKind::Greater | TokenKind::Not, TokenKind::Assign) => {
                "no blank can stand in an operator"
            }
            (TokenKind::Greater, TokenKind::Int | TokenKind::Real | TokenKind::Ident | TokenKind::OpenParen) => {
                "a comparison inside `<…>` needs parentheses"
            }
            (_, TokenKind::Bar) => "the logical or is `||`",
            (_, TokenKind::Quote) => "texts stand in double quotation marks",
            _ if word == "and" => "the logical and is `&&`",
            _ if word == "or" => "the logical or is `||`",
            _ if word == "not" => "the logical not is `!`",
            _ if word == "then" => "Stan has no `then`: the statement follows the condition",
            _ => return None,
        })
    }
}
