//! Reads a program with its data for an experiment, and refuses what no experiment can be made of.

use crate::finite;
use crate::program::{
    data_text, is_supported, read_program, read_values, show, show_engine_error, show_simulate_error,
};
use crust_diagnose::result::{Reading as ReadingResult, Stated};
use crust_engine::{EngineError, Model, Simulator};
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::front_end::Reading;
use crust_stan::joint::{Joint, ReadOptions};
use crust_stan::typed::{Program, VariableId};
use std::path::{Path, PathBuf};

/// What the user gave.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub model: &'a Path,
    pub data: Option<&'a Path>,
    pub include_path: &'a [PathBuf],
    pub hyper: Option<&'a [String]>,
    pub simulator: Option<&'a Path>,
    /// Whether the outcomes must be in the data.
    pub real: bool,
    pub quiet: bool,
}

/// A program with its generative reading and its data.
pub struct Loaded {
    pub reading: Reading,
    pub data: Data,
    pub simulator: Simulator,
    pub hyperparameters: Vec<String>,
    /// Those that the program itself suggests, whatever the user says.
    pub scales: Vec<String>,
    pub summary: ReadingResult,
    /// Data that are not finite, which may be why something went wrong.
    pub suspicion: Option<String>,
    /// All texts that were read: what results depend on.
    pub texts: Vec<String>,
}

impl Loaded {
    pub fn bind(&self, data: &Data, seed: u64) -> Result<Model, EngineError> {
        Model::bind(&self.reading.typed, data, seed)
    }

    pub fn program(&self) -> &Program {
        &self.reading.typed
    }
}

/// Reads everything. Mistakes are shown where they are; `None` says that there were some.
pub fn load(input: &Input<'_>) -> Result<Option<Loaded>, String> {
    let Some(reading) = program(input.model, input)? else { return Ok(None) };
    let other = match input.simulator {
        Some(path) => match program(path, input)? {
            Some(other) => Some(other),
            None => return Ok(None),
        },
        None => None,
    };
    let simulated = other.as_ref().map(|other| generated(&other.typed)).unwrap_or_default();
    let options =
        ReadOptions { hyper: input.hyper.map(<[String]>::to_vec), simulated: simulated.into_iter().collect() };
    let joint = match Joint::read(&reading.typed, &options) {
        Ok(joint) => joint,
        Err(problems) => {
            show_engine_error(&reading, &EngineError(problems));
            return Ok(None);
        }
    };
    if !input.quiet {
        joint.warnings.iter().for_each(|warning| show(&reading, warning));
    }
    let json = data_text(input.data)?;
    let outcomes = joint.outcome_names();
    let may_be_missing = |name: &str| !input.real && outcomes.contains(name);
    let Some(data) = read_values(&reading, &json, input.data, &may_be_missing, input.quiet) else { return Ok(None) };
    check_values(&reading, &joint, &data, input)?;
    let simulator = match Simulator::new(&reading.typed, &joint, &data, other.as_ref().map(|other| &other.typed)) {
        Ok(simulator) => simulator,
        Err(error) => return show_simulate_error(&reading, error).map(|_| None),
    };
    let names = |joint: &Joint| -> Vec<String> {
        joint.hyperparameters.iter().map(|&id| joint.program.variable(id).name.clone()).collect()
    };
    let hyperparameters = names(&joint);
    let own = Joint::read(&reading.typed, &ReadOptions { hyper: None, ..options });
    let scales = own.map_or_else(|_| hyperparameters.clone(), |own| names(&own));
    let summary = summarise(&joint, &reading);
    let suspicion = finite::suspicion(&reading.typed, &data, &finite::file_name(input.data));
    let mut texts = vec![reading.source.text().to_owned(), json];
    texts.extend(other.map(|other| other.source.text().to_owned()));
    Ok(Some(Loaded { reading, data, simulator, hyperparameters, scales, summary, suspicion, texts }))
}

fn program(path: &Path, input: &Input<'_>) -> Result<Option<Reading>, String> {
    let Some(reading) = read_program(path, input.include_path, input.quiet)? else { return Ok(None) };
    if reading.typed.declared_in(BlockKind::Parameters).next().is_none() {
        return Err(format!("the program {} has no parameters: there is nothing to infer", path.display()));
    }
    Ok(is_supported(&reading).then_some(reading))
}

/// Names of generated quantities: what a simulator supplies.
fn generated(program: &Program) -> Vec<String> {
    program.declared_in(BlockKind::GeneratedQuantities).map(|id| program.variable(id).name.clone()).collect()
}

/// Data that are complete and of the right sizes may still be of no use.
fn check_values(reading: &Reading, joint: &Joint, data: &Data, input: &Input<'_>) -> Result<(), String> {
    let (program, file) = (&reading.typed, finite::file_name(input.data));
    finite::refuse_nan(program, data, &file)?;
    if input.real {
        finite::refuse_infinite(program, data, joint.outcomes.iter().map(|(id, _)| *id), &file)?;
    }
    let names: Vec<String> = joint.outcome_names().into_iter().collect();
    if names.is_empty() {
        return Err(
            "the program has no outcome: no data has a distribution, so that there is nothing to learn from (see `crust check`)".to_owned()
        );
    }
    let size =
        |id: VariableId| data.get(id).and_then(crust_stan::value::Value::shape).and_then(|shape| shape.scalars());
    if joint.outcomes.iter().all(|(id, _)| size(*id) == Some(0)) {
        return Err(format!(
            "{} in {file} {} no values: there is nothing to learn from",
            quoted(&names),
            if names.len() == 1 { "has" } else { "have" }
        ));
    }
    if input.real {
        check_variation(joint, data, &file)?;
    }
    Ok(())
}

/// An outcome that is the same everywhere is nearly always a mistake in the preparation of the data.
fn check_variation(joint: &Joint, data: &Data, file: &str) -> Result<(), String> {
    for (id, _) in &joint.outcomes {
        let Some(numbers) = data.get(*id).and_then(crust_stan::value::Value::to_reals) else { continue };
        let Some((first, rest)) = numbers.split_first() else { continue };
        if !rest.is_empty() && rest.iter().all(|x| x.to_bits() == first.to_bits()) {
            return Err(format!(
                "all {} values of the outcome `{}` in {file} are {first}: such data cannot be compared with simulated ones; is the \
                 right column in the file?",
                numbers.len(),
                joint.program.variable(*id).name
            ));
        }
    }
    Ok(())
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn summarise(joint: &Joint, reading: &Reading) -> ReadingResult {
    let summary = joint.summary(&reading.source);
    let mut notes = summary.notes;
    notes.extend(summary.warnings);
    let parameter = |p: crust_stan::joint::ParameterSummary| Stated { name: p.name, words: p.prior.join("; ") };
    let outcome = |o: crust_stan::joint::OutcomeSummary| Stated { name: o.name, words: o.likelihood.join("; ") };
    ReadingResult {
        parameters: summary.parameters.into_iter().map(parameter).collect(),
        outcomes: summary.outcomes.into_iter().map(outcome).collect(),
        hyperparameters: summary.hyperparameters,
        order: summary.order,
        notes,
    }
}
