//! The fit against draws of the prior that are weighted with the likelihood.
//!
//! Where data leave much of the prior, draws of it with weights w ∝ p(y | θ) are draws of the posterior, found without a
//! chain. A mode that all chains leave at once (a spike as narrow as a needle beside a slab) shows there: each coordinate,
//! the log prior and the log likelihood must be distributed as they are over the fit. Where few draws have all of the
//! weight, as with informative data, nothing can be said, and nothing is.

use super::StanExperiment;
use super::fit::Chain;
use crate::error::Trouble;
use crust_diagnose::experiment::REAL;
use crust_infer::drive::Driver;
use crust_math::random::Purpose;
use std::time::{Duration, Instant};

/// Draws of the prior.
const DRAWS: u32 = 4000;
/// Those that tell how long one takes.
const FIRST: u32 = 100;
/// They may take so long in any case: a fit may be done in a moment.
const PATIENCE: Duration = Duration::from_secs(2);
/// Draws of the fit, of each chain.
const MOST: usize = 1000;
/// With fewer independent draws than these, weights say nothing.
const LEAST_ESS: f64 = 100.0;
/// Nor if one draw has more of the weight.
const MOST_WEIGHT: f64 = 0.03;
/// How often the comparison is wrong, at most.
const FALSE_ALARM: f64 = 1e-4;
/// A smaller share of the posterior is not worth a word.
const LEAST_SHARE: f64 = 0.05;
/// Where so many draws are expected, there is one: none has probability e⁻¹⁰.
const SURELY_SEEN: f64 = 10.0;

/// How much of the posterior the fit has elsewhere, by a quantity.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Missed {
    pub share: f64,
    pub name: String,
}

impl StanExperiment<'_> {
    /// What the weighted prior has elsewhere than the fit, if that cannot be chance. Draws may take so long.
    pub(super) fn weigh_prior(
        &mut self,
        fit: &[Chain],
        (ess, names): (f64, &[String]),
        most: Duration,
    ) -> Result<Option<Missed>, Trouble> {
        // Draws that a sampler made of the prior come again and again, so that they are worth less than they seem.
        if self.loaded.likelihood_only || self.loaded.approximate.is_some() {
            return Ok(None);
        }
        let Some(prior) = self.draws_of_prior(most) else { return Ok(None) };
        let mut driver = Driver::new(self.many(REAL)?, self.settings.how);
        let mut seen = |points: Vec<Vec<f64>>| -> Result<Vec<(Vec<f64>, f64)>, Trouble> {
            let found = driver.evaluate_points(&points, 1.0, false, &self.settings.control)?;
            let each = points.into_iter().zip(found).map(|(mut point, at)| {
                let densities = at.densities;
                point.extend([densities.log_prior, densities.log_likelihood]);
                (point, densities.log_likelihood)
            });
            Ok(each.collect())
        };
        let draws = fit.iter().flat_map(|chain| {
            let step = chain.points.len().div_ceil(MOST).max(1);
            chain.points.iter().step_by(step).cloned()
        });
        let fitted = seen(draws.collect())?;
        let prior = seen(prior)?;
        let Some(weights) = Weights::of(prior.iter().map(|(_, log)| *log)) else { return Ok(None) };
        let names = names.iter().cloned().chain(["the log prior".to_owned(), "the log likelihood".to_owned()]);
        let names: Vec<String> = names.collect();
        let own = ess.min(float(fitted.len()));
        let unseen = weights.unseen(&fitted.iter().map(|(_, log)| *log).collect::<Vec<_>>(), own);
        let fitted: Vec<Vec<f64>> = fitted.into_iter().map(|(point, _)| point).collect();
        let prior: Vec<Vec<f64>> = prior.into_iter().map(|(point, _)| point).collect();
        Ok(weights.worst((&prior, &fitted), own, unseen).map(|(i, share)| Missed { share, name: names[i].clone() }))
    }

    /// As many draws as there should be, or none if they take too long.
    fn draws_of_prior(&self, most: Duration) -> Option<Vec<Vec<f64>>> {
        let mut simulator = self.prior.clone();
        let key = self.key(Purpose::PRIOR, REAL).chain(u32::MAX);
        let begin = Instant::now();
        let mut draws = Vec::new();
        for i in 0..DRAWS {
            draws.extend(simulator.draw_parameters(None, key.step(i.into())));
            let slow = i == FIRST && begin.elapsed() * (DRAWS / FIRST) > most.max(PATIENCE);
            if slow || self.settings.control.is_interrupted() {
                return None;
            }
        }
        Some(draws)
    }
}

