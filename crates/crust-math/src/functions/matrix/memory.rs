//! Small tools for shapes, checks and memory that the matrix functions share.

use super::super::{Argument, Cell, Shape};
use crate::density::DomainError;
use crate::linalg::LinalgError;
use crate::linalg::memory::transpose;

/// How far a matrix may be from symmetry, as in Stan.
const SYMMETRY: f64 = 1e-8;

/// The number of rows of a square matrix.
pub(super) fn square(shape: Shape) -> Result<usize, String> {
    matrix(shape)?;
    if shape.rows() == shape.columns() {
        Ok(shape.rows())
    } else {
        Err(format!("the matrix must be square, but has {} rows and {} columns", shape.rows(), shape.columns()))
    }
}

/// Rows and columns of what must be a matrix.
pub(super) fn matrix(shape: Shape) -> Result<(usize, usize), String> {
    expect(shape, &[Cell::Matrix])?;
    Ok((shape.rows(), shape.columns()))
}

/// That the argument is no array and is one of the cells.
pub(super) fn expect(shape: Shape, cells: &[Cell]) -> Result<(), String> {
    if shape.array_rank() == 0 && cells.contains(&shape.cell()) {
        Ok(())
    } else {
        Err(format!("an argument has the shape {shape}, for which there is no such function"))
    }
}

/// That two sizes agree; the words complete "… must be as many as …".
pub(super) fn agree(what: &str, m: usize, of: &str, n: usize) -> Result<(), String> {
    if m == n { Ok(()) } else { Err(format!("{what} ({m}) must be as many as {of} ({n})")) }
}

/// The arguments, if they are as many as wanted.
pub(super) fn arity<'a, const N: usize>(arguments: &[Argument<'a>]) -> Result<[Argument<'a>; N], String> {
    <[Argument; N]>::try_from(arguments).map_err(|_| format!("{N} arguments are needed, not {}", arguments.len()))
}

/// That a square matrix is symmetric. A NaN off the diagonal is not.
pub(super) fn symmetric(function: &'static str, a: &[f64], n: usize) -> Result<(), DomainError> {
    for j in 0..n {
        for i in j + 1..n {
            let difference = (a[i + j * n] - a[j + i * n]).abs();
            if difference.is_nan() || difference > SYMMETRY {
                return Err(DomainError { function, argument: "Matrix", value: a[j + i * n], must_be: "symmetric" });
            }
        }
    }
    Ok(())
}

/// That an iteration reached its limit.
pub(super) fn not_converged(function: &'static str, must_be: &'static str, error: LinalgError) -> DomainError {
    DomainError { function, argument: "Number of iterations", value: error.value(), must_be }
}

/// Overwrites `out` by `A + Aᵀ`.
pub(super) fn add_transpose(a: &[f64], n: usize, out: &mut [f64]) {
    transpose(a, n, out);
    accumulate(out, a);
}

/// `to += from`.
pub(super) fn accumulate(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// `to += from` on and below the diagonal; both have `rows` rows.
pub(super) fn accumulate_lower(to: &mut [f64], from: &[f64], rows: usize) {
    for (j, (to, from)) in to.chunks_exact_mut(rows.max(1)).zip(from.chunks_exact(rows.max(1))).enumerate() {
        let first = j.min(rows);
        accumulate(&mut to[first..], &from[first..]);
    }
}
