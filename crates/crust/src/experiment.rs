//! A Stan program as an experiment of the protocols: simulated by its generative reading, annealed with tuned kernels.

mod fit;
mod input;
pub mod output;
mod progress;

pub use input::{Input, Loaded, load};
pub use progress::Progress;

use crate::subset::{Cut, SubsetTarget, Subsets};
use crate::target::{Evaluation, PathTarget, StanTarget};
use crust_diagnose::bread::{Fitted, Size};
use crust_diagnose::experiment::{Densities, Experiment, Group, Moves, REAL, Work};
use crust_diagnose::result::{Fit, KernelAt};
use crust_engine::{EngineError, Model, SimulateError, Simulator, Values};
use crust_infer::anneal::{
    BadSchedule, Direction, Pilot, Run, Schedule, TunedKernels, anneal_target, equilibrate, tune,
};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error as InferError;
use crust_infer::kernel::Method;
use crust_infer::target::{Batch, Target};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::Data;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where the data of an experiment come from.
#[derive(Clone)]
pub enum Origin {
    /// The program's own simulator.
    Own(Box<Simulator>),
    /// Data and parameters that another program has simulated: of a comparison.
    Given { data: Box<Data>, point: Vec<f64> },
}

/// The distances between the distributions of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    Linear,
    Sigmoid,
    /// Equal steps of thermodynamic length, as the pilot run measured it.
    Adaptive,
}

/// δ of the sigmoid schedule, BDMC, section 6.2.
const DELTA: f64 = 4.0;
/// Prior draws that a pilot run begins with.
const PILOT_CHAINS: u32 = 64;
/// Simulated datasets that stay bound at the same time.
const KEEP: usize = 32;

/// How the experiment is done.
#[derive(Clone)]
pub struct Settings {
    pub seed: u64,
    pub method: Method,
    pub spacing: Spacing,
    /// The largest T of the ladder.
    pub longest: usize,
    /// The integer that counts observations, if they are added one at a time.
    pub counter: Option<String>,
    pub how: Parallelism,
    pub control: Arc<Control>,
}

/// A program with its simulator, bound to one dataset after the other.
pub struct StanExperiment<'a> {
    loaded: &'a Loaded,
    settings: Settings,
    origin: Origin,
    /// Draws from the prior; also where the data are given.
    prior: Simulator,
    models: BTreeMap<u32, Arc<Model>>,
    /// The subsets of one dataset, the last that was annealed.
    subsets: Option<(u32, Arc<Subsets<'a>>)>,
    /// η, once it is fitted.
    fixed: Option<Values>,
    progress: Progress,
}

/// Why an experiment cannot go on.
#[derive(Debug)]
pub enum Trouble {
    Engine(EngineError),
    Simulate(SimulateError),
    Infer(InferError),
    Schedule(BadSchedule),
    /// There is nothing to simulate or anneal.
    NotThere(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Simulate(error) => error.fmt(f),
            Self::Infer(error) => error.fmt(f),
            Self::Schedule(error) => error.fmt(f),
            Self::NotThere(what) => f.write_str(what),
        }
    }
}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for Trouble {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}
from!(EngineError => Engine, SimulateError => Simulate, InferError => Infer, BadSchedule => Schedule);

impl<'a> StanExperiment<'a> {
    pub fn new(loaded: &'a Loaded, settings: Settings, origin: Origin, progress: Progress) -> Self {
        let prior = loaded.simulator.clone();
        Self { loaded, settings, origin, prior, models: BTreeMap::new(), subsets: None, fixed: None, progress }
    }

    /// Binds the real data.
    pub fn with_real_data(mut self) -> Result<Self, Trouble> {
        let model = self.loaded.bind(&self.loaded.data, self.settings.seed)?;
        self.models.insert(REAL, Arc::new(model));
        Ok(self)
    }

    fn key(&self, purpose: Purpose, dataset: u32) -> StreamKey {
        StreamKey::new(self.settings.seed, purpose).dataset(dataset)
    }

    fn model(&self, dataset: u32) -> Result<&Arc<Model>, Trouble> {
        let model = self.models.get(&dataset);
        model.ok_or_else(|| Trouble::NotThere(format!("dataset {dataset} has not been simulated")))
    }

