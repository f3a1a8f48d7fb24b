//! `crust bdmc` and `crust bread` for WebPPL programs.

use std::path::Path;
use std::time::{Duration, Instant};

use crust_diagnose::bdmc;
use crust_diagnose::bread;
use crust_diagnose::result::{Bdmc, Bread, Run, Simulated, Simulation};
use crust_webppl::simulator::Description;

use super::experiment::{Origin, Settings, WebPplExperiment};
use super::problem::{Trouble, WebPplProblem, reading};
use crate::annealing::{Annealed, Annealing, KernelChoice, PathChoice, journal};
use crate::bdmc::{BdmcOptions, told_by};
use crate::bread::{BreadOptions, START_STEPS};
use crate::error::{Error, Refusal};
use crate::session::{Message, Session};

/// The share of the budget that the fit may take.
const FIT_SHARE: f64 = 0.3;

/// What a model must have, and options that make no sense for WebPPL programs.
pub(super) fn check(
    problem: &WebPplProblem,
    annealing: &Annealing,
    kernels: &[KernelChoice],
    session: &Session<'_>,
) -> Result<Description, Error> {
    annealing.check()?;
    let wrong = |name, value: &str, why: &str| Err(Error::option(name, value, why));
    if let Some(path) = annealing.path.as_ref().filter(|path| **path != PathChoice::Prior) {
        return wrong("path", &path.name(), "WebPPL programs are annealed from the prior only");
    }
    if annealing.generation.simulator.is_some() {
        return wrong("simulator", "", "is for Stan programs: a WebPPL program is its own simulator");
    }
    if kernels.contains(&KernelChoice::Nuts) {
        return wrong("kernel", "nuts", "WebPPL programs have `hmc`, `rwm` and `mh`");
    }
    let model = problem.describe(session.seed)?;
    if model.choices.is_empty() {
        return Err(Refusal::NoChoices { program: problem.file_name() }.into());
    }
    if model.observations.is_empty() && model.factors == 0 {
        return Err(Refusal::NothingObserved { program: problem.file_name() }.into());
    }
    for name in annealing.generation.hyper.iter().flatten() {
        if !model.choices.iter().any(|group| group.name == *name) {
            let known = model.choices.iter().map(|group| group.name.clone()).collect::<Vec<_>>().join(", ");
            return Err(Error::option("hyper", name, format!("the variables of the model are {known}")));
        }
    }
    Ok(model)
}

/// The run as it is told.
pub(super) fn run(problem: &WebPplProblem, annealing: &Annealing, session: &Session<'_>, dimension: usize) -> Run {
    annealing.run_of(problem.file_name(), problem.data_file_name(), session.seed, dimension)
}

/// Makes the folder and opens the journal.
pub(super) fn open(
    told: &str,
    problems: &[&WebPplProblem],
    folder: Option<&Path>,
) -> Result<crust_diagnose::checkpoint::Journal, Error> {
    let identities: Vec<String> = problems.iter().map(|problem| problem.identity()).collect();
    let mut inputs = vec![told];
    inputs.extend(identities.iter().map(String::as_str));
    journal(folder, &inputs)
}

/// Simulates data with a WebPPL program and anneals them in both directions.
pub fn bdmc_webppl(
    problem: &WebPplProblem,
    options: &BdmcOptions,
    session: &Session<'_>,
) -> Result<Annealed<Bdmc>, Error> {
    let annealing = &options.annealing;
    options.check()?;
    let model = check(problem, annealing, &[options.method.kernel], session)?;
    let plan = options.plan(annealing);
    let told = format!("bdmc {plan:?} {:?} {}", options.method, annealing.identity(session.seed));
    let mut journal = open(&told, &[problem], annealing.folder.as_deref())?;
    let settings = Settings::new(options.method, session);
    let mut experiment = WebPplExperiment::new(problem, settings, Origin::Own);
    let found = bdmc::bdmc(&mut experiment, &plan, &mut journal)?;
    let kept = found.datasets.iter().filter(|_| annealing.folder.is_some());
    let simulated = kept.map(|dataset| experiment.simulated(dataset.number)).collect::<Result<_, Trouble>>()?;
    let mut run = run(problem, annealing, session, experiment.dimension);
    options.method.tell(&mut run);
    run.options.insert("datasets".to_owned(), options.datasets.to_string());
    Ok(told_by(found, annealing, &plan, (run, reading(&model, &[]), simulated)))
}

/// The whole protocol for a WebPPL program on the data that it observes.
pub fn bread_webppl(
    problem: &WebPplProblem,
    options: &BreadOptions,
    session: &Session<'_>,
) -> Result<Annealed<Bread>, Error> {
    let annealing = &options.annealing;
    options.check()?;
    if let Some(kind) = options.simulate.filter(|kind| kind.rests_on_fit()) {
        let why = "WebPPL programs are simulated from fitted variables (`--hyper`) or from the prior";
        return Err(Error::option("simulate", kind.name(), why));
    }
    let model = check(problem, annealing, &[options.method.kernel], session)?;
    let hyperparameters = annealing.generation.hyper.clone().unwrap_or_default();
    if hyperparameters.is_empty() {
        session.message(Message::Note(
            "no hyperparameters: data are simulated from the prior; name variables to be fitted with --hyper",
        ));
    }
    let simulation = if hyperparameters.is_empty() { Simulation::Prior } else { Simulation::Fitted };
    let plan = bread::Plan {
        simulation,
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        start_steps: if simulation == Simulation::Fitted { options.start_steps.unwrap_or(START_STEPS) } else { 0 },
        replicates: options.replicates,
        incomparable: None,
        acceptable: annealing.acceptable(),
        budget: options.budget,
    };
    let told = format!("bread {plan:?} {:?} {}", options.method, annealing.identity(session.seed));
    let mut journal = open(&told, &[problem], annealing.folder.as_deref())?;
    let fit_until = options.budget.map(|budget| Instant::now() + Duration::from_secs_f64(FIT_SHARE * budget));
    let settings = Settings { fit_until, ..Settings::new(options.method, session) };
    let mut experiment = WebPplExperiment::new(problem, settings, Origin::Own);
    experiment.hyperparameters.clone_from(&hyperparameters);
    let found = bread::bread(&mut experiment, &plan, &mut journal)?;
    let kept = [found.simulated.number].into_iter();
    let kept = kept.filter(|_| annealing.folder.is_some() && !found.simulated.rungs.is_empty());
    let simulated = kept.map(|number| experiment.simulated(number)).collect::<Result<_, Trouble>>()?;
    let run = run(problem, annealing, session, experiment.dimension);
    let why = if hyperparameters.is_empty() { "no variables are fitted" } else { "`--hyper` names what is fitted" };
    let simulation = Simulated { kind: simulation, why: why.to_owned(), has_log_ml: true };
    let reading = reading(&model, &hyperparameters);
    Ok(crate::bread::told_by(found, options, annealing, &plan, (run, reading, simulation, simulated)))
}
