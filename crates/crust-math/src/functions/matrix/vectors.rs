//! Columns as vectors: sums of products whose rounding does not depend on the instruction set.
//!
//! These are parts of kernels: they are inlined into what is compiled for an instruction set.

const LANES: usize = 8;

/// `xᵀy`, in eight sums.
#[inline(always)]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (y_blocks, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for i in 0..LANES {
            sums[i] = x[i].mul_add(y[i], sums[i]);
        }
    }
    let mut sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (x, y) in x_rest.iter().zip(y_rest) {
        sum = x.mul_add(*y, sum);
    }
    sum
}

/// `y += a·x`.
#[inline(always)]
pub(super) fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = a.mul_add(*x, *y);
    }
}

/// `(x, y) ← (c·x - s·y, s·x + c·y)`.
#[inline(always)]
pub(super) fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c.mul_add(*x, -(s * *y)), s.mul_add(*x, c * *y));
    }
}

/// Copies a few numbers in a loop of its own: a plain copy becomes a call of the C library, which takes longer than all else
/// that is done with a small block. (The sum with 0 is what keeps the compiler from it; it changes only the sign of a 0.)
#[inline(always)]
pub(super) fn copy(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from + 0.0;
    }
}

/// Memory on whole lines of the cache: vectors that cross a line cost twice as much, and much more if they are read again.
#[repr(align(64))]
pub(super) struct Aligned<T>(pub T);
