//! The Cholesky factor of a matrix whose lower triangle lies row by row, for small matrices and packed triangles.
//!
//! Each element is `(aᵢⱼ - Σₖ lᵢₖ·lⱼₖ) / lⱼⱼ`, or the root on the diagonal; the caller chooses the order of the sum.

use crate::linalg::LinalgError;
use crate::linalg::vectors::dot_in_order;

/// Where the rows of a lower triangle begin.
#[derive(Clone, Copy, Debug)]
pub enum Rows {
    /// Rows of the given distance; what is above the diagonal is neither read nor written.
    Apart(usize),
    /// Row after row without gaps, each up to its diagonal.
    Packed,
}

impl Rows {
    /// The place of element `(i, 0)`.
    #[inline(always)]
    pub fn start(self, i: usize) -> usize {
        match self {
            Self::Apart(stride) => i * stride,
            Self::Packed => i * (i + 1) / 2,
        }
    }
}

/// Overwrites the lower triangle of the `n × n` matrix by its factor. `subtract(a, x, y)` is `a - xᵀy` in the order of
/// summation that the caller wants. A pivot must be positive and finite.
#[inline(always)]
pub fn factor(
    a: &mut [f64],
    n: usize,
    rows: Rows,
    subtract: impl Fn(f64, &[f64], &[f64]) -> f64,
) -> Result<(), LinalgError> {
    factor_with(a, n, rows, subtract, |_| ())
}

/// The same, and tells each pivot before its root is taken: their product is the determinant of the matrix.
#[inline(always)]
pub fn factor_with(
    a: &mut [f64],
    n: usize,
    rows: Rows,
    subtract: impl Fn(f64, &[f64], &[f64]) -> f64,
    mut see: impl FnMut(f64),
) -> Result<(), LinalgError> {
    for i in 0..n {
        let (before, row) = a.split_at_mut(rows.start(i));
        for j in 0..i {
            let other = &before[rows.start(j)..][..=j];
            row[j] = subtract(row[j], &row[..j], &other[..j]) / other[j];
        }
        let pivot = subtract(row[i], &row[..i], &row[..i]);
        if !(pivot > 0.0 && pivot < f64::INFINITY) {
            return Err(LinalgError::NotPositiveDefinite { row: i + 1, pivot });
        }
        see(pivot);
        row[i] = pivot.sqrt();
    }
    Ok(())
}

/// The factor of an `n × n` matrix by rows, of which the lower triangle is read, by rows with zeros above the diagonal.
pub fn lower(n: usize, matrix: &[f64], subtract: impl Fn(f64, &[f64], &[f64]) -> f64) -> Result<Vec<f64>, LinalgError> {
    let mut lower = vec![0.0; n * n];
    for (i, (to, from)) in lower.chunks_exact_mut(n.max(1)).zip(matrix.chunks_exact(n.max(1))).enumerate() {
        to[..=i].copy_from_slice(&from[..=i]);
    }
    factor(&mut lower, n, Rows::Apart(n), subtract)?;
    Ok(lower)
}

/// `x ← L⁻¹·x` for `L` by rows, one product after the other.
pub fn solve(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for (i, row) in l.chunks_exact(n.max(1)).enumerate() {
        x[i] = (x[i] - dot_in_order(&row[..i], &x[..i])) / row[i];
    }
}

/// `x ← L⁻ᵀ·x` for `L` by rows, one product after the other.
pub fn solve_transposed(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i * n + i];
    }
}
