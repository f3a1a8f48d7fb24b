//! `crust bdmc`: sandwiches the marginal likelihood of simulated data, and bounds the divergence from their posterior.

use crate::arguments::{Annealing, Bdmc, Common, KernelChoice, MethodOptions, PathChoice, ScheduleChoice};
use crate::experiment::{Input, Loaded, Origin, Progress, Settings, Spacing, StanExperiment, load, output};
use crate::subset::Cut;
use crate::{Outcome, terminal};
use crust_diagnose::bdmc::{self, Plan};
use crust_diagnose::ladder::Ladder;
use crust_diagnose::result::{Bdmc as BdmcResult, Results, Run};
use crust_infer::drive::Control;
use crust_infer::kernel::{Length, MAX_ENERGY_ERROR, Method};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A bound that is called good unless the user says otherwise: one nat, as in the figures of the BREAD paper.
const ACCEPTABLE: f64 = 1.0;

pub fn run(arguments: &Bdmc, common: &Common) -> Result<Outcome, String> {
    let annealing = &arguments.annealing;
    annealing.check()?;
    if let Some(wish) = arguments.bennett_error.filter(|wish| wish.is_nan() || *wish <= 0.0) {
        return Err(format!("--bennett-error {wish}: a standard error is a positive number of nats"));
    }
    terminal::check_writable(common.json.as_deref())?;
    let input = annealing.input(&arguments.model, arguments.data.as_deref(), false, common.quiet);
    let Some(loaded) = load(&input)? else { return Ok(Outcome::BadInput) };
    annealing.check_path(&loaded)?;
    let plan = Plan {
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        bennett_error: arguments.bennett_error,
        datasets: arguments.datasets,
        start_steps: arguments.start_steps,
        rank_checks: arguments.rank_checks,
        acceptable: annealing.acceptable(),
    };
    let options = format!("bdmc {plan:?} {:?} {}", arguments.method, annealing.identity());
    let mut journal = output::journal(annealing.out.as_deref(), &identity(&options, &loaded))?;
    let settings = annealing.settings(arguments.method)?;
    let progress = Progress::new(&settings.control, common.quiet);
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let mut experiment = StanExperiment::new(&loaded, settings, origin, progress.clone());
    let found = bdmc::bdmc(&mut experiment, &plan, &mut journal);
    progress.end();
    let found = match found {
        Ok(found) => found,
        Err(halt) => return output::failed(halt, &loaded),
    };
    if let Some(folder) = &annealing.out {
        for dataset in &found.datasets {
            output::write_simulated(folder, &mut experiment, dataset.number)?;
        }
    }
    let mut run = annealing.run(&arguments.model, arguments.data.as_deref(), experiment.dimension());
    arguments.method.tell(&mut run);
    run.options.insert("datasets".to_owned(), arguments.datasets.to_string());
    let rungs = found.datasets.first().map(|dataset| dataset.rungs.clone()).unwrap_or_default();
    run.steps = plan.ladder.with_rungs(&rungs);
    let bound = found.mean.last().map(|mean| mean.jeffreys_bound).or(rungs.last().map(|rung| rung.jeffreys_bound));
    let outcome = output::outcome(found.violation, found.partial, bound, annealing);
    let results = Results::Bdmc(BdmcResult {
        run,
        reading: loaded.summary.clone(),
        rungs,
        datasets: found.datasets,
        mean: found.mean,
        kernels: found.kernels,
        violation: found.violation,
        checks: found.checks,
        verdict: found.verdict,
        partial: found.partial,
    });
    output::deliver(&results, &found.timing, annealing, common)?;
    Ok(outcome)
}

/// Everything that results depend on.
pub fn identity<'a>(options: &'a str, loaded: &'a Loaded) -> Vec<&'a str> {
    let mut inputs = vec![options];
    inputs.extend(loaded.texts.iter().map(String::as_str));
    inputs
}

