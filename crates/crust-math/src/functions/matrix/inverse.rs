//! Cholesky factors, inverses and determinants.

use super::super::{Argument, LaneArgument, Row, Shape, ShapeError, VectorFunction};
use super::memory::{accumulate, accumulate_lower, add_transpose, arity, square, symmetric, symmetric_lanes};
use crate::density::DomainError;
use crate::linalg::cholesky::{self, solve_factored};
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::{identity, lanes, lu, parts};

/// Overwrites `a`, which must be symmetric and positive definite, by its Cholesky factor.
pub(super) fn factor_spd(function: &'static str, a: &mut [f64], n: usize) -> Result<(), DomainError> {
    symmetric(function, a, n)?;
    cholesky::factor(a, n).map_err(|error| DomainError {
        function,
        argument: "Pivot of the matrix",
        value: error.value(),
        must_be: "positive: the matrix is not positive definite",
    })
}

fn square_of(arguments: &[Argument]) -> Result<usize, ShapeError> {
    let [a] = arity(arguments)?;
    square(a.shape)
}

/// `L` with `L·Lᵀ = A`. The derivative is that for the lower triangle of `A`, as in Stan.
pub(super) struct CholeskyDecompose;

impl VectorFunction for CholeskyDecompose {
    fn name(&self) -> &'static str {
        "cholesky_decompose"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        square_of(arguments).map(|n| Shape::matrix(n, n))
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        out.copy_from_slice(arguments[0].numbers);
        factor_spd(self.name(), out, arguments[0].shape.rows())
    }

    fn reverse(&self, _: &[Argument], out: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let n = out.len().isqrt();
        let [a] = parts(scratch, [n * n]);
        a.copy_from_slice(adjoint);
        cholesky::reverse(out, a, n);
        accumulate_lower(to[0], a, n);
    }

    fn lanes_scratch(&self, arguments: &[Shape]) -> Option<usize> {
        (arguments[0].rows() <= lanes::WIDEST).then_some(arguments[0].len())
    }

    fn value_lanes(&self, arguments: &[LaneArgument], out: &mut [Row], _: &mut [Row]) -> bool {
        let n = arguments[0].shape.rows();
        out.copy_from_slice(arguments[0].numbers);
        symmetric_lanes(out, n) && lanes::factor(out, n)
    }

    fn reverse_lanes(
        &self,
        _: &[LaneArgument],
        out: &[Row],
        adjoint: &[Row],
        to: &mut [&mut [Row]],
        scratch: &mut [Row],
    ) -> bool {
        let n = out.len().isqrt();
        let a = &mut scratch[..n * n];
        a.copy_from_slice(adjoint);
        lanes::factor_reverse(out, a, n);
        for j in 0..n {
            let own = j * n + j..(j + 1) * n;
            for (to, from) in to[0][own.clone()].iter_mut().zip(&a[own]) {
                (0..8).for_each(|l| to[l] += from[l]);
            }
        }
        true
    }
}

/// `A⁻¹` for a general matrix, or for a symmetric positive definite one: `Ā -= A⁻ᵀ·C̄·A⁻ᵀ`.
pub(super) struct Inverse {
    pub name: &'static str,
    pub spd: bool,
}

impl VectorFunction for Inverse {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        square_of(arguments).map(|n| Shape::matrix(n, n))
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        lu::scratch(arguments[0].rows())
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (a, n) = (arguments[0].numbers, arguments[0].shape.rows());
        if self.spd {
            let [l] = parts(scratch, [n * n]);
            l.copy_from_slice(a);
            factor_spd(self.name, l, n)?;
            identity(out, n);
            solve_factored(l, n, out, n);
        } else {
            lu::decompose(a, n, scratch).inverse(out);
        }
        Ok(())
    }

    fn reverse(&self, _: &[Argument], out: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let n = out.len().isqrt();
        if to[0].is_empty() {
            return;
        }
        let [product] = parts(scratch, [n * n]);
        let inverse = Operand::new(out, n).transposed();
        multiply(product, (n, n, n), inverse, Operand::new(adjoint, n));
        gemm(to[0], Target::whole(n, n), n, -1.0, Operand::new(product, n), inverse);
    }
}

/// `C = (L·Lᵀ)⁻¹`: with `M = L·Lᵀ` is `M̄ = -C·C̄·C` and `L̄ += tril((M̄ + M̄ᵀ)·L)`.
pub(super) struct Chol2inv;

impl VectorFunction for Chol2inv {
    fn name(&self) -> &'static str {
        "chol2inv"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        square_of(arguments).map(|n| Shape::matrix(n, n))
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        2 * arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (l, n) = (arguments[0].numbers, arguments[0].shape.rows());
        for (j, column) in l.chunks_exact(n.max(1)).enumerate() {
            if let Some(&value) = column[..j].iter().find(|&&x| x != 0.0) {
                let (function, must_be) = (self.name(), "0: the matrix is not lower triangular");
                return Err(DomainError { function, argument: "Element above the diagonal", value, must_be });
            }
        }
        identity(out, n);
        solve_factored(l, n, out, n);
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
        let n = out.len().isqrt();
        let [x, y] = parts(scratch, [n * n, n * n]);
        let (c, l) = (Operand::new(out, n), Operand::new(arguments[0].numbers, n));
        add_transpose(adjoint, n, x);
        multiply(y, (n, n, n), c, Operand::new(x, n));
        multiply(x, (n, n, n), Operand::new(y, n), c);
        y.fill(0.0);
        gemm(y, Target::whole(n, n), n, -1.0, Operand::new(x, n), l);
        accumulate_lower(to[0], y, n);
    }
}

/// What is computed of a determinant.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Plain,
    LogAbsolute,
    LogSpd,
}

/// `det A` or `log |det A|`: `∂ log |det A| / ∂A = A⁻ᵀ`.
pub(super) struct Determinant {
    pub name: &'static str,
    pub kind: Kind,
}

impl VectorFunction for Determinant {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        square_of(arguments).map(|_| Shape::SCALAR)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        lu::scratch(arguments[0].rows()) + arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (a, n) = (arguments[0].numbers, arguments[0].shape.rows());
        out[0] = match self.kind {
            Kind::Plain => lu::decompose(a, n, scratch).determinant(),
            Kind::LogAbsolute => lu::decompose(a, n, scratch).log_determinant(),
            Kind::LogSpd => {
                let [l] = parts(scratch, [n * n]);
                l.copy_from_slice(a);
                factor_spd(self.name, l, n)?;
                2.0 * l.iter().step_by(n + 1).map(|x| x.ln()).sum::<f64>()
            }
        };
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
        let (a, n) = (arguments[0].numbers, arguments[0].shape.rows());
        let [inverse, memory] = parts(scratch, [n * n, lu::scratch(n)]);
        let scale = if self.kind == Kind::Plain { adjoint[0] * out[0] } else { adjoint[0] };
        identity(inverse, n);
        inverse.iter_mut().step_by(n + 1).for_each(|x| *x = scale);
        lu::decompose(a, n, memory).solve_transposed(inverse, n);
        accumulate(to[0], inverse);
    }
}
