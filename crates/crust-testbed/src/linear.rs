//! The little linear algebra that conjugate models need: symmetric positive definite matrices by rows.

use crust_math::linalg::cholesky::rows;
use crust_math::linalg::vectors::dot_in_order;

/// The lower triangular L of A = L Lᵀ, by rows. Without one all is NaN: the models' matrices have one by construction,
/// and what is not finite has no weight.
pub(crate) fn cholesky(dimension: usize, matrix: &[f64]) -> Vec<f64> {
    rows::lower(dimension, matrix, |a, x, y| a - dot_in_order(x, y))
        .unwrap_or_else(|_| vec![f64::NAN; dimension * dimension])
}

/// x with L x = b.
pub(crate) fn solve_lower(lower: &[f64], b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    rows::solve(lower, &mut x);
    x
}

/// x with Lᵀ x = b.
pub(crate) fn solve_upper(lower: &[f64], b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    rows::solve_transposed(lower, &mut x);
    x
}
