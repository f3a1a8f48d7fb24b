//! Pareto-smoothed importance sampling: steadier weights, and k-hat, which says whether weights can be trusted.
//!
//! Vehtari, Simpson, Gelman, Yao & Gabry (2024), "Pareto smoothed importance sampling", JMLR 25(72), is "the PSIS
//! paper" below. Numbers are those of the R package loo.

use crate::number::count;
use serde::{Deserialize, Serialize};

/// Tails shorter than this are left as they are: five values do not determine two parameters well (loo).
pub(crate) const SHORTEST_TAIL: usize = 5;
/// Grid points of Zhang & Stephens (2009) beyond √n.
const GRID_POINTS: f64 = 30.0;
/// The scale of Zhang & Stephens' prior for the grid.
const GRID_PRIOR: f64 = 3.0;
/// The weakly informative prior of k (the PSIS paper): as if 10 more values had shown k = 1/2.
const PRIOR_WEIGHT: f64 = 10.0;
const PRIOR_SHAPE: f64 = 0.5;
/// Above this k-hat no practical number of draws helps (the PSIS paper).
pub(crate) const GREATEST_GOOD_SHAPE: f64 = 0.7;

/// Smoothed weights and what they are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Psis {
    /// Smoothed log weights, normalised: their exponentials sum to 1.
    #[serde(with = "crate::number::list")]
    pub log_weights: Vec<f64>,
    /// The shape k of the generalised Pareto distribution fitted to the largest weights; infinite where none could be
    /// fitted.
    #[serde(with = "crate::number")]
    pub khat: f64,
    /// How many of the largest weights the fit used.
    pub tail_length: usize,
    /// `r_eff` / Σ w²: how many independent draws from the target the weighted ones are worth. Optimistic where k-hat
    /// is large.
    pub ess: f64,
}

impl Psis {
    /// Whether k-hat is below [`khat_threshold`] of the number of weights.
    pub fn is_reliable(&self) -> bool {
        self.khat < khat_threshold(self.log_weights.len())
    }
}

/// Weights that cannot be smoothed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PsisError {
    #[error("there are no weights")]
    Empty,
    #[error("log weight {} is {value}: a log weight is a number or −∞", .index + 1)]
    NotANumber { index: usize, value: f64 },
    #[error("every weight is 0: no draw of the proposal is possible under the target")]
    AllZero,
    #[error("the relative efficiency is {0}: it must be positive and finite")]
    RelativeEfficiency(f64),
}

/// k-hat up to which n draws give reliable estimates: min(1 − 1/log₁₀ n, 0.7) (the PSIS paper).
pub fn khat_threshold(draws: usize) -> f64 {
    (1.0 - 1.0 / count(draws).log10()).min(GREATEST_GOOD_SHAPE)
}

/// Smooths log importance ratios. `r_eff` is the relative efficiency ESS / n of the draws: 1 if they are independent.
///
/// The largest min(n/5, 3√(n/`r_eff`)) ratios are replaced by the quantiles of a generalised Pareto distribution fitted
/// to them, none above the largest ratio itself.
pub fn psis(log_ratios: &[f64], r_eff: f64) -> Result<Psis, PsisError> {
    let greatest = greatest(log_ratios)?;
    if !(r_eff > 0.0 && r_eff.is_finite()) {
        return Err(PsisError::RelativeEfficiency(r_eff));
    }
    let mut log_weights: Vec<f64> = log_ratios.iter().map(|x| x - greatest).collect();
    let tail_length = tail_length(log_weights.len(), r_eff);
    let khat = smooth(&mut log_weights, tail_length);
    let log_sum = log_weights.iter().map(|x| x.exp()).sum::<f64>().ln();
    log_weights.iter_mut().for_each(|x| *x -= log_sum);
    let ess = r_eff / log_weights.iter().map(|x| (2.0 * x).exp()).sum::<f64>();
    Ok(Psis { log_weights, khat, tail_length, ess })
}

