//! Writes draws as an `InferenceData` store that `ArviZ` and xarray open: Zarr, version 2 of the format, without
//! compression.
//!
//! Groups are `posterior` and `sample_stats`, and the same with `warmup_` in front where warm-up draws were saved.
//! Dimensions are `chain`, `draw` and `NAME_dim_0` …, as `ArviZ` names them.

use crate::draws::{Chain, Draws, Phase, Variable, variables};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::Path;

/// The sampler's columns that `ArviZ` knows by another name, and the type of their values.
const SAMPLE_STATS: [(&str, &str, Type); 7] = [
    ("lp__", "lp", Type::Real),
    ("accept_stat__", "acceptance_rate", Type::Real),
    ("stepsize__", "step_size", Type::Real),
    ("treedepth__", "tree_depth", Type::Integer),
    ("n_leapfrog__", "n_steps", Type::Integer),
    ("divergent__", "diverging", Type::Boolean),
    ("energy__", "energy", Type::Real),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Real,
    Complex,
    Integer,
    Boolean,
}

impl Type {
    /// The name of the type in Zarr's metadata: little-endian.
    fn code(self) -> &'static str {
        match self {
            Self::Real => "<f8",
            Self::Complex => "<c16",
            Self::Integer => "<i8",
            Self::Boolean => "|b1",
        }
    }

    fn fill_value(self) -> Value {
        match self {
            Self::Real => json!("NaN"),
            _ => Value::Null,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "counts, which the sampler reports as numbers")]
    fn push(self, bytes: &mut Vec<u8>, value: f64) {
        match self {
            Self::Real | Self::Complex => bytes.extend(value.to_le_bytes()),
            Self::Integer => bytes.extend((value as i64).to_le_bytes()),
            Self::Boolean => bytes.push(u8::from(value != 0.0)),
        }
    }
}

/// Writes the store into a folder, which may not exist yet or must be empty. Chains are cut to the length of the
/// shortest.
pub fn write_zarr(folder: &Path, draws: &Draws) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        let message = format!("{} is not empty: choose another folder for the draws", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let mut store = Store { folder, metadata: Map::new() };
    store.group("", &json!({}))?;
    let sampling = phase_of(draws, |chain| &chain.sampling);
    store.phase("", draws, &sampling)?;
    let warmup = phase_of(draws, |chain| &chain.warmup);
    if warmup.iter().any(|phase| !phase.is_empty()) {
        store.phase("warmup_", draws, &warmup)?;
    }
    let consolidated = json!({ "metadata": store.metadata, "zarr_consolidated_format": 1 });
    fs::write(folder.join(".zmetadata"), serde_json::to_vec_pretty(&consolidated)?)
}

fn phase_of(draws: &Draws, phase: fn(&Chain) -> &Phase) -> Vec<&Phase> {
    draws.chains.iter().map(phase).collect()
}

/// A store under construction.
struct Store<'a> {
    folder: &'a Path,
    /// Every metadata file by its path, for the consolidated copy.
    metadata: Map<String, Value>,
}

/// An array's place and form.
struct Array<'a> {
    group: &'a str,
    name: &'a str,
    kind: Type,
    shape: Vec<usize>,
    dims: Vec<String>,
}

