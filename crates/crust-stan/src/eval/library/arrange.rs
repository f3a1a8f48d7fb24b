//! Slicing, joining and reshaping.

use super::{Args, Function, plain};
use crate::eval::operators::{Answer, transposed};
use crate::eval::{Failure, fail};
use crate::value::{Cell, Numbers, Selector, Tensor, Tuple, Value};

pub(super) const TABLE: &[Function] = &[
    plain("reverse", |a| {
        let n = length(a, 0)?;
        let all = i32::try_from(n).or_else(|_| a.error("too-large", "too many elements"))?;
        take(a, &[Selector::Many((1..=all).rev().collect())])
    }),
    plain("head", |a| {
        let n = within(a, 1, length(a, 0)?)?;
        take(a, &[Selector::UpTo(n)])
    }),
    plain("tail", |a| {
        let size = length(a, 0)?;
        let n = within(a, 1, size)?;
        segment(a, int(a, size)? - n + 1, n)
    }),
    plain("segment", |a| {
        let size = length(a, 0)?;
        let (start, n) = (a.int(1)?, within(a, 2, size)?);
        if n > 0 {
            a.position(1, size)?;
        }
        segment(a, start, n)
    }),
    plain("col", |a| take(a, &[Selector::All, Selector::One(a.int(1)?)])),
    plain("row", |a| take(a, &[Selector::One(a.int(1)?)])),
    plain("sub_col", |a| take(a, &[run(a, 1, 3)?, Selector::One(a.int(2)?)])),
    plain("sub_row", |a| take(a, &[Selector::One(a.int(1)?), run(a, 2, 3)?])),
    plain("block", |a| take(a, &[run(a, 1, 3)?, run(a, 2, 4)?])),
    plain("append_array", |a| append_array(a, a.get(0)?, a.get(1)?)),
    plain("append_row", |a| append(a, true)),
    plain("append_col", |a| append(a, false)),
    plain("to_vector", |a| flat(a, |n| (Vec::new(), Cell::Vector(n)))),
    plain("to_row_vector", |a| flat(a, |n| (Vec::new(), Cell::RowVector(n)))),
    plain("to_array_1d", to_array_1d),
    plain("to_array_2d", to_array_2d),
    plain("to_matrix", to_matrix),
];

fn take(a: &Args, selectors: &[Selector]) -> Answer {
    match a.get(0)?.select(selectors) {
        Ok(value) => Ok(value),
        Err(problem) => fail("index-out-of-range", format!("`{}`: {problem}", a.name)),
    }
}

fn int(a: &Args, n: usize) -> Result<i32, Failure> {
    i32::try_from(n).or_else(|_| a.error("too-large", "too many elements"))
}

/// Elements along the first dimension.
fn length(a: &Args, i: usize) -> Result<usize, Failure> {
    match a.get(i)? {
        Value::Tensor(t) => Ok(t.dims().first().copied().unwrap_or(0)),
        Value::Tuple(t) if !t.array.is_empty() => Ok(t.array[0]),
        _ => a.error("argument-type", "an array or a vector is expected"),
    }
}

/// An argument that is a number of elements, at most `size`.
fn within(a: &Args, i: usize, size: usize) -> Result<i32, Failure> {
    if a.size(i)? <= size {
        a.int(i)
    } else {
        a.error("index-out-of-range", &format!("there are only {size} elements"))
    }
}

fn segment(a: &Args, start: i32, n: i32) -> Answer {
    match start.checked_add(n - 1) {
        _ if n == 0 => take(a, &[Selector::UpTo(0)]),
        Some(end) => take(a, &[Selector::Between(start, end)]),
        None => a.error("index-out-of-range", "the segment is too long"),
    }
}

/// `n` elements from a start, given by two arguments.
fn run(a: &Args, start: usize, n: usize) -> Result<Selector, Failure> {
    let (start, n) = (a.int(start)?, a.size(n)?);
    match i32::try_from(n).ok().and_then(|n| start.checked_add(n - 1)) {
        _ if n == 0 => Ok(Selector::UpTo(0)),
        Some(end) => Ok(Selector::Between(start, end)),
        None => a.error("index-out-of-range", "the part is too long"),
    }
}

