//! What draws say about the inference that made them, and the files in which draws are kept.
//!
//! The statistics are functions of plain arrays, chains × draws; names and files come above them. Names and numbers are
//! those of the R packages posterior and loo and of `ArviZ`; where these differ, posterior and loo decide.

pub mod bdmc;
pub mod bread;
pub mod checkpoint;
pub mod compare;
pub mod convergence;
pub mod divergence;
pub mod draws;
pub mod executor;
pub mod experiment;
pub mod ladder;
pub mod number;
pub mod psis;
pub mod result;
pub mod sandwich;
pub mod sbc;
pub mod summary;
pub mod taddaa;
mod timing;
pub mod units;
pub mod wasserstein;
pub mod zarr;
