//! Numbers: random streams, special functions, and distributions with every partial derivative.
//!
//! Everything here is about plain `f64`s and rows of them, one for each lane. Nothing knows of programs or chains.

pub mod density;
pub mod distributions;
pub mod functions;
pub mod lanes;
pub mod linalg;
pub mod random;
pub mod solvers;
pub mod special;
pub mod transforms;
