//! `crust bread`: how far annealing ends from the posterior, for a program with real data.

mod approximation;
mod basis;
mod judged;

pub use approximation::bread_approximation;
pub(crate) use basis::rests_on;
pub(crate) use judged::JudgedDraws;

use crate::annealing::{Annealed, Annealing, MethodOptions, NumberedData, PathChoice, identity, journal, simulated};
use crate::error::Error;
use crate::experiment::{Origin, Settings, StanExperiment, given};
use crate::problem::Problem;
use crate::session::{Progress, Session};
use basis::{Basis, Ways};
use crust_diagnose::bread::{self, Findings, Plan};
use crust_diagnose::checkpoint::Journal;
use crust_diagnose::result::{Bread, Dataset, ForwardRung, Reading, RealData, Run, Rung, Simulated, Simulation};
use crust_diagnose::units::{Annealed as Chains, Part, UnitName};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of `bread`.
#[derive(Clone, Debug)]
pub struct BreadOptions {
    pub annealing: Annealing,
    pub method: MethodOptions,
    /// What parameters data are simulated with; none for what is best where it can be had.
    pub simulate: Option<Simulation>,
    /// S, the transitions from the generating values before each reverse chain, where these are no exact draws: 1000
    /// unless told otherwise.
    pub start_steps: Option<usize>,
    /// R, the datasets that the real one is ranked among; 0 for no comparison.
    pub replicates: u32,
    /// The time that a run may take, in seconds.
    pub budget: Option<f64>,
    /// Draws of another run, a CSV file of each chain: they are the fit.
    pub draws: Vec<PathBuf>,
    /// The folder of a run that differs in nothing but S: what does not depend on it is taken from there.
    pub after: Option<PathBuf>,
}

/// Seconds that a person who waits for an answer is asked for.
const BUDGET: f64 = 90.0;
/// More seconds than this are a mistake, not a wish: a year.
const LONGEST: f64 = 31_557_600.0;
/// S unless told otherwise.
pub(crate) const START_STEPS: usize = 1000;

impl Default for BreadOptions {
    fn default() -> Self {
        Self {
            annealing: Annealing::default(),
            method: MethodOptions::default(),
            simulate: None,
            start_steps: None,
            replicates: 39,
            budget: Some(BUDGET),
            draws: Vec::new(),
            after: None,
        }
    }
}

/// What does not depend on S: the fit, the pilot run and all forward chains.
fn is_shared(unit: &UnitName) -> bool {
    matches!(unit.part, Part::Fit | Part::Pilot | Part::Anneal { chains: Chains::Forward, .. })
}

impl BreadOptions {
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.annealing.check()?;
        if let Some(few) = self.start_steps.filter(|steps| *steps < 10) {
            return Err(Error::option("start-steps", few, "must be at least 10"));
        }
        if let Some(bad) = self.budget.filter(|seconds| !(*seconds > 0.0 && *seconds <= LONGEST)) {
            return Err(Error::option("budget", bad, "must be a positive time of at most a year, in seconds"));
        }
        let reference = self.annealing.path.as_ref().is_none_or(|path| *path == PathChoice::Reference);
        if self.simulate.is_some_and(Simulation::rests_on_fit) && !reference {
            let path = self.annealing.path_or(&PathChoice::Reference).name();
            return Err(Error::option(
                "path",
                path,
                "with draws of the fit no prior is needed: the path begins at a `reference`",
            ));
        }
        Ok(())
    }

    /// What data are simulated with where the user does not say, and why.
    fn kind(&self) -> (Simulation, &'static str) {
        let asked = "it was asked for";
        if let Some(kind) = self.simulate {
            return (kind, asked);
        }
        if self.annealing.generation.hyper.is_some() {
            return (Simulation::Fitted, "`--hyper` names what is fitted");
        }
        if self.start_steps.is_some() {
            return (Simulation::Fitted, "`--start-steps` is for reverse chains that begin with no exact draw");
        }
        if self.annealing.path.as_ref().is_some_and(|path| *path != PathChoice::Reference) {
            return (Simulation::Fitted, "`--path` begins at the prior");
        }
        (Simulation::Conditional, "such data are like the real ones whatever the prior is")
    }
}

/// The whole protocol on real data: fit, simulate, sandwich, compare real with simulated data.
pub fn bread(problem: &Problem, options: &BreadOptions, session: &Session<'_>) -> Result<Annealed<Bread>, Error> {
    let began = Instant::now();
    options.check()?;
    if let Some(end) = options.budget.and_then(|budget| began.checked_add(Duration::try_from_secs_f64(budget).ok()?)) {
        session.observer.progress(&Progress::Until(end));
    }
    let ways = Ways::of(problem, options);
    let basis = Basis::find(&ways, options, session)?;
    let retreat = options.may_simulate_nothing() && basis.simulation.kind == Simulation::Conditional;
    // A folder belongs to one way of doing it.
    let retreat = retreat && options.annealing.folder.is_none();
    let mut fit = Journal::in_memory();
    match run(basis, options, session, (began, retreat.then_some(&mut fit))) {
        // What could be drawn from where Stan begins need not be what the program states where the posterior is.
        Err(error @ (Error::Reading { .. } | Error::Simulate { .. })) if retreat => {
            let basis = Basis::without(problem, &error, options, session)?;
            let mut fit = fit.with_only(|unit| unit.part == Part::Fit);
            run(basis, options, session, (began, Some(&mut fit)))
        }
        other => other,
    }
}

