//! `crust reproduce`: the papers' experiments.

mod real;
mod table1;
mod taddaa;
mod toy;

pub use real::{REAL_MODELS, RealDataOptions, RealDataOutput, real_data, representations};
pub use table1::{Table1Options, table1};
pub(crate) use taddaa::FEATURES;
pub use taddaa::{TaddaaExperiment, TaddaaExperimentOptions, taddaa};
pub use toy::{Grid, ToyOptions, toy};
