//! Documents that show programs, data and what crust says about them: one file per theme in `cases`.
//!
//! A document has a program and any number of cases:
//! ```text
//! program:
//!     data { int N; vector[N] y; }
//!
//! case: too short
//!     {"N": 3, "y": [1, 2]}
//! gives:
//!     error[data-size]: …
//! ```
//! What is given for data that fit is the variables with their values. Run with `CRUST_UPDATE=1` to write what is given
//! into the documents, and read the difference.

mod fuzz;
mod programs;
mod reading;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crust_engine::data::{parameter_table, read_data, transformed};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Limits, Options};
use crust_stan::front_end;
use crust_stan::source::NoIncludes;
use crust_stan::value::Value;

/// A document: what stands before the first case, and the cases.
struct Document {
    head: String,
    program: String,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    data: String,
    expected: String,
}

fn unindented(lines: &[&str]) -> String {
    let text: Vec<&str> = lines.iter().map(|line| line.strip_prefix("    ").unwrap_or(line.trim_start())).collect();
    text.join("\n").trim_end().to_owned()
}

fn indented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}

fn read_document(text: &str) -> Document {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("case: ")).unwrap_or(lines.len());
    let program_at = lines.iter().position(|line| *line == "program:").expect("a document has a program");
    let mut cases = Vec::new();
    let mut rest = &lines[first..];
    while let Some((title, body)) = rest.split_first() {
        let end = body.iter().position(|line| line.starts_with("case: ")).unwrap_or(body.len());
        let gives = body[..end].iter().position(|line| *line == "gives:").unwrap_or(end);
        cases.push(Case {
            name: title.trim_start_matches("case: ").to_owned(),
            data: unindented(&body[..gives]),
            expected: unindented(body.get(gives + 1..end).unwrap_or(&[])),
        });
        rest = &body[end..];
    }
    Document { head: lines[..first].join("\n"), program: unindented(&lines[program_at + 1..first]), cases }
}

fn given(program: &str, data: &str) -> String {
    let reading = front_end::read("model.stan", None, program, &NoIncludes);
    assert!(!reading.has_errors(), "{:?}", reading.problems);
    let (program, source) = (&reading.typed, &reading.source);
    let options = Options { allow_missing: &|name| name.ends_with("_outcome"), ..Options::default() };
    let data = match read_data(program, source, data, &options) {
        Ok(data) => data,
        Err(errors) => return errors.render(source, false).trim_end().to_owned(),
    };
    let mut out = String::new();
    for name in &data.unused {
        let _ = writeln!(out, "unused: {name}");
    }
    for note in &data.notes {
        let _ = writeln!(out, "note: {note}");
    }
    let data = match transformed(program, data, Limits::default()) {
        Ok(data) => data,
        Err(problem) => return out + crust_stan::render::render(&problem, source, false).trim_end(),
    };
    for kind in [BlockKind::Data, BlockKind::TransformedData] {
        for id in program.declared_in(kind) {
            let value = data.get(id).map_or_else(|| "unset".to_owned(), Value::to_string);
            let shape = data.get(id).and_then(Value::shape).map_or_else(|| "?".to_owned(), |s| s.to_string());
            let _ = writeln!(out, "{shape} {} = {value}", program.variable(id).name);
        }
    }
    match parameter_table(program, source, &data, Limits::default()) {
        Ok(rows) => {
            for row in rows {
                let size = row.dimension.map_or_else(|| row.reason.unwrap_or_default(), |n| n.to_string());
                let _ = writeln!(out, "parameter {} {}: {size}", row.declared, row.name);
            }
        }
        Err(problem) => out += crust_stan::render::render(&problem, source, false).trim_end(),
    }
    out.trim_end().to_owned()
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
    files.sort();
    files
}

#[test]
fn documents_say_what_is_given() {
    let update = std::env::var_os("CRUST_UPDATE").is_some();
    let mut failures = Vec::new();
    let mut count = 0;
    for file in documents() {
        let document = read_document(&std::fs::read_to_string(&file).expect("readable"));
        let mut text = document.head.trim_end().to_owned() + "\n";
        for case in &document.cases {
            count += 1;
            let given = given(&document.program, &case.data);
            let _ = write!(text, "\ncase: {}\n{}gives:\n{}", case.name, indented(&case.data), indented(&given));
            if given != case.expected {
                let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                failures.push(format!("{file}, {}:\nexpected\n{}\ngiven\n{given}\n", case.name, case.expected));
            }
        }
        if update {
            std::fs::write(&file, text).expect("writable");
        }
    }
    assert!(count > 50, "only {count} cases were found");
    assert!(update || failures.is_empty(), "{}", failures.join("\n"));
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    let is_number = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.split(|c: char| !is_number(c)).filter_map(|word| word.parse().ok()).collect()
}

#[allow(clippy::float_cmp, reason = "infinities are equal or not")]
fn is_close(x: f64, y: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-5 * x.abs().max(1e-3)
}

/// Programs in `real_stan` were run by Stan 2.39 (the tool `realstan` of this project builds them), which printed the
/// texts beside them with six digits.
fn compare_with_stan(name: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/real_stan");
    let read = |ending: &str| std::fs::read_to_string(folder.join(format!("{name}.{ending}"))).expect("readable");
    let reading = front_end::read("library.stan", None, &read("stan"), &NoIncludes);
    assert!(!reading.has_errors(), "{:?}", reading.problems);
    let program = &reading.typed;
    let data = read_data(program, &reading.source, "{}", &Options::default()).expect("there is nothing to read");
    let data = transformed(program, data, Limits::default()).expect("runs");
    let mut different = Vec::new();
    let golden = read("txt");
    for line in golden.lines() {
        let (name, expected) = line.split_once(' ').expect("a name and a value");
        let given = data.by_name(program, name).expect("a variable").to_string();
        let (x, y) = (numbers(expected), numbers(&given));
        let close = x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| is_close(*x, *y));
        let brackets = |text: &str| text.chars().filter(|c| "[]()".contains(*c)).collect::<String>();
        if !close || brackets(expected) != brackets(&given) {
            different.push(format!("{name}: Stan has {expected}, given is {given}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    golden.lines().count()
}

#[test]
fn transformed_data_are_what_stan_computes() {
    assert!(compare_with_stan("library") > 80);
}

/// Empty containers, ties, reversed ranges, signs of decompositions, ends of domains, assignments to what is being read.
#[test]
fn corner_cases_are_what_stan_computes() {
    assert!(compare_with_stan("corners") > 100);
}
