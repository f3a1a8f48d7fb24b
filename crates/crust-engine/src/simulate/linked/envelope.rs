//! The Cholesky factor of a matrix within its envelope: from the first entry of each row that is not 0. Random walks and
//! other chains have narrow ones, so that a thousand steps cost no more than a few hundred numbers that all depend on
//! each other.

/// Λ = L·Lᵀ, by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The column with which each row begins.
    first: Vec<usize>,
    rows: Vec<Vec<f64>>,
}

/// A pivot that is not larger than what rounding leaves of a zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular;

/// How many units in the last place, for each row, a pivot that should be 0 may be off.
const LOST: f64 = 32.0 * f64::EPSILON;

impl Factor {
    /// Where the rows of a symmetric matrix begin.
    fn envelope(matrix: &[f64], n: usize) -> Vec<usize> {
        (0..n).map(|i| (0..i).find(|j| matrix[i * n + j] != 0.0).unwrap_or(i)).collect()
    }

    /// About how many multiplications the factor takes.
    pub fn work(matrix: &[f64], n: usize) -> usize {
        Self::envelope(matrix, n).iter().enumerate().map(|(i, first)| (i - first).pow(2) / 2 + n).sum()
    }

    pub fn of(matrix: &[f64], n: usize) -> Result<Self, Singular> {
        let first = Self::envelope(matrix, n);
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        #[allow(clippy::cast_precision_loss, reason = "matrices are small")]
        let least = LOST * (n as f64).max(4.0);
        for i in 0..n {
            let mut row = matrix[i * n + first[i]..=i * n + i].to_vec();
            for j in first[i]..i {
                let from = first[i].max(first[j]);
                let sum = dot(&row[from - first[i]..j - first[i]], &rows[j][from - first[j]..j - first[j]]);
                row[j - first[i]] = (row[j - first[i]] - sum) / rows[j][j - first[j]];
            }
            let end = row.len() - 1;
            let pivot = row[end] - dot(&row[..end], &row[..end]);
            // NaN is no pivot either
            if !(pivot > least * matrix[i * n + i] && pivot.is_finite()) {
                return Err(Singular);
            }
            row[end] = pivot.sqrt();
            rows.push(row);
        }
        Ok(Self { first, rows })
    }

    /// ½ log det Λ, and how much rounding may change it.
    pub fn half_log_det(&self) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for row in &self.rows {
            let (end, before) = (row[row.len() - 1], &row[..row.len() - 1]);
            sum.0 += end.ln();
            sum.1 += f64::EPSILON * (1.0 + dot(before, before) / (end * end));
        }
        sum
    }

    /// L⁻¹·x
    pub fn solve(&self, x: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate() {
            let (end, first) = (row.len() - 1, self.first[i]);
            x[i] = (x[i] - dot(&row[..end], &x[first..i])) / row[end];
        }
    }

    /// L⁻ᵀ·x
    pub fn solve_transposed(&self, x: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate().rev() {
            let (end, first) = (row.len() - 1, self.first[i]);
            x[i] /= row[end];
            let known = x[i];
            for (x, l) in x[first..i].iter_mut().zip(row) {
                *x -= l * known;
            }
        }
    }

    /// Lᵀ·x, and by how much rounding of `x` may change the sum of its squares.
    pub fn transposed_times(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let (mut out, mut size) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for ((row, first), x) in self.rows.iter().zip(&self.first).zip(x) {
            for (k, l) in row.iter().enumerate() {
                out[first + k] += l * x;
                size[first + k] += (l * x).abs();
            }
        }
        let noise = out.iter().zip(&size).map(|(z, s)| 2.0 * f64::EPSILON * s * (z.abs() + f64::EPSILON * s)).sum();
        (out, noise)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The precision of a random walk with steps of deviation `s` that begins at N(0, 1); `loose` without the beginning.
    fn walk(n: usize, s: f64, loose: bool) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        a[0] = if loose { 0.0 } else { 1.0 };
        for i in 1..n {
            let w = 1.0 / (s * s);
            a[i * n + i] += w;
            a[(i - 1) * n + i - 1] += w;
            a[i * n + i - 1] -= w;
            a[(i - 1) * n + i] -= w;
        }
        a
    }

    #[test]
    fn walks_have_a_narrow_envelope_and_the_known_determinant() {
        let (n, s) = (50, 0.1_f64);
        let a = walk(n, s, false);
        let factor = Factor::of(&a, n).expect("a proper prior");
        assert!(factor.rows.iter().all(|row| row.len() <= 2) && Factor::work(&a, n) < 60 * n);
        // det Λ = s^(−2 (n − 1))
        let (half, noise) = factor.half_log_det();
        assert!((half + 49.0 * s.ln()).abs() < 1e-10 && noise < 1e-8, "{half} {noise}");
        // Λ x = b
        let b: Vec<f64> = (0..50).map(|i| f64::from(i).sin()).collect();
        let mut x = b.clone();
        factor.solve(&mut x);
        factor.solve_transposed(&mut x);
        let back: Vec<f64> = (0..n).map(|i| dot(&a[i * n..(i + 1) * n], &x)).collect();
        assert!(back.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
        // xᵀ Λ x = |Lᵀ x|²
        let (z, _) = factor.transposed_times(&x);
        assert!((dot(&z, &z) - dot(&x, &b)).abs() < 1e-9);
    }

    #[test]
    fn singular_matrices_are_told() {
        for n in [2, 7, 200] {
            for s in [1e-3, 0.7, 30.0] {
                assert_eq!(Factor::of(&walk(n, s, true), n), Err(Singular), "{n} {s}");
            }
        }
        assert_eq!(Factor::of(&[1.0, 2.0, 2.0, 1.0], 2), Err(Singular));
        assert_eq!(Factor::of(&[f64::NAN], 1), Err(Singular));
    }
}
