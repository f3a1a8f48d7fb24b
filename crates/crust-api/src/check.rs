//! `crust check`: what is wrong with a program and its data, or what is in it.

mod joint;
mod summary;

use crate::error::{Error, Look, render_problems};
use crate::problem::{Program, Source};
use crust_diagnose::result::{Checked, Diagnostic as DiagnosticRecord, ProgramSummary};
use crust_engine::data::{read_data, transformed};
use crust_stan::check::pedantic;
use crust_stan::data::{DataError, DataErrors, DataProblem, Limits, Options};
use crust_stan::diagnostics::{Diagnostic, Record, Severity};
use crust_stan::format::{format, format_functions};
use std::path::Path;

/// Options of `check`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Also warn of what is valid, but perhaps not meant.
    pub pedantic: bool,
}

/// A program that was checked, and how to show what was found.
#[derive(Clone, Debug)]
pub struct CheckOutput {
    pub result: Checked,
    program: Program,
    problems: Vec<Diagnostic>,
    data: Option<DataErrors>,
}

impl CheckOutput {
    /// Mistakes and warnings at their places; empty if there are none.
    pub fn problems(&self, look: Look) -> String {
        render_problems(&self.program, &self.problems, self.data.as_ref(), look)
    }

    /// The program in current syntax, formatted, with its comments.
    pub fn canonical(&self) -> String {
        let only_functions = Path::new(self.program.name()).extension().is_some_and(|e| e == "stanfunctions");
        let print = if only_functions { format_functions } else { format };
        let reading = self.program.reading();
        print(&reading.ast, &reading.comments, &reading.source)
    }
}

/// Checks a program, and its data if there are any. Mistakes are a result; an error is a file that cannot be read.
pub fn check(program: Source, source: Option<&Source>, options: CheckOptions) -> Result<CheckOutput, Error> {
    let program = Program::read_anyhow(program)?;
    let reading = program.reading();
    let mut problems = reading.problems.clone();
    let valid = !reading.has_errors();
    if valid {
        if options.pedantic {
            problems.extend(pedantic(&reading.typed));
        }
        // What the engine lacks is named before anything runs; the program is valid all the same.
        let lacking = crust_engine::unsupported(&reading.typed);
        problems.sort_by_key(|p| (p.span.start, p.span.end));
        problems.extend(lacking.into_iter().map(|p| Diagnostic { severity: Severity::Warning, ..p }));
        problems.sort_by_key(|p| (p.span.start, p.span.end));
    }
    let summary = match source {
        _ if !valid => Err(None),
        None => Ok(summary::of_program(&program)),
        Some(source) => with_data(&program, source)?.map_err(Some),
    };
    let mut diagnostics: Vec<DiagnosticRecord> = problems.iter().map(|p| told(p.record(program.text()))).collect();
    let (summary, data) = match summary {
        Ok(summary) => (Some(summary), None),
        Err(data) => (None, data),
    };
    for problem in data.iter().flat_map(|errors| &errors.problems) {
        diagnostics.push(told(match problem {
            DataProblem::Program(problem) => problem.record(program.text()),
            DataProblem::Data(error) => data_record(error),
        }));
    }
    let joint = summary.is_some().then(|| match source {
        Some(source) => joint::read_with(&program, source),
        None => joint::read(&program),
    });
    let result = Checked { file: program.name().to_owned(), ok: summary.is_some(), diagnostics, summary, joint };
    Ok(CheckOutput { result, program, problems, data })
}

/// Reads the data and runs transformed data, as far as sizes need it. The outer error is a file that cannot be read.
fn with_data(program: &Program, data: &Source) -> Result<Result<ProgramSummary, DataErrors>, Error> {
    let json = data.read("read the data")?;
    let options = Options { name: data.name(), ..Options::default() };
    let limits = Limits::default();
    let program_error = |problem: Box<_>| DataErrors { problems: vec![DataProblem::Program(*problem)] };
    let data = read_data(program.typed(), program.text(), &json, &options);
    Ok(data.and_then(|data| {
        let transformed = transformed(program.typed(), data, limits).map_err(program_error)?;
        summary::with_data(program, &transformed, limits).map_err(program_error)
    }))
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

/// A diagnostic of the language as results have it.
fn told(record: Record) -> DiagnosticRecord {
    let severity = match record.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    DiagnosticRecord {
        severity: severity.to_owned(),
        code: record.code.to_owned(),
        file: record.file,
        line: record.line,
        column: record.column,
        end_line: record.end_line,
        end_column: record.end_column,
        message: record.message,
        label: record.label,
        notes: record.notes,
        help: record.help,
    }
}