/// Runs the protocol. The fit is taken from the journal, if one is given and has it: it does not depend on what is
/// simulated.
fn run(
    Basis { loaded, simulation, incomparable }: Basis<'_>,
    options: &BreadOptions,
    session: &Session<'_>,
    (began, fit): (Instant, Option<&mut Journal>),
) -> Result<Annealed<Bread>, Error> {
    let problem = loaded.problem;
    let path = if simulation.kind.rests_on_fit() {
        PathChoice::Reference
    } else {
        options.annealing.path_or(&PathChoice::Prior)
    };
    let annealing = &Annealing { path: Some(path), ..options.annealing.clone() };
    annealing.check_path(&loaded)?;
    let plan = Plan {
        simulation: simulation.kind,
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        start_steps: if simulation.kind == Simulation::Fitted { options.start_steps.unwrap_or(START_STEPS) } else { 0 },
        replicates: if incomparable.is_some() { 0 } else { options.replicates },
        incomparable,
        acceptable: annealing.acceptable(),
        budget: options.budget,
    };
    let model = problem.model(session.seed)?;
    let chains = if options.draws.is_empty() { None } else { Some(given::read(&options.draws, &model)?) };
    let draws = chains.as_deref().map(given::fingerprint);
    let told = format!("bread {plan:?} {:?} {draws:?} {}", options.method, annealing.identity(session.seed));
    let keeps_fit = fit.is_some();
    let own = &mut journal(annealing.folder.as_deref(), &identity(&told, &loaded))?;
    let journal = fit.unwrap_or(own);
    if let Some(other) = &options.after {
        journal.adopt(other, is_shared)?;
    }
    let settings = annealing.settings(options.method, session);
    let settings = Settings { simulation: simulation.kind, began, budget: options.budget, keeps_fit, ..settings };
    let faults = settings.faults.clone();
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let fit = match chains {
        Some(chains) => Some((chains, judged::judge(problem, options, &model, session)?)),
        None => None,
    };
    let mut experiment = StanExperiment::new(&loaded, settings, origin).with_real_data(model).with_fit(fit);
    let found = bread::bread(&mut experiment, &plan, journal);
    let found = found.map_err(|halt| loaded.context(&faults).halt(halt))?;
    let kept = [found.simulated.number].into_iter();
    let kept = kept.filter(|_| annealing.folder.is_some() && !found.simulated.rungs.is_empty());
    let kept = kept.filter(|_| simulation.kind != Simulation::Nothing);
    let kept = kept.map(|number| simulated(&mut experiment, number)).collect::<Result<_, _>>();
    let kept = kept.map_err(|trouble| loaded.context(&faults).trouble(trouble))?;
    let run = annealing.run(problem, session.seed, experiment.dimension());
    let mut told = told_by(found, options, annealing, &plan, (run, loaded.stated(), simulation, kept));
    loaded.tell_approximate(&mut told.result.verdict);
    Ok(told)
}

/// What was found as the result of a run.
pub(crate) fn told_by(
    found: Findings,
    options: &BreadOptions,
    annealing: &Annealing,
    plan: &Plan,
    (mut run, reading, simulation, kept): (Run, Reading, Simulated, Vec<NumberedData>),
) -> Annealed<Bread> {
    options.method.tell(&mut run);
    run.options.insert("simulate".to_owned(), simulation.kind.name().to_owned());
    if plan.start_steps > 0 {
        run.options.insert("start-steps".to_owned(), plan.start_steps.to_string());
    }
    run.options.insert("replicates".to_owned(), options.replicates.to_string());
    if let Some(budget) = options.budget {
        run.options.insert("budget".to_owned(), format!("{budget}s"));
    }
    run.steps = plan.ladder.with_rungs(&found.simulated.rungs);
    let rung = found.confirmation.as_ref().map(|c| &c.rung).or(found.simulated.rungs.last());
    let diagnosis = annealing.diagnosis(found.violation, found.partial, rung.map(|rung| rung.jeffreys_upper));
    let (mut real, mut sandwich) = (found.real, found.simulated);
    without_log_ml(&simulation, &mut real, &mut sandwich);
    let result = Bread {
        run,
        reading,
        simulation,
        fit: found.fit,
        real,
        simulated: sandwich,
        confirmation: found.confirmation,
        start_check: found.start_check,
        calibration: found.calibration,
        predictive: found.predictive,
        kernels: found.kernels,
        violation: found.violation,
        checks: found.checks,
        verdict: found.verdict,
        partial: found.partial,
    };
    Annealed { result, timing: found.timing, diagnosis, simulated: kept }
}

/// Takes out marginal likelihoods that do not exist, or that nobody asks for: given the real data, the probability of
/// simulated ones says nothing about the model.
fn without_log_ml(simulation: &Simulated, real: &mut RealData, simulated: &mut Dataset) {
    if simulation.kind.rests_on_fit()
        && let Some(level) = simulated.rungs.last().map(Rung::level)
    {
        simulated.rungs.iter_mut().for_each(|rung| rung.relative_to(level));
    }
    if !simulation.has_log_ml
        && let Some(level) = real.rungs.last().map(ForwardRung::level)
    {
        real.rungs.iter_mut().for_each(|rung| rung.relative_to(level));
        real.heuristic.iter_mut().for_each(|rung| rung.relative_to(level));
    }
}
