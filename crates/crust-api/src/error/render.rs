//! Errors for people: mistakes in a program are shown where they are.

use super::{Error, Suspicion};
use crate::problem::Program;
use crust_engine::SimulateError;
use crust_stan::data::DataErrors;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::render::render as render_diagnostic;
use crust_stan::source::Source as ProgramText;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How errors are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub colour: bool,
    /// Without the warnings that stand beside mistakes.
    pub quiet: bool,
}

/// Warnings of one kind beyond this many are counted, not shown: a program in retired syntax has one on every line.
const MOST_OF_A_KIND: usize = 5;
/// Errors beyond this many are counted, not shown: the file is probably no program at all.
const MOST_ERRORS: usize = 50;

/// An error in lines, without the last line's end.
pub fn render(error: &Error, look: Look) -> String {
    match error {
        Error::Program { program } => render_problems(program, program.problems(), None, look),
        Error::Data { program, errors } => render_problems(program, program.problems(), Some(errors), look),
        Error::Reading { program, problems } => located(program, problems, None, look),
        Error::Engine { program, error, suspicion } => located(program, &error.0, suspicion.as_deref(), look),
        Error::Simulate { program, error, suspicion } => simulate(program, error, suspicion.as_deref(), look),
        // these come with their places
        Error::WebPpl(errors) => errors.to_string(),
        Error::WebPplRun(error) => error.to_string(),
        other => line(&other.to_string(), look),
    }
}

fn simulate(program: &Program, error: &SimulateError, suspicion: Option<&Suspicion>, look: Look) -> String {
    match error {
        SimulateError::Engine(error) => located(program, &error.0, suspicion, look),
        SimulateError::Reading(problem) => located(program, &[(**problem).clone()], suspicion, look),
        SimulateError::Rejected(rejection) => {
            let problem = Diagnostic::error("draw-failed", rejection.message.clone(), rejection.span)
                .note("parameters were drawn from the prior, or data given them, and this statement could not be drawn")
                .help(
                    "a prior that lets parameters be so large that nothing can be drawn is the usual cause: use a \
                     narrower one",
                );
            located(program, &[problem], suspicion, look)
        }
        other => {
            let suspicion = suspicion.map(|suspicion| format!("; {suspicion}")).unwrap_or_default();
            line(&format!("{other}{suspicion}"), look)
        }
    }
}

/// Mistakes at their places in the program.
fn located(program: &Program, problems: &[Diagnostic], suspicion: Option<&Suspicion>, look: Look) -> String {
    let mut out: String = problems.iter().map(|problem| shown(problem, program.text(), look)).collect();
    out += &count(problems.len(), look);
    if let Some(suspicion) = suspicion {
        let _ = write!(out, "\nnote: {suspicion}");
    }
    out
}

/// A warning or a mistake at its place, without the last line's end.
pub fn render_warning(text: &ProgramText, warning: &Diagnostic, look: Look) -> String {
    render_diagnostic(warning, text, look.colour) + "\n"
}

fn shown(problem: &Diagnostic, text: &ProgramText, look: Look) -> String {
    render_warning(text, problem, look) + "\n"
}

/// Mistakes and warnings of a program, and mistakes of its data. Empty if there is nothing to say.
pub fn render_problems(program: &Program, problems: &[Diagnostic], data: Option<&DataErrors>, look: Look) -> String {
    let mut out = String::new();
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut errors = 0;
    for problem in problems {
        if problem.is_error() {
            errors += 1;
            if errors > MOST_ERRORS {
                continue;
            }
        } else {
            let seen = warnings.entry(problem.code).or_default();
            *seen += 1;
            if look.quiet || *seen > MOST_OF_A_KIND {
                continue;
            }
        }
        out += &shown(problem, program.text(), look);
    }
    for (code, seen) in warnings.into_iter().filter(|(_, seen)| *seen > MOST_OF_A_KIND && !look.quiet) {
        let more = seen - MOST_OF_A_KIND;
        let _ = writeln!(out, "… and {more} more warnings of the kind `{code}`; `--json` has all\n");
    }
    if errors > MOST_ERRORS {
        let _ = writeln!(out, "… and {} more errors; `--json` has all\n", errors - MOST_ERRORS);
    }
    if let Some(data) = data {
        errors += data.problems.len();
        let _ = writeln!(out, "{}", data.render(program.text(), look.colour));
    }
    if errors > 0 {
        out += &count(errors, look);
    }
    out
}

fn count(errors: usize, look: Look) -> String {
    line(&format!("{errors} {} found", if errors == 1 { "mistake" } else { "mistakes" }), look)
}

/// An error that has no place in a program.
fn line(message: &str, look: Look) -> String {
    if look.colour { format!("\u{1b}[1;31merror\u{1b}[0m: {message}") } else { format!("error: {message}") }
}
