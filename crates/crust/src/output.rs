//! The files of a protocol in its folder, and what the terminal shows.

use crate::arguments::Common;
use crate::terminal;
use crust_api::result::{Results, Rung, Timing};
use crust_api::{Annealed, Error, NumberedData};
use crust_report::{html, terminal::story};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Writes all results to the folder, delivers JSON and tells the story.
pub fn deliver<R>(
    run: Annealed<R>,
    kind: fn(R) -> Results,
    folder: Option<&Path>,
    common: &Common,
) -> Result<(), Error> {
    let results = kind(run.result);
    let partial = match &results {
        Results::Bdmc(result) => result.partial,
        Results::Bread(result) => result.partial,
        Results::Compare(result) => result.partial,
        _ => false,
    };
    if let Some(folder) = folder {
        write_folder(&results, &run.timing, &run.simulated, folder)?;
    }
    if let Some(file) = &common.json {
        terminal::deliver(&results, file)?;
    }
    if common.tells() {
        let story = story(&results, terminal::width(), terminal::colour_on_stdout()).unwrap_or_default();
        terminal::say(story.trim_end());
        if partial {
            let way = if folder.is_some() { "The same command" } else { "With `--out DIR`, the same command" };
            terminal::say(&format!("{way} goes on from where this run was ended."));
        }
        if let Some(folder) = folder {
            terminal::say(&format!("\nOpen {} for the whole story.", folder.join("report.html").display()));
        }
    }
    Ok(())
}

/// All files of a run but its journal.
pub fn write_folder(
    results: &Results,
    timing: &Timing,
    simulated: &[NumberedData],
    folder: &Path,
) -> Result<(), Error> {
    for NumberedData { number, simulated } in simulated {
        write(&folder.join(format!("simulated-{number}.json")), &simulated.data.0)?;
        let parameters = simulated.parameters.0.clone() + "\n";
        write(&folder.join(format!("simulated-{number}.parameters.json")), &parameters)?;
    }
    write(&folder.join("result.json"), &(results.to_json()? + "\n"))?;
    write(&folder.join("timing.json"), &(serde_json::to_string_pretty(timing)? + "\n"))?;
    write(&folder.join("weights.csv"), &weights(results))?;
    write(&folder.join("report.html"), &html::report(results, Some(timing)).unwrap_or_default())
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::Kept { path: path.to_owned(), error })
}

/// Raw log weights, a row for each chain.
fn weights(results: &Results) -> String {
    let mut out = String::from("dataset,T,direction,chain,estimate\n");
    let mut forward = |dataset: &str, t: usize, direction: &str, values: &[f64]| {
        for (chain, value) in values.iter().enumerate() {
            let _ = writeln!(out, "{dataset},{t},{direction},{},{value}", chain + 1);
        }
    };
    let mut both = |dataset: &str, rungs: &[Rung]| {
        for rung in rungs {
            forward(dataset, rung.t, "forward", &rung.forward);
            forward(dataset, rung.t, "reverse", &rung.reverse);
        }
    };
    match results {
        Results::Bdmc(bdmc) => bdmc.datasets.iter().for_each(|d| both(&format!("simulated-{}", d.number), &d.rungs)),
        Results::Compare(compare) => compare.entries.iter().for_each(|e| both(&csv(&e.name), &e.rungs)),
        Results::Bread(bread) => {
            both("simulated-1", &bread.simulated.rungs);
            bread.real.rungs.iter().for_each(|rung| forward("real", rung.t, "forward", &rung.forward));
        }
        _ => {}
    }
    out
}

/// Names of files may have commas in them.
fn csv(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}
