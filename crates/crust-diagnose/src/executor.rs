//! Who does units of work: this process, now; others may.

use crate::bdmc::ranks;
use crate::bread::Fitted;
use crate::checkpoint::{Halt, Journal, JournalError};
use crate::experiment::{Experiment, Group, Moves, Work};
use crate::units::{REAL, Task, Unit, UnitName, divide};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::time::Instant;

/// A unit of an experiment.
pub type UnitOf<'a, E> = Unit<'a, <E as Experiment>::Kernels, <E as Experiment>::State>;

/// A unit that is done, with the seconds that it took and its result.
#[derive(Clone, Debug)]
pub struct Done {
    pub name: UnitName,
    pub seconds: f64,
    pub value: Value,
}

/// Takes in what is done, as soon as it is.
pub type Keep<'a> = dyn FnMut(Done) -> Result<(), JournalError> + 'a;

/// Does units of work, in any order and anywhere: results depend on neither.
pub trait Executor<E: Experiment> {
    /// The experiment in this process, for what is quick.
    fn experiment(&mut self) -> &mut E;

    /// Does all units, and hands over each result when it is there.
    fn execute(&mut self, units: &[UnitOf<'_, E>], keep: &mut Keep<'_>) -> Result<(), Halt<E::Error>>;

    /// From now on data are simulated with these hyperparameters, wherever units are done.
    fn fix(&mut self, hyperparameters: &E::Hyperparameters)
    where
        E: Fitted;
}

/// One unit after the other in this process. The chains of a unit are spread over threads by the experiment.
#[derive(Debug)]
pub struct InProcess<'a, E: Experiment> {
    experiment: &'a mut E,
    fit: Fit<E>,
}

/// How a fit is done, if there are real data to fit.
type Fit<E> = Option<fn(&mut E) -> Result<Value, Halt<<E as Experiment>::Error>>>;

impl<'a, E: Experiment> InProcess<'a, E> {
    pub fn new(experiment: &'a mut E) -> Self {
        Self { experiment, fit: None }
    }

    /// For an experiment with real data.
    pub fn fitted(experiment: &'a mut E) -> Self
    where
        E: Fitted,
    {
        Self { experiment, fit: Some(|experiment| value(experiment.fit())) }
    }

    fn perform(&mut self, unit: &UnitOf<'_, E>) -> Result<Value, Halt<E::Error>> {
        match (&unit.task, self.fit) {
            (Task::Fit, Some(fit)) => fit(self.experiment),
            _ => perform(self.experiment, unit),
        }
    }
}

impl<E: Experiment> Executor<E> for InProcess<'_, E> {
    fn experiment(&mut self) -> &mut E {
        self.experiment
    }

    fn execute(&mut self, units: &[UnitOf<'_, E>], keep: &mut Keep<'_>) -> Result<(), Halt<E::Error>> {
        for unit in units {
            self.experiment.announce(&unit.title(), unit.transitions());
            if self.experiment.interrupted() {
                return Err(Halt::Interrupted);
            }
            let begin = Instant::now();
            let result = self.perform(unit);
            // an error may be the echo of an interruption
            if self.experiment.interrupted() {
                return Err(Halt::Interrupted);
            }
            let done = Done { name: unit.name(), seconds: begin.elapsed().as_secs_f64(), value: result? };
            keep(done).map_err(Halt::Journal)?;
        }
        Ok(())
    }

    fn fix(&mut self, hyperparameters: &E::Hyperparameters)
    where
        E: Fitted,
    {
        self.experiment.fix(hyperparameters);
    }
}

/// Does any unit but a fit, which needs an experiment with real data. Nothing needs to have been simulated before.
pub fn perform<E: Experiment>(experiment: &mut E, unit: &UnitOf<'_, E>) -> Result<Value, Halt<E::Error>> {
    let dataset = unit.dataset;
    if dataset != REAL {
        experiment.simulate(dataset).map_err(Halt::Work)?;
    }
    match &unit.task {
        Task::Fit => Err(Halt::NoRealData),
        Task::Pilot => value(experiment.tune(dataset)),
        Task::Starts { kernels, truth, chains, steps, fewer, .. } => {
            let starts = vec![(**truth).clone(); *chains];
            let moves = if *fewer { Moves::FewerSteps } else { Moves::Start };
            value(experiment.equilibrate(kernels, dataset, &starts, *steps, moves))
        }
        Task::Rank { kernels } => value(ranks(experiment, kernels, dataset)),
        &Task::Forward { ref kernels, t, first, chains } => {
            value(experiment.forward(kernels, Group { dataset, t, first, chains }))
        }
        &Task::Reverse { ref kernels, t, first, ref starts, .. } => {
            value(experiment.reverse(kernels, Group { dataset, t, first, chains: starts.len() }, starts))
        }
    }
}

fn value<V: serde::Serialize, X>(result: Result<V, X>) -> Result<Value, Halt<X>> {
    let result = result.map_err(Halt::Work)?;
    serde_json::to_value(&result).map_err(|error| Halt::Journal(JournalError::Value(error)))
}

/// The rung whose chains are wanted, and which of them.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    pub(crate) dataset: u32,
    pub(crate) t: usize,
    pub(crate) range: Range<usize>,
}

