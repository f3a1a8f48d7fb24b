//! Programs and data from files: what every command begins with.

use crate::arguments::Program;
use crate::{Outcome, finite, terminal};
use crust_engine::{EngineError, Model, SimulateError};
use crust_stan::data::{Data, DataErrors, Options, read_data};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::front_end::{Reading, read};
use crust_stan::render::render;
use crust_stan::source::IncludeFiles;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A program bound to its data.
pub struct Bound {
    pub reading: Reading,
    pub model: Arc<Model>,
    /// Data that are not finite, which may be why something went wrong.
    pub suspicion: Option<String>,
}

/// Reads a program and its data, and binds them. Mistakes are shown where they are; `None` says that there were some.
pub fn bind(program: &Program, seed: u64, quiet: bool) -> Result<Option<Bound>, String> {
    let (model, data) = (&program.model, program.data.as_deref());
    let Some(reading) = read_program(model, &program.includes.include_path, quiet)? else { return Ok(None) };
    if reading.typed.blocks.iter().all(Option::is_none) {
        return Err(format!("the program {} is empty: there is nothing to run", model.display()));
    }
    let json = data_text(data)?;
    let file = finite::file_name(data);
    let Some(data) = read_values(&reading, &json, data, &|_| false, quiet) else { return Ok(None) };
    let suspicion = finite::suspicion(&reading.typed, &data, &file);
    match Model::bind(&reading.typed, &data, seed) {
        Ok(model) => {
            model.messages.iter().for_each(|line| terminal::complain(line));
            Ok(Some(Bound { reading, model: Arc::new(model), suspicion }))
        }
        Err(error) => {
            show_engine_error(&reading, &error);
            Ok(None)
        }
    }
}

/// Reads a program. Mistakes are shown where they are; `None` says that there were some.
pub fn read_program(path: &Path, include_path: &[PathBuf], quiet: bool) -> Result<Option<Reading>, String> {
    let text = read_text("program", path)?;
    let loader = IncludeFiles { folders: include_path.to_vec() };
    let reading = read(&path.display().to_string(), Some(path), &text, &loader);
    if reading.has_errors() {
        show_problems(&reading, None, quiet);
        return Ok(None);
    }
    Ok(Some(reading))
}

/// The text of a data file. A program without data needs none.
pub fn data_text(data: Option<&Path>) -> Result<String, String> {
    data.map_or_else(|| Ok("{}".to_owned()), |path| read_text("data", path))
}

/// The values of a program's data. Mistakes are shown where they are; `None` says that there were some.
pub fn read_values(
    reading: &Reading,
    json: &str,
    file: Option<&Path>,
    allow_missing: &(dyn Fn(&str) -> bool + Sync),
    quiet: bool,
) -> Option<Data> {
    let name = file.map_or_else(|| "no data".to_owned(), |path| path.display().to_string());
    let options = Options { name: &name, allow_missing, ..Options::default() };
    match read_data(&reading.typed, &reading.source, json, &options) {
        Ok(data) => Some(data),
        Err(errors) => {
            show_problems(reading, Some(&errors), quiet);
            None
        }
    }
}

/// Whether the engine has all that the program needs; what it lacks is shown.
pub fn is_supported(reading: &Reading) -> bool {
    let lacking = crust_engine::unsupported(&reading.typed);
    if !lacking.is_empty() {
        show_engine_error(reading, &EngineError(lacking.clone()));
    }
    lacking.is_empty()
}

/// Shows a warning or a mistake at its place in the program.
pub fn show(reading: &Reading, problem: &Diagnostic) {
    terminal::complain(&(render(problem, &reading.source, terminal::colour()) + "\n"));
}

/// Shows why nothing could be drawn, where it is in the program if it has a place there.
pub fn show_simulate_error(reading: &Reading, error: SimulateError) -> Result<Outcome, String> {
    let problems = match error {
        SimulateError::Engine(error) => error,
        SimulateError::Reading(problem) => EngineError(vec![*problem]),
        SimulateError::Rejected(rejection) => EngineError(vec![
            Diagnostic::error("draw-failed", rejection.message, rejection.span)
                .note("parameters were drawn from the prior, or data given them, and this statement could not be drawn")
                .help("a prior that lets parameters be so large that nothing can be drawn is the usual cause: use a narrower one"),
        ]),
        other => return Err(other.to_string()),
    };
    show_engine_error(reading, &problems);
    Ok(Outcome::BadInput)
}

/// Shows what went wrong in a run, at its place in the program.
pub fn show_engine_error(reading: &Reading, error: &EngineError) {
    error.0.iter().for_each(|problem| show(reading, problem));
    let n = error.0.len();
    terminal::error(&format!("{n} {} found", if n == 1 { "mistake" } else { "mistakes" }));
}

/// Warnings of one kind beyond this many are counted, not shown: a program in retired syntax has one on every line.
const MOST_OF_A_KIND: usize = 5;
/// Errors beyond this many are counted, not shown: the file is probably no program at all.
const MOST_ERRORS: usize = 50;

pub fn show_problems(reading: &Reading, data: Option<&DataErrors>, quiet: bool) {
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut errors = 0;
    for problem in &reading.problems {
        if problem.is_error() {
            errors += 1;
            if errors > MOST_ERRORS {
                continue;
            }
        } else {
            let seen = warnings.entry(problem.code).or_default();
            *seen += 1;
            if quiet || *seen > MOST_OF_A_KIND {
                continue;
            }
        }
        show(reading, problem);
    }
    for (code, seen) in warnings.into_iter().filter(|(_, seen)| *seen > MOST_OF_A_KIND && !quiet) {
        let more = seen - MOST_OF_A_KIND;
        terminal::complain(&format!("… and {more} more warnings of the kind `{code}`; `--json` has all\n"));
    }
    if errors > MOST_ERRORS {
        terminal::complain(&format!("… and {} more errors; `--json` has all\n", errors - MOST_ERRORS));
    }
    if let Some(data) = data {
        errors += data.problems.len();
        terminal::complain(&data.render(&reading.source, terminal::colour()));
    }
    if errors > 0 {
        terminal::error(&format!("{errors} {} found", if errors == 1 { "mistake" } else { "mistakes" }));
    }
}

/// The text of a file, or of standard input for `-`. Bytes that are not UTF-8 can only stand in comments and texts of a
/// program, where they do no harm; in data they end up in an error.
pub fn read_text(what: &str, path: &Path) -> Result<String, String> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|e| format!("cannot read the {what} {}: {e}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
