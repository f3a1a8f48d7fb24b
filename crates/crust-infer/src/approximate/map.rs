//! The map x = m + S z that parameters of a family stand for, composed once for all draws, and the way back of
//! derivatives.
//!
//! With the frame x = m₀ + S₀ y and y = u + A z, m = m₀ + S₀ u and S = S₀ A. What a sum over draws of log p(x) changes
//! by is Σ gᵀdm + Σ gᵀdS z for the gradients g, so that only Σ g and Σ g zᵀ matter: the derivative in u is S₀ᵀ Σ g, that
//! in A is S₀ᵀ Σ g zᵀ. Both are transformed once, not for every draw.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use super::blocks::{self, Terms};
use super::coordinates::Family;
use super::dense;
use super::scale::Scale;
use crate::vector::add_scaled;

/// Composed from a frame and parameters.
#[derive(Clone, Debug)]
pub struct Map {
    mean: Vec<f64>,
    scale: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    Diagonal(Vec<f64>),
    /// Rows of a lower triangle, one after the other, without zeros.
    Triangle(Vec<f64>),
    /// The same with zeros: of many dimensions.
    Square(Vec<f64>),
    /// A diagonal, then columns that further noise goes along.
    Columns(Vec<f64>),
}

impl Map {
    /// The frame has a diagonal scale, or, for full rank, a triangular one.
    pub(super) fn new(family: Family, mean: &[f64], frame: &Scale, parameters: &[f64]) -> Self {
        let d = mean.len();
        let (u, a) = parameters.split_at(d);
        let mut mean = mean.to_vec();
        add_scaled(&mut mean, 1.0, &frame.apply(u));
        let scaled = |values: Vec<f64>| frame.apply(&values);
        let diagonal: Vec<f64> = a[..d].iter().map(|a| a.exp()).collect();
        let scale = match family {
            Family::MeanField => Rows::Diagonal(scaled(diagonal)),
            Family::LowRank(_) => {
                let mut columns = scaled(diagonal);
                a[d..].chunks_exact(d).for_each(|column| columns.extend(frame.apply(column)));
                Rows::Columns(columns)
            }
            Family::FullRank if d >= dense::LEAST => Rows::Square(compose_square(frame, &square(&diagonal, &a[d..]))),
            Family::FullRank => Rows::Triangle(compose(frame, &triangle(&diagonal, &a[d..]), d)),
        };
        Self { mean, scale }
    }

    /// x of all draws, which have so many numbers each: [side by side](super::blocks), but see `is_by_draws`.
    pub fn place(&self, noise: usize, z: &[f64], to: &mut Vec<f64>) {
        let d = self.mean.len();
        match &self.scale {
            Rows::Diagonal(s) => blocks::place(&self.mean, &Columns { d, numbers: s }, noise, z, to),
            Rows::Columns(columns) => blocks::place(&self.mean, &Columns { d, numbers: columns }, noise, z, to),
            Rows::Triangle(rows) => blocks::place(&self.mean, &Triangle(rows), noise, z, to),
            Rows::Square(lower) => {
                to.clear();
                z.chunks_exact(noise).for_each(|_| to.extend_from_slice(&self.mean));
                dense::add_moved(d, lower, z, to);
            }
        }
    }
}

/// Whether draws are one after the other, for products of matrices, and not side by side.
pub(super) fn is_by_draws(family: Family, d: usize) -> bool {
    family == Family::FullRank && d >= dense::LEAST
}

/// Rows of a lower triangle without zeros.
struct Triangle<'a>(&'a [f64]);

impl Terms for Triangle<'_> {
    #[inline(always)]
    fn of(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        self.0[row(i)..row(i + 1)].iter().copied().enumerate()
    }
}

/// A diagonal, then columns that further noise goes along.
struct Columns<'a> {
    d: usize,
    numbers: &'a [f64],
}

impl Terms for Columns<'_> {
    #[inline(always)]
    fn of(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        let further = self.numbers[self.d..].iter().skip(i).step_by(self.d).copied().enumerate();
        std::iter::once((i, self.numbers[i])).chain(further.map(|(k, w)| (self.d + k, w)))
    }
}

/// A with its zeros.
pub(super) fn square(diagonal: &[f64], rest: &[f64]) -> Vec<f64> {
    let d = diagonal.len();
    let mut matrix = vec![0.0; d * d];
    for (i, a) in diagonal.iter().enumerate() {
        let first = i * i.saturating_sub(1) / 2;
        matrix[i * d..][..i].copy_from_slice(&rest[first..first + i]);
        matrix[i * d + i] = *a;
    }
    matrix
}

/// S₀ A of two lower triangles with their zeros.
pub(super) fn compose_square(frame: &Scale, a: &[f64]) -> Vec<f64> {
    match frame {
        Scale::Lower(lower) => dense::of_triangles(a.len().isqrt(), lower, a),
        Scale::Diagonal(s) => {
            let rows = a.chunks_exact(s.len()).zip(s);
            rows.flat_map(|(row, s)| row.iter().map(move |a| s * a)).collect()
        }
        Scale::Product(_) | Scale::LowRank(_) => unreachable!("frames are diagonal or triangular"),
    }
}

/// A in rows: the diagonal belongs to the end of each.
fn triangle(diagonal: &[f64], mut rest: &[f64]) -> Vec<f64> {
    let mut rows = Vec::with_capacity(rest.len() + diagonal.len());
    for (i, a) in diagonal.iter().enumerate() {
        let (row, after) = rest.split_at(i);
        rows.extend_from_slice(row);
        rows.push(*a);
        rest = after;
    }
    rows
}

