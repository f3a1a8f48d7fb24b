//! `crust check`: what is wrong with a program and its data, or what is in it.

mod joint;
mod summary;

use crate::arguments::{Check, Common};
use crate::program::{read_text, show_problems};
use crate::{Outcome, terminal};
use crust_stan::check::pedantic;
use crust_stan::data::{DataError, DataErrors, DataProblem, Options, read_data};
use crust_stan::diagnostics::{Diagnostic, Record, Severity};
use crust_stan::eval::Limits;
use crust_stan::format::{format, format_functions};
use crust_stan::front_end::{Reading, read};
use crust_stan::source::IncludeFiles;
use joint::JointReport;
use serde::Serialize;
use std::path::Path;
use summary::Summary;

/// What `--json` writes.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    ok: bool,
    diagnostics: Vec<Record>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    summary: Option<&'a Summary>,
    /// The generative reading of a valid program.
    #[serde(skip_serializing_if = "Option::is_none")]
    joint: Option<&'a JointReport>,
}

pub fn run(arguments: &Check, common: &Common) -> Result<Outcome, String> {
    let name = arguments.model.display().to_string();
    let text = read_text("program", &arguments.model)?;
    let loader = IncludeFiles { folders: arguments.includes.include_path.clone() };
    let mut reading = read(&name, Some(&arguments.model), &text, &loader);
    if arguments.pedantic && !reading.has_errors() {
        reading.problems.extend(pedantic(&reading.typed));
        reading.problems.sort_by_key(|p| (p.span.start, p.span.end));
    }
    if !reading.has_errors() {
        // What the engine lacks is named before anything runs; the program is valid all the same.
        let lacking = crust_engine::unsupported(&reading.typed);
        reading.problems.extend(lacking.into_iter().map(|p| Diagnostic { severity: Severity::Warning, ..p }));
        reading.problems.sort_by_key(|p| (p.span.start, p.span.end));
    }
    let summary = if reading.has_errors() {
        Err(None)
    } else {
        match &arguments.data {
            None => Ok(Summary::of_program(&reading)),
            Some(path) => summary_with_data(&reading, path)?.map_err(Some),
        }
    };
    let joint = summary.is_ok().then(|| JointReport::of(&reading));
    let json_on_stdout = common.json.as_deref() == Some(Path::new("-"));
    if !json_on_stdout {
        show_problems(&reading, summary.as_ref().err().and_then(Option::as_ref), common.quiet);
        match &summary {
            Ok(_) if arguments.canonical => terminal::say(canonical(&reading, &arguments.model).trim_end()),
            Ok(summary) if !common.quiet => {
                terminal::say(&summary.text(&name));
                joint.iter().flat_map(JointReport::lines).for_each(|line| terminal::say(&line));
            }
            _ => {}
        }
    }
    if let Some(file) = &common.json {
        write_report(file, &name, &reading, (summary.as_ref(), joint.as_ref()))?;
    }
    Ok(if summary.is_ok() { Outcome::Fine } else { Outcome::BadInput })
}

/// Reads the data and runs transformed data, as far as sizes need it. The outer error is a file that cannot be read.
fn summary_with_data(reading: &Reading, path: &Path) -> Result<Result<Summary, DataErrors>, String> {
    let json = read_text("data", path)?;
    let name = path.display().to_string();
    let options = Options { name: &name, ..Options::default() };
    let limits = Limits::default();
    let program_error = |problem: Box<_>| DataErrors { problems: vec![DataProblem::Program(*problem)] };
    let data = read_data(&reading.typed, &reading.source, &json, &options);
    Ok(data.and_then(|data| {
        let data = data.transformed(&reading.typed, limits).map_err(program_error)?;
        Summary::with_data(reading, &data, limits).map_err(program_error)
    }))
}

fn write_report(
    file: &Path,
    name: &str,
    reading: &Reading,
    (summary, joint): (Result<&Summary, &Option<DataErrors>>, Option<&JointReport>),
) -> Result<(), String> {
    let mut diagnostics: Vec<_> = reading.problems.iter().map(|p| p.record(&reading.source)).collect();
    for problem in summary.err().into_iter().flatten().flat_map(|e| &e.problems) {
        diagnostics.push(match problem {
            DataProblem::Program(problem) => problem.record(&reading.source),
            DataProblem::Data(error) => data_record(error),
        });
    }
    let report = Report { file: name, ok: summary.is_ok(), diagnostics, summary: summary.ok(), joint };
    let json = serde_json::to_string_pretty(&report).map_err(|e| e.to_string())?;
    if file == Path::new("-") {
        terminal::say(&json);
        return Ok(());
    }
    std::fs::write(file, json + "\n").map_err(|e| format!("cannot write {}: {e}", file.display()))
}

/// A mistake in the data in the form that all diagnostics have.
fn data_record(error: &DataError) -> Record {
    let (line, column) = (error.line.unwrap_or(1), error.column.unwrap_or(1));
    let facts = [("expected", &error.expected), ("found", &error.found), ("declared", &error.declared)];
    Record {
        severity: Severity::Error,
        code: error.code,
        file: error.file.clone(),
        line,
        column,
        end_line: line,
        end_column: column,
        message: error.message.clone(),
        label: error.place.clone(),
        notes: facts.iter().filter_map(|(word, fact)| fact.as_ref().map(|f| format!("{word} {f}"))).collect(),
        help: error.help.clone(),
    }
}

fn canonical(reading: &Reading, path: &Path) -> String {
    let only_functions = path.extension().is_some_and(|e| e == "stanfunctions");
    let print = if only_functions { format_functions } else { format };
    print(&reading.ast, &reading.comments, &reading.source)
}
