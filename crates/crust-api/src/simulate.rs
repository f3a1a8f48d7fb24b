//! `crust simulate`: parameters from the prior, and data given parameters.

use crate::arguments::{Common, Simulate};
use crate::experiment::{Input, Loaded, load};
use crate::program::show_simulate_error;
use crate::sample::initial::read_values;
use crate::{Outcome, terminal};
use crust_engine::{SimulateError, Values};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::write_json;
use std::path::Path;

/// A simulated dataset with the parameters behind it; both are Stan JSON.
struct Dataset {
    parameters: String,
    data: String,
}

pub fn run(arguments: &Simulate, common: &Common) -> Result<Outcome, String> {
    let input = Input {
        model: &arguments.model,
        data: arguments.data.as_deref(),
        include_path: &arguments.includes.include_path,
        hyper: arguments.hyper.as_deref(),
        simulator: arguments.simulator.as_deref(),
        real: false,
        quiet: common.quiet,
    };
    let Some(mut loaded) = load(&input)? else { return Ok(Outcome::BadInput) };
    let fixed = match &arguments.fix {
        None => None,
        Some(file) => Some(read_values("fixed value", file, &loaded.simulator.parameter_shapes(), common.quiet)?),
    };
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot use the folder {}: {e}", folder.display()))?;
    }
    let mut datasets = Vec::new();
    for number in 0..arguments.number {
        let (parameters, data) = match draw(&mut loaded, fixed.as_ref(), arguments.seed, number) {
            Ok(drawn) => drawn,
            Err(error) => return show_simulate_error(&loaded.reading, error),
        };
        if let Some(folder) = &arguments.out {
            let file = |ending: &str| folder.join(format!("simulated-{}{ending}.json", number + 1));
            write(&file(""), &data)?;
            write(&file(".parameters"), &parameters)?;
        }
        if common.json.is_some() || arguments.out.is_none() {
            datasets.push(Dataset { parameters, data });
        }
    }
    finish(arguments, common, &loaded, &datasets)
}

fn finish(arguments: &Simulate, common: &Common, loaded: &Loaded, datasets: &[Dataset]) -> Result<Outcome, String> {
    let on_stdout = common.json.as_deref().is_some_and(terminal::is_stdout);
    if let (Some(folder), false) = (&arguments.out, common.quiet || on_stdout) {
        let n = arguments.number;
        terminal::say(&format!("{n} simulated dataset{} in {}", if n == 1 { "" } else { "s" }, folder.display()));
    }
    match &common.json {
        Some(file) if !on_stdout => write(file, &report(loaded, datasets)?)?,
        // One dataset alone can be fed back as it is.
        None if arguments.out.is_none() && arguments.number == 1 => {
            datasets.iter().for_each(|d| terminal::say(d.data.trim_end()));
        }
        None if arguments.out.is_some() => {}
        _ => terminal::say(report(loaded, datasets)?.trim_end()),
    }
    Ok(Outcome::Fine)
}

/// `{"hyperparameters": […], "datasets": [{"parameters": …, "data": …}, …]}`. The datasets are put in as they are: every
/// number keeps its digits.
fn report(loaded: &Loaded, datasets: &[Dataset]) -> Result<String, String> {
    let names = serde_json::to_string(&loaded.hyperparameters).map_err(|e| e.to_string())?;
    let list: Vec<String> = datasets
        .iter()
        .map(|d| format!("{{\"parameters\": {}, \"data\": {}}}", d.parameters.trim_end(), d.data.trim_end()))
        .collect();
    Ok(format!("{{\"hyperparameters\": {names}, \"datasets\": [{}]}}\n", list.join(",\n")))
}

/// Parameters and data number `number`, as Stan JSON.
fn draw(
    loaded: &mut Loaded,
    fixed: Option<&Values>,
    seed: u64,
    number: u32,
) -> Result<(String, String), SimulateError> {
    let key = StreamKey::new(seed, Purpose::PRIOR).dataset(number);
    let point = loaded.simulator.draw_parameters(fixed, key)?;
    let data = loaded.simulator.draw_data(&point, key.purpose(Purpose::DATA))?;
    Ok((loaded.simulator.parameters_json(&point)?, write_json(loaded.program(), &data)))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
