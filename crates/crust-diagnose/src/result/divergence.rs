//! How far an approximation is from the posterior, in nats: bounds on one axis, and the result of `crust bread
//! --method`.

use super::{Fit, Run, Simulated, Verdict};
use serde::{Deserialize, Serialize};

/// ELBO ≤ IW-ELBO ≤ log Z, and what annealing says of log Z. Z is what the program's density integrates to: p(y) where
/// the prior is normalised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    #[serde(with = "crate::number")]
    pub elbo: f64,
    #[serde(with = "crate::number")]
    pub elbo_se: f64,
    /// The importance-weighted bound, of so many draws.
    #[serde(with = "crate::number")]
    pub iw_elbo: f64,
    #[serde(with = "crate::number")]
    pub iw_elbo_se: f64,
    pub iw_draws: usize,
    /// log Z is above this with a probability of 97.5 %: from forward chains. `null` if none were run.
    #[serde(default, with = "crate::number::option")]
    pub log_z_lower: Option<f64>,
    /// log Z is below this with a probability of 97.5 %: from reverse chains that begin with an exact draw, which only
    /// simulated data have.
    #[serde(default, with = "crate::number::option")]
    pub log_z_upper: Option<f64>,
    /// KL(q‖p) is at least this, and at most that, each with a probability of 95 %.
    #[serde(with = "crate::number")]
    pub kl_at_least: f64,
    #[serde(default, with = "crate::number::option")]
    pub kl_at_most: Option<f64>,
}

/// The result of `crust bread --method`: an approximation that was fitted to the real data and to simulated ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreadApproximation {
    pub run: Run,
    pub simulation: Simulated,
    /// The draws that data are simulated with.
    pub fit: Option<Fit>,
    /// The kind of approximation.
    pub method: String,
    /// T of the sandwiches.
    pub t: usize,
    /// On the real data: nobody has an exact draw, so that there is no upper bound.
    pub real: Option<FitOf>,
    /// The real data in the place of simulated ones: what these are compared with.
    pub twin: Option<FitOf>,
    pub simulated: Vec<FitOf>,
    /// KL(q‖p) over simulated data: what of the approximation lies where the posterior does not.
    pub kl_q_p: KlRange,
    /// KL(p‖q), with the exact draws: what of the posterior the approximation misses.
    pub kl_p_q: KlRange,
    pub comparison: Option<GapRank>,
    pub verdict: Verdict,
    pub partial: bool,
}

/// A fit to one dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FitOf {
    /// 0 is the real one.
    pub dataset: u32,
    pub bounds: Bounds,
    /// What forward chains say of log Z without a margin, minus the ELBO: the same for real and simulated data.
    #[serde(with = "crate::number")]
    pub gap: f64,
    /// log f − log q at the exact draw.
    #[serde(default, with = "crate::number::option")]
    pub exact_log_ratio: Option<f64>,
    pub k_hat: Option<f64>,
    pub converged: bool,
    /// Why there is no fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A mean over simulated datasets between bounds, which hold with a probability of 95 % each; datasets differ, and that
/// is counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KlRange {
    #[serde(with = "crate::number")]
    pub at_least: f64,
    #[serde(with = "crate::number")]
    pub at_most: f64,
    pub datasets: usize,
}

impl Default for KlRange {
    fn default() -> Self {
        Self { at_least: 0.0, at_most: f64::INFINITY, datasets: 0 }
    }
}

/// The gap on the real data among those on simulated ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GapRank {
    /// From 1 on; 1 is the largest gap.
    pub rank: usize,
    pub datasets: usize,
    #[serde(with = "crate::number")]
    pub p_value: f64,
    /// Whether p ≤ 0.05 is possible with so few datasets, and the case.
    pub alarm: bool,
}
