//! Quadratic forms and products of a matrix with itself.

use super::super::{Argument, Cell, Shape, ShapeError, VectorFunction};
use super::memory::{accumulate_lower, add_transpose, agree, arity, expect, matrix, square, symmetric};
use crate::density::DomainError;
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::parts;

/// `Σ xᵢ·yᵢ`.
fn inner(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// `C = Bᵀ·A·B`, where `B` is a matrix or a vector: `Ā += B·C̄·Bᵀ` and `B̄ += A·B·C̄ᵀ + Aᵀ·B·C̄`.
pub(super) struct QuadForm {
    pub name: &'static str,
    /// Whether `A` must be symmetric, and the result is made so.
    pub symmetric: bool,
}

impl VectorFunction for QuadForm {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a, b] = arity(arguments)?.map(|argument| argument.shape);
        let n = square(a)?;
        expect(b, &[Cell::Matrix, Cell::Vector])?;
        agree("rows of the second argument", b.rows(), "columns of the first", n)?;
        Ok(if b.cell() == Cell::Vector { Shape::SCALAR } else { Shape::matrix(b.columns(), b.columns()) })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[1].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let [a, b] = [arguments[0].numbers, arguments[1].numbers];
        let (n, m) = (arguments[1].shape.rows(), arguments[1].shape.columns());
        if self.symmetric {
            symmetric(self.name, a, n)?;
        }
        let [ab] = parts(scratch, [n * m]);
        multiply(ab, (n, n, m), Operand::new(a, n), Operand::new(b, n));
        multiply(out, (m, n, m), Operand::new(b, n).transposed(), Operand::new(ab, n));
        if self.symmetric {
            for j in 0..m {
                for i in j + 1..m {
                    let mean = 0.5 * (out[i + j * m] + out[j + i * m]);
                    (out[i + j * m], out[j + i * m]) = (mean, mean);
                }
            }
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let (n, m) = (arguments[1].shape.rows(), arguments[1].shape.columns());
        let [a, b] = [0, 1].map(|i| Operand::new(arguments[i].numbers, n));
        let c = Operand::new(adjoint, m);
        let [product] = parts(scratch, [n * m]);
        multiply(product, (n, m, m), b, c);
        if !to[0].is_empty() {
            gemm(to[0], Target::whole(n, n), m, 1.0, Operand::new(product, n), b.transposed());
        }
        if !to[1].is_empty() {
            gemm(to[1], Target::whole(n, m), n, 1.0, a.transposed(), Operand::new(product, n));
            multiply(product, (n, m, m), b, c.transposed());
            gemm(to[1], Target::whole(n, m), n, 1.0, a, Operand::new(product, n));
        }
    }
}

/// `tr(Bᵀ·A·B)`: `Ā += c·B·Bᵀ` and `B̄ += c·(A + Aᵀ)·B`.
pub(super) struct TraceQuadForm;

impl VectorFunction for TraceQuadForm {
    fn name(&self) -> &'static str {
        "trace_quad_form"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a, b] = arity(arguments)?.map(|argument| argument.shape);
        expect(b, &[Cell::Matrix, Cell::Vector])?;
        agree("rows of the second argument", b.rows(), "columns of the first", square(a)?)?;
        Ok(Shape::SCALAR)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[1].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let [a, b] = [arguments[0].numbers, arguments[1].numbers];
        let (n, m) = (arguments[1].shape.rows(), arguments[1].shape.columns());
        let [ab] = parts(scratch, [n * m]);
        multiply(ab, (n, n, m), Operand::new(a, n), Operand::new(b, n));
        out[0] = inner(ab, b);
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let (n, m) = (arguments[1].shape.rows(), arguments[1].shape.columns());
        let [a, b] = [0, 1].map(|i| Operand::new(arguments[i].numbers, n));
        if !to[0].is_empty() {
            gemm(to[0], Target::whole(n, n), m, adjoint[0], b, b.transposed());
        }
        if !to[1].is_empty() {
            gemm(to[1], Target::whole(n, m), n, adjoint[0], a, b);
            gemm(to[1], Target::whole(n, m), n, adjoint[0], a.transposed(), b);
        }
    }
}

/// `tr(D·Bᵀ·A·B)`: `D̄ += c·Bᵀ·Aᵀ·B`, `Ā += c·B·Dᵀ·Bᵀ`, `B̄ += c·(A·B·D + Aᵀ·B·Dᵀ)`.
pub(super) struct TraceGenQuadForm;

