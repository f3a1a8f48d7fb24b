//! The corpus: every valid program passes, every invalid one is explained, and what is retired is translated.
//!
//! `valid/` holds programs in current Stan (those under `valid/warned/` draw pedantic warnings), `legacy/` programs in
//! retired syntax, `invalid/` one program for each kind of mistake. The messages for the invalid ones are snapshots, a
//! document for each topic: read them when they change.

use crust_stan::diagnostics::{Diagnostic, Severity};
use crust_stan::format::format as canonical_text;
use crust_stan::front_end::{Reading, read};
use crust_stan::render::render;
use crust_stan::source::{IncludeFiles, NoIncludes};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// All programs below a folder, in the order of their names.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).expect("a folder of the corpus");
    for path in entries.map(|e| e.expect("an entry of the corpus").path()) {
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|e| e == "stan") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read_file(path: &Path) -> Reading {
    let bytes = std::fs::read(path).expect("a program of the corpus");
    let folder = path.parent().expect("a folder");
    // Valid programs name their fragments relative to `parts`, invalid ones relative to the folder itself.
    let loader = IncludeFiles { folders: vec![folder.join("parts")] };
    let name = path.strip_prefix(corpus()).expect("a path in the corpus").display().to_string();
    read(&name, Some(path), &String::from_utf8_lossy(&bytes), &loader)
}

fn rendered(reading: &Reading) -> String {
    let parts: Vec<_> = reading.problems.iter().map(|p| render(p, &reading.source, false)).collect();
    parts.join("\n\n").replace(&corpus().display().to_string(), "corpus")
}

/// A program without errors is understood in full: nothing in it has an unknown type, and nothing was given up.
fn assert_complete(path: &Path, reading: &Reading) {
    let typed = format!("{:?}", reading.typed);
    for gap in ["ty: Unknown", "kind: Error", "(Unknown"] {
        assert!(!typed.contains(gap), "{} has a part that was not understood: {gap}", path.display());
    }
}

#[test]
fn valid_programs_pass_without_a_word() {
    let programs = programs(&corpus().join("valid"));
    assert!(programs.len() >= 200, "only {} valid programs", programs.len());
    for path in programs {
        let reading = read_file(&path);
        let warned = path.components().any(|c| c.as_os_str() == "warned");
        let bad = |p: &Diagnostic| p.is_error() || !warned;
        assert!(!reading.problems.iter().any(bad), "{}\n{}", path.display(), rendered(&reading));
        assert_complete(&path, &reading);
    }
}

#[test]
fn legacy_programs_pass_with_warnings_and_their_canonical_form_without() {
    let programs = programs(&corpus().join("legacy"));
    assert!(programs.len() >= 25, "only {} legacy programs", programs.len());
    for path in programs {
        let reading = read_file(&path);
        assert!(!reading.has_errors(), "{}\n{}", path.display(), rendered(&reading));
        assert!(!reading.problems.is_empty(), "no warning for {}", path.display());
        assert_complete(&path, &reading);
        let canonical = canonical_text(&reading.ast, &reading.comments, &reading.source);
        let again = read("canonical", None, &canonical, &NoIncludes);
        // Some functions still exist and have no replacement with the same arguments.
        let stays = ["discouraged-function", "lp-in-transformed-parameters", "unreachable"];
        let left: Vec<_> = again.problems.iter().filter(|p| !stays.contains(&p.code)).collect();
        assert!(left.is_empty(), "{}\n{canonical}\n{}", path.display(), rendered(&again));
    }
}

#[test]
fn invalid_programs_are_explained() {
    let mut count = 0;
    let mut topics: Vec<_> =
        std::fs::read_dir(corpus().join("invalid")).expect("the corpus").map(|e| e.expect("a topic").path()).collect();
    topics.sort();
    for topic in topics {
        let mut document = String::new();
        for path in programs(&topic) {
            let reading = read_file(&path);
            assert!(reading.has_errors(), "no error for {}", path.display());
            check_count(&path, &reading);
            let first_line = reading.source.text().lines().next().unwrap_or("").to_owned();
            let name = path.file_stem().expect("a name").to_string_lossy();
            let _ = write!(document, "## {name}\n{first_line}\n\n{}\n\n", rendered(&reading));
            count += 1;
        }
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(topic.file_name().expect("a name").to_string_lossy().into_owned(), document);
        });
    }
    assert!(count >= 800, "only {count} invalid programs");
}

/// A program that says `(3 mistakes)` in its first line gets as many errors.
fn check_count(path: &Path, reading: &Reading) {
    let first_line = reading.source.text().lines().next().unwrap_or("");
    let Some(said) = first_line.rsplit('(').next().and_then(|t| t.strip_suffix(" mistakes)")) else { return };
    let said: usize = said.parse().expect("a number of mistakes");
    let found = reading.problems.iter().filter(|p| p.severity == Severity::Error).count();
    assert!(found >= said, "{}: {found} of {said} mistakes found\n{}", path.display(), rendered(reading));
}

/// Each kind of mistake that the front end knows is met by a program of the corpus.
#[test]
fn every_error_code_is_met() {
    let mut codes: Vec<_> =
        programs(&corpus().join("invalid")).iter().flat_map(|p| read_file(p).problems).map(|p| p.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut missing = Vec::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        for piece in text.split("Diagnostic::error(").skip(1) {
            let code = piece.trim_start().strip_prefix('"').and_then(|t| t.split('"').next());
            missing.extend(code.filter(|c| !codes.contains(c)).map(str::to_owned));
        }
    }
    missing.retain(|code| !NOT_FROM_PROGRAMS.contains(&code.as_str()));
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "no program of the corpus for {missing:?}");
}

/// Errors that a small program in a file cannot show: they are tested in `front_end.rs`.
const NOT_FROM_PROGRAMS: [&str; 4] = ["include-depth", "include-size", "include-unreadable", "block-in-functions"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).expect("sources").map(|e| e.expect("a source").path()) {
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && !OTHER_STAGES.contains(&name.as_str()) {
            found.extend(sources(&path));
        } else if path.is_file() && !OTHER_STAGES.contains(&name.as_str()) {
            found.push(path);
        }
    }
    found
}

/// Modules whose errors are about data, running and the reading as a joint distribution, not about the program's text.
/// Those of the reading are met in the tests of the simulator, in `crust-engine`.
const OTHER_STAGES: [&str; 4] = ["data", "eval", "joint", "value"];
