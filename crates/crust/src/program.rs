//! Programs and data from files: what every command begins with.

use crate::terminal;
use crust_engine::{EngineError, Model};
use crust_stan::data::{DataErrors, Options, read_data};
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
}

/// Reads a program and its data, and binds them. Mistakes are shown where they are; `None` says that there were some.
pub fn bind(
    model: &Path,
    data: Option<&Path>,
    include_path: &[PathBuf],
    seed: u64,
    quiet: bool,
) -> Result<Option<Bound>, String> {
    let name = model.display().to_string();
    let text = read_text("program", model)?;
    let loader = IncludeFiles { folders: include_path.to_vec() };
    let reading = read(&name, Some(model), &text, &loader);
    if reading.has_errors() {
        show_problems(&reading, None, quiet);
        return Ok(None);
    }
    if reading.typed.blocks.iter().all(Option::is_none) {
        return Err(format!("the program {name} is empty: there is nothing to run"));
    }
    let json = match data {
        Some(path) => read_text("data", path)?,
        None => "{}".to_owned(),
    };
    let data_name = data.map_or_else(|| "no data".to_owned(), |path| path.display().to_string());
    let options = Options { name: &data_name, ..Options::default() };
    let data = match read_data(&reading.typed, &reading.source, &json, &options) {
        Ok(data) => data,
        Err(errors) => {
            show_problems(&reading, Some(&errors), quiet);
            return Ok(None);
        }
    };
    match Model::bind(&reading.typed, &data, seed) {
        Ok(model) => {
            model.messages.iter().for_each(|line| terminal::complain(line));
            Ok(Some(Bound { reading, model: Arc::new(model) }))
        }
        Err(error) => {
            show_engine_error(&reading, &error);
            Ok(None)
        }
    }
}

/// Shows what went wrong in a run, at its place in the program.
pub fn show_engine_error(reading: &Reading, error: &EngineError) {
    for problem in &error.0 {
        terminal::complain(&(render(problem, &reading.source, terminal::colour()) + "\n"));
    }
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
        terminal::complain(&(render(problem, &reading.source, terminal::colour()) + "\n"));
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
