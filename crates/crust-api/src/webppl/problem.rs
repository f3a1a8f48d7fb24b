//! A WebPPL program with its data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crust_diagnose::checkpoint::Halt;
use crust_diagnose::result::{Reading, Stated};
use crust_infer::anneal::BadSchedule;
use crust_infer::error::Error as InferError;
use crust_math::random::{Purpose, StreamKey};
use crust_webppl::simulator::{Description, Setup, Simulator};
use crust_webppl::{Program, RunError, on_large_stack};
use serde_json::Value;

use crate::error::{Error, ValuesError};
use crate::problem::Source;

/// A WebPPL program with its data: every member of the JSON object is a global variable of its name, and `data` is all
/// of it. Variables that the program defines hide them.
#[derive(Clone, Debug)]
pub struct WebPplProblem {
    source: Source,
    data: Option<Source>,
    program: Arc<Program>,
    text: String,
    json: String,
    setup: Setup,
}

/// Why an experiment with a WebPPL program cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Run(#[from] Box<RunError>),
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error("dataset {0} has not been simulated")]
    NotSimulated(u32),
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Run(error) => Self::WebPplRun(error),
            Trouble::Infer(InferError::Interrupted) => Self::Interrupted,
            Trouble::Infer(error) => Self::infer(error),
            Trouble::Schedule(error) => Self::Schedule(error),
            Trouble::NotSimulated(dataset) => Self::NotSimulated { dataset },
        }
    }
}

impl From<Halt<Trouble>> for Error {
    fn from(halt: Halt<Trouble>) -> Self {
        match halt {
            Halt::Interrupted => Self::Interrupted,
            Halt::Journal(error) => Self::Journal(error),
            Halt::Work(trouble) => trouble.into(),
            Halt::NoRealData => Self::NoRealData,
        }
    }
}

/// Data as global variables: names with JSON.
pub(super) fn globals(json: &Value) -> Vec<(String, String)> {
    let mut all = vec![("data".to_owned(), json.to_string())];
    if let Value::Object(members) = json {
        all.extend(members.iter().map(|(name, value)| (name.clone(), value.to_string())));
    }
    all
}

impl WebPplProblem {
    /// Reads a program with its data. The model is the function of this name, or `model`, or the argument of the
    /// program's one `Infer`.
    pub fn read(source: Source, data: Option<Source>, model: Option<&str>) -> Result<Self, Error> {
        let text = source.read("read the program")?;
        let json = data.as_ref().map(|data| data.read("read the data")).transpose()?;
        let given = match (&json, &data) {
            (Some(json), Some(file)) => {
                let not_json = |error| ValuesError::NotJson { what: "value", file: file.name().to_owned(), error };
                globals(&serde_json::from_str(json).map_err(not_json)?)
            }
            _ => Vec::new(),
        };
        let folder = Path::new(source.name()).parent().map(Path::to_path_buf);
        let folder = folder.map(|folder| if folder == Path::new("") { PathBuf::from(".") } else { folder });
        let program = Program::compile_with(source.name(), &text, given).map_err(Error::WebPpl)?;
        let setup = Setup { model: model.map(str::to_owned), folder, seed: 0 };
        Ok(Self { source, data, program: Arc::new(program), text, json: json.unwrap_or_default(), setup })
    }

    /// Whether a file is a WebPPL program, by its name.
    pub fn is_program(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("wppl"))
    }

    pub fn file_name(&self) -> String {
        self.source.file_name()
    }

    pub(super) fn stem(&self) -> String {
        self.source.stem()
    }

    pub(super) fn data_file_name(&self) -> String {
        self.data.as_ref().map(Source::file_name).unwrap_or_default()
    }

    /// Everything that results depend on.
    pub(super) fn identity(&self) -> String {
        format!("{:?}\n{}\n{}", self.setup.model, self.text, self.json)
    }

    /// The model, on this thread. Draws outside of the model are the same for all commands with this seed.
    pub(super) fn simulator(&self, seed: u64) -> Result<Simulator, RunError> {
        Simulator::new(&self.program, &Setup { seed, ..self.setup.clone() })
    }

    /// What the model does.
    pub(super) fn describe(&self, seed: u64) -> Result<Description, Error> {
        let key = StreamKey::new(seed, Purpose::TEST);
        let describe = || self.simulator(seed)?.describe(&mut key.stream());
        on_large_stack(describe).map_err(|error| Error::WebPplRun(Box::new(error)))
    }
}

/// How a model was understood.
pub(super) fn reading(model: &Description, hyperparameters: &[String]) -> Reading {
    let choices = model.choices.iter().map(|g| Stated { name: g.name.clone(), words: g.words("choice") });
    let outcomes = model.observations.iter().map(|g| Stated { name: g.name.clone(), words: g.words("value") });
    let mut notes = Vec::new();
    if model.varies() {
        notes.push("executions make different numbers of choices".to_owned());
    }
    let groups = model.choices.iter().chain(&model.observations);
    Reading {
        parameters: choices.collect(),
        outcomes: outcomes.collect(),
        hyperparameters: hyperparameters.to_vec(),
        order: groups.map(|group| group.name.clone()).collect(),
        notes,
    }
}
