//! `crust check`: what is wrong with a program, or what is in it.

mod summary;

use crate::arguments::{Check, Common};
use crate::{Outcome, terminal};
use crust_stan::check::pedantic;
use crust_stan::diagnostics::Record;
use crust_stan::front_end::{Reading, read};
use crust_stan::render::render;
use crust_stan::source::IncludeFiles;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use summary::Summary;

/// What `--json` writes.
#[derive(Serialize)]
struct Report {
    file: String,
    ok: bool,
    diagnostics: Vec<Record>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
}

pub fn run(arguments: &Check, common: &Common) -> Result<Outcome, String> {
    let name = arguments.model.display().to_string();
    let text = read_program(&arguments.model)?;
    let loader = IncludeFiles { folders: arguments.include_path.clone() };
    let mut reading = read(&name, Some(&arguments.model), &text, &loader);
    if arguments.pedantic && !reading.has_errors() {
        reading.problems.extend(pedantic(&reading.typed));
        reading.problems.sort_by_key(|p| (p.span.start, p.span.end));
    }
    let ok = !reading.has_errors();
    let summary = ok.then(|| Summary::new(&reading));
    report(&reading, summary.as_ref(), arguments, common, &name)?;
    Ok(if ok { Outcome::Fine } else { Outcome::BadInput })
}

fn report(
    reading: &Reading,
    summary: Option<&Summary>,
    arguments: &Check,
    common: &Common,
    name: &str,
) -> Result<(), String> {
    let on_stdout = common.json.as_deref() == Some(Path::new("-"));
    if !on_stdout {
        show_problems(reading, common.quiet);
    }
    if arguments.canonical && summary.is_some() && !on_stdout {
        terminal::say(crust_stan::format::format(&reading.ast, &reading.comments, &reading.source).trim_end());
    } else if let Some(summary) = summary.filter(|_| !on_stdout && !common.quiet) {
        terminal::say(&summary.text(name));
    }
    if let Some(file) = &common.json {
        let diagnostics = reading.problems.iter().map(|p| p.record(&reading.source)).collect();
        let report = Report { file: name.to_owned(), ok: summary.is_some(), diagnostics, summary: summary.cloned() };
        let json = serde_json::to_string_pretty(&report).map_err(|e| e.to_string())?;
        if on_stdout {
            terminal::say(&json);
        } else {
            std::fs::write(file, json + "\n").map_err(|e| format!("cannot write {}: {e}", file.display()))?;
        }
    }
    Ok(())
}

/// Warnings of one kind beyond this many are counted, not shown: a program in retired syntax has one on every line.
const MOST_OF_A_KIND: usize = 5;

fn show_problems(reading: &Reading, quiet: bool) {
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut errors = 0;
    for problem in &reading.problems {
        if problem.is_error() {
            errors += 1;
        } else {
            let seen = warnings.entry(problem.code).or_default();
            *seen += 1;
            if quiet || *seen > MOST_OF_A_KIND {
                continue;
            }
        }
        terminal::complain(&(render(problem, &reading.source, terminal::colour()) + "\n"));
    }
    for (code, seen) in warnings.into_iter().filter(|(_, seen)| *seen > MOST_OF_A_KIND && !quiet) {
        terminal::complain(&format!(
            "… and {} more warnings of the kind `{code}`; `--json` has all\n",
            seen - MOST_OF_A_KIND
        ));
    }
    if errors > 0 {
        terminal::error(&format!("{errors} {} found", if errors == 1 { "mistake" } else { "mistakes" }));
    }
}

/// The text of a program. Bytes that are not UTF-8 can only stand in comments and texts, where they do no harm.
fn read_program(path: &Path) -> Result<String, String> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|e| format!("cannot read the program {}: {e}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
