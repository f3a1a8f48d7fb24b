//! A Stan program as an experiment of the protocols: simulated by its generative reading, annealed with tuned kernels.

mod anchor;
mod damping;
mod fit;
pub(crate) mod given;
mod lost;
mod path;
mod scouts;
mod way;
mod weighed;
mod whole;

pub(crate) use fit::Chain;
pub(crate) use scouts::{Place, Region, Scale, log_mass, tells_correlations, with_block_of};

pub(crate) use path::centre;
pub(crate) use whole::Whole;

use crate::annealing::PathChoice;
use crate::bread::JudgedDraws;
use crate::error::{Faults, Trouble};
use crate::generative::Generative;
use crate::session::{Observer, Progress, Unit};
use crate::subset::Subsets;
use crate::target::{Evaluation, StanTarget};
use anchor::Anchor;
use crust_diagnose::bread::{Fitted, Size, describe};
use crust_diagnose::experiment::{Densities, Experiment, Group, Moves, REAL, TWIN, Work};
use crust_diagnose::result::{Fit, KernelAt, Simulation};
use crust_engine::{Model, Simulator};
use crust_infer::anneal::{
    BadSchedule, Direction, Launch, Pilot, Schedule, TunedKernels, anneal_target, equilibrate, tune,
};
use crust_infer::drive::{Control, Driver, Evaluated, Parallelism};
use crust_infer::kernel::Method;
use crust_infer::path::{AnyPath, Path};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::Data;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Where the data of an experiment come from.
#[derive(Clone)]
pub(crate) enum Origin {
    /// The program's own simulator.
    Own(Box<Simulator>),
    /// Data and parameters that another program has simulated: of a comparison.
    Given { data: Box<Data>, point: Vec<f64> },
}

/// The distances between the distributions of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    Sigmoid,
    /// Equal steps of thermodynamic length, as the pilot run measured it.
    Adaptive,
}

/// δ of the sigmoid schedule, BDMC, section 6.2.
const DELTA: f64 = 4.0;
/// Prior draws that a pilot run begins with.
const PILOT_CHAINS: u32 = 64;
/// The same from a reference, and moves at each β.
const BRIEF_PILOT_CHAINS: u32 = 32;
const BRIEF_PILOT_MOVES: usize = 8;
/// The same where there is little time.
const LEAST_PILOT_CHAINS: u32 = 16;
const LEAST_PILOT_MOVES: usize = 6;
/// Evaluations of a chain in a pilot run from a reference, and the share of the budget that they may take.
const PILOT_EVALUATIONS: f64 = 1500.0;
const PILOT_SHARE: f64 = 0.15;
/// The share of the budget after which no chain looks for other places any more.
const SCOUT_SHARE: f64 = 0.6;
/// Simulated datasets that stay bound at the same time.
const KEEP: usize = 32;

/// How the experiment is done.
#[derive(Clone)]
pub(crate) struct Settings<'a> {
    pub seed: u64,
    pub method: Method,
    pub spacing: Spacing,
    /// The largest T of the ladder.
    pub longest: usize,
    pub path: PathChoice,
    /// What parameters data are simulated with.
    pub simulation: Simulation,
    /// When the run began, and how many seconds it may take.
    pub began: std::time::Instant,
    pub budget: Option<f64>,
    pub how: Parallelism,
    pub control: Arc<Control>,
    pub observer: &'a dyn Observer,
    /// Where mistakes are left that end a run.
    pub faults: Faults,
    /// Whether a likelihood that is read wrongly where the posterior is ends the run after the fit, so that this can be
    /// used otherwise. It would be lost with the error else.
    pub keeps_fit: bool,
}

