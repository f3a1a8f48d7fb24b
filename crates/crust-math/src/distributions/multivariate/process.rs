//! Matrices of normal numbers: rows that share a kernel, and a precision for rows and one for columns.

use std::f64::consts::TAU;

use super::layout::{Containers, Memory, count, matrix, same, shapes, square};
use crate::density::{Domain, DomainError, Terms};
use crate::functions::{Argument, Shape, ShapeError, VectorDensity};
use crate::linalg::cholesky::{inverse, log_diagonal};
use crate::linalg::products::{
    add_outer, add_outer_lower, add_product, add_product_transposed, add_transposed_product,
};
use crate::linalg::triangular::{solve_lower, solve_lower_transposed};
use crate::linalg::vectors::{add_scaled, dot};

/// `multi_gp` and `multi_gp_cholesky`: row k of y is normal with mean 0 and covariance Σ / wₖ.
#[derive(Debug)]
pub(super) struct Process {
    pub name: &'static str,
    pub cholesky: bool,
}

impl Process {
    fn check_domains(&self, [y, kernel, w]: [&[f64]; 3], n: usize, factor: &mut [f64]) -> Result<(), DomainError> {
        let domain = Domain(self.name);
        w.iter().try_for_each(|&w| domain.positive_finite("Kernel scales", w))?;
        domain.all_finite("Random variable", y)?;
        if self.cholesky {
            domain.lower_triangular("Cholesky decomposition of kernel matrix", kernel, n)?;
            factor.copy_from_slice(kernel);
            return domain.positive_diagonal("Cholesky decomposition of kernel matrix", kernel, n);
        }
        domain.all_finite("Kernel", kernel)?;
        domain.factor("Kernel", kernel, n, factor)
    }
}

impl VectorDensity for Process {
    fn name(&self) -> &'static str {
        self.name
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [y, kernel, w] = shapes(arguments)?;
        matrix("random variable", &y)?;
        same("the number of rows of the random variable", y.rows(), "that of the kernel scales", w.len())?;
        square("kernel", &kernel, "the number of columns of the random variable", y.columns())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let n = arguments[1].rows();
        2 * n * n + 2 * n
    }

    /// Σₖ (n/2 log wₖ − wₖ yₖ Σ⁻¹ yₖᵀ/2) − K/2 log |Σ| − K n/2 log 2π
    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let [y, kernel, w] = [0, 1, 2].map(|i| arguments[i].numbers);
        let (rows, n) = (arguments[0].shape.rows(), arguments[1].shape.rows());
        if rows == 0 || n == 0 {
            return Ok(0.0);
        }
        let mut memory = Memory(scratch);
        let factor = memory.take(n * n);
        self.check_domains([y, kernel, w], n, factor)?;
        let (factor, copies) = (&*factor, count(rows));
        let mut value = 0.0;
        if terms.keep(0) {
            value -= 0.5 * copies * count(n) * TAU.ln();
        }
        if terms.keep(0b10) {
            value -= copies * log_diagonal(factor, n);
        }
        if terms.keep(0b100) {
            value += 0.5 * count(n) * w.iter().map(|w| w.ln()).sum::<f64>();
        }
        if !terms.keep(u32::MAX) {
            return Ok(value);
        }
        let (u, h) = (memory.take(n), memory.take(n));
        for k in 0..rows {
            u.iter_mut().zip(y[k..].iter().step_by(rows)).for_each(|(u, y)| *u = *y);
            solve_lower(factor, n, u);
            h.copy_from_slice(u);
            solve_lower_transposed(factor, n, h);
            let q = dot(u, u);
            value -= 0.5 * w[k] * q;
            let weight = seed * w[k];
            if !adjoints[0].is_empty() {
                adjoints[0][k..].iter_mut().step_by(rows).zip(&*h).for_each(|(a, h)| *a -= weight * h);
            }
            match (adjoints[1].is_empty(), self.cholesky) {
                (true, _) => {}
                (_, true) => add_outer_lower(weight, h, u, adjoints[1]),
                (_, false) => add_outer(0.5 * weight, h, h, adjoints[1]),
            }
            if !adjoints[2].is_empty() {
                adjoints[2][k] += 0.5 * seed * (count(n) / w[k] - q);
            }
        }
        if !adjoints[1].is_empty() && self.cholesky {
            let diagonal = factor.iter().step_by(n + 1);
            adjoints[1].iter_mut().step_by(n + 1).zip(diagonal).for_each(|(a, l)| *a -= seed * copies / l);
        } else if !adjoints[1].is_empty() {
            let inverted = memory.take(n * n);
            inverse(factor, n, inverted);
            add_scaled(adjoints[1], -0.5 * seed * copies, inverted);
        }
        Ok(value)
    }
}

