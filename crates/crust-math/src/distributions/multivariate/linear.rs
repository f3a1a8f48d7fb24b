//! Small dense linear algebra on slices: matrices column by column, every inner loop along a column.

/// Overwrites the lower triangle of the symmetric matrix by its Cholesky factor, A = L Lᵀ. The strict upper triangle is
/// neither read nor written. The error is the pivot that is not positive.
pub(crate) fn cholesky(a: &mut [f64], n: usize) -> Result<(), f64> {
    for j in 0..n {
        let (done, rest) = a.split_at_mut((j + 1) * n);
        let column = &mut done[j * n + j..];
        let pivot = column[0];
        // NaN is not positive
        if pivot.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return Err(pivot);
        }
        let root = pivot.sqrt();
        column.iter_mut().for_each(|x| *x /= root);
        for (k, later) in rest.chunks_exact_mut(n).enumerate() {
            let below = &column[k + 1..];
            axpy(-below[0], below, &mut later[j + 1 + k..]);
        }
    }
    Ok(())
}

/// y += a x
#[inline]
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// Σ xᵢ yᵢ, in four partial sums that run side by side.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// x ← L⁻¹ x
pub(crate) fn solve_lower(l: &[f64], n: usize, x: &mut [f64]) {
    for (j, column) in l.chunks_exact(n).enumerate() {
        x[j] /= column[j];
        let value = x[j];
        axpy(-value, &column[j + 1..], &mut x[j + 1..]);
    }
}

/// x ← L⁻ᵀ x
pub(crate) fn solve_lower_transposed(l: &[f64], n: usize, x: &mut [f64]) {
    for (j, column) in l.chunks_exact(n).enumerate().rev() {
        x[j] = (x[j] - dot(&column[j + 1..], &x[j + 1..])) / column[j];
    }
}

/// (L Lᵀ)⁻¹, both triangles.
pub(crate) fn inverse(l: &[f64], n: usize, out: &mut [f64]) {
    for (j, column) in out.chunks_exact_mut(n).enumerate() {
        column.fill(0.0);
        column[j] = 1.0;
        // the first j numbers of L⁻¹ eⱼ are 0
        for k in j..n {
            let l = &l[k * n..(k + 1) * n];
            column[k] /= l[k];
            let value = column[k];
            axpy(-value, &l[k + 1..], &mut column[k + 1..]);
        }
        solve_lower_transposed(l, n, column);
    }
}

/// Σ log Lⱼⱼ: half of log |L Lᵀ|.
pub(crate) fn log_diagonal(l: &[f64], n: usize) -> f64 {
    (0..n).map(|j| l[j * (n + 1)].ln()).sum()
}

/// A += w x yᵀ
pub(crate) fn add_outer(w: f64, x: &[f64], y: &[f64], a: &mut [f64]) {
    for (column, y) in a.chunks_exact_mut(x.len()).zip(y) {
        axpy(w * y, x, column);
    }
}

/// The lower triangle of the same, for a square matrix.
pub(crate) fn add_outer_lower(w: f64, x: &[f64], y: &[f64], a: &mut [f64]) {
    for (j, (column, y)) in a.chunks_exact_mut(x.len()).zip(y).enumerate() {
        axpy(w * y, &x[j..], &mut column[j..]);
    }
}

/// C += w A B, where A has `rows` rows and `inner` columns.
pub(crate) fn add_product(w: f64, a: &[f64], b: &[f64], c: &mut [f64], (rows, inner): (usize, usize)) {
    if rows == 0 || inner == 0 {
        return;
    }
    for (c, b) in c.chunks_exact_mut(rows).zip(b.chunks_exact(inner)) {
        for (a, b) in a.chunks_exact(rows).zip(b) {
            axpy(w * b, a, c);
        }
    }
}

/// C += w Aᵀ B, where A and B have `inner` rows and C has `rows`.
pub(crate) fn add_transposed_product(w: f64, a: &[f64], b: &[f64], c: &mut [f64], (rows, inner): (usize, usize)) {
    if rows == 0 || inner == 0 {
        return;
    }
    for (c, b) in c.chunks_exact_mut(rows).zip(b.chunks_exact(inner)) {
        for (c, a) in c.iter_mut().zip(a.chunks_exact(inner)) {
            *c += w * dot(a, b);
        }
    }
}

/// C += w A Bᵀ, where A has `rows` rows and B and Cᵀ have `columns`.
pub(crate) fn add_product_transposed(w: f64, a: &[f64], b: &[f64], c: &mut [f64], (rows, columns): (usize, usize)) {
    if rows == 0 || columns == 0 {
        return;
    }
    for (a, b) in a.chunks_exact(rows).zip(b.chunks_exact(columns)) {
        add_outer(w, a, b, c);
    }
}

/// A ← (A + Aᵀ)/2
pub(crate) fn symmetrize(a: &mut [f64], n: usize) {
    for j in 0..n {
        for i in 0..j {
            let mean = 0.5 * (a[j * n + i] + a[i * n + j]);
            a[j * n + i] = mean;
            a[i * n + j] = mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 9] = [4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0];

    #[test]
    fn a_factor_times_its_transpose_is_the_matrix() {
        let mut l = A;
        cholesky(&mut l, 3).expect("positive definite");
        let lower = |i: usize, j: usize| if i < j { 0.0 } else { l[j * 3 + i] };
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let product: f64 = (0..3).map(|k| lower(i, k) * lower(j, k)).sum();
            assert!((product - A[j * 3 + i]).abs() < 1e-15);
        }
    }

    #[test]
    fn the_inverse_times_the_matrix_is_the_identity() {
        let mut l = A;
        cholesky(&mut l, 3).expect("positive definite");
        let (mut inverted, mut identity, mut other) = ([0.0; 9], [0.0; 9], [0.0; 9]);
        inverse(&l, 3, &mut inverted);
        add_product(1.0, &A, &inverted, &mut identity, (3, 3));
        add_transposed_product(1.0, &inverted, &A, &mut other, (3, 3));
        for (k, (x, y)) in identity.iter().zip(&other).enumerate() {
            let expected = f64::from(u8::from(k % 4 == 0));
            assert!((x - expected).abs() < 1e-15 && (y - expected).abs() < 1e-15);
        }
        let mut x = [1.0, -2.0, 3.0];
        solve_lower(&l, 3, &mut x);
        solve_lower_transposed(&l, 3, &mut x);
        let mut back = [0.0; 3];
        add_product_transposed(1.0, &A, &[x[0], x[1], x[2]], &mut back, (3, 1));
        assert!(back.iter().zip([1.0, -2.0, 3.0]).all(|(b, e)| (b - e).abs() < 1e-14));
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        assert_eq!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2), Err(-3.0));
        assert!(cholesky(&mut [f64::NAN], 1).is_err());
        assert!(cholesky(&mut [0.0], 1).is_err());
    }

    #[test]
    fn dots_use_every_number() {
        for n in 0..11_u32 {
            let x: Vec<f64> = (1..=n).map(f64::from).collect();
            assert!((dot(&x, &x) - f64::from(n * (n + 1) * (2 * n + 1) / 6)).abs() < 1e-12);
        }
    }
}
