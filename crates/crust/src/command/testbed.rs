//! `crust testbed`.

use crate::arguments::{Common, Testbed};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::result::{self, Results, TestbedTiming};
use crust_api::{Diagnosis, Error, Part};
use crust_report::testbed::{figures, model_story, page};
use std::fs;
use std::path::Path;

pub fn run(arguments: &Testbed, common: &Common) -> Result<Exit, Error> {
    terminal::check_writable(common.json.as_deref())?;
    let take = |part: &Part<'_>| match part {
        Part::Testbed { result, timing } => take(result, timing, arguments.out.as_deref(), common),
        _ => Ok(()),
    };
    let screen = Screen::new(common).taking_parts(take);
    let run = crust_api::testbed(&arguments.options(), &screen.threaded_session(arguments.seed, arguments.threads));
    screen.end();
    let run = run?;
    let finished = !run.result.models.is_empty();
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Testbed(run.result), file)?;
    }
    if let (true, Some(folder)) = (common.tells() && finished, &arguments.out) {
        terminal::say(&format!("\nOpen {} for all rows and figures.", folder.join("report.html").display()));
    }
    if run.diagnosis == Diagnosis::Bad {
        terminal::error("upper bounds lie below lower ones: there is a mistake in a kernel, a density or a simulator");
    }
    Ok(run.diagnosis.into())
}

/// A model that is finished is told and written at once.
fn take(result: &result::Testbed, timing: &TestbedTiming, folder: Option<&Path>, common: &Common) -> Result<(), Error> {
    if let (true, Some(model), Some(times)) = (common.tells(), result.models.last(), timing.models.last()) {
        terminal::say(&model_story(model, times));
    }
    folder.map_or(Ok(()), |folder| write_all(result, timing, folder))
}

fn write_all(result: &result::Testbed, timing: &TestbedTiming, folder: &Path) -> Result<(), Error> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Error::write(&path))
    };
    write("result.json", Results::Testbed(result.clone()).to_json()? + "\n")?;
    write("timing.json", serde_json::to_string_pretty(timing)? + "\n")?;
    for (name, svg) in figures(result, timing) {
        write(&name, svg)?;
    }
    write("report.html", page(result, timing))
}
