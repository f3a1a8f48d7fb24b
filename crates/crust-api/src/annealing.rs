//! What `bdmc`, `bread` and `compare` have in common: options, the journal, and what came of a run.

use crate::error::{Error, Faults, Trouble};
use crate::experiment::{Settings, Spacing, StanExperiment};
use crate::folder::claim_for_journal;
use crate::generative::{Generation, Generative};
use crate::problem::Problem;
use crate::session::Session;
use crate::subset::Cut;
use crust_diagnose::checkpoint::{Identity, Journal};
use crust_diagnose::ladder::Ladder;
use crust_diagnose::result::{Json, Run, SimulatedData, Simulation, Timing};
use crust_infer::kernel::{Length, MAX_ENERGY_ERROR, Method};
use crust_stan::data::write_json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of annealing.
#[derive(Clone, Debug)]
pub struct Annealing {
    /// How many chains in each direction.
    pub chains: usize,
    /// The ladder of T; the standard one if it is empty.
    pub steps: Vec<usize>,
    /// None for what is best where it can be had.
    pub path: Option<PathChoice>,
    /// Climb no further once the bound on the divergence is at most so many nats.
    pub tolerance: f64,
    /// A bound above so many nats is a bad diagnosis.
    pub max_divergence: Option<f64>,
    pub generation: Generation,
    /// Where finished units of work are kept: a run that was ended goes on from there. Nothing is kept without a
    /// folder.
    pub folder: Option<PathBuf>,
}

impl Default for Annealing {
    fn default() -> Self {
        Self {
            chains: 100,
            steps: Vec::new(),
            path: None,
            tolerance: 0.1,
            max_divergence: None,
            generation: Generation::default(),
            folder: None,
        }
    }
}

/// From which distribution to the posterior, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathChoice {
    /// The geometric path from the prior.
    Prior,
    /// The geometric path from a distribution that was fitted to draws of a pilot run on the same data.
    Reference,
    /// From the prior through a damped likelihood.
    Damped,
    /// Observations are added one at a time; the integer that counts them.
    Data(String),
}

impl PathChoice {
    /// As the command line has it.
    pub fn name(&self) -> String {
        match self {
            Self::Prior => "prior".to_owned(),
            Self::Reference => "reference".to_owned(),
            Self::Damped => "damped".to_owned(),
            Self::Data(counter) => format!("data:{counter}"),
        }
    }
}

/// How chains move, and how far apart the distributions are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodOptions {
    pub kernel: KernelChoice,
    pub schedule: ScheduleChoice,
}

/// How chains move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelChoice {
    /// Hamiltonian Monte Carlo with short trajectories.
    #[default]
    Hmc,
    /// The No-U-Turn sampler.
    Nuts,
    /// Random-walk Metropolis, which needs no gradient.
    Rwm,
    /// Metropolis–Hastings that draws one choice of a WebPPL program again from the prior; for Stan programs the same
    /// as [`Self::Rwm`].
    Mh,
}

/// How the distributions are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleChoice {
    /// Equal steps of β.
    Linear,
    /// Small steps at both ends.
    Sigmoid,
    /// Equal steps of thermodynamic length, as a pilot run measures it.
    #[default]
    Adaptive,
}

/// What a result says about the inference, as an exit code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    Fine,
    /// A failed gate, or bounds that contradict each other.
    Bad,
    /// The run was stopped; what was finished is in the result.
    Partial,
}

/// What came of a protocol.
#[derive(Clone, Debug)]
pub struct Annealed<R> {
    pub result: R,
    pub timing: Timing,
    pub diagnosis: Diagnosis,
    /// Simulated datasets of the result; only where there is a folder, since there may be many.
    pub simulated: Vec<NumberedData>,
}

/// A simulated dataset with its number.
#[derive(Clone, Debug)]
pub struct NumberedData {
    pub number: u32,
    pub simulated: SimulatedData,
}

/// A bound that is called good unless the user says otherwise: one nat, as in the figures of the BREAD paper.
pub(crate) const ACCEPTABLE: f64 = 1.0;

/// Everything that results depend on.
pub(crate) fn identity<'a>(options: &'a str, loaded: &'a Generative<'_>) -> Vec<&'a str> {
    let mut inputs = vec![options];
    inputs.extend(loaded.texts.iter().map(String::as_str));
    inputs
}

/// Makes the folder and opens the journal in it; without a folder nothing is kept.
pub(crate) fn journal(folder: Option<&Path>, inputs: &[&str]) -> Result<Journal, Error> {
    let Some(folder) = folder else { return Ok(Journal::in_memory()) };
    claim_for_journal(folder)?;
    Ok(Journal::open(folder, &Identity::of(inputs))?)
}

/// A simulated dataset with its generating parameters.
pub(crate) fn simulated(experiment: &mut StanExperiment<'_>, number: u32) -> Result<NumberedData, Trouble> {
    let (point, data) = experiment.draw(number)?;
    let parameters = experiment.parameters_json(&point)?;
    let data = write_json(experiment.program(), &data);
    Ok(NumberedData { number, simulated: SimulatedData { parameters: Json(parameters), data: Json(data) } })
}

