//! Functions that summarise or rearrange a container.

use super::VectorFunction;

pub const ALL: &[&dyn VectorFunction] = &[];
