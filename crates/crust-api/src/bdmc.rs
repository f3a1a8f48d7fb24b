//! `crust bdmc`: sandwiches the marginal likelihood of simulated data, and bounds the divergence from their posterior.

use crate::annealing::{Annealed, Annealing, MethodOptions, NumberedData, PathChoice, identity, journal, simulated};
use crate::error::Error;
use crate::experiment::{Origin, StanExperiment};
use crate::generative::{Generation, Generative, Outcomes};
use crate::problem::Problem;
use crate::session::Session;
use crust_diagnose::bdmc::{self, Findings, Plan};
use crust_diagnose::result::{Bdmc, Reading, Run};

/// Options of `bdmc`.
#[derive(Clone, Debug)]
pub struct BdmcOptions {
    pub annealing: Annealing,
    pub method: MethodOptions,
    /// Add chains at the end of the ladder until the standard error of Bennett's estimate of log-ML is at most this.
    pub bennett_error: Option<f64>,
    /// How many datasets to simulate: with several, error bars cover the differences between datasets.
    pub datasets: u32,
    /// Transitions at the posterior before each reverse chain, which spread their starts.
    pub start_steps: usize,
    /// Datasets in which simulator and kernels are checked against each other; 0 for no check.
    pub rank_checks: u32,
}

impl Default for BdmcOptions {
    fn default() -> Self {
        Self {
            annealing: Annealing::default(),
            method: MethodOptions::default(),
            bennett_error: None,
            datasets: 1,
            start_steps: 0,
            rank_checks: 20,
        }
    }
}

impl BdmcOptions {
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.bennett_error.filter(|wish| wish.is_nan() || *wish <= 0.0) {
            Some(wish) => Err(Error::option("bennett-error", wish, "a standard error is a positive number of nats")),
            None => Ok(()),
        }
    }

    pub(crate) fn plan(&self, annealing: &Annealing) -> Plan {
        Plan {
            chains: annealing.chains,
            ladder: annealing.ladder(),
            tolerance: annealing.tolerance,
            bennett_error: self.bennett_error,
            datasets: self.datasets,
            start_steps: self.start_steps,
            rank_checks: self.rank_checks,
            acceptable: annealing.acceptable(),
        }
    }
}

/// Simulates data with the sizes and covariates of a problem, and anneals them in both directions.
pub fn bdmc(problem: &Problem, options: &BdmcOptions, session: &Session<'_>) -> Result<Annealed<Bdmc>, Error> {
    let annealing = &options.annealing;
    annealing.check()?;
    options.check()?;
    let generation = Generation { sample_prior: true, ..annealing.generation.clone() };
    let loaded = Generative::read(problem, &generation, Outcomes::Simulated, session)?;
    // A reference needs to know what the prior integrates to.
    let standard = if loaded.log_prior_integral.is_some() { PathChoice::Reference } else { PathChoice::Prior };
    let annealing = &Annealing { path: Some(annealing.path_or(&standard)), ..annealing.clone() };
    annealing.check_path(&loaded)?;
    let plan = options.plan(annealing);
    let told = format!("bdmc {plan:?} {:?} {}", options.method, annealing.identity(session.seed));
    let mut journal = journal(annealing.folder.as_deref(), &identity(&told, &loaded))?;
    let settings = annealing.settings(options.method, session);
    let faults = settings.faults.clone();
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let mut experiment = StanExperiment::new(&loaded, settings, origin);
    let found = bdmc::bdmc(&mut experiment, &plan, &mut journal);
    let found = found.map_err(|halt| loaded.context(&faults).halt(halt))?;
    let kept = found.datasets.iter().filter(|_| annealing.folder.is_some());
    let kept = kept.map(|dataset| simulated(&mut experiment, dataset.number)).collect::<Result<_, _>>();
    let simulated = kept.map_err(|trouble| loaded.context(&faults).trouble(trouble))?;
    let mut run = annealing.run(problem, session.seed, experiment.dimension());
    options.method.tell(&mut run);
    run.options.insert("datasets".to_owned(), options.datasets.to_string());
    let mut told = told_by(found, annealing, &plan, (run, loaded.stated(), simulated));
    loaded.tell_approximate(&mut told.result.verdict);
    Ok(told)
}

/// What was found as the result of a run.
pub(crate) fn told_by(
    found: Findings,
    annealing: &Annealing,
    plan: &Plan,
    (mut run, reading, simulated): (Run, Reading, Vec<NumberedData>),
) -> Annealed<Bdmc> {
    let rungs = found.datasets.first().map(|dataset| dataset.rungs.clone()).unwrap_or_default();
    run.steps = plan.ladder.with_rungs(&rungs);
    let bound = rungs.last().map(|rung| rung.jeffreys_upper);
    let diagnosis = annealing.diagnosis(found.violation, found.partial, bound);
    let result = Bdmc {
        run,
        reading,
        rungs,
        datasets: found.datasets,
        mean: found.mean,
        kernels: found.kernels,
        violation: found.violation,
        checks: found.checks,
        verdict: found.verdict,
        partial: found.partial,
    };
    Annealed { result, timing: found.timing, diagnosis, simulated }
}
