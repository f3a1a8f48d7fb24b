//! What programs mean: each test states a small program and what it must give, for many lanes at once and one at a
//! time.

#![allow(clippy::needless_range_loop, reason = "formulas by hand keep the indices of the programs")]
#![allow(clippy::cast_precision_loss, reason = "the integers are small")]
#![allow(clippy::float_cmp, reason = "infinities are equal exactly")]

mod common;
#[path = "behaviour/containers.rs"]
mod containers;
#[path = "behaviour/control.rs"]
mod control;
#[path = "behaviour/densities.rs"]
mod densities;
#[path = "behaviour/elementwise.rs"]
mod elementwise;
#[path = "behaviour/failures.rs"]
mod failures;
#[path = "behaviour/harness.rs"]
mod harness;
#[path = "behaviour/inlining.rs"]
mod inlining;
#[path = "behaviour/loops.rs"]
mod loops;
#[path = "behaviour/recurrences.rs"]
mod recurrences;
#[path = "behaviour/same.rs"]
mod same;
#[path = "behaviour/transforms.rs"]
mod transforms;
