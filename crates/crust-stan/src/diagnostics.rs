//! What crust says about a program: errors and warnings with their places, reasons and remedies.

use crate::source::Source;
use crate::span::Span;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// One message. Every kind of mistake has a `code` of its own, in words, which never changes its meaning.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    pub span: Span,
    /// Stands below the marked text; says what was found there.
    pub label: Option<String>,
    /// Other places that matter, such as an earlier declaration.
    pub related: Vec<(Span, String)>,
    /// Why it is wrong.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Vec<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, code, message.into(), span)
    }

    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, code, message.into(), span)
    }

    fn new(severity: Severity, code: &'static str, message: String, span: Span) -> Self {
        Self { severity, code, message, span, label: None, related: Vec::new(), notes: Vec::new(), help: Vec::new() }
    }

    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The diagnostic as data, with its place resolved.
    pub fn record(&self, source: &Source) -> Record {
        let start = source.location(self.span);
        let end = source.end_location(self.span);
        Record {
            severity: self.severity,
            code: self.code,
            file: source.files().get(start.file).map(|f| f.name.clone()).unwrap_or_default(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            message: self.message.clone(),
            label: self.label.clone(),
            notes: self.notes.clone(),
            help: self.help.clone(),
        }
    }
}

/// A diagnostic for machines (`crust check --json`). Lines and columns count from one.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    pub severity: Severity,
    pub code: &'static str,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}
