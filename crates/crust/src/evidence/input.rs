//! Reads a program with all of its data, and what it says about its prior.
//!
//! Only the prior is drawn from: unlike for the protocols, nothing needs to be able to simulate the outcomes.

use crate::Outcome;
use crate::arguments::Evidence;
use crate::program::{read_text, show_engine_error, show_problems};
use crate::terminal;
use crust_engine::{EngineError, Model, SimulateError, Simulator};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, Options, read_data};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::front_end::{Reading, read};
use crust_stan::joint::{Joint, ReadOptions, Split};
use crust_stan::source::IncludeFiles;
use crust_stan::typed::VariableId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A program with its data and its prior.
pub struct Loaded {
    pub reading: Reading,
    pub data: Data,
    pub joint: Joint,
    pub simulator: Simulator,
    pub model: Arc<Model>,
}

/// Reads everything. Mistakes are shown where they are; `None` says that there were some.
pub fn load(arguments: &Evidence, quiet: bool) -> Result<Option<Loaded>, String> {
    let name = arguments.model.display().to_string();
    let text = read_text("program", &arguments.model)?;
    let loader = IncludeFiles { folders: arguments.include_path.clone() };
    let reading = read(&name, Some(&arguments.model), &text, &loader);
    if reading.has_errors() {
        show_problems(&reading, None, quiet);
        return Ok(None);
    }
    if reading.typed.declared_in(BlockKind::Parameters).next().is_none() {
        return Err(format!(
            "the program {name} has no parameters: its marginal likelihood is its likelihood (see `crust density`)"
        ));
    }
    let json = match &arguments.data {
        Some(path) => read_text("data", path)?,
        None => "{}".to_owned(),
    };
    let data_name = arguments.data.as_deref().map_or_else(|| "no data".to_owned(), |path| path.display().to_string());
    let options = Options { name: &data_name, ..Options::default() };
    let data = match read_data(&reading.typed, &reading.source, &json, &options) {
        Ok(data) => data,
        Err(errors) => {
            show_problems(&reading, Some(&errors), quiet);
            return Ok(None);
        }
    };
    let joint = match read_joint(&reading) {
        Ok(joint) => joint,
        Err(problems) => {
            show_engine_error(&reading, &EngineError(problems));
            return Ok(None);
        }
    };
    if !quiet {
        joint.warnings.iter().for_each(|warning| show(&reading, warning));
    }
    check_numbers(&reading, &data, &data_name)?;
    let model = match Model::bind(&reading.typed, &data, arguments.seed) {
        Ok(model) => Arc::new(model),
        Err(error) => {
            show_engine_error(&reading, &error);
            return Ok(None);
        }
    };
    let simulator = match Simulator::new(&reading.typed, &joint, &data, None) {
        Ok(simulator) => simulator,
        Err(error) => return tell(&reading, error).map(|_| None),
    };
    Ok(Some(Loaded { reading, data, joint, simulator, model }))
}

/// The generative reading. Outcomes are given, so that nothing needs to know how to draw them: they count as simulated elsewhere. Where the
/// likelihood is no density of anything, so do all data that no prior looks at.
fn read_joint(reading: &Reading) -> Result<Joint, Vec<Diagnostic>> {
    let program = &reading.typed;
    let read = |simulated: BTreeSet<String>| Joint::read(program, &ReadOptions { hyper: None, simulated });
    let name = |id| program.variable(id).name.clone();
    let outcomes: BTreeSet<String> = Split::of(program).outcomes.into_iter().map(name).collect();
    let problems = match read(outcomes.clone()) {
        Ok(joint) => return Ok(joint),
        Err(problems) => problems,
    };
    let in_prior = |name: &String| {
        let found = read(BTreeSet::from([name.clone()]));
        found.is_err_and(|problems| problems.iter().any(|p| p.code == "prior-depends-on-outcome"))
    };
    let size = |id: &VariableId| program.variable(*id).ty.is_scalar() && program.variable(*id).ty.is_int_like();
    let others = program.declared_in(BlockKind::Data).filter(|id| !size(id)).map(name).filter(|name| !in_prior(name));
    read(outcomes.into_iter().chain(others).collect()).map_err(|_| problems)
}

/// Stan has no missing values.
fn check_numbers(reading: &Reading, data: &Data, file: &str) -> Result<(), String> {
    let program = &reading.typed;
    for id in program.declared_in(BlockKind::Data) {
        let Some(numbers) = data.get(id).and_then(crust_stan::value::Value::to_reals) else { continue };
        if let Some(at) = numbers.iter().position(|x| x.is_nan()) {
            let place =
                if numbers.len() == 1 { String::new() } else { format!(" (number {} of {})", at + 1, numbers.len()) };
            return Err(format!(
                "`{}` in {file} is not a number{place}: Stan has no missing values; leave such rows out, or declare them as parameters",
                program.variable(id).name
            ));
        }
    }
    Ok(())
}

fn show(reading: &Reading, problem: &Diagnostic) {
    terminal::complain(&(crust_stan::render::render(problem, &reading.source, terminal::colour()) + "\n"));
}

/// Shows why the prior cannot be drawn from, where it is in the program if it has a place there.
pub fn tell(reading: &Reading, error: SimulateError) -> Result<Outcome, String> {
    let problems = match error {
        SimulateError::Engine(error) => error,
        SimulateError::Reading(problem) => EngineError(vec![*problem]),
        SimulateError::Rejected(rejection) => EngineError(vec![
            Diagnostic::error("draw-failed", rejection.message, rejection.span)
                .note("parameters were drawn from the prior, and this statement could not be drawn")
                .help("a prior that lets parameters be so large that nothing can be drawn is the usual cause: use a narrower one"),
        ]),
        other => return Err(other.to_string()),
    };
    show_engine_error(reading, &problems);
    Ok(Outcome::BadInput)
}
