//! Diagnostics for people: the source line, marks below it, the reason and the remedy.

use crate::diagnostics::{Diagnostic, Severity};
use crate::source::Source;
use crate::span::Span;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

/// Renders one diagnostic, with colours if `colour`.
pub fn render(problem: &Diagnostic, source: &Source, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(problem.message.as_str()).id(problem.code);
    let mut group = Group::with_title(title);
    for snippet in snippets(problem, source) {
        group = group.element(snippet);
    }
    for note in &problem.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// One excerpt for each file that the diagnostic points into, the file of the mistake itself first.
fn snippets<'a>(problem: &'a Diagnostic, source: &'a Source) -> Vec<Snippet<'a, Annotation<'a>>> {
    let primary = (problem.span, AnnotationKind::Primary, problem.label.as_deref());
    let related = problem.related.iter().map(|(span, label)| (*span, AnnotationKind::Context, Some(label.as_str())));
    let marks: Vec<(Span, AnnotationKind, Option<&str>)> = std::iter::once(primary).chain(related).collect();
    let mut files: Vec<usize> = Vec::new();
    for (span, ..) in &marks {
        let (file, _) = source.in_file(*span);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let mut snippets = Vec::new();
    for file in files {
        let Some(text) = source.files().get(file) else { continue };
        let here = marks.iter().filter_map(|(span, kind, label)| {
            let (at, range) = source.in_file(*span);
            (at == file).then(|| (first_line(&text.text, range), kind, label))
        });
        let here: Vec<_> = here.collect();
        // Only the lines that matter are handed over: a program of thousands of lines may have as many messages.
        let start = here.iter().map(|(range, ..)| range.start).min().unwrap_or(0);
        let end = here.iter().map(|(range, ..)| range.end).max().unwrap_or(0);
        let (window, line) = text.lines_around(start..end);
        let mut snippet = Snippet::source(&text.text[window.clone()]).line_start(line).path(text.name.as_str());
        for (range, kind, label) in here {
            let annotation = kind.span(range.start - window.start..range.end - window.start);
            snippet = snippet.annotation(match label {
                Some(label) => annotation.label(*label),
                None => annotation,
            });
        }
        snippets.push(snippet);
    }
    snippets
}

/// A mark over many lines says no more than one below the first of them. A mark between two characters is drawn by the
/// library below the byte that follows, so where that is part of a longer character, all of it is marked.
fn first_line(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let marked = text.get(range.clone()).unwrap_or("");
    let length = marked.find('\n').unwrap_or(marked.len());
    let next = text.get(range.start..).and_then(|t| t.chars().next()).map_or(0, char::len_utf8);
    range.start..range.start + if length == 0 && next > 1 { next } else { length }
}
