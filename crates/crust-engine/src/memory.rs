//! Where values live: blocks of numbers in an arena, one number for each element, iteration and lane.

mod arena;
mod block;
mod walk;

pub use arena::{Arena, Full};
pub use block::{Block, Flags, Width, cast};
pub use walk::Walk;
