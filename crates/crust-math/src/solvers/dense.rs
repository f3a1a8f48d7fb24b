//! Small dense linear algebra for the solvers: column-major matrices, LU with partial pivoting.

/// A count as a real number.
#[expect(clippy::cast_precision_loss, reason = "orders and sizes are small")]
pub(super) fn real(n: usize) -> f64 {
    n as f64
}

/// `out += a · x`, element by element.
pub(super) fn add_scaled(out: &mut [f64], a: f64, x: &[f64]) {
    for (o, &v) in out.iter_mut().zip(x) {
        *o += a * v;
    }
}

/// `x ← a · x`.
pub(super) fn scale(x: &mut [f64], a: f64) {
    x.iter_mut().for_each(|v| *v *= a);
}

/// The inner product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The Euclidean norm, scaled by the largest element so that squares neither overflow nor vanish.
pub(super) fn norm(x: &[f64]) -> f64 {
    let largest = max_norm(x);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * x.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}

/// The largest absolute element; NaN if any element is.
pub(super) fn max_norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() || m.is_nan() { f64::NAN } else { m.max(v.abs()) })
}

/// `P A = L U`, with row pivots, of an n × n column-major matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct Lu {
    n: usize,
    factors: Vec<f64>,
    pivots: Vec<usize>,
}

impl Lu {
    /// Factors the matrix; `None` where a pivot is exactly zero.
    pub(super) fn new(n: usize, matrix: &[f64]) -> Option<Self> {
        let mut a = matrix.to_vec();
        let mut pivots = Vec::with_capacity(n);
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if a[i + n * k].abs() > a[pivot + n * k].abs() {
                    pivot = i;
                }
            }
            if a[pivot + n * k] == 0.0 {
                return None;
            }
            if pivot != k {
                for j in 0..n {
                    a.swap(k + n * j, pivot + n * j);
                }
            }
            pivots.push(pivot);
            let inverse = 1.0 / a[k + n * k];
            for i in k + 1..n {
                a[i + n * k] *= inverse;
            }
            for j in k + 1..n {
                let factor = a[k + n * j];
                for i in k + 1..n {
                    a[i + n * j] -= factor * a[i + n * k];
                }
            }
        }
        Some(Self { n, factors: a, pivots })
    }

    /// `b ← A⁻¹ b`.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let (n, a) = (self.n, &self.factors);
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap(k, pivot);
        }
        for k in 0..n {
            let value = b[k];
            for i in k + 1..n {
                b[i] -= a[i + n * k] * value;
            }
        }
        for k in (0..n).rev() {
            b[k] /= a[k + n * k];
            let value = b[k];
            for i in 0..k {
                b[i] -= a[i + n * k] * value;
            }
        }
    }

    /// `b ← A⁻ᵀ b`.
    pub(super) fn solve_transposed(&self, b: &mut [f64]) {
        let (n, a) = (self.n, &self.factors);
        for k in 0..n {
            let sum = dot(&a[n * k..n * k + k], &b[..k]);
            b[k] = (b[k] - sum) / a[k + n * k];
        }
        for k in (0..n).rev() {
            b[k] -= dot(&a[n * k + k + 1..n * k + n], &b[k + 1..]);
        }
        for (k, &pivot) in self.pivots.iter().enumerate().rev() {
            b.swap(k, pivot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 9] = [0.0, 2.0, -1.0, 3.0, 1.0, 4.0, -2.0, 0.5, 7.0];

    #[test]
    fn lu_solves_both_ways() {
        let lu = Lu::new(3, &A).expect("regular");
        let x = [1.0, -2.0, 0.5];
        let mut b: Vec<f64> = (0..3).map(|i| (0..3).map(|j| A[i + 3 * j] * x[j]).sum()).collect();
        lu.solve(&mut b);
        let mut c: Vec<f64> = (0..3).map(|j| dot(&A[3 * j..3 * j + 3], &x)).collect();
        lu.solve_transposed(&mut c);
        for i in 0..3 {
            assert!((b[i] - x[i]).abs() < 1e-14 && (c[i] - x[i]).abs() < 1e-14, "{b:?} {c:?}");
        }
    }

    #[test]
    fn singular_matrix_has_no_factors() {
        assert!(Lu::new(2, &[1.0, 2.0, 2.0, 4.0]).is_none());
    }

    #[test]
    fn norm_survives_extremes() {
        assert!((norm(&[3e300, 4e300]) / 5e300 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-300, 4e-300]) / 5e-300 - 1.0).abs() < 1e-15);
        assert!(norm(&[1.0, f64::NAN]).is_nan());
    }
}
