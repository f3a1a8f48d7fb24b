//! `crust check` for WebPPL programs: mistakes in the text, or what the model draws and observes.

use crust_diagnose::result::{Checked, Diagnostic, ProgramSummary, VariableSummary};
use crust_webppl::{Errors, Mistake, Place};

use super::problem::WebPplProblem;
use crate::error::Error;
use crate::problem::Source;

/// Checks a program. It is run as far as it takes to know its model, and the model is run some times. Beside the result
/// there are the mistakes in words for people.
pub fn check_webppl(
    source: Source,
    data: Option<Source>,
    model: Option<&str>,
) -> Result<(Checked, Option<Errors>), Error> {
    let file = source.name().to_owned();
    let problem = match WebPplProblem::read(source, data, model) {
        Ok(problem) => problem,
        Err(Error::WebPpl(errors)) => {
            let diagnostics = errors.errors.iter().map(diagnostic).collect();
            return Ok((Checked { file, ok: false, diagnostics, ..Checked::default() }, Some(errors)));
        }
        Err(other) => return Err(other),
    };
    let found = match problem.describe(0) {
        Ok(found) => found,
        Err(Error::WebPplRun(error)) => {
            let notes = vec![format!("nothing is known of its model: {}", error.failure)];
            let summary = Some(ProgramSummary { notes, ..ProgramSummary::default() });
            return Ok((Checked { file, ok: true, summary, ..Checked::default() }, None));
        }
        Err(other) => return Err(other),
    };
    let variable = |group: &crust_webppl::simulator::Group, what: &str| VariableSummary {
        name: group.name.clone(),
        ty: format!("{}, {}", group.words(what), if group.continuous { "continuous" } else { "discrete" }),
        ..VariableSummary::default()
    };
    let mut notes = Vec::new();
    if found.varies() {
        notes.push("executions make different numbers of choices".to_owned());
    }
    match (found.observations.is_empty(), found.factors) {
        (_, factors) if factors > 0 => notes.push(
            "factor and condition weigh executions, they do not generate data: `bdmc` and `bread` need observe"
                .to_owned(),
        ),
        (true, _) => notes.push("the model observes nothing".to_owned()),
        _ => {}
    }
    let summary = ProgramSummary {
        data: found.observations.iter().map(|group| variable(group, "value")).collect(),
        parameters: found.choices.iter().map(|group| variable(group, "choice")).collect(),
        notes,
        ..ProgramSummary::default()
    };
    Ok((Checked { file, ok: true, summary: Some(summary), ..Checked::default() }, None))
}

fn diagnostic((mistake, place): &(Mistake, Place)) -> Diagnostic {
    Diagnostic {
        severity: "error".to_owned(),
        code: "webppl".to_owned(),
        file: place.source.clone(),
        line: place.line,
        column: place.column,
        end_line: place.line,
        end_column: place.column,
        message: mistake.message.clone(),
        help: mistake.remedy.iter().cloned().collect(),
        ..Diagnostic::default()
    }
}
