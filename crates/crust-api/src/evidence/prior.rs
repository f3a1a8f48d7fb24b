//! Reads a program with all of its data, and what it says about its prior.
//!
//! Only the prior is drawn from: unlike for the protocols, nothing needs to be able to simulate the outcomes.

use crate::arguments::Evidence;
use crate::finite;
use crate::program::{
    data_text, is_supported, read_program, read_values, show, show_engine_error, show_simulate_error,
};
use crust_engine::{EngineError, Model, Simulator};
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::front_end::Reading;
use crust_stan::joint::{Joint, ReadOptions, Split};
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
    let Some(reading) = read_program(&arguments.model, &arguments.includes.include_path, quiet)? else {
        return Ok(None);
    };
    if reading.typed.declared_in(BlockKind::Parameters).next().is_none() {
        let name = arguments.model.display();
        return Err(format!(
            "the program {name} has no parameters: its marginal likelihood is its likelihood (see `crust density`)"
        ));
    }
    if !is_supported(&reading) {
        return Ok(None);
    }
    let file = arguments.data.as_deref();
    let Some(data) = read_values(&reading, &data_text(file)?, file, &|_| false, quiet) else { return Ok(None) };
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
    finite::refuse_nan(&reading.typed, &data, &finite::file_name(file))?;
    let model = match Model::bind(&reading.typed, &data, arguments.computing.seed) {
        Ok(model) => Arc::new(model),
        Err(error) => {
            show_engine_error(&reading, &error);
            return Ok(None);
        }
    };
    let simulator = match Simulator::new(&reading.typed, &joint, &data, None) {
        Ok(simulator) => simulator,
        Err(error) => return show_simulate_error(&reading, error).map(|_| None),
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
