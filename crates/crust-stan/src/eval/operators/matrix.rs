//! Products, transposes and linear systems. Vectors are matrices of one column, row vectors of one row.

use super::{Answer, complexes};
use crate::eval::{Failure, fail};
use crate::value::{Cell, Complex, Tensor, Value};
use crust_math::linalg::lu;

/// A real matrix, column by column, with its numbers of rows and columns.
#[derive(Clone, Debug)]
pub(in crate::eval) struct Dense {
    pub rows: usize,
    pub cols: usize,
    pub numbers: Vec<f64>,
}

impl Dense {
    pub fn at(&self, r: usize, c: usize) -> f64 {
        self.numbers[c * self.rows + r]
    }
}

/// A vector, row vector or matrix of reals as a matrix.
pub(in crate::eval) fn as_matrix(value: &Value) -> Result<Dense, Failure> {
    let Some(t) = value.as_tensor().filter(|t| t.array.is_empty()) else {
        return fail("operand-type", "a vector or matrix is expected here");
    };
    if t.cell.is_complex() {
        return Err(Failure::Lacking("this is not computed for complex numbers yet".into()));
    }
    let (rows, cols) = extent(t.cell);
    Ok(Dense { rows, cols, numbers: t.numbers.to_reals() })
}

fn extent(cell: Cell) -> (usize, usize) {
    match cell {
        Cell::Vector(n) | Cell::ComplexVector(n) => (n, 1),
        Cell::RowVector(n) | Cell::ComplexRowVector(n) => (1, n),
        Cell::Matrix(r, c) | Cell::ComplexMatrix(r, c) => (r, c),
        Cell::Int | Cell::Real | Cell::Complex => (1, 1),
    }
}

/// The transpose of a matrix given column by column; `unit` numbers make an element.
pub(in crate::eval) fn transposed(numbers: &[f64], rows: usize, cols: usize, unit: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(numbers.len());
    for r in 0..rows {
        for c in 0..cols {
            let at = (c * rows + r) * unit;
            out.extend_from_slice(&numbers[at..at + unit]);
        }
    }
    out
}

pub(in crate::eval) fn transpose(value: &Value) -> Answer {
    let t = match value {
        Value::Tensor(t) if t.array.is_empty() => t,
        Value::Unavailable(u) => return Ok(Value::unavailable(u.reason.clone(), u.span, None)),
        _ => return fail("operand-type", "only vectors and matrices can be transposed"),
    };
    let numbers = t.numbers.to_reals();
    let (cell, numbers) = match t.cell {
        Cell::Vector(n) => (Cell::RowVector(n), numbers),
        Cell::RowVector(n) => (Cell::Vector(n), numbers),
        Cell::ComplexVector(n) => (Cell::ComplexRowVector(n), numbers),
        Cell::ComplexRowVector(n) => (Cell::ComplexVector(n), numbers),
        Cell::Matrix(r, c) => (Cell::Matrix(c, r), transposed(&numbers, r, c, 1)),
        Cell::ComplexMatrix(r, c) => (Cell::ComplexMatrix(c, r), transposed(&numbers, r, c, 2)),
        Cell::Int | Cell::Real | Cell::Complex => return fail("operand-type", "a number cannot be transposed"),
    };
    Ok(Tensor::reals(Vec::new(), cell, numbers).into())
}

