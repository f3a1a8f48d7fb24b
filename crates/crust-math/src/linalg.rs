//! Dense linear algebra on slices, for all crates: one factorisation of each kind, and one family of sums of products.
//!
//! Matrices lie column by column, without gaps, unless a function says otherwise. Everything large is made of one
//! product of matrices ([`gemm`]) and a few loops over columns that are compiled for the vector units. Results depend
//! on the numbers and the sizes only: not on the instruction set, the threads, or what else is computed. That is why
//! the factorisations are our own: the blocks of `faer` (the oracle of the tests) follow the caches and the vector
//! units of the machine.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "formulas with indices read best with indices")]

pub mod cholesky;
pub mod eigen;
mod error;
pub mod gemm;
pub mod lanes;
pub mod lu;
pub(crate) mod memory;
pub mod products;
pub mod qr;
pub mod svd;
pub mod triangular;
pub mod vectors;

#[cfg(test)]
mod tests;

pub use error::LinalgError;
pub(crate) use memory::{identity, parts};