fn append_array(a: &Args, x: &Value, y: &Value) -> Answer {
    match (x, y) {
        (Value::Tuple(s), Value::Tuple(t)) if s.parts.len() == t.parts.len() && !s.array.is_empty() => {
            let parts = s.parts.iter().zip(&t.parts).map(|(x, y)| append_array(a, x, y));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let mut array = s.array.clone();
            array[0] += t.array.first().copied().unwrap_or(0);
            Ok(Tuple { array, parts }.into())
        }
        (Value::Tensor(s), Value::Tensor(t)) if !s.array.is_empty() && !t.array.is_empty() => {
            // An empty array may have any inner size.
            if t.array[0] == 0 || s.array[0] == 0 {
                let (kept, other) = if t.array[0] == 0 { (s, t) } else { (t, s) };
                let ty = crate::types::common_type(&kept.shape().ty(), &other.shape().ty());
                return Ok(Value::Tensor(kept.clone()).promoted(&ty.unwrap_or(crate::types::Type::Unknown)));
            }
            if s.array[1..] != t.array[1..] || s.cell.dims().as_slice() != t.cell.dims().as_slice() {
                let message = format!("the elements differ in size: {} and {}", s.shape(), t.shape());
                return a.error("size-mismatch", &message);
            }
            let mut array = s.array.clone();
            array[0] += t.array[0];
            match (&s.numbers, &t.numbers) {
                (Numbers::Int(x), Numbers::Int(y)) => Ok(Tensor::ints(array, [x.as_slice(), y].concat()).into()),
                _ if s.cell.is_complex() != t.cell.is_complex() => {
                    a.error("argument-type", "the elements differ in type")
                }
                (x, y) => {
                    let cell = if s.cell == Cell::Int { t.cell } else { s.cell };
                    Ok(Tensor::reals(array, cell, [x.to_reals(), y.to_reals()].concat()).into())
                }
            }
        }
        _ => a.error("argument-type", "two arrays are expected"),
    }
}

/// A number, vector or matrix: rows, columns, numbers by column, whether complex.
struct Piece {
    rows: usize,
    cols: usize,
    numbers: Vec<f64>,
    complex: bool,
    is_matrix: bool,
}

fn piece(a: &Args, i: usize, complex: bool) -> Result<Piece, Failure> {
    let value = a.get(i)?;
    let cell = match value {
        Value::Tensor(t) if t.array.is_empty() => t.cell,
        Value::Complex(_) => Cell::Complex,
        Value::Int(_) | Value::Real(_) => Cell::Real,
        _ => return a.error("argument-type", "vectors or matrices are expected"),
    };
    let own = cell.is_complex();
    let cell = cell.with_complex(false);
    let (rows, cols) = match cell {
        Cell::Vector(n) => (n, 1),
        Cell::RowVector(n) => (1, n),
        Cell::Matrix(r, c) => (r, c),
        _ => (1, 1),
    };
    let mut numbers = value.to_reals().unwrap_or_default();
    if complex && !own {
        numbers = numbers.into_iter().flat_map(|x| [x, 0.0]).collect();
    }
    Ok(Piece { rows, cols, numbers, complex: own, is_matrix: matches!(cell, Cell::Matrix(..)) })
}