    /// The posterior as the end of the geometric path, for chains one by one or many at once.
    fn posterior(&self, dataset: u32, evaluation: Evaluation) -> Result<StanTarget<'a>, Trouble> {
        let path = StanTarget::path(self.model(dataset)?, &self.loaded.reading.source, evaluation);
        Ok(path.with_hyperparameters(&self.loaded.scales))
    }

    /// The path that is annealed along.
    fn path(&mut self, dataset: u32) -> Result<PathTarget<'a>, Trouble> {
        let Some(name) = self.settings.counter.clone() else {
            return Ok(PathTarget::Geometric(self.posterior(dataset, Evaluation::of_many(self.model(dataset)?))?));
        };
        let subsets = match &self.subsets {
            Some((number, subsets)) if *number == dataset => Arc::clone(subsets),
            _ => {
                let data = if dataset == REAL { self.loaded.data.clone() } else { self.draw(dataset)?.1 };
                let witness =
                    self.prior.draw_parameters(None, self.key(Purpose::PRIOR, dataset).chain(u32::MAX - 1))?;
                let cut = Cut::along(self.program(), &name).map_err(Trouble::NotThere)?;
                let model = self.model(dataset)?;
                let how = (self.settings.seed, Evaluation::of_many(model));
                let subsets = Subsets::new((self.loaded, cut), data, model, witness, how);
                Arc::new(subsets.map_err(Trouble::NotThere)?)
            }
        };
        self.subsets = Some((dataset, Arc::clone(&subsets)));
        Ok(PathTarget::Subset(Box::new(SubsetTarget::new(&subsets, &self.loaded.scales))))
    }

    fn schedule(&self, kernels: &TunedKernels, t: usize) -> Result<Schedule, BadSchedule> {
        match self.settings.spacing {
            Spacing::Linear => Schedule::linear(t),
            Spacing::Sigmoid => Schedule::sigmoid(t, DELTA),
            Spacing::Adaptive => Schedule::from_pilot(t, kernels),
        }
    }

    /// Draws from the prior for some chains; `step` tells uses apart.
    fn prior_draws(&mut self, dataset: u32, chains: std::ops::Range<u32>, step: u64) -> Result<Vec<Vec<f64>>, Trouble> {
        let key = self.key(Purpose::PRIOR, dataset).step(step);
        chains.map(|k| Ok(self.prior.draw_parameters(None, key.chain(k))?)).collect()
    }

    /// Parameters and data of a simulated dataset.
    pub fn draw(&mut self, dataset: u32) -> Result<(Vec<f64>, Data), Trouble> {
        // No forward chain has this number
        let key = self.key(Purpose::PRIOR, dataset).chain(u32::MAX);
        let data_key = self.key(Purpose::DATA, dataset);
        match &mut self.origin {
            Origin::Given { data, point } => Ok((point.clone(), (**data).clone())),
            Origin::Own(simulator) => {
                let point = simulator.draw_parameters(self.fixed.as_ref(), key)?;
                let data = simulator.draw_data(&point, data_key)?;
                Ok((point, data))
            }
        }
    }

    /// The number of unconstrained parameters; 0 before anything is bound.
    pub fn dimension(&self) -> usize {
        self.models.values().next().map_or(0, |model| model.dimension())
    }

    pub fn program(&self) -> &'a crust_stan::typed::Program {
        self.loaded.program()
    }

    /// Parameters by name at a point.
    pub fn parameters(&mut self, point: &[f64]) -> Result<Values, Trouble> {
        Ok(self.prior.parameters(point)?)
    }

    fn anneal(
        &mut self,
        kernels: &TunedKernels,
        group: Group,
        direction: Direction,
        starts: &[Vec<f64>],
    ) -> Result<Vec<Work>, Trouble> {
        let purpose = if direction == Direction::Forward { Purpose::FORWARD } else { Purpose::REVERSE };
        let path = self.path(group.dataset)?;
        let run = Run {
            direction,
            first_chain: group.first,
            key: self.key(purpose, group.dataset),
            how: self.settings.how,
            control: &self.settings.control,
        };
        let schedule = self.schedule(kernels, group.t)?;
        let outcomes = anneal_target(&path, kernels, &schedule, starts, &run)?;
        let work = |outcome: &crust_infer::anneal::ChainOutcome| Work {
            log_weight: outcome.log_weight,
            accept: outcome.accept,
            evaluations: outcome.evaluations,
            divergences: outcome.divergences,
            rejected: outcome.rejected,
        };
        Ok(outcomes.iter().map(work).collect())
    }
}

