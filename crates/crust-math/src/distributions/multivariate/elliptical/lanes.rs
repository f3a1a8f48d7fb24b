//! The multivariate normal density by covariance, precision or Cholesky factor, for eight items at once, or for one.
//!
//! With many observations W = L⁻¹ is computed once, so that u = W z and h = Wᵀ u are products, whose sums do not wait
//! for each other; with few, systems are solved.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "formulas with indices read best with indices")]

use super::super::layout::{cell, count, repetitions};
use super::Scale;
use crate::density::Terms;
use crate::functions::LaneArgument;
use crate::lanes::{Kernel, dispatch};
use crate::linalg::lanes::{
    add_product, dot, inverse_diagonal, inverse_factor, minus, solve_lower, solve_lower_transposed,
};

/// Stan's `CONSTRAINT_TOLERANCE`.
const TOLERANCE: f64 = 1e-8;

/// Overwrites a matrix by its Cholesky factor, if there is one.
type Factor<const W: usize> = fn(&mut [[f64; W]], usize) -> bool;

/// For one item, or for eight.
pub(super) fn log_density<const W: usize>(
    scale: Scale,
    arguments: &[LaneArgument<W>],
    terms: Terms,
    adjoints: [&mut [[f64; W]]; 3],
    (scratch, factor): (&mut [[f64; W]], Factor<W>),
) -> Option<[f64; W]> {
    let [y, mu, given] = arguments else { return None };
    let (n, observations) = (given.shape.rows(), repetitions(&[&y.shape, &mu.shape]));
    if observations == 0 || n == 0 || !terms.keep(u32::MAX) {
        return None;
    }
    let arrays = y.shape.array_rank() + mu.shape.array_rank() > 0;
    if !dispatch(Check { scale, arguments: [*y, *mu, *given], n, arrays }) {
        return None;
    }
    let (l, rest) = scratch.split_at_mut(n * n);
    l.copy_from_slice(given.numbers);
    if scale != Scale::Cholesky && !factor(l, n) {
        return None;
    }
    let (work, rest) = rest.split_at_mut(n * n);
    let (to, given) = (adjoints, given.numbers);
    dispatch(Density { scale, arguments: [*y, *mu], given, n, observations, terms, l, work, rest, to })
}

/// Whether all items are in the domain.
struct Check<'a, const W: usize> {
    scale: Scale,
    arguments: [LaneArgument<'a, W>; 3],
    n: usize,
    /// Whether there are several observations: of a single one only the lower triangle is read.
    arrays: bool,
}

impl<const W: usize> Kernel for Check<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { scale, arguments: [y, mu, given], n, arrays } = self;
        // Numbers in the place of truth values: of those the compiler makes vectors.
        let mut fine = [1.0_f64; W];
        for x in y.numbers {
            for l in 0..W {
                fine[l] = if x[l].is_nan() { 0.0 } else { fine[l] };
            }
        }
        for x in mu.numbers {
            for l in 0..W {
                fine[l] = if x[l].abs() < f64::INFINITY { fine[l] } else { 0.0 };
            }
        }
        let triangular = scale == Scale::Cholesky;
        for j in 0..if triangular && !arrays { 0 } else { n } {
            let column = &given.numbers[j * n..(j + 1) * n];
            for (i, above) in column[..j].iter().enumerate() {
                let below = &given.numbers[i * n + j];
                for l in 0..W {
                    let difference = if triangular { above[l] } else { above[l] - below[l] };
                    let most = if triangular { 0.0 } else { TOLERANCE };
                    fine[l] = if difference.abs() <= most { fine[l] } else { 0.0 };
                }
            }
        }
        fine.iter().all(|&x| x > 0.0)
    }
}

