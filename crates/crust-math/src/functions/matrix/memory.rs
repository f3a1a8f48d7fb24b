//! Small tools for shapes, checks and memory that the matrix functions share.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use super::super::{Argument, Cell, Row, Shape, ShapeError};
use crate::density::DomainError;
use crate::lanes::{Kernel, dispatch};
use crate::linalg::LinalgError;
use crate::linalg::memory::transpose;

/// How far a matrix may be from symmetry, as in Stan.
const SYMMETRY: f64 = 1e-8;

/// The number of rows of a square matrix.
pub(super) fn square(shape: Shape) -> Result<usize, ShapeError> {
    matrix(shape)?;
    if shape.rows() == shape.columns() {
        Ok(shape.rows())
    } else {
        Err(ShapeError::NotSquare { rows: shape.rows(), columns: shape.columns() })
    }
}

/// Rows and columns of what must be a matrix.
pub(super) fn matrix(shape: Shape) -> Result<(usize, usize), ShapeError> {
    expect(shape, &[Cell::Matrix])?;
    Ok((shape.rows(), shape.columns()))
}

/// That the argument is no array and is one of the cells.
pub(super) fn expect(shape: Shape, cells: &[Cell]) -> Result<(), ShapeError> {
    if shape.array_rank() == 0 && cells.contains(&shape.cell()) {
        Ok(())
    } else {
        Err(ShapeError::NoSuchFunction(shape))
    }
}

/// That two sizes agree; the words complete "… must be as many as …".
pub(super) fn agree(what: &'static str, m: usize, of: &'static str, n: usize) -> Result<(), ShapeError> {
    if m == n { Ok(()) } else { Err(ShapeError::NotAsMany { what, m, of, n }) }
}

/// The arguments, if they are as many as wanted.
pub(super) fn arity<'a, const N: usize>(arguments: &[Argument<'a>]) -> Result<[Argument<'a>; N], ShapeError> {
    <[Argument; N]>::try_from(arguments).map_err(|_| ShapeError::ArgumentsNeeded { needed: N, given: arguments.len() })
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

/// [`symmetric`] for eight matrices.
pub(super) fn symmetric_lanes(a: &[Row], n: usize) -> bool {
    dispatch(Symmetric { a, n })
}

struct Symmetric<'a> {
    a: &'a [Row],
    n: usize,
}

impl Kernel for Symmetric<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { a, n } = self;
        // Numbers in the place of truth values: of those the compiler makes vectors.
        let mut fine = [1.0_f64; 8];
        for j in 0..n {
            for i in j + 1..n {
                let (x, y) = (a[i + j * n], a[j + i * n]);
                for l in 0..8 {
                    let difference = (x[l] - y[l]).abs();
                    fine[l] = if difference <= SYMMETRY { fine[l] } else { 0.0 };
                }
            }
        }
        fine.iter().all(|&x| x > 0.0)
    }
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
