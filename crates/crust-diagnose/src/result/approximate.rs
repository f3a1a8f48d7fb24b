//! The results of `crust approximate` and of `crust taddaa`.

use super::Bounds;
use crate::taddaa;
use crate::wasserstein::ErrorBounds;
use serde::{Deserialize, Serialize};

/// A distribution that stands for the posterior. `crust taddaa --approximation` reads it back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Approximate {
    /// The file of the program, and that of the data, without their folders; empty if there was none.
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub data: String,
    /// In the words of the command line.
    pub method: String,
    /// Of the unconstrained parameters.
    pub names: Vec<String>,
    pub mean: Vec<f64>,
    pub sd: Vec<f64>,
    /// By rows; where there are no correlations, there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
    /// ν of Student's t distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// Bounds log p(y) from below, in expectation; all constants are counted.
    #[serde(with = "crate::number")]
    pub elbo: f64,
    #[serde(with = "crate::number")]
    pub elbo_se: f64,
    /// Of the importance weights; `null` where they cannot be smoothed.
    pub k_hat: Option<f64>,
    /// The same bound with others on log Z.
    #[serde(default)]
    pub bounds: Bounds,
    /// How wrong means and standard deviations can be, at most; `null` where the importance weights do not tell.
    #[serde(default)]
    pub errors: Option<ErrorBounds>,
    /// How many points were evaluated.
    pub gradients: u64,
    pub seconds: f64,
    /// Of these, the fit itself took so many: without draws that only the ELBO and k-hat are computed from.
    #[serde(default)]
    pub fit_seconds: f64,
    pub converged: bool,
    /// Whether the user ended the fit: it is the best so far.
    #[serde(default)]
    pub partial: bool,
    /// How the fit ended, in words.
    pub convergence: String,
    /// What to mind, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub iterations: usize,
    /// The bound on the way of the optimiser; empty for methods that do not maximise it.
    pub trace: Vec<ElboStep>,
}

/// One step of an optimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElboStep {
    /// Points that were evaluated up to here.
    pub gradients: u64,
    #[serde(with = "crate::number")]
    pub elbo: f64,
}

/// Lower bounds on the errors of an approximation, or of draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taddaa {
    /// The file of the program, and that of the data, without their folders; empty if there was none.
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub data: String,
    /// What was judged, in words.
    #[serde(default)]
    pub subject: String,
    #[serde(flatten)]
    pub found: taddaa::Taddaa,
    /// Of the approximation, or of draws that come with both densities; `null` where there is no density.
    pub k_hat: Option<f64>,
    /// KL(q‖p) of the approximation on the real data; `null` where there is no density.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// How the chains moved, in the words of the command line.
    pub kernel: String,
    /// How many points were evaluated.
    pub gradients: u64,
    /// Mean acceptance probabilities, iteration by iteration.
    #[serde(with = "crate::number::list")]
    pub acceptance: Vec<f64>,
    /// What to mind, in sentences.
    pub notes: Vec<String>,
    /// Whether the chains were ended early.
    pub partial: bool,
    /// How the worst functionals moved; only where a report is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Drift>,
}

/// A functional along the chains, with pointwise intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    pub name: String,
    /// Iterations.
    pub times: Vec<usize>,
    #[serde(with = "crate::number::list")]
    pub values: Vec<f64>,
    #[serde(with = "crate::number::list")]
    pub low: Vec<f64>,
    #[serde(with = "crate::number::list")]
    pub high: Vec<f64>,
}
