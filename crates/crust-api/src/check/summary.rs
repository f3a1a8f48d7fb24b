//! What is in a valid program.

use crate::problem::Program;
use crust_diagnose::result::{BlockSummary, ProgramSummary, VariableSummary};
use crust_engine::data::{parameter_table, quantity_table};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, Limits, Outcome, ParameterInfo};
use crust_stan::typed::VariableId;
use crust_stan::value::Value;

/// From the program alone: types as declared.
pub(super) fn of_program(read: &Program) -> ProgramSummary {
    let program = read.typed();
    let blocks = BlockKind::ALL.into_iter().filter(|k| program.blocks[*k as usize].is_some()).map(|kind| {
        let variables = program.declared_in(kind).count();
        let statements = program.block(kind).len() - variables;
        BlockSummary { name: kind.name().to_owned(), variables, statements }
    });
    let variables = |kind| program.declared_in(kind).map(|id| as_declared(read, id)).collect();
    ProgramSummary {
        functions: program.functions.len(),
        blocks: blocks.collect(),
        data: variables(BlockKind::Data),
        parameters: variables(BlockKind::Parameters),
        unconstrained_dimension: None,
        notes: Vec::new(),
        with_data: false,
    }
}

/// With data: sizes are known, and with them the dimension of the space that samplers move in.
pub(super) fn with_data(program: &Program, data: &Data, limits: Limits) -> Outcome<ProgramSummary> {
    let read = quantity_table(program.typed(), program.text(), data, limits, BlockKind::Data)?;
    let parameters = parameter_table(program.typed(), program.text(), data, limits)?;
    let of_data = |info: &ParameterInfo| VariableSummary { value: number(data, info.id), ..variable(info) };
    Ok(ProgramSummary {
        data: read.iter().map(of_data).collect(),
        unconstrained_dimension: parameters.iter().map(|p| p.dimension).sum(),
        parameters: parameters.iter().map(variable).collect(),
        notes: notes(data),
        with_data: true,
        ..of_program(program)
    })
}

fn notes(data: &Data) -> Vec<String> {
    let unused = data.unused.iter().map(|name| format!("the data have `{name}`, which the program does not declare"));
    unused.chain(data.notes.iter().cloned()).collect()
}

fn number(data: &Data, id: VariableId) -> Option<f64> {
    match data.get(id) {
        Some(Value::Int(n)) => Some(f64::from(*n)),
        Some(Value::Real(x)) => Some(*x),
        _ => None,
    }
}

fn variable(info: &ParameterInfo) -> VariableSummary {
    VariableSummary {
        name: info.name.clone(),
        ty: info.declared.clone(),
        unconstrained_dimension: info.dimension,
        value: None,
        reason: info.reason.clone(),
    }
}

fn as_declared(program: &Program, id: VariableId) -> VariableSummary {
    let variable = program.typed().variable(id);
    let ty =
        variable.declared.as_ref().map_or_else(|| variable.ty.to_string(), |d| one_line(program.text().slice(d.span)));
    VariableSummary { name: variable.name.clone(), ty, unconstrained_dimension: None, value: None, reason: None }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
