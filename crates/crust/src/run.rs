//! `crust run`: a `WebPPL` program, as the `webppl` command runs it.

use crate::arguments::{Common, Run};
use crate::{Outcome, terminal};
use crust_webppl::{Options, Program};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub fn run(arguments: &Run, common: &Common) -> Result<Outcome, String> {
    let file = &arguments.program;
    let text = std::fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    terminal::check_writable(common.json.as_deref())?;
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let options =
        Options { seed: arguments.seed, folder: Some(folder), data: named(&arguments.data)?, ..Options::default() };
    let result = Program::compile(&file.display().to_string(), &text)
        .map_err(|errors| errors.to_string())
        .and_then(|program| crust_webppl::run(&program, &options).map_err(|error| error.to_string()));
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(message) => {
            terminal::complain(&message);
            return Ok(Outcome::BadInput);
        }
    };
    let on_stdout = common.json.as_deref().is_some_and(terminal::is_stdout);
    if !common.quiet {
        outcome.warnings.iter().for_each(|line| terminal::complain(line));
        let print = if on_stdout { terminal::complain } else { terminal::say };
        outcome.printed.iter().for_each(|line| print(line));
        if let Some(value) = outcome.display.as_ref().filter(|_| !on_stdout) {
            terminal::say(value);
        }
    }
    if let Some(file) = &common.json {
        let result = format!("{{\"value\":{}}}", outcome.json);
        if on_stdout {
            terminal::say(&result);
        } else {
            std::fs::write(file, result + "\n").map_err(|e| format!("cannot write {}: {e}", file.display()))?;
        }
    }
    Ok(Outcome::Fine)
}

/// `NAME=FILE`, as often as given.
fn named(arguments: &[String]) -> Result<HashMap<String, PathBuf>, String> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), PathBuf::from(file))),
        _ => Err(format!("--data takes NAME=FILE, not '{text}'")),
    };
    arguments.iter().map(pair).collect()
}
