//! Eigenvalues and eigenvectors of a symmetric matrix.

use super::super::{Argument, Shape, ShapeError, VectorFunction};
use super::memory::{arity, not_converged, square, symmetric};
use crate::density::DomainError;
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::{eigen, parts};

/// Eigenvalues of a symmetric matrix, or its eigenvectors.
///
/// `Ā += V·(diag(λ̄) + F∘(Vᵀ·V̄))·Vᵀ` with `Fᵢⱼ = 1 / (λⱼ - λᵢ)` off the diagonal and 0 on it.
pub(super) struct EigenSym {
    pub name: &'static str,
    pub vectors: bool,
}

impl VectorFunction for EigenSym {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a] = arity(arguments)?;
        let n = square(a.shape)?;
        Ok(if self.vectors { Shape::matrix(n, n) } else { Shape::vector(n) })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let n = arguments[0].rows();
        eigen::scratch(n) + 2 * n * n + n
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], memory: &mut [f64]) -> Result<(), DomainError> {
        let (a, n) = (arguments[0].numbers, arguments[0].shape.rows());
        symmetric(self.name, a, n)?;
        if self.vectors {
            let [values, memory] = parts(memory, [n, eigen::scratch(n)]);
            eigen::decompose(a, values, out, n, memory)
        } else {
            let [vectors, memory] = parts(memory, [n * n, eigen::scratch(n)]);
            eigen::decompose(a, out, vectors, n, memory)
        }
        .map_err(|error| not_converged(self.name, "less: eigenvalues have not converged", error))
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
        if to[0].is_empty() {
            return;
        }
        let whole = Target::whole(n, n);
        if self.vectors {
            let [middle, product, values] = parts(scratch, [n * n, n * n, n]);
            let v = Operand::new(out, n);
            // The eigenvalues once more: λ = vᵀ·A·v.
            multiply(product, (n, n, n), Operand::new(a, n), v);
            for (value, (v, av)) in values.iter_mut().zip(out.chunks_exact(n).zip(product.chunks_exact(n))) {
                *value = v.iter().zip(av).map(|(v, av)| v * av).sum();
            }
            multiply(middle, (n, n, n), v.transposed(), Operand::new(adjoint, n));
            for j in 0..n {
                for i in 0..n {
                    let factor = if i == j { 0.0 } else { 1.0 / (values[j] - values[i]) };
                    middle[i + j * n] *= factor;
                }
            }
            multiply(product, (n, n, n), v, Operand::new(middle, n));
            gemm(to[0], whole, n, 1.0, Operand::new(product, n), v.transposed());
        } else {
            let [vectors, scaled, values, memory] = parts(scratch, [n * n, n * n, n, eigen::scratch(n)]);
            // What did not converge has been rejected before.
            if eigen::decompose(a, values, vectors, n, memory).is_err() {
                return;
            }
            for ((scaled, v), c) in scaled.chunks_exact_mut(n).zip(vectors.chunks_exact(n)).zip(adjoint) {
                scaled.iter_mut().zip(v).for_each(|(scaled, v)| *scaled = c * v);
            }
            gemm(to[0], whole, n, 1.0, Operand::new(scaled, n), Operand::new(vectors, n).transposed());
        }
    }
}