/// Normalised weights of which many count.
struct Weights {
    each: Vec<f64>,
    ess: f64,
    /// The largest log weight.
    top: f64,
    /// The sum of the weights, as multiples of the largest.
    total: f64,
}

impl Weights {
    fn of(logs: impl Iterator<Item = f64>) -> Option<Self> {
        let logs: Vec<f64> = logs.map(|x| if x.is_nan() { f64::NEG_INFINITY } else { x }).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let raw: Vec<f64> = logs.iter().map(|x| (x - top).exp()).collect();
        let total: f64 = raw.iter().sum();
        let each: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let ess = each.iter().map(|w| w * w).sum::<f64>().recip();
        let most = each.iter().copied().fold(0.0, f64::max);
        (ess >= LEAST_ESS && most <= MOST_WEIGHT).then_some(Self { each, ess, top, total })
    }

    /// The share of the fit that draws of the prior may not have seen, from log likelihoods of draws of the fit.
    ///
    /// Many draws of equal weight near one mode say nothing about another one that none of n draws has reached, however
    /// many they are worth. Let R be where the likelihood is above that of all draws. If the fit is right, R has the
    /// share s of the posterior that it has of the fit, and the prior has Z E[1/L; R] of it there, with E over the fit and
    /// Z = Σ w / n(1 − s). Where less than ten of n draws are expected in R, that there is none is no news.
    fn unseen(&self, fit: &[f64], ess: f64) -> f64 {
        let above: Vec<f64> = fit.iter().map(|log| log - self.top).filter(|beyond| *beyond > 0.0).collect();
        let share = float(above.len()) / float(fit.len().max(1));
        let inverse = above.iter().map(|beyond| (-beyond).exp()).sum::<f64>() / float(fit.len().max(1));
        // A fit that is in R alone has at most about 1/ESS elsewhere.
        let expected = self.total / (1.0 - share).max(ess.max(1.0).recip()) * inverse;
        if expected < SURELY_SEEN { share } else { 0.0 }
    }

    /// The quantity whose distributions are furthest apart, with their distance, if neither chance nor what draws of the
    /// prior may not have seen can be why.
    ///
    /// The distance of Kolmogorov and Smirnov from n draws is above √(ln(2/p)/2n) with probability p at most; from
    /// weighted ones it varies up to twice as much as from ESS independent draws, if those with large weights are alike.
    fn worst(&self, (prior, fit): (&[Vec<f64>], &[Vec<f64>]), ess: f64, unseen: f64) -> Option<(usize, f64)> {
        let count = prior.first()?.len();
        let apart = |i: usize| {
            let weighted = prior.iter().zip(&self.each).map(|(point, w)| (point[i], *w));
            let n = float(fit.len());
            distance(weighted.chain(fit.iter().map(|point| (point[i], -1.0 / n))).collect())
        };
        let (worst, distance) = (0..count).map(|i| (i, apart(i))).max_by(|a, b| a.1.total_cmp(&b.1))?;
        let share = distance - unseen;
        let chance = (0.5 * (2.0 * float(count) / FALSE_ALARM).ln()).sqrt() * (4.0 / self.ess + 1.0 / ess).sqrt();
        // NaN, where the fit has no effective size, is no reason to say anything
        (share > chance && share > LEAST_SHARE).then_some((worst, share))
    }
}

/// sup |F − G| from values with their weights, those of G being negative.
fn distance(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut most) = (0.0_f64, 0.0_f64);
    for equal in values.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        sum += equal.iter().map(|(_, w)| w).sum::<f64>();
        most = most.max(sum.abs());
    }
    most
}

