//! Triangles and draws of many dimensions, in products of matrices that stay in registers.
//!
//! A fit of full rank moves n ≥ 4d draws by a triangle of d²/2 numbers, and adds up as many products: number by number
//! that is a minute for each look at a thousand dimensions. Matrices are by rows, draws one after the other; seen
//! column by column, as `gemm` does, these are transposed.

use crust_math::linalg::cholesky;
use crust_math::linalg::gemm::{Operand, Target, gemm};
use crust_math::linalg::triangular::{self, Triangle};

/// From so many dimensions on it pays. Below, sums go in the order in which they always went.
pub(super) const LEAST: usize = 64;
/// Rows or columns that are taken together, so that what is 0 in a triangle is left out.
const BLOCK: usize = 128;

fn blocks(d: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..d).step_by(BLOCK).map(move |first| (first, BLOCK.min(d - first)))
}

/// Adds L z of each draw to `to`, L a lower triangle by rows.
pub(super) fn add_moved(d: usize, lower: &[f64], z: &[f64], to: &mut [f64]) {
    let (draws, n) = (Operand::new(z, d), z.len() / d);
    for (first, rows) in blocks(d) {
        let target = Target { offset: first, stride: d, rows, columns: n };
        gemm(to, target, first + rows, 1.0, Operand::new(lower, d).transposed().at(first, 0), draws);
    }
}

/// The lower triangle of Σ g zᵀ by rows; what is above it has no meaning.
pub(super) fn products(d: usize, g: &[f64], z: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; d * d];
    // Column i, seen by columns, is row i: Σ z gᵢ.
    for (first, columns) in blocks(d) {
        let target = Target { offset: first * d, stride: d, rows: first + columns, columns };
        gemm(&mut sums, target, z.len() / d, 1.0, Operand::new(z, d), Operand::new(g, d).transposed().at(0, first));
    }
    sums
}

/// A B of two lower triangles by rows.
pub(super) fn of_triangles(d: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; d * d];
    // Seen by columns (A B)ᵀ = Bᵀ Aᵀ.
    for (first, columns) in blocks(d) {
        let target = Target { offset: first * d, stride: d, rows: first + columns, columns };
        gemm(&mut product, target, first + columns, 1.0, Operand::new(b, d), Operand::new(a, d).at(0, first));
    }
    product
}

/// The lower triangle of Aᵀ B by rows, A a lower triangle and B of any form whose lower triangle is given.
pub(super) fn transposed_times(d: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; d * d];
    // Element (i, j) is the sum over k ≥ i of A[k, i] B[k, j], j ≤ i.
    for (first, columns) in blocks(d) {
        let target = Target { offset: first * d, stride: d, rows: first + columns, columns };
        let (left, right) = (Operand::new(b, d).at(0, first), Operand::new(a, d).transposed().at(first, first));
        gemm(&mut product, target, d - first, 1.0, left, right);
    }
    product
}

/// The lower triangular L of A = L Lᵀ by rows, for a symmetric matrix. `None` if it is not positive definite.
pub(super) fn root(d: usize, matrix: &[f64]) -> Option<Vec<f64>> {
    let mut factor = matrix.to_vec();
    cholesky::factor(&mut factor, d).ok()?;
    transpose(d, &mut factor);
    Some(factor)
}

/// The lower triangular R of A⁻¹ = R Rᵀ by rows, for a symmetric matrix. With J, which reverses the order, and J A J =
/// M Mᵀ, A = U Uᵀ with the upper triangle U = J M J, and R = U⁻ᵀ. `None` if A is not positive definite.
pub(super) fn inverse_root(d: usize, matrix: &[f64]) -> Option<Vec<f64>> {
    // Both rows and columns in reverse are all numbers in reverse.
    let mut factor: Vec<f64> = matrix.iter().rev().copied().collect();
    cholesky::factor(&mut factor, d).ok()?;
    let mut inverse = vec![0.0; d * d];
    inverse.iter_mut().step_by(d + 1).for_each(|x| *x = 1.0);
    triangular::solve(Operand::new(&factor, d), Triangle::Lower, d, &mut inverse, d);
    // By columns M⁻¹ is by rows M⁻ᵀ, and R = J M⁻ᵀ J.
    inverse.reverse();
    Some(inverse)
}

