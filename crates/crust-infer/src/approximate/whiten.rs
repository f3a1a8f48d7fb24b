//! Draws whose second moments are made exactly those of the standard normal distribution.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::lanes::{Kernel, dispatch};

use super::dense;
use super::family::float;
use crate::metric::cholesky;

/// z ← L⁻¹ z, where L Lᵀ are the second moments.
pub(super) fn whiten(dimension: usize, n: usize, z: &mut [f64]) -> bool {
    if dimension >= dense::LEAST {
        let mut moments = dense::products(dimension, z, z);
        for i in 0..dimension {
            for j in 0..=i {
                let moment = moments[i * dimension + j] / float(n);
                (moments[i * dimension + j], moments[j * dimension + i]) = (moment, moment);
            }
        }
        let Some(lower) = dense::root(dimension, &moments) else { return false };
        dense::solve_draws(dimension, &lower, z);
        return true;
    }
    let mut rows = Rows::of(dimension, z);
    let moments: Vec<f64> = dispatch(Moments(&rows)).iter().map(|sum| sum / float(n)).collect();
    let Ok(lower) = cholesky(dimension, &moments) else { return false };
    dispatch(Solve { lower: &lower, rows: &mut rows });
    rows.back(z);
    true
}

/// Draws that are worked on at once.
const SIDE: usize = 16;

/// Draws side by side: a row for each coordinate of each [`SIDE`] of them, filled up with zeros.
struct Rows {
    dimension: usize,
    rows: Vec<[f64; SIDE]>,
}

impl Rows {
    fn of(dimension: usize, z: &[f64]) -> Self {
        let mut rows = Vec::with_capacity(z.len().div_ceil(SIDE) + dimension);
        for draws in z.chunks(SIDE * dimension) {
            let row = |i: usize| {
                let mut row = [0.0; SIDE];
                row.iter_mut().zip(draws[i..].iter().step_by(dimension)).for_each(|(to, z)| *to = *z);
                row
            };
            rows.extend((0..dimension).map(row));
        }
        Self { dimension, rows }
    }

    fn back(&self, z: &mut [f64]) {
        let d = self.dimension;
        for (draws, rows) in z.chunks_mut(SIDE * d).zip(self.rows.chunks_exact(d)) {
            for (i, row) in rows.iter().enumerate() {
                draws[i..].iter_mut().step_by(d).zip(row).for_each(|(z, from)| *z = *from);
            }
        }
    }
}

/// Σ z zᵀ over draws, of which the lower triangle is filled in.
struct Moments<'a>(&'a Rows);

impl Kernel for Moments<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Vec<f64> {
        let d = self.0.dimension;
        let mut sums = vec![[0.0; SIDE]; d * (d + 1) / 2];
        for rows in self.0.rows.chunks_exact(d) {
            let mut sums = sums.iter_mut();
            for (i, a) in rows.iter().enumerate() {
                for (b, sum) in rows[..=i].iter().zip(&mut sums) {
                    (0..SIDE).for_each(|lane| sum[lane] += a[lane] * b[lane]);
                }
            }
        }
        let mut moments = vec![0.0; d * d];
        let mut sums = sums.iter();
        for i in 0..d {
            let row = moments[i * d..][..=i].iter_mut();
            row.zip(&mut sums).for_each(|(moment, sum)| *moment = sum.iter().sum());
        }
        moments
    }
}

/// z ← L⁻¹ z of all draws.
struct Solve<'a> {
    lower: &'a [f64],
    rows: &'a mut Rows,
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let d = self.rows.dimension;
        for rows in self.rows.rows.chunks_exact_mut(d) {
            for i in 0..d {
                let lower = &self.lower[i * d..][..=i];
                let mut z = rows[i];
                for (l, before) in lower.iter().zip(&rows[..i]) {
                    (0..SIDE).for_each(|lane| z[lane] -= l * before[lane]);
                }
                z.iter_mut().for_each(|z| *z /= lower[i]);
                rows[i] = z;
            }
        }
    }
}
