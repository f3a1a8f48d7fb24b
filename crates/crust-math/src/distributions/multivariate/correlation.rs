//! Dirichlet, and LKJ for correlation matrices and their Cholesky factors.

use super::layout::{Containers, Memory, cell, count, equally_long, matrix, repetitions, same, shapes, square};
use crate::density::{Domain, DomainError, Terms};
use crate::functions::{Argument, Cell, Shape, ShapeError, VectorDensity};
use crate::linalg::cholesky::{inverse, log_diagonal};
use crate::linalg::vectors::add_scaled;
use crate::special::{digamma, lgamma, lmultiply};

/// log Γ(Σ αᵢ) − Σ log Γ(αᵢ) + Σ (αᵢ − 1) log θᵢ
#[derive(Debug)]
pub(super) struct Dirichlet;

impl VectorDensity for Dirichlet {
    fn name(&self) -> &'static str {
        "dirichlet_lpdf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [theta, alpha] = shapes(arguments)?;
        for (name, shape) in [("probabilities", theta), ("prior sample sizes", alpha)] {
            if !matches!(shape.cell(), Cell::Vector | Cell::RowVector) || shape.array_rank() > 1 {
                return Err(ShapeError::Kind { name, verb: "are", shape, must_be: "a vector or an array of vectors" });
            }
        }
        equally_long(&["vector of probabilitie", "vector of prior sample size"], &[&theta, &alpha])?;
        same("the size of the probabilities", theta.cell_len(), "that of the prior sample sizes", alpha.cell_len())
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let [theta, alpha] = [&arguments[0], &arguments[1]];
        let mut value = 0.0;
        for i in 0..repetitions(&[&theta.shape, &alpha.shape]) {
            let (in_theta, in_alpha) = (cell(&theta.shape, i), cell(&alpha.shape, i));
            let (theta, alpha) = (&theta.numbers[in_theta.clone()], &alpha.numbers[in_alpha.clone()]);
            alpha.iter().try_for_each(|&a| domain.positive("prior sample sizes", a))?;
            domain.simplex("probabilities", theta.iter().copied())?;
            let total: f64 = alpha.iter().sum();
            if terms.keep(0b10) {
                value += lgamma(total) - alpha.iter().map(|&a| lgamma(a)).sum::<f64>();
            }
            if terms.keep(0b11) {
                // α = 1 has no term, even where θ = 0
                value += theta.iter().zip(alpha).map(|(&p, &a)| lmultiply(a - 1.0, p)).sum::<f64>();
            }
            if !adjoints[0].is_empty() {
                let pairs = theta.iter().zip(alpha).map(|(p, a)| (a - 1.0) / p);
                adjoints[0][in_theta].iter_mut().zip(pairs).for_each(|(d, x)| *d += seed * x);
            }
            if !adjoints[1].is_empty() {
                let of_total = digamma(total);
                let pairs = theta.iter().zip(alpha).map(|(p, &a)| of_total - digamma(a) + p.ln());
                adjoints[1][in_alpha].iter_mut().zip(pairs).for_each(|(d, x)| *d += seed * x);
            }
        }
        Ok(value)
    }
}

/// The log normaliser of the LKJ distribution and its derivative (Lewandowski, Kurowicka and Joe 2009, theorem 5):
/// with K' = K − 1, K' log Γ(η + K'/2) − Σₖ₌₁ (k/2 log π + log Γ(η + (K' − k)/2))
fn lkj_constant(eta: f64, size: usize) -> (f64, f64) {
    let k1 = count(size - 1);
    let top = eta + 0.5 * k1;
    let (mut value, mut d) = (k1 * lgamma(top), k1 * digamma(top));
    for k in (1..size).map(count) {
        let x = eta + 0.5 * (k1 - k);
        value -= 0.5 * k * std::f64::consts::PI.ln() + lgamma(x);
        d -= digamma(x);
    }
    (value, d)
}

