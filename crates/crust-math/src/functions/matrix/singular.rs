//! The decomposition into singular values `A = U·S·Vᵀ`, in its thin form, and the generalized inverse.

use super::super::{Argument, Shape, ShapeError, VectorFunction};
use super::memory::{arity, matrix, not_converged};
use crate::density::DomainError;
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::parts;
use crate::linalg::svd::{self, Svd};

fn decompose<'a>(function: &'static str, a: Argument, memory: &'a mut [f64]) -> Result<Svd<'a>, DomainError> {
    svd::decompose(a.numbers, a.shape.rows(), a.shape.columns(), memory)
        .map_err(|error| not_converged(function, "less: singular values have not converged", error))
}

fn scratch(shape: Shape) -> usize {
    svd::scratch(shape.rows(), shape.columns())
}

/// Which part of the decomposition.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Part {
    U,
    Values,
    V,
}

/// Singular values, the largest first, or the left or right singular vectors (whose signs are arbitrary).
///
/// `Ā += U·diag(s̄)·Vᵀ`, and for the left vectors `Ā += X·Vᵀ` with `X = U·G·S + (I - U·Uᵀ)·Ū·S⁻¹`, where
/// `Gᵢⱼ = (Uᵀ·Ū - Ūᵀ·U)ᵢⱼ / (sⱼ² - sᵢ²)` off the diagonal (Townsend 2016); likewise `Ā += U·Xᵀ` for the right ones.
pub(super) struct Singular {
    pub name: &'static str,
    pub part: Part,
}

impl VectorFunction for Singular {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a] = arity(arguments)?;
        let (rows, columns) = matrix(a.shape)?;
        let k = rows.min(columns);
        Ok(match self.part {
            Part::Values => Shape::vector(k),
            _ if k == 0 => Shape::matrix(0, 0),
            Part::U => Shape::matrix(rows, k),
            Part::V => Shape::matrix(columns, k),
        })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let k = arguments[0].rows().min(arguments[0].columns());
        scratch(arguments[0]) + arguments[0].rows().max(arguments[0].columns()) * k + k * k
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let svd = decompose(self.name, arguments[0], scratch)?;
        out.copy_from_slice(match self.part {
            Part::U => svd.u,
            Part::Values => svd.values,
            Part::V => svd.v,
        });
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let shape = arguments[0].shape;
        let (rows, columns) = (shape.rows(), shape.columns());
        let k = rows.min(columns);
        if to[0].is_empty() {
            return;
        }
        let [memory, x, inner] = parts(scratch, [self::scratch(shape), rows.max(columns) * k, k * k]);
        // What did not converge has been rejected before.
        let Ok(svd) = decompose(self.name, arguments[0], memory) else { return };
        let (u, v) = (Operand::new(svd.u, rows), Operand::new(svd.v, columns));
        let target = Target::whole(rows, columns);
        match self.part {
            Part::U => {
                let x = &mut x[..rows * k];
                vectors_adjoint(svd.u, svd.values, adjoint, x, inner);
                gemm(to[0], target, k, 1.0, Operand::new(x, rows), v.transposed());
            }
            Part::V => {
                let x = &mut x[..columns * k];
                vectors_adjoint(svd.v, svd.values, adjoint, x, inner);
                gemm(to[0], target, k, 1.0, u, Operand::new(x, columns).transposed());
            }
            Part::Values => {
                let x = &mut x[..rows * k];
                for ((x, u), s) in x.chunks_exact_mut(rows).zip(svd.u.chunks_exact(rows)).zip(adjoint) {
                    x.iter_mut().zip(u).for_each(|(x, u)| *x = s * u);
                }
                gemm(to[0], target, k, 1.0, Operand::new(x, rows), v.transposed());
            }
        }
    }
}

