//! WebPPL programs in the protocols: `bdmc`, `bread`, `compare` and `check` for `.wppl` files.
//!
//! A WebPPL program is its own simulator, so nothing has to be proven: a run is a draw from the prior, and `observe`
//! draws its value where data are simulated. States are executions, of any number of choices; chains of executions stay
//! on the thread that they were made on, and cross threads and files as [`Snapshot`]s.

mod both;
mod check;
mod crew;
mod experiment;
mod fit;
mod pilot;
mod problem;
mod protocols;
mod shared;

pub use both::compare_both;
pub use check::check_webppl;
pub use problem::WebPplProblem;
pub use protocols::{bdmc_webppl, bread_webppl};
pub use shared::compare_webppl;

use crust_webppl::simulator::Snapshot;
