//! `crust simulate`.

use crate::arguments::{Common, Simulate};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::{self, Results};

pub fn run(arguments: &Simulate, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let problem = arguments.includes.problem(&arguments.model, arguments.data.as_deref())?;
    let mut run = crust_api::simulate(&problem, &arguments.options()?, &screen.short_session(arguments.seed))?;
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).map_err(Error::folder(folder))?;
    }
    let mut datasets = Vec::new();
    for number in 1..=arguments.number {
        let dataset = run.draw()?;
        if let Some(folder) = &arguments.out {
            for (ending, text) in [("", &dataset.data), (".parameters", &dataset.parameters)] {
                let path = folder.join(format!("simulated-{number}{ending}.json"));
                std::fs::write(&path, &text.0).map_err(Error::write(&path))?;
            }
        }
        if common.json.is_some() || arguments.out.is_none() {
            datasets.push(dataset);
        }
    }
    let result = result::Simulate { hyperparameters: run.hyperparameters().to_vec(), datasets };
    finish(arguments, common, result)?;
    Ok(Exit::Fine)
}

fn finish(arguments: &Simulate, common: &Common, result: result::Simulate) -> Result<(), Error> {
    if let (Some(folder), true) = (&arguments.out, common.tells()) {
        let n = arguments.number;
        terminal::say(&format!("{n} simulated dataset{} in {}", if n == 1 { "" } else { "s" }, folder.display()));
    }
    match (&common.json, &arguments.out) {
        (Some(file), _) => terminal::deliver(&Results::Simulate(result), file)?,
        (None, Some(_)) => {}
        // One dataset alone can be fed back as it is.
        (None, None) if arguments.number == 1 => {
            result.datasets.iter().for_each(|dataset| terminal::say(dataset.data.0.trim_end()));
        }
        (None, None) => terminal::say(&Results::Simulate(result).to_json()?),
    }
    Ok(())
}
