//! The files of an experiment in its folder, and what the terminal shows.

use super::{StanExperiment, Trouble};
use crate::arguments::{Annealing, Common};
use crate::{Outcome, terminal};
use crust_diagnose::checkpoint::{Halt, Identity, Journal};
use crust_diagnose::result::{Results, Rung, Timing};
use crust_report::{html, terminal::story};
use crust_stan::data::write_json;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Makes the folder and opens the journal in it; without a folder nothing is kept.
pub fn journal(folder: Option<&Path>, inputs: &[&str]) -> Result<Journal, String> {
    let Some(folder) = folder else { return Ok(Journal::in_memory()) };
    fs::create_dir_all(folder).map_err(|e| format!("cannot use the folder {}: {e}", folder.display()))?;
    Journal::open(folder, &Identity::of(inputs)).map_err(|e| e.to_string())
}

/// What a protocol that failed says.
pub fn failed(halt: Halt<Trouble>, experiment: &super::Loaded) -> Result<Outcome, String> {
    let told = tell(halt, experiment);
    let Some(suspicion) = &experiment.suspicion else { return told };
    if told.is_ok() {
        terminal::complain(&format!("note: {suspicion}"));
    }
    told.map_err(|error| format!("{error}; {suspicion}"))
}

fn tell(halt: Halt<Trouble>, experiment: &super::Loaded) -> Result<Outcome, String> {
    match halt {
        Halt::Work(Trouble::Engine(error)) => {
            crate::program::show_engine_error(&experiment.reading, &error);
            Ok(Outcome::BadInput)
        }
        Halt::Work(Trouble::Simulate(error)) => crate::program::show_simulate_error(&experiment.reading, error),
        Halt::Work(Trouble::Infer(error)) => match error {
            crust_infer::error::Error::Fatal(fatal) => match fatal.0.downcast::<crust_engine::EngineError>() {
                Ok(error) => {
                    crate::program::show_engine_error(&experiment.reading, &error);
                    Ok(Outcome::BadInput)
                }
                Err(other) => Err(other.to_string()),
            },
            other => Err(other.to_string()),
        },
        other => Err(other.to_string()),
    }
}

/// Writes a simulated dataset with its generating parameters.
pub fn write_simulated(folder: &Path, experiment: &mut StanExperiment<'_>, dataset: u32) -> Result<(), String> {
    let (point, data) = experiment.draw(dataset).map_err(|e| e.to_string())?;
    let parameters = experiment.parameters(&point).map_err(|e| e.to_string())?;
    let program = experiment.program();
    write(&folder.join(format!("simulated-{dataset}.json")), &write_json(program, &data))?;
    let text = serde_json::to_string_pretty(&parameters).map_err(|e| e.to_string())?;
    write(&folder.join(format!("simulated-{dataset}.parameters.json")), &(text + "\n"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| {
        format!(
            "cannot write {}: {e}; all that was computed is kept: the same command goes on from there",
            path.display()
        )
    })
}

/// Writes all results to the folder, delivers JSON and tells the story.
pub fn deliver(results: &Results, timing: &Timing, arguments: &Annealing, common: &Common) -> Result<(), String> {
    if let Some(folder) = &arguments.out {
        let json = serde_json::to_string(results).map_err(|e| e.to_string())?;
        write(&folder.join("result.json"), &(json + "\n"))?;
        let times = serde_json::to_string_pretty(timing).map_err(|e| e.to_string())?;
        write(&folder.join("timing.json"), &(times + "\n"))?;
        write(&folder.join("weights.csv"), &weights(results))?;
        write(&folder.join("report.html"), &html::report(results, Some(timing)))?;
    }
    if let Some(file) = &common.json {
        terminal::deliver(results, file)?;
    }
    if !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout) {
        terminal::say(story(results, terminal::width(), terminal::colour_on_stdout()).trim_end());
        if let Some(folder) = &arguments.out {
            terminal::say(&format!("\nOpen {} for the whole story.", folder.join("report.html").display()));
        }
    }
    Ok(())
}

/// The exit code that results deserve.
pub fn outcome(violation: bool, partial: bool, bound: Option<f64>, arguments: &Annealing) -> Outcome {
    let gate = arguments.max_divergence.zip(bound).is_some_and(|(most, bound)| bound.is_nan() || bound > most);
    match (partial, violation || gate) {
        (true, _) => Outcome::Interrupted,
        (_, true) => Outcome::BadDiagnosis,
        _ => Outcome::Fine,
    }
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
    }
    out
}

/// Names of files may have commas in them.
fn csv(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}
