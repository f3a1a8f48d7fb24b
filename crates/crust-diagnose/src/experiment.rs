//! What a protocol needs of a model with its sampler: to simulate, to tune, to anneal. It knows nothing else of either.

use crate::convergence::mean;
use crate::number::count;
use crate::result::{ForwardRung, KernelAt, Rung};
use crate::sandwich::{
    bennett, jeffreys_bound, jeffreys_limit, jeffreys_quartiles, kl_forward_bound, kl_reverse_bound, lower_bound,
    quartiles, upper_bound,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

pub use crate::units::{REAL, TWIN};

/// What one chain of annealed importance sampling brought.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// log w of the direction in which it ran.
    #[serde(with = "crate::number")]
    pub log_weight: f64,
    /// The mean acceptance rate of its transitions.
    #[serde(with = "crate::number")]
    pub accept: f64,
    pub evaluations: u64,
    pub divergences: u64,
    /// Whether it met a point without density; its weight is 0.
    pub rejected: bool,
}

/// Chains that are run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub dataset: u32,
    /// T.
    pub t: usize,
    /// The number of the first chain.
    pub first: u32,
    pub chains: usize,
}

/// What transitions at β = 1 are for: each use has random numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moves {
    /// From the generating values to the starts of the reverse chains.
    Start,
    /// The same with fewer steps, for the check that their number does not matter.
    FewerSteps,
    /// From the generating values to the hub of the rank check.
    Hub,
    /// From the hub to the others.
    Spokes,
}

/// Log prior and log likelihood of a state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Densities {
    #[serde(with = "crate::number")]
    pub log_prior: f64,
    #[serde(with = "crate::number")]
    pub log_likelihood: f64,
}

/// A model, a way to simulate from it, and a family of frozen kernels. Everything is a function of the seed and of the
/// numbers of datasets and chains, so that it does not matter in which order, how often and by which process it is
/// done.
pub trait Experiment {
    type Error: Display;
    /// Tuned in a pilot run, then frozen.
    type Kernels: Clone + Serialize + DeserializeOwned;
    /// What is inferred: a point of ℝᵈ, an assignment to clusters, a cell of a grid.
    type State: Clone + Send + Sync + Serialize + DeserializeOwned;

    /// Whether the user ended the run. What is returned then is thrown away.
    fn interrupted(&self) -> bool;

    /// Draws parameters and a dataset; the parameters are an exact draw from its posterior unless hyperparameters are
    /// fixed. A second time gives the same.
    fn simulate(&mut self, dataset: u32) -> Result<Self::State, Self::Error>;

    /// A pilot run on a dataset. It must not know the generating parameters.
    fn tune(&mut self, dataset: u32) -> Result<Self::Kernels, Self::Error>;

    /// The kernels as a table.
    fn table(&self, kernels: &Self::Kernels) -> Vec<KernelAt>;

    /// Forward chains, from draws of the prior.
    fn forward(&mut self, kernels: &Self::Kernels, group: Group) -> Result<Vec<Work>, Self::Error>;

    /// Reverse chains, one from each start.
    fn reverse(
        &mut self,
        kernels: &Self::Kernels,
        group: Group,
        starts: &[Self::State],
    ) -> Result<Vec<Work>, Self::Error>;

