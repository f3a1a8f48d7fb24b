//! The results of `crust density` and of `crust bench`.

use serde::{Deserialize, Serialize};

/// Log densities and gradients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Density {
    /// Of the unconstrained parameters.
    pub names: Vec<String>,
    pub points: Vec<Point>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// `null` for a rejected point.
    pub log_density: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_prior: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_likelihood: Option<f64>,
    pub gradient: Vec<Option<f64>>,
    /// Why the point was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How long evaluations take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// From the program's text and the data to the first gradient.
    pub compile_ms: f64,
    pub dimension: usize,
    pub rows: Vec<BenchRow>,
    /// The lists of operations that the program became, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ir: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    pub lanes: usize,
    /// Per chain, on one thread.
    pub us_per_gradient: f64,
    /// What the values of all its chains take, in bytes.
    #[serde(default)]
    pub memory: usize,
}
