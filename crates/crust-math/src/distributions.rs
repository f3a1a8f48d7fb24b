//! Distributions: log densities with partial derivatives, cumulative distribution functions, random draws.
//!
//! One function for each that Stan has, by Stan's name and with Stan's parametrisation. Values are Stan's to the last
//! digits; where a term is dropped in `propto` mode (see [`crate::density::Terms`]) is Stan's rule too.

pub mod continuous;
pub mod discrete;
pub mod multivariate;
