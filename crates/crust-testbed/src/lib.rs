//! The papers' models and experiments as code, and problems whose answers are known.

pub mod bidirectional;
pub mod check;
pub mod comparison;
pub mod estimators;
pub mod exact;
pub mod grid;
pub mod logistic;
pub mod model;
pub mod models;
pub mod pointwise;
pub mod positive;
pub mod regression;
pub mod roster;
pub mod scale;
pub mod scales;
pub mod taddaa;
pub mod toy;
pub mod trials;

mod linear;
mod stopwatch;

#[cfg(test)]
mod closed_forms_tests;
