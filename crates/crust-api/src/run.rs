//! `crust run`: a WebPPL program, as the `webppl` command runs it.

use crate::error::Error;
use crate::problem::Source;
use crate::session::Session;
use crust_diagnose::result::Json;
use crust_webppl::{Options, Program};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Options of `run`.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Files that `json.read` and `csv.read` find under a name. Others are found below the program's folder only.
    pub data: HashMap<String, PathBuf>,
}

/// What a program gave.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// The value of the last expression.
    pub value: Json,
    /// The value as people read it; none if there is none.
    pub display: Option<String>,
    /// What the program printed.
    pub printed: Vec<String>,
    pub warnings: Vec<String>,
}

/// Runs a program to the value of its last expression.
pub fn run(source: &Source, options: &RunOptions, session: &Session<'_>) -> Result<RunOutput, Error> {
    let text = source.read("read the program")?;
    let folder = Path::new(source.name()).parent().map(Path::to_path_buf);
    let folder = folder.map(|folder| if folder == Path::new("") { PathBuf::from(".") } else { folder });
    let how = Options { seed: session.seed, folder, data: options.data.clone(), ..Options::default() };
    let program = Program::compile(source.name(), &text).map_err(Error::WebPpl)?;
    let crust_webppl::Outcome { json, display, printed, warnings } =
        crust_webppl::run(&program, &how).map_err(|error| Error::WebPplRun(Box::new(error)))?;
    Ok(RunOutput { value: Json(json), display, printed, warnings })
}
