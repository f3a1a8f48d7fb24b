//! Numerical solvers that call a function of the user: differential equations, algebraic equations, integrals.
//!
//! They follow Stan's solvers in what is tested when and by how much a step changes, so that their results agree to
//! rounding and not only to the tolerance: a likelihood inherits the error of its solver, and two samplers should
//! explore the same one.

pub mod algebra;
mod error;
mod numbers;
pub mod ode;
pub mod quadrature;

pub use error::SolverError;
