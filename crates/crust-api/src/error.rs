//! What can go wrong, with its causes; [`render`] says it to people.

mod render;

pub use render::{Look, render, render_problems, render_warning};

use crate::problem::Program;
use crust_diagnose::checkpoint::{Halt, JournalError};
use crust_engine::{EngineError, SimulateError, UnconstrainError};
use crust_infer::anneal::BadSchedule;
use crust_infer::error::Error as InferError;
use crust_infer::target::Fatal;
use crust_stan::data::DataErrors;
use crust_stan::diagnostics::Diagnostic;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    Engine { program: Program, error: EngineError, suspicion: Option<Suspicion> },
    /// Nothing can be drawn from the program.
    #[error("{error}")]
    Simulate { program: Program, error: SimulateError, suspicion: Option<Suspicion> },
    /// A sampler or annealing failed.
    #[error("{error}{}{}", words(.hint, " (", ")"), words(.suspicion, "; ", ""))]
    Infer { error: InferError, hint: Option<&'static str>, suspicion: Option<Suspicion> },
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot {doing} {}: {error}", .path.display())]
    Io { doing: &'static str, path: PathBuf, error: io::Error },
    /// A result that could not be written, while the journal has all that it is made of.
    #[error("cannot write {}: {error}; all that was computed is kept: the same command goes on from there", .path.display())]
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
    /// A result that cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The run was stopped before there was a result.
    #[error("interrupted")]
    Interrupted,
}

/// Input that is valid, but that the command can do nothing with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the program {program} is empty: there is nothing to run")]
    Empty { program: String },
    #[error("the program {program} has no parameters: there is nothing to infer")]
    NoParameters { program: String },
    #[error("the program {program} has no parameters: its marginal likelihood is its likelihood (see `crust density`)")]
    LikelihoodOnly { program: String },
    #[error(
        "the program has no outcome: no data has a distribution, so that there is nothing to learn from (see `crust check`)"
    )]
    NoOutcome,
    #[error("{} in {file} {} no values: there is nothing to learn from", quoted(.outcomes), if .outcomes.len() == 1 { "has" } else { "have" })]
    NoValues { outcomes: Vec<String>, file: String },
    #[error(
        "all {count} values of the outcome `{outcome}` in {file} are {value}: such data cannot be compared with simulated ones; is the \
         right column in the file?"
    )]
    AllTheSame { count: usize, outcome: String, file: String, value: String },
    #[error(
        "`{place}` in {file} is not a number: Stan has no missing values; leave such rows out, or declare them as parameters"
    )]
    NotANumber { place: String, file: String },
    #[error(
        "the outcome `{place}` in {file} is infinite: correct it, leave the row out, or state in the model that it is censored"
    )]
    InfiniteOutcome { place: String, file: String },
    #[error("the program rejects every point that was tried ({why}); there is nothing to measure")]
    AllRejected { why: String },
    #[error("--models and --movielens are for `bread-real`: table1 has all three models of its own")]
    ModelsOfTable1,
    #[error("{} has {file} from an earlier run with more chains: remove it, or choose another folder", .folder.display())]
    MoreChains { folder: PathBuf, file: String },
    #[error("{} is there, but was not written by crust: choose another folder", .0.display())]
    NotOurs(PathBuf),
    #[error("{} has the results of another command: choose another folder", .0.display())]
    OtherCommand(PathBuf),
}