/// `lkj_corr`: (η − 1) log |Y| + constant
#[derive(Debug)]
pub(super) struct LkjCorrelation;

impl VectorDensity for LkjCorrelation {
    fn name(&self) -> &'static str {
        "lkj_corr_lpdf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        check_matrix_and_shape(arguments, "correlation matrix")
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        2 * arguments[0].len()
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let (y, eta) = (&arguments[0], arguments[1].numbers[0]);
        let n = y.shape.rows();
        domain.positive("Shape parameter", eta)?;
        if n == 0 {
            return Ok(0.0);
        }
        let near_one = |x: f64| domain.that((x - 1.0).abs() <= 1e-8, "Correlation matrix", x, "1 on the diagonal");
        y.numbers.iter().step_by(n + 1).try_for_each(|&x| near_one(x))?;
        let mut memory = Memory(scratch);
        let factor = memory.take(n * n);
        domain.factor("Correlation matrix", y.numbers, n, factor)?;
        let log_determinant = 2.0 * log_diagonal(factor, n);
        let (constant, d_constant) = lkj_constant(eta, n);
        let mut value = if terms.keep(0b10) { constant } else { 0.0 };
        if terms.keep(0b11) {
            value += (eta - 1.0) * log_determinant;
        }
        if !adjoints[0].is_empty() {
            let inverted = memory.take(n * n);
            inverse(factor, n, inverted);
            add_scaled(adjoints[0], seed * (eta - 1.0), inverted);
        }
        if !adjoints[1].is_empty() {
            adjoints[1][0] += seed * (d_constant + log_determinant);
        }
        Ok(value)
    }
}

fn check_matrix_and_shape(arguments: &[Argument], name: &'static str) -> Result<(), ShapeError> {
    let [y, eta] = shapes(arguments)?;
    matrix(name, &y)?;
    square(name, &y, "the number of its rows", y.rows())?;
    if eta.is_scalar() {
        Ok(())
    } else {
        Err(ShapeError::Kind { name: "shape parameter", verb: "is", shape: eta, must_be: "a real" })
    }
}

/// `lkj_corr_cholesky`: Σ (K − k + 2 η − 2) log Lₖₖ over k from 2, and the constant of `lkj_corr`.
///
/// The first sum is the log Jacobian of L ↦ L Lᵀ on correlation matrices.
#[derive(Debug)]
pub(super) struct LkjCholesky;

impl VectorDensity for LkjCholesky {
    fn name(&self) -> &'static str {
        "lkj_corr_cholesky_lpdf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        check_matrix_and_shape(arguments, "Cholesky factor")
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let (l, eta) = (&arguments[0], arguments[1].numbers[0]);
        let n = l.shape.rows();
        domain.positive("Shape parameter", eta)?;
        domain.lower_triangular("Random variable", l.numbers, n)?;
        domain.positive_diagonal("Random variable", l.numbers, n)?;
        if n == 0 {
            return Ok(0.0);
        }
        // Mostly the shape is data, and nobody needs its constant.
        let needed = terms.keep(0b10) || !adjoints[1].is_empty();
        let (constant, d_constant) = if needed { lkj_constant(eta, n) } else { (0.0, 0.0) };
        let mut value = if terms.keep(0b10) { constant } else { 0.0 };
        let mut sum_of_logs = 0.0;
        for k in 1..n {
            let diagonal = l.numbers[k * (n + 1)];
            let power = count(n - 1 - k) + 2.0 * eta - 2.0;
            sum_of_logs += diagonal.ln();
            if terms.keep(0b11) {
                value += power * diagonal.ln();
            }
            if !adjoints[0].is_empty() {
                adjoints[0][k * (n + 1)] += seed * power / diagonal;
            }
        }
        if !adjoints[1].is_empty() {
            adjoints[1][0] += seed * (d_constant + 2.0 * sum_of_logs);
        }
        Ok(value)
    }
}
