//! What is wrong with data, in words.

use std::fmt;

use crate::diagnostics::Diagnostic;
use crate::render;
use crate::source::Source;
use serde::Serialize;

/// Everything that is wrong, in the order of the declarations.
#[derive(Clone, Debug)]
pub struct DataErrors {
    pub problems: Vec<DataProblem>,
}

#[derive(Clone, Debug)]
pub enum DataProblem {
    /// The data do not fit the program.
    Data(DataError),
    /// Evaluating a size or a bound went wrong: an error with a place in the program.
    Program(Diagnostic),
}

/// One mistake in the data.
#[derive(Clone, Debug, Serialize)]
pub struct DataError {
    pub code: &'static str,
    /// The variable of the data block.
    pub variable: Option<String>,
    /// What is wrong, in one line.
    pub message: String,
    /// The data file.
    pub file: String,
    /// Line and column in the data file, counted from one.
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// The place below the variable, as in the program: `y[3, 2]`.
    pub place: Option<String>,
    /// The type with its sizes.
    pub expected: Option<String>,
    pub found: Option<String>,
    /// Where and how the variable is declared.
    pub declared: Option<String>,
    pub help: Vec<String>,
}

/// The texts that messages point into.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub json: &'a str,
    pub name: &'a str,
    pub source: &'a Source,
}

impl DataError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            variable: None,
            message: message.into(),
            file: String::new(),
            line: None,
            column: None,
            place: None,
            expected: None,
            found: None,
            declared: None,
            help: Vec::new(),
        }
    }

    /// Sets the file and the place in it.
    pub(super) fn at(mut self, text: &Text<'_>, offset: usize) -> Self {
        let before = &text.json[..offset.min(text.json.len())];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        self.line = Some(before.bytes().filter(|&b| b == b'\n').count() + 1);
        self.column = Some(before[line_start..].chars().count() + 1);
        self.file(text)
    }

    pub(super) fn file(mut self, text: &Text<'_>) -> Self {
        text.name.clone_into(&mut self.file);
        self
    }

    pub(super) fn variable(mut self, name: &str) -> Self {
        self.variable = Some(name.to_owned());
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error[{}]: {}", self.code, self.message)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " --> {}:{line}:{column}", self.file)?,
            _ => write!(f, " --> {}", self.file)?,
        }
        match &self.place {
            Some(place) => writeln!(f, " (at {place})")?,
            None => writeln!(f)?,
        }
        let rows = [("expected", &self.expected), ("found", &self.found), ("declared", &self.declared)];
        for (word, text) in rows {
            if let Some(text) = text {
                writeln!(f, "  | {word:<8} {text}")?;
            }
        }
        for help in &self.help {
            writeln!(f, "  = help: {help}")?;
        }
        Ok(())
    }
}

impl DataErrors {
    /// All messages for people.
    pub fn render(&self, source: &Source, colour: bool) -> String {
        let one = |problem: &DataProblem| match problem {
            DataProblem::Data(error) => error.to_string(),
            DataProblem::Program(diagnostic) => render::render(diagnostic, source, colour) + "\n",
        };
        self.problems.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for DataErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "; " })?;
            match problem {
                DataProblem::Data(error) => f.write_str(&error.message)?,
                DataProblem::Program(diagnostic) => f.write_str(&diagnostic.message)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for DataErrors {}
