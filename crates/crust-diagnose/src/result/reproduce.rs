//! The results of `crust reproduce`: experiments of the papers. That on representations is a comparison like any other.

use serde::{Deserialize, Serialize};

/// One of the experiments; `experiment` says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reproduce {
    Toy(Toy),
    Table1(Table1),
    RealData(RealDataTable),
    Taddaa(TaddaaTable),
}

/// BREAD, section 5.1.1: the true divergence of annealing on small grids, and its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toy {
    pub experiment: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// log `Z_T`/Z₁, which the chains estimate.
    pub log_ratio: f64,
    pub rows: Vec<ToyRow>,
}

/// What there is to say about one T. All in nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToyRow {
    #[serde(rename = "T")]
    pub distributions: usize,
    /// The exact Jeffreys divergence between the last states of forward chains and the target.
    #[serde(rename = "J")]
    pub jeffreys: f64,
    /// The exact expectation of the bound.
    #[serde(rename = "B")]
    pub bound: f64,
    #[serde(rename = "B_hat")]
    pub estimate: f64,
    #[serde(rename = "B_hat_se")]
    pub standard_error: f64,
    pub chains: u32,
    pub kl_forward: f64,
    pub kl_reverse: f64,
    pub chain_kl_forward: f64,
    pub chain_kl_reverse: f64,
}

/// BDMC, Table 1: how well three models explain the data of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table1 {
    pub experiment: String,
    pub seed: u64,
    #[serde(rename = "T")]
    pub distributions: usize,
    pub chains: usize,
    /// Those that are finished.
    pub datasets: u32,
    /// Ended early: there should have been more datasets.
    pub partial: bool,
    pub seconds: f64,
    pub rows: Vec<Table1Row>,
}

/// Data of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table1Row {
    pub data: String,
    pub cells: Vec<Table1Cell>,
}

/// One model on the data of a row. In nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table1Cell {
    pub model: String,
    /// A stochastic lower bound for each dataset.
    pub log_ml_lower: Vec<f64>,
    pub mean: f64,
    /// By how much the model that made the data is ahead, on average over datasets, and its standard error.
    pub behind: f64,
    pub behind_se: Option<f64>,
}

/// BREAD, Figs. 5 and 6: five models on real data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealDataTable {
    pub experiment: String,
    pub rows: Vec<RealDataRow>,
    /// Models that were left out.
    pub missing: Vec<String>,
}

/// One model, S and T. All in nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealDataRow {
    pub model: String,
    /// Transitions before the reverse chains.
    #[serde(rename = "S")]
    pub start_steps: usize,
    #[serde(rename = "T")]
    pub distributions: usize,
    #[serde(with = "crate::number")]
    pub log_ml_lower: f64,
    #[serde(with = "crate::number")]
    pub log_ml_upper: f64,
    #[serde(with = "crate::number")]
    pub jeffreys_bound: f64,
    #[serde(with = "crate::number")]
    pub jeffreys_se: f64,
    /// The real data's lower bound.
    pub real_log_ml_lower: Option<f64>,
    /// p of the comparison of real with simulated data, where it was made.
    pub p_value: Option<f64>,
}

/// TADDAA, section 4: errors of approximations, and the lower bounds on them that short chains give.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaddaaTable {
    pub experiment: String,
    pub seed: u64,
    /// Ended early: there should have been more.
    pub partial: bool,
    pub targets: Vec<TaddaaTarget>,
}

/// A distribution with its approximation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaddaaTarget {
    /// The number of unconstrained parameters.
    pub dimension: usize,
    /// Of approximation, in the words of the command line.
    pub method: String,
    /// Points that the fit evaluated.
    pub fit_gradients: u64,
    pub converged: bool,
    pub k_hat: Option<f64>,
    /// Where the truth comes from; nothing if it is known exactly.
    pub reference: Option<TaddaaReference>,
    pub functionals: Vec<TaddaaFunctional>,
    pub runs: Vec<TaddaaRun>,
}

/// The long run of NUTS that is taken for the truth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaddaaReference {
    pub chains: usize,
    /// Of each chain.
    pub draws: usize,
    /// The largest of the quantities in question.
    #[serde(with = "crate::number")]
    pub r_hat: f64,
    /// The least bulk effective sample size of them.
    #[serde(with = "crate::number")]
    pub ess: f64,
    pub divergences: usize,
    pub gradients: u64,
}

/// What is asked of a distribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaddaaFunctional {
    pub name: String,
    #[serde(with = "crate::number")]
    pub truth: f64,
    /// 0 if it is known exactly.
    #[serde(with = "crate::number")]
    pub truth_se: f64,
    #[serde(with = "crate::number")]
    pub approximation: f64,
    /// |approximation − truth|.
    #[serde(with = "crate::number")]
    pub error: f64,
}

/// Short chains of one kind and length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaddaaRun {
    pub kernel: String,
    pub chains: usize,
    pub iterations: usize,
    #[serde(with = "crate::number")]
    pub rho2_max: f64,
    pub gradients: u64,
    /// One for each functional.
    pub bounds: Vec<TaddaaBound>,
}

/// What chains say of a functional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaddaaBound {
    /// Its value at the end of the chains.
    #[serde(with = "crate::number")]
    pub improved: f64,
    /// The paper's bound, for this functional alone.
    #[serde(with = "crate::number")]
    pub lower_bound: f64,
    /// For all functionals of the run at once.
    #[serde(with = "crate::number")]
    pub simultaneous_lower_bound: f64,
}
