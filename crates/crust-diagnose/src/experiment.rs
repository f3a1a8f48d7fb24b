//! What a protocol needs of a model with its sampler: to simulate, to tune, to anneal. It knows nothing else of either.

use crate::checkpoint::{Halt, Journal};
use crate::convergence::mean;
use crate::number::count;
use crate::result::{ForwardRung, KernelAt, Rung};
use crate::sandwich::{
    bennett, jeffreys_bound, jeffreys_quartiles, kl_forward_bound, kl_reverse_bound, lower_bound, quartiles,
    upper_bound,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::Range;

/// The number of the real data; simulated datasets are counted from 1.
pub const REAL: u32 = 0;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Log prior and log likelihood of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Densities {
    #[serde(with = "crate::number")]
    pub log_prior: f64,
    #[serde(with = "crate::number")]
    pub log_likelihood: f64,
}

/// A model, a way to simulate from it, and a family of frozen kernels. Everything is a function of the seed and of the numbers
/// of datasets and chains, so that it does not matter in which order, how often and by which process it is done.
pub trait Experiment {
    type Error: Display;
    /// Tuned in a pilot run, then frozen.
    type Kernels: Serialize + DeserializeOwned;

    /// Whether the user ended the run. What is returned then is thrown away.
    fn interrupted(&self) -> bool;

    /// Draws parameters and a dataset; the parameters are an exact draw from its posterior unless hyperparameters are fixed.
    fn simulate(&mut self, dataset: u32) -> Result<Vec<f64>, Self::Error>;

    /// A pilot run on a dataset. It must not know the generating parameters.
    fn tune(&mut self, dataset: u32) -> Result<Self::Kernels, Self::Error>;

    /// The kernels as a table.
    fn table(&self, kernels: &Self::Kernels) -> Vec<KernelAt>;

    /// Forward chains, from draws of the prior.
    fn forward(&mut self, kernels: &Self::Kernels, group: Group) -> Result<Vec<Work>, Self::Error>;

    /// Reverse chains, one from each start.
    fn reverse(&mut self, kernels: &Self::Kernels, group: Group, starts: &[Vec<f64>])
    -> Result<Vec<Work>, Self::Error>;

    /// Transitions at β = 1 from each start.
    fn equilibrate(
        &mut self,
        kernels: &Self::Kernels,
        dataset: u32,
        starts: &[Vec<f64>],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<Vec<f64>>, Self::Error>;

    fn densities(&mut self, dataset: u32, points: &[Vec<f64>]) -> Result<Vec<Densities>, Self::Error>;

    /// Says what is about to be done, with the number of transitions that it takes.
    fn announce(&mut self, _what: &str, _transitions: usize) {}
}

/// Does one unit of work, or takes it from the journal.
pub(crate) fn unit<E: Experiment, V: Serialize + DeserializeOwned>(
    experiment: &mut E,
    journal: &mut Journal,
    name: &str,
    (what, transitions): (&str, usize),
    work: impl FnOnce(&mut E) -> Result<V, E::Error>,
) -> Result<V, Halt<E::Error>> {
    journal.unit(name, || {
        experiment.announce(what, transitions);
        if experiment.interrupted() {
            return Ok(None);
        }
        match work(experiment) {
            // an error may be the echo of an interruption
            _ if experiment.interrupted() => Ok(None),
            result => result.map(Some),
        }
    })
}

/// Transitions of a group at most: what a killed run has to do again.
const UNIT: usize = 100_000;
/// Groups of some of the chains are multiples of this: two threads have full vector registers then.
const FEWEST: usize = 16;

/// Divides the chains of a rung into units. The division depends on nothing that may change between a run and its resumption.
pub(crate) fn groups(dataset: u32, t: usize, chains: Range<usize>) -> Vec<Group> {
    let most = (UNIT / t.max(1)).clamp(FEWEST, chains.len().max(FEWEST));
    let each = if most < chains.len() { most / FEWEST * FEWEST } else { most };
    let end = chains.end;
    chains
        .step_by(each)
        .filter_map(|first| {
            let chains = each.min(end - first);
            u32::try_from(first).ok().map(|first| Group { dataset, t, first, chains })
        })
        .collect()
}

/// The names of units, in which the entries of a comparison are kept apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) prefix: &'a str,
}

impl Names<'_> {
    pub(crate) fn rung(self, dataset: u32, t: usize, direction: &str) -> String {
        format!("{}anneal/{dataset}/{t}/{direction}/", self.prefix)
    }

    pub(crate) fn other(self, what: &str, dataset: u32) -> String {
        format!("{}{what}/{dataset}", self.prefix)
    }

    fn title(dataset: u32) -> String {
        if dataset == REAL { "the data".to_owned() } else { format!("simulated data {dataset}") }
    }
}

