//! The whole way from text to a typed program.

use crate::ast;
use crate::check::check;
use crate::diagnostics::Diagnostic;
use crate::lexer::Comment;
use crate::migrate::migrate;
use crate::parser::{parse, parse_functions};
use crate::source::{Loader, Source};
use crate::span::Span;
use crate::typed;
use std::path::Path;

/// What is known of a program after reading it.
#[derive(Clone)]
pub struct Reading {
    pub source: Source,
    /// In today's syntax: retired forms have been replaced.
    pub ast: ast::Program,
    pub comments: Vec<Comment>,
    /// Meaningful only where there are no errors.
    pub typed: typed::Program,
    /// Errors and warnings in the order of the text.
    pub problems: Vec<Diagnostic>,
}

impl Reading {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Diagnostic::is_error)
    }
}

/// Reads a program: resolves includes, parses, replaces retired syntax, checks. `path` is where the text came from; a
/// file that ends in `.stanfunctions` holds functions without a block around them.
pub fn read(name: &str, path: Option<&Path>, text: &str, loader: &dyn Loader) -> Reading {
    let (source, mut problems) = Source::expand(name, path, text, loader);
    let only_functions = path.is_some_and(|p| p.extension().is_some_and(|e| e == "stanfunctions"));
    let parsed = if only_functions { parse_functions(&source) } else { parse(&source) };
    problems.extend(parsed.problems);
    let mut ast = parsed.program;
    problems.extend(migrate(&mut ast));
    let checked = check(&ast);
    // What follows from other mistakes is left out: names that stand in text which was skipped, or which the lexer
    // could not read as such.
    let misread: Vec<_> = problems.iter().filter(|p| p.is_error()).map(|p| p.span).collect();
    let overlaps = |a: Span, b: Span| a.start < b.end && b.start < a.end;
    let noise = |p: &Diagnostic| {
        follows_from_skipped(p, &source, &parsed.skipped)
            || (p.code == "undeclared-variable" && misread.iter().any(|span| overlaps(*span, p.span)))
    };
    problems.extend(checked.problems.into_iter().filter(|p| !noise(p)));
    problems.sort_by_key(|p| (p.span.start, p.span.end));
    Reading { source, ast, comments: parsed.comments, typed: checked.program, problems }
}

/// Whether the name that a complaint is about stands in text that the parser had to skip: it may well be declared
/// there.
fn follows_from_skipped(problem: &Diagnostic, source: &Source, skipped: &[Span]) -> bool {
    let about_names = ["undeclared-variable", "unknown-function", "unknown-distribution", "declared-only"];
    let name = source.slice(problem.span);
    about_names.contains(&problem.code)
        && skipped.iter().any(|span| {
            let text = source.slice(*span);
            let inside = problem.span.start >= span.start && problem.span.end <= span.end;
            !inside
                && text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| {
                    word == name || word.strip_prefix(name).is_some_and(|ending| ending == "_lpdf" || ending == "_lpmf")
                })
        })
}
