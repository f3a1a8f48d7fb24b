//! Numbers in data that are not finite: where they are, and what to do about them.

use crate::error::{Refusal, Suspicion};
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::typed::{Program, VariableId};
use crust_stan::value::{Tensor, Value};

/// Stan has no missing values.
pub fn refuse_nan(program: &Program, data: &Data, file: &str) -> Result<(), Refusal> {
    missing(program, data, file).map_or(Ok(()), Err)
}

/// No distribution of outcomes puts anything on infinity.
pub fn refuse_infinite(
    program: &Program,
    data: &Data,
    outcomes: impl Iterator<Item = VariableId>,
    file: &str,
) -> Result<(), Refusal> {
    find(program, data, outcomes, f64::is_infinite)
        .map_or(Ok(()), |place| Err(Refusal::InfiniteOutcome { place, file: file.to_owned() }))
}

/// Data that are allowed but not finite, to be named after something went wrong.
pub fn suspicion(program: &Program, data: &Data, file: &str) -> Option<Suspicion> {
    missing(program, data, file).map(Suspicion::Missing).or_else(|| {
        let place = find(program, data, program.declared_in(BlockKind::Data), f64::is_infinite)?;
        Some(Suspicion::Infinite { place, file: file.to_owned() })
    })
}

fn missing(program: &Program, data: &Data, file: &str) -> Option<Refusal> {
    let place = find(program, data, program.declared_in(BlockKind::Data), f64::is_nan)?;
    Some(Refusal::NotANumber { place, file: file.to_owned() })
}

/// The first number of some kind, by name and indices as Stan has them.
fn find(
    program: &Program,
    data: &Data,
    mut variables: impl Iterator<Item = VariableId>,
    kind: fn(f64) -> bool,
) -> Option<String> {
    variables.find_map(|id| {
        let value = data.get(id)?;
        let at = value.to_reals()?.iter().position(|&x| kind(x))?;
        Some(format!("{}{}", program.variable(id).name, indices(value, at)))
    })
}

fn indices(value: &Value, at: usize) -> String {
    let numbers: Vec<String> = value.as_tensor().map(|tensor| unravel(tensor, at)).unwrap_or_default();
    if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(", ")) }
}

/// The indices of a number: cells lie one after the other, the last array index fastest, and matrices column by column.
fn unravel(tensor: &Tensor, at: usize) -> Vec<String> {
    let (mut cell, mut inside) = (at / tensor.cell.numbers(), at % tensor.cell.numbers() / tensor.cell.unit());
    let mut indices = Vec::new();
    for &size in tensor.array.iter().rev() {
        indices.push(cell % size);
        cell /= size;
    }
    indices.reverse();
    for &size in tensor.cell.dims().as_slice() {
        indices.push(inside % size);
        inside /= size;
    }
    indices.iter().map(|index| (index + 1).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_stan::value::Cell;

    #[test]
    fn places_are_told_as_stan_counts() {
        let matrices = Tensor::reals(vec![2], Cell::Matrix(2, 3), vec![0.0; 12]);
        assert_eq!(indices(&Value::from(matrices.clone()), 0), "[1, 1, 1]");
        // the second matrix, column by column: its fourth number is in row 2 of column 2
        assert_eq!(indices(&Value::from(matrices), 6 + 3), "[2, 2, 2]");
        let array = Tensor::ints(vec![2, 5], vec![0; 10]);
        assert_eq!(indices(&Value::from(array), 7), "[2, 3]");
        assert_eq!(indices(&Value::vector(vec![0.0; 4]), 3), "[4]");
        assert_eq!(indices(&Value::Real(1.0), 0), "");
    }
}
