//! A WebPPL program as an experiment of the protocols.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crust_diagnose::experiment::{Densities, Experiment, Group, Moves, REAL, Work};
use crust_diagnose::result::{Json, KernelAt, SimulatedData};
use crust_infer::anneal::{ChainOutcome, Direction, Launch, anneal_one, equilibrate_one};
use crust_infer::drive::{Control, Parallelism};
use crust_math::random::{Purpose, StreamKey};
use crust_webppl::simulator::{Execution, Numbers, Plain, Simulator};

use super::Snapshot;
use super::crew::{Crew, Observed, Walker};
use super::pilot::{Tuned, tune};
use super::problem::{Trouble, WebPplProblem};
use crate::annealing::{KernelChoice, MethodOptions, NumberedData};
use crate::experiment::Spacing;
use crate::session::{Observer, Progress, Session, Unit};

/// How the experiment is done.
#[derive(Clone)]
pub(crate) struct Settings<'a> {
    pub seed: u64,
    pub kernel: KernelChoice,
    pub spacing: Spacing,
    pub how: Parallelism,
    pub control: Arc<Control>,
    pub observer: &'a dyn Observer,
    /// When fits are not made longer any more.
    pub fit_until: Option<Instant>,
}

impl<'a> Settings<'a> {
    pub fn new(method: MethodOptions, session: &Session<'a>) -> Self {
        Self {
            seed: session.seed,
            kernel: method.kernel,
            spacing: method.schedule.spacing(),
            how: session.parallelism(),
            control: Arc::clone(session.stop.control()),
            observer: session.observer,
            fit_until: None,
        }
    }
}

/// Where simulated data come from.
#[derive(Clone)]
pub(crate) enum Origin {
    /// The program itself.
    Own,
    /// Another program of a comparison: what is observed, and the values of the variables.
    Given { observed: Observed, parameters: Numbers },
}

/// A program, with one simulated dataset after the other.
pub(crate) struct WebPplExperiment<'a> {
    pub problem: &'a WebPplProblem,
    pub settings: Settings<'a>,
    origin: Origin,
    data: BTreeMap<u32, Observed>,
    /// η, once it is fitted.
    pub fixed: Numbers,
    /// Variables that are fitted.
    pub hyperparameters: Vec<String>,
    /// Numbers in the first state that was simulated.
    pub dimension: usize,
}

/// Simulated datasets that stay in memory.
const KEEP: usize = 64;

impl<'a> WebPplExperiment<'a> {
    pub fn new(problem: &'a WebPplProblem, settings: Settings<'a>, origin: Origin) -> Self {
        let data = BTreeMap::from([(REAL, None)]);
        let (fixed, hyperparameters) = (Numbers::new(), Vec::new());
        Self { problem, settings, origin, data, fixed, hyperparameters, dimension: 0 }
    }

    pub fn key(&self, purpose: Purpose, dataset: u32) -> StreamKey {
        StreamKey::new(self.settings.seed, purpose).dataset(dataset)
    }

    pub fn crew<'b>(&'b self, observed: &'b Observed) -> Crew<'b> {
        let Settings { seed, how, .. } = self.settings;
        Crew { problem: self.problem, seed, how, observed }
    }

    /// The machines of a dataset.
    pub fn crew_of(&self, dataset: u32) -> Result<Crew<'_>, Trouble> {
        Ok(self.crew(self.data.get(&dataset).ok_or(Trouble::NotSimulated(dataset))?))
    }

    /// One piece of work, on a thread of its own.
    pub fn once<O: Send>(
        crew: Crew<'_>,
        work: impl Fn(&mut Simulator) -> Result<O, Trouble> + Sync,
    ) -> Result<O, Trouble> {
        let mut all = crew.work(&[()], 0, |simulator, (), _| work(simulator))?;
        all.pop().ok_or(Trouble::NotSimulated(REAL))
    }

    /// Parameters and data of a dataset.
    pub fn draw(&self, dataset: u32) -> Result<(Snapshot, Observed), Trouble> {
        let key = self.key(Purpose::DATA, dataset);
        match &self.origin {
            Origin::Own => {
                let (snapshot, data) = Self::once(self.crew(&None), |simulator| {
                    let (execution, data) = simulator.simulate(&self.fixed, &mut key.stream())?;
                    Ok((execution.snapshot()?, data))
                })?;
                Ok((snapshot, Some(Arc::new(data))))
            }
            Origin::Given { observed, parameters } => {
                let work = |simulator: &mut Simulator| Ok(simulator.assign(parameters)?.snapshot()?);
                Ok((Self::once(self.crew(observed), work)?, observed.clone()))
            }
        }
    }

    /// A simulated dataset with its generating parameters, for people.
    pub fn simulated(&self, number: u32) -> Result<NumberedData, Trouble> {
        let (snapshot, observed) = self.draw(number)?;
        let values: Vec<&Plain> = observed.iter().flat_map(|values| values.iter()).collect();
        let parameters = Json(serde_json::to_string_pretty(&snapshot.by_name()).unwrap_or_default());
        let observations = serde_json::json!({ "observations": values });
        let data = Json(serde_json::to_string_pretty(&observations).unwrap_or_default() + "\n");
        Ok(NumberedData { number, simulated: SimulatedData { parameters, data } })
    }

    fn anneal(&self, tuned: &Tuned, group: Group, starts: Starts<'_>) -> Result<Vec<Work>, Trouble> {
        let (purpose, direction) = match starts {
            Starts::Prior => (Purpose::FORWARD, Direction::Forward),
            Starts::Given(_) => (Purpose::REVERSE, Direction::Reverse),
        };
        let Settings { how, control, .. } = &self.settings;
        let key = self.key(purpose, group.dataset);
        let run = Launch { direction, first_chain: group.first, key, how: *how, control };
        let schedule = tuned.schedule(group.t, self.settings.spacing)?;
        let prior = self.key(Purpose::PRIOR, group.dataset).step(group.t as u64);
        let numbers: Vec<usize> = (0..group.chains).collect();
        self.crew_of(group.dataset)?.work(&numbers, group.first, |simulator, &i, k| {
            let start = match starts {
                Starts::Prior => simulator.prior(&mut prior.chain(k).stream())?,
                Starts::Given(all) => simulator.restore(&all[i])?,
            };
            let mut walker = Walker::new(simulator, tuned);
            let outcome = anneal_one(&mut walker, &schedule, start, k, &run).map_err(|error| walker.trouble(error))?;
            Ok(work(&outcome))
        })
    }
}

