//! The generative reading in what `crust check` says.

use super::told;
use crate::bread::rests_on;
use crate::error::Error;
use crate::generative::{Generation, Generative, Outcomes};
use crate::problem::{Problem, Program, Source};
use crate::session::Session;
use crust_diagnose::result::{DrawnOutcome, DrawnParameter, JointReading, JointSummary, Simulated, Simulation};
use crust_engine::SimulateError;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::{self, Joint, ReadOptions};
use std::time::{Duration, Instant};

/// A program without data is read by its statements.
pub(super) fn read(program: &Program) -> JointReading {
    match Joint::read(program.typed(), &ReadOptions::default()) {
        Ok(joint) => {
            let mut reading = readable(program, joint.summary(program.text()));
            if program.has_parameters() {
                reading.lines.push("    (with data, `crust check` proves this reading)".to_owned());
            }
            reading
        }
        Err(problems) => {
            let first = "  cannot be read as a joint distribution by its statements alone; with data, `crust check` also \
                         looks at what it computes:";
            obstacles(program, &problems, first)
        }
    }
}

/// What it may take to draw data from the values of a likelihood.
const PATIENCE: Duration = Duration::from_secs(10);

/// With data the reading is proven, too, and what bread does where it cannot be.
pub(super) fn read_with(program: &Program, data: &Source) -> JointReading {
    let Ok(problem) = Problem::new(program.clone(), Some(data.clone())) else { return read(program) };
    let session = Session::default();
    let how = Generation { until: Some(Instant::now() + PATIENCE), ..Generation::default() };
    let problems = match Generative::read(&problem, &how, Outcomes::Given, &session) {
        Ok(loaded) => return readable(program, loaded.summary),
        Err(Error::Reading { problems, .. }) => problems,
        Err(error) => match (misread(error), Joint::read(program.typed(), &ReadOptions::default())) {
            (Ok(problem), _) => vec![problem],
            // something is in the way that has nothing to do with how it is read
            (Err(error), Ok(joint)) => return unproven(program, joint.summary(program.text()), &error),
            (Err(_), Err(problems)) => problems,
        },
    };
    let Ok((Simulated { kind, why, .. }, only_near)) = rests_on(&problem, &session) else {
        let first = "  cannot be read as a joint distribution, which simulate, bdmc and bread need:";
        return obstacles(program, &problems, first);
    };
    let mut reading = obstacles(program, &problems, "  simulate and bdmc cannot draw from it:");
    if !reading.lines.is_empty() {
        reading.lines.push(match kind {
            Simulation::Nothing => {
                format!("  bread anneals the posterior of the real data alone, with draws of the fit in place of exact ones; {why}")
            }
            _ if only_near => format!(
                "  bread decides when it has its fit, whether it can simulate data from draws of that or anneals the \
                 posterior of the real data alone: {why}"
            ),
            _ => format!("  bread can: it simulates data from draws of the fit; {why}"),
        });
    }
    JointReading { bread: Some(why), ..reading }
}

/// What a simulator found wrong with how the program is read; the error again, if it is about something else.
fn misread(error: Error) -> Result<Diagnostic, Error> {
    match error {
        Error::Simulate { error, program, suspicion } => match *error {
            SimulateError::Reading(problem) => Ok(*problem),
            other => Err(Error::Simulate { error: Box::new(other), program, suspicion }),
        },
        other => Err(other),
    }
}

/// A reading by statements that could not be proven.
fn unproven(program: &Program, mut summary: joint::JointSummary, error: &Error) -> JointReading {
    let warning = format!("not proven with these data: {error}");
    summary.warnings.push(warning.clone());
    let mut reading = readable(program, summary);
    reading.lines.push(format!("    {warning}"));
    reading
}

fn readable(program: &Program, summary: joint::JointSummary) -> JointReading {
    let lines = if program.has_parameters() { summary.lines() } else { Vec::new() };
    JointReading { readable: true, summary: Some(summarise(summary)), lines, ..JointReading::default() }
}

fn obstacles(program: &Program, problems: &[Diagnostic], first: &str) -> JointReading {
    let obstacles: Vec<_> = problems.iter().map(|p| told(p.record(program.text()))).collect();
    let mut lines = vec![first.to_owned()];
    for obstacle in &obstacles {
        lines.push(format!("    line {}: {} [{}]", obstacle.line, obstacle.message, obstacle.code));
        lines.extend(obstacle.help.iter().map(|help| format!("      {help}")));
    }
    lines.retain(|_| program.has_parameters());
    JointReading { obstacles, lines, ..JointReading::default() }
}

fn summarise(summary: joint::JointSummary) -> JointSummary {
    let parameter =
        |p: joint::ParameterSummary| DrawnParameter { name: p.name, prior: p.prior, depends_on: p.depends_on };
    let outcome =
        |o: joint::OutcomeSummary| DrawnOutcome { name: o.name, likelihood: o.likelihood, depends_on: o.depends_on };
    JointSummary {
        parameters: summary.parameters.into_iter().map(parameter).collect(),
        outcomes: summary.outcomes.into_iter().map(outcome).collect(),
        hyperparameters: summary.hyperparameters,
        order: summary.order,
        notes: summary.notes,
        warnings: summary.warnings,
    }
}
