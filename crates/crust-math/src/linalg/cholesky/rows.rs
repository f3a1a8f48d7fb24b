//! The Cholesky factor of a matrix whose lower triangle lies row by row, for small matrices and packed triangles.
//!
//! Each element is `(aᵢⱼ - Σₖ lᵢₖ·lⱼₖ) / lⱼⱼ`, or the root on the diagonal; the caller chooses the order of the sum.

use crate::linalg::LinalgError;

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
        row[i] = pivot.sqrt();
    }
    Ok(())
}
