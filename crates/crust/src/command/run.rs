//! `crust run`.

use crate::arguments::{Common, Run};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::{Error, RunOptions};
use std::collections::HashMap;
use std::path::PathBuf;

pub fn run(arguments: &Run, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    terminal::check_writable(common.json.as_deref())?;
    let options = RunOptions { data: named(&arguments.data)? };
    let source = terminal::source(&arguments.program)?;
    let ran = crust_api::run(&source, &options, &screen.short_session(arguments.seed))?;
    let on_stdout = common.json.as_deref().is_some_and(terminal::is_stdout);
    if !common.quiet {
        ran.warnings.iter().for_each(|line| terminal::complain(line));
        let print = if on_stdout { terminal::complain } else { terminal::say };
        ran.printed.iter().for_each(|line| print(line));
        if let Some(value) = ran.display.as_ref().filter(|_| !on_stdout) {
            terminal::say(value);
        }
    }
    if let Some(file) = &common.json {
        let json = format!("{{\"value\":{}}}", ran.value.0);
        if on_stdout {
            terminal::say(&json);
        } else {
            std::fs::write(file, json + "\n").map_err(Error::write(file))?;
        }
    }
    Ok(Exit::Fine)
}

/// `NAME=FILE`, as often as given.
fn named(arguments: &[String]) -> Result<HashMap<String, PathBuf>, Error> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), PathBuf::from(file))),
        _ => Err(Error::option("data", text, "must be NAME=FILE")),
    };
    arguments.iter().map(pair).collect()
}