impl VectorFunction for TraceGenQuadForm {
    fn name(&self) -> &'static str {
        "trace_gen_quad_form"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [d, a, b] = arity(arguments)?.map(|argument| argument.shape);
        matrix(b)?;
        agree("rows of the third argument", b.rows(), "columns of the second", square(a)?)?;
        agree("columns of the third argument", b.columns(), "rows of the first", square(d)?)?;
        Ok(Shape::SCALAR)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        2 * arguments[2].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (n, m) = (arguments[2].shape.rows(), arguments[2].shape.columns());
        let b = Operand::new(arguments[2].numbers, n);
        let [ab, bd] = parts(scratch, [n * m, n * m]);
        multiply(ab, (n, n, m), Operand::new(arguments[1].numbers, n), b);
        multiply(bd, (n, m, m), b, Operand::new(arguments[0].numbers, m).transposed());
        out[0] = inner(ab, bd);
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let (n, m) = (arguments[2].shape.rows(), arguments[2].shape.columns());
        let (a, b) = (Operand::new(arguments[1].numbers, n), Operand::new(arguments[2].numbers, n));
        let d = Operand::new(arguments[0].numbers, m);
        let [ab, bd] = parts(scratch, [n * m, n * m]);
        multiply(ab, (n, n, m), a, b);
        multiply(bd, (n, m, m), b, d.transposed());
        let c = adjoint[0];
        if !to[0].is_empty() {
            gemm(to[0], Target::whole(m, m), n, c, Operand::new(ab, n).transposed(), b);
        }
        if !to[1].is_empty() {
            gemm(to[1], Target::whole(n, n), m, c, Operand::new(bd, n), b.transposed());
        }
        if !to[2].is_empty() {
            gemm(to[2], Target::whole(n, m), m, c, Operand::new(ab, n), d);
            gemm(to[2], Target::whole(n, m), n, c, a.transposed(), Operand::new(bd, n));
        }
    }
}

/// Which product of a matrix with its transpose.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// `Mᵀ·M`
    TransposeFirst,
    /// `M·Mᵀ`
    TransposeLast,
    /// `L·Lᵀ`, where `L` is the lower triangle of `M`.
    Lower,
}

/// A matrix times its transpose: with `T = C̄ + C̄ᵀ` is `M̄ += M·T` or `M̄ += T·M`.
pub(super) struct SelfProduct {
    pub name: &'static str,
    pub order: Order,
}

impl VectorFunction for SelfProduct {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [m] = arity(arguments)?;
        let (rows, columns) = matrix(m.shape)?;
        let n = if self.order == Order::TransposeFirst { columns } else { rows };
        Ok(Shape::matrix(n, n))
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let (rows, columns) = (arguments[0].rows(), arguments[0].columns());
        let n = rows.max(columns);
        2 * rows * columns + n * n
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (rows, columns) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        let numbers = arguments[0].numbers;
        let m = Operand::new(numbers, rows);
        match self.order {
            Order::TransposeFirst => multiply(out, (columns, rows, columns), m.transposed(), m),
            Order::TransposeLast => multiply(out, (rows, columns, rows), m, m.transposed()),
            Order::Lower => {
                let [l] = parts(scratch, [rows * columns]);
                l.fill(0.0);
                accumulate_lower(l, numbers, rows);
                let l = Operand::new(l, rows);
                multiply(out, (rows, columns, rows), l, l.transposed());
            }
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let (rows, columns) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        let (numbers, n) = (arguments[0].numbers, adjoint.len().isqrt());
        if to[0].is_empty() {
            return;
        }
        let [t, l, product] = parts(scratch, [n * n, rows * columns, rows * columns]);
        add_transpose(adjoint, n, t);
        let (t, m) = (Operand::new(t, n), Operand::new(numbers, rows));
        match self.order {
            Order::TransposeFirst => gemm(to[0], Target::whole(rows, columns), columns, 1.0, m, t),
            Order::TransposeLast => gemm(to[0], Target::whole(rows, columns), rows, 1.0, t, m),
            Order::Lower => {
                l.fill(0.0);
                accumulate_lower(l, numbers, rows);
                multiply(product, (rows, rows, columns), t, Operand::new(l, rows));
                accumulate_lower(to[0], product, rows);
            }
        }
    }
}