/// Where chains start.
#[derive(Clone, Copy)]
enum Starts<'a> {
    Prior,
    Given(&'a [Snapshot]),
}

fn work(outcome: &ChainOutcome<Execution>) -> Work {
    Work {
        log_weight: outcome.log_weight,
        accept: outcome.accept,
        evaluations: outcome.evaluations,
        divergences: outcome.divergences,
        rejected: outcome.rejected,
    }
}

impl Experiment for WebPplExperiment<'_> {
    type Error = Trouble;
    type Kernels = Tuned;
    type State = Snapshot;

    fn interrupted(&self) -> bool {
        self.settings.control.is_interrupted()
    }

    fn simulate(&mut self, dataset: u32) -> Result<Snapshot, Trouble> {
        let (snapshot, observed) = self.draw(dataset)?;
        if self.dimension == 0 {
            self.dimension = snapshot.numbers().len();
        }
        while self.data.len() >= KEEP && !self.data.contains_key(&dataset) {
            self.data.pop_last();
        }
        self.data.insert(dataset, observed);
        Ok(snapshot)
    }

    fn tune(&mut self, dataset: u32) -> Result<Tuned, Trouble> {
        let key = self.key(Purpose::PILOT, dataset);
        let Settings { kernel, control, .. } = &self.settings;
        Self::once(self.crew_of(dataset)?, |simulator| tune(simulator, *kernel, key, control))
    }

    fn table(&self, tuned: &Tuned) -> Vec<KernelAt> {
        let row = |knot: &super::pilot::Knot| KernelAt { beta: knot.beta, step_size: knot.drift, accept: knot.accept };
        tuned.knots.iter().map(row).collect()
    }

    fn forward(&mut self, tuned: &Tuned, group: Group) -> Result<Vec<Work>, Trouble> {
        self.anneal(tuned, group, Starts::Prior)
    }

    fn reverse(&mut self, tuned: &Tuned, group: Group, starts: &[Snapshot]) -> Result<Vec<Work>, Trouble> {
        self.anneal(tuned, group, Starts::Given(starts))
    }

    fn equilibrate(
        &mut self,
        tuned: &Tuned,
        dataset: u32,
        starts: &[Snapshot],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<Snapshot>, Trouble> {
        /// Chains of one use have numbers below this.
        const USES: u32 = 1 << 24;
        let direction = if moves == Moves::Hub { Direction::Reverse } else { Direction::Forward };
        let (first_chain, key) = (USES * moves as u32, self.key(Purpose::KERNEL, dataset));
        let Settings { how, control, .. } = &self.settings;
        let run = Launch { direction, first_chain, key, how: *how, control };
        self.crew_of(dataset)?.work(starts, first_chain, |simulator, start, k| {
            let mut state = simulator.restore(start)?;
            let mut walker = Walker::new(simulator, tuned);
            equilibrate_one(&mut walker, &mut state, steps, k, &run).map_err(|error| walker.trouble(error))?;
            Ok(state.snapshot()?)
        })
    }

    fn densities(&mut self, _: u32, states: &[Snapshot]) -> Result<Vec<Densities>, Trouble> {
        let log = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
        let densities =
            |state: &Snapshot| Densities { log_prior: log(state.log_prior), log_likelihood: log(state.log_likelihood) };
        Ok(states.iter().map(densities).collect())
    }

    fn coordinates(&self, state: &Snapshot) -> Vec<f64> {
        state.numbers()
    }

    fn announce(&mut self, what: &str, transitions: usize) {
        let begin = Progress::Begin { what, total: transitions as u64, unit: Unit::Transitions };
        self.settings.observer.progress(&begin);
    }
}
