//! Zarr stores in folders, versions 2 and 3 of the format, as zarr-python and crust write them.

use super::arviz::{Array, ArvizError};
use super::compression::{Codec, PackingError, decompress};
use super::encoding::Encoding;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;

/// Larger arrays than this are a mistake in the metadata.
const MOST: usize = 1 << 31;

/// What is wrong with the metadata of an array.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("a shape of {shape:?} in chunks of {chunks:?}")]
    Chunks { shape: Vec<usize>, chunks: Vec<usize> },
    #[error("its numbers are filtered; write it without filters")]
    Filtered,
    #[error("big-endian numbers")]
    BigEndian,
    #[error("{0} in place of sizes")]
    NoSizes(Value),
    #[error("a size of {0}")]
    Size(Value),
    #[error("its attribute {0} is no number")]
    Attribute(String),
    #[error("{0}")]
    Codec(#[from] PackingError),
}

/// The numeric arrays of a group; none if there is no such group.
pub(super) fn group(store: &Path, name: &str) -> Result<Option<Vec<Array>>, ArvizError> {
    let folder = store.join(name);
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut arrays = Vec::new();
    let mut entries = fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(layout) = Layout::read(&entry.path(), &name)? {
            arrays.push(layout.array(&entry.path(), name)?);
        }
    }
    Ok(Some(arrays))
}

/// How an array is stored.
struct Layout {
    shape: Vec<usize>,
    chunks: Vec<usize>,
    /// Bytes of a number, and how they are read.
    size: usize,
    decode: fn(&[u8]) -> f64,
    codecs: Vec<Codec>,
    /// What stands before and between the indices of a chunk.
    prefix: &'static str,
    separator: String,
    fill: f64,
    /// Whether the first index is the fastest.
    fortran: bool,
    encoding: Encoding,
}