/// A program with its simulator, bound to one dataset after the other.
pub(crate) struct StanExperiment<'a> {
    loaded: &'a Generative<'a>,
    settings: Settings<'a>,
    origin: Origin,
    /// Draws of another run, in the place of a fit, and what is known of them.
    given: Option<(Vec<Chain>, JudgedDraws)>,
    /// Draws from the prior; also where the data are given.
    prior: Simulator,
    models: BTreeMap<u32, Arc<Model>>,
    /// The subsets of one dataset, the last that was annealed.
    subsets: Option<(u32, Arc<Subsets<'a>>)>,
    /// That of the dataset in use.
    driver: Option<(u32, Driver<AnyPath<'a>>)>,
    /// One that knows the posterior only.
    end: Option<(u32, Driver<AnyPath<'a>>)>,
    /// What is kept of the fit, once there is one.
    anchor: Anchor,
    /// The first distribution of all paths, if they share it.
    shared: Option<anchor::Shared>,
    /// Why no data may be drawn, if that came out with the fit.
    misread: Option<Trouble>,
}

impl<'a> StanExperiment<'a> {
    pub fn new(loaded: &'a Generative<'a>, settings: Settings<'a>, origin: Origin) -> Self {
        let prior = loaded.simulator.clone();
        let (models, subsets, driver) = (BTreeMap::new(), None, None);
        Self {
            loaded,
            settings,
            origin,
            given: None,
            prior,
            models,
            subsets,
            driver,
            end: None,
            anchor: Anchor::default(),
            shared: None,
            misread: None,
        }
    }

    /// Takes the real data in.
    pub fn with_real_data(mut self, model: Arc<Model>) -> Self {
        self.models.insert(REAL, model);
        self
    }

    /// Takes draws of another run for the fit.
    pub fn with_fit(mut self, given: Option<(Vec<Chain>, JudgedDraws)>) -> Self {
        self.given = given;
        self
    }

    fn key(&self, purpose: Purpose, dataset: u32) -> StreamKey {
        StreamKey::new(self.settings.seed, purpose).dataset(dataset)
    }

    fn model(&self, dataset: u32) -> Result<&Arc<Model>, Trouble> {
        self.models.get(&dataset).ok_or(Trouble::NotSimulated { dataset })
    }

    /// The posterior as the end of the geometric path, for chains one by one or many at once.
    fn posterior(&self, dataset: u32, evaluation: Evaluation) -> Result<StanTarget<'a>, Trouble> {
        let path = StanTarget::path(self.model(dataset)?, self.loaded.program().text(), evaluation);
        Ok(path.reporting_to(&self.settings.faults).with_hyperparameters(&self.loaded.scales))
    }

    /// The driver along the path of a dataset. That of the last one is kept.
    fn driver(&mut self, dataset: u32) -> Result<&mut Driver<AnyPath<'a>>, Trouble> {
        let kept = self.driver.take().filter(|(of, _)| *of == dataset);
        let driver = match kept {
            Some((_, driver)) => driver,
            None => Driver::new(self.path(dataset)?, self.settings.how),
        };
        Ok(&mut self.driver.insert((dataset, driver)).1)
    }

    /// A driver for what happens at β = 1 alone, where all paths are the same: a reference need not be fitted for it.
    fn end_driver(&mut self, dataset: u32) -> Result<&mut Driver<AnyPath<'a>>, Trouble> {
        if self.settings.path != PathChoice::Reference || self.settings.simulation.rests_on_fit() {
            return self.driver(dataset);
        }
        let kept = self.end.take().filter(|(of, _)| *of == dataset);
        let driver = match kept {
            Some((_, driver)) => driver,
            None => Driver::new(AnyPath::new(self.many(dataset)?), self.settings.how),
        };
        Ok(&mut self.end.insert((dataset, driver)).1)
    }

    /// Whether an evaluation takes so long that the pilot run has to be as short as possible.
    fn is_slow(&mut self, dataset: u32) -> Result<bool, Trouble> {
        /// Evaluators learn in the first few.
        const TIMES: u32 = 3;
        let Some(budget) = self.settings.budget else { return Ok(false) };
        let points = self.first_draws(dataset, 0..BRIEF_PILOT_CHAINS, 0)?;
        let control = Arc::clone(&self.settings.control);
        let mut seconds = 0.0;
        for _ in 0..TIMES {
            let begin = std::time::Instant::now();
            self.driver(dataset)?.evaluate_points(&points, 1.0, true, &control)?;
            seconds = begin.elapsed().as_secs_f64();
        }
        Ok(PILOT_EVALUATIONS * seconds > PILOT_SHARE * budget)
    }

    fn schedule(&self, kernels: &TunedKernels, t: usize) -> Result<Schedule, BadSchedule> {
        match self.settings.spacing {
            Spacing::Linear => Schedule::linear(t),
            Spacing::Sigmoid => Schedule::sigmoid(t, DELTA),
            Spacing::Adaptive => Schedule::from_pilot(t, kernels),
        }
    }

    /// Draws from the first distribution of the path for some chains; `step` tells uses apart.
    fn first_draws(&mut self, dataset: u32, chains: std::ops::Range<u32>, step: u64) -> Result<Vec<Vec<f64>>, Trouble> {
        let key = self.key(Purpose::PRIOR, dataset).step(step);
        chains
            .map(|k| match self.driver(dataset)?.path().draw_first(&mut key.chain(k).stream()) {
                Some(point) => Ok(point),
                None => Ok(self.prior.draw_parameters(None, key.chain(k))?),
            })
            .collect()
    }

    /// Parameters and data of a simulated dataset.
    pub fn draw(&mut self, dataset: u32) -> Result<(Vec<f64>, Data), Trouble> {
        if let Some(misread) = self.misread.take() {
            return Err(misread);
        }
        // No forward chain has this number
        let key = self.key(Purpose::PRIOR, dataset).chain(u32::MAX);
        let data_key = self.key(Purpose::DATA, dataset);
        match &mut self.origin {
            Origin::Given { data, point } => Ok((point.clone(), (**data).clone())),
            Origin::Own(simulator) => {
                let point = match (self.settings.simulation, self.anchor.truth(dataset)) {
                    (Simulation::Conditional | Simulation::Nothing, Some(truth)) => truth.clone(),
                    (Simulation::Conditional | Simulation::Nothing, None) => {
                        return Err(Trouble::NotSimulated { dataset });
                    }
                    (Simulation::Fitted | Simulation::Prior, _) => {
                        simulator.draw_parameters(Some(&self.anchor.eta), key)?
                    }
                };
                if dataset == TWIN || self.settings.simulation == Simulation::Nothing {
                    return Ok((point, self.loaded.data.clone()));
                }
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
        self.loaded.typed()
    }

    /// Parameters at a point as Stan JSON, which `sample --init` and `simulate --fix` read.
    pub fn parameters_json(&mut self, point: &[f64]) -> Result<String, Trouble> {
        Ok(self.prior.parameters_json(point)?)
    }

    fn anneal(
        &mut self,
        kernels: &TunedKernels,
        group: Group,
        direction: Direction,
        starts: &[Vec<f64>],
    ) -> Result<Vec<Work>, Trouble> {
        let purpose = if direction == Direction::Forward { Purpose::FORWARD } else { Purpose::REVERSE };
        let control = Arc::clone(&self.settings.control);
        let run = Launch {
            direction,
            first_chain: group.first,
            key: self.key(purpose, group.dataset),
            how: self.settings.how,
            control: &control,
        };
        let schedule = self.schedule(kernels, group.t)?;
        let outcomes = anneal_target(self.driver(group.dataset)?, kernels, &schedule, starts, &run)?;
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
        let same = dataset == TWIN || self.settings.simulation == Simulation::Nothing;
        if let Some(real) = self.models.get(&REAL).filter(|_| same).cloned() {
            self.models.insert(dataset, real);
        }
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
        let standard = Pilot { distributions: Some(self.settings.longest), ..Pilot::new(self.settings.method) };
        // A reference is near, so that there is less to tune.
        let near = self.settings.path == PathChoice::Reference;
        let (chains, pilot) = match near {
            true if self.is_slow(dataset)? => {
                (LEAST_PILOT_CHAINS, Pilot { moves: LEAST_PILOT_MOVES, rehearse: false, most_steps: 0, ..standard })
            }
            true => (BRIEF_PILOT_CHAINS, Pilot { moves: BRIEF_PILOT_MOVES, ..standard }),
            false => (PILOT_CHAINS, standard),
        };
        let draws = self.first_draws(dataset, 0..chains, 0)?;
        let key = self.key(Purpose::PILOT, dataset);
        let control = Arc::clone(&self.settings.control);
        Ok(tune(self.driver(dataset)?, &draws, &pilot, key, &control)?)
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
        let starts = self.first_draws(group.dataset, group.first..group.first + count, group.t as u64)?;
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
        let control = Arc::clone(&self.settings.control);
        Ok(equilibrate(self.end_driver(dataset)?, kernels, starts, steps, (first, key), &control)?)
    }

    fn densities(&mut self, dataset: u32, points: &[Vec<f64>]) -> Result<Vec<Densities>, Trouble> {
        let control = Arc::clone(&self.settings.control);
        let found = self.end_driver(dataset)?.evaluate_points(points, 1.0, false, &control)?;
        let densities = |at: &Evaluated| Densities {
            log_prior: at.densities.log_prior,
            log_likelihood: at.densities.log_likelihood,
        };
        Ok(found.iter().map(densities).collect())
    }

    fn coordinates(&self, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn announce(&mut self, what: &str, transitions: usize) {
        let begin = Progress::Begin { what, total: transitions as u64, unit: Unit::Transitions };
        self.settings.observer.progress(&begin);
    }
}

impl Fitted for StanExperiment<'_> {
    type Hyperparameters = Anchor;

    fn fit(&mut self) -> Result<(Fit, Anchor), Trouble> {
        let evaluation = Evaluation::of(self.model(REAL)?, fit::CHAINS as usize);
        let path = self.posterior(REAL, evaluation)?;
        let names = self.models.get(&REAL).map(|model| model.unconstrained_names()).unwrap_or_default();
        let begin = std::time::Instant::now();
        let mut fitted = match &self.given {
            Some((chains, judged)) => given::fit(chains, judged, &names),
            None => fit::fit(&path, &names, &self.settings)?,
        };
        if !fitted.fit.unfinished {
            // They go twice for as long as the fit, since far starts take long ways, and may not take what is needed for
            // the rest.
            let left = self.settings.budget.map(|budget| SCOUT_SHARE * budget - self.seconds_before());
            let fit = begin.elapsed();
            let took = left.map_or(fit, |left| fit.min(Duration::from_secs_f64(0.5 * left.max(0.0))));
            let scouted = self.scout(&fitted.chains, took, &names)?;
            (fitted.fit.scouts, fitted.fit.scouts_elsewhere) = (scouted.scouts, scouted.elsewhere);
            fitted.fit.elsewhere_name = scouted.name;
            let missed = self.weigh_prior(&fitted.chains, (fitted.fit.least_ess, &names), took)?.unwrap_or_default();
            (fitted.fit.missed_share, fitted.fit.missed_name) = (missed.share, missed.name);
        }
        if fitted.fit.unfinished {
            return Ok((fitted.fit, Anchor::default()));
        }
        let mut values = self.prior.parameters(&fitted.mean)?;
        values.retain(|name, _| {
            self.settings.simulation == Simulation::Fitted && self.loaded.hyperparameters.contains(name)
        });
        let fit = Fit { hyperparameters: fit::table(&values, &self.prior.parameter_shapes()), ..fitted.fit };
        let anchor = Anchor::new(values, &fitted.chains);
        let proof = self.loaded.prove_at(&anchor.truths, self.settings.seed);
        match proof.map_err(|error| Trouble::Reading(Box::new(error))) {
            Err(trouble) if self.settings.keeps_fit => self.misread = Some(trouble),
            other => other?,
        }
        Ok((fit, anchor))
    }

    fn fix(&mut self, anchor: &Anchor) {
        self.anchor = anchor.clone();
        (self.shared, self.driver) = (None, None);
    }

    fn fitted_draws(&self, most: usize) -> Vec<Vec<f64>> {
        self.anchor.truths.iter().take(most).cloned().collect()
    }

    fn statistics(&mut self, dataset: u32) -> Result<Vec<(String, f64)>, Trouble> {
        let data = if dataset == REAL { self.loaded.data.clone() } else { self.draw(dataset)?.1 };
        let program = self.program();
        let outcomes = self.loaded.outcomes.iter().filter_map(|&id| {
            let numbers = data.get(id).and_then(crust_stan::value::Value::to_reals)?;
            let variable = program.variable(id);
            Some(describe(&variable.name, &numbers, variable.ty.is_int_like()))
        });
        Ok(outcomes.flatten().collect())
    }

    fn seconds_before(&self) -> f64 {
        self.settings.began.elapsed().as_secs_f64()
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
