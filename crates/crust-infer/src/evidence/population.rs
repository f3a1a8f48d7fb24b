//! What estimators need of a state space: exact draws from the prior, a path to the posterior, and moves along it, for
//! many states at once.
//!
//! Densities on ℝᵈ are moved in lanes ([`Euclidean`](super::Euclidean)), everything else one by one
//! ([`OneByOne`](super::OneByOne)). Estimators are generic in the population, so that there is no dynamic dispatch in
//! an inner loop.

use std::cmp::Ordering;
use std::ops::Range;

use crust_math::random::{Stream, StreamKey};

use crate::anneal::{ChainOutcome, Direction, Schedule};
use crate::error::Error;

/// States with a prior to draw from.
///
/// The path `f_β` leads from the normalised prior f₀ to f₁ = prior · likelihood; it need not be geometric.
pub trait Population {
    /// A state with what is known of it.
    type Particle: Clone + Send + Sync;

    /// Exact draws from the prior. Draw k uses `key.chain(k)`.
    fn draw(&mut self, numbers: Range<u32>, key: StreamKey) -> Result<Vec<Self::Particle>, Error>;

    /// log `f_to` − log `f_from` of each; −∞ where there is no density.
    fn log_ratios(&mut self, particles: &[Self::Particle], from: f64, to: f64) -> Result<Vec<f64>, Error>;

    /// The log likelihood, if it is known without an evaluation.
    fn known_log_likelihood(&self, particle: &Self::Particle) -> Option<f64>;

    /// Evaluations of the density so far.
    fn evaluations(&self) -> u64;

    /// Why some draw had no density, in words for the user.
    fn rejection(&self) -> Option<String> {
        None
    }
}

/// Populations with a kernel at every β, settled beforehand.
pub trait Moving: Population {
    /// A chain from each start that leaves `f_β` invariant. Transition i of chain k uses `key.chain(k)`, i steps after
    /// the key's own.
    fn walk(
        &mut self,
        starts: &[&Self::Particle],
        beta: f64,
        steps: usize,
        key: StreamKey,
    ) -> Result<Walks<Self::Particle>, Error>;

    /// Annealed importance sampling from each start, in a direction, with chains numbered from a first one on.
    fn anneal(
        &mut self,
        schedule: &Schedule,
        starts: &[Self::Particle],
        direction_and_first: (Direction, u32),
        key: StreamKey,
    ) -> Result<Vec<ChainOutcome<()>>, Error>;
}

/// Chains with the states they visited.
#[derive(Clone, Debug)]
pub struct Walks<P> {
    /// After each transition: the starts are not among them.
    pub visited: Vec<Vec<P>>,
    /// Acceptance probabilities, summed over all transitions.
    pub accept: f64,
}

/// A chain's weight without its last state.
pub(super) fn forget<S>(outcome: &ChainOutcome<S>) -> ChainOutcome<()> {
    let &ChainOutcome { log_weight, accept, evaluations, divergences, rejected, .. } = outcome;
    ChainOutcome { log_weight, accept, evaluations, divergences, rejected, last: () }
}

/// The constraint of nested sampling: states whose likelihood is above a threshold C (BDMC, Eq. 45).
///
/// The paper assumes that no two states have the same likelihood. That is not so for discrete states, so each state
/// carries a label that is uniform on (0, 1) under the prior, and states are ordered by likelihood, then label. A state
/// whose likelihood *is* C is allowed with the labels above the threshold's: it keeps a share of its prior probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    pub log_likelihood: f64,
    pub label: f64,
    /// Relative difference up to which two log likelihoods are the same number that was added up in two ways.
    pub rounding: f64,
}

impl Floor {
    /// How a log likelihood compares to the threshold's.
    pub fn compare(&self, log_likelihood: f64) -> Ordering {
        let tie = (log_likelihood - self.log_likelihood).abs()
            <= self.rounding * (1.0 + self.log_likelihood.abs().min(f64::MAX));
        if tie { Ordering::Equal } else { log_likelihood.total_cmp(&self.log_likelihood) }
    }

    /// The share of a state's prior probability that satisfies the constraint, given its log likelihood: 1 above the
    /// threshold, 0 below, 1 − label at it.
    pub fn share(&self, log_likelihood: f64) -> f64 {
        match self.compare(log_likelihood) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 1.0 - self.label,
            Ordering::Less => 0.0,
        }
    }
}

/// Live points in rising order, of which those from a number on are above the floor.
#[derive(Clone, Copy, Debug)]
pub struct Crowd<'a, P> {
    pub particles: &'a [P],
    pub log_likelihoods: &'a [f64],
    /// The number of those that are not above the floor.
    pub below: usize,
}

/// Populations that move within the constrained prior, for nested sampling.
pub trait Climbing: Population {
    /// The relative rounding error of a log likelihood: 0 if equal states have equal ones.
    const ROUNDING: f64;

    /// Chains that leave prior · [`Floor::share`] invariant, each from the live point of a number, with a stream of its
    /// own.
    fn climb(
        &mut self,
        crowd: Crowd<'_, Self::Particle>,
        floor: &Floor,
        steps: usize,
        starts: Vec<(usize, Stream)>,
    ) -> Result<Climbers<Self::Particle>, Error>;
}

/// States above a floor.
#[derive(Clone, Debug)]
pub struct Climbers<P> {
    /// With their log likelihoods.
    pub ends: Vec<(P, f64)>,
    /// The mean acceptance probability.
    pub accept: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_share_ties() {
        let floor = Floor { log_likelihood: -2000.0, label: 0.75, rounding: 1e-11 };
        assert!((floor.share(-2000.0 + 1e-9) - 0.25).abs() < 1e-15, "a tie up to rounding");
        assert!(floor.share(-2000.0 + 1e-6) >= 1.0 && floor.share(-2000.0 - 1e-6) <= 0.0);
        assert!(floor.share(f64::NEG_INFINITY) <= 0.0 && floor.share(f64::NAN.copysign(-1.0)) <= 0.0);
        let all = Floor { log_likelihood: f64::NEG_INFINITY, label: 0.0, ..floor };
        assert!(all.share(-1e300) >= 1.0);
        let exact = Floor { rounding: 0.0, ..floor };
        assert!(exact.share(-2000.0 + 1e-9) >= 1.0 && (exact.share(-2000.0) - 0.25).abs() < 1e-15);
    }
}
