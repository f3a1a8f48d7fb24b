//! Bridge sampling with the optimal bridge (Meng and Wong 1996), from draws of the posterior and of a fitted proposal.
//!
//! With f = prior · likelihood and p = f/Z, the mean of f h over draws of q is Z times the mean of q h over draws of p,
//! for any function h. The h with the smallest error is 1/(s₁ f + s₂ Z q), with the shares s₁ and s₂ of draws from p
//! and q; since Z stands in it, the estimate is the root of
//!
//! > mean over draws of q of e^u/(s₁ e^u + s₂) = mean over draws of p of 1/(s₁ e^u + s₂), u = log f − log q − log Z,
//!
//! which is unique: the left side falls and the right side rises with Z.

use crust_math::random::{Purpose, StreamKey};
use pxfm::f_exp;

use super::posterior::Exploration;
use super::proposal::{BadProposal, Proposal};
use super::trail::look;
use super::{Particle, Shared, float, log_mean_error};
use crate::drive::Driver;
use crate::error::Error;
use crate::target::Target;

/// What bridge sampling found.
#[derive(Clone, Debug)]
pub struct Bridge {
    pub log_z: f64,
    /// From the variation of both kinds of draws; that of the posterior's from differences between chains, so that
    /// autocorrelation counts.
    pub se: f64,
    /// The mean of both sides of the equation at its root: between 0 and 1/(larger share), large where proposal and
    /// posterior are alike.
    pub overlap: f64,
    /// Fitted to the first half of each chain.
    pub proposal: Proposal,
    /// log f − log q of draws from the proposal.
    pub log_weights: Vec<f64>,
    pub evaluations: u64,
}

impl Bridge {
    /// How many draws of the proposal bring the error of importance sampling down to this, judging by those that there
    /// are.
    pub fn draws_for(&self, error: f64) -> f64 {
        float(self.log_weights.len()) * (log_mean_error(&self.log_weights) / error).powi(2)
    }
}

/// Draws of the proposal for each of the posterior's: they cost one evaluation each, without a gradient.
const PROPOSED: usize = 4;

/// Fits a proposal to the first half of each chain, draws from it, and solves the equation with the draws of the second
/// halves.
pub fn bridge<T: Target + Clone + Send>(
    target: &T,
    exploration: &Exploration,
    run: &Shared<'_>,
) -> Result<Result<Bridge, BadProposal>, Error> {
    let half = exploration.draws() / 2;
    let first: Vec<&[f64]> = exploration.chains.iter().flat_map(|chain| &chain[..half]).map(|p| &p.q[..]).collect();
    let proposal = match Proposal::fit(&first) {
        Ok(proposal) => proposal,
        Err(bad) => return Ok(Err(bad)),
    };
    let second: Vec<Vec<f64>> = exploration
        .chains
        .iter()
        .map(|chain| chain[half..].iter().map(|particle| log_weight(particle, &proposal)).collect())
        .collect();
    let count = PROPOSED * second.iter().map(Vec::len).sum::<usize>();
    // Each round of exploration has draws of its own.
    let key = StreamKey { step: exploration.draws() as u64, ..run.key.purpose(Purpose::FIT) };
    let log_weights = weigh(target, &proposal, count, key, run)?;
    let (proposed, equal) = ([log_weights], vec![0.0; second.len()]);
    let sides = [&proposed[..], &second].map(|groups| Weighted { groups, log_weights: &equal });
    let (log_z, overlap) = root(&sides[0], &sides[1], PRECISION);
    let [log_weights] = proposed;
    let se = error(&log_weights, &second, log_z, overlap);
    Ok(Ok(Bridge { log_z, se, overlap, proposal, log_weights, evaluations: count as u64 }))
}

/// log f − log q of so many draws from the proposal. Draw k uses `key.chain(k)`.
pub(super) fn weigh<T: Target + Clone + Send>(
    target: &T,
    proposal: &Proposal,
    count: usize,
    key: StreamKey,
    run: &Shared<'_>,
) -> Result<Vec<f64>, Error> {
    let points = (0..count).map(|k| proposal.draw(&mut key.chain(u32::try_from(k).unwrap_or(u32::MAX)).stream()));
    let looked = look(&mut Driver::new(target.clone(), run.how), points.collect(), run.control)?;
    Ok(looked.particles.iter().map(|particle| log_weight(particle, proposal)).collect())
}

fn log_weight(particle: &Particle, proposal: &Proposal) -> f64 {
    particle.log_joint() - proposal.log_density(&particle.q)
}

