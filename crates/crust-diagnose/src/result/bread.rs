//! The result of `crust bread`.

use super::{Calibration, Check, Dataset, Fit, KernelAt, Reading, RealData, Run, Rung, StartCheck, Verdict};
use serde::{Deserialize, Serialize};

/// The result of `crust bread`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bread {
    pub run: Run,
    pub reading: Reading,
    /// Where simulated data come from, and why from there.
    #[serde(default)]
    pub simulation: Simulated,
    pub fit: Option<Fit>,
    pub real: RealData,
    pub simulated: Dataset,
    /// The bound from chains and datasets that nothing was decided by; what the verdict rests on.
    #[serde(default)]
    pub confirmation: Option<Confirmation>,
    pub start_check: Option<StartCheck>,
    pub calibration: Option<Calibration>,
    /// The real data among replicated ones, in all respects together.
    #[serde(default)]
    pub predictive: Option<Predictive>,
    pub kernels: Vec<KernelAt>,
    pub violation: bool,
    pub checks: Vec<Check>,
    pub verdict: Verdict,
    pub partial: bool,
}

/// What parameters simulated data are drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Simulation {
    /// θ* is a draw of the fit, and the posterior that is sandwiched is that given the real *and* the simulated data.
    Conditional,
    /// Hyperparameters are fitted, everything else is drawn from its prior.
    #[default]
    Fitted,
    /// Everything is drawn from the prior.
    Prior,
    /// No data are simulated: draws of the fit stand for exact draws of the posterior of the real data.
    Nothing,
}

impl Simulation {
    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conditional => "conditional",
            Self::Fitted => "fitted",
            Self::Prior => "prior",
            Self::Nothing => "nothing",
        }
    }

    /// Whether reverse chains begin with draws of the fit.
    pub fn rests_on_fit(self) -> bool {
        matches!(self, Self::Conditional | Self::Nothing)
    }
}

/// Where simulated data come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    pub kind: Simulation,
    /// Why, in a sentence.
    pub why: String,
    /// Whether the real data have a marginal likelihood: the prior is proper and its integral is known.
    pub has_log_ml: bool,
}

/// The bound at the last T, from chains that are new.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// How many simulated datasets they are spread over, each with a generating draw of its own.
    pub datasets: usize,
    /// All chains together. Those of each dataset are shifted by Bennett's estimate for it, so that there is no log-ML.
    pub rung: Rung,
}

/// The real data among datasets that were drawn from the fitted model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predictive {
    /// How many datasets were drawn.
    pub replicates: usize,
    pub statistics: Vec<PredictiveStatistic>,
    /// The rank of the real data's largest deviation among those of the replicates, from 1 on.
    pub rank: usize,
    /// rank/(R + 1): of all statistics together.
    #[serde(with = "crate::number")]
    pub p_value: f64,
    /// Up to which p-value there is an alarm: 0.05, or 0.025 where an alarm was looked at again among more replicates.
    #[serde(default)]
    pub level: f64,
    /// Whether there are enough replicates for such a p-value to be possible.
    pub is_test: bool,
    /// The statistic that deviates most, if the test alarms.
    pub alarm: Option<String>,
}

/// A number of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictiveStatistic {
    /// `y: largest`.
    pub name: String,
    #[serde(with = "crate::number")]
    pub real: f64,
    /// The least and the largest value of the replicates, and their median.
    #[serde(with = "crate::number")]
    pub least: f64,
    #[serde(with = "crate::number")]
    pub median: f64,
    #[serde(with = "crate::number")]
    pub largest: f64,
    /// The distance of the real value from the replicates' mean, in their standard deviations; where only one side
    /// counts, towards it.
    #[serde(with = "crate::number")]
    pub deviation: f64,
}