/// All forward chains of a rung.
pub(crate) fn forward<E: Experiment>(
    experiment: &mut E,
    journal: &mut Journal,
    names: Names<'_>,
    kernels: &E::Kernels,
    (dataset, t, chains): (u32, usize, usize),
) -> Result<Vec<Work>, Halt<E::Error>> {
    forward_part(experiment, journal, names, kernels, (dataset, t, 0..chains))
}

/// Some of the forward chains of a rung.
pub(crate) fn forward_part<E: Experiment>(
    experiment: &mut E,
    journal: &mut Journal,
    names: Names<'_>,
    kernels: &E::Kernels,
    (dataset, t, chains): (u32, usize, Range<usize>),
) -> Result<Vec<Work>, Halt<E::Error>> {
    let mut all = Vec::with_capacity(chains.len());
    let what = format!("forward, T = {t}, {}", Names::title(dataset));
    for group in groups(dataset, t, chains) {
        let name = names.rung(dataset, t, "forward") + &group.first.to_string();
        let work = |e: &mut E| e.forward(kernels, group);
        all.extend(unit::<E, Vec<Work>>(experiment, journal, &name, (&what, group.chains * t), work)?);
    }
    Ok(all)
}

/// Whether the forward chains of a rung are all in the journal.
pub(crate) fn forward_is_done(journal: &Journal, names: Names<'_>, (dataset, t, chains): (u32, usize, usize)) -> bool {
    let name = |group: Group| names.rung(dataset, t, "forward") + &group.first.to_string();
    groups(dataset, t, 0..chains).into_iter().all(|group| journal.has(&name(group)))
}

/// All reverse chains of a rung, one from each start.
pub(crate) fn reverse<E: Experiment>(
    experiment: &mut E,
    journal: &mut Journal,
    names: Names<'_>,
    kernels: &E::Kernels,
    (dataset, t, direction): (u32, usize, &str),
    starts: &[Vec<f64>],
) -> Result<Vec<Work>, Halt<E::Error>> {
    reverse_part(experiment, journal, names, kernels, (dataset, t, direction), (0, starts))
}

/// Some of the reverse chains of a rung, from a number on: the starts are those of all.
pub(crate) fn reverse_part<E: Experiment>(
    experiment: &mut E,
    journal: &mut Journal,
    names: Names<'_>,
    kernels: &E::Kernels,
    (dataset, t, direction): (u32, usize, &str),
    (first, starts): (usize, &[Vec<f64>]),
) -> Result<Vec<Work>, Halt<E::Error>> {
    let mut all = Vec::with_capacity(starts.len());
    let what = format!("{direction}, T = {t}, {}", Names::title(dataset));
    for group in groups(dataset, t, first..starts.len()) {
        let name = names.rung(dataset, t, direction) + &group.first.to_string();
        let from = group.first as usize;
        let work = |e: &mut E| e.reverse(kernels, group, &starts[from..from + group.chains]);
        all.extend(unit::<E, Vec<Work>>(experiment, journal, &name, (&what, group.chains * t), work)?);
    }
    Ok(all)
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
        let jeffreys = jeffreys_bound(&w, &r);
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

impl ForwardRung {
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
