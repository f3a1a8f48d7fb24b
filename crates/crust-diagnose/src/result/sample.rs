//! The result of `crust sample`: a summary of the draws, and what to mind about them.

use crate::summary::{Number, Row, Warning};
use serde::{Deserialize, Serialize};

/// A summary of draws from the posterior.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub summary: Vec<Row>,
    pub warnings: Vec<Warning>,
    pub divergences: usize,
    pub max_depth_reached: usize,
    pub ebfmi: Vec<Number>,
    pub seconds: Seconds,
    pub chains: usize,
    /// Draws of each chain that were kept; of the shortest if they differ.
    pub draws: usize,
    /// Whether the run was ended before all was drawn.
    pub interrupted: bool,
    pub gradients: u64,
    pub gradients_per_second: f64,
    pub seed: u64,
    /// For the story on the terminal only.
    #[serde(skip)]
    pub facts: SampleFacts,
}

/// What the story tells of a run beside its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFacts {
    /// The names of the quantiles, in order.
    pub quantiles: Vec<String>,
    /// Draws that each chain was to make.
    pub wanted: usize,
    /// Draws of the shortest and of the longest chain.
    pub lengths: (usize, usize),
    /// Draws that the program rejected after they were made, in `generated quantities`, and why the first of them.
    pub rejected: usize,
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    pub warmup: f64,
    pub sampling: f64,
}
