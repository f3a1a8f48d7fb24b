//! Products with a diagonal matrix, sums with one, traces, and products of rows or columns with each other.

use super::super::{Argument, Cell, Shape, ShapeError, VectorFunction};
use super::memory::{accumulate, agree, arity, expect, matrix, square};
use crate::density::DomainError;

const VECTORS: &[Cell] = &[Cell::Vector, Cell::RowVector];
const ANY: &[Cell] = &[Cell::Vector, Cell::RowVector, Cell::Matrix];

/// On which sides of the matrix the diagonal one stands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// `diag(v)·M`; the vector is the first argument.
    Left,
    /// `M·diag(v)`
    Right,
    /// `diag(v)·M·diag(v)`
    Both,
}

/// `M` scaled by a vector: element (i, j) is multiplied by `vᵢ`, `vⱼ` or both.
pub(super) struct Scale {
    pub name: &'static str,
    pub side: Side,
}

impl Scale {
    /// Which argument is the matrix and which one is the vector.
    fn places(&self) -> (usize, usize) {
        if self.side == Side::Left { (1, 0) } else { (0, 1) }
    }

    #[inline]
    fn factor(&self, v: &[f64], i: usize, j: usize) -> f64 {
        match self.side {
            Side::Left => v[i],
            Side::Right => v[j],
            Side::Both => v[i] * v[j],
        }
    }
}

impl VectorFunction for Scale {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let shapes = arity::<2>(arguments)?.map(|argument| argument.shape);
        let (m, v) = self.places();
        let (m, v) = (shapes[m], shapes[v]);
        matrix(m)?;
        expect(v, VECTORS)?;
        match self.side {
            Side::Left => agree("elements of the vector", v.len(), "rows of the matrix", m.rows())?,
            Side::Right => agree("elements of the vector", v.len(), "columns of the matrix", m.columns())?,
            Side::Both => agree("elements of the vector", v.len(), "rows of the matrix", square(m)?)?,
        }
        Ok(m)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (m, v) = self.places();
        let (m, v) = (arguments[m], arguments[v].numbers);
        let rows = m.shape.rows().max(1);
        for (j, (out, m)) in out.chunks_exact_mut(rows).zip(m.numbers.chunks_exact(rows)).enumerate() {
            for (i, (out, m)) in out.iter_mut().zip(m).enumerate() {
                *out = m * self.factor(v, i, j);
            }
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let (of_m, of_v) = self.places();
        let (m, v) = (arguments[of_m], arguments[of_v].numbers);
        let rows = m.shape.rows().max(1);
        if !to[of_m].is_empty() {
            for (j, (to, c)) in to[of_m].chunks_exact_mut(rows).zip(adjoint.chunks_exact(rows)).enumerate() {
                for (i, (to, c)) in to.iter_mut().zip(c).enumerate() {
                    *to += c * self.factor(v, i, j);
                }
            }
        }
        if !to[of_v].is_empty() {
            let to = &mut *to[of_v];
            for (j, (m, c)) in m.numbers.chunks_exact(rows).zip(adjoint.chunks_exact(rows)).enumerate() {
                for (i, (m, c)) in m.iter().zip(c).enumerate() {
                    match self.side {
                        Side::Left => to[i] += m * c,
                        Side::Right => to[j] += m * c,
                        Side::Both => {
                            to[i] += m * c * v[j];
                            to[j] += m * c * v[i];
                        }
                    }
                }
            }
        }
    }
}

/// `M + diag(v)`, where `v` is a vector or a number.
pub(super) struct AddDiag;

impl VectorFunction for AddDiag {
    fn name(&self) -> &'static str {
        "add_diag"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [m, v] = arity(arguments)?.map(|argument| argument.shape);
        let (rows, columns) = matrix(m)?;
        expect(v, &[Cell::Scalar, Cell::Vector, Cell::RowVector])?;
        if !v.is_scalar() {
            agree("elements of the vector", v.len(), "elements of the diagonal", rows.min(columns))?;
        }
        Ok(m)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (m, v) = (arguments[0], arguments[1]);
        let rows = m.shape.rows();
        out.copy_from_slice(m.numbers);
        for i in 0..rows.min(m.shape.columns()) {
            out[i * (rows + 1)] += if v.shape.is_scalar() { v.numbers[0] } else { v.numbers[i] };
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let m = arguments[0].shape;
        accumulate(to[0], adjoint);
        if !to[1].is_empty() {
            for i in 0..m.rows().min(m.columns()) {
                let at = if arguments[1].shape.is_scalar() { 0 } else { i };
                to[1][at] += adjoint[i * (m.rows() + 1)];
            }
        }
    }
}

