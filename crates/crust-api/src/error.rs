//! What can go wrong, with its causes; [`render`] says it to people.

mod causes;
mod fault;
mod render;
mod subject;

pub use causes::{
    CandyError, CompareError, EvidenceError, LeukemiaError, PathError, Refusal, ShapeError, Suspicion, ValuesError,
};
pub(crate) use fault::{Context, Fault, Faults, Trouble};
pub use render::{Look, render, render_problems, render_warning};
pub use subject::SubjectError;

use crate::problem::Program;
use crust_diagnose::checkpoint::JournalError;
use crust_engine::{EngineError, SimulateError};
use crust_infer::anneal::BadSchedule;
use crust_infer::error::Error as InferError;
use crust_stan::data::DataErrors;
use crust_stan::diagnostics::Diagnostic;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program has mistakes, and perhaps warnings.
    #[error("{} has mistakes: {}", .program.name(), messages(.program.errors()))]
    Program { program: Program },
    /// The data do not fit the program.
    #[error("the data do not fit {}:\n{}", .program.name(), .errors.render(.program.text(), false))]
    Data { program: Program, errors: DataErrors },
    /// The program is no joint distribution, or not one that the command can use.
    #[error("{}", messages(.problems))]
    Reading { program: Program, problems: Vec<Diagnostic> },
    /// The program cannot be run, or a run met a mistake in it.
    #[error("{error}")]
    Engine { program: Program, error: EngineError, suspicion: Option<Box<Suspicion>> },
    /// Nothing can be drawn from the program.
    #[error("{error}")]
    Simulate { program: Program, error: Box<SimulateError>, suspicion: Option<Box<Suspicion>> },
    /// A sampler or annealing failed.
    #[error("{error}{}{}", words(*.hint, " (", ")"), words(.suspicion.as_ref(), "; ", ""))]
    Infer { error: Box<InferError>, hint: Option<&'static str>, suspicion: Option<Box<Suspicion>> },
    /// No approximation was found.
    #[error("{error}{}{}", words(.hint.as_ref(), " (", ")"), words(.suspicion.as_ref(), "; ", ""))]
    Approximate { error: Box<crust_infer::approximate::Error>, hint: Option<String>, suspicion: Option<Box<Suspicion>> },
    /// Nothing that can be judged.
    #[error(transparent)]
    Subject(#[from] Box<SubjectError>),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot {doing} {}: {error}", .path.display())]
    Io { doing: &'static str, path: PathBuf, error: io::Error },
    /// A result that could not be written, while the journal has all that it is made of.
    #[error(
        "cannot write {}: {error}; all that was computed is kept: the same command goes on from there", .path.display()
    )]
    Kept { path: PathBuf, error: io::Error },
    #[error("cannot write the draws: {0}")]
    Draws(io::Error),
    /// An option that makes no sense.
    #[error("--{name}{}{must_be}", if .value.is_empty() { " ".to_owned() } else { format!(" {value}: ") })]
    Option { name: &'static str, value: String, must_be: String },
    /// A name that is none of those that there are.
    #[error("there is no {what} `{name}`; there are {}", .known.join(", "))]
    Unknown { what: &'static str, name: String, known: Vec<&'static str> },
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Candy(#[from] CandyError),
    #[error(transparent)]
    Leukemia(#[from] LeukemiaError),
    #[error(transparent)]
    Values(#[from] ValuesError),
    #[error("--path data:{counter}: {error}")]
    Path { counter: String, error: PathError },
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error("{model}: {error}")]
    Testbed { model: &'static str, error: crust_testbed::estimators::Error },
    /// A broken order of work.
    #[error("dataset {dataset} has not been simulated")]
    NotSimulated { dataset: u32 },
    #[error("there are no real data to fit")]
    NoRealData,
    /// Mistakes in a WebPPL program.
    #[error(transparent)]
    WebPpl(crust_webppl::Errors),
    /// A WebPPL program that went wrong while it ran.
    #[error(transparent)]
    WebPplRun(Box<crust_webppl::RunError>),
    /// No distribution to begin with.
    #[error(
        "annealing has no distribution to begin with: {0}. Nearly always the posterior has no finite integral, and \
         parameters run away until the density no longer changes (flat priors; an outcome that a predictor separates): \
         give parameters a prior"
    )]
    Reference(crust_infer::path::BadReference),
    /// A result that cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The run was stopped before there was a result.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An option with its value, and what it must be.
    pub fn option(name: &'static str, value: impl fmt::Display, must_be: impl Into<String>) -> Self {
        Self::Option { name, value: value.to_string(), must_be: must_be.into() }
    }

    /// What inference says of something that is no program.
    pub(crate) fn infer(error: InferError) -> Self {
        Self::Infer { error: Box::new(error), hint: None, suspicion: None }
    }

    /// What cannot be judged.
    pub(crate) fn subject(error: SubjectError) -> Self {
        Self::Subject(Box::new(error))
    }

    /// A folder that cannot be made or used.
    pub fn folder(path: &Path) -> impl FnOnce(io::Error) -> Self {
        Self::io("use the folder", path)
    }

    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        Self::io("write", path)
    }

    /// `doing` goes on with the path: "cannot read the data DATA.json".
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { doing, path, error }
    }
}

fn messages<'a>(problems: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    problems.into_iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
}

/// Words between others, if there are any.
fn words(optional: Option<impl fmt::Display>, before: &str, after: &str) -> String {
    optional.map(|words| format!("{before}{words}{after}")).unwrap_or_default()
}
