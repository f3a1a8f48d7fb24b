//! `crust bdmc`: sandwiches the marginal likelihood of simulated data, and bounds the divergence from their posterior.

use crate::annealing::{Annealed, Annealing, MethodOptions, PathChoice, identity, journal, simulated};
use crate::error::Error;
use crate::experiment::{Origin, StanExperiment};
use crate::generative::{Generative, Outcomes};
use crate::problem::Problem;
use crate::session::Session;
use crust_diagnose::bdmc::{self, Plan};
use crust_diagnose::result::Bdmc;

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

/// Simulates data with the sizes and covariates of a problem, and anneals them in both directions.
pub fn bdmc(problem: &Problem, options: &BdmcOptions, session: &Session<'_>) -> Result<Annealed<Bdmc>, Error> {
    let annealing = &options.annealing;
    annealing.check()?;
    if let Some(wish) = options.bennett_error.filter(|wish| wish.is_nan() || *wish <= 0.0) {
        return Err(Error::option("bennett-error", wish, "a standard error is a positive number of nats"));
    }
    let loaded = Generative::read(problem, &annealing.generation, Outcomes::Simulated, session)?;
    // A reference needs to know what the prior integrates to.
    let standard = if loaded.log_prior_integral.is_some() { PathChoice::Reference } else { PathChoice::Prior };
    let annealing = &Annealing { path: Some(annealing.path_or(&standard)), ..annealing.clone() };
    annealing.check_path(&loaded)?;
    let plan = Plan {
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        bennett_error: options.bennett_error,
        datasets: options.datasets,
        start_steps: options.start_steps,
        rank_checks: options.rank_checks,
        acceptable: annealing.acceptable(),
    };
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
    let rungs = found.datasets.first().map(|dataset| dataset.rungs.clone()).unwrap_or_default();
    run.steps = plan.ladder.with_rungs(&rungs);
    let bound = rungs.last().map(|rung| rung.jeffreys_upper);
    let diagnosis = annealing.diagnosis(found.violation, found.partial, bound);
    let result = Bdmc {
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
    };
    Ok(Annealed { result, timing: found.timing, diagnosis, simulated })
}