/// `matrix_normal_prec`: the rows of y − M have precision Σ and its columns D, so that vec(y − M) has D ⊗ Σ.
#[derive(Debug)]
pub(super) struct MatrixNormal;

impl VectorDensity for MatrixNormal {
    fn name(&self) -> &'static str {
        "matrix_normal_prec_lpdf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [y, mean, rows, columns] = shapes(arguments)?;
        matrix("random variable", &y)?;
        let (m, n) = ("the number of rows of the random variable", "the number of columns of the random variable");
        same("the number of rows of the location parameter", mean.rows(), m, y.rows())?;
        same("the number of columns of the location parameter", mean.columns(), n, y.columns())?;
        square("row precision", &rows, m, y.rows())?;
        square("column precision", &columns, n, y.columns())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let (m, n) = (arguments[0].rows(), arguments[0].columns());
        2 * m * m + 2 * n * n + 4 * m * n
    }

    /// n/2 log |Σ| + m/2 log |D| − tr(D Zᵀ Σ Z)/2 − m n/2 log 2π with Z = y − M of m rows and n columns
    ///
    /// |D ⊗ Σ| = |D|ᵐ |Σ|ⁿ. Stan's C++ library (its language lacks the density) exchanges the powers,
    /// which is right only for m = n.
    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let [y, mean, sigma, d] = [0, 1, 2, 3].map(|i| arguments[i].numbers);
        let (m, n) = (arguments[0].shape.rows(), arguments[0].shape.columns());
        if m == 0 || n == 0 {
            return Ok(0.0);
        }
        let mut memory = Memory(scratch);
        let (rows, columns) = (memory.take(m * m), memory.take(n * n));
        for (name, x) in [("Sigma", sigma), ("D", d), ("Location parameter", mean), ("Random variable", y)] {
            domain.all_finite(name, x)?;
        }
        domain.factor("Sigma", sigma, m, rows)?;
        domain.factor("D", d, n, columns)?;
        let mut value = 0.0;
        if terms.keep(0) {
            value -= 0.5 * count(m * n) * TAU.ln();
        }
        if terms.keep(0b100) {
            value += count(n) * log_diagonal(rows, m);
        }
        if terms.keep(0b1000) {
            value += count(m) * log_diagonal(columns, n);
        }
        if !terms.keep(u32::MAX) {
            return Ok(value);
        }
        let (z, zd) = (memory.take(m * n), memory.zeros(m * n));
        let (sz, szd) = (memory.zeros(m * n), memory.zeros(m * n));
        z.iter_mut().zip(y.iter().zip(mean)).for_each(|(z, (y, mean))| *z = y - mean);
        add_product(1.0, z, d, zd, (m, n));
        add_product(1.0, sigma, z, sz, (m, m));
        add_product(1.0, sigma, zd, szd, (m, m));
        value -= 0.5 * dot(z, szd);
        if !adjoints[0].is_empty() {
            add_scaled(adjoints[0], -seed, szd);
        }
        if !adjoints[1].is_empty() {
            add_scaled(adjoints[1], seed, szd);
        }
        if !adjoints[2].is_empty() {
            let inverted = memory.take(m * m);
            inverse(rows, m, inverted);
            add_scaled(adjoints[2], 0.5 * seed * count(n), inverted);
            add_product_transposed(-0.5 * seed, zd, z, adjoints[2], (m, m));
        }
        if !adjoints[3].is_empty() {
            let inverted = memory.take(n * n);
            inverse(columns, n, inverted);
            add_scaled(adjoints[3], 0.5 * seed * count(m), inverted);
            add_transposed_product(-0.5 * seed, z, sz, adjoints[3], (n, m));
        }
        Ok(value)
    }
}
