//! Special functions.
//!
//! Thin names for what [`pxfm`] has to within an ulp, and our own for the rest. Each is Stan's function of that name;
//! a function `f_partials` has the value of `f` with its partial derivative for each real argument.
//!
//! Nothing here fails: outside of its domain a function is NaN, and NaN goes through.

mod bessel;
mod gamma;
mod hypergeometric;
mod incomplete_beta;
mod incomplete_gamma;
mod lambert;
mod log_bessel;
mod logs;
mod normal;
mod owens_t;
#[cfg(test)]
mod reference;
mod tail;

pub use bessel::*;
pub use gamma::*;
pub use hypergeometric::*;
pub use incomplete_beta::*;
pub use incomplete_gamma::*;
pub use lambert::*;
pub use log_bessel::*;
pub use logs::*;
pub use normal::*;
pub use owens_t::*;
