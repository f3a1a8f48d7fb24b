//! The little linear algebra that conjugate models need: symmetric positive definite matrices by rows.

/// The lower triangular L of A = L Lᵀ, by rows.
pub(crate) fn cholesky(dimension: usize, matrix: &[f64]) -> Vec<f64> {
    let mut lower = vec![0.0; dimension * dimension];
    for row in 0..dimension {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|k| lower[row * dimension + k] * lower[column * dimension + k]).sum();
            let rest = matrix[row * dimension + column] - sum;
            lower[row * dimension + column] =
                if row == column { rest.sqrt() } else { rest / lower[column * dimension + column] };
        }
    }
    lower
}

/// x with L x = b.
pub(crate) fn solve_lower(lower: &[f64], b: &[f64]) -> Vec<f64> {
    let d = b.len();
    let mut x = b.to_vec();
    for row in 0..d {
        let sum: f64 = (0..row).map(|k| lower[row * d + k] * x[k]).sum();
        x[row] = (x[row] - sum) / lower[row * d + row];
    }
    x
}

/// x with Lᵀ x = b.
pub(crate) fn solve_upper(lower: &[f64], b: &[f64]) -> Vec<f64> {
    let d = b.len();
    let mut x = b.to_vec();
    for row in (0..d).rev() {
        let sum: f64 = (row + 1..d).map(|k| lower[k * d + row] * x[k]).sum();
        x[row] = (x[row] - sum) / lower[row * d + row];
    }
    x
}

pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