/// Values of parameters, or points, that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    #[error("the {what}s in {file} are not JSON: {error}")]
    NotJson { what: &'static str, file: String, error: serde_json::Error },
    #[error("the {what}s in {file} must be a JSON object: {{\"name\": value, …}}")]
    NoObject { what: &'static str, file: String },
    #[error("the {what} of `{name}` in {file} must be {expected}, but {found}")]
    Shape { what: &'static str, name: String, file: String, expected: String, found: ShapeError },
    #[error("{file} has no {what} for any of the parameters {}", .parameters.join(", "))]
    NoneGiven { what: &'static str, file: String, parameters: Vec<String> },
    #[error("the initial values in {file} cannot be used: {error}")]
    Unusable { file: String, error: UnconstrainError },
    #[error("{file} must hold a JSON array of points, each an array of numbers: {error}")]
    NoPoints { file: String, error: serde_json::Error },
    #[error("{file} holds no points; a point is an array of {dimension} numbers")]
    EmptyPoints { file: String, dimension: usize },
    #[error("point {number} in {file} has {found} numbers, but the program has {dimension} unconstrained parameters")]
    PointSize { number: usize, file: String, found: usize, dimension: usize },
}

/// What stands where numbers of a certain shape belong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    #[error("{0} is too large")]
    TooLarge(String),
    #[error("there is an array of {found} where {wanted} belong")]
    Length { found: usize, wanted: usize },
    #[error("there is an array where a number belongs")]
    NoNumber,
    #[error("there is {0}")]
    Other(String),
}

/// Why observations cannot be added one at a time.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PathError {
    #[error("the data block has no `{0}`: name the integer that counts the observations")]
    NoCounter(String),
    #[error("`{0}` is not an integer, which counts observations")]
    NoInteger(String),
    #[error("{what} of `{variable}` is computed from `{counter}`, so that it cannot be cut")]
    Computed { what: &'static str, variable: String, counter: String },
    #[error("no data variable has `{0}` entries, so that there is nothing to add")]
    NothingToAdd(String),
    #[error("there are no observations to add")]
    NoObservations,
    #[error("`{variable}` cannot be cut to {count} entries")]
    Cut { variable: String, count: usize },
    #[error("with {counter} = {count}: {error}")]
    Bind { counter: String, count: usize, error: EngineError },
    #[error(
        "the program has {part} unconstrained parameters with {counter} = {count} and {whole} with all data; observations can only be \
         added one at a time where the parameters stay the same"
    )]
    Dimension { counter: String, count: usize, part: usize, whole: usize },
    #[error(
        "the prior depends on the data that are cut (its logarithm at one point is {part} with {counter} = {count} and {whole} with all \
         data): the path would not begin with the prior"
    )]
    Prior { counter: String, count: usize, part: f64, whole: f64 },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Programs that cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("there is only one way to compare: give several programs, or several of --kernel or --schedule")]
    OneWay,
    #[error(
        "no program has all parameters of the others, so that no exact draw is known for each of them: name parameters that are the same \
         alike, and give one program that has all"
    )]
    NoSource,
    #[error("{} cannot take the simulated data:\n{}", .program.name(), .errors.render(.program.text(), false))]
    Data { program: Program, errors: DataErrors },
    #[error("the parameters of {program} differ: {error}")]
    Parameters { program: String, error: UnconstrainError },
    #[error("{program} has a parameter that was not simulated")]
    NotSimulated { program: String },
    #[error("{name} must be a JSON object")]
    NoObject { name: String },
    #[error("{name} cannot be read as plain JSON, which a comparison needs: {error}")]
    NotJson { name: String, error: serde_json::Error },
}

/// Why an estimator of the marginal likelihood cannot run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EvidenceError {
    #[error(
        "{method} needs the normaliser of the prior, and {why}; or use --methods smc,stepping-stone, which need no normaliser"
    )]
    NoNormaliser { method: &'static str, why: NormaliserError },
    #[error("no density can be fitted to the draws of the posterior: {why}; use --methods smc")]
    NoProposal { why: String },
}

/// Why it is not known what a prior integrates to, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NormaliserError {
    #[error("the program adds a constant to `target`, which may or may not be meant as one: leave it out")]
    Constant,
    #[error("the prior of `{0}` is that of a multiple of it: write it as the prior of `{0}` itself")]
    Multiple(String),
    #[error(
        "the mixture that is the prior of `{0}` is cut off by its bounds: leave out the bounds, or use one distribution"
    )]
    CutMixture(String),
    #[error("`{0}` is a tuple: declare its parts as parameters")]
    Tuple(String),
    #[error("`{0}` has no statement: write its prior out, for example `{0} ~ lkj_corr(1)`")]
    NoStatement(String),
    #[error("the order of `{0}` cuts off a part of its prior that crust cannot compute")]
    Order(String),
    #[error("`{0}` has bounds and a density of the program's own: leave out the bounds")]
    OwnDensity(String),
    #[error("the bounds of `{name}` cut off a part of its `{stem}` prior: draw its elements in a loop, with `T[…, …]`")]
    Bounds { name: String, stem: String },
    #[error(
        "the part of a prior that bounds cut off has no distribution function in crust: write the prior with `T[…, …]`, or without bounds"
    )]
    NoDistributionFunction,
    #[error("what bounds cut off from the prior is not the same everywhere: write the priors with `T[…, …]`")]
    NotConstant,
    #[error("{0}")]
    Simulate(Arc<SimulateError>),
    #[error("{0}")]
    Engine(Arc<EngineError>),
}

