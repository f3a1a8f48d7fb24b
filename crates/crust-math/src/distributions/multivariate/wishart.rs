//! Wishart and inverse Wishart, for the matrix and for its Cholesky factor.
//!
//! Both have the trace of A⁻¹ B in them, with A the scale and B the variate (Wishart) or the other way round (inverse).
//! With Cholesky factors it is ‖M‖², M = `L_A`⁻¹ `L_B`, which is lower triangular.

use std::f64::consts::LN_2;

use super::layout::{Containers, Memory, count, matrix, shapes, square};
use crate::density::{Domain, DomainError, Terms};
use crate::functions::{Argument, Shape, ShapeError, VectorDensity};
use crate::linalg::cholesky::{inverse, log_diagonal};
use crate::linalg::triangular::{solve_lower, solve_lower_transposed};
use crate::linalg::vectors::{add_scaled, dot};
use crate::special::{lmgamma, lmgamma_derivative};

const VARIATE: usize = 0;
const DEGREES: usize = 1;
const SCALE: usize = 2;

/// One of the four densities: arguments W, ν, S.
#[derive(Debug)]
pub(super) struct Wishart {
    pub name: &'static str,
    pub inverse: bool,
    pub cholesky: bool,
}

/// The factors and the products of them.
struct Factors<'a> {
    n: usize,
    /// Of the variate and of the scale.
    variate: &'a [f64],
    scale: &'a [f64],
    /// M = `L_A`⁻¹ `L_B`
    m: &'a [f64],
}

fn memory_needed(n: usize) -> usize {
    5 * n * n
}

