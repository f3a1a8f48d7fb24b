//! Numbers of the machine as data, and back.

use std::collections::BTreeMap;

use crust_math::functions::Cell as MachineCell;
use crust_stan::ast::BlockKind;
use crust_stan::data::{Calculator as _, Data, Limits};
use crust_stan::typed::{Program, VariableId};
use crust_stan::value::{Cell, Item, Numbers, Shape, Tensor, Value};

use super::SimulateError;
use crate::calculator::Calculator;
use crate::model::EngineError;
use crate::names::Layout;
use crate::unconstrain::Values;

/// Numbers in the order of the output (the first index runs fastest) in the machine's order.
pub fn from_output(layout: &Layout, numbers: &[f64]) -> Vec<f64> {
    let mut all = Vec::with_capacity(numbers.len());
    let mut rest = numbers;
    for part in &layout.parts {
        let own = rest.split_off(..part.shape.len()).unwrap_or_default();
        let mut list = vec![f64::NAN; own.len()];
        let mut next = own.iter();
        part.each_in_output_order(|_, at| list[at] = next.next().copied().unwrap_or(f64::NAN));
        all.extend(list);
    }
    all
}

/// Numbers in the order of nested arrays (rows of a matrix one after the other) in the machine's order.
pub fn machine_order(layout: &Layout, nested: &[f64]) -> Vec<f64> {
    by_columns(layout, nested, |(rows, columns), r, c| (c * rows + r, r * columns + c))
}

/// The other way round.
pub fn nested_order(layout: &Layout, numbers: &[f64]) -> Vec<f64> {
    by_columns(layout, numbers, |(rows, columns), r, c| (r * columns + c, c * rows + r))
}

/// Copies matrices cell by cell; `places` says where an element goes and where it comes from.
fn by_columns(
    layout: &Layout,
    numbers: &[f64],
    places: impl Fn((usize, usize), usize, usize) -> (usize, usize),
) -> Vec<f64> {
    let mut all = numbers.to_vec();
    let mut start = 0;
    for part in &layout.parts {
        let (shape, len) = (part.shape, part.shape.len());
        if shape.cell() == MachineCell::Matrix {
            let (rows, columns) = (shape.rows(), shape.columns());
            for cell in (start..start + len).step_by(shape.cell_len().max(1)) {
                for r in 0..rows {
                    for c in 0..columns {
                        let (to, from) = places((rows, columns), r, c);
                        all[cell + to] = numbers[cell + from];
                    }
                }
            }
        }
        start += len;
    }
    all
}

/// Values by name in the order of nested arrays, from numbers in the order of the output.
pub fn named(layouts: &[Layout], numbers: &[f64]) -> Values {
    let machine = machine_values(layouts, numbers);
    layouts.iter().filter_map(|l| Some((l.name.clone(), nested_order(l, machine.get(&l.name)?)))).collect()
}

/// Values by name in the machine's order, from numbers in the order of the output.
pub fn machine_values(layouts: &[Layout], numbers: &[f64]) -> BTreeMap<String, Vec<f64>> {
    let mut rest = numbers;
    let mut found = BTreeMap::new();
    for layout in layouts {
        let own = rest.split_off(..layout.len()).unwrap_or_default();
        found.insert(layout.name.clone(), from_output(layout, own));
    }
    found
}

/// Sets a variable of the data block from numbers in the machine's order.
pub fn set(program: &Program, data: &mut Data, id: VariableId, numbers: &[f64]) -> Result<(), SimulateError> {
    let variable = program.variable(id);
    let Some(declared) = &variable.declared else { return Ok(()) };
    let mut calculator = Calculator::knowing(program, data, Limits::default());
    let shape = calculator.shape(declared).map_err(|problem| EngineError::one(*problem))?;
    let Ok(shape) = shape else {
        return Err(SimulateError::Simulator(format!("the size of `{}` is not known", variable.name)));
    };
    if shape.numbers() != Some(numbers.len()) {
        let (name, n) = (&variable.name, numbers.len());
        return Err(SimulateError::Simulator(format!("`{name}` should be a {shape}, but {n} numbers were drawn")));
    }
    let Some(value) = value(&shape, numbers) else {
        return Err(SimulateError::Simulator(format!("`{}` is a tuple, which cannot be simulated", variable.name)));
    };
    // A draw beyond the bounds in the declaration would be refused as data.
    let violations = calculator.violations(declared, &variable.name, &value);
    if let Some(first) = violations.map_err(|problem| EngineError::one(*problem))?.first() {
        return Err(SimulateError::Outside { name: variable.name.clone(), message: first.message() });
    }
    data.set(id, value);
    Ok(())
}

#[allow(clippy::cast_possible_truncation, reason = "draws of integers fit in 32 bits: the generators check it")]
fn value(shape: &Shape, numbers: &[f64]) -> Option<Value> {
    let Item::Cell(cell) = &shape.item else { return None };
    Some(match (cell, shape.array.as_slice(), numbers) {
        (Cell::Int, [], [x]) => Value::Int(*x as i32),
        (Cell::Real, [], [x]) => Value::Real(*x),
        (Cell::Int, ..) => {
            let numbers = numbers.iter().map(|x| *x as i32).collect();
            Tensor { array: shape.array.clone(), cell: *cell, numbers: Numbers::Int(numbers) }.into()
        }
        _ => Tensor { array: shape.array.clone(), cell: *cell, numbers: Numbers::Real(numbers.to_vec()) }.into(),
    })
}

/// Data in which what is missing has a value all the same: of no meaning, but of the right shape.
pub fn completed(data: &Data) -> Data {
    let mut complete = data.clone();
    for id in data.missing.clone() {
        let shape = data.get(id).and_then(Value::shape);
        let filled = shape.and_then(|shape| value(&shape, &vec![0.0; shape.numbers().unwrap_or(0)]));
        if let Some(filled) = filled {
            complete.set(id, filled);
        }
    }
    complete
}

/// The data of one program for another, by name.
pub fn data_for(other: &Program, program: &Program, data: &Data) -> Result<Data, SimulateError> {
    let mut theirs = Data::empty(other.variables.len());
    for id in other.declared_in(BlockKind::Data) {
        let name = &other.variable(id).name;
        match data.by_name(program, name) {
            Some(value) => theirs.set(id, value.clone()),
            None => return Err(SimulateError::Simulator(format!("its data `{name}` are no data of the program"))),
        }
    }
    Ok(theirs)
}

/// Numbers in the order of nested arrays as text.
pub fn nested_json(sizes: &[usize], numbers: &[f64]) -> String {
    match sizes {
        [] => numbers.first().copied().map_or_else(|| "null".to_owned(), number),
        [size, inner @ ..] => {
            let step = inner.iter().product::<usize>();
            let parts: Vec<String> =
                (0..*size).map(|i| nested_json(inner, &numbers[i * step..(i + 1) * step])).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

fn number(x: f64) -> String {
    let mut text = String::new();
    crust_stan::data::write_value(&mut text, &Value::Real(x));
    text
}
