//! Numbers: random streams, special functions, and distributions with every partial derivative.
//!
//! Everything here is about plain `f64`s. Nothing knows of programs, chains or lanes.

pub mod density;
pub mod distributions;
pub mod lanes;
pub mod random;
pub mod special;
pub mod transforms;
