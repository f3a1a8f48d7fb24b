//! One half of the Gibbs sweep of the low rank model: all rows of one factor given the other. U and V are treated
//! alike.

use crust_math::lanes::{Kernel, dispatch};
use crust_math::random::Stream;
use pxfm::f_log;
use std::f64::consts::TAU;

use crate::grid::float;
use crate::models::factor::{factor, invert_lower};
use crate::models::rows::{BLOCK, Rows, add_scaled, dot, padded};

/// Memory of a sweep, so that it need not allocate. Matrices are K × K by rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    gram: Vec<f64>,
    other_gram: Vec<f64>,
    /// L of the precision, zeros above the diagonal; L⁻¹; L⁻ᵀ.
    pub(super) lower: Vec<f64>,
    pub(super) inverse: Vec<f64>,
    transposed: Vec<f64>,
    pub(super) log_determinant: f64,
    /// c L⁻¹ b for one row.
    pub(super) whitened: Vec<f64>,
    /// Σⱼ yᵢⱼ wⱼ of each row.
    products: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(rows: usize, components: usize) -> Self {
        let stride = padded(components);
        // The Gram matrices have rows of padding too.
        let square = || vec![0.0; stride * stride];
        Self {
            gram: square(),
            other_gram: square(),
            lower: square(),
            inverse: square(),
            transposed: square(),
            log_determinant: 0.0,
            whitened: vec![0.0; stride],
            products: vec![0.0; rows * stride],
        }
    }

    /// The precision I/σ_x² + c Σⱼ wⱼ wⱼᵀ that all rows of a factor share, its Cholesky factor and inverse.
    #[inline(always)]
    pub(super) fn prepare(&mut self, others: &Rows, variance: f64, c: f64) {
        let (k, stride) = (others.columns(), others.stride());
        gram(others, &mut self.gram);
        self.lower.fill(0.0);
        for row in 0..k {
            for column in 0..=row {
                self.lower[row * stride + column] = c * self.gram[row * stride + column];
            }
            self.lower[row * stride + row] += 1.0 / variance;
        }
        // Positive definite by construction; a failure could only come from numbers that are not finite, and shows in
        // the state.
        self.log_determinant = factor(&mut self.lower, k, stride).unwrap_or(f64::NAN);
        invert_lower(&self.lower, &mut self.inverse, k, stride);
        self.transposed.fill(0.0);
        for row in 0..k {
            for column in 0..=row {
                self.transposed[column * stride + row] = self.inverse[row * stride + column];
            }
        }
    }

    /// whitened = c L⁻¹ b. The mean of the row is L⁻ᵀ of it.
    #[inline(always)]
    pub(super) fn whiten(&mut self, b: &[f64], c: f64, k: usize) {
        let stride = b.len();
        self.whitened.fill(0.0);
        for (&b, column) in b.iter().zip(self.transposed.chunks_exact(stride)).take(k) {
            add_scaled(&mut self.whitened, c * b, column);
        }
    }

    /// x = L⁻ᵀ t.
    #[inline(always)]
    pub(super) fn unwhiten(&self, t: &[f64], x: &mut [f64], k: usize) {
        x.fill(0.0);
        for (&t, row) in t.iter().zip(self.inverse.chunks_exact(x.len())).take(k) {
            add_scaled(x, t, row);
        }
    }
}

/// How a row is settled, given `scratch.whitened`: drawn, or followed to a given value.
pub(super) trait Settle {
    fn settle(&mut self, row: usize, x: &mut [f64], k: usize, scratch: &mut Scratch);
}

/// x = L⁻ᵀ (c L⁻¹ b + ε).
pub(super) struct Drawn<'a>(pub &'a mut Stream);

impl Settle for Drawn<'_> {
    #[inline(always)]
    fn settle(&mut self, _row: usize, x: &mut [f64], k: usize, scratch: &mut Scratch) {
        for t in &mut scratch.whitened[..k] {
            *t += self.0.standard_normal();
        }
        scratch.unwhiten(&scratch.whitened, x, k);
    }
}

/// Takes the rows of another matrix, and adds up the log density of drawing them: with ε = Lᵀ x − c L⁻¹ b
///
/// > log p = ½ log det Λ − (K/2) log 2π − ½ |ε|².
pub(super) struct Followed<'a> {
    pub to: &'a Rows,
    pub log_density: f64,
}

