//! The decomposition `A = Q·R` by reflections, with a nonnegative diagonal of `R`.
//!
//! The derivative is that of the algorithm: the columns of a full `Q` beyond those of `A` are not determined by `A`
//! alone.

use super::super::{Argument, Shape, ShapeError, VectorFunction};
use super::memory::{accumulate, arity, matrix};
use crate::density::DomainError;
use crate::linalg::parts;
use crate::linalg::qr::{self, Adjoints};

/// Sizes of the matrix and of `Q`'s columns that are wanted.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
    q_columns: usize,
}

impl Size {
    fn reflections(self) -> usize {
        self.rows.min(self.columns)
    }
}

/// `Q` or `R` of a matrix; thin if `Q` has only as many columns, and `R` as many rows, as the lesser size of the
/// matrix.
pub(super) struct Qr {
    pub name: &'static str,
    /// `Q` or else `R`.
    pub q: bool,
    pub thin: bool,
}

impl Qr {
    fn size(&self, shape: Shape) -> Size {
        let (rows, columns) = (shape.rows(), shape.columns());
        Size { rows, columns, q_columns: if self.thin { rows.min(columns) } else { rows } }
    }

    /// Multiplies the columns of a matrix with the rows of `Q`, or the rows of `R` in `out`, by the sign of `R`'s
    /// diagonal.
    fn change_signs(&self, factors: &[f64], size: Size, out: &mut [f64]) {
        for k in (0..size.reflections()).filter(|k| factors[k * (size.rows + 1)] < 0.0) {
            if self.q {
                out[k * size.rows..][..size.rows].iter_mut().for_each(|x| *x = -*x);
            } else {
                out[k..].iter_mut().step_by(size.q_columns).for_each(|x| *x = -*x);
            }
        }
    }
}

impl VectorFunction for Qr {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a] = arity(arguments)?;
        matrix(a.shape)?;
        let size = self.size(a.shape);
        Ok(match self.q {
            _ if a.shape.is_empty() => Shape::matrix(0, 0),
            true => Shape::matrix(size.rows, size.q_columns),
            false => Shape::matrix(size.q_columns, size.columns),
        })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let size = self.size(arguments[0]);
        let (a, q) = (size.rows * size.columns, size.rows * size.q_columns);
        5 * a + 3 * q + 2 * size.reflections()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let a = arguments[0].numbers;
        let size = self.size(arguments[0].shape);
        let [factors, taus] = parts(scratch, [a.len(), size.reflections()]);
        if a.is_empty() {
            return Ok(());
        }
        factors.copy_from_slice(a);
        let factors = qr::factor(factors, taus, size.rows);
        if self.q {
            qr::form_q(factors, out);
        } else {
            copy_upper(factors.numbers, size.rows, out, size.q_columns);
        }
        self.change_signs(factors.numbers, size, out);
        Ok(())
    }

    fn reverse(
        &self,
        arguments: &[Argument],
        out: &[f64],
        adjoint: &[f64],
        to: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) {
        let a = arguments[0].numbers;
        let size = self.size(arguments[0].shape);
        let (rows, count) = (size.rows, size.reflections());
        if a.is_empty() {
            return;
        }
        let len = if self.q { out.len() } else { 0 };
        let [factors, r, r_adjoint, vectors, q, q_adjoint, signed, taus, tau_adjoints] =
            parts(scratch, [a.len(), a.len(), a.len(), rows * count, len, len, adjoint.len(), count, count]);
        factors.copy_from_slice(a);
        let factors = qr::factor(factors, taus, rows);
        copy_upper(factors.numbers, rows, r, rows);
        signed.copy_from_slice(adjoint);
        self.change_signs(factors.numbers, size, signed);
        r_adjoint.fill(0.0);
        if self.q {
            q.copy_from_slice(out);
            self.change_signs(factors.numbers, size, q);
            q_adjoint.copy_from_slice(signed);
        } else {
            copy_upper(signed, size.q_columns, r_adjoint, rows);
        }
        let r = [r, &mut *r_adjoint];
        qr::reverse(factors, Adjoints { q: [q, q_adjoint], r, vectors, taus: tau_adjoints });
        accumulate(to[0], r_adjoint);
    }
}

/// Copies what is on and above the diagonal, with 0 below it; the number of rows may differ.
fn copy_upper(from: &[f64], from_rows: usize, to: &mut [f64], to_rows: usize) {
    to.fill(0.0);
    for (j, (from, to)) in from.chunks_exact(from_rows).zip(to.chunks_exact_mut(to_rows)).enumerate() {
        let end = (j + 1).min(from_rows).min(to_rows);
        to[..end].copy_from_slice(&from[..end]);
    }
}
