//! `crust evidence`: the log marginal likelihood of real data by one or several estimators, each with what kind of number it is.

mod input;
mod methods;
mod normaliser;
mod story;

use crate::arguments::{Common, Evidence, EvidenceMethod};
use crate::experiment::Progress;
use crate::program::{show_engine_error, show_simulate_error};
use crate::{Outcome, terminal};
use crust_engine::{EngineError, SimulateError};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error as InferError;
use crust_infer::evidence::Kind;
use input::Loaded;
use methods::Session;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What the command found: the same for the same seed, so times are not in it.
#[derive(Debug, Serialize)]
pub struct Result {
    pub version: &'static str,
    pub model: String,
    pub data: Option<String>,
    pub seed: u64,
    /// Of the unconstrained space.
    pub dimension: usize,
    pub methods: Vec<MethodResult>,
    /// What is to be said about all of them together.
    pub warnings: Vec<String>,
}

/// What one estimator found.
#[derive(Debug, Serialize)]
pub struct MethodResult {
    pub name: &'static str,
    pub kind: Kind,
    pub log_ml: f64,
    /// The standard error as far as the draws show it.
    pub se: f64,
    pub evaluations: u64,
    /// Settings and diagnostics by name.
    pub details: BTreeMap<&'static str, f64>,
    pub warnings: Vec<String>,
}

pub fn run(arguments: &Evidence, common: &Common) -> std::result::Result<Outcome, String> {
    check(arguments)?;
    terminal::check_writable(common.json.as_deref())?;
    let begin = Instant::now();
    let Some(loaded) = input::load(arguments, common.quiet)? else { return Ok(Outcome::BadInput) };
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot use the folder {}: {e}", folder.display()))?;
        if folder.join(crust_diagnose::checkpoint::FILE).exists() {
            return Err(format!("{} has the results of another command: choose another folder", folder.display()));
        }
    }
    let control = Arc::new(Control::default());
    crate::sample::interrupt_on_ctrl_c(&control)?;
    let how = arguments.computing.parallelism();
    let progress = Progress::new(&control, common.quiet);
    let mut timing = BTreeMap::from([("read".to_owned(), begin.elapsed().as_secs_f64())]);
    let found = estimate(arguments, &loaded, how, &control, &progress, &mut timing);
    progress.end();
    let methods = match found {
        Ok(methods) => methods,
        Err(Failure::Told(message)) => return Err(message),
        Err(Failure::Infer(error)) => return failed(error, &loaded),
    };
    timing.insert("total".to_owned(), begin.elapsed().as_secs_f64());
    let result = Result {
        version: env!("CARGO_PKG_VERSION"),
        model: file(&arguments.model),
        data: arguments.data.as_deref().map(file),
        seed: arguments.computing.seed,
        dimension: loaded.model.dimension(),
        warnings: story::disagreements(&methods),
        methods,
    };
    deliver(&result, &timing, arguments, common)?;
    Ok(Outcome::Fine)
}

fn file(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What clap cannot check.
fn check(arguments: &Evidence) -> std::result::Result<(), String> {
    if arguments.tolerance.is_nan() || arguments.tolerance <= 0.0 {
        return Err(format!("--tolerance {}: nats must be positive", arguments.tolerance));
    }
    if !(arguments.effort >= 0.01 && arguments.effort <= 1e4) {
        return Err(format!("--effort {}: must be between 0.01 and 10000", arguments.effort));
    }
    Ok(())
}

/// Why there is no result.
pub enum Failure {
    /// A message that says it all.
    Told(String),
    Infer(InferError),
}

impl From<InferError> for Failure {
    fn from(error: InferError) -> Self {
        Self::Infer(error)
    }
}

fn estimate(
    arguments: &Evidence,
    loaded: &Loaded,
    how: Parallelism,
    control: &Arc<Control>,
    progress: &Progress,
    timing: &mut BTreeMap<String, f64>,
) -> std::result::Result<Vec<MethodResult>, Failure> {
    let mut session = Session::new(loaded, arguments, how, control);
    let mut methods = arguments.methods.clone();
    if methods.is_empty() {
        methods = session.default_methods();
    }
    methods.sort_unstable();
    methods.dedup();
    let mut results = Vec::new();
    let mut run = |session: &mut Session<'_>, method: EvidenceMethod| -> std::result::Result<(), Failure> {
        progress.begin(method.title(), 0);
        let begin = Instant::now();
        results.push(session.run(method)?);
        timing.insert(method.name().to_owned(), begin.elapsed().as_secs_f64());
        Ok(())
    };
    for method in methods {
        run(&mut session, method)?;
    }
    if let (true, Some(method)) = (arguments.methods.is_empty(), session.second_opinion()) {
        run(&mut session, method)?;
    }
    Ok(results)
}

/// Mistakes in the program are shown where they are.
fn failed(error: InferError, loaded: &Loaded) -> std::result::Result<Outcome, String> {
    let fatal = match error {
        InferError::Interrupted => return Ok(Outcome::Interrupted),
        InferError::Fatal(fatal) => fatal.0,
        other => return Err(other.to_string()),
    };
    match fatal.downcast::<EngineError>() {
        Ok(error) => show_engine_error(&loaded.reading, &error),
        Err(other) => match other.downcast::<SimulateError>() {
            Ok(error) => return show_simulate_error(&loaded.reading, *error),
            Err(other) => return Err(other.to_string()),
        },
    }
    Ok(Outcome::BadInput)
}

fn deliver(
    result: &Result,
    timing: &BTreeMap<String, f64>,
    arguments: &Evidence,
    common: &Common,
) -> std::result::Result<(), String> {
    if let Some(folder) = &arguments.out {
        terminal::deliver(result, &folder.join("result.json"))?;
        terminal::deliver(timing, &folder.join("timing.json"))?;
    }
    if let Some(file) = &common.json {
        terminal::deliver(result, file)?;
    }
    if !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout) {
        terminal::say(story::story(result, timing, terminal::width()).trim_end());
    }
    Ok(())
}

impl EvidenceMethod {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Importance => "importance",
            Self::Smc => "smc",
            Self::Ais => "ais",
            Self::SteppingStone => "stepping-stone",
            Self::Thermodynamic => "thermodynamic",
            Self::Nested => "nested",
            Self::LikelihoodWeighting => "likelihood-weighting",
            Self::HarmonicMean => "harmonic-mean",
        }
    }

    /// What the progress bar says.
    fn title(self) -> &'static str {
        match self {
            Self::Bridge => "Bridge sampling",
            Self::Importance => "Importance sampling",
            Self::Smc => "Sequential Monte Carlo",
            Self::Ais => "Annealed importance sampling",
            Self::SteppingStone => "Stepping stones",
            Self::Thermodynamic => "Thermodynamic integration",
            Self::Nested => "Nested sampling",
            Self::LikelihoodWeighting => "Likelihood weighting",
            Self::HarmonicMean => "Harmonic mean",
        }
    }
}