/// Where a row of a triangle begins.
fn row(i: usize) -> usize {
    i * (i + 1) / 2
}

/// S₀ A of two lower triangles: row i is the sum over k of S₀[i, k] (row k of A).
fn compose(frame: &Scale, a: &[f64], d: usize) -> Vec<f64> {
    let mut rows = vec![0.0; a.len()];
    for i in 0..d {
        let to = &mut rows[row(i)..row(i + 1)];
        match frame {
            Scale::Lower(lower) => {
                for k in 0..=i {
                    add_scaled(&mut to[..=k], lower[i * d + k], &a[row(k)..row(k + 1)]);
                }
            }
            Scale::Diagonal(s) => add_scaled(to, s[i], &a[row(i)..row(i + 1)]),
            Scale::Product(_) | Scale::LowRank(_) => unreachable!("frames are diagonal or triangular"),
        }
    }
    rows
}

/// Sums over draws, from which derivatives follow.
#[derive(Clone, Debug)]
pub struct Sums {
    family: Family,
    /// Σ g.
    gradient: Vec<f64>,
    /// Those elements of Σ g zᵀ that the family has, in the order of [`Rows`].
    products: Vec<f64>,
}

impl Sums {
    pub fn new(family: Family, d: usize) -> Self {
        let products = match family {
            Family::MeanField => d,
            Family::FullRank => row(d),
            Family::LowRank(rank) => (1 + rank) * d,
        };
        Self { family, gradient: vec![0.0; d], products: vec![0.0; products] }
    }

    pub fn clear(&mut self) {
        self.gradient.fill(0.0);
        self.products.fill(0.0);
    }

    /// All draws, which have so many numbers each, with their gradients, as [`Map::place`] has them.
    pub fn add(&mut self, noise: usize, z: &[f64], g: &[f64]) {
        let d = self.gradient.len();
        match self.family {
            Family::FullRank if is_by_draws(self.family, d) => {
                g.chunks_exact(d).for_each(|g| add_scaled(&mut self.gradient, 1.0, g));
                let sums = dense::products(d, g, z);
                (0..d).for_each(|i| add_scaled(&mut self.products[row(i)..row(i + 1)], 1.0, &sums[i * d..][..=i]));
            }
            Family::FullRank => {
                blocks::add_products(|i| [0..i + 1, 0..0], noise, z, g, &mut self.gradient, &mut self.products);
            }
            Family::MeanField => {
                blocks::add_products(|i| [i..i + 1, 0..0], noise, z, g, &mut self.gradient, &mut self.products);
            }
            Family::LowRank(rank) => {
                let mut by_coordinate = vec![0.0; self.products.len()];
                blocks::add_products(|i| [i..i + 1, d..noise], noise, z, g, &mut self.gradient, &mut by_coordinate);
                for (k, to) in self.products.iter_mut().enumerate() {
                    *to += by_coordinate[k % d * (1 + rank) + k / d];
                }
            }
        }
    }

    /// Adds w times the derivative in the parameters, of which the logarithms of the diagonal of A are given.
    pub(super) fn pull(&self, frame: &Scale, logs: &[f64], w: f64, gradient: &mut [f64]) {
        let d = self.gradient.len();
        let (u, a) = gradient.split_at_mut(d);
        add_scaled(u, w, &frame.apply_transposed(&self.gradient));
        let (diagonal, rest) = a.split_at_mut(d);
        if self.family == Family::FullRank {
            self.pull_triangle(frame, logs, w, diagonal, rest);
            return;
        }
        let first = frame.apply_transposed(&self.products[..d]);
        diagonal.iter_mut().zip(&first).zip(logs).for_each(|((to, g), a)| *to += w * g * a.exp());
        let columns = self.products[d..].chunks_exact(d).zip(rest.chunks_exact_mut(d));
        columns.for_each(|(column, to)| add_scaled(to, w, &frame.apply_transposed(column)));
    }

    /// Row i of S₀ᵀ Σ g zᵀ is the sum over k of S₀[k, i] (row k), of which the first i + 1 elements are wanted, and k ≥ i.
    fn pull_triangle(&self, frame: &Scale, logs: &[f64], w: f64, diagonal: &mut [f64], mut rest: &mut [f64]) {
        let d = logs.len();
        let whole = match frame {
            Scale::Lower(lower) if d >= dense::LEAST => Some(dense::transposed_times(d, lower, &self.square())),
            _ => None,
        };
        for i in 0..d {
            let mut sum = vec![0.0; i + 1];
            match (frame, &whole) {
                (_, Some(whole)) => sum.copy_from_slice(&whole[i * d..][..=i]),
                (Scale::Lower(lower), _) => {
                    (i..d).for_each(|k| add_scaled(&mut sum, lower[k * d + i], &self.products[row(k)..][..=i]));
                }
                (Scale::Diagonal(s), _) => add_scaled(&mut sum, s[i], &self.products[row(i)..][..=i]),
                (Scale::Product(_) | Scale::LowRank(_), _) => unreachable!("frames are diagonal or triangular"),
            }
            diagonal[i] += w * sum[i] * logs[i].exp();
            let (to, after) = rest.split_at_mut(i);
            add_scaled(to, w, &sum[..i]);
            rest = after;
        }
    }

    /// The triangle of products with zeros.
    fn square(&self) -> Vec<f64> {
        let d = self.gradient.len();
        let mut matrix = vec![0.0; d * d];
        (0..d).for_each(|i| matrix[i * d..][..=i].copy_from_slice(&self.products[row(i)..row(i + 1)]));
        matrix
    }
}
