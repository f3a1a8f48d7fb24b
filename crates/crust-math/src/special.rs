//! Special functions.
//!
//! Thin names for what [`pxfm`] has to within an ulp, and our own for the rest. Each is Stan's function of that name;
//! a function `f_partials` has the value of `f` with its partial derivative for each real argument.
//!
//! Nothing here fails: outside of its domain a function is NaN, and NaN goes through.

mod gamma;
mod incomplete_beta;
mod incomplete_gamma;
mod logs;
mod normal;
#[cfg(test)]
mod reference;
mod tail;

pub use gamma::*;
pub use incomplete_beta::*;
pub use incomplete_gamma::*;
pub use logs::*;
pub use normal::*;
