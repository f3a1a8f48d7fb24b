//! Containers from nothing: repetitions, ranges, special vectors and matrices.

use super::{Args, Function, plain, real};
use crate::eval::operators::Answer;
use crate::value::{Cell, Item, Numbers, Tensor, Tuple, Value};

pub(super) const TABLE: &[Function] = &[
    plain("rep_array", rep_array),
    plain("rep_vector", |a| rep_scalar(a, Cell::Vector(a.size(1)?))),
    plain("rep_row_vector", |a| rep_scalar(a, Cell::RowVector(a.size(1)?))),
    plain("rep_matrix", rep_matrix),
    plain("ones_vector", |a| Ok(Value::vector(vec![1.0; room(a)?]))),
    plain("zeros_vector", |a| Ok(Value::vector(vec![0.0; room(a)?]))),
    plain("ones_row_vector", |a| Ok(Value::row_vector(vec![1.0; room(a)?]))),
    plain("zeros_row_vector", |a| Ok(Value::row_vector(vec![0.0; room(a)?]))),
    plain("ones_array", |a| Ok(Value::real_array(vec![1.0; room(a)?]))),
    plain("zeros_array", |a| Ok(Value::real_array(vec![0.0; room(a)?]))),
    plain("ones_int_array", |a| Ok(Value::int_array(vec![1; room(a)?]))),
    plain("zeros_int_array", |a| Ok(Value::int_array(vec![0; room(a)?]))),
    plain("uniform_simplex", |a| match room(a)? {
        0 => a.error("out-of-domain", "a simplex has at least one element"),
        n => Ok(Value::vector(vec![1.0 / real(n); n])),
    }),
    plain("identity_matrix", |a| {
        let n = a.size(0)?;
        let mut numbers = vec![0.0; a.room(&[n, n])?];
        (0..n).for_each(|i| numbers[i * n + i] = 1.0);
        Ok(Value::matrix(n, n, numbers))
    }),
    plain("one_hot_vector", |a| Ok(Value::vector(one_hot(a)?))),
    plain("one_hot_row_vector", |a| Ok(Value::row_vector(one_hot(a)?))),
    plain("one_hot_array", |a| Ok(Value::real_array(one_hot(a)?))),
    plain("one_hot_int_array", |a| {
        let mut numbers = vec![0; room(a)?];
        let at = a.position(1, numbers.len())?;
        numbers[at] = 1;
        Ok(Value::int_array(numbers))
    }),
    plain("linspaced_vector", |a| Ok(Value::vector(linspaced(a)?))),
    plain("linspaced_row_vector", |a| Ok(Value::row_vector(linspaced(a)?))),
    plain("linspaced_array", |a| Ok(Value::real_array(linspaced(a)?))),
    plain("linspaced_int_array", linspaced_int),
];

fn room(a: &Args) -> Result<usize, crate::eval::Failure> {
    a.room(&[a.size(0)?])
}

fn rep_array(a: &Args) -> Answer {
    let dims = (1..a.len()).map(|i| a.size(i)).collect::<Result<Vec<_>, _>>()?;
    let times = a.room(&dims)?;
    repeated(a, a.get(0)?, &dims, times)
}

fn repeated(a: &Args, value: &Value, dims: &[usize], times: usize) -> Answer {
    if let Value::Tuple(t) = value {
        let parts = t.parts.iter().map(|p| repeated(a, p, dims, times)).collect::<Result<_, _>>()?;
        return Ok(Tuple { array: dims.iter().chain(&t.array).copied().collect(), parts }.into());
    }
    let Some(shape) = value.shape() else { return a.error("argument-type", "this cannot be repeated") };
    let Item::Cell(cell) = shape.item else { return a.error("argument-type", "this cannot be repeated") };
    let array: Vec<usize> = dims.iter().chain(&shape.array).copied().collect();
    let numbers = if cell == Cell::Int {
        let once = value.to_ints().unwrap_or_default();
        a.room(&[times, once.len()])?;
        Numbers::Int(once.repeat(times))
    } else {
        let once = value.to_reals().unwrap_or_default();
        a.room(&[times, once.len()])?;
        Numbers::Real(once.repeat(times))
    };
    Ok(Tensor { array, cell, numbers }.into())
}

/// A vector or matrix whose elements are all the first argument.
fn rep_scalar(a: &Args, cell: Cell) -> Answer {
    let times = a.room(cell.dims().as_slice())?;
    match a.get(0)? {
        Value::Complex(z) => {
            a.room(&[times, 2])?;
            Ok(Tensor::reals(Vec::new(), cell.with_complex(true), [z.re, z.im].repeat(times)).into())
        }
        _ => Ok(Tensor::reals(Vec::new(), cell, vec![a.real(0)?; times]).into()),
    }
}

fn rep_matrix(a: &Args) -> Answer {
    if a.len() == 3 {
        return rep_scalar(a, Cell::Matrix(a.size(1)?, a.size(2)?));
    }
    let (t, times) = (a.tensor(0)?, a.size(1)?);
    a.room(&[t.numbers.len(), times])?;
    let numbers = t.numbers.to_reals();
    let complex = t.cell.is_complex();
    match t.cell.with_complex(false) {
        Cell::Vector(n) => {
            let cell = Cell::Matrix(n, times).with_complex(complex);
            Ok(Tensor::reals(Vec::new(), cell, numbers.repeat(times)).into())
        }
        Cell::RowVector(n) => {
            let cell = Cell::Matrix(times, n).with_complex(complex);
            let numbers = numbers.chunks(t.cell.unit()).flat_map(|x| x.repeat(times)).collect();
            Ok(Tensor::reals(Vec::new(), cell, numbers).into())
        }
        _ => a.error("argument-type", "a vector is expected"),
    }
}

fn one_hot(a: &Args) -> Result<Vec<f64>, crate::eval::Failure> {
    let mut numbers = vec![0.0; room(a)?];
    let at = a.position(1, numbers.len())?;
    numbers[at] = 1.0;
    Ok(numbers)
}

fn linspaced(a: &Args) -> Result<Vec<f64>, crate::eval::Failure> {
    let (n, low, high) = (room(a)?, a.real(1)?, a.real(2)?);
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return a.error("out-of-domain", &format!("the range from {low} to {high} must be finite and not decreasing"));
    }
    // The last one is exact; a single one is the upper end, as in Stan.
    let step = if n > 1 { (high - low) / real(n - 1) } else { 0.0 };
    Ok((0..n).map(|i| if i + 1 == n { high } else { low + real(i) * step }).collect())
}

fn linspaced_int(a: &Args) -> Answer {
    let (n, low, high) = (room(a)?, i64::from(a.int(1)?), i64::from(a.int(2)?));
    if low > high {
        return a.error("out-of-domain", &format!("the range from {low} to {high} is decreasing"));
    }
    let (range, steps) = (high - low, i64::try_from(n).unwrap_or(i64::MAX));
    // With fewer integers than steps each is repeated; else they are spaced by the largest whole step that fits.
    let number = |i: i64| {
        if steps == 1 {
            high
        } else if steps > 1 && range + 1 < steps {
            low + i / ((steps + range) / (range + 1))
        } else {
            low + i * (range / (steps - 1))
        }
    };
    let numbers = (0..steps).map(|i| i32::try_from(number(i))).collect::<Result<_, _>>();
    numbers
        .map_or_else(|_| a.error("integer-overflow", "a number does not fit Stan's int"), |v| Ok(Value::int_array(v)))
}
