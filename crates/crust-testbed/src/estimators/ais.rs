//! Annealed importance sampling (section 3.3), its reverse (section 4.2.1), and both at once.

use std::num::NonZero;

use crust_diagnose::sandwich::{lower_bound, upper_bound};
use crust_infer::anneal::Schedule;
use crust_infer::drive::Parallelism;
use crust_infer::evidence::{OneByOne, ais, reverse_ais};
use crust_math::random::StreamKey;

use super::{DELTA, Error, Estimator, Kind, Knob, Problem, at_least, from_both_sides};
use crate::model::Model;

/// Forward AIS (Algorithm 1) with the sigmoidal schedule: log of the mean weight.
#[derive(Clone, Copy, Debug)]
pub struct Ais {
    /// T, both ends included.
    pub distributions: usize,
    pub chains: u32,
}

/// AIS from the exact draw back to the prior: minus log of the mean weight (Eqs. 28–29).
#[derive(Clone, Copy, Debug)]
pub struct ReverseAis {
    pub distributions: usize,
    pub chains: u32,
}

/// Bennett's acceptance ratio on the weights of forward and reverse chains.
#[derive(Clone, Copy, Debug)]
pub struct BothDirections {
    pub distributions: usize,
    /// In each direction.
    pub chains: u32,
}

/// Trials run in parallel, so that their chains need not.
const ONE: NonZero<usize> = NonZero::<usize>::MIN;

fn population<'a, M: Model>(problem: &Problem<'a, M>, threads: NonZero<usize>) -> OneByOne<'a, M> {
    let how = Parallelism { threads, ..Parallelism::default() };
    OneByOne::new(problem.model.clone(), how, problem.control)
}

/// log w.
fn forward<M: Model>(
    problem: &Problem<'_, M>,
    distributions: usize,
    chains: u32,
    threads: NonZero<usize>,
    key: StreamKey,
) -> Result<Vec<f64>, Error> {
    at_least("AIS", "chains", 1, chains as usize)?;
    let schedule = Schedule::sigmoid(distributions, DELTA)?;
    Ok(ais(&mut population(problem, threads), &schedule, chains, key, key)?.log_weights)
}

/// −log w. Chain numbers begin with `first_chain`.
fn reverse<M: Model>(
    problem: &Problem<'_, M>,
    distributions: usize,
    (chains, first_chain): (u32, u32),
    threads: NonZero<usize>,
    key: StreamKey,
) -> Result<Vec<f64>, Error> {
    at_least("reverse AIS", "chains", 1, chains as usize)?;
    let schedule = Schedule::sigmoid(distributions, DELTA)?;
    let starts = vec![problem.exact("reverse AIS")?.clone(); chains as usize];
    let found = reverse_ais(&mut population(problem, threads), &schedule, &starts, first_chain, key)?;
    Ok(found.log_weights.iter().map(|log| -log).collect())
}

/// log w of forward chains and −log w of reverse ones, as many of the one as of the other.
pub(crate) fn both_directions<M: Model>(
    problem: &Problem<'_, M>,
    distributions: usize,
    chains: u32,
    threads: NonZero<usize>,
    key: StreamKey,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let up = forward(problem, distributions, chains, threads, key)?;
    // Chains of the two directions share no numbers.
    let down = reverse(problem, distributions, (chains, chains), threads, key)?;
    Ok((up, down))
}

impl<M: Model> Estimator<M> for Ais {
    fn name(&self) -> &'static str {
        "AIS"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticLowerBound
    }

    fn knob(&self) -> Knob {
        Knob::new("distributions", self.distributions)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        Ok(lower_bound(&forward(problem, self.distributions, self.chains, ONE, key)?))
    }
}

impl<M: Model> Estimator<M> for ReverseAis {
    fn name(&self) -> &'static str {
        "rev AIS"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticUpperBound
    }

    fn knob(&self) -> Knob {
        Knob::new("distributions", self.distributions)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        Ok(upper_bound(&reverse(problem, self.distributions, (self.chains, 0), ONE, key)?))
    }
}

impl<M: Model> Estimator<M> for BothDirections {
    fn name(&self) -> &'static str {
        "BAR"
    }

    fn kind(&self) -> Kind {
        Kind::Estimate
    }

    fn knob(&self) -> Knob {
        Knob::new("distributions", self.distributions)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        let (up, down) = both_directions(problem, self.distributions, self.chains, ONE, key)?;
        Ok(from_both_sides(&up, &down))
    }
}
