//! Sums of outer products and products of small or narrow matrices, along columns.
//!
//! They prepare nothing, so that a few states or one right-hand side cost little. Large products are [`super::gemm`].

use super::vectors::{add_scaled, dot};

/// `A += w·x·yᵀ`.
pub fn add_outer(w: f64, x: &[f64], y: &[f64], a: &mut [f64]) {
    for (column, y) in a.chunks_exact_mut(x.len()).zip(y) {
        add_scaled(column, w * y, x);
    }
}

/// The lower triangle of the same, for a square matrix.
pub fn add_outer_lower(w: f64, x: &[f64], y: &[f64], a: &mut [f64]) {
    for (j, (column, y)) in a.chunks_exact_mut(x.len()).zip(y).enumerate() {
        add_scaled(&mut column[j..], w * y, &x[j..]);
    }
}

/// `C += w·A·B`, where `A` has `rows` rows and `inner` columns.
pub fn add_product(w: f64, a: &[f64], b: &[f64], c: &mut [f64], (rows, inner): (usize, usize)) {
    if rows == 0 || inner == 0 {
        return;
    }
    for (c, b) in c.chunks_exact_mut(rows).zip(b.chunks_exact(inner)) {
        for (a, b) in a.chunks_exact(rows).zip(b) {
            add_scaled(c, w * b, a);
        }
    }
}

/// `C += w·Aᵀ·B`, where `A` and `B` have `inner` rows and `C` has `rows`.
pub fn add_transposed_product(w: f64, a: &[f64], b: &[f64], c: &mut [f64], (rows, inner): (usize, usize)) {
    if rows == 0 || inner == 0 {
        return;
    }
    for (c, b) in c.chunks_exact_mut(rows).zip(b.chunks_exact(inner)) {
        for (c, a) in c.iter_mut().zip(a.chunks_exact(inner)) {
            *c += w * dot(a, b);
        }
    }
}

/// `C += w·A·Bᵀ`, where `A` has `rows` rows and `B` and `Cᵀ` have `columns`.
pub fn add_product_transposed(w: f64, a: &[f64], b: &[f64], c: &mut [f64], (rows, columns): (usize, usize)) {
    if rows == 0 || columns == 0 {
        return;
    }
    for (a, b) in a.chunks_exact(rows).zip(b.chunks_exact(columns)) {
        add_outer(w, a, b, c);
    }
}

/// `A ← (A + Aᵀ)/2`.
pub fn symmetrize(a: &mut [f64], n: usize) {
    for j in 0..n {
        for i in 0..j {
            let mean = 0.5 * (a[j * n + i] + a[i * n + j]);
            a[j * n + i] = mean;
            a[i * n + j] = mean;
        }
    }
}
