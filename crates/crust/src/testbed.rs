//! `crust testbed`: how good estimators of the marginal likelihood are, on simulated data where it is known.

mod figures;
mod report;
mod story;

use crate::arguments::{Common, Testbed};
use crate::experiment::output::journal;
use crate::{Outcome, terminal};
use crust_diagnose::sandwich::LEVEL;
use crust_infer::drive::Control;
use crust_testbed::experiment::{Comparison, Findings, Task, Which};
use crust_testbed::roster::{Effort, Family};
use crust_testbed::trials::{Plan, Times, Watcher};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::fs;
use std::io::IsTerminal;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

/// What came out: the same bytes for the same seed, whatever the computer.
#[derive(Serialize)]
struct Results {
    version: &'static str,
    quick: bool,
    seed: u64,
    trials: u32,
    models: Vec<Findings>,
    /// Ended early: models that are not here were not finished.
    partial: bool,
}

/// How long it took.
#[derive(Serialize)]
struct Timing {
    threads: usize,
    models: Vec<ModelTiming>,
}

#[derive(Serialize)]
struct ModelTiming {
    model: Which,
    /// In the order of the model's rows; each trial ran on one thread.
    rows: Vec<Times>,
    /// Empty for a quick run, whose data are smaller than the paper's.
    comparisons: Vec<Comparison>,
}

pub fn run(arguments: &Testbed, common: &Common) -> Result<Outcome, String> {
    let models = chosen(&arguments.models, &Which::ALL, Which::id, "model")?;
    let families = chosen(&arguments.estimators, &Family::ALL, Family::id, "estimator")?;
    terminal::check_writable(common.json.as_deref())?;
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZero::<usize>::MIN);
    let trials = arguments.trials.unwrap_or(if arguments.quick { 5 } else { 25 });
    let task = Task {
        families,
        effort: if arguments.quick { Effort::Quick } else { Effort::Full },
        plan: Plan { trials, seed: arguments.seed, threads },
    };
    // Keeps the files of other runs from being overwritten, and two runs from one folder.
    let settings = format!("testbed {models:?} {:?} {:?} {trials} {}", task.families, task.effort, arguments.seed);
    let _journal = journal(arguments.out.as_deref(), &[&settings])?;
    let mut results = Results {
        version: env!("CARGO_PKG_VERSION"),
        quick: arguments.quick,
        seed: arguments.seed,
        trials,
        models: vec![],
        partial: true,
    };
    let mut timing = Timing { threads: threads.get(), models: vec![] };
    let bar = Bar::new(common.quiet);
    let ran = run_models(&models, &task, arguments.out.as_deref(), common, &bar, &mut results, &mut timing);
    bar.0.finish_and_clear();
    ran?;
    if let Some(file) = &common.json {
        terminal::deliver(&results, file)?;
    }
    if let (true, Some(folder)) = (tells(common) && !results.models.is_empty(), &arguments.out) {
        terminal::say(&format!("\nOpen {} for all rows and figures.", folder.join("report.html").display()));
    }
    if results.models.iter().any(|findings| findings.truth.p_value < LEVEL) {
        terminal::error("upper bounds lie below lower ones: there is a mistake in a kernel, a density or a simulator");
        return Ok(Outcome::BadDiagnosis);
    }
    Ok(if results.partial { Outcome::Interrupted } else { Outcome::Fine })
}

/// Whether there is something to be said on standard output.
fn tells(common: &Common) -> bool {
    !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout)
}

/// One model after the other. What is finished is told and written at once; what is interrupted is left out.
fn run_models(
    models: &[Which],
    task: &Task,
    folder: Option<&Path>,
    common: &Common,
    bar: &Bar,
    results: &mut Results,
    timing: &mut Timing,
) -> Result<(), String> {
    let control = Arc::new(Control::default());
    crate::sample::interrupt_on_ctrl_c(&control)?;
    for &model in models {
        let (findings, rows) = match model.run(task, &control, bar) {
            Err(error) if error.is_interruption() => return Ok(()),
            found => found.map_err(|error| format!("{}: {error}", model.words()))?,
        };
        let comparisons = if results.quick { vec![] } else { model.compare(&findings.rows, &rows) };
        let times = ModelTiming { model, rows, comparisons };
        if tells(common) {
            bar.0.suspend(|| terminal::say(&story::model(&findings, &times)));
        }
        results.models.push(findings);
        timing.models.push(times);
        results.partial = results.models.len() < models.len();
        if let Some(folder) = folder {
            write_all(results, timing, folder)?;
        }
    }
    Ok(())
}

/// Those that were asked for by name; all if none was.
fn chosen<T: Copy + PartialEq>(
    names: &[String],
    all: &[T],
    id: impl Fn(T) -> &'static str,
    what: &str,
) -> Result<Vec<T>, String> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let mut found = vec![];
    for name in names {
        let Some(&one) = all.iter().find(|one| id(**one) == name) else {
            let ids: Vec<&str> = all.iter().map(|one| id(*one)).collect();
            return Err(format!("there is no {what} `{name}`; there are {}", ids.join(", ")));
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

fn write_all(results: &Results, timing: &Timing, folder: &Path) -> Result<(), String> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    write("result.json", serde_json::to_string(results).map_err(|e| e.to_string())? + "\n")?;
    write("timing.json", serde_json::to_string_pretty(timing).map_err(|e| e.to_string())? + "\n")?;
    for (name, svg) in report::figures(results, timing) {
        write(&name, svg)?;
    }
    write("report.html", report::page(results, timing))
}

/// Trials that are finished, on a terminal only.
struct Bar(ProgressBar);

impl Bar {
    fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self(if shown { ProgressBar::new(0) } else { ProgressBar::hidden() })
    }
}

impl Watcher for Bar {
    fn begin(&self, what: &str, trials: usize) {
        let template =
            if trials > 0 { "{msg:36!} {bar:30} {pos}/{len} trials, {eta} left" } else { "{msg:36!} {elapsed}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.0.set_style(style);
        }
        self.0.set_message(what.to_owned());
        self.0.set_length(trials as u64);
        self.0.reset();
        self.0.enable_steady_tick(std::time::Duration::from_millis(200));
    }

    fn finished(&self) {
        self.0.inc(1);
    }
}
