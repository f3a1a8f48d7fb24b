//! Matrix functions: products, decompositions, solutions of linear systems.

use super::VectorFunction;

pub const ALL: &[&dyn VectorFunction] = &[];
