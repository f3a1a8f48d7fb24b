//! The folder that a run writes to.

use crate::error::{Error, Refusal};
use crate::folder::claim_for_draws;
use crust_diagnose::draws::Draws;
use crust_diagnose::zarr::write_zarr;
use std::fs;
use std::io::{self, BufRead};
use std::path::Path;

/// The store with the draws of all chains.
const STORE: &str = "draws.zarr";

/// Makes the folder ready for so many chains of a model. Files of an earlier run of it are written over; chains beyond
/// these would be taken for part of this run.
pub fn prepare(folder: &Path, model: &str, chains: usize) -> Result<(), Error> {
    let cannot = |e: io::Error| Error::folder(folder)(e);
    fs::create_dir_all(folder).map_err(cannot)?;
    claim_for_draws(folder)?;
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_prefix("chain-").and_then(|rest| rest.strip_suffix(".csv"));
        if number.and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| n > chains) {
            return Err(Refusal::MoreChains { folder: folder.to_owned(), file: name.into_owned() }.into());
        }
        let other = number.and_then(|_| model_of(&folder.join(&*name))).filter(|other| other != model);
        if let Some(model) = other {
            return Err(Refusal::OtherModel { folder: folder.to_owned(), model }.into());
        }
    }
    let store = folder.join(STORE);
    if store.exists() && !store.join(".zgroup").is_file() {
        return Err(Refusal::NotOurs(store).into());
    }
    Ok(())
}

/// The model whose draws a file has, as its first lines say.
fn model_of(file: &Path) -> Option<String> {
    let lines = io::BufReader::new(fs::File::open(file).ok()?).lines();
    let comments = lines.map_while(Result::ok).take_while(|line| line.starts_with('#'));
    comments.into_iter().find_map(|line| Some(line.strip_prefix("# model = ")?.to_owned()))
}

/// Writes the draws of all chains in place of those of an earlier run.
pub fn write_store(folder: &Path, draws: &Draws) -> Result<(), Error> {
    let store = folder.join(STORE);
    let cannot = |e: io::Error| Error::write(&store)(e);
    if store.exists() {
        fs::remove_dir_all(&store).map_err(cannot)?;
    }
    if draws.lengths().0 == 0 {
        return Ok(());
    }
    write_zarr(&store, draws).map_err(cannot)
}
