//! Covariance functions of Gaussian processes.

use super::VectorFunction;

pub const ALL: &[&dyn VectorFunction] = &[];