/// Data that are allowed but not finite, which may be why something went wrong: infinite bounds are sensible, infinite covariates are
/// not, and no one but the user can tell them apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Suspicion {
    #[error(transparent)]
    Missing(Refusal),
    #[error("`{place}` in {file} is infinite, which may be the cause: correct it, or leave the row out")]
    Infinite { place: String, file: String },
}

/// A mistake that came up while a target was evaluated, or drawn from.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error("--path data:{counter}: {error}")]
    Path { counter: String, error: PathError },
}

/// Where targets leave the mistakes that end a run: samplers only hand on that there was one. Copies share the place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Arc<Mutex<Option<Fault>>>);

impl Faults {
    /// Keeps the first one, and makes of it what a sampler hands on.
    pub fn raise(&self, fault: impl Into<Fault>) -> Fatal {
        let fault = fault.into();
        let words = fault.to_string();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        Fatal::new(words)
    }

    fn take(&self) -> Option<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What a run was about, to make errors of what went wrong in it.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub suspicion: Option<&'a Suspicion>,
    pub faults: &'a Faults,
}

impl Context<'_> {
    pub fn engine(self, error: EngineError) -> Error {
        Error::Engine { program: self.program.clone(), error, suspicion: self.suspicion.cloned() }
    }

    pub fn simulate(self, error: SimulateError) -> Error {
        Error::Simulate { program: self.program.clone(), error, suspicion: self.suspicion.cloned() }
    }

    pub fn infer(self, error: InferError) -> Error {
        match error {
            InferError::Interrupted => Error::Interrupted,
            InferError::Fatal(_) => match self.faults.take() {
                Some(Fault::Engine(error)) => self.engine(error),
                Some(Fault::Simulate(error)) => self.simulate(error),
                Some(Fault::Path { counter, error }) => Error::Path { counter, error },
                None => Error::Infer { error, hint: None, suspicion: self.suspicion.cloned() },
            },
            error => Error::Infer { error, hint: None, suspicion: self.suspicion.cloned() },
        }
    }

    /// What a protocol that came to no end says.
    pub fn halt(self, halt: Halt<Trouble>) -> Error {
        match halt {
            Halt::Interrupted => Error::Interrupted,
            Halt::Journal(error) => Error::Journal(error),
            Halt::Work(trouble) => self.trouble(trouble),
        }
    }

    pub fn trouble(self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Engine(error) => self.engine(error),
            Trouble::Simulate(error) => self.simulate(error),
            Trouble::Infer(error) => self.infer(error),
            Trouble::Schedule(error) => error.into(),
            Trouble::Path { counter, error } => Error::Path { counter, error },
            Trouble::NotSimulated { dataset } => Error::NotSimulated { dataset },
        }
    }
}

/// Why an experiment cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error("--path data:{counter}: {error}")]
    Path { counter: String, error: PathError },
    /// A unit that is out of order.
    #[error("dataset {dataset} has not been simulated")]
    NotSimulated { dataset: u32 },
}

impl Error {
    /// An option with its value, and what it must be.
    pub fn option(name: &'static str, value: impl ToString, must_be: impl Into<String>) -> Self {
        Self::Option { name, value: value.to_string(), must_be: must_be.into() }
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
fn words(optional: &Option<impl fmt::Display>, before: &str, after: &str) -> String {
    optional.as_ref().map(|words| format!("{before}{words}{after}")).unwrap_or_default()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
