//! Multivariate normals and Student t of few dimensions as operations. Observations of a loop have the factor of their
//! matrix in common, if that is the same, and run side by side.

use crust_math::density::Terms;

use super::dense::{Matrix, WIDEST};
use super::{Refs, unary_named};
use crate::code::Comparison;
use crate::ir::Ref;
use crate::kernels::arithmetic::Arithmetic::{Add, Divide, Multiply, Subtract};
use crate::machine::value::View;
use crate::machine::{Machine, Run};

/// How much longer an observation makes a list, for each dimension.
const PER_DIMENSION: usize = 24;

/// The matrix with what an observation needs of it.
enum Spread {
    /// The factor of the covariance matrix.
    Factor(Matrix),
    Precision(Matrix),
}

impl Machine {
    /// A log density with a covariance matrix, precision matrix or Cholesky factor, if it is one of those and small.
    pub(super) fn elliptical(&mut self, name: &str, views: &[View], terms: Terms) -> Run<Option<Ref>> {
        let student = name.starts_with("multi_student_t");
        if !student && !name.starts_with("multi_normal") || views.len() != 3 + usize::from(student) {
            return Ok(None);
        }
        let (y, mu, given) = (views[0], views[views.len() - 2], views[views.len() - 1]);
        let n = given.shape.rows();
        // Eight lanes of many normal observations are better off together.
        let single = y.shape.array_rank() == 0 && mu.shape.array_rank() == 0;
        let all = y.shape.cells().max(mu.shape.cells());
        if given.shape.array_rank() > 0 || n == 0 || n > WIDEST || !(single || student) || all == 0 {
            return Ok(None);
        }
        self.graph().lengthen(all * n * PER_DIMENSION);
        let given = self.matrix(given);
        let (spread, log_normaliser) = match name {
            "multi_normal_lpdf" | "multi_student_t_lpdf" => {
                let factor = self.cholesky(&given)?;
                let total = self.log_diagonal(&factor)?;
                (Spread::Factor(factor), self.graph().negate(total))
            }
            "multi_normal_cholesky_lpdf" | "multi_student_t_cholesky_lpdf" => {
                self.guard_factor(&given);
                let total = self.log_diagonal(&given)?;
                (Spread::Factor(given), self.graph().negate(total))
            }
            "multi_normal_prec_lpdf" => {
                let factor = self.cholesky(&given)?;
                (Spread::Precision(given), self.log_diagonal(&factor)?)
            }
            _ => return Ok(None),
        };
        let (ys, mus) = (self.operations(y), self.operations(mu));
        let nu = if student { Some(self.operations(views[1])[0]) } else { None };
        let mut constant = self.elliptical_constant(terms, n, nu)?;
        if terms.keep(1 << (views.len() - 1)) {
            constant = self.graph().arithmetic(Add, constant, log_normaliser);
        }
        let mut each = Refs::new();
        for i in 0..all {
            let of = |xs: &Refs| Refs::from_slice(&xs[if xs.len() == n { 0 } else { i * n }..][..n]);
            let square = self.squared_length(&spread, &of(&ys), &of(&mus));
            let distance = self.elliptical_distance(square, n, nu)?;
            each.push(self.graph().arithmetic(Add, constant, distance));
        }
        Ok(Some(self.graph().sum(&each)))
    }

    /// A Cholesky factor has a positive diagonal, and nothing above.
    fn guard_factor(&mut self, l: &Matrix) {
        for (k, &x) in l.all.iter().enumerate() {
            let (i, j) = (k % l.rows, k / l.rows);
            let comparison = match i.cmp(&j) {
                std::cmp::Ordering::Less => Comparison::Equal,
                std::cmp::Ordering::Equal => Comparison::Greater,
                std::cmp::Ordering::Greater => continue,
            };
            let graph = self.graph();
            let zero = graph.constant(0.0);
            let fits = graph.compare(comparison, x, zero);
            self.traced_guard(fits);
        }
    }

    /// What does not depend on observations and matrix.
    #[allow(clippy::cast_precision_loss, reason = "few dimensions")]
    fn elliptical_constant(&mut self, terms: Terms, n: usize, nu: Option<Ref>) -> Run<Ref> {
        let n = n as f64;
        let Some(nu) = nu else {
            let constant = if terms.keep(0) { -0.5 * n * std::f64::consts::TAU.ln() } else { 0.0 };
            return Ok(self.graph().constant(constant));
        };
        let (lgamma, log) = (unary_named("lgamma")?, unary_named("log")?);
        let graph = self.graph();
        let zero = graph.constant(0.0);
        let positive = graph.compare(Comparison::Greater, nu, zero);
        self.traced_guard(positive);
        let graph = self.graph();
        let mut result = graph.constant(if terms.keep(0) { -0.5 * n * std::f64::consts::PI.ln() } else { 0.0 });
        if terms.keep(0b10) {
            // log Γ((ν + n)/2) − log Γ(ν/2) − n/2 · log ν
            let half = graph.constant(0.5);
            let (low, more) = (graph.arithmetic(Multiply, half, nu), graph.constant(0.5 * n));
            let high = graph.arithmetic(Add, low, more);
            let gammas = [graph.unary(lgamma, high), graph.unary(lgamma, low)];
            let difference = graph.arithmetic(Subtract, gammas[0], gammas[1]);
            let (power, logarithm) = (graph.constant(0.5 * n), graph.unary(log, nu));
            let scale = graph.arithmetic(Multiply, power, logarithm);
            let more = graph.arithmetic(Subtract, difference, scale);
            result = graph.arithmetic(Add, result, more);
        }
        Ok(result)
    }

    /// `(y − μ)ᵀ Σ⁻¹ (y − μ)`
    fn squared_length(&mut self, spread: &Spread, y: &Refs, mu: &Refs) -> Ref {
        let graph = self.graph();
        let all = y.iter().zip(mu).map(|(&y, &mu)| graph.arithmetic(Subtract, y, mu)).collect();
        let z = Matrix { rows: y.len(), columns: 1, all };
        match spread {
            Spread::Factor(factor) => {
                let white = self.solve_lower(factor, &z).all;
                self.graph().dot(&white, &white)
            }
            Spread::Precision(precision) => {
                let graph = self.graph();
                let h = precision.times(graph, &z);
                graph.dot(&z.all, &h.all)
            }
        }
    }

    /// `−q/2`, or `−(ν + n)/2 · log(1 + q/ν)`.
    #[allow(clippy::cast_precision_loss, reason = "few dimensions")]
    fn elliptical_distance(&mut self, square: Ref, n: usize, nu: Option<Ref>) -> Run<Ref> {
        let log1p = unary_named("log1p")?;
        let graph = self.graph();
        let half = graph.constant(-0.5);
        let Some(nu) = nu else { return Ok(graph.arithmetic(Multiply, half, square)) };
        let n = graph.constant(n as f64);
        let (ratio, total) = (graph.arithmetic(Divide, square, nu), graph.arithmetic(Add, nu, n));
        let (logarithm, weight) = (graph.unary(log1p, ratio), graph.arithmetic(Multiply, half, total));
        Ok(graph.arithmetic(Multiply, weight, logarithm))
    }
}
