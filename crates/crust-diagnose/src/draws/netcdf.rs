//! `ArviZ`'s `NetCDF` files, which are HDF5.

use super::arviz::{Array, ArvizError};
use super::encoding::Encoding;
use hdf5_reader::{Attribute, ByteOrder, Datatype, Hdf5File};
use std::path::Path;

pub(super) fn open(path: &Path) -> Result<Hdf5File, ArvizError> {
    Hdf5File::from_vec(std::fs::read(path)?).map_err(|error| ArvizError::Hdf5(error.to_string()))
}

/// The numeric arrays of a group; none if there is no such group.
pub(super) fn group(file: &Hdf5File, name: &str) -> Result<Option<Vec<Array>>, ArvizError> {
    let Ok(group) = file.group(name) else { return Ok(None) };
    let datasets = group.datasets().map_err(|error| ArvizError::Hdf5(error.to_string()))?;
    let mut arrays = Vec::new();
    for dataset in datasets {
        let name = dataset.name().rsplit('/').next().unwrap_or_default().to_owned();
        let Some(decode) = decoder(dataset.dtype()) else { continue };
        let problem =
            |error: hdf5_reader::error::Error| ArvizError::Variable { name: name.clone(), problem: error.to_string() };
        let bytes = dataset.read_raw_bytes().map_err(problem)?;
        let size = dataset.raw_element_size().map_err(problem)?.max(1);
        let mut values: Vec<f64> = bytes.chunks_exact(size).map(decode).collect();
        let attributes = dataset.attributes();
        let attribute = |name: &str| {
            attributes.iter().find(|attribute| attribute.name == name).map(Attribute::read_as_f64).transpose()
        };
        Encoding::read(attribute).map_err(problem)?.decode(&mut values);
        let shape: Vec<usize> = dataset.shape().iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
        arrays.push(Array { name, shape, values });
    }
    Ok(Some(arrays))
}

/// How a number is read; none for what is no number. Truth values are enumerations of small integers.
fn decoder(kind: &Datatype) -> Option<fn(&[u8]) -> f64> {
    match kind {
        Datatype::FixedPoint { size, signed, byte_order: ByteOrder::LittleEndian } => {
            super::zarr_reader::integer(usize::from(*size), *signed)
        }
        Datatype::FloatingPoint { size, byte_order: ByteOrder::LittleEndian } => {
            super::zarr_reader::real(usize::from(*size))
        }
        Datatype::Enum { base, .. } => decoder(base),
        _ => None,
    }
}
