//! `crust bread`: how far annealing ends from the posterior, for a program with real data.

use crate::arguments::{Bread, Common};
use crate::bdmc::identity;
use crate::experiment::{Origin, Progress, StanExperiment, load, output};
use crate::{Outcome, terminal};
use crust_diagnose::bread::{self, Plan};
use crust_diagnose::checkpoint::Halt;
use crust_diagnose::result::{Bread as BreadResult, Results};
use crust_diagnose::units::{Annealed, Part, UnitName};
use std::path::Path;

pub fn run(arguments: &Bread, common: &Common) -> Result<Outcome, String> {
    run_after(arguments, common, None)
}

/// What does not depend on S: the fit, the pilot run and all forward chains.
fn is_shared(unit: &UnitName) -> bool {
    matches!(unit.part, Part::Fit | Part::Pilot | Part::Anneal { chains: Annealed::Forward, .. })
}

/// Runs the protocol after another run, in its folder, which differs in nothing but S.
pub fn run_after(arguments: &Bread, common: &Common, other: Option<&Path>) -> Result<Outcome, String> {
    let annealing = &arguments.annealing;
    annealing.check()?;
    terminal::check_writable(common.json.as_deref())?;
    let input = annealing.input(&arguments.model, Some(&arguments.data), true, common.quiet);
    let Some(loaded) = load(&input)? else { return Ok(Outcome::BadInput) };
    annealing.check_path(&loaded)?;
    let plan = Plan {
        chains: annealing.chains,
        ladder: annealing.ladder(),
        tolerance: annealing.tolerance,
        start_steps: arguments.start_steps,
        replicates: arguments.replicates,
        acceptable: annealing.acceptable(),
    };
    let options = format!("bread {plan:?} {:?} {}", arguments.method, annealing.identity());
    let mut journal = output::journal(annealing.out.as_deref(), &identity(&options, &loaded))?;
    if let Some(other) = other {
        journal.adopt(other, is_shared).map_err(|e| e.to_string())?;
    }
    let settings = annealing.settings(arguments.method)?;
    let progress = Progress::new(&settings.control, common.quiet);
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let experiment = StanExperiment::new(&loaded, settings, origin, progress.clone()).with_real_data();
    let mut experiment = match experiment {
        Ok(experiment) => experiment,
        Err(trouble) => return output::failed(Halt::Work(trouble), &loaded),
    };
    let found = bread::bread(&mut experiment, &plan, &mut journal);
    progress.end();
    let found = match found {
        Ok(found) => found,
        Err(halt) => return output::failed(halt, &loaded),
    };
    if let Some(folder) = annealing.out.as_ref().filter(|_| !found.simulated.rungs.is_empty()) {
        output::write_simulated(folder, &mut experiment, found.simulated.number)?;
    }
    let mut run = annealing.run(&arguments.model, Some(&arguments.data), experiment.dimension());
    arguments.method.tell(&mut run);
    run.options.insert("start-steps".to_owned(), arguments.start_steps.to_string());
    run.options.insert("replicates".to_owned(), arguments.replicates.to_string());
    run.steps = plan.ladder.with_rungs(&found.simulated.rungs);
    let bound = found.simulated.rungs.last().map(|rung| rung.jeffreys_bound);
    let outcome = output::outcome(found.violation, found.partial, bound, annealing);
    let results = Results::Bread(BreadResult {
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
    });
    output::deliver(&results, &found.timing, annealing, common)?;
    Ok(outcome)
}