/// s₁, the share of draws from the posterior.
fn share(proposed: usize, posterior: &[Vec<f64>]) -> f64 {
    let n = float(posterior.iter().map(Vec::len).sum());
    n / (n + float(proposed))
}

/// e^u/(s₁ e^u + s₂), in the form that cannot overflow.
fn of_proposed(u: f64, s: f64) -> f64 {
    1.0 / (s + (1.0 - s) * f_exp(-u))
}

/// 1/(s₁ e^u + s₂)
fn of_posterior(u: f64, s: f64) -> f64 {
    1.0 / (s * f_exp(u) + 1.0 - s)
}

/// How exactly the equation is solved, relative to log Z.
const PRECISION: f64 = 1e-13;
/// The same for a shortfall, in nats: it is compared with errors.
const SHORTFALL_PRECISION: f64 = 1e-4;

/// Numbers of groups of draws (chains, islands) with the logarithms of the groups' weights.
pub(super) struct Weighted<'a> {
    pub groups: &'a [Vec<f64>],
    pub log_weights: &'a [f64],
}

impl Weighted<'_> {
    /// The weighted mean over groups of the mean over a group.
    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        let greatest = self.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut total) = (0.0, 0.0);
        for (group, log_weight) in self.groups.iter().zip(self.log_weights).filter(|(group, _)| !group.is_empty()) {
            let weight = f_exp(log_weight - greatest);
            total += weight;
            if weight > 0.0 {
                sum += weight * group.iter().map(|&value| of(value)).sum::<f64>() / float(group.len());
            }
        }
        sum / total
    }
}

/// By how much the ratio Z′/Z of two densities, as draws of both see it (the bridge is Bennett's acceptance ratio then),
/// is above log of the mean of f′/f, which only draws of f see. `up` and `down` are log f′ − log f at draws of f and f′.
///
/// Both have the same limit. Where f′/f has a heavy tail under f, its mean hangs on draws that are rarely made, and is
/// too low as a rule; draws of f′ are where that tail is.
pub(super) fn shortfall(up: &Weighted<'_>, down: &Weighted<'_>) -> f64 {
    let both = root(up, down, SHORTFALL_PRECISION).0;
    let greatest = up.groups.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let gap = both - greatest - up.mean(|value| f_exp(value - greatest)).ln();
    if gap.is_finite() { gap } else { 0.0 }
}

/// log Z, and both sides of the equation there.
fn root(proposed: &Weighted<'_>, posterior: &Weighted<'_>, precision: f64) -> (f64, f64) {
    let s = share(proposed.groups.iter().map(Vec::len).sum(), posterior.groups);
    let finite = || proposed.groups.iter().chain(posterior.groups).flatten().copied().filter(|v| v.is_finite());
    let (Some(least), Some(greatest)) = (finite().reduce(f64::min), finite().reduce(f64::max)) else {
        return (f64::NAN, 0.0);
    };
    let left = |log_z: f64| proposed.mean(|value| of_proposed(value - log_z, s));
    let right = |log_z: f64| posterior.mean(|value| of_posterior(value - log_z, s));
    let (mut low, mut high) = (least - 50.0, greatest + 50.0);
    while high - low > precision * (1.0 + low.abs().max(high.abs())) {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if left(middle) > right(middle) { low = middle } else { high = middle }
    }
    let log_z = f64::midpoint(low, high);
    (log_z, left(log_z))
}

/// To first order the variance of log Ẑ is (Var of the left mean + Var of the right mean)/overlap², since the
/// derivative of their difference by log Z is minus the overlap. Draws of the proposal are independent; those of the
/// posterior are so between chains.
fn error(proposed: &[f64], posterior: &[Vec<f64>], log_z: f64, overlap: f64) -> f64 {
    let s = share(proposed.len(), posterior);
    let left: Vec<f64> = proposed.iter().map(|l| of_proposed(l - log_z, s)).collect();
    let chains: Vec<Vec<f64>> =
        posterior.iter().map(|chain| chain.iter().map(|l| of_posterior(l - log_z, s)).collect()).collect();
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let all: Vec<f64> = chains.into_iter().flatten().collect();
    // Few chains may agree by chance: the error is at least that of independent draws, and as much larger as Student's
    // t distribution is wider than a normal one.
    let n = float(means.len());
    let wider = if n > 3.0 { (n - 1.0) / (n - 3.0) } else { 1.0 };
    let right = (wider * variance_of_mean(&means)).max(variance_of_mean(&all));
    (variance_of_mean(&left) + right).sqrt() / overlap
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

/// The variance of the mean of independent values.
fn variance_of_mean(values: &[f64]) -> f64 {
    let (n, centre) = (float(values.len()), mean(values));
    values.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n - 1.0) / n
}
