//! Matrices by rows that are padded with zeros to whole blocks of lanes, and the loops over such rows.

use crate::grid::float;
use crust_math::lanes::{Kernel, dispatch};
use serde::{Deserialize, Serialize};

pub(crate) use crust_math::linalg::vectors::{
    LANES as BLOCK, add_scaled_fused as add_scaled, dot_fused_padded as dot, total as sum_lanes,
};

/// The length of a row of `n` numbers with its padding.
pub(crate) fn padded(n: usize) -> usize {
    n.div_ceil(BLOCK) * BLOCK
}

/// A matrix by rows. Between the end of a row and the beginning of the next one are zeros, which sums and products do
/// not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    height: usize,
    columns: usize,
    stride: usize,
    values: Vec<f64>,
}

impl Rows {
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let stride = padded(columns);
        Self { height: rows, columns, stride, values: vec![0.0; rows * stride] }
    }

    /// `entry(i, j)` in row i and column j.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(rows, columns);
        for i in 0..rows {
            for j in 0..columns {
                matrix.row_mut(i)[j] = entry(i, j);
            }
        }
        matrix
    }

    pub fn rows(&self) -> usize {
        self.height
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row i with its padding.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.stride..(i + 1) * self.stride]
    }

    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.stride..(i + 1) * self.stride]
    }

    #[inline(always)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.stride.max(1))
    }

    /// The length of a row with its padding.
    pub fn stride(&self) -> usize {
        self.stride
    }

    pub fn fill(&mut self, value: f64) {
        self.values.fill(value);
    }

    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// All rows before row i, and row i.
    #[inline(always)]
    pub(crate) fn split_row_mut(&mut self, i: usize) -> (&[f64], &mut [f64]) {
        let (before, from_here) = self.values.split_at_mut(i * self.stride);
        (before, &mut from_here[..self.stride])
    }

    /// Keeps the first rows only, or adds rows of zeros.
    pub fn resize(&mut self, rows: usize) {
        self.height = rows;
        self.values.resize(rows * self.stride, 0.0);
    }

    #[must_use]
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.height, |i, j| self.row(j)[i])
    }

    /// The sum of all squares.
    pub fn sum_of_squares(&self) -> f64 {
        dot(&self.values, &self.values)
    }

    /// The number of entries.
    pub(crate) fn entries(&self) -> f64 {
        float(self.height) * float(self.columns)
    }
}

/// Runs arithmetic that is compiled for the vector units of this processor. Without it, every `mul_add` is a call of a
/// function.
pub(crate) fn vectorised<R>(arithmetic: impl FnOnce() -> R) -> R {
    struct Arithmetic<F>(F);
    impl<R, F: FnOnce() -> R> Kernel for Arithmetic<F> {
        type Output = R;

        #[inline(always)]
        fn run(self) -> R {
            self.0()
        }
    }
    dispatch(Arithmetic(arithmetic))
}

/// |x − y|².
#[inline(always)]
pub(crate) fn distance(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; BLOCK];
    for (x, y) in x.chunks_exact(BLOCK).zip(y.chunks_exact(BLOCK)) {
        for lane in 0..BLOCK {
            let difference = x[lane] - y[lane];
            sums[lane] = difference.mul_add(difference, sums[lane]);
        }
    }
    sum_lanes(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_not_seen() {
        let a = Rows::from_fn(3, 9, |i, j| float(i * 9 + j));
        assert_eq!((a.stride(), a.rows(), a.columns()), (16, 3, 9));
        assert!((dot(a.row(1), a.row(2)) - (9..18).map(|n| float(n * (n + 9))).sum::<f64>()).abs() < 1e-9);
        assert!((distance(a.row(0), a.row(2)) - 9.0 * 18.0 * 18.0).abs() < 1e-9);
        assert_eq!(a.transposed().transposed(), a);
        assert!((a.sum_of_squares() - (0..27).map(|n| float(n * n)).sum::<f64>()).abs() < 1e-9);
    }
}
