//! The result of `crust evidence`: log p(y) by one or several estimators, each with what kind of number it is.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the estimators found: the same for the same seed, so times are not in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub version: String,
    pub model: String,
    pub data: Option<String>,
    pub seed: u64,
    /// Of the unconstrained space.
    pub dimension: usize,
    pub methods: Vec<EvidenceMethod>,
    /// What is to be said about all of them together.
    pub warnings: Vec<String>,
}

/// What one estimator found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceMethod {
    pub name: String,
    pub kind: EvidenceKind,
    #[serde(with = "crate::number")]
    pub log_ml: f64,
    /// The standard error as far as the draws show it.
    #[serde(with = "crate::number")]
    pub se: f64,
    pub evaluations: u64,
    /// Settings and diagnostics by name.
    pub details: BTreeMap<String, crate::summary::Number>,
    pub warnings: Vec<String>,
}

/// What an estimate of log p(y) is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// The logarithm of an unbiased estimate of p(y): above log p(y) + b with probability below e^−b.
    StochasticLowerBound,
    /// Consistent, but on no side of the truth.
    Estimate,
}

impl EvidenceMethod {
    /// A standard error of weights above this is not to be believed: few of them decide.
    pub const MOST_ERROR: f64 = 0.5;
}

/// Seconds by the name of the part: `read`, `total` and each method; beside the result in `timing.json`.
pub type EvidenceTiming = BTreeMap<String, f64>;
