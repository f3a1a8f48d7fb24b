//! What is in the folder of `--out` before a run: results of others would be lost.

use crate::error::{Error, Refusal};
use crust_diagnose::checkpoint;
use serde_json::Value;
use std::path::Path;

/// The result of every command but `sample`.
const RESULT: &str = "result.json";
/// Commands with a journal, which knows more about the run before.
const WITH_JOURNAL: [&str; 3] = ["bdmc", "bread", "compare"];

/// Makes a folder for results of a command about a program. What the same command has left there for the same program is
/// written over.
pub fn claim(folder: &Path, command: &str, model: &str) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::folder(folder))?;
    let there = |name: &str| folder.join(name).exists();
    if there(checkpoint::FILE) {
        return Err(Refusal::OtherCommand(folder.to_owned()).into());
    }
    match Found::of(folder) {
        Found::Nothing => without_result(folder),
        Found::Foreign => Err(Refusal::NotOurs(folder.join(RESULT)).into()),
        Found::Result { command: other, .. } if other != command => {
            Err(Refusal::OtherCommand(folder.to_owned()).into())
        }
        Found::Result { model: Some(other), .. } if other != model => {
            Err(Refusal::OtherResult { folder: folder.to_owned(), model: other }.into())
        }
        Found::Result { .. } => Ok(()),
    }
}

/// The same for a command with a journal, which is yet to be opened.
pub(crate) fn claim_for_journal(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::folder(folder))?;
    if folder.join(checkpoint::FILE).exists() {
        return Ok(());
    }
    match Found::of(folder) {
        Found::Nothing => without_result(folder),
        Found::Foreign => Err(Refusal::NotOurs(folder.join(RESULT)).into()),
        Found::Result { command, .. } if WITH_JOURNAL.contains(&command.as_str()) => Ok(()),
        Found::Result { .. } => Err(Refusal::OtherCommand(folder.to_owned()).into()),
    }
}

/// Draws of `sample` come without a result.
pub(crate) fn claim_for_draws(folder: &Path) -> Result<(), Error> {
    match Found::of(folder) {
        Found::Nothing => Ok(()),
        Found::Foreign => Err(Refusal::NotOurs(folder.join(RESULT)).into()),
        Found::Result { .. } => Err(Refusal::OtherCommand(folder.to_owned()).into()),
    }
}

fn without_result(folder: &Path) -> Result<(), Error> {
    let page = folder.join("report.html");
    if page.exists() {
        return Err(Refusal::NotOurs(page).into());
    }
    // An approximation that was ended while its draws were written has both forms of them.
    let draws = folder.join("chain-1.csv").exists()
        || (folder.join("draws.zarr").exists() && !folder.join("draws.csv").exists());
    if draws { Err(Refusal::OtherCommand(folder.to_owned()).into()) } else { Ok(()) }
}

/// What a result says of itself.
enum Found {
    Nothing,
    /// Something else of that name.
    Foreign,
    Result {
        command: String,
        model: Option<String>,
    },
}

impl Found {
    fn of(folder: &Path) -> Self {
        let file = folder.join(RESULT);
        if !file.exists() {
            return Self::Nothing;
        }
        let json: Option<Value> = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(json) = json else { return Self::Foreign };
        let Some(command) = json["command"].as_str() else { return Self::Foreign };
        // Results of long ago do not say what they are about.
        let model = json["model"].as_str().or_else(|| json["run"]["model"].as_str()).filter(|name| !name.is_empty());
        Self::Result { command: command.to_owned(), model: model.map(str::to_owned) }
    }
}