/// z ← L⁻¹ z of each draw, L a lower triangle by rows.
pub(super) fn solve_draws(d: usize, lower: &[f64], z: &mut [f64]) {
    let n = z.len() / d;
    triangular::solve(Operand::new(lower, d).transposed(), Triangle::Lower, d, z, n);
}

fn transpose(d: usize, matrix: &mut [f64]) {
    for i in 0..d {
        for j in 0..i {
            matrix.swap(i * d + j, j * d + i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::dot;
    use crust_math::random::{Purpose, StreamKey};

    /// More than a block, and no multiple of one.
    const D: usize = 150;

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = StreamKey::new(seed, Purpose::TEST).stream();
        (0..n).map(|_| stream.standard_normal()).collect()
    }

    fn triangle(seed: u64) -> Vec<f64> {
        let mut lower = numbers(D * D, seed);
        (0..D * D).filter(|k| k % D > k / D).for_each(|k| lower[k] = 0.0);
        // well conditioned
        (0..D).for_each(|i| lower[i * D + i] = 20.0 + lower[i * D + i].abs());
        lower
    }

    /// Rows that are longer than this are far apart.
    fn check(found: &[f64], expected: impl Fn(usize, usize) -> f64) {
        for i in 0..D {
            for j in 0..=i {
                let (a, b) = (found[i * D + j], expected(i, j));
                assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{i} {j}: {a} {b}");
            }
        }
    }

    fn sum(f: impl Fn(usize) -> f64) -> f64 {
        (0..D).map(f).sum()
    }

    #[test]
    fn products_are_those_of_the_definitions() {
        let (a, b, square) = (triangle(1), triangle(2), numbers(D * D, 3));
        check(&of_triangles(D, &a, &b), |i, j| sum(|k| a[i * D + k] * b[k * D + j]));
        check(&transposed_times(D, &a, &square), |i, j| sum(|k| a[k * D + i] * square[k * D + j]));
        let (z, g) = (numbers(7 * D, 4), numbers(7 * D, 5));
        check(&products(D, &g, &z), |i, j| (0..7).map(|k| g[k * D + i] * z[k * D + j]).sum());
        let mut moved = vec![1.0; 7 * D];
        add_moved(D, &a, &z, &mut moved);
        for (k, x) in moved.iter().enumerate() {
            let expected = 1.0 + dot(&a[k % D * D..][..D], &z[k / D * D..][..D]);
            assert!((x - expected).abs() < 1e-10 * (1.0 + expected.abs()));
        }
        solve_draws(D, &a, &mut moved);
        let mut again = vec![0.0; 7 * D];
        add_moved(D, &a, &moved, &mut again);
        for (k, x) in again.iter().enumerate() {
            let expected = 1.0 + dot(&a[k % D * D..][..D], &z[k / D * D..][..D]);
            assert!((x - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        }
    }

    #[test]
    fn roots_are_roots_and_triangles() {
        let a = triangle(6);
        let mut matrix = vec![0.0; D * D];
        (0..D * D).for_each(|k| matrix[k] = dot(&a[k / D * D..][..D], &a[k % D * D..][..D]));
        check(&root(D, &matrix).unwrap(), |i, j| a[i * D + j]);
        // R Rᵀ A = I
        let inverse = inverse_root(D, &matrix).unwrap();
        assert!((0..D * D).all(|k| k % D <= k / D || inverse[k] == 0.0));
        let covariance: Vec<f64> =
            (0..D * D).map(|k| dot(&inverse[k / D * D..][..D], &inverse[k % D * D..][..D])).collect();
        check(&covariance_times(&covariance, &matrix), |i, j| f64::from(u8::from(i == j)));
        assert!(root(2, &[1.0, 2.0, 2.0, 1.0]).is_none() && inverse_root(2, &[1.0, 2.0, 2.0, 1.0]).is_none());
    }

    fn covariance_times(a: &[f64], b: &[f64]) -> Vec<f64> {
        (0..D * D).map(|e| sum(|k| a[e / D * D + k] * b[k * D + e % D])).collect()
    }
}
