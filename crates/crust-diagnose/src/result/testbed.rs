//! The result of `crust testbed`: how good estimators of the marginal likelihood are, where it is known.

use serde::{Deserialize, Serialize};

/// What came out: the same bytes for the same seed, whatever the computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Testbed {
    pub version: String,
    pub quick: bool,
    pub seed: u64,
    pub trials: u32,
    pub models: Vec<TestbedModel>,
    /// Ended early: models that are not here were not finished.
    pub partial: bool,
}

/// The models of section 6 of BDMC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    Clustering,
    LowRank,
    Binary,
}

/// All estimators on the data of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestbedModel {
    pub model: ModelName,
    pub cases: usize,
    pub truth: GroundTruth,
    pub rows: Vec<TestbedRow>,
}

/// The marginal likelihood, sandwiched by annealing in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundTruth {
    /// The best estimate: Bennett's from both directions, or the middle between the bounds where these do not overlap.
    pub log_ml: f64,
    /// Its standard error, as far as chains that share their exact draw can tell; null where there is no overlap.
    pub se: Option<f64>,
    /// A stochastic lower bound.
    pub lower: f64,
    /// A stochastic upper bound.
    pub upper: f64,
    #[serde(rename = "T")]
    pub distributions: usize,
    /// In each direction.
    pub chains: u32,
    /// The probability, at most, that bounds contradict each other as much as these do in a correct implementation.
    pub p_value: f64,
}

/// An estimator at one setting of its knob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestbedRow {
    pub estimator: String,
    pub kind: TestbedKind,
    /// How trials are combined.
    pub combination: String,
    pub knob: Knob,
    /// log p(Y) as each trial has it.
    #[serde(with = "crate::number::list")]
    pub estimates: Vec<f64>,
    /// The mean of the estimates, with its standard error.
    #[serde(with = "crate::number")]
    pub mean: f64,
    #[serde(with = "crate::number")]
    pub se: f64,
    /// Mean minus ground truth.
    #[serde(with = "crate::number")]
    pub bias: f64,
    /// Of single trials.
    #[serde(with = "crate::number")]
    pub rmse: f64,
    /// The share of trials above the ground truth.
    #[serde(with = "crate::number")]
    pub above: f64,
    /// From all trials together.
    #[serde(with = "crate::number")]
    pub combined: f64,
    #[serde(with = "crate::number")]
    pub combined_error: f64,
}

/// What theory says about an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestbedKind {
    StochasticLowerBound,
    StochasticUpperBound,
    /// Never above log p(Y).
    LowerBound,
    /// May be on either side.
    NoGuarantee,
}

/// The setting that trades accuracy for time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knob {
    pub name: String,
    pub value: u64,
}

/// How long it took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestbedTiming {
    pub threads: usize,
    pub models: Vec<ModelTiming>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTiming {
    pub model: ModelName,
    /// In the order of the model's rows; each trial ran on one thread.
    pub rows: Vec<TrialTimes>,
    /// Empty for a quick run, whose data are smaller than the paper's.
    pub comparisons: Vec<PaperComparison>,
}

/// How long the trials of a row took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialTimes {
    pub estimator: String,
    pub knob: Knob,
    /// The median of the trials, each on one thread, without the time in which the thread had to wait for a processor.
    pub seconds: f64,
    pub least: f64,
}

/// One of the paper's results beside the fastest row that is at least as accurate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperComparison {
    pub model: ModelName,
    pub paper: PaperResult,
    /// None if no setting of the knob was as accurate.
    pub ours: Option<OurResult>,
}

/// A result that the paper reports in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperResult {
    pub estimator: String,
    pub seconds: f64,
    /// Of single trials.
    pub rmse: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OurResult {
    pub estimator: String,
    pub knob: Knob,
    pub seconds: f64,
    pub rmse: f64,
    /// The paper's seconds over ours.
    pub times_faster: f64,
}

impl ModelName {
    /// As options and files have it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Clustering => "clustering",
            Self::LowRank => "low-rank",
            Self::Binary => "binary",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Clustering => "clustering",
            Self::LowRank => "low rank",
            Self::Binary => "binary attributes",
        }
    }
}

impl TestbedKind {
    pub fn words(self) -> &'static str {
        match self {
            Self::StochasticLowerBound => "stochastic lower bound",
            Self::StochasticUpperBound => "stochastic upper bound",
            Self::LowerBound => "lower bound",
            Self::NoGuarantee => "no guarantee",
        }
    }
}
