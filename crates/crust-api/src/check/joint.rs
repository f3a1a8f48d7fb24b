//! The generative reading in what `crust check` says.

use crust_stan::ast::BlockKind;
use crust_stan::diagnostics::Record;
use crust_stan::front_end::Reading;
use crust_stan::joint::{Joint, JointSummary, ReadOptions};
use serde::Serialize;

/// How a program is read as a joint distribution, or why it cannot be.
#[derive(Serialize)]
pub struct JointReport {
    readable: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    summary: Option<JointSummary>,
    /// What stands in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    obstacles: Vec<Record>,
    /// Whether there is anything to draw.
    #[serde(skip)]
    empty: bool,
}

impl JointReport {
    pub fn of(reading: &Reading) -> Self {
        let empty = reading.typed.declared_in(BlockKind::Parameters).next().is_none();
        match Joint::read(&reading.typed, &ReadOptions::default()) {
            Ok(joint) => {
                let summary = Some(joint.summary(&reading.source));
                Self { readable: true, summary, obstacles: Vec::new(), empty }
            }
            Err(problems) => {
                let obstacles = problems.iter().map(|p| p.record(&reading.source)).collect();
                Self { readable: false, summary: None, obstacles, empty }
            }
        }
    }

    pub fn lines(&self) -> Vec<String> {
        if self.empty {
            return Vec::new();
        }
        if let Some(summary) = &self.summary {
            return summary.lines();
        }
        let mut lines =
            vec!["  cannot be read as a joint distribution, which simulate, bdmc and bread need:".to_owned()];
        for obstacle in &self.obstacles {
            lines.push(format!("    line {}: {} [{}]", obstacle.line, obstacle.message, obstacle.code));
            lines.extend(obstacle.help.iter().map(|help| format!("      {help}")));
        }
        lines
    }
}
