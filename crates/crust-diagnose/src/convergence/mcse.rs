//! Monte Carlo standard errors.

use super::chains::Chains;
use super::ess::{ess_mean, ess_quantile};
use super::moments::{mean, mean_of_squares, sd};
use super::order::Order;
use crate::number::count;
use crust_math::special::inv_inc_beta;

/// Φ(−1) and Φ(1), with the digits that posterior and `ArviZ` give them.
const ONE_SIGMA: [f64; 2] = [0.158_655_3, 0.841_344_7];

/// The standard error of the mean: sd / √ESS.
pub fn mcse_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    sd(Chains::new(chains).values()) / ess_mean(chains).sqrt()
}

/// The standard error of the standard deviation, by the delta method from the variance of the squared distances from
/// the mean (Kenney & Keeping 1951).
pub fn mcse_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    let chains = Chains::new(chains);
    let centre = mean(chains.values());
    let squares = chains.map(|x| (x - centre) * (x - centre));
    let blocks: Vec<&[f64]> = squares.iter().collect();
    of_squares(squares.values(), ess_mean(&blocks))
}

/// The standard error of the standard deviation, from squared distances from the mean and their ESS.
pub(super) fn of_squares(squares: &[f64], ess: f64) -> f64 {
    let second = mean(squares);
    let fourth = mean_of_squares(squares);
    let variance_of_variance = (fourth - second * second) / ess;
    (variance_of_variance / second / 4.0).sqrt()
}

/// The standard error of the median.
pub fn mcse_median<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    mcse_quantile(chains, 0.5)
}

/// The standard error of a quantile: half of the interval between the order statistics at Φ(±1) of the beta
/// distribution of the quantile's probability, given its ESS (the R-hat paper).
pub fn mcse_quantile<C: AsRef<[f64]>>(chains: &[C], probability: f64) -> f64 {
    let ess = ess_quantile(chains, probability);
    if ess.is_nan() {
        return f64::NAN;
    }
    let draws = Order::of(Chains::new(chains).values());
    let [low, high] = ONE_SIGMA.map(|p| inv_inc_beta(ess * probability + 1.0, ess * (1.0 - probability) + 1.0, p));
    let n = count(draws.sorted().len());
    (draws.statistic((high * n).ceil()) - draws.statistic((low * n).floor())) / 2.0
}