impl Wishart {
    fn factors<'a>(
        &self,
        arguments: &[Argument<'a>],
        n: usize,
        memory: &mut Memory<'a>,
    ) -> Result<Factors<'a>, DomainError> {
        let domain = Domain(self.name);
        let nu = arguments[DEGREES].numbers[0];
        domain.that(nu > count(n) - 1.0, "Degrees of freedom parameter", nu, "greater than the dimension less 1")?;
        let mut factor = |argument: &Argument<'a>, name| -> Result<&'a [f64], DomainError> {
            let out = memory.take(n * n);
            if self.cholesky {
                domain.lower_triangular(name, argument.numbers, n)?;
                domain.positive_diagonal(name, argument.numbers, n)?;
                out.copy_from_slice(argument.numbers);
            } else {
                domain.factor(name, argument.numbers, n, out)?;
            }
            Ok(out)
        };
        let variate = factor(&arguments[VARIATE], "random variable")?;
        let scale = factor(&arguments[SCALE], "scale parameter")?;
        let (a, b) = if self.inverse { (variate, scale) } else { (scale, variate) };
        let m = memory.take(n * n);
        m.copy_from_slice(b);
        m.chunks_exact_mut(n).for_each(|column| solve_lower(a, n, column));
        Ok(Factors { n, variate, scale, m })
    }

    /// ± 1: the sign of the power of |S|.
    fn sign(&self) -> f64 {
        if self.inverse { 1.0 } else { -1.0 }
    }

    /// The sum of logs of the variate's diagonal, each with its power: without Cholesky factors all powers are ν − n −
    /// 1 or −(ν + n + 1), with them there is the Jacobian, too.
    fn power(&self, nu: f64, n: usize, i: usize) -> f64 {
        match (self.inverse, self.cholesky) {
            (false, false) => nu - count(n) - 1.0,
            (true, false) => -(nu + count(n) + 1.0),
            (false, true) => nu - 1.0 - count(i),
            (true, true) => -(nu + 1.0 + count(i)),
        }
    }

    fn value(&self, terms: Terms, nu: f64, f: &Factors) -> f64 {
        let n = f.n;
        let (w, s) = (1 << VARIATE, 1 << SCALE);
        let degrees = 1 << DEGREES;
        // which arguments Stan looks at for log 2, |S|, the trace, |W|
        let masks = match (self.inverse, self.cholesky) {
            (false, false) => [degrees, degrees | s, s | w, w | degrees],
            (true, false) => [degrees | s, degrees | s, w | s, w | degrees | s],
            (_, true) => [degrees, w | degrees | s, w | degrees | s, w | degrees | s],
        };
        let mut value = 0.0;
        if terms.keep(degrees) {
            value -= lmgamma(size(n), 0.5 * nu);
        }
        if terms.keep(masks[0]) {
            let jacobian = if self.cholesky { count(n) } else { 0.0 };
            value += (jacobian - 0.5 * nu * count(n)) * LN_2;
        }
        if terms.keep(masks[1]) {
            value += self.sign() * nu * log_diagonal(f.scale, n);
        }
        if terms.keep(masks[2]) {
            value -= 0.5 * dot(f.m, f.m);
        }
        if terms.keep(masks[3]) {
            let diagonal = f.variate.iter().step_by(n + 1).enumerate();
            value += diagonal.map(|(i, l)| self.power(nu, n, i) * l.ln()).sum::<f64>();
        }
        value
    }

    /// With N = `L_A`⁻ᵀ M, the derivatives of −tr(A⁻¹ B)/2: −A⁻¹/2 for B and N Nᵀ/2 for A; −N for `L_B` and N Mᵀ for
    /// `L_A`.
    fn add_trace(&self, f: &Factors, seed: f64, adjoints: &mut [&mut [f64]], n_matrix: &mut [f64], work: &mut [f64]) {
        let n = f.n;
        let (a, at_a, at_b) = if self.inverse { (f.variate, VARIATE, SCALE) } else { (f.scale, SCALE, VARIATE) };
        n_matrix.copy_from_slice(f.m);
        n_matrix.chunks_exact_mut(n).for_each(|column| solve_lower_transposed(a, n, column));
        if !adjoints[at_b].is_empty() {
            if self.cholesky {
                for j in 0..n {
                    add_scaled(&mut adjoints[at_b][j * n + j..(j + 1) * n], -seed, &n_matrix[j * n + j..(j + 1) * n]);
                }
            } else {
                inverse(a, n, work);
                add_scaled(adjoints[at_b], -0.5 * seed, work);
            }
        }
        if !adjoints[at_a].is_empty() {
            let (right, half) = if self.cholesky { (f.m, 1.0) } else { (&*n_matrix, 0.5) };
            for (left, right) in n_matrix.chunks_exact(n).zip(right.chunks_exact(n)) {
                for (j, &x) in right.iter().enumerate() {
                    let from = if self.cholesky { j } else { 0 };
                    add_scaled(&mut adjoints[at_a][j * n + from..(j + 1) * n], half * seed * x, &left[from..]);
                }
            }
        }
    }

    /// The derivatives of the determinants.
    fn add_determinants(&self, f: &Factors, nu: f64, seed: f64, adjoints: &mut [&mut [f64]], work: &mut [f64]) {
        let n = f.n;
        for (at, factor) in [(VARIATE, f.variate), (SCALE, f.scale)] {
            if adjoints[at].is_empty() {
                continue;
            }
            let power = |i| if at == SCALE { self.sign() * nu } else { self.power(nu, n, i) };
            if self.cholesky {
                for i in 0..n {
                    adjoints[at][i * (n + 1)] += seed * power(i) / factor[i * (n + 1)];
                }
            } else {
                inverse(factor, n, work);
                add_scaled(adjoints[at], 0.5 * seed * power(0), work);
            }
        }
        if !adjoints[DEGREES].is_empty() {
            // Wishart: log |W| − log |S|; inverse: log |S| − log |W|
            let determinants = -self.sign() * (log_diagonal(f.variate, n) - log_diagonal(f.scale, n));
            let constant = -0.5 * count(n) * LN_2 - 0.5 * lmgamma_derivative(size(n), 0.5 * nu);
            adjoints[DEGREES][0] += seed * (constant + determinants);
        }
    }
}

fn size(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl VectorDensity for Wishart {
    fn name(&self) -> &'static str {
        self.name
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [w, nu, s] = shapes(arguments)?;
        matrix("random variable", &w)?;
        let rows = "the number of rows of the random variable";
        square("random variable", &w, rows, w.rows())?;
        square("scale parameter", &s, rows, w.rows())?;
        if nu.is_scalar() {
            Ok(())
        } else {
            Err(ShapeError::Kind { name: "degrees of freedom", verb: "are", shape: nu, must_be: "a real" })
        }
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        memory_needed(arguments[VARIATE].rows())
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let (n, nu) = (arguments[VARIATE].shape.rows(), arguments[DEGREES].numbers[0]);
        if n == 0 {
            return Ok(0.0);
        }
        let (products, rest) = scratch.split_at_mut(2 * n * n);
        let (product, work) = products.split_at_mut(n * n);
        let factors = self.factors(arguments, n, &mut Memory(rest))?;
        if !adjoints[VARIATE].is_empty() || !adjoints[SCALE].is_empty() {
            self.add_trace(&factors, seed, adjoints, product, work);
        }
        self.add_determinants(&factors, nu, seed, adjoints, work);
        Ok(self.value(terms, nu, &factors))
    }
}
