//! Cholesky factors of small matrices, in place: the K × K systems of the Gibbs kernels.

use crust_math::linalg::cholesky::rows::{Rows, factor_with};

/// Replaces the lower triangle of A by that of L with A = L Lᵀ. Returns log det A, or nothing if A is not positive
/// definite. Rows are `stride` apart; what is above the diagonal is not touched.
#[inline(always)]
pub(crate) fn factor(a: &mut [f64], k: usize, stride: usize) -> Option<f64> {
    let mut determinant = 1.0_f64;
    let mut log_determinant = 0.0;
    let pivot = |pivot: f64| {
        determinant *= pivot;
        // One logarithm for several pivots, before their product can overflow.
        if !(1e-100..1e100).contains(&determinant) {
            log_determinant += pxfm::f_log(determinant);
            determinant = 1.0;
        }
    };
    factor_with(a, k, Rows::Apart(stride), subtract, pivot).ok()?;
    Some(log_determinant + pxfm::f_log(determinant))
}

/// a − Σ x y, one product after the other, each fused.
#[inline(always)]
fn subtract(a: f64, x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(a, |rest, (&x, &y)| (-x).mul_add(y, rest))
}

/// L⁻¹ by rows (lower triangle, zeros above) from the lower triangle of L.
#[inline(always)]
pub(crate) fn invert_lower(l: &[f64], out: &mut [f64], k: usize, stride: usize) {
    out.fill(0.0);
    for row in 0..k {
        let (before, from_here) = out.split_at_mut(row * stride);
        let current = &mut from_here[..stride];
        for m in 0..row {
            let factor = -l[row * stride + m];
            for (out, &x) in current.iter_mut().zip(&before[m * stride..(m + 1) * stride]) {
                *out = factor.mul_add(x, *out);
            }
        }
        current[row] += 1.0;
        let pivot = 1.0 / l[row * stride + row];
        current.iter_mut().for_each(|x| *x *= pivot);
    }
}

/// A⁻¹ = L⁻ᵀ L⁻¹ from L⁻¹: the sum of the outer products of its rows.
#[inline(always)]
pub(crate) fn gram_of_inverse(inverse: &[f64], out: &mut [f64], k: usize, stride: usize) {
    out.fill(0.0);
    for source in inverse.chunks_exact(stride).take(k) {
        for (row, &x) in out.chunks_exact_mut(stride).take(k).zip(source) {
            for (out, &y) in row.iter_mut().zip(source) {
                *out = x.mul_add(y, *out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_and_determinant() {
        let (k, stride) = (3, 8);
        let mut a = vec![0.0; k * stride];
        let entries = [[4.0, 2.0, -1.0], [2.0, 5.0, 0.5], [-1.0, 0.5, 3.0]];
        for (row, entries) in entries.iter().enumerate() {
            a[row * stride..row * stride + k].copy_from_slice(entries);
        }
        let original = a.clone();
        let log_determinant = factor(&mut a, k, stride).expect("positive definite");
        assert!((log_determinant - 40.0_f64.ln()).abs() < 1e-14, "{log_determinant}");
        let (mut inverse, mut out) = (vec![0.0; k * stride], vec![0.0; k * stride]);
        invert_lower(&a, &mut inverse, k, stride);
        gram_of_inverse(&inverse, &mut out, k, stride);
        for row in 0..k {
            for column in 0..k {
                let product: f64 = (0..k).map(|m| original[row * stride + m] * out[m * stride + column]).sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-14);
            }
        }
        let mut indefinite = vec![0.0; 2 * stride];
        indefinite[0] = 1.0;
        indefinite[stride] = 2.0;
        indefinite[stride + 1] = 1.0;
        assert!(factor(&mut indefinite, 2, stride).is_none());
    }
}