impl Experiment for StanExperiment<'_> {
    type Error = Trouble;
    type Kernels = TunedKernels;
    type State = Vec<f64>;

    fn interrupted(&self) -> bool {
        self.settings.control.is_interrupted()
    }

    fn simulate(&mut self, dataset: u32) -> Result<Vec<f64>, Trouble> {
        let (point, data) = self.draw(dataset)?;
        if !self.models.contains_key(&dataset) {
            // the real data and the first simulated ones are used all the time
            while self.models.len() >= KEEP {
                let Some(&last) = self.models.keys().next_back() else { break };
                self.models.remove(&last);
            }
            let model = self.loaded.bind(&data, self.settings.seed)?;
            self.models.insert(dataset, Arc::new(model));
        }
        Ok(point)
    }

    fn tune(&mut self, dataset: u32) -> Result<TunedKernels, Trouble> {
        let draws = self.prior_draws(dataset, 0..PILOT_CHAINS, 0)?;
        let pilot = Pilot { distributions: Some(self.settings.longest), ..Pilot::new(self.settings.method) };
        let key = self.key(Purpose::PILOT, dataset);
        let path = self.path(dataset)?;
        Ok(tune(&path, &draws, &pilot, key, self.settings.how, &self.settings.control)?)
    }

    fn table(&self, kernels: &TunedKernels) -> Vec<KernelAt> {
        let row = |knot: &crust_infer::anneal::Knot| KernelAt {
            beta: knot.beta,
            step_size: knot.step_size,
            accept: knot.accept,
        };
        kernels.knots().iter().map(row).collect()
    }

    fn forward(&mut self, kernels: &TunedKernels, group: Group) -> Result<Vec<Work>, Trouble> {
        let count = u32::try_from(group.chains).unwrap_or(u32::MAX);
        let starts = self.prior_draws(group.dataset, group.first..group.first + count, group.t as u64)?;
        self.anneal(kernels, group, Direction::Forward, &starts)
    }

    fn reverse(&mut self, kernels: &TunedKernels, group: Group, starts: &[Vec<f64>]) -> Result<Vec<Work>, Trouble> {
        self.anneal(kernels, group, Direction::Reverse, starts)
    }

    fn equilibrate(
        &mut self,
        kernels: &TunedKernels,
        dataset: u32,
        starts: &[Vec<f64>],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<Vec<f64>>, Trouble> {
        /// Chains of one use have numbers below this.
        const USES: u32 = 1 << 24;
        let first = USES * moves as u32;
        let key = self.key(Purpose::KERNEL, dataset);
        let path = self.path(dataset)?;
        let Settings { how, control, .. } = &self.settings;
        Ok(equilibrate(&path, kernels, starts, steps, (first, key), *how, control)?)
    }

    fn densities(&mut self, dataset: u32, points: &[Vec<f64>]) -> Result<Vec<Densities>, Trouble> {
        let mut path = self.path(dataset)?;
        let mut batch = Batch::default();
        batch.resize(path.dimension(), points.len(), false);
        batch.beta.fill(1.0);
        for (lane, point) in points.iter().enumerate() {
            point.iter().enumerate().for_each(|(row, x)| batch.x[row * points.len() + lane] = *x);
        }
        path.evaluate(&mut batch).map_err(InferError::from)?;
        let both = batch.log_prior.iter().zip(&batch.log_likelihood);
        Ok(both.map(|(&log_prior, &log_likelihood)| Densities { log_prior, log_likelihood }).collect())
    }

    fn coordinates(&self, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn announce(&mut self, what: &str, transitions: usize) {
        self.progress.begin(what, transitions);
    }
}

impl Fitted for StanExperiment<'_> {
    type Hyperparameters = Values;

    fn fit(&mut self) -> Result<(Fit, Values), Trouble> {
        let evaluation = Evaluation::of(self.model(REAL)?, fit::CHAINS as usize);
        let path = self.posterior(REAL, evaluation)?;
        let names = self.models.get(&REAL).map(|model| model.unconstrained_names()).unwrap_or_default();
        let fitted = fit::fit(&path, &names, &self.settings)?;
        let mut values = self.prior.parameters(&fitted.mean)?;
        values.retain(|name, _| self.loaded.hyperparameters.contains(name));
        let fit = Fit { hyperparameters: fit::table(&values, &self.prior.parameter_shapes()), ..fitted.fit };
        Ok((fit, values))
    }

    fn fix(&mut self, hyperparameters: &Values) {
        self.fixed = Some(hyperparameters.clone());
    }

    fn sizes(&mut self, dataset: u32) -> Result<Vec<Size>, Trouble> {
        let (_, simulated) = self.draw(dataset)?;
        let (real, program) = (&self.loaded.data, self.program());
        let size = |data: &Data, id| {
            let numbers = data.get(id).and_then(crust_stan::value::Value::to_reals)?;
            let squares: f64 = numbers.iter().map(|x| x * x).sum();
            (squares > 0.0).then_some(squares)
        };
        let compared = program.declared_in(crust_stan::ast::BlockKind::Data).filter_map(|id| {
            let ratio = (size(&simulated, id)? / size(real, id)?).sqrt();
            Some(Size { name: program.variable(id).name.clone(), ratio })
        });
        Ok(compared.collect())
    }

    fn not_fitted(&self) -> Vec<String> {
        let program = self.program();
        let names =
            program.declared_in(crust_stan::ast::BlockKind::Parameters).map(|id| program.variable(id).name.clone());
        names.filter(|name| !self.loaded.hyperparameters.contains(name)).collect()
    }
}
