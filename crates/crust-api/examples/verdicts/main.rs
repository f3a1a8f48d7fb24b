//! How often `crust bread` says what: `cargo run --release -p crust-api --example verdicts -- seeds 20` runs ordinary
//! programs with one dataset each and many seeds, `-- alarms 50` with many datasets that come from the model. Results
//! are in `docs/bread.md`.

mod programs;

use crust_api::{BreadOptions, Problem, Session, Source, bread};
use programs::{Case, cases};
use std::collections::BTreeMap;
use std::io::Write;

/// The verdict in a word, with the bound.
fn judge(case: &Case, dataset: u64, seed: u64) -> Result<(String, String), crust_api::Error> {
    let data = (case.data)(dataset).to_string();
    let problem = Problem::read(
        Source::text(format!("{}.stan", case.name), case.program),
        Some(Source::text(format!("{}.json", case.name), &data)),
    )?;
    let found = bread(&problem, &BreadOptions::default(), &Session { seed, ..Session::default() })?.result;
    Ok((format!("{:?}", found.verdict.level), found.verdict.sentence))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "seeds".to_owned());
    let runs: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(20);
    let only = arguments.next();
    let mut out = std::io::stdout().lock();
    for case in cases().iter().filter(|case| only.as_ref().is_none_or(|name| *name == case.name)) {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut odd = Vec::new();
        for run in 1..=runs {
            let (dataset, seed) = if kind == "alarms" { (run, run) } else { (1, run) };
            let (word, sentence) =
                judge(case, dataset, seed).unwrap_or_else(|error| ("error".into(), error.to_string()));
            if word != "Good" {
                odd.push(format!("  {run}: {word}: {sentence}"));
            }
            *counts.entry(word).or_default() += 1;
        }
        let _ = writeln!(out, "{:24} {counts:?}", case.name);
        odd.iter().take(3).for_each(|line| {
            let _ = writeln!(out, "{line}");
        });
        let _ = out.flush();
    }
}
