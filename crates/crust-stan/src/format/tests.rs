//! The printer against every program of the corpus, against programs full of comments, and against random trees.

mod comments;
mod style;
mod trees;

use super::format;
use crate::ast::Program;
use crate::diagnostics::Severity;
use crate::lexer::{Comment, CommentKind};
use crate::parser::{Parsed, parse};
use crate::source::{IncludeFiles, Source};
use std::path::{Path, PathBuf};

fn read(text: &str) -> (Source, Parsed) {
    let (source, _) = Source::from_text("test.stan", text);
    let parsed = parse(&source);
    (source, parsed)
}

fn has_errors(parsed: &Parsed) -> bool {
    parsed.problems.iter().any(|p| p.severity == Severity::Error)
}

/// Reads a program that must be right.
fn read_right(text: &str) -> (Source, Parsed) {
    let (source, parsed) = read(text);
    let errors: Vec<_> = parsed.problems.iter().filter(|p| p.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\nin\n{text}");
    (source, parsed)
}

fn printed(text: &str) -> String {
    let (source, parsed) = read_right(text);
    format(&parsed.program, &parsed.comments, &source)
}

/// A comment without what the printer may change: the mark, and blanks at the ends of lines.
fn words(comment: &Comment, source: &Source) -> String {
    let text = source.slice(comment.span);
    match comment.kind {
        CommentKind::Line => text.trim_start_matches("//").trim().to_owned(),
        CommentKind::Hash => text.trim_start_matches('#').trim().to_owned(),
        CommentKind::Block => text.lines().map(str::trim).collect::<Vec<_>>().join("\n"),
    }
}

/// Prints a program and checks all that must hold of the result.
fn check(program: &Program, comments: &[Comment], source: &Source, name: &str) -> String {
    let once = check_comments(program, comments, source, name);
    assert_eq!(*program, read_right(&once).1.program, "{name}: the tree changed:\n{once}");
    once
}

/// Prints a program and checks all that must hold of the result, also where the tree was not made by the parser.
fn check_comments(program: &Program, comments: &[Comment], source: &Source, name: &str) -> String {
    let once = format(program, comments, source);
    let (source_again, parsed) = read_right(&once);
    let before: Vec<_> = comments.iter().map(|c| words(c, source)).collect();
    let after: Vec<_> = parsed.comments.iter().map(|c| words(c, &source_again)).collect();
    assert_eq!(before, after, "{name}: the comments changed:\n{once}");
    assert!(parsed.comments.iter().all(|c| c.kind != CommentKind::Hash), "{name}");
    let twice = format(&parsed.program, &parsed.comments, &source_again);
    let line = once.lines().zip(twice.lines()).position(|(a, b)| a != b);
    assert_eq!(once, twice, "{name}: printing twice is not printing once, see line {line:?}");
    assert!(once.lines().all(|l| l.trim_end() == l), "{name}: blanks at the end of a line:\n{once}");
    assert!(!once.contains("\n\n\n") && !once.ends_with("\n\n"), "{name}: needless empty lines:\n{once}");
    once
}

fn programs_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|e| e.path()) {
        if path.is_dir() {
            programs_below(&path, found);
        } else if path.extension().is_some_and(|e| e == "stan") {
            found.push(path);
        }
    }
}

/// The programs of the corpus that the parser takes, with their trees.
fn corpus() -> Vec<(String, Source, Parsed)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths = Vec::new();
    programs_below(&root.join("valid"), &mut paths);
    programs_below(&root.join("legacy"), &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(&path).ok()?).into_owned();
        let folders = path.parent().map(|p| p.join("parts")).into_iter().collect();
        let name = path.display().to_string();
        let (source, problems) = Source::expand(&name, Some(&path), &text, &IncludeFiles { folders });
        let parsed = parse(&source);
        (problems.is_empty() && !has_errors(&parsed)).then_some((name, source, parsed))
    };
    paths.into_iter().filter_map(read).collect()
}

#[test]
fn every_program_of_the_corpus_goes_round() {
    let programs = corpus();
    assert!(programs.len() >= 150, "{} programs", programs.len());
    for (name, source, parsed) in programs {
        check(&parsed.program, &parsed.comments, &source, &name);
    }
}
