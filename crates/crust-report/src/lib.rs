//! Results for people: SVG plots, a self-contained HTML page, and the same story on the terminal.
//!
//! Nothing in here computes a bound or decides a verdict: it shows what [`crust_diagnose::result`] says. The same
//! results give the same bytes.

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
pub mod divergence;
mod figures;
pub mod html;
mod number;
pub mod sbc;
pub mod svg;
pub mod taddaa;
pub mod terminal;
pub mod testbed;
mod view;

pub use figures::picture;