impl Layout {
    /// None for groups and for what is no number.
    fn read(folder: &Path, name: &str) -> Result<Option<Self>, ArvizError> {
        let bad = |problem: LayoutError| ArvizError::Metadata { name: name.to_owned(), problem };
        let json = |file: &str| -> Result<Option<Value>, ArvizError> {
            match fs::read(folder.join(file)) {
                Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| bad(error.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        let found = match (json(".zarray")?, json("zarr.json")?) {
            (Some(two), _) => Self::version_2(&two, &json(".zattrs")?.unwrap_or_default()),
            (None, Some(three)) if three["node_type"] == "array" => Self::version_3(&three),
            _ => return Ok(None),
        };
        let Some(layout) = found.map_err(bad)? else { return Ok(None) };
        let elements = layout.shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        if layout.shape.len() != layout.chunks.len() || layout.chunks.contains(&0) || elements.is_none_or(|n| n > MOST)
        {
            return Err(bad(LayoutError::Chunks { shape: layout.shape, chunks: layout.chunks }));
        }
        Ok(Some(layout))
    }

    fn version_2(json: &Value, attributes: &Value) -> Result<Option<Self>, LayoutError> {
        let code = json["dtype"].as_str().unwrap_or_default();
        let size: usize = code.get(2..).and_then(|size| size.parse().ok()).unwrap_or(0);
        let decode = match code.get(..2) {
            Some("<f") => real(size),
            Some("<i" | "|i") => integer(size, true),
            Some("<u" | "|u" | "|b") => integer(size, false),
            _ => None,
        };
        let Some(decode) = decode else { return Ok(None) };
        if json["filters"].as_array().is_some_and(|filters| !filters.is_empty()) {
            return Err(LayoutError::Filtered);
        }
        let codec = match &json["compressor"] {
            Value::Null => None,
            compressor => Some(Codec::named(compressor["id"].as_str().unwrap_or_default())?),
        };
        Ok(Some(Self {
            shape: sizes(&json["shape"])?,
            chunks: sizes(&json["chunks"])?,
            size,
            decode,
            codecs: codec.into_iter().collect(),
            prefix: "",
            separator: json["dimension_separator"].as_str().unwrap_or(".").to_owned(),
            fill: fill(&json["fill_value"]),
            fortran: json["order"] == "F",
            encoding: Encoding::of_json(&with_fill(attributes, &json["fill_value"])).map_err(LayoutError::Attribute)?,
        }))
    }

    fn version_3(json: &Value) -> Result<Option<Self>, LayoutError> {
        let kind = json["data_type"].as_str().unwrap_or_default();
        let bits = |name: &str| kind.strip_prefix(name).and_then(|bits| bits.parse::<usize>().ok()).map(|n| n / 8);
        let number = match (bits("float"), bits("int"), bits("uint")) {
            (Some(size), ..) => real(size).map(|decode| (size, decode)),
            (_, Some(size), _) => integer(size, true).map(|decode| (size, decode)),
            (.., Some(size)) => integer(size, false).map(|decode| (size, decode)),
            _ if kind == "bool" => integer(1, false).map(|decode| (1, decode)),
            _ => None,
        };
        let Some((size, decode)) = number else { return Ok(None) };
        let mut codecs = Vec::new();
        for codec in json["codecs"].as_array().into_iter().flatten() {
            match codec["name"].as_str().unwrap_or_default() {
                "bytes" if codec["configuration"]["endian"] == "big" => return Err(LayoutError::BigEndian),
                "bytes" => {}
                "crc32c" => codecs.push(Codec::Checksum),
                name => codecs.push(Codec::named(name)?),
            }
        }
        // The last was applied last.
        codecs.reverse();
        let encoding = &json["chunk_key_encoding"];
        let version_2 = encoding["name"] == "v2";
        let separator = encoding["configuration"]["separator"].as_str();
        Ok(Some(Self {
            shape: sizes(&json["shape"])?,
            chunks: sizes(&json["chunk_grid"]["configuration"]["chunk_shape"])?,
            size,
            decode,
            codecs,
            prefix: if version_2 { "" } else { "c" },
            separator: separator.unwrap_or(if version_2 { "." } else { "/" }).to_owned(),
            fill: fill(&json["fill_value"]),
            fortran: false,
            encoding: Encoding::of_json(&json["attributes"]).map_err(LayoutError::Attribute)?,
        }))
    }

    fn array(&self, folder: &Path, name: String) -> Result<Array, ArvizError> {
        let mut values = vec![self.fill; self.shape.iter().product()];
        let counts: Vec<usize> = self.shape.iter().zip(&self.chunks).map(|(n, chunk)| n.div_ceil(*chunk)).collect();
        let each: Option<usize> = self.chunks.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        let each = each.filter(|&n| n <= MOST).ok_or_else(|| ArvizError::Metadata {
            name: name.clone(),
            problem: LayoutError::Chunks { shape: self.shape.clone(), chunks: self.chunks.clone() },
        })?;
        for chunk in 0..counts.iter().product() {
            let place = unravel(chunk, &counts);
            let bytes = match fs::read(folder.join(self.key(&place))) {
                Ok(bytes) => bytes,
                // A chunk that is not there has the fill value everywhere.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            let wanted = each * self.size;
            let bytes = self.codecs.iter().try_fold(bytes, |bytes, codec| decompress(*codec, &bytes, wanted));
            let packed = |problem: PackingError| ArvizError::Packed { name: name.clone(), problem };
            let bytes = bytes.map_err(packed)?;
            if bytes.len() != wanted {
                return Err(packed(PackingError::Length { found: bytes.len(), wanted }));
            }
            self.place(&bytes, &place, &mut values);
        }
        self.encoding.decode(&mut values);
        Ok(Array { name, shape: self.shape.clone(), values })
    }

    /// The file of a chunk.
    fn key(&self, place: &[usize]) -> String {
        let indices: Vec<String> = place.iter().map(usize::to_string).collect();
        let prefix = (!self.prefix.is_empty()).then(|| self.prefix.to_owned());
        let parts: Vec<String> = prefix.into_iter().chain(indices).collect();
        if parts.is_empty() { "0".to_owned() } else { parts.join(&self.separator) }
    }

    /// Copies the part of a chunk that is inside of the array.
    fn place(&self, bytes: &[u8], place: &[usize], values: &mut [f64]) {
        let rank = self.chunks.len();
        for (k, number) in bytes.chunks_exact(self.size).enumerate() {
            let mut inside = if self.fortran {
                let reversed: Vec<usize> = self.chunks.iter().rev().copied().collect();
                let mut inside = unravel(k, &reversed);
                inside.reverse();
                inside
            } else {
                unravel(k, &self.chunks)
            };
            (0..rank).for_each(|d| inside[d] += place[d] * self.chunks[d]);
            if inside.iter().zip(&self.shape).all(|(i, n)| i < n) {
                let at = inside.iter().zip(&self.shape).fold(0, |at, (i, n)| at * n + i);
                values[at] = (self.decode)(number);
            }
        }
    }
}

/// The indices of a place in C order.
fn unravel(mut at: usize, sizes: &[usize]) -> Vec<usize> {
    let mut indices = vec![0; sizes.len()];
    for (index, size) in indices.iter_mut().zip(sizes).rev() {
        *index = at % size;
        at /= size;
    }
    indices
}

/// In version 2 xarray stores the number for missing values as that of chunks that are not there. Others write 0 there
/// and mean nothing by it, so that it counts for packed numbers only.
fn with_fill(attributes: &Value, fill: &Value) -> Value {
    let mut attributes = attributes.clone();
    if let Some(all) = attributes.as_object_mut()
        && (all.contains_key("scale_factor") || all.contains_key("add_offset"))
    {
        all.entry("_FillValue").or_insert_with(|| fill.clone());
    }
    attributes
}

fn sizes(json: &Value) -> Result<Vec<usize>, LayoutError> {
    let list = json.as_array().ok_or_else(|| LayoutError::NoSizes(json.clone()))?;
    let size = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    list.iter().map(|value| size(value).ok_or_else(|| LayoutError::Size(value.clone()))).collect()
}

fn fill(json: &Value) -> f64 {
    json.as_f64().unwrap_or(f64::NAN)
}

/// How a little-endian number of so many bytes is read.
pub(super) fn real(size: usize) -> Option<fn(&[u8]) -> f64> {
    match size {
        4 => Some(|b| f64::from(f32::from_le_bytes(four(b)))),
        8 => Some(|b| f64::from_le_bytes(eight(b))),
        _ => None,
    }
}

/// The same of an integer. Those beyond 2⁵³ are rounded.
#[expect(clippy::cast_precision_loss, reason = "draws are computed with as real numbers")]
pub(super) fn integer(size: usize, signed: bool) -> Option<fn(&[u8]) -> f64> {
    match (size, signed) {
        (1, true) => Some(|b| f64::from(i8::from_le_bytes([b[0]]))),
        (1, false) => Some(|b| f64::from(b[0])),
        (2, true) => Some(|b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
        (2, false) => Some(|b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
        (4, true) => Some(|b| f64::from(i32::from_le_bytes(four(b)))),
        (4, false) => Some(|b| f64::from(u32::from_le_bytes(four(b)))),
        (8, true) => Some(|b| i64::from_le_bytes(eight(b)) as f64),
        (8, false) => Some(|b| u64::from_le_bytes(eight(b)) as f64),
        _ => None,
    }
}

fn four(b: &[u8]) -> [u8; 4] {
    [b[0], b[1], b[2], b[3]]
}

fn eight(b: &[u8]) -> [u8; 8] {
    [b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]
}
