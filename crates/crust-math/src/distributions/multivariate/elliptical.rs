//! Multivariate normal and Student t, by covariance, precision or Cholesky factor.
//!
//! All are functions of the squared distance q = (y − μ)ᵀ Σ⁻¹ (y − μ), so that one loop serves all: normal −q/2,
//! Student −(ν + n)/2 · log(1 + q/ν). The derivative for −q/2 is the weight w of an observation (1, or (ν + n)/(ν +
//! q)).

mod lanes;

use super::layout::{Containers, Memory, cell, count, equally_long, matrix, repetitions, same, square};
use crate::density::{Domain, DomainError, Terms};
use crate::functions::{Argument, Cell, LaneArgument, Row, Shape, ShapeError, VectorDensity};
use crate::linalg::cholesky::{factor, inverse, log_diagonal};
use crate::linalg::lanes::{self as matrices, WIDEST};
use crate::linalg::products::{add_outer, add_outer_lower};
use crate::linalg::triangular::{solve_lower, solve_lower_transposed};
use crate::linalg::vectors::{add_scaled, dot};
use crate::special::{digamma_difference, lgamma_difference};

/// What the matrix argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Covariance,
    Precision,
    Cholesky,
}

/// One of the five densities: arguments y, (ν,) μ, matrix.
#[derive(Debug)]
pub(super) struct Elliptical {
    pub name: &'static str,
    pub scale: Scale,
    pub student: bool,
}

/// The matrix and what belongs to it.
struct Spread<'a> {
    scale: Scale,
    n: usize,
    /// As given.
    given: &'a [f64],
    /// The Cholesky factor of the given matrix, or itself.
    factor: &'a [f64],
}

impl Spread<'_> {
    /// Leaves z = y − μ as it is; writes u with q = zᵀh, where h = Σ⁻¹z. Of the Cholesky factor, u = L⁻¹z; else u is z.
    fn whiten(&self, z: &[f64], u: &mut [f64], h: &mut [f64]) -> f64 {
        if self.scale == Scale::Precision {
            u.copy_from_slice(z);
            h.fill(0.0);
            for (column, z) in self.given.chunks_exact(self.n).zip(z) {
                add_scaled(h, *z, column);
            }
            return dot(z, h);
        }
        u.copy_from_slice(z);
        solve_lower(self.factor, self.n, u);
        h.copy_from_slice(u);
        solve_lower_transposed(self.factor, self.n, h);
        dot(u, u)
    }

    /// Adds the derivative of −w q/2.
    fn add_distance(&self, w: f64, u: &[f64], h: &[f64], adjoint: &mut [f64]) {
        match self.scale {
            Scale::Covariance => add_outer(0.5 * w, h, h, adjoint),
            Scale::Precision => add_outer(-0.5 * w, u, u, adjoint),
            Scale::Cholesky => add_outer_lower(w, h, u, adjoint),
        }
    }

    /// −½ log |Σ|
    fn log_normalizer(&self) -> f64 {
        let log_diagonal = log_diagonal(self.factor, self.n);
        if self.scale == Scale::Precision { log_diagonal } else { -log_diagonal }
    }

    /// Adds the derivative of w times [`Self::log_normalizer`].
    fn add_log_normalizer(&self, w: f64, adjoint: &mut [f64], scratch: &mut [f64]) {
        if self.scale == Scale::Cholesky {
            let step = self.n + 1;
            for (adjoint, l) in adjoint.iter_mut().step_by(step).zip(self.factor.iter().step_by(step)) {
                *adjoint -= w / l;
            }
            return;
        }
        inverse(self.factor, self.n, scratch);
        let sign = if self.scale == Scale::Precision { 0.5 } else { -0.5 };
        add_scaled(adjoint, sign * w, scratch);
    }
}

impl Elliptical {
    fn location(&self) -> usize {
        if self.student { 2 } else { 1 }
    }

    fn check_domains(&self, arguments: &[Argument], factor: &mut [f64]) -> Result<(), DomainError> {
        let domain = Domain(self.name);
        let (y, mu, given) = (&arguments[0], &arguments[self.location()], &arguments[self.location() + 1]);
        let n = given.shape.rows();
        if self.student {
            domain.positive_finite("Degrees of freedom parameter", arguments[1].numbers[0])?;
        }
        domain.all_finite("Location parameter", mu.numbers)?;
        domain.none_nan("Random variable", y.numbers)?;
        match self.scale {
            Scale::Covariance if self.student => domain.factor("Scale parameter", given.numbers, n, factor),
            Scale::Covariance => domain.factor("Covariance matrix", given.numbers, n, factor),
            Scale::Precision => domain.factor("Precision matrix", given.numbers, n, factor),
            Scale::Cholesky => {
                // Stan reads only the lower triangle where there is one normal observation.
                if self.student || y.shape.array_rank() + mu.shape.array_rank() > 0 {
                    domain.lower_triangular("Cholesky factor", given.numbers, n)?;
                }
                factor.copy_from_slice(given.numbers);
                domain.positive_diagonal("Cholesky factor", given.numbers, n)
            }
        }
    }

    /// Terms of one observation that have no distance in them; the derivative for ν of all but the distance.
    fn constant(&self, terms: Terms, n: f64, nu: f64, spread: &Spread) -> (f64, f64) {
        let mut value = 0.0;
        if terms.keep(1 << (self.location() + 1)) {
            value += spread.log_normalizer();
        }
        if !self.student {
            return (if terms.keep(0) { value - 0.5 * n * std::f64::consts::TAU.ln() } else { value }, 0.0);
        }
        if terms.keep(0b10) {
            value += lgamma_difference(0.5 * nu, 0.5 * n) - 0.5 * n * nu.ln();
        }
        if terms.keep(0) {
            value -= 0.5 * n * std::f64::consts::PI.ln();
        }
        (value, digamma_difference(0.5 * nu, 0.5 * n))
    }
}