fn greatest(log_ratios: &[f64]) -> Result<f64, PsisError> {
    let refused = |x: &f64| x.is_nan() || *x == f64::INFINITY;
    if let Some(index) = log_ratios.iter().position(refused) {
        return Err(PsisError::NotANumber { index, value: log_ratios[index] });
    }
    match log_ratios.iter().copied().reduce(f64::max) {
        None => Err(PsisError::Empty),
        Some(f64::NEG_INFINITY) => Err(PsisError::AllZero),
        Some(greatest) => Ok(greatest),
    }
}

/// The number of largest ratios that are smoothed (the PSIS paper).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a fifth of n, not negative")]
pub(crate) fn tail_length(n: usize, r_eff: f64) -> usize {
    (0.2 * count(n)).min(3.0 * (count(n) / r_eff).sqrt()).ceil() as usize
}

/// Smooths the largest of log weights whose maximum is 0, and returns k-hat.
fn smooth(log_weights: &mut [f64], tail_length: usize) -> f64 {
    if tail_length < SHORTEST_TAIL || tail_length >= log_weights.len() {
        return f64::INFINITY;
    }
    let mut order: Vec<usize> = (0..log_weights.len()).collect();
    order.sort_by(|&a, &b| log_weights[a].total_cmp(&log_weights[b]));
    let (below, tail) = order.split_at(order.len() - tail_length);
    if log_weights[tail[tail_length - 1]] - log_weights[tail[0]] < f64::EPSILON / 100.0 {
        return f64::INFINITY;
    }
    let cutoff = log_weights[below[below.len() - 1]].exp();
    let exceedances: Vec<f64> = tail.iter().map(|&i| log_weights[i].exp() - cutoff).collect();
    let Some(fit) = GeneralisedPareto::fit(&exceedances) else { return f64::INFINITY };
    for (rank, &i) in tail.iter().enumerate() {
        let probability = (count(rank) + 0.5) / count(tail_length);
        log_weights[i] = (fit.quantile(probability) + cutoff).ln().min(0.0);
    }
    fit.shape
}

/// The distribution of exceedances with survival function (1 + k x/σ)^(−1/k).
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeneralisedPareto {
    pub(crate) shape: f64,
    scale: f64,
}

impl GeneralisedPareto {
    /// Zhang & Stephens' (2009) estimate: with θ = −k/σ, the profile likelihood of θ averages over a grid, as a
    /// posterior mean. `None` where the values do not determine it. The values ascend.
    pub(crate) fn fit(values: &[f64]) -> Option<Self> {
        let n = count(values.len());
        let grid = (GRID_POINTS + n.sqrt()).floor();
        let quartile = first_quartile(values);
        let greatest = values[values.len() - 1];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
        let thetas: Vec<f64> = (0..grid as usize)
            .map(|j| 1.0 / greatest + (1.0 - (grid / (count(j) + 0.5)).sqrt()) / GRID_PRIOR / quartile)
            .collect();
        let log_likelihoods: Vec<f64> = thetas.iter().map(|&theta| n * profile(theta, values)).collect();
        let best = log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = log_likelihoods.iter().map(|l| (l - best).exp()).collect();
        let theta = thetas.iter().zip(&weights).map(|(t, w)| t * w).sum::<f64>() / weights.iter().sum::<f64>();
        let raw = mean_log1p(-theta, values);
        let scale = -raw / theta;
        let shape = (raw * n + PRIOR_WEIGHT * PRIOR_SHAPE) / (n + PRIOR_WEIGHT);
        (shape.is_finite() && scale.is_finite()).then_some(Self { shape, scale })
    }

    /// σ ((1 − p)^(−k) − 1) / k, which is −σ log(1 − p) at k = 0.
    fn quantile(&self, probability: f64) -> f64 {
        let exponential = -(-probability).ln_1p();
        if self.shape == 0.0 {
            return self.scale * exponential;
        }
        self.scale * (self.shape * exponential).exp_m1() / self.shape
    }
}

