//! The generative reading in what `crust check` says.

use super::told;
use crate::problem::Program;
use crust_diagnose::result::{DrawnOutcome, DrawnParameter, JointReading, JointSummary};
use crust_stan::joint::{self, Joint, ReadOptions};

pub(super) fn read(program: &Program) -> JointReading {
    let empty = !program.has_parameters();
    match Joint::read(program.typed(), &ReadOptions::default()) {
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
