//! What can be wrong with a program, and while it runs; every message has a place in the source and, where there is
//! one, a remedy.

use std::fmt;

/// A mistake in the text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Byte offset into the source.
    pub at: u32,
    pub message: String,
    pub remedy: Option<String>,
}

impl Mistake {
    pub fn new(at: u32, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), remedy: None }
    }

    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// A place in a source: line and column count from 1, with the text of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub source: String,
    pub line: usize,
    pub column: usize,
    pub text: String,
}

impl Place {
    /// The place of a byte offset. An offset outside of the text is its end.
    pub fn of(source: &str, text: &str, at: u32) -> Self {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        Self {
            source: source.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[start..at].chars().count() + 1,
            text: text[start..end].trim_end_matches('\r').to_owned(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{margin}--> {}:{}:{}", self.source, self.line, self.column)?;
        writeln!(f, "{number} | {}", self.text)?;
        write!(f, "{margin} | {}^", " ".repeat(self.column - 1))
    }
}

/// Everything that is wrong with the text of a program, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    pub errors: Vec<(Mistake, Place)>,
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (mistake, place)) in self.errors.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "error: {}\n{place}", mistake.message)?;
            if let Some(remedy) = &mistake.remedy {
                write!(f, "\n  = help: {remedy}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// Why a run ended without a value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The program did something that has no meaning, or called `error`.
    #[error("{0}")]
    Program(String),
    /// More nested calls than allowed.
    #[error("the recursion is deeper than {0} calls: does it ever end?")]
    Depth(usize),
    /// The program was run for its model only, which was found.
    #[error("the model was found")]
    Found,
    /// More steps of the machine than allowed.
    #[error("the program did not finish within {0} steps")]
    Steps(u64),
}

/// A failure with its place in the program, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct RunError {
    pub failure: Failure,
    pub place: Option<Place>,
}

impl RunError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { failure: Failure::Program(message.into()), place: None }
    }
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        Self { failure, place: None }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.failure)?;
        match &self.place {
            Some(place) => write!(f, "\n{place}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RunError {}

/// The result of everything that runs.
pub type Run<T> = Result<T, RunError>;

/// A failure with a message.
pub fn fail<T>(message: impl Into<String>) -> Run<T> {
    Err(RunError::new(message))
}
