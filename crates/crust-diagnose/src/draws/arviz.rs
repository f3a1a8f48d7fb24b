//! What `ArviZ` stores: arrays over chains and draws, in groups.

use super::compression::PackingError;
use super::zarr_reader::LayoutError;
use super::{Draws, Phase};
use std::io;

/// An array of a group, its values in C order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// Why a store of `ArviZ` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArvizError {
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("there is no group `posterior` in it, as ArviZ writes one")]
    NoPosterior,
    #[error("the group `posterior` has no variable over chains and draws")]
    NoDraws,
    #[error("the variable {name} cannot be read: {problem}")]
    Variable { name: String, problem: String },
    #[error("the variable {name} cannot be read: {problem}")]
    Packed { name: String, problem: PackingError },
    #[error("it is no NetCDF file that can be read: {0}")]
    Hdf5(String),
    #[error("the metadata of {name} is not as Zarr has it: {problem}")]
    Metadata { name: String, problem: LayoutError },
}

/// The sampler's columns by their names here and in `ArviZ`.
const STATISTICS: [(&str, &str); 3] = [("lp__", "lp"), ("divergent__", "diverging"), ("energy__", "energy")];

/// Draws of all variables of the posterior; coordinates and what has other dimensions is left out.
pub(super) fn draws(posterior: &[Array], statistics: &[Array]) -> Result<Draws, ArvizError> {
    let size = |name: &str| posterior.iter().find(|array| array.name == name).and_then(|array| array.shape.first());
    // Coordinates may be missing: then the first variable says.
    let first = posterior.iter().find(|array| array.shape.len() >= 2).ok_or(ArvizError::NoDraws)?;
    let chains = *size("chain").unwrap_or(&first.shape[0]);
    let length = *size("draw").unwrap_or(&first.shape[1]);
    let fits = |array: &&Array| array.shape.len() >= 2 && array.shape[..2] == [chains, length];
    // In one order, whatever the store has: chains of several stores then fit together.
    let mut arrays: Vec<&Array> = posterior.iter().filter(fits).collect();
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    let columns: Vec<Column<'_>> = arrays.into_iter().flat_map(Column::all).collect();
    if columns.is_empty() || chains == 0 {
        return Err(ArvizError::NoDraws);
    }
    let known = STATISTICS.iter().filter_map(|(name, other)| {
        let array = statistics.iter().filter(fits).find(|array| array.name == *other && array.shape.len() == 2)?;
        Some(Column { name: (*name).to_owned(), array, offset: 0, stride: 1 })
    });
    let known: Vec<Column<'_>> = known.collect();
    let names = |columns: &[Column<'_>]| columns.iter().map(|column| column.name.clone()).collect();
    let mut draws = Draws::new(names(&known), names(&columns), chains);
    for (k, chain) in draws.chains.iter_mut().enumerate() {
        let of = |columns: &[Column<'_>]| columns.iter().map(|column| column.chain(k, length)).collect();
        chain.sampling = Phase { sampler: of(&known), quantities: of(&columns) };
    }
    Ok(draws)
}

/// An element of a variable.
struct Column<'a> {
    name: String,
    array: &'a Array,
    offset: usize,
    stride: usize,
}

impl<'a> Column<'a> {
    /// All elements of a variable, with the names that `CmdStan` gives them.
    fn all(array: &'a Array) -> Vec<Self> {
        let mut names = vec![array.name.clone()];
        for &size in &array.shape[2..] {
            names = names.iter().flat_map(|name| (1..=size).map(move |i| format!("{name}.{i}"))).collect();
        }
        let stride = names.len();
        names.into_iter().enumerate().map(|(offset, name)| Self { name, array, offset, stride }).collect()
    }

    fn chain(&self, chain: usize, length: usize) -> Vec<f64> {
        let first = chain * length * self.stride + self.offset;
        self.array.values.iter().skip(first).step_by(self.stride).take(length).copied().collect()
    }
}
