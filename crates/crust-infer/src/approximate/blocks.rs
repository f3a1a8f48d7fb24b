//! Points side by side, as targets want them: in blocks of [`LANES`], of which each has a row for each coordinate.
//!
//! Draws that stay are laid out so once. Then nothing is turned around on the way to the target and back, and what is
//! done with each draw is done with many in one instruction.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use std::ops::Range;

use crust_math::lanes::{Kernel, dispatch};
use crust_math::linalg::vectors::{dot_wide, sum};

/// Points of a block.
pub const LANES: usize = 64;
/// As many as are worked on at once: they and their sums are to fit into registers.
const PART: usize = 16;

type Row = [f64; LANES];

/// Points with their log densities and gradients. There are whole blocks of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks {
    pub dimension: usize,
    pub x: Vec<f64>,
    /// −∞ where the target rejects the point.
    pub log_density: Vec<f64>,
    /// Zeros where the target rejects the point.
    pub gradient: Vec<f64>,
}

impl Blocks {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.x.len() / self.dimension
    }

    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }
}

/// Points of so many numbers, one after the other, side by side; what is not a whole block is left out.
pub fn side_by_side(numbers: usize, points: &[f64]) -> Vec<f64> {
    let mut blocks = Vec::with_capacity(points.len());
    for block in points.chunks_exact(LANES * numbers) {
        (0..numbers).for_each(|i| blocks.extend(block.iter().skip(i).step_by(numbers)));
    }
    blocks
}

/// What a coordinate is made of: a constant and multiples of the numbers of a draw.
pub(super) trait Terms {
    /// Those of coordinate i: a number of the draw, and its weight.
    fn of(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone;
}

/// Places x = m + S z of all draws, which have so many numbers each.
pub(super) fn place(mean: &[f64], terms: &impl Terms, numbers: usize, z: &[f64], x: &mut Vec<f64>) {
    x.resize(z.len() / numbers * mean.len(), 0.0);
    dispatch(Place { mean, terms, numbers, z: z.as_chunks().0, x: x.as_chunks_mut().0 });
}

struct Place<'a, T> {
    mean: &'a [f64],
    terms: &'a T,
    numbers: usize,
    z: &'a [Row],
    x: &'a mut [Row],
}

impl<T: Terms> Kernel for Place<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (z, x) in self.z.chunks_exact(self.numbers).zip(self.x.chunks_exact_mut(self.mean.len())) {
            for (i, (x, m)) in x.iter_mut().zip(self.mean).enumerate() {
                let terms = self.terms.of(i);
                for (part, x) in x.as_chunks_mut::<PART>().0.iter_mut().enumerate() {
                    let mut sums = [*m; PART];
                    for (j, w) in terms.clone() {
                        let z = &z[j].as_chunks::<PART>().0[part];
                        (0..PART).for_each(|lane| sums[lane] += w * z[lane]);
                    }
                    *x = sums;
                }
            }
        }
    }
}

/// Adds Σ gᵢ to the first list and, for each coordinate, Σ gᵢ zⱼ to the second, where j is in the two ranges that belong
/// to it.
pub(super) fn add_products(
    of: impl Fn(usize) -> [Range<usize>; 2],
    numbers: usize,
    z: &[f64],
    g: &[f64],
    sums: &mut [f64],
    products: &mut [f64],
) {
    dispatch(AddProducts { of, numbers, z: z.as_chunks().0, g: g.as_chunks().0, sums, products });
}

struct AddProducts<'a, F> {
    of: F,
    numbers: usize,
    z: &'a [Row],
    g: &'a [Row],
    sums: &'a mut [f64],
    products: &'a mut [f64],
}

impl<F: Fn(usize) -> [Range<usize>; 2]> Kernel for AddProducts<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (z, g) in self.z.chunks_exact(self.numbers).zip(self.g.chunks_exact(self.sums.len())) {
            let mut products = self.products.iter_mut();
            for (i, (g, total)) in g.iter().zip(&mut *self.sums).enumerate() {
                *total += sum(g);
                for range in (self.of)(i) {
                    for z in &z[range] {
                        if let Some(to) = products.next() {
                            *to += dot_wide(g, z);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    /// All of z, in both coordinates.
    struct Both;

    impl Terms for Both {
        fn of(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
            [(0, 2.0), (1, -1.0), (2, if i == 0 { 0.5 } else { 3.0 })].into_iter()
        }
    }

    /// Two blocks of draws of three numbers, of which points have two.
    #[test]
    fn blocks_are_the_draws_in_another_order() {
        let (n, mut stream) = (2 * LANES, StreamKey::new(1, Purpose::TEST).stream());
        let z: Vec<f64> = (0..3 * n).map(|_| stream.standard_normal()).collect();
        let g: Vec<f64> = (0..2 * n).map(|_| stream.standard_normal()).collect();
        let (blocks, mut x) = (side_by_side(3, &z), Vec::new());
        place(&[1.0, -2.0], &Both, 3, &blocks, &mut x);
        let mut expected = Vec::new();
        for z in z.chunks_exact(3) {
            expected.push(1.0 + 2.0 * z[0] - z[1] + 0.5 * z[2]);
            expected.push(-2.0 + 2.0 * z[0] - z[1] + 3.0 * z[2]);
        }
        x.iter().zip(side_by_side(2, &expected)).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
        let (mut sums, mut products) = ([0.0; 2], [0.0; 3]);
        let of = |i: usize| if i == 0 { [1..2, 0..0] } else { [0..1, 2..3] };
        add_products(of, 3, &blocks, &side_by_side(2, &g), &mut sums, &mut products);
        let sum = |i: usize, j: usize| (0..n).map(|k| g[2 * k + i] * z[3 * k + j]).sum::<f64>();
        for (found, expected) in products.iter().zip([sum(0, 1), sum(1, 0), sum(1, 2)]) {
            assert!((found - expected).abs() < 1e-12);
        }
        let expected: f64 = g.iter().skip(1).step_by(2).sum();
        assert!((sums[1] - expected).abs() < 1e-12);
    }
}