impl Store<'_> {
    fn metadata(&mut self, path: &str, content: Value) -> io::Result<()> {
        fs::write(self.folder.join(path), serde_json::to_vec_pretty(&content)?)?;
        self.metadata.insert(path.to_owned(), content);
        Ok(())
    }

    fn group(&mut self, name: &str, attributes: &Value) -> io::Result<()> {
        fs::create_dir_all(self.folder.join(name))?;
        let slash = if name.is_empty() { "" } else { "/" };
        self.metadata(&format!("{name}{slash}.zgroup"), json!({ "zarr_format": 2 }))?;
        self.metadata(&format!("{name}{slash}.zattrs"), attributes.clone())
    }

    /// The two groups of one phase.
    fn phase(&mut self, prefix: &str, draws: &Draws, phases: &[&Phase]) -> io::Result<()> {
        let length = phases.iter().map(|phase| phase.len()).min().unwrap_or(0);
        let group = format!("{prefix}posterior");
        self.run_group(&group, phases.len(), length)?;
        let columns: Vec<&[Vec<f64>]> = phases.iter().map(|phase| phase.quantities.as_slice()).collect();
        for variable in variables(&draws.names) {
            self.variable(&group, &variable, Type::Real, &columns, length)?;
        }
        let group = format!("{prefix}sample_stats");
        self.run_group(&group, phases.len(), length)?;
        let columns: Vec<&[Vec<f64>]> = phases.iter().map(|phase| phase.sampler.as_slice()).collect();
        for (index, column) in draws.sampler_names.iter().enumerate() {
            let known = SAMPLE_STATS.iter().find(|(name, ..)| name == column);
            let (name, kind) =
                known.map_or((column.trim_end_matches('_'), Type::Real), |&(_, name, kind)| (name, kind));
            let variable = Variable { name: name.to_owned(), dims: Vec::new(), complex: false, columns: vec![index] };
            self.variable(&group, &variable, kind, &columns, length)?;
        }
        Ok(())
    }

    /// A group with the coordinates of chains and draws.
    fn run_group(&mut self, group: &str, chains: usize, draws: usize) -> io::Result<()> {
        let library = json!({ "inference_library": "crust", "inference_library_version": env!("CARGO_PKG_VERSION") });
        self.group(group, &library)?;
        self.coordinate(group, "chain", chains)?;
        self.coordinate(group, "draw", draws)
    }

    /// 0, 1, 2 … along a dimension.
    fn coordinate(&mut self, group: &str, name: &str, size: usize) -> io::Result<()> {
        let array = Array { group, name, kind: Type::Integer, shape: vec![size], dims: vec![name.to_owned()] };
        self.array(&array, &[size])?;
        let mut bytes = Vec::with_capacity(8 * size);
        (0_i64..).take(size).for_each(|i| bytes.extend(i.to_le_bytes()));
        self.chunk(&array, 0, &bytes)
    }

    /// One variable, a chunk for each chain: a chain can then be read without the others.
    fn variable(
        &mut self,
        group: &str,
        variable: &Variable,
        kind: Type,
        columns: &[&[Vec<f64>]],
        length: usize,
    ) -> io::Result<()> {
        let kind = if variable.complex { Type::Complex } else { kind };
        let own = |d| format!("{}_dim_{d}", variable.name);
        let mut dims = vec!["chain".to_owned(), "draw".to_owned()];
        dims.extend((0..variable.dims.len()).map(own));
        for (dim, &size) in variable.dims.iter().enumerate() {
            self.coordinate(group, &own(dim), size)?;
        }
        let shape: Vec<usize> = [columns.len(), length].into_iter().chain(variable.dims.iter().copied()).collect();
        let chunks: Vec<usize> = [1].into_iter().chain(shape[1..].iter().copied()).collect();
        let array = Array { group, name: &variable.name, kind, shape, dims };
        self.array(&array, &chunks)?;
        for (chain, columns) in columns.iter().enumerate() {
            let mut bytes = Vec::with_capacity(8 * length * variable.columns.len());
            for draw in 0..length {
                variable.columns.iter().for_each(|&column| kind.push(&mut bytes, columns[column][draw]));
            }
            self.chunk(&array, chain, &bytes)?;
        }
        Ok(())
    }

    fn array(&mut self, array: &Array, chunks: &[usize]) -> io::Result<()> {
        let path = format!("{}/{}", array.group, array.name);
        fs::create_dir_all(self.folder.join(&path))?;
        // a chunk has at least one element along each dimension, also of an empty array
        let chunks: Vec<usize> = chunks.iter().map(|&size| size.max(1)).collect();
        let description = json!({
            "chunks": chunks,
            "compressor": null,
            "dtype": array.kind.code(),
            "fill_value": array.kind.fill_value(),
            "filters": null,
            "order": "C",
            "shape": array.shape,
            "zarr_format": 2,
        });
        self.metadata(&format!("{path}/.zarray"), description)?;
        self.metadata(&format!("{path}/.zattrs"), json!({ "_ARRAY_DIMENSIONS": array.dims }))
    }

    /// The chunk at this position along the first dimension; there is only one along the others. An empty one is not
    /// written.
    fn chunk(&self, array: &Array, index: usize, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let key = format!("{index}{}", ".0".repeat(array.shape.len() - 1));
        fs::write(self.folder.join(array.group).join(array.name).join(key), bytes)
    }
}
