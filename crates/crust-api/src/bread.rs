//! `crust bread`: how far annealing ends from the posterior, for a program with real data.

mod approximation;

pub use approximation::bread_approximation;

use crate::annealing::{Annealed, Annealing, MethodOptions, NumberedData, PathChoice, identity, journal, simulated};
use crate::error::Error;
use crate::experiment::{Origin, Settings, StanExperiment, given};
use crate::generative::{Generation, Generative, Outcomes};
use crate::problem::Problem;
use crate::session::{Nobody, Session};
use crust_diagnose::bread::{self, Findings, Plan};
use crust_diagnose::result::{Bread, Dataset, ForwardRung, Reading, RealData, Run, Rung, Simulated, Simulation};
use crust_diagnose::units::{Annealed as Chains, Part, UnitName};
use std::path::PathBuf;
use std::time::Instant;

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
        if let Some(bad) = self.budget.filter(|seconds| seconds.is_nan() || *seconds <= 0.0) {
            return Err(Error::option("budget", bad, "must be a positive time"));
        }
        let reference = self.annealing.path.as_ref().is_none_or(|path| *path == PathChoice::Reference);
        if self.simulate == Some(Simulation::Conditional) && !reference {
            let path = self.annealing.path_or(&PathChoice::Reference).name();
            return Err(Error::option(
                "path",
                path,
                "data that are simulated from draws of the fit need no prior: the path begins at a `reference`",
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

/// What is said where censored observations stay as they are.
const CENSORED: &str = "observations that are not censored can be longer in simulated data than in the real ones";

const WEIGHTS: &str = "censored observations stay as they are, and weigh parameters";

/// What data would be simulated with, and why, or why that cannot be.
pub(crate) fn rests_on(problem: &Problem, session: &Session<'_>) -> Result<String, Error> {
    let options = BreadOptions::default();
    let censored = with_censored_weights(problem, &options, session);
    let (_, simulation) = read(censored.as_ref().unwrap_or(problem), &options, session)?;
    Ok(if censored.is_some() { WEIGHTS.to_owned() } else { simulation.why })
}

/// The same with censored observations as weights, where data cannot be simulated otherwise.
///
/// Given that some observations are censored and when, the others are drawn anew: θ* is an exact draw of
/// p(θ) R(θ) p(y | θ) p(y′ | θ), where R is the probability of what is censored.
fn with_censored_weights(problem: &Problem, options: &BreadOptions, session: &Session<'_>) -> Option<Problem> {
    let supplied = options.annealing.generation.simulator.is_some();
    let needed = options.kind().0 == Simulation::Conditional && !supplied;
    let other = problem.with_censored_weights().filter(|_| needed)?;
    let quiet = Session { observer: &Nobody, ..session.clone() };
    let fine = read(problem, options, &quiet).is_ok_and(|(loaded, _)| loaded.only_near.is_none());
    (!fine).then_some(other)
}

/// The program as a joint distribution if it can be had, else its likelihood alone where that is enough.
fn read<'a>(
    problem: &'a Problem,
    options: &BreadOptions,
    session: &Session<'_>,
) -> Result<(Generative<'a>, Simulated), Error> {
    let how = &options.annealing.generation;
    let (kind, why) = options.kind();
    let told = |kind: Simulation, why: String, has_log_ml: bool| Simulated { kind, why, has_log_ml };
    let whole = Generative::read(problem, how, Outcomes::Given, session);
    let trouble = match whole {
        Ok(loaded) => {
            let has_log_ml = loaded.log_prior_integral.is_some();
            return Ok((loaded, told(kind, why.to_owned(), has_log_ml)));
        }
        Err(trouble) if kind != Simulation::Conditional => return Err(trouble),
        Err(trouble) => trouble,
    };
    let alone = Generation { likelihood_only: true, ..how.clone() };
    let quiet = Session { observer: &Nobody, ..session.clone() };
    let loaded = Generative::read(problem, &alone, Outcomes::Given, &quiet)?;
    if let Some(far) = loaded.only_near {
        return Ok((loaded, told(kind, far.why().to_owned(), false)));
    }
    let reason = match &trouble {
        Error::Reading { problems, .. } => problems.first().map(|problem| problem.message.clone()),
        _ => None,
    };
    let reason = reason.unwrap_or_else(|| "the prior cannot be drawn from".to_owned());
    Ok((loaded, told(kind, format!("parameters cannot be drawn from the prior: {reason}"), false)))
}

/// The whole protocol on real data: fit, simulate, sandwich, compare real with simulated data.
pub fn bread(problem: &Problem, options: &BreadOptions, session: &Session<'_>) -> Result<Annealed<Bread>, Error> {
    let began = Instant::now();
    options.check()?;
    let censored = with_censored_weights(problem, options, session);
    let problem = censored.as_ref().unwrap_or(problem);
    let (loaded, mut simulation) = read(problem, options, session)?;
    if censored.is_some() {
        simulation = Simulated { why: WEIGHTS.to_owned(), has_log_ml: false, ..simulation };
    }
    let conditional = simulation.kind == Simulation::Conditional;
    let path = if conditional { PathChoice::Reference } else { options.annealing.path_or(&PathChoice::Prior) };
    let annealing = &Annealing { path: Some(path), ..options.annealing.clone() };
    annealing.check_path(&loaded)?;
    let plan = Plan {
        simulation: simulation.kind,
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        start_steps: if simulation.kind == Simulation::Fitted { options.start_steps.unwrap_or(START_STEPS) } else { 0 },
        replicates: if censored.is_some() { 0 } else { options.replicates },
        incomparable: censored.is_some().then(|| CENSORED.to_owned()),
        acceptable: annealing.acceptable(),
        budget: options.budget,
    };
    let model = problem.model(session.seed)?;
    let chains = if options.draws.is_empty() { None } else { Some(given::read(&options.draws, &model)?) };
    let draws = chains.as_deref().map(given::fingerprint);
    let told = format!("bread {plan:?} {:?} {draws:?} {}", options.method, annealing.identity(session.seed));
    let mut journal = journal(annealing.folder.as_deref(), &identity(&told, &loaded))?;
    if let Some(other) = &options.after {
        journal.adopt(other, is_shared)?;
    }
    let settings = annealing.settings(options.method, session);
    let settings = Settings { simulation: simulation.kind, began, budget: options.budget, ..settings };
    let faults = settings.faults.clone();
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let mut experiment = StanExperiment::new(&loaded, settings, origin).with_real_data(model).with_fit(chains);
    let found = bread::bread(&mut experiment, &plan, &mut journal);
    let found = found.map_err(|halt| loaded.context(&faults).halt(halt))?;
    let kept = [found.simulated.number].into_iter();
    let kept = kept.filter(|_| annealing.folder.is_some() && !found.simulated.rungs.is_empty());
    let kept = kept.map(|number| simulated(&mut experiment, number)).collect::<Result<_, _>>();
    let kept = kept.map_err(|trouble| loaded.context(&faults).trouble(trouble))?;
    let run = annealing.run(problem, session.seed, experiment.dimension());
    Ok(told_by(found, options, annealing, &plan, (run, loaded.stated(), simulation, kept)))
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
    if simulation.kind == Simulation::Conditional
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