#[expect(clippy::cast_precision_loss, reason = "draws are far fewer than 2⁵³")]
fn float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::StreamKey;

    #[test]
    fn distances_are_those_of_distribution_functions() {
        // F is uniform on {0, 1, 2, 3}, G on {2, 3}
        let values = [(0.0, 0.25), (1.0, 0.25), (2.0, 0.25), (3.0, 0.25), (2.0, -0.5), (3.0, -0.5)];
        assert!((distance(values.to_vec()) - 0.5).abs() < 1e-15);
        assert!(distance([(1.0, 0.5), (1.0, 0.5), (1.0, -1.0)].to_vec()) < 1e-15, "ties");
    }

    /// A prior N(0, 1), a likelihood N(1; x, s): the posterior is N(1/(1 + s²), s²/(1 + s²)). Fits that are right are
    /// never blamed in 1,000 runs, with all kinds of weights; one that misses a tail of 30 % always is.
    #[test]
    fn right_fits_are_not_blamed_and_missing_parts_are_found() {
        let mut found = 0;
        for run in 0..1000_u32 {
            let mut stream = StreamKey::new(3, Purpose::GENERATED).chain(run).stream();
            let s = [0.2, 0.5, 1.0, 3.0][run as usize % 4];
            let prior: Vec<Vec<f64>> = (0..2000).map(|_| vec![stream.standard_normal()]).collect();
            let Some(weights) = Weights::of(prior.iter().map(|x| -0.5 * ((x[0] - 1.0) / s).powi(2))) else { continue };
            let (mean, sd) = (1.0 / (1.0 + s * s), (s * s / (1.0 + s * s)).sqrt());
            let mut fit: Vec<Vec<f64>> = (0..800).map(|_| vec![mean + sd * stream.standard_normal()]).collect();
            assert_eq!(weights.worst((&prior, &fit), 800.0, 0.0), None, "run {run}");
            // without what is above the 70 % quantile
            fit.retain(|x| (x[0] - mean) / sd < 0.524_400_5);
            found += usize::from(weights.worst((&prior, &fit), 560.0, 0.0).is_some_and(|(_, share)| share > 0.2));
            assert!(
                s < 0.4 || weights.worst((&prior, &fit), 560.0, 0.0).is_some(),
                "run {run}, s = {s}, {}",
                weights.ess
            );
        }
        assert!(found > 740, "{found}");
    }

    /// A prior and an observation that contradict each other, both with long tails: half of the posterior is where none
    /// of thousands of draws of the prior gets, and the others are worth thousands. A fit of both halves is right, one of
    /// the far half is wrong, which is known where the far half cannot hold all that the near one has.
    #[test]
    fn what_draws_of_the_prior_do_not_reach_is_no_news() {
        let mut stream = StreamKey::new(5, Purpose::GENERATED).stream();
        let mut student = || stream.standard_normal() / (-stream.uniform().ln()).sqrt();
        let log_density = |x: f64| -1.5 * (0.5 * x * x).ln_1p();
        let prior: Vec<f64> = (0..4000).map(|_| student()).collect();
        let near: Vec<f64> = prior.iter().copied().filter(|x| x.abs() < 5.0).take(400).collect();
        let weigh = |at: f64, fit: Vec<f64>| {
            let weights = Weights::of(prior.iter().map(|x| log_density(x - at))).expect("weights that count");
            let unseen = weights.unseen(&fit.iter().map(|x| log_density(x - at)).collect::<Vec<_>>(), 200.0);
            let columns = |values: &[f64]| values.iter().map(|x| vec![*x]).collect::<Vec<_>>();
            weights.worst((&columns(&prior), &columns(&fit)), 200.0, unseen).map(|(_, share)| share)
        };
        let far = 600.0;
        let both: Vec<f64> = near.iter().flat_map(|x| [*x, far + x]).collect();
        assert_eq!(weigh(far, both), None);
        let shifted: Vec<f64> = near.iter().map(|x| x + 1.5).collect();
        assert!(weigh(far, shifted).is_some_and(|share| share > 0.3), "seen by draws of the prior");
        // 30 deviations away some ten of 4,000 draws are expected near the observation if all of the posterior is there
        let one: Vec<f64> = near.iter().map(|x| 3.0 + 0.1 * x).collect();
        assert!(weigh(3.0, one).is_some_and(|share| share > 0.1), "all within reach");
    }
}
