//! Distributions of vectors and matrices.

use crate::functions::VectorDensity;

/// Every log density in this module.
pub const ALL: &[&dyn VectorDensity] = &[];
