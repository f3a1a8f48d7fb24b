//! The generative reading in what `crust check` says.

use super::told;
use crate::problem::Program;
use crust_diagnose::result::{DrawnOutcome, DrawnParameter, JointReading, JointSummary};
use crust_engine::{ProveError, ProveOptions, SimulateError, Simulator, prove};
use crust_stan::data::Data;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::{self, Joint, ReadOptions};

/// With data the reading is proven, too.
pub(super) fn read(program: &Program, data: Option<&Data>) -> JointReading {
    let empty = !program.has_parameters();
    let joint = Joint::read(program.typed(), &ReadOptions::default());
    let joint = joint.and_then(|joint| match data.and_then(|data| unproven(program, &joint, data)) {
        Some(problem) => Err(vec![problem]),
        None => Ok(joint),
    });
    match joint {
        Ok(joint) => {
            let summary = joint.summary(program.text());
            let lines = if empty { Vec::new() } else { summary.lines() };
            JointReading { readable: true, summary: Some(summarise(summary)), obstacles: Vec::new(), lines }
        }
        Err(problems) => {
            let obstacles = problems.iter().map(|p| told(p.record(program.text()))).collect();
            let reading = JointReading { readable: false, summary: None, obstacles, lines: Vec::new() };
            let lines = if empty { Vec::new() } else { refusal(&reading) };
            JointReading { lines, ..reading }
        }
    }
}

/// What the proof of a reading finds; nothing if something else is in its way, which the commands that need it will
/// say.
fn unproven(program: &Program, joint: &Joint, data: &Data) -> Option<Diagnostic> {
    let simulator = Simulator::new(program.typed(), joint, data, None).ok()?;
    match prove(program.typed(), &simulator, &ProveOptions::default()) {
        Err(ProveError::Misreading(misreading)) => Some(misreading.diagnostic()),
        Err(ProveError::Simulate(SimulateError::Reading(problem))) => Some(*problem),
        _ => None,
    }
}

fn refusal(reading: &JointReading) -> Vec<String> {
    let mut lines = vec!["  cannot be read as a joint distribution, which simulate, bdmc and bread need:".to_owned()];
    for obstacle in &reading.obstacles {
        lines.push(format!("    line {}: {} [{}]", obstacle.line, obstacle.message, obstacle.code));
        lines.extend(obstacle.help.iter().map(|help| format!("      {help}")));
    }
    lines
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
