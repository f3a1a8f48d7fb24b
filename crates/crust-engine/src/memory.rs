//! Where values live: blocks of numbers in an arena, one number for each element, iteration and lane.

mod aligned;
mod arena;
mod block;
pub mod budget;
mod walk;

pub use aligned::Aligned;
pub use arena::{Arena, Full};
pub use block::{Block, Flags, Width, cast};
pub use walk::Walk;
