//! Stan programs with data as lane-batched log densities and gradients.
//!
//! A program is compiled to code ([`model::Model::bind`]) and run by a machine for a whole batch of chains at once
//! ([`evaluator::Evaluator::evaluate`]): a value that depends on parameters is a row of lanes, one number for each
//! chain.

mod calculator;
mod code;
pub mod data;
mod density;
mod evaluator;
mod flat;
#[doc(hidden)]
pub mod fuzzing;
mod hidden_states;
mod ir;
mod kernels;
mod lower;
mod machine;
mod memory;
mod model;
mod names;
mod proof;
mod random;
mod simulate;
mod solver;
mod structure;
mod unconstrain;

pub use evaluator::{Batch, Evaluator, Include, Quantities, Terms, WIDEST};
pub use machine::Rejection;
pub use model::{EngineError, Model, unsupported};
pub use proof::{Difference, Misreading, Part, Proof, ProveError, ProveOptions, prove, solves_equations};
pub use simulate::{SimulateError, Simulator};
pub use unconstrain::{ParameterShape, UnconstrainError, Values};