/// The product of two vectors or matrices.
pub(in crate::eval) fn multiply(a: &Value, b: &Value) -> Answer {
    let (Some(x), Some(y)) = (a.as_tensor(), b.as_tensor()) else {
        return fail("operand-type", "matrices are expected here");
    };
    let ((rows, inner), (other, cols)) = (extent(x.cell), extent(y.cell));
    if inner != other || !x.array.is_empty() || !y.array.is_empty() {
        return fail("size-mismatch", format!("{} and {} cannot be multiplied", x.shape(), y.shape()));
    }
    let complex = x.cell.is_complex() || y.cell.is_complex();
    let numbers = if complex {
        let product = product(&complexes(x), &complexes(y), (rows, inner, cols));
        product.into_iter().flat_map(|z| [z.re, z.im]).collect()
    } else {
        product(&x.numbers.to_reals(), &y.numbers.to_reals(), (rows, inner, cols))
    };
    let cell = match (x.cell.with_complex(false), y.cell.with_complex(false)) {
        (Cell::RowVector(_), Cell::Vector(_)) => {
            return Ok(match numbers[..] {
                [re, im] => Value::Complex(Complex { re, im }),
                [x] => Value::Real(x),
                _ => Value::Real(0.0),
            });
        }
        (Cell::RowVector(_), _) => Cell::RowVector(cols),
        (Cell::Matrix(..), Cell::Vector(_)) => Cell::Vector(rows),
        _ => Cell::Matrix(rows, cols),
    };
    Ok(Tensor::reals(Vec::new(), cell.with_complex(complex), numbers).into())
}

fn product<T>(a: &[T], b: &[T], (rows, inner, cols): (usize, usize, usize)) -> Vec<T>
where
    T: Copy + Default + std::ops::Add<Output = T> + std::ops::Mul<Output = T>,
{
    let mut out = vec![T::default(); rows * cols];
    for c in 0..cols {
        let column = &mut out[c * rows..(c + 1) * rows];
        for k in 0..inner {
            let factor = b[c * inner + k];
            for (sum, &x) in column.iter_mut().zip(&a[k * rows..(k + 1) * rows]) {
                *sum = *sum + x * factor;
            }
        }
    }
    out
}

/// `a \ b`: the solution x of `a x = b`.
pub(in crate::eval) fn solve_left(a: &Value, b: &Value) -> Answer {
    let (matrix, right) = (as_matrix(a)?, as_matrix(b)?);
    if matrix.rows != matrix.cols || matrix.rows != right.rows {
        let sizes = [(&matrix.rows, &matrix.cols), (&right.rows, &right.cols)];
        let [(r, c), (br, bc)] = sizes;
        return fail("size-mismatch", format!("a {r} by {c} matrix cannot divide one of {br} by {bc}"));
    }
    let (rows, cols) = (right.rows, right.cols);
    let (mut memory, mut x) = (vec![0.0; lu::scratch(rows)], right.numbers);
    lu::decompose(&matrix.numbers, rows, &mut memory).solve(&mut x, cols);
    let cell = if matches!(b.as_tensor().map(|t| t.cell), Some(Cell::Vector(_))) {
        Cell::Vector(rows)
    } else {
        Cell::Matrix(rows, cols)
    };
    Ok(Tensor::reals(Vec::new(), cell, x).into())
}

/// `b / a`: the solution x of `x a = b`.
pub(super) fn solve_right(b: &Value, a: &Value) -> Answer {
    transpose(&solve_left(&transpose(a)?, &transpose(b)?)?)
}

pub(in crate::eval) fn inverse(a: &Value) -> Answer {
    let matrix = as_matrix(a)?;
    let n = matrix.rows;
    let mut identity = vec![0.0; n * n];
    (0..n).for_each(|i| identity[i * n + i] = 1.0);
    solve_left(a, &Value::matrix(n, n, identity))
}

/// The determinant, and the logarithm of its absolute value.
pub(in crate::eval) fn determinant(a: &Value) -> Result<(f64, f64), Failure> {
    let matrix = as_matrix(a)?;
    if matrix.rows != matrix.cols {
        return fail("size-mismatch", "only a square matrix has a determinant");
    }
    let mut memory = vec![0.0; lu::scratch(matrix.rows)];
    let factors = lu::decompose(&matrix.numbers, matrix.rows, &mut memory);
    Ok((factors.determinant(), factors.log_determinant()))
}

/// The Cholesky factor; `None` if the matrix is not positive definite.
pub(in crate::eval) fn cholesky(a: &Dense) -> Option<Dense> {
    let mut factor = a.clone();
    crust_math::linalg::cholesky::factor(&mut factor.numbers, a.rows).ok()?;
    Some(factor)
}
