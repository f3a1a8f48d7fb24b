//! A model of the testbed as an experiment of the protocols: bidirectional Monte Carlo for states of any kind.
//!
//! Kernels are the model's own and need no tuning; the schedule is the sigmoidal one of section 6.2.

use std::collections::BTreeMap;

use crust_diagnose::experiment::{Densities, Experiment, Group, Moves, REAL, Work};
use crust_diagnose::result::KernelAt;
use crust_infer::anneal::{
    BadSchedule, ChainOutcome, Direction, Launch, Schedule, anneal_system, draw_initial, equilibrate_system,
};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error as InferError;
use crust_infer::target::Fatal;
use crust_math::random::{Purpose, StreamKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::estimators::DELTA;
use crate::model::Simulate;

/// A model at some setting, whose data are simulated.
#[derive(Debug)]
pub struct Bidirectional<'a, M: Simulate> {
    setting: M::Setting,
    seed: u64,
    how: Parallelism,
    control: &'a Control,
    /// Simulated data that are in memory.
    models: BTreeMap<u32, M>,
}

/// Why there are no chains.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error("dataset {0} has not been simulated")]
    NotSimulated(u32),
}

impl From<Fatal> for Trouble {
    fn from(fatal: Fatal) -> Self {
        Self::Infer(fatal.into())
    }
}

/// Datasets that stay in memory.
const KEEP: usize = 32;

impl<'a, M: Simulate> Bidirectional<'a, M> {
    pub fn new(setting: M::Setting, seed: u64, how: Parallelism, control: &'a Control) -> Self {
        Self { setting, seed, how, control, models: BTreeMap::new() }
    }

    /// The model with the data of a dataset.
    pub fn model(&self, dataset: u32) -> Result<&M, Trouble> {
        self.models.get(&dataset).ok_or(Trouble::NotSimulated(dataset))
    }

    fn key(&self, purpose: Purpose, dataset: u32) -> StreamKey {
        StreamKey::new(self.seed, purpose).dataset(dataset)
    }

    fn anneal(&self, group: Group, direction: Direction, starts: &[M::State]) -> Result<Vec<Work>, Trouble> {
        let purpose = if direction == Direction::Forward { Purpose::FORWARD } else { Purpose::REVERSE };
        let key = self.key(purpose, group.dataset);
        let run = Launch { direction, first_chain: group.first, key, how: self.how, control: self.control };
        let schedule = Schedule::sigmoid(group.t, DELTA)?;
        let outcomes = anneal_system(self.model(group.dataset)?, &schedule, starts, &run)?;
        let work = |outcome: &ChainOutcome<M::State>| Work {
            log_weight: outcome.log_weight,
            accept: outcome.accept,
            evaluations: outcome.evaluations,
            divergences: outcome.divergences,
            rejected: outcome.rejected,
        };
        Ok(outcomes.iter().map(work).collect())
    }
}

impl<M> Experiment for Bidirectional<'_, M>
where
    M: Simulate,
    M::State: Serialize + DeserializeOwned,
{
    type Error = Trouble;
    type Kernels = ();
    type State = M::State;

    fn interrupted(&self) -> bool {
        self.control.is_interrupted()
    }

    fn simulate(&mut self, dataset: u32) -> Result<M::State, Trouble> {
        if dataset == REAL {
            return Err(Trouble::NotSimulated(dataset));
        }
        let mut stream = self.key(Purpose::DATA, dataset).stream();
        let (model, state) = M::simulate(&self.setting, &mut stream)?;
        if !self.models.contains_key(&dataset) {
            while self.models.len() >= KEEP {
                self.models.pop_last();
            }
            self.models.insert(dataset, model);
        }
        Ok(state)
    }

    fn tune(&mut self, _dataset: u32) -> Result<(), Trouble> {
        Ok(())
    }

    fn table(&self, (): &()) -> Vec<KernelAt> {
        vec![]
    }

    fn forward(&mut self, (): &(), group: Group) -> Result<Vec<Work>, Trouble> {
        let chains = u32::try_from(group.chains).unwrap_or(u32::MAX);
        let key = self.key(Purpose::PRIOR, group.dataset).step(group.t as u64);
        let starts = draw_initial(&mut self.model(group.dataset)?.clone(), chains, group.first, key)?;
        self.anneal(group, Direction::Forward, &starts)
    }

    fn reverse(&mut self, (): &(), group: Group, starts: &[M::State]) -> Result<Vec<Work>, Trouble> {
        self.anneal(group, Direction::Reverse, starts)
    }

    fn equilibrate(
        &mut self,
        (): &(),
        dataset: u32,
        starts: &[M::State],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<M::State>, Trouble> {
        /// Chains of one use have numbers below this.
        const USES: u32 = 1 << 24;
        let direction = if moves == Moves::Hub { Direction::Reverse } else { Direction::Forward };
        let first_chain = USES * moves as u32;
        let key = self.key(Purpose::KERNEL, dataset);
        let run = Launch { direction, first_chain, key, how: self.how, control: self.control };
        Ok(equilibrate_system(self.model(dataset)?, starts, steps, &run)?)
    }

    fn densities(&mut self, dataset: u32, states: &[M::State]) -> Result<Vec<Densities>, Trouble> {
        let mut model = self.model(dataset)?.clone();
        let densities = |state: &M::State| {
            let log_prior = model.log_joint(state, 0.0)?;
            Ok(Densities { log_prior, log_likelihood: model.log_likelihood(state)? })
        };
        states.iter().map(densities).collect()
    }
}