/// `X` of [`Singular`] for the vectors `u` and their adjoint.
fn vectors_adjoint(u: &[f64], values: &[f64], adjoint: &[f64], x: &mut [f64], inner: &mut [f64]) {
    let k = values.len();
    let rows = u.len() / k;
    let vectors = Operand::new(u, rows);
    multiply(inner, (k, rows, k), vectors.transposed(), Operand::new(adjoint, rows));
    x.fill(0.0);
    if rows > k {
        x.copy_from_slice(adjoint);
        gemm(x, Target::whole(rows, k), k, -1.0, vectors, Operand::new(inner, k));
        for (x, s) in x.chunks_exact_mut(rows).zip(values) {
            x.iter_mut().for_each(|x| *x /= s);
        }
    }
    for j in 0..k {
        inner[j + j * k] = 0.0;
        for i in 0..j {
            let difference = inner[i + j * k] - inner[j + i * k];
            let g = difference / ((values[j] - values[i]) * (values[j] + values[i]));
            (inner[i + j * k], inner[j + i * k]) = (g * values[j], g * values[i]);
        }
    }
    gemm(x, Target::whole(rows, k), k, 1.0, vectors, Operand::new(inner, k));
}

/// The inverse of Moore and Penrose, `P = V·S⁺·Uᵀ`, of any rank. Where the rank does not change,
/// `Ā += -Pᵀ·C̄·Pᵀ + (I - A·P)·C̄ᵀ·P·Pᵀ + Pᵀ·P·C̄ᵀ·(I - P·A)` (Golub and Pereyra 1973).
pub(super) struct GeneralizedInverse;

impl VectorFunction for GeneralizedInverse {
    fn name(&self) -> &'static str {
        "generalized_inverse"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a] = arity(arguments)?;
        let (rows, columns) = matrix(a.shape)?;
        Ok(if rows * columns == 0 { Shape::matrix(0, 0) } else { Shape::matrix(columns, rows) })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let n = arguments[0].rows().max(arguments[0].columns());
        scratch(arguments[0]).max(3 * n * n)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (rows, columns) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        let k = rows.min(columns);
        if k == 0 {
            return Ok(());
        }
        let svd = decompose(self.name(), arguments[0], scratch)?;
        let size = f64::from(u32::try_from(rows.max(columns)).unwrap_or(u32::MAX));
        let least = svd.values[0] * f64::EPSILON * size;
        for (v, s) in svd.v.chunks_exact_mut(columns).zip(&*svd.values) {
            let inverse = if *s > least { 1.0 / s } else { 0.0 };
            v.iter_mut().for_each(|v| *v *= inverse);
        }
        let (u, v) = (Operand::new(svd.u, rows), Operand::new(svd.v, columns));
        multiply(out, (columns, k, rows), v, u.transposed());
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
        let (m, n) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        if to[0].is_empty() {
            return;
        }
        let (a, p, c) = (Operand::new(arguments[0].numbers, m), Operand::new(out, n), Operand::new(adjoint, n));
        let whole = Target::whole(m, n);
        let [x, y, z] = parts(scratch, [m.max(n) * m.max(n); 3]);
        // Pᵀ·C̄·Pᵀ
        multiply(&mut x[..m * m], (m, n, m), p.transposed(), c);
        gemm(to[0], whole, m, -1.0, Operand::new(x, m), p.transposed());
        // (I - A·P)·C̄ᵀ·P·Pᵀ, from the right
        multiply(&mut x[..m * m], (m, n, m), c.transposed(), p);
        multiply(&mut y[..m * n], (m, m, n), Operand::new(x, m), p.transposed());
        multiply(&mut z[..n * n], (n, m, n), p, Operand::new(y, m));
        gemm(to[0], whole, n, -1.0, a, Operand::new(z, n));
        for (to, y) in to[0].iter_mut().zip(&y[..m * n]) {
            *to += y;
        }
        // Pᵀ·P·C̄ᵀ·(I - P·A), from the left
        multiply(&mut x[..n * n], (n, m, n), p, c.transposed());
        multiply(&mut y[..m * n], (m, n, n), p.transposed(), Operand::new(x, n));
        multiply(&mut z[..m * m], (m, n, m), Operand::new(y, m), p);
        gemm(to[0], whole, m, -1.0, Operand::new(z, m), a);
        for (to, y) in to[0].iter_mut().zip(&y[..m * n]) {
            *to += y;
        }
    }
}
