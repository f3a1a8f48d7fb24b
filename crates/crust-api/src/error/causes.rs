//! Causes of errors that are not those of another crate.

use crate::problem::Program;
use crust_engine::{EngineError, UnconstrainError};
use crust_stan::data::DataErrors;
use std::path::PathBuf;

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
        "the program has no outcome: no data has a distribution, so that there is nothing to learn from (see `crust \
         check`)"
    )]
    NoOutcome,
    #[error(
        "--simulator {simulator} simulates no outcome of the program: it generates {}, and the {} {}; give generated quantities \
         the outcomes' names",
        if .generated.is_empty() { "nothing".to_owned() } else { quoted(.generated) },
        if .wanted.len() == 1 { "outcome is" } else { "outcomes are" },
        quoted(.wanted)
    )]
    NothingSimulated { simulator: String, generated: Vec<String>, wanted: Vec<String> },
    #[error(
        "{} in {file} {} no values: there is nothing to learn from",
        quoted(.outcomes),
        if .outcomes.len() == 1 { "has" } else { "have" }
    )]
    NoValues { outcomes: Vec<String>, file: String },
    #[error(
        "all {count} values of the outcome `{outcome}` in {file} are {value}: such data cannot be compared with \
         simulated ones; is the right column in the file?"
    )]
    AllTheSame { count: usize, outcome: String, file: String, value: String },
    #[error(
        "`{place}` in {file} is not a number: Stan has no missing values; leave such rows out, or declare them as \
         parameters"
    )]
    NotANumber { place: String, file: String },
    #[error(
        "the outcome `{place}` in {file} is infinite: correct it, leave the row out, or state in the model that it is \
         censored"
    )]
    InfiniteOutcome { place: String, file: String },
    #[error("the model of {program} makes no random choices: there is nothing to infer")]
    NoChoices { program: String },
    #[error("the model of {program} observes nothing: there is nothing to learn from")]
    NothingObserved { program: String },
    #[error("the program rejects every point that was tried ({why}); there is nothing to measure")]
    AllRejected { why: String },
    #[error("--models and --movielens are for `bread-real`: table1 has all three models of its own")]
    ModelsOfTable1,
    #[error(
        "{} has {file} from an earlier run with more chains: remove it, or choose another folder", .folder.display()
    )]
    MoreChains { folder: PathBuf, file: String },
    #[error(
        "{} has draws of another program ({model}), which would be lost: remove them, or choose another folder",
        .folder.display()
    )]
    OtherModel { folder: PathBuf, model: String },
    #[error(
        "{} has results about another program ({model}), which would be lost: remove them, or choose another folder",
        .folder.display()
    )]
    OtherResult { folder: PathBuf, model: String },
    #[error("{} is there, but was not written by crust: choose another folder", .0.display())]
    NotOurs(PathBuf),
    #[error("{} has the results of another command, which would be lost: choose another folder", .0.display())]
    OtherCommand(PathBuf),
}

/// Data of candies that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CandyError {
    #[error(
        "the candy data may not be passed on: give them by `--data candy.csv`, FiveThirtyEight's candy power ranking, a \
         table with the columns chocolate (0 or 1), {} and one row for each candy",
        crate::reproduce::FEATURES.join(", ")
    )]
    Missing,
    #[error("{file}: {error}")]
    In { file: String, error: Box<CandyError> },
    #[error(
        "there is no column `{name}`; there must be chocolate, {}", crate::reproduce::FEATURES.join(", ")
    )]
    NoColumn { name: &'static str },
    #[error("`chocolate` in line {line} must be 0 or 1, but is `{found}`")]
    Outcome { line: usize, found: String },
    #[error("`{name}` in line {line} must be a number, but is `{found}`")]
    Number { line: usize, name: &'static str, found: String },
    #[error("there are no rows")]
    Empty,
}

/// Data of leukemia patients that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeukemiaError {
    #[error(
        "the leukemia data are not part of crust: give them by `--data leukemia.csv`, which `tools/fetch_leukemia.sh` \
         writes, a table with a column ALL (0 or 1), one column for each gene and one row for each patient"
    )]
    Missing,
    #[error("{file}: {error}")]
    In { file: String, error: Box<LeukemiaError> },
    #[error("there is no column `ALL`, the kind of leukemia")]
    NoOutcome,
    #[error("there are no genes: no column varies between patients")]
    NoGenes,
    #[error("`ALL` in line {line} must be 0 or 1, but is `{found}`")]
    Outcome { line: usize, found: String },
    #[error("`{name}` in line {line} must be a number, but is `{found}`")]
    Number { line: usize, name: String, found: String },
    #[error("all patients have the same kind of leukemia: there is nothing to tell apart")]
    OneKind,
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
    #[error("the fixed values in {file} cannot be used: {error}")]
    Fixed { file: String, error: UnconstrainError },
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
        "the program has {part} unconstrained parameters with {counter} = {count} and {whole} with all data; \
         observations can only be \
         added one at a time where the parameters stay the same"
    )]
    Dimension { counter: String, count: usize, part: usize, whole: usize },
    #[error(
        "the prior depends on the data that are cut (its logarithm at one point is {part} with {counter} = {count} \
         and {whole} with all \
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
        "no program has all parameters of the others, so that no exact draw is known for each of them: name \
         parameters that are the same \
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
        "{method} needs to know what the prior integrates to, and a part of it is drawn until it fits its constraints, so \
         that crust does not know: write its priors with `T[…, …]`, or use --methods smc,stepping-stone, which do not \
         need it"
    )]
    NoNormaliser { method: &'static str },
    #[error(
        "the likelihood is 0 at some draws from the prior, so that its logarithm has no mean and thermodynamic integration \
         no value: use --methods stepping-stone"
    )]
    NoIntegral,
    #[error(
        "the posterior of `{name}` goes on to where numbers end (beyond 1e-250 or 1e250): what it integrates to, p(y), is \
         probably infinite, as for data that fit exactly where a scale may be 0; give `{name}` a prior that keeps away from \
         there, or look for repeated or constant data"
    )]
    Endless { name: String },
    #[error("no density can be fitted to the draws of the posterior: {why}; use --methods smc")]
    NoProposal { why: String },
}

/// Data that are allowed but not finite, which may be why something went wrong: infinite bounds are sensible, infinite
/// covariates are not, and no one but the user can tell them apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Suspicion {
    #[error(transparent)]
    Missing(Refusal),
    #[error("`{place}` in {file} is infinite, which may be the cause: correct it, or leave the row out")]
    Infinite { place: String, file: String },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