    /// Transitions at β = 1 from each start. Those to the [hub](Moves::Hub) are the time reversal of the others, which
    /// matters for kernels that are not reversible.
    fn equilibrate(
        &mut self,
        kernels: &Self::Kernels,
        dataset: u32,
        starts: &[Self::State],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<Self::State>, Self::Error>;

    fn densities(&mut self, dataset: u32, states: &[Self::State]) -> Result<Vec<Densities>, Self::Error>;

    /// Numbers of a state whose ranks are worth a look, as many for all states.
    fn coordinates(&self, _state: &Self::State) -> Vec<f64> {
        vec![]
    }

    /// Says what is about to be done, with the number of transitions that it takes.
    fn announce(&mut self, _what: &str, _transitions: usize) {}
}

/// log w of forward chains.
pub(crate) fn estimates(forward: &[Work]) -> Vec<f64> {
    forward.iter().map(|work| work.log_weight).collect()
}

/// −log w of reverse chains.
pub(crate) fn reverse_estimates(reverse: &[Work]) -> Vec<f64> {
    reverse.iter().map(|work| -work.log_weight).collect()
}

fn mean_accept(works: &[Work]) -> f64 {
    works.iter().map(|work| work.accept).sum::<f64>() / count(works.len())
}

fn total(works: &[Work], value: impl Fn(&Work) -> u64) -> u64 {
    works.iter().map(value).sum()
}

impl Rung {
    /// The sandwich of the chains in both directions.
    pub fn new(t: usize, forward: &[Work], reverse: &[Work]) -> Self {
        let (w, r) = (estimates(forward), reverse_estimates(reverse));
        let (lower, upper) = (lower_bound(&w), upper_bound(&r));
        let bar = bennett(&w, &r);
        let (jeffreys, limit) = (jeffreys_bound(&w, &r), jeffreys_limit(&w, &r));
        let (kl_forward, kl_reverse) = (kl_forward_bound(&w, upper), kl_reverse_bound(&r, lower));
        let both = |value: fn(&Work) -> u64| total(forward, value) + total(reverse, value);
        Self {
            t,
            log_ml_lower: lower,
            log_ml_upper: upper,
            log_ml_bar: bar.log_z,
            log_ml_bar_se: bar.se,
            jeffreys_bound: jeffreys.value,
            jeffreys_se: jeffreys.se,
            jeffreys_upper: limit.upper,
            khat_forward: limit.khat_forward,
            khat_reverse: limit.khat_reverse,
            deciding: limit.deciding,
            jeffreys_quartiles: jeffreys_quartiles(&w, &r).to_vec(),
            kl_forward_bound: kl_forward.value,
            kl_forward_se: kl_forward.se,
            kl_reverse_bound: kl_reverse.value,
            kl_reverse_se: kl_reverse.se,
            accept_forward: mean_accept(forward),
            accept_reverse: mean_accept(reverse),
            evaluations: both(|work| work.evaluations),
            divergences: both(|work| work.divergences),
            rejected: both(|work| u64::from(work.rejected)),
            forward: w,
            reverse: r,
        }
    }
}

impl Rung {
    /// Takes out what there is not: a marginal likelihood where the prior has no integral, or where the weights are
    /// those of several datasets.
    pub fn without_log_ml(&mut self) {
        (self.log_ml_lower, self.log_ml_upper) = (f64::NAN, f64::NAN);
        (self.log_ml_bar, self.log_ml_bar_se) = (f64::NAN, f64::NAN);
    }

    /// About where log-ML is: by Bennett's estimate, or between the medians if the directions do not overlap.
    pub fn level(&self) -> f64 {
        let middle = f64::midpoint(quartiles(&self.forward)[1], quartiles(&self.reverse)[1]);
        [self.log_ml_bar, middle].into_iter().find(|x| x.is_finite()).unwrap_or(0.0)
    }

    /// Weights relative to a level, and no marginal likelihood.
    pub fn relative_to(&mut self, level: f64) {
        self.forward.iter_mut().chain(&mut self.reverse).for_each(|value| *value -= level);
        self.without_log_ml();
    }
}

impl ForwardRung {
    /// The median of log w, if it is finite.
    pub fn level(&self) -> f64 {
        self.quartiles.get(1).copied().filter(|x| x.is_finite()).unwrap_or(0.0)
    }

    /// Weights relative to a level, and no marginal likelihood.
    pub fn relative_to(&mut self, level: f64) {
        self.forward.iter_mut().chain(&mut self.quartiles).for_each(|value| *value -= level);
        self.log_ml_lower = f64::NAN;
    }

    pub fn new(t: usize, forward: &[Work]) -> Self {
        let w = estimates(forward);
        Self {
            t,
            log_ml_lower: lower_bound(&w),
            quartiles: quartiles(&w).to_vec(),
            accept_forward: mean_accept(forward),
            evaluations: total(forward, |work| work.evaluations),
            divergences: total(forward, |work| work.divergences),
            rejected: total(forward, |work| u64::from(work.rejected)),
            forward: w,
        }
    }
}

/// The mean over values with its standard error between them.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    (mean(values), crate::convergence::sd(values) / count(values.len()).sqrt())
}
