//! Data for a program: read against its declarations, transformed, measured.

use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, DataErrors, Limits, Options, Outcome, ParameterInfo};
use crust_stan::deep::on_deep_stack;
use crust_stan::source::Source;
use crust_stan::typed::Program;

pub use crate::calculator::Calculator;

/// Reads the variables of the data block.
pub fn read_data(program: &Program, source: &Source, json: &str, options: &Options<'_>) -> Result<Data, DataErrors> {
    on_deep_stack(|| {
        let mut calculator = Calculator::new(program, options.limits);
        crust_stan::data::read_data(program, source, json, options, &mut calculator)
    })
}

/// Runs transformed data on these data. Random numbers are not known.
pub fn transformed(program: &Program, data: Data, limits: Limits) -> Outcome<Data> {
    on_deep_stack(|| {
        let mut calculator = Calculator::knowing(program, &data, limits);
        calculator.transformed_data()?;
        let values = calculator.into_values();
        Ok(data.with_values(values))
    })
}

/// The parameters block. `data` should have been [`transformed`], for sizes that depend on it.
pub fn parameter_table(program: &Program, source: &Source, data: &Data, limits: Limits) -> Outcome<Vec<ParameterInfo>> {
    quantity_table(program, source, data, limits, BlockKind::Parameters)
}

/// The same for the variables of any block; only parameters have a dimension.
pub fn quantity_table(
    program: &Program,
    source: &Source,
    data: &Data,
    limits: Limits,
    block: BlockKind,
) -> Outcome<Vec<ParameterInfo>> {
    on_deep_stack(|| {
        let mut calculator = Calculator::knowing(program, data, limits);
        crust_stan::data::quantity_table(program, source, block, &mut calculator)
    })
}