impl Settle for Followed<'_> {
    #[inline(always)]
    fn settle(&mut self, row: usize, x: &mut [f64], k: usize, scratch: &mut Scratch) {
        x.copy_from_slice(self.to.row(row));
        scratch.whitened.iter_mut().for_each(|t| *t = -*t);
        for (&x, row) in x.iter().zip(scratch.lower.chunks_exact(x.len())).take(k) {
            add_scaled(&mut scratch.whitened, x, row);
        }
        let size = dot(&scratch.whitened, &scratch.whitened);
        self.log_density += 0.5 * (scratch.log_determinant - float(k) * f_log(TAU) - size);
    }
}

/// Updates all rows of `targets` given `others`, where entry (i, j) of `data` belongs to row i of the one and row j of
/// the other, its tempered precision is c, and rows have prior variance `variance`.
///
/// Returns the residual sum of squares less that of the data, −2 Σᵢ xᵢ·bᵢ + ⟨Σⱼ wⱼwⱼᵀ, Σᵢ xᵢxᵢᵀ⟩.
pub(super) struct Half<'a, S> {
    pub targets: &'a mut Rows,
    pub others: &'a Rows,
    pub data: &'a Rows,
    pub variance: f64,
    pub c: f64,
    pub settle: &'a mut S,
    pub scratch: &'a mut Scratch,
}

impl<S: Settle> Half<'_, S> {
    pub(super) fn run_on_best(self) -> f64 {
        dispatch(self)
    }
}

impl<S: Settle> Kernel for Half<'_, S> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Self { targets, others, data, variance, c, settle, scratch } = self;
        let (k, stride) = (targets.columns(), targets.stride());
        scratch.prepare(others, variance, c);
        let mut products = std::mem::take(&mut scratch.products);
        multiply(data, others, targets.rows(), &mut products);
        let mut cross = 0.0;
        for (i, b) in products.chunks_exact(stride).enumerate().take(targets.rows()) {
            scratch.whiten(b, c, k);
            let x = targets.row_mut(i);
            settle.settle(i, x, k, scratch);
            cross += dot(x, b);
        }
        scratch.products = products;
        gram(targets, &mut scratch.other_gram);
        dot(&scratch.gram, &scratch.other_gram) - 2.0 * cross
    }
}

/// Rows that are worked on at once, so that additions do not wait for each other.
const TOGETHER: usize = 4;

/// out[i] = Σⱼ data[i][j] others[j] for the first `rows` rows.
#[inline(always)]
pub(super) fn multiply(data: &Rows, others: &Rows, rows: usize, out: &mut [f64]) {
    let stride = others.stride();
    for block in (0..stride).step_by(BLOCK) {
        let mut i = 0;
        while i + TOGETHER <= rows {
            multiply_rows::<TOGETHER>(data, others, i, block, out);
            i += TOGETHER;
        }
        while i < rows {
            multiply_rows::<1>(data, others, i, block, out);
            i += 1;
        }
    }
}

#[inline(always)]
fn multiply_rows<const R: usize>(data: &Rows, others: &Rows, first: usize, block: usize, out: &mut [f64]) {
    let (stride, m) = (others.stride(), others.rows());
    let rows: [&[f64]; R] = std::array::from_fn(|r| &data.row(first + r)[..m]);
    let mut sums = [[0.0; BLOCK]; R];
    for (j, other) in others.iter().enumerate() {
        let other = &other[block..block + BLOCK];
        for (sums, row) in sums.iter_mut().zip(rows) {
            let y = row[j];
            for (sum, &w) in sums.iter_mut().zip(other) {
                *sum = y.mul_add(w, *sum);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        out[(first + r) * stride + block..][..BLOCK].copy_from_slice(sums);
    }
}

/// out = Σⱼ wⱼ wⱼᵀ, with its padding.
#[inline(always)]
fn gram(rows: &Rows, out: &mut [f64]) {
    let stride = rows.stride();
    for block in (0..stride).step_by(BLOCK) {
        for first in (0..stride).step_by(TOGETHER) {
            let mut sums = [[0.0; BLOCK]; TOGETHER];
            for row in rows.iter() {
                let (left, right) = (&row[first..first + TOGETHER], &row[block..block + BLOCK]);
                for (sums, &a) in sums.iter_mut().zip(left) {
                    for (sum, &b) in sums.iter_mut().zip(right) {
                        *sum = a.mul_add(b, *sum);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                out[(first + r) * stride + block..][..BLOCK].copy_from_slice(sums);
            }
        }
    }
}