impl Elliptical {
    /// For one item by the operations that eight at once go through, so that it has the same bits. None, with nothing in
    /// `adjoints`, where there is no such version, or something is wrong.
    #[allow(clippy::float_cmp, reason = "1 is exact")]
    fn as_in_lanes(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Option<f64> {
        let &[y, mu, given] = arguments else { return None };
        let shapes = [y.shape, mu.shape, given.shape];
        let fresh = adjoints.iter().all(|to| to.iter().all(|&x| x == 0.0));
        // The version for eight makes use of that there is nothing yet.
        if !(seed == 1.0 && fresh && self.lanes_scratch(&shapes).is_some()) {
            return None;
        }
        let rows = [y, mu, given].map(|argument| LaneArgument::from(&argument));
        let [to_y, to_mu, to_given] = &mut *adjoints else { return None };
        let to = [to_y, to_mu, to_given].map(|to| to.as_chunks_mut().0);
        let factor = |a: &mut [[f64; 1]], n: usize| factor(a.as_flattened_mut(), n).is_ok();
        let found = lanes::log_density(self.scale, &rows, terms, to, (scratch.as_chunks_mut().0, factor));
        if found.is_none() {
            adjoints.iter_mut().for_each(|to| to.fill(0.0));
        }
        found.map(|[value]| value)
    }
}

impl VectorDensity for Elliptical {
    fn name(&self) -> &'static str {
        self.name
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let at = self.location();
        same("the number of arguments", arguments.len(), "that of the density's parameters and variate", at + 2)?;
        let (y, mu, given) = (&arguments[0].shape, &arguments[at].shape, &arguments[at + 1].shape);
        for (name, shape) in [("random variable", y), ("location parameter", mu)] {
            if !matches!(shape.cell(), Cell::Vector | Cell::RowVector) || shape.array_rank() > 1 {
                return Err(ShapeError::Kind {
                    name,
                    verb: "is",
                    shape: *shape,
                    must_be: "a vector or an array of vectors",
                });
            }
        }
        matrix("scale matrix", given)?;
        equally_long(&["random variable", "location parameter"], &[y, mu])?;
        if repetitions(&[y, mu]) == 0 {
            return Ok(());
        }
        same("the size of the random variable", y.cell_len(), "that of the location parameter", mu.cell_len())?;
        square("scale matrix", given, "the size of the random variable", y.cell_len())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let n = arguments[self.location() + 1].rows();
        2 * n * n + 4 * n
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let at = self.location();
        let (y, mu, given) = (&arguments[0], &arguments[at], &arguments[at + 1]);
        let (n, times) = (given.shape.rows(), repetitions(&[&y.shape, &mu.shape]));
        if times == 0 || n == 0 {
            return Ok(0.0);
        }
        if let Some(value) = self.as_in_lanes(arguments, terms, seed, adjoints, scratch) {
            return Ok(value);
        }
        let mut memory = Memory(scratch);
        let factor = memory.take(n * n);
        self.check_domains(arguments, factor)?;
        let spread = Spread { scale: self.scale, n, given: given.numbers, factor };
        let (dimension, nu) = (count(n), if self.student { arguments[1].numbers[0] } else { 0.0 });
        let (constant, d_constant) = self.constant(terms, dimension, nu, &spread);
        if !terms.keep(u32::MAX) {
            return Ok(0.0);
        }
        let (z, u, h) = (memory.take(n), memory.take(n), memory.take(n));
        let mut value = count(times) * constant;
        let mut d_nu = 0.0;
        for i in 0..times {
            let (in_y, in_mu) = (cell(&y.shape, i), cell(&mu.shape, i));
            let pair = y.numbers[in_y.clone()].iter().zip(&mu.numbers[in_mu.clone()]);
            z.iter_mut().zip(pair).for_each(|(z, (y, mu))| *z = y - mu);
            let q = spread.whiten(z, u, h);
            let mut weight = seed;
            if self.student {
                let log_ratio = (q / nu).ln_1p();
                value -= 0.5 * (nu + dimension) * log_ratio;
                weight *= (nu + dimension) / (nu + q);
                d_nu += 0.5 * (d_constant - log_ratio + (q - dimension) / (q + nu));
            } else {
                value -= 0.5 * q;
            }
            if !adjoints[0].is_empty() {
                add_scaled(&mut adjoints[0][in_y], -weight, h);
            }
            if !adjoints[at].is_empty() {
                add_scaled(&mut adjoints[at][in_mu], weight, h);
            }
            if !adjoints[at + 1].is_empty() {
                spread.add_distance(weight, u, h, adjoints[at + 1]);
            }
        }
        if self.student && !adjoints[1].is_empty() {
            adjoints[1][0] += seed * d_nu;
        }
        if !adjoints[at + 1].is_empty() {
            spread.add_log_normalizer(seed * count(times), adjoints[at + 1], memory.take(n * n));
        }
        Ok(value)
    }

    fn lanes_scratch(&self, arguments: &[Shape]) -> Option<usize> {
        let n = arguments[self.location() + 1].rows();
        (!self.student && n <= WIDEST).then_some(2 * n * n + 4 * n)
    }

    fn log_density_lanes(
        &self,
        arguments: &[LaneArgument],
        terms: Terms,
        adjoints: &mut [&mut [Row]],
        scratch: &mut [Row],
    ) -> Option<Row> {
        let [y, mu, given] = adjoints else { return None };
        lanes::log_density(self.scale, arguments, terms, [y, mu, given], (scratch, matrices::factor))
    }
}
