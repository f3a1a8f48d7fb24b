//! The result of `crust sbc`.

use super::Verdict;
use crate::number::count;
use crate::sbc::Band;
use serde::{Deserialize, Serialize};

/// Whether a sampler is calibrated on simulated data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sbc {
    pub version: String,
    pub model: String,
    pub data: Option<String>,
    pub seed: u64,
    /// Where data were simulated from: `prior` or `conditional`.
    pub simulate: String,
    /// Of the real data, where simulated ones rest on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<SbcFit>,
    /// The method that is judged, in the words of the command line.
    pub method: String,
    /// Datasets that were finished.
    pub datasets: usize,
    pub wanted: usize,
    /// Datasets on which the method did not work, whatever their ranks are.
    pub troubles: Troubles,
    /// Each unconstrained parameter, the log likelihood and the log density.
    pub quantities: Vec<SbcQuantity>,
    /// Where the distribution function of uniform places lies with a probability of 95 %, for one quantity.
    pub band: Vec<Band>,
    pub verdict: Verdict,
    pub partial: bool,
}

/// How a fit by NUTS went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SbcFit {
    /// The largest R-hat, and whose it is.
    pub r_hat: f64,
    pub name: String,
    /// The smallest effective sample size.
    pub ess: f64,
}

impl SbcFit {
    /// Whether chains have met, and have so many independent draws.
    pub fn is_worth(&self, draws: usize) -> bool {
        const MOST_R_HAT: f64 = 1.05;
        const LEAST: usize = 100;
        self.r_hat <= MOST_R_HAT && self.ess >= count(draws.max(LEAST))
    }
}

/// How many datasets were hard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Troubles {
    /// Chains that had not met (R-hat above 1.05).
    pub r_hat: usize,
    /// More than one transition in a hundred diverged.
    pub divergences: usize,
    /// Nothing could be sampled at all.
    pub failed: usize,
}

/// Where exact draws of a quantity lie among the method's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SbcQuantity {
    pub name: String,
    /// Of uniformity, for this quantity alone.
    pub p_value: f64,
    /// For all quantities together (Holm).
    pub adjusted_p_value: f64,
    /// (rank + U)/(L + 1) of the exact draw, dataset by dataset.
    pub places: Vec<f64>,
    /// What the places say of the draws, where they are not uniform.
    pub fault: Option<String>,
}