/// The value of rank ⌊n/4 + 1/2⌋, counted from 1.
fn first_quartile(ascending: &[f64]) -> f64 {
    ascending[((ascending.len() + 2) / 4).max(1) - 1]
}

/// The log likelihood per value of θ, σ profiled out: log(−θ/k) − k − 1 with k = mean log(1 − θ x).
fn profile(theta: f64, values: &[f64]) -> f64 {
    let shape = mean_log1p(-theta, values);
    (-theta / shape).ln() - shape - 1.0
}

fn mean_log1p(factor: f64, values: &[f64]) -> f64 {
    values.iter().map(|x| (factor * x).ln_1p()).sum::<f64>() / count(values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact quantiles of a Pareto distribution with shape k: the best behaved sample there is.
    fn pareto(shape: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| -shape * ((count(i) + 0.5) / count(n)).ln()).collect()
    }

    #[test]
    fn khat_finds_the_shape_and_the_weights_sum_to_one() {
        for shape in [0.2, 0.5, 0.9] {
            let result = psis(&pareto(shape, 20_000), 1.0).unwrap();
            assert!((result.khat - shape).abs() < 0.05, "{shape}: {}", result.khat);
            let sum: f64 = result.log_weights.iter().map(|x| x.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12);
            assert_eq!(result.is_reliable(), shape < 0.7);
        }
    }

    #[test]
    fn a_constant_factor_changes_nothing_and_a_permutation_permutes() {
        let ratios = pareto(0.4, 500);
        let plain = psis(&ratios, 1.0).unwrap();
        let shifted: Vec<f64> = ratios.iter().rev().map(|x| x + 512.0).collect();
        let shifted = psis(&shifted, 1.0).unwrap();
        assert!((plain.khat - shifted.khat).abs() < 1e-9);
        for (a, b) in plain.log_weights.iter().zip(shifted.log_weights.iter().rev()) {
            assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn impossible_draws_have_weight_zero() {
        let mut ratios = pareto(0.4, 200);
        ratios.extend([f64::NEG_INFINITY; 100]);
        let result = psis(&ratios, 1.0).unwrap();
        assert!(result.khat.is_finite());
        assert!(result.log_weights[200..].iter().all(|&x| x == f64::NEG_INFINITY));
        let json = serde_json::to_string(&result).unwrap();
        assert_eq!(serde_json::from_str::<Psis>(&json).unwrap(), result);
        assert_eq!(psis(&[f64::NEG_INFINITY; 30], 1.0), Err(PsisError::AllZero));
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        assert_eq!(psis(&[], 1.0), Err(PsisError::Empty));
        let error = psis(&[0.0, f64::INFINITY], 1.0).unwrap_err();
        assert_eq!(error.to_string(), "log weight 2 is inf: a log weight is a number or −∞");
        assert!(matches!(psis(&[0.0, f64::NAN], 1.0), Err(PsisError::NotANumber { index: 1, .. })));
        assert!(matches!(psis(&[0.0; 30], 0.0), Err(PsisError::RelativeEfficiency(_))));
        assert!(matches!(psis(&[0.0; 30], f64::NAN), Err(PsisError::RelativeEfficiency(_))));
    }

    #[test]
    fn one_weight_and_equal_weights_are_kept() {
        let one = psis(&[-3.0], 1.0).unwrap();
        assert_eq!((one.log_weights[0].to_bits(), one.khat), (0.0_f64.to_bits(), f64::INFINITY));
        let equal = psis(&[5.0; 64], 1.0).unwrap();
        assert!((equal.ess - 64.0).abs() < 1e-9);
    }

    #[test]
    fn the_threshold_grows_with_the_draws_up_to_0_7() {
        assert!((khat_threshold(100) - 0.5).abs() < 1e-15);
        assert!((khat_threshold(10_000) - 0.7).abs() < 1e-15);
        assert!(!psis(&[0.0], 1.0).unwrap().is_reliable());
    }
}
