//! `crust bread`: how far annealing ends from the posterior, for a program with real data.

use crate::annealing::{Annealed, Annealing, MethodOptions, identity, journal, simulated};
use crate::error::Error;
use crate::experiment::{Origin, StanExperiment};
use crate::generative::{Generative, Outcomes};
use crate::problem::Problem;
use crate::session::Session;
use crust_diagnose::bread::{self, Plan};
use crust_diagnose::result::Bread;
use crust_diagnose::units::{Annealed as Chains, Part, UnitName};
use std::path::PathBuf;

/// Options of `bread`.
#[derive(Clone, Debug)]
pub struct BreadOptions {
    pub annealing: Annealing,
    pub method: MethodOptions,
    /// S, the transitions from the generating values before each reverse chain.
    pub start_steps: usize,
    /// R, the datasets that the real one is ranked among; 0 for no comparison.
    pub replicates: u32,
    /// The folder of a run that differs in nothing but S: what does not depend on it is taken from there.
    pub after: Option<PathBuf>,
}

impl Default for BreadOptions {
    fn default() -> Self {
        Self {
            annealing: Annealing::default(),
            method: MethodOptions::default(),
            start_steps: 1000,
            replicates: 39,
            after: None,
        }
    }
}

/// What does not depend on S: the fit, the pilot run and all forward chains.
fn is_shared(unit: &UnitName) -> bool {
    matches!(unit.part, Part::Fit | Part::Pilot | Part::Anneal { chains: Chains::Forward, .. })
}

/// The whole protocol on real data: fit, simulate, sandwich, compare real with simulated data.
pub fn bread(problem: &Problem, options: &BreadOptions, session: &Session<'_>) -> Result<Annealed<Bread>, Error> {
    let annealing = &options.annealing;
    annealing.check()?;
    if options.start_steps < 10 {
        return Err(Error::option("start-steps", options.start_steps, "must be at least 10"));
    }
    let loaded = Generative::read(problem, &annealing.generation, Outcomes::Given, session)?;
    annealing.check_path(&loaded)?;
    let plan = Plan {
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        start_steps: options.start_steps,
        replicates: options.replicates,
        acceptable: annealing.acceptable(),
    };
    let told = format!("bread {plan:?} {:?} {}", options.method, annealing.identity(session.seed));
    let mut journal = journal(annealing.folder.as_deref(), &identity(&told, &loaded))?;
    if let Some(other) = &options.after {
        journal.adopt(other, is_shared)?;
    }
    let settings = annealing.settings(options.method, session);
    let faults = settings.faults.clone();
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let model = problem.model(session.seed)?;
    let mut experiment = StanExperiment::new(&loaded, settings, origin).with_real_data(model);
    let found = bread::bread(&mut experiment, &plan, &mut journal);
    let found = found.map_err(|halt| loaded.context(&faults).halt(halt))?;
    let kept = [found.simulated.number].into_iter();
    let kept = kept.filter(|_| annealing.folder.is_some() && !found.simulated.rungs.is_empty());
    let kept = kept.map(|number| simulated(&mut experiment, number)).collect::<Result<_, _>>();
    let simulated = kept.map_err(|trouble| loaded.context(&faults).trouble(trouble))?;
    let mut run = annealing.run(problem, session.seed, experiment.dimension());
    options.method.tell(&mut run);
    run.options.insert("start-steps".to_owned(), options.start_steps.to_string());
    run.options.insert("replicates".to_owned(), options.replicates.to_string());
    run.steps = plan.ladder.with_rungs(&found.simulated.rungs);
    let bound = found.simulated.rungs.last().map(|rung| rung.jeffreys_upper);
    let diagnosis = annealing.diagnosis(found.violation, found.partial, bound);
    let result = Bread {
        run,
        reading: loaded.summary.clone(),
        fit: found.fit,
        real: found.real,
        simulated: found.simulated,
        start_check: found.start_check,
        calibration: found.calibration,
        kernels: found.kernels,
        violation: found.violation,
        checks: found.checks,
        verdict: found.verdict,
        partial: found.partial,
    };
    Ok(Annealed { result, timing: found.timing, diagnosis, simulated })
}
