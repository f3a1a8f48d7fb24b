//! How often `crust bread` says what. Results are in `docs/bread.md`.
//!
//! ```text
//! cargo run --release -p crust-api --example verdicts -- seeds 20     one dataset for each program, many seeds
//! cargo run --release -p crust-api --example verdicts -- alarms 30    many datasets that come from the model
//! cargo run --release -p crust-api --example verdicts -- hard 20      programs on which *good* would be wrong
//! ```
//!
//! A further argument takes only the programs with this text in their name (`""` takes all), one after it is the budget
//! of each run in seconds; `THREADS=1` in the environment leaves cores to others.

mod programs;

use crust_api::{BreadOptions, Problem, Session, Source, bread};
use programs::{Case, hard, ordinary};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

/// The verdict in a word, with the sentence.
fn judge(case: &Case, dataset: u64, seed: u64, budget: Option<f64>) -> Result<(String, String), crust_api::Error> {
    let data = (case.data)(dataset).to_string();
    let problem = Problem::read(
        Source::text(format!("{}.stan", case.name), case.program),
        Some(Source::text(format!("{}.json", case.name), &data)),
    )?;
    let threads = std::env::var("THREADS").ok().and_then(|text| text.parse().ok());
    let mut options = BreadOptions::default();
    options.budget = budget.or(options.budget);
    let found = bread(&problem, &options, &Session { seed, threads, ..Session::default() })?.result;
    Ok((format!("{:?}", found.verdict.level).to_lowercase(), found.verdict.sentence))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "seeds".to_owned());
    let runs: u32 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(20);
    let part = arguments.next().unwrap_or_default();
    let budget: Option<f64> = arguments.next().and_then(|text| text.parse().ok());
    let cases = if kind == "hard" { hard() } else { ordinary() };
    let mut out = std::io::stdout().lock();
    for case in cases.iter().filter(|case| case.name.contains(&part)) {
        let (begin, mut longest) = (Instant::now(), 0.0_f64);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut odd = Vec::new();
        for run in 1..=runs {
            let start = Instant::now();
            let dataset = if kind == "seeds" { 1 } else { run };
            let (word, sentence) = judge(case, dataset.into(), run.into(), budget)
                .unwrap_or_else(|error| ("error".into(), error.to_string()));
            longest = longest.max(start.elapsed().as_secs_f64());
            if (word == "good") == (kind == "hard") {
                odd.push(format!("  {run}: {word}: {sentence}"));
            }
            *counts.entry(word).or_default() += 1;
        }
        let words: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        let mean = begin.elapsed().as_secs_f64() / f64::from(runs);
        let _ = writeln!(out, "| {} | {} | {mean:.1} | {longest:.1} |", case.name, words.join(", "));
        odd.iter().for_each(|line| {
            let _ = writeln!(out, "{line}");
        });
        let _ = out.flush();
    }
}