/// The sum of the diagonal, also of a matrix that is not square.
pub(super) struct Trace;

impl VectorFunction for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [m] = arity(arguments)?;
        matrix(m.shape).map(|_| Shape::SCALAR)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let m = arguments[0];
        let rows = m.shape.rows();
        out[0] = (0..rows.min(m.shape.columns())).map(|i| m.numbers[i * (rows + 1)]).sum();
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let m = arguments[0].shape;
        if !to[0].is_empty() {
            for i in 0..m.rows().min(m.columns()) {
                to[0][i * (m.rows() + 1)] += adjoint[0];
            }
        }
    }
}

/// `tr(A·B) = Σᵢⱼ Aᵢⱼ·Bⱼᵢ`.
pub(super) struct TraceDot;

impl VectorFunction for TraceDot {
    fn name(&self) -> &'static str {
        "trace_dot"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a, b] = arity(arguments)?.map(|argument| argument.shape);
        let ((rows, columns), b) = (matrix(a)?, matrix(b)?);
        agree("columns of the first argument", columns, "rows of the second", b.0)?;
        agree("rows of the first argument", rows, "columns of the second", b.1)?;
        Ok(Shape::SCALAR)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (a, b) = (arguments[0].numbers, arguments[1].numbers);
        let (rows, columns) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        let term = |k: usize| a[k] * b[k / rows + k % rows * columns];
        out[0] = (0..a.len()).map(term).sum();
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let (a, b) = (arguments[0].numbers, arguments[1].numbers);
        let (rows, columns) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        for k in 0..a.len() {
            let of_b = k / rows + k % rows * columns;
            if !to[0].is_empty() {
                to[0][k] += adjoint[0] * b[of_b];
            }
            if !to[1].is_empty() {
                to[1][of_b] += adjoint[0] * a[k];
            }
        }
    }
}

/// For each row, or for each column, the product of that of the first argument with that of the second one, or with
/// itself.
pub(super) struct Dots {
    pub name: &'static str,
    pub rows: bool,
    /// Whether there is only one argument.
    pub of_self: bool,
}

impl VectorFunction for Dots {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let shape = if self.of_self {
            arity::<1>(arguments)?[0].shape
        } else {
            let [a, b] = arity(arguments)?.map(|argument| argument.shape);
            agree("rows of the first argument", a.rows(), "rows of the second", b.rows())?;
            agree("columns of the first argument", a.columns(), "columns of the second", b.columns())?;
            expect(b, ANY)?;
            a
        };
        expect(shape, ANY)?;
        Ok(if self.rows { Shape::vector(shape.rows()) } else { Shape::row_vector(shape.columns()) })
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let a = arguments[0];
        let b = if self.of_self { a } else { arguments[1] };
        let rows = a.shape.rows().max(1);
        out.fill(0.0);
        for (j, (a, b)) in a.numbers.chunks_exact(rows).zip(b.numbers.chunks_exact(rows)).enumerate() {
            if self.rows {
                out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out += a * b);
            } else {
                out[j] = a.iter().zip(b).map(|(a, b)| a * b).sum();
            }
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let rows = arguments[0].shape.rows().max(1);
        for (which, to) in to.iter_mut().enumerate() {
            let (other, times) = if self.of_self { (0, 2.0) } else { (1 - which, 1.0) };
            for (j, (to, x)) in to.chunks_exact_mut(rows).zip(arguments[other].numbers.chunks_exact(rows)).enumerate() {
                for (i, (to, x)) in to.iter_mut().zip(x).enumerate() {
                    *to += times * adjoint[if self.rows { i } else { j }] * x;
                }
            }
        }
    }
}
