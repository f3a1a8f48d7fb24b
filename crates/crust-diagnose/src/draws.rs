//! Draws of a run: names, and chains × draws × quantities, with the sampler's own columns apart.

mod arviz;
mod compression;
pub mod configuration;
pub mod csv_reader;
pub mod csv_writer;
mod encoding;
mod files;
pub mod names;
mod netcdf;
mod zarr_reader;

pub use arviz::ArvizError;
pub use compression::PackingError;
pub use configuration::{Adaptation, Algorithm, Elapsed, InverseMetric, Metric, RunConfiguration, Settings};
pub use csv_reader::{Comments, CsvChain, CsvError, CsvProblem, read_chain, read_files};
pub use csv_writer::CsvWriter;
pub use files::{DrawsError, read_draws};
pub use names::{Shape, Variable, bracketed, column_names, dotted, variables};
pub use zarr_reader::LayoutError;

/// The draws of all chains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draws {
    /// The sampler's columns, such as `lp__` and `energy__`.
    pub sampler_names: Vec<String>,
    /// The quantities, with the names that `CmdStan` gives them: `mu`, `theta.1`, `L.2.1`.
    pub names: Vec<String>,
    pub chains: Vec<Chain>,
}

/// The draws of one chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Warm-up draws, where they were saved.
    pub warmup: Phase,
    pub sampling: Phase,
}

/// Draws of one phase of a chain, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    pub sampler: Vec<Vec<f64>>,
    pub quantities: Vec<Vec<f64>>,
}

impl Phase {
    /// No draws yet of so many columns.
    pub fn new(sampler_columns: usize, quantities: usize) -> Self {
        Self { sampler: vec![Vec::new(); sampler_columns], quantities: vec![Vec::new(); quantities] }
    }

    /// Appends one draw, which has a value for every column.
    pub fn push(&mut self, sampler: &[f64], quantities: &[f64]) {
        assert_eq!((sampler.len(), quantities.len()), (self.sampler.len(), self.quantities.len()), "columns of a draw");
        self.sampler.iter_mut().zip(sampler).for_each(|(column, &x)| column.push(x));
        self.quantities.iter_mut().zip(quantities).for_each(|(column, &x)| column.push(x));
    }

    /// Appends draws that lie one after the other, each with the values of the sampler's columns and then those of the
    /// quantities.
    pub fn extend(&mut self, rows: &[f64]) {
        let width = self.sampler.len() + self.quantities.len();
        if width == 0 {
            return;
        }
        assert!(rows.len().is_multiple_of(width), "columns of draws");
        for (at, column) in self.sampler.iter_mut().chain(&mut self.quantities).enumerate() {
            column.extend(rows.chunks_exact(width).map(|row| row[at]));
        }
    }

    /// The number of draws.
    pub fn len(&self) -> usize {
        self.sampler.first().or(self.quantities.first()).map_or(0, Vec::len)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Draws {
    /// No draws yet of so many chains.
    pub fn new(sampler_names: Vec<String>, names: Vec<String>, chains: usize) -> Self {
        let phase = Phase::new(sampler_names.len(), names.len());
        let chain = Chain { warmup: phase.clone(), sampling: phase };
        Self { sampler_names, names, chains: vec![chain; chains] }
    }

    /// The sampling draws of the quantity at this position, one slice for each chain.
    pub fn quantity(&self, index: usize) -> Vec<&[f64]> {
        self.chains.iter().map(|chain| chain.sampling.quantities[index].as_slice()).collect()
    }

    /// The sampling draws of a quantity, whose name may be written `theta.1` or `theta[1]`.
    pub fn named(&self, name: &str) -> Option<Vec<&[f64]>> {
        let fits = |other: &String| other == name || bracketed(&dotted(other)) == name;
        self.names.iter().position(fits).map(|index| self.quantity(index))
    }

    /// The sampling draws of one of the sampler's columns, one slice for each chain.
    pub fn sampler(&self, name: &str) -> Option<Vec<&[f64]>> {
        let index = self.sampler_names.iter().position(|other| other == name)?;
        Some(self.chains.iter().map(|chain| chain.sampling.sampler[index].as_slice()).collect())
    }

    /// Draws in the shortest chain, and in the longest.
    pub fn lengths(&self) -> (usize, usize) {
        let lengths = || self.chains.iter().map(|chain| chain.sampling.len());
        (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_either_name() {
        let names = ["mu", "L.2.1"].map(String::from).to_vec();
        let mut draws = Draws::new(vec!["lp__".into()], names, 2);
        draws.chains[0].sampling.push(&[-1.0], &[0.5, 2.0]);
        draws.chains[0].sampling.push(&[-2.0], &[0.6, 3.0]);
        draws.chains[1].sampling.push(&[-3.0], &[0.7, 4.0]);
        assert_eq!(draws.named("L[2,1]"), Some(vec![&[2.0, 3.0][..], &[4.0]]));
        assert_eq!(draws.named("L.2.1"), draws.named("L[2,1]"));
        assert_eq!(draws.named("L"), None);
        assert_eq!(draws.sampler("lp__"), Some(vec![&[-1.0, -2.0][..], &[-3.0]]));
        assert_eq!(draws.lengths(), (1, 2));
        assert!(draws.chains[0].warmup.is_empty());
    }
}