impl Annealing {
    /// What clap cannot check.
    pub fn check(&self) -> Result<(), String> {
        if let Some([a, b]) = self.steps.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(format!("--steps must rise, but {a} comes before {b}"));
        }
        if let Some(few) = self.steps.iter().find(|&&t| t < 2) {
            return Err(format!("--steps {few}: a path has at least 2 distributions, the prior and the posterior"));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(format!("--tolerance {}: nats must not be negative", self.tolerance));
        }
        if self.max_divergence.is_some_and(|most| most.is_nan() || most < 0.0) {
            return Err("--max-divergence: nats must not be negative".to_owned());
        }
        Ok(())
    }

    /// Whether the program has the path that is asked for.
    pub fn check_path(&self, loaded: &Loaded) -> Result<(), String> {
        match &self.path {
            PathChoice::Geometric => Ok(()),
            PathChoice::Data(name) => Cut::along(loaded.program(), name)?.observations(&loaded.data).map(|_| ()),
        }
    }

    pub fn input<'a>(&'a self, model: &'a Path, data: Option<&'a Path>, real: bool, quiet: bool) -> Input<'a> {
        Input {
            model,
            data,
            include_path: &self.includes.include_path,
            hyper: self.hyper.as_deref(),
            simulator: self.simulator.as_deref(),
            real,
            quiet,
        }
    }

    pub fn acceptable(&self) -> f64 {
        self.max_divergence.unwrap_or(ACCEPTABLE)
    }

    /// The ladder as told, or the standard one.
    pub fn ladder(&self) -> Ladder {
        if self.steps.is_empty() { Ladder::default() } else { Ladder::exactly(self.steps.clone()) }
    }

    /// The options that results depend on, beside those of the plan.
    pub fn identity(&self) -> String {
        match &self.path {
            PathChoice::Geometric => format!("{} {:?}", self.computing.seed, self.hyper),
            PathChoice::Data(name) => format!("{} {:?} data:{name}", self.computing.seed, self.hyper),
        }
    }

    /// The settings of a run, which the first Ctrl-C ends.
    pub fn settings(&self, method: MethodOptions) -> Result<Settings, String> {
        let control = Arc::new(Control::default());
        crate::sample::interrupt_on_ctrl_c(&control)?;
        Ok(Settings {
            seed: self.computing.seed,
            method: method.kernel.method(),
            spacing: method.schedule.spacing(),
            longest: self.ladder().steps.last().copied().unwrap_or(0),
            counter: match &self.path {
                PathChoice::Geometric => None,
                PathChoice::Data(name) => Some(name.clone()),
            },
            how: self.computing.parallelism(),
            control,
        })
    }

    pub fn run(&self, model: &Path, data: Option<&Path>, dimension: usize) -> Run {
        let file = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut options = BTreeMap::new();
        if let Some(simulator) = &self.simulator {
            options.insert("simulator".to_owned(), file(simulator));
        }
        if let Some(hyper) = &self.hyper {
            options.insert("hyper".to_owned(), hyper.join(","));
        }
        if let PathChoice::Data(name) = &self.path {
            options.insert("path".to_owned(), format!("data:{name}"));
        }
        Run {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: file(model),
            data: data.map(file).unwrap_or_default(),
            seed: self.computing.seed,
            chains: self.chains,
            steps: self.ladder().steps,
            tolerance: self.tolerance,
            dimension,
            options,
            ..Run::default()
        }
    }
}

impl MethodOptions {
    pub fn tell(self, run: &mut Run) {
        self.kernel.name().clone_into(&mut run.kernel);
        self.schedule.name().clone_into(&mut run.schedule);
    }
}

impl KernelChoice {
    pub fn method(self) -> Method {
        /// NUTS stops by itself; the limit keeps one wild trajectory from holding up all chains.
        const DEPTH: u32 = 6;
        /// Short trajectories: between two distributions of the path there is little to move.
        const LEAPFROG_STEPS: u32 = 4;
        match self {
            Self::Hmc => Method::Hmc { length: Length::Steps(LEAPFROG_STEPS), max_energy_error: MAX_ENERGY_ERROR },
            Self::Nuts => Method::Nuts { max_depth: DEPTH, max_energy_error: MAX_ENERGY_ERROR },
            Self::Rwm => Method::Metropolis,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Hmc => "hmc",
            Self::Nuts => "nuts",
            Self::Rwm => "rwm",
        }
    }
}

impl ScheduleChoice {
    pub fn spacing(self) -> Spacing {
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