/// `append_row` puts one below the other, `append_col` side by side.
fn append(a: &Args, below: bool) -> Answer {
    let complex = piece(a, 0, false)?.complex || piece(a, 1, false)?.complex;
    let (x, y) = (piece(a, 0, complex)?, piece(a, 1, complex)?);
    let unit = if complex { 2 } else { 1 };
    let fits = if below { x.cols == y.cols } else { x.rows == y.rows };
    if !fits {
        let message = format!("the sizes do not match: {} by {} and {} by {}", x.rows, x.cols, y.rows, y.cols);
        return a.error("size-mismatch", &message);
    }
    let is_line = |p: &Piece| !p.is_matrix && if below { p.cols == 1 } else { p.rows == 1 };
    // Two row vectors below each other are a matrix, even if they have one column; so are two vectors side by side.
    let across = |v: &Value| match v.as_tensor().map(|t| t.cell.with_complex(false)) {
        Some(Cell::RowVector(_)) => below,
        Some(Cell::Vector(_)) => !below,
        _ => false,
    };
    let line = is_line(&x) && is_line(&y) && !across(a.get(0)?) && !across(a.get(1)?);
    let (rows, cols) = if below { (x.rows + y.rows, x.cols) } else { (x.rows, x.cols + y.cols) };
    let numbers = if below {
        let (one, two) = (x.rows * unit, y.rows * unit);
        let column = |c: usize| [&x.numbers[c * one..(c + 1) * one], &y.numbers[c * two..(c + 1) * two]].concat();
        (0..cols).flat_map(column).collect()
    } else {
        [x.numbers, y.numbers].concat()
    };
    let cell = match (line, below) {
        (true, true) => Cell::Vector(rows),
        (true, false) => Cell::RowVector(cols),
        _ => Cell::Matrix(rows, cols),
    };
    Ok(Tensor::reals(Vec::new(), cell.with_complex(complex), numbers).into())
}

/// The numbers as they lie, in a new container. Only where the layout is the order Stan means: vectors, matrices and
/// arrays of one dimension.
fn flat(a: &Args, shape: fn(usize) -> (Vec<usize>, Cell)) -> Answer {
    let t = a.tensor(0)?;
    let (array, cell) = shape(t.scalars());
    Ok(Tensor::reals(array, cell.with_complex(t.cell.is_complex()), t.numbers.to_reals()).into())
}

fn to_array_1d(a: &Args) -> Answer {
    let t = a.tensor(0)?;
    if t.cell == Cell::Int {
        return Ok(Tensor { array: vec![t.numbers.len()], cell: Cell::Int, numbers: t.numbers.clone() }.into());
    }
    Ok(Tensor { array: vec![t.scalars()], cell: t.cell.scalar(), numbers: t.numbers.clone() }.into())
}

fn to_array_2d(a: &Args) -> Answer {
    let t = a.tensor(0)?;
    let (Cell::Matrix(rows, cols) | Cell::ComplexMatrix(rows, cols)) = t.cell else {
        return a.error("argument-type", "a matrix is expected");
    };
    let numbers = transposed(&t.numbers.to_reals(), rows, cols, t.cell.unit());
    Ok(Tensor::reals(vec![rows, cols], t.cell.scalar(), numbers).into())
}

fn to_matrix(a: &Args) -> Answer {
    let t = a.tensor(0)?;
    let (complex, unit, numbers) = (t.cell.is_complex(), t.cell.unit(), t.numbers.to_reals());
    if a.len() >= 3 {
        let (rows, cols) = (a.size(1)?, a.size(2)?);
        if rows.checked_mul(cols) != Some(t.scalars()) {
            let message = format!("{} elements do not make a {rows} by {cols} matrix", t.scalars());
            return a.error("size-mismatch", &message);
        }
        let by_column = a.len() == 3 || a.int(3)? != 0;
        let numbers = if by_column { numbers } else { transposed(&numbers, cols, rows, unit) };
        return Ok(Tensor::reals(Vec::new(), Cell::Matrix(rows, cols).with_complex(complex), numbers).into());
    }
    let cell = t.cell.with_complex(false);
    let (rows, cols, numbers) = match (&t.array[..], cell) {
        ([], Cell::Vector(n)) => (n, 1, numbers),
        ([], Cell::RowVector(n)) => (1, n, numbers),
        ([], Cell::Matrix(r, c)) => (r, c, numbers),
        (&[rows], Cell::RowVector(cols)) | (&[rows, cols], _) => (rows, cols, transposed(&numbers, cols, rows, unit)),
        _ => return a.error("argument-type", "this does not make a matrix"),
    };
    Ok(Tensor::reals(Vec::new(), Cell::Matrix(rows, cols).with_complex(complex), numbers).into())
}