impl Chains {
    /// The first chains of a rung.
    pub(crate) fn first(dataset: u32, t: usize, count: usize) -> Self {
        Self { dataset, t, range: 0..count }
    }
}

/// Forward and reverse chains.
pub(crate) type BothWays = (Vec<Work>, Vec<Work>);

/// A protocol at work: what is in the journal is taken from there, everything else is handed to the executor.
pub(crate) struct Workshop<'a, X> {
    pub(crate) executor: &'a mut X,
    pub(crate) journal: &'a mut Journal,
    /// Which entry of a comparison.
    pub(crate) way: Option<u32>,
}

impl<X> Workshop<'_, X> {
    pub(crate) fn unit<'u, E: Experiment>(&self, dataset: u32, task: Task<'u, E::Kernels, E::State>) -> UnitOf<'u, E> {
        Unit { way: self.way, dataset, task }
    }

    /// The results of units, in their order.
    pub(crate) fn all<E: Experiment, V: DeserializeOwned>(
        &mut self,
        mut units: Vec<UnitOf<'_, E>>,
    ) -> Result<Vec<V>, Halt<E::Error>>
    where
        X: Executor<E>,
    {
        let names: Vec<UnitName> = units.iter().map(Unit::name).collect();
        units.retain(|unit| !self.journal.has(&unit.name().to_string()));
        if !units.is_empty() {
            let journal = &mut *self.journal;
            self.executor
                .execute(&units, &mut |done| journal.keep(&done.name.to_string(), done.seconds, done.value))?;
        }
        let value = |name: &UnitName| match self.journal.value(&name.to_string()) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(Halt::Interrupted),
            Err(error) => Err(Halt::Journal(error)),
        };
        names.iter().map(value).collect()
    }

    pub(crate) fn one<E: Experiment, V: DeserializeOwned>(&mut self, unit: UnitOf<'_, E>) -> Result<V, Halt<E::Error>>
    where
        X: Executor<E>,
    {
        self.all::<E, V>(vec![unit])?.pop().ok_or(Halt::Interrupted)
    }

    /// Units of forward chains.
    pub(crate) fn forward_units<'u, E: Experiment>(
        &self,
        kernels: &'u E::Kernels,
        chains: Chains,
    ) -> Vec<UnitOf<'u, E>> {
        let Chains { dataset, t, range } = chains;
        let unit = |(first, part): (u32, Range<usize>)| {
            self.unit::<E>(dataset, Task::Forward { kernels: Cow::Borrowed(kernels), t, first, chains: part.len() })
        };
        divide(t, range).map(unit).collect()
    }

    /// Units of reverse chains; `starts` are those of all chains from the first on.
    pub(crate) fn reverse_units<'u, E: Experiment>(
        &self,
        kernels: &'u E::Kernels,
        chains: Chains,
        starts: &'u [E::State],
        fewer: bool,
    ) -> Vec<UnitOf<'u, E>> {
        let Chains { dataset, t, range } = chains;
        let unit = |(first, part): (u32, Range<usize>)| {
            let starts = Cow::Borrowed(&starts[part]);
            self.unit::<E>(dataset, Task::Reverse { kernels: Cow::Borrowed(kernels), t, first, starts, fewer })
        };
        divide(t, range).map(unit).collect()
    }

    /// Some of the forward chains of a rung.
    pub(crate) fn forward<E: Experiment>(
        &mut self,
        kernels: &E::Kernels,
        chains: Chains,
    ) -> Result<Vec<Work>, Halt<E::Error>>
    where
        X: Executor<E>,
    {
        let units = self.forward_units::<E>(kernels, chains);
        Ok(self.all::<E, Vec<Work>>(units)?.concat())
    }

    /// Some of the chains of a rung in both directions.
    pub(crate) fn both<E: Experiment>(
        &mut self,
        kernels: &E::Kernels,
        chains: &Chains,
        starts: &[E::State],
    ) -> Result<BothWays, Halt<E::Error>>
    where
        X: Executor<E>,
    {
        let mut units = self.forward_units::<E>(kernels, chains.clone());
        let forward = units.len();
        units.extend(self.reverse_units::<E>(kernels, chains.clone(), starts, false));
        let mut all = self.all::<E, Vec<Work>>(units)?;
        let reverse = all.split_off(forward);
        Ok((all.concat(), reverse.concat()))
    }
}
