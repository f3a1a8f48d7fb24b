//! Convergence of chains: R-hat, effective sample size, Monte Carlo standard errors and E-BFMI.
//!
//! Everything here takes chains × draws. Chains of different lengths are cut to the shortest. A statistic that does not
//! exist (constant draws, a NaN among the draws, too few draws) is NaN, as posterior's `NA`. Infinite draws have ranks,
//! but no moments.
//!
//! Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), "Rank-normalization, folding, and localization: an improved
//! R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2), is "the R-hat paper" below.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

mod autocovariance;
mod bfmi;
mod chains;
mod ess;
mod indicator;
mod mcse;
mod moments;
mod order;
mod ranks;
mod rhat;
mod statistics;
mod transform;

pub use autocovariance::autocovariance;
pub use bfmi::bfmi;
pub use ess::{ess_bulk, ess_local, ess_mad, ess_mean, ess_median, ess_quantile, ess_sd, ess_tail};
pub use mcse::{mcse_mean, mcse_median, mcse_quantile, mcse_sd};
pub use moments::{mad, mean, median, quantile, sd};
pub use rhat::{rhat, rhat_folded, rhat_identity, rhat_split, rhat_z_scale};

pub(crate) use ranks::Scores;
pub(crate) use statistics::Workspace;
