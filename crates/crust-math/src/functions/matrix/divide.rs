//! Division by a matrix from the left, `A⁻¹·B`, and from the right, `B·A⁻¹`.

use super::super::{Argument, Cell, Shape, ShapeError, VectorFunction};
use super::inverse::factor_spd;
use super::memory::{accumulate, accumulate_lower, agree, arity, expect, square};
use crate::density::DomainError;
use crate::linalg::cholesky::solve_factored;
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::lu::{self, Lu};
use crate::linalg::memory::transpose;
use crate::linalg::parts;
use crate::linalg::triangular::{Triangle, solve};

/// What is known of the matrix.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    General,
    /// Symmetric and positive definite.
    Spd,
    /// Only its lower triangle is used.
    Lower,
}

/// `A⁻¹·B`, or `B·A⁻¹` where the arguments come in this order.
///
/// With `M = A` and `X = M⁻¹·B` is `B̄ += Y` and `M̄ -= Y·Xᵀ`, where `Y = M⁻ᵀ·X̄`. Division from the right is the same
/// with `M = Aᵀ` and everything else transposed.
pub(super) struct Divide {
    pub name: &'static str,
    pub kind: Kind,
    pub right: bool,
}

enum Factors<'a> {
    General(Lu<'a>),
    Spd(&'a [f64]),
    Lower(&'a [f64]),
}

impl Factors<'_> {
    /// Overwrites each column of `b` by `A⁻¹·b`, or by `A⁻ᵀ·b`.
    fn solve(&self, transposed: bool, n: usize, b: &mut [f64], columns: usize) {
        match self {
            Self::General(lu) if transposed => lu.solve_transposed(b, columns),
            Self::General(lu) => lu.solve(b, columns),
            Self::Spd(l) => solve_factored(l, n, b, columns),
            Self::Lower(a) if transposed => solve(Operand::new(a, n).transposed(), Triangle::Upper, n, b, columns),
            Self::Lower(a) => solve(Operand::new(a, n), Triangle::Lower, n, b, columns),
        }
    }
}

impl Divide {
    /// The matrix first.
    fn order<T: Copy>(&self, arguments: &[T]) -> (T, T) {
        if self.right { (arguments[1], arguments[0]) } else { (arguments[0], arguments[1]) }
    }

    /// The number of right-hand sides.
    fn sides(&self, b: Shape) -> usize {
        if self.right { b.rows() } else { b.columns() }
    }

    fn factors<'a>(&self, a: &'a [f64], n: usize, memory: &'a mut [f64]) -> Result<Factors<'a>, DomainError> {
        Ok(match self.kind {
            Kind::General => Factors::General(lu::decompose(a, n, memory)),
            Kind::Spd => {
                let [l] = parts(memory, [n * n]);
                l.copy_from_slice(a);
                factor_spd(self.name, l, n)?;
                Factors::Spd(l)
            }
            Kind::Lower => Factors::Lower(a),
        })
    }
}

impl VectorFunction for Divide {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let (a, b) = self.order(&arity::<2>(arguments)?.map(|argument| argument.shape));
        let n = square(a)?;
        if self.right {
            expect(b, &[Cell::Matrix, Cell::RowVector])?;
            agree("columns of the dividend", b.columns(), "rows of the matrix", n)?;
        } else {
            expect(b, &[Cell::Matrix, Cell::Vector])?;
            agree("rows of the right-hand side", b.rows(), "columns of the matrix", n)?;
        }
        Ok(b)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let (a, b) = self.order(arguments);
        lu::scratch(a.rows()) + b.len() + a.len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (a, b) = self.order(arguments);
        let (n, sides) = (a.shape.rows(), self.sides(b.shape));
        let [x, memory] = parts(scratch, [b.numbers.len(), lu::scratch(n)]);
        let factors = self.factors(a.numbers, n, memory)?;
        if self.right {
            transpose(b.numbers, sides, x);
            factors.solve(true, n, x, sides);
            transpose(x, n, out);
        } else {
            out.copy_from_slice(b.numbers);
            factors.solve(false, n, out, sides);
        }
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
        let (a, b) = self.order(arguments);
        let (n, sides) = (a.shape.rows(), self.sides(b.shape));
        let [y, product, memory] = parts(scratch, [out.len(), n * n, lu::scratch(n)]);
        let Ok(factors) = self.factors(a.numbers, n, memory) else { return };
        if self.right {
            transpose(adjoint, sides, y);
        } else {
            y.copy_from_slice(adjoint);
        }
        factors.solve(!self.right, n, y, sides);
        let (of_a, of_b) = if self.right { (1, 0) } else { (0, 1) };
        let (x, y_operand) = if self.right {
            (Operand::new(out, sides).transposed(), Operand::new(y, n))
        } else {
            (Operand::new(out, n), Operand::new(y, n))
        };
        let (left, right) = if self.right { (x, y_operand.transposed()) } else { (y_operand, x.transposed()) };
        if !to[of_a].is_empty() {
            if self.kind == Kind::Lower {
                multiply(product, (n, sides, n), left, right);
                product.iter_mut().for_each(|x| *x = -*x);
                accumulate_lower(to[of_a], product, n);
            } else {
                gemm(to[of_a], Target::whole(n, n), sides, -1.0, left, right);
            }
        }
        if !to[of_b].is_empty() {
            if self.right {
                for (j, y) in y.chunks_exact(n.max(1)).enumerate() {
                    to[of_b][j..].iter_mut().step_by(sides).zip(y).for_each(|(to, y)| *to += y);
                }
            } else {
                accumulate(to[of_b], y);
            }
        }
    }
}
