//! Draws in any of the forms in which people have them: CSV of `CmdStan`, rstan or their own, `ArviZ`'s `NetCDF` and
//! Zarr. The form is told by the content.

use super::arviz::{self, Array, ArvizError};
use super::csv_reader::{CsvError, CsvProblem, difference};
use super::{CsvChain, Draws, netcdf, read_chain, zarr_reader};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Draws that cannot be read, and why.
#[derive(Debug, thiserror::Error)]
pub enum DrawsError {
    #[error(transparent)]
    Csv(#[from] CsvError),
    #[error("{}: {problem}", path.display())]
    Arviz {
        path: PathBuf,
        #[source]
        problem: ArvizError,
    },
    #[error("{} is {what}, which cannot be read: {remedy}", path.display())]
    Form { path: PathBuf, what: &'static str, remedy: &'static str },
}

/// Beginnings of files that are no CSV.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
const FOREIGN: [(&[u8], &str, &str); 4] = [
    (b"CDF", "a NetCDF file of the classic format", "write it with ArviZ's `to_netcdf`, which uses NetCDF 4"),
    (b"PK\x03\x04", "a zip archive", "unpack it; a Zarr store is read as a folder"),
    (b"\x1f\x8b", "compressed", "unpack it with gunzip"),
    (b"\x28\xb5\x2f\xfd", "compressed", "unpack it with unzstd"),
];

/// Reads the draws of a run: a CSV file for each chain, or one file or folder of `ArviZ` with all of them.
pub fn read_draws<P: AsRef<Path>>(paths: &[P]) -> Result<Draws, DrawsError> {
    let mut draws = Draws::default();
    for path in paths.iter().map(AsRef::as_ref) {
        let next = read_one(path)?;
        if draws.chains.is_empty() {
            draws = next;
            continue;
        }
        if let Some(difference) = difference(&draws, &next) {
            let problem = CsvProblem::OtherColumns { first: paths[0].as_ref().to_owned(), difference };
            return Err(CsvError { path: path.to_owned(), problem }.into());
        }
        draws.chains.extend(next.chains);
    }
    Ok(draws)
}

fn read_one(path: &Path) -> Result<Draws, DrawsError> {
    let io = |error: std::io::Error| CsvError { path: path.to_owned(), problem: error.into() };
    let arviz = |problem: ArvizError| DrawsError::Arviz { path: path.to_owned(), problem };
    if path.is_dir() {
        let groups = |group: &str| zarr_reader::group(path, group);
        return assemble(groups).map_err(arviz);
    }
    let mut file = File::open(path).map_err(io)?;
    let mut beginning = Vec::new();
    file.by_ref().take(8).read_to_end(&mut beginning).map_err(io)?;
    if beginning == HDF5 {
        let file = netcdf::open(path).map_err(arviz)?;
        return assemble(|group| netcdf::group(&file, group)).map_err(arviz);
    }
    if let Some(&(_, what, remedy)) = FOREIGN.iter().find(|(start, ..)| beginning.starts_with(start)) {
        return Err(DrawsError::Form { path: path.to_owned(), what, remedy });
    }
    let csv = read_chain(BufReader::new(beginning.as_slice().chain(file)));
    let CsvChain { sampler_names, names, chain, .. } =
        csv.map_err(|problem| CsvError { path: path.to_owned(), problem })?;
    Ok(Draws { sampler_names, names, chains: vec![chain] })
}

fn assemble(group: impl Fn(&str) -> Result<Option<Vec<Array>>, ArvizError>) -> Result<Draws, ArvizError> {
    let posterior = group("posterior")?.ok_or(ArvizError::NoPosterior)?;
    // They are worth having, but draws can be used without them.
    let statistics = group("sample_stats").ok().flatten().unwrap_or_default();
    arviz::draws(&posterior, &statistics)
}
