//! The IR: a region of a bound program as a straight-line list of operations on single numbers.
//!
//! After binding, sizes, trip counts and branches that depend on data are known. The machine runs the statements of a
//! region once with symbolic numbers (`machine/symbolic`), which leaves a [`Graph`]: data are constants, functions are
//! inlined, local containers are gone. Passes make it smaller ([`passes`]); [`schedule`] finds operations of the same
//! kind that do not depend on each other (what a loop was) and puts them together in batches; [`run`] executes batches
//! forward and backward, over items and lanes.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(
    clippy::needless_range_loop,
    reason = "the compiler makes vector instructions of loops over arrays of lanes, by index"
)]

mod calls;
mod display;
mod endings;
mod first;
mod forward;
mod graph;
mod nested;
mod passes;
mod products;
mod reverse;
mod run;
mod schedule;
mod shares;
mod simple;
mod stage;
#[cfg(test)]
mod tests;

pub use graph::{ContainerCall, FREE, Graph, Ref, ScalarCall};
pub use nested::nest;
pub use passes::fuse;
pub use run::{Call, Pass, Room, run};
pub use schedule::{List, Place, schedule};
pub use simple::simplify;

/// Lists with more operations and operands than this are not made: the machine runs what they would stand for.
pub const LONGEST: usize = 1_500_000;