struct Density<'a, const W: usize> {
    scale: Scale,
    /// y and μ.
    arguments: [LaneArgument<'a, W>; 2],
    /// The matrix.
    given: &'a [[f64; W]],
    n: usize,
    observations: usize,
    terms: Terms,
    /// The Cholesky factor, of the precision if that is given.
    l: &'a mut [[f64; W]],
    /// A matrix, and four vectors.
    work: &'a mut [[f64; W]],
    rest: &'a mut [[f64; W]],
    /// Adjoints of y, μ and the matrix; empty where they are not wanted.
    to: [&'a mut [[f64; W]]; 3],
}

impl<const W: usize> Kernel for Density<'_, W> {
    type Output = Option<[f64; W]>;

    #[inline(always)]
    fn run(self) -> Option<[f64; W]> {
        let Self { scale, arguments: [y, mu], given, n, observations, terms, l, work, rest, to } = self;
        let [to_y, to_mu, to_given] = to;
        let precision = scale == Scale::Precision;
        let (inverse, rest) = rest.split_at_mut(n);
        let (z, rest) = rest.split_at_mut(n);
        let (u, h) = rest.split_at_mut(n);
        let h = &mut h[..n];
        if !inverse_diagonal(l, n, inverse) {
            return None;
        }
        let mut value = [0.0; W];
        if terms.keep(0b100) {
            for j in 0..n {
                let diagonal = l[j * n + j];
                for k in 0..W {
                    let log = crate::lanes::scalar::log(diagonal[k]);
                    value[k] += if precision { log } else { -log };
                }
            }
        }
        let constant = if terms.keep(0) { 0.5 * count(n) * std::f64::consts::TAU.ln() } else { 0.0 };
        value = value.map(|x| (x - constant) * count(observations));
        // Where many observations ask, or the inverse is needed anyway.
        // The sum of h hᵀ, or z zᵀ, of which the lower triangle counts.
        let outer = scale != Scale::Cholesky && !to_given.is_empty();
        let by_inverse = (!precision && 2 * observations > n) || outer;
        if by_inverse {
            inverse_factor(l, inverse, n, work);
        }
        for i in 0..observations {
            let (in_y, in_mu) = (cell(&y.shape, i), cell(&mu.shape, i));
            for (z, (y, mu)) in z.iter_mut().zip(y.numbers[in_y.clone()].iter().zip(&mu.numbers[in_mu.clone()])) {
                *z = minus(*y, *mu);
            }
            if precision {
                u[..n].copy_from_slice(z);
                symmetric_product(given, z, n, h);
            } else if by_inverse {
                product(work, z, n, u);
                for j in 0..n {
                    h[j] = dot(&work[j * n..(j + 1) * n], u, j);
                }
            } else {
                u[..n].copy_from_slice(z);
                solve_lower(l, inverse, n, u);
                h.copy_from_slice(&u[..n]);
                solve_lower_transposed(l, inverse, n, h);
            }
            let q = dot(&u[..n], if precision { h } else { &u[..n] }, 0);
            for k in 0..W {
                value[k] -= 0.5 * q[k];
            }
            if !to_y.is_empty() {
                for (to, h) in to_y[in_y].iter_mut().zip(&*h) {
                    *to = minus(*to, *h);
                }
            }
            if !to_mu.is_empty() {
                for (to, h) in to_mu[in_mu].iter_mut().zip(&*h) {
                    (0..W).for_each(|k| to[k] += h[k]);
                }
            }
            if !to_given.is_empty() {
                for j in 0..n {
                    let by = if outer && !precision { h[j] } else { u[j] };
                    let column = &mut to_given[j * n..(j + 1) * n];
                    let own = if precision { &u[..n] } else { &*h };
                    for i in j..n {
                        column[i] = add_product(column[i], own[i], by);
                    }
                }
            }
        }
        if to_given.is_empty() {
            return Some(value);
        }
        if !outer {
            for j in 0..n {
                let at = j * n + j;
                (0..W).for_each(|k| to_given[at][k] -= count(observations) * inverse[j][k]);
            }
            return Some(value);
        }
        // Half of Σ h hᵀ − N Wᵀ W, or of N Wᵀ W − Σ z zᵀ, the same above and below the diagonal.
        let half = if precision { -0.5 } else { 0.5 };
        for j in 0..n {
            for i in j..n {
                let p = dot(&work[i * n..(i + 1) * n], &work[j * n..(j + 1) * n], i);
                let mut d = to_given[j * n + i];
                for k in 0..W {
                    d[k] = half * (d[k] - count(observations) * p[k]);
                }
                to_given[j * n + i] = d;
                to_given[i * n + j] = d;
            }
        }
        Some(value)
    }
}

/// `h = P z` for a symmetric matrix.
#[inline(always)]
fn symmetric_product<const W: usize>(p: &[[f64; W]], z: &[[f64; W]], n: usize, h: &mut [[f64; W]]) {
    for j in 0..n {
        h[j] = dot(&p[j * n..(j + 1) * n], &z[..n], 0);
    }
}

/// `u = W z` for a lower triangle.
#[inline(always)]
fn product<const W: usize>(w: &[[f64; W]], z: &[[f64; W]], n: usize, u: &mut [[f64; W]]) {
    u[..n].fill([0.0; W]);
    for j in 0..n {
        let (column, by) = (&w[j * n..(j + 1) * n], z[j]);
        for i in j..n {
            u[i] = add_product(u[i], column[i], by);
        }
    }
}