impl Annealing {
    /// What types do not say.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some([a, b]) = self.steps.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::option("steps", "", format!("must rise, but {a} comes before {b}")));
        }
        if let Some(few) = self.steps.iter().find(|&&t| t < 2) {
            return Err(Error::option(
                "steps",
                few,
                "a path has at least 2 distributions, the prior and the posterior",
            ));
        }
        if self.chains < 2 {
            return Err(Error::option("chains", self.chains, "must be at least 2"));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::option("tolerance", self.tolerance, "nats must not be negative"));
        }
        match self.max_divergence {
            Some(most) if most.is_nan() || most < 0.0 => {
                Err(Error::option("max-divergence", most, "nats must not be negative"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the program has the path that is asked for.
    pub(crate) fn check_path(&self, loaded: &Generative<'_>) -> Result<(), Error> {
        let Some(PathChoice::Data(name)) = &self.path else { return Ok(()) };
        let found = Cut::along(loaded.typed(), name).and_then(|cut| cut.observations(&loaded.data));
        found.map(|_| ()).map_err(|error| Error::Path { counter: name.clone(), error })
    }

    /// The path that the user wants, or another one.
    pub(crate) fn path_or(&self, other: &PathChoice) -> PathChoice {
        self.path.clone().unwrap_or_else(|| other.clone())
    }

    pub(crate) fn acceptable(&self) -> f64 {
        self.max_divergence.unwrap_or(ACCEPTABLE)
    }

    /// The ladder as told, or the standard one.
    pub(crate) fn ladder(&self) -> Ladder {
        if self.steps.is_empty() { Ladder::default() } else { Ladder::exactly(self.steps.clone()) }
    }

    /// The options that results depend on, beside those of the plan.
    pub(crate) fn identity(&self, seed: u64) -> String {
        let hyper = &self.generation.hyper;
        format!("{seed} {hyper:?} {}", self.path_or(&PathChoice::Prior).name())
    }

    pub(crate) fn settings<'a>(&self, method: MethodOptions, session: &Session<'a>) -> Settings<'a> {
        Settings {
            seed: session.seed,
            method: method.kernel.method(),
            spacing: method.schedule.spacing(),
            longest: self.ladder().steps.last().copied().unwrap_or(0),
            path: self.path_or(&PathChoice::Prior),
            simulation: Simulation::Prior,
            began: std::time::Instant::now(),
            budget: None,
            how: session.parallelism(),
            control: Arc::clone(session.stop.control()),
            observer: session.observer,
            faults: Faults::default(),
            keeps_fit: false,
        }
    }

    pub(crate) fn run(&self, problem: &Problem, seed: u64, dimension: usize) -> Run {
        self.run_of(problem.program().file_name(), problem.data_file_name().unwrap_or_default(), seed, dimension)
    }

    /// The same for a program and data of these names.
    pub(crate) fn run_of(&self, model: String, data: String, seed: u64, dimension: usize) -> Run {
        let mut options = BTreeMap::new();
        if let Some(simulator) = &self.generation.simulator {
            options.insert("simulator".to_owned(), simulator.file_name());
        }
        if let Some(hyper) = &self.generation.hyper {
            options.insert("hyper".to_owned(), hyper.join(","));
        }
        options.insert("path".to_owned(), self.path_or(&PathChoice::Prior).name());
        Run {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model,
            data,
            seed,
            chains: self.chains,
            steps: self.ladder().steps,
            tolerance: self.tolerance,
            dimension,
            options,
            ..Run::default()
        }
    }

    /// What results say.
    pub(crate) fn diagnosis(&self, violation: bool, partial: bool, bound: Option<f64>) -> Diagnosis {
        let gate = self.max_divergence.zip(bound).is_some_and(|(most, bound)| bound.is_nan() || bound > most);
        match (partial, violation || gate) {
            (true, _) => Diagnosis::Partial,
            (_, true) => Diagnosis::Bad,
            _ => Diagnosis::Fine,
        }
    }
}

impl MethodOptions {
    pub(crate) fn tell(self, run: &mut Run) {
        self.kernel.name().clone_into(&mut run.kernel);
        self.schedule.name().clone_into(&mut run.schedule);
    }
}

impl KernelChoice {
    pub(crate) fn method(self) -> Method {
        /// NUTS stops by itself; the limit keeps one wild trajectory from holding up all chains.
        const DEPTH: u32 = 6;
        /// Short trajectories: between two distributions of the path there is little to move.
        const LEAPFROG_STEPS: u32 = 4;
        match self {
            Self::Hmc => Method::Hmc { length: Length::Steps(LEAPFROG_STEPS), max_energy_error: MAX_ENERGY_ERROR },
            Self::Nuts => Method::Nuts { max_depth: DEPTH, max_energy_error: MAX_ENERGY_ERROR },
            Self::Rwm | Self::Mh => Method::Metropolis,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Hmc => "hmc",
            Self::Nuts => "nuts",
            Self::Rwm => "rwm",
            Self::Mh => "mh",
        }
    }
}

impl ScheduleChoice {
    pub(crate) fn spacing(self) -> Spacing {
        match self {
            Self::Linear => Spacing::Linear,
            Self::Sigmoid => Spacing::Sigmoid,
            Self::Adaptive => Spacing::Adaptive,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Sigmoid => "sigmoid",
            Self::Adaptive => "adaptive",
        }
    }
}
