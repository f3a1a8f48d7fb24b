//! Markov kernels over many chains at once, and the drivers that run them.
//!
//! Nothing here knows how a density is written down: a [`Target`](target::Target) evaluates points, and that is all.

pub mod drive;
pub mod error;
pub mod kernel;
pub mod metric;
pub mod sample;
pub mod step_size;
pub mod target;
pub mod warmup;
pub mod windows;

mod chain;
mod covariance;
mod hmc;
mod leapfrog;
mod metropolis;
mod nuts;
mod vector;
