//! Values of the machine as values of the language, and back.

use crust_math::functions::{Cell as MachineCell, Shape as MachineShape};
use crust_stan::typed::{Program, VariableId};
use crust_stan::types::Type;
use crust_stan::value::{Cell, Numbers, Tensor, Tuple, Value};

use crate::machine::{self, Machine, View};

/// Puts a value into the machine, as constants; nothing where the machine has no such values. What is not known has
/// NaN in the place of its numbers: only its shape will be looked at.
pub fn constant(machine: &mut Machine, given: &Value) -> Option<machine::Value> {
    if !is_possible(given) {
        return None;
    }
    let mut numbers = |shape: MachineShape, list: &mut dyn ExactSizeIterator<Item = f64>| {
        let block = machine.arena.constant(list.len(), list);
        Some(machine::Value::Numbers(View { shape, block }))
    };
    match given {
        Value::Int(n) => numbers(MachineShape::SCALAR, &mut std::iter::once(f64::from(*n))),
        Value::Real(x) => numbers(MachineShape::SCALAR, &mut std::iter::once(*x)),
        Value::Tensor(tensor) => {
            let shape = shape(tensor)?;
            match &tensor.numbers {
                Numbers::Int(list) => numbers(shape, &mut list.iter().map(|&n| f64::from(n))),
                Numbers::Real(list) => numbers(shape, &mut list.iter().copied()),
            }
        }
        Value::Tuple(tuple) => {
            let mut parts = Vec::new();
            for part in &tuple.parts {
                parts.push(constant(machine, part)?);
            }
            Some(machine.push_tuple(&parts))
        }
        Value::Unavailable(unknown) => constant(machine, &Value::unset(unknown.shape.as_ref()?)),
        Value::Complex(_) => None,
    }
}

fn is_possible(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Real(_) => true,
        Value::Tensor(tensor) => shape(tensor).is_some(),
        Value::Tuple(tuple) => tuple.parts.iter().all(is_possible),
        Value::Unavailable(unknown) => unknown.shape.as_ref().is_some_and(|shape| is_possible(&Value::unset(shape))),
        Value::Complex(_) => false,
    }
}

fn shape(tensor: &Tensor) -> Option<MachineShape> {
    let (cell, sizes): (MachineCell, &[usize]) = match &tensor.cell {
        Cell::Int | Cell::Real => (MachineCell::Scalar, &[]),
        Cell::Vector(n) => (MachineCell::Vector, &[*n]),
        Cell::RowVector(n) => (MachineCell::RowVector, &[*n]),
        Cell::Matrix(r, c) => (MachineCell::Matrix, &[*r, *c]),
        _ => return None,
    };
    let fits = |n: &usize| u32::try_from(*n).is_ok();
    let possible = tensor.array.len() + sizes.len() <= MachineShape::MOST && tensor.array.iter().chain(sizes).all(fits);
    possible.then(|| MachineShape::new(&tensor.array, cell, sizes))
}

/// The value of a variable.
pub fn of_variable(program: &Program, machine: &Machine, id: VariableId) -> Value {
    of(machine, machine.globals[id.0 as usize].value, &program.variable(id).ty)
}

/// A value of the machine as one of type `ty`.
pub fn of(machine: &Machine, value: machine::Value, ty: &Type) -> Value {
    match value {
        machine::Value::Unset => Value::unavailable("it has no value here", None, None),
        machine::Value::Tuple { first, parts } => {
            let (Type::Tuple(types), dimensions) = ty.array_parts() else {
                return Value::unavailable("it is no tuple", None, None);
            };
            let values: Vec<Value> = (first..first + parts)
                .zip(types)
                .map(|(part, ty)| of(machine, machine.tuple_part(part), &ty.clone().in_array(dimensions)))
                .collect();
            let shape = values.first().and_then(Value::shape);
            let array = shape.map(|shape| shape.array[..dimensions.min(shape.array.len())].to_vec());
            Tuple { array: array.unwrap_or_default(), parts: values }.into()
        }
        machine::Value::Numbers(view) => {
            of_numbers(&view.shape, machine.arena.of(view.block, machine.width), ty.is_int_like())
        }
    }
}

fn of_numbers(shape: &MachineShape, numbers: &[f64], whole: bool) -> Value {
    if shape.is_scalar() {
        return if whole { Value::Int(int(numbers[0])) } else { Value::Real(numbers[0]) };
    }
    let array: Vec<usize> = (0..shape.array_rank()).map(|d| shape.size(d)).collect();
    let cell = match shape.cell() {
        MachineCell::Scalar if whole => Cell::Int,
        MachineCell::Scalar => Cell::Real,
        MachineCell::Vector => Cell::Vector(shape.rows()),
        MachineCell::RowVector => Cell::RowVector(shape.columns()),
        MachineCell::Matrix => Cell::Matrix(shape.rows(), shape.columns()),
    };
    let numbers =
        if whole { Numbers::Int(numbers.iter().map(|&x| int(x)).collect()) } else { Numbers::Real(numbers.to_vec()) };
    Tensor { array, cell, numbers }.into()
}

/// The machine has numbers only; an `int` without a value is Stan's least one.
#[allow(clippy::cast_possible_truncation, reason = "integers have been checked")]
fn int(x: f64) -> i32 {
    if x.is_nan() { i32::MIN } else { x as i32 }
}
