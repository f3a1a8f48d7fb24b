//! A program and its data: what every command begins with. Both are read once, and bound once.

use crate::error::{Context, Error, Faults, Refusal, Suspicion};
use crate::finite;
use crust_engine::data::{read_data, transformed};
use crust_engine::{EngineError, Model, SimulateError, unsupported};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, Limits, Options};
use crust_stan::diagnostics::{Diagnostic, Severity};
use crust_stan::front_end::{Reading, read};
use crust_stan::joint::Split;
use crust_stan::source::{IncludeFiles, Source as ProgramText};
use crust_stan::typed;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where a text comes from: a file, or memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// As messages have it.
    name: String,
    path: Option<PathBuf>,
    text: Option<String>,
    folders: Vec<PathBuf>,
}

impl Source {
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.display().to_string(), path: Some(path), text: None, folders: Vec::new() }
    }

    /// A text in memory, with a name for messages.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), path: None, text: Some(text.into()), folders: Vec::new() }
    }

    /// A text that was read from a place that cannot be read twice, such as standard input.
    pub fn read_from(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::file(path) }
    }

    /// Folders to look for `#include`d files in, after the program's own.
    #[must_use]
    pub fn including(mut self, folders: &[PathBuf]) -> Self {
        self.folders.extend_from_slice(folders);
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name without folders.
    pub fn file_name(&self) -> String {
        let last = Path::new(&self.name).file_name();
        last.map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// The name without folders and ending.
    pub fn stem(&self) -> String {
        let stem = Path::new(&self.name).file_stem();
        stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// Bytes that are not UTF-8 can only stand in comments and texts of a program, where they do no harm; in data they
    /// end up in an error. `doing` is what cannot be done if the file is not there.
    pub(crate) fn read(&self, doing: &'static str) -> Result<String, Error> {
        if let Some(text) = &self.text {
            return Ok(text.clone());
        }
        let path = self.path.as_deref().unwrap_or(Path::new(&self.name));
        let bytes = std::fs::read(path).map_err(Error::io(doing, path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A program that was read. Copies share what was read.
#[derive(Clone)]
pub struct Program {
    source: Arc<Source>,
    reading: Arc<Reading>,
    /// Why its generated quantities are left out, if they are.
    left_out: Option<Arc<Diagnostic>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Program {
    /// Reads a valid program.
    pub fn read(source: Source) -> Result<Self, Error> {
        let program = Self::read_anyhow(source)?;
        if program.reading.has_errors() { Err(Error::Program { program }) } else { Ok(program.that_runs()) }
    }

    /// Without its generated quantities if the engine lacks something for them alone: the posterior does not depend on
    /// them.
    fn that_runs(self) -> Self {
        let block = BlockKind::GeneratedQuantities as usize;
        let lacking = if self.typed().blocks[block].is_some() { unsupported(self.typed()) } else { Vec::new() };
        if lacking.is_empty() {
            return self;
        }
        let mut reading = Reading::clone(&self.reading);
        reading.typed.blocks[block] = None;
        if !unsupported(&reading.typed).is_empty() {
            return self;
        }
        let left_out = lacking.into_iter().next().map(|problem| {
            let warning = Diagnostic { severity: Severity::Warning, ..problem };
            Arc::new(warning.note("generated quantities are left out: the posterior does not depend on them"))
        });
        Self { source: self.source, reading: Arc::new(reading), left_out }
    }

    /// Reads a program that may have mistakes, which are then in [`Program::problems`].
    pub(crate) fn read_anyhow(source: Source) -> Result<Self, Error> {
        let text = source.read("read the program")?;
        let loader = IncludeFiles { folders: source.folders.clone() };
        let reading = read(&source.name, source.path.as_deref(), &text, &loader);
        Ok(Self { source: Arc::new(source), reading: Arc::new(reading), left_out: None })
    }

    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The name without folders.
    pub fn file_name(&self) -> String {
        self.source.file_name()
    }

    /// The name without folders and ending.
    pub fn stem(&self) -> String {
        self.source.stem()
    }

    /// The text with all that it includes.
    pub fn text(&self) -> &ProgramText {
        &self.reading.source
    }

    /// Mistakes and warnings, in the order of the text.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.reading.problems
    }

    /// A warning with what the engine lacks for the generated quantities, which are left out then.
    pub fn left_out(&self) -> Option<&Diagnostic> {
        self.left_out.as_deref()
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.reading.problems.iter().filter(|problem| problem.is_error())
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    pub(crate) fn typed(&self) -> &typed::Program {
        &self.reading.typed
    }

    /// The program with [censored observations as weights](typed::Program::censored_weigh); nothing if it has none.
    fn with_censored_weights(&self) -> Option<Self> {
        if !Split::has_censored(self.typed()) {
            return None;
        }
        let mut reading = Reading::clone(&self.reading);
        reading.typed.censored_weigh = true;
        Some(Self { reading: Arc::new(reading), ..self.clone() })
    }

    pub(crate) fn has_parameters(&self) -> bool {
        self.typed().declared_in(BlockKind::Parameters).next().is_some()
    }

    /// Whether the engine has all that the program needs.
    pub(crate) fn check_supported(&self) -> Result<(), Error> {
        let lacking = unsupported(self.typed());
        if lacking.is_empty() { Ok(()) } else { Err(self.engine(EngineError(lacking))) }
    }

    pub(crate) fn simulate(&self, error: SimulateError) -> Error {
        Error::Simulate { program: self.clone(), error: Box::new(error), suspicion: None }
    }

    pub(crate) fn engine(&self, error: EngineError) -> Error {
        Error::Engine { program: self.clone(), error, suspicion: None }
    }
}

/// A program with its data. Values are read when they are needed, and kept.
pub struct Problem {
    program: Program,
    data: Option<Source>,
    json: String,
    values: OnceLock<Data>,
    /// Bound to all of its data, with a seed.
    model: Mutex<Option<(u64, Arc<Model>)>>,
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem").field("program", &self.program).field("data", &self.data).finish_non_exhaustive()
    }
}

impl Problem {
    /// Reads a program and the text of its data. A program without data needs none.
    pub fn read(program: Source, data: Option<Source>) -> Result<Self, Error> {
        Self::new(Program::read(program)?, data)
    }

    pub fn new(program: Program, data: Option<Source>) -> Result<Self, Error> {
        let json = data.as_ref().map_or_else(|| Ok("{}".to_owned()), |data| data.read("read the data"))?;
        Ok(Self { program, data, json, values: OnceLock::new(), model: Mutex::new(None) })
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The same with [censored observations as weights](typed::Program::censored_weigh); nothing if there are none.
    pub(crate) fn with_censored_weights(&self) -> Option<Self> {
        let program = self.program.with_censored_weights()?;
        let (data, json) = (self.data.clone(), self.json.clone());
        Some(Self { program, data, json, values: OnceLock::new(), model: Mutex::new(None) })
    }

    /// The same with [transformed data as data](typed::Program::with_computed_given); nothing if that cannot be.
    pub(crate) fn with_computed_given(&self) -> Option<Self> {
        let values = transformed(self.program.typed(), self.values().ok()?.clone(), Limits::default()).ok()?;
        let typed = self.program.typed().with_computed_given(&values)?;
        let reading = Reading { typed, ..Reading::clone(&self.program.reading) };
        let program = Program { reading: Arc::new(reading), ..self.program.clone() };
        let (data, json) = (self.data.clone(), self.json.clone());
        Some(Self { program, data, json, values: OnceLock::from(values), model: Mutex::new(None) })
    }

    /// The name of the data, if there are any.
    pub fn data_name(&self) -> Option<&str> {
        self.data.as_ref().map(Source::name)
    }

    pub(crate) fn data_file_name(&self) -> Option<String> {
        self.data.as_ref().map(Source::file_name)
    }

    /// The data's name in messages about their values.
    pub(crate) fn words(&self) -> &str {
        self.data_name().unwrap_or("the data")
    }

    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// The values of all data, which must be complete.
    pub fn values(&self) -> Result<&Data, Error> {
        if let Some(values) = self.values.get() {
            return Ok(values);
        }
        let values = self.read_values(&|_| false)?;
        Ok(self.values.get_or_init(|| values))
    }

    /// The values of data of which some may be missing.
    pub(crate) fn read_values(&self, allow_missing: &(dyn Fn(&str) -> bool + Sync)) -> Result<Data, Error> {
        // What was computed is in no file.
        if let Some(values) = self.values.get() {
            return Ok(values.clone());
        }
        let options = Options { name: self.data_name().unwrap_or("no data"), allow_missing, ..Options::default() };
        let read = read_data(self.program.typed(), self.program.text(), &self.json, &options);
        read.map_err(|errors| Error::Data { program: self.program.clone(), errors })
    }

    /// Data that are not finite, which may be why something went wrong.
    pub(crate) fn suspicion(&self, values: &Data) -> Option<Suspicion> {
        finite::suspicion(self.program.typed(), values, self.words())
    }

    /// The program bound to all of its data; the seed is that of random draws in `transformed data`.
    pub fn model(&self, seed: u64) -> Result<Arc<Model>, Error> {
        if self.program.typed().blocks.iter().all(Option::is_none) {
            return Err(Refusal::Empty { program: self.program.name().to_owned() }.into());
        }
        let values = self.values()?;
        let mut kept = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((with, model)) = &*kept
            && *with == seed
        {
            return Ok(Arc::clone(model));
        }
        let model = Model::bind(self.program.typed(), values, seed).map_err(|e| self.program.engine(e))?;
        let model = Arc::new(model);
        *kept = Some((seed, Arc::clone(&model)));
        Ok(model)
    }

    pub(crate) fn context<'a>(&'a self, faults: &'a Faults, suspicion: Option<&'a Suspicion>) -> Context<'a> {
        Context { program: &self.program, suspicion, faults }
    }
}
