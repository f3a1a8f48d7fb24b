//! Vectors: the one family of sums of products, whose rounding does not depend on the instruction set.
//!
//! The order of additions decides on the last digit, so each order that results depend on has a function of its own:
//!
//! | function | partial sums | for |
//! | --- | --- | --- |
//! | [`dot_in_order`] | 1 | solvers and conjugate models, as written in formulas |
//! | [`dot`] | 4 | vectors of one chain, densities of vectors |
//! | [`dot_wide`], [`sum_by2`] | 8 | summaries of containers |
//! | [`dot_fused`] | 8, fused | kernels: columns of matrices |
//! | [`dot_fused_padded`] | 8, fused | kernels: rows that are padded to whole blocks |
//!
//! What is *fused* multiplies and adds with one rounding. It is a part of kernels: it is inlined into what is compiled
//! for an instruction set, and would be a slow call of a function elsewhere.

/// Partial sums of [`dot`].
const WIDTH: usize = 4;
/// Partial sums of the wide ones: the lanes of the widest instruction set.
pub const LANES: usize = 8;

/// `xᵀy`, one product after the other.
#[inline]
pub fn dot_in_order(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// `xᵀy`, in four partial sums; what is left over goes to the first of them.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; WIDTH];
    let (x, x_rest) = x.as_chunks::<WIDTH>();
    let (y, y_rest) = y.as_chunks::<WIDTH>();
    for (x, y) in x.iter().zip(y) {
        for i in 0..WIDTH {
            sums[i] += x[i] * y[i];
        }
    }
    for ((sum, &x), &y) in sums.iter_mut().zip(x_rest).zip(y_rest) {
        *sum += x * y;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// `Σ f(xᵢ)`, in eight partial sums.
#[inline(always)]
pub fn sum_by(x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (blocks, rest) = x.as_chunks::<LANES>();
    for block in blocks {
        for (sum, &x) in sums.iter_mut().zip(block) {
            *sum += f(x);
        }
    }
    for (sum, &x) in sums.iter_mut().zip(rest) {
        *sum += f(x);
    }
    total(sums)
}

/// `Σ f(xᵢ, yᵢ)`, in eight partial sums.
#[inline(always)]
pub fn sum_by2(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in xs.iter().zip(ys) {
        for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
            *sum += f(x, y);
        }
    }
    for ((sum, &x), &y) in sums.iter_mut().zip(x_rest).zip(y_rest) {
        *sum += f(x, y);
    }
    total(sums)
}

/// `Σ xᵢ`, in eight partial sums.
#[inline(always)]
pub fn sum(x: &[f64]) -> f64 {
    sum_by(x, |x| x)
}

/// `xᵀy`, in eight partial sums.
#[inline(always)]
pub fn dot_wide(x: &[f64], y: &[f64]) -> f64 {
    sum_by2(x, y, |x, y| x * y)
}

/// The total of eight partial sums, halves onto halves.
#[inline(always)]
pub fn total(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// `xᵀy`, in eight fused sums; what is left over is added to their total.
#[inline(always)]
pub fn dot_fused(x: &[f64], y: &[f64]) -> f64 {
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

/// `xᵀy` of vectors that are padded with zeros to whole blocks of [`LANES`], in eight fused sums.
#[inline(always)]
pub fn dot_fused_padded(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        for i in 0..LANES {
            sums[i] = x[i].mul_add(y[i], sums[i]);
        }
    }
    total(sums)
}

/// `y += a·x`.
#[inline]
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `y += a·x`, fused.
#[inline(always)]
pub fn add_scaled_fused(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = a.mul_add(*x, *y);
    }
}

/// The Euclidean norm, scaled by the largest element so that squares neither overflow nor vanish.
pub fn norm(x: &[f64]) -> f64 {
    let largest = max_norm(x);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * x.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}

/// The largest absolute element; NaN if any element is.
pub fn max_norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() || m.is_nan() { f64::NAN } else { m.max(v.abs()) })
}

/// `(x, y) ← (c·x - s·y, s·x + c·y)`.
#[inline(always)]
pub(crate) fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c.mul_add(*x, -(s * *y)), s.mul_add(*x, c * *y));
    }
}

/// Copies a few numbers in a loop of its own: a plain copy becomes a call of the C library, which takes longer than all
/// else that is done with a small block. (The sum with 0 is what keeps the compiler from it; it changes only the sign
/// of a 0.)
#[inline(always)]
pub(crate) fn copy(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from + 0.0;
    }
}

/// Memory on whole lines of the cache: vectors that cross a line cost twice as much, and much more if they are read
/// again.
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub T);

#[cfg(test)]
mod tests {
    use super::*;

    /// Integers have no rounding, so every order gives the same sum; it must not leave out any of them.
    #[test]
    fn dots_use_every_number() {
        for n in 0..27_u32 {
            let x: Vec<f64> = (1..=n).map(f64::from).collect();
            let expected = f64::from(n * (n + 1) * (2 * n + 1) / 6);
            let padded: Vec<f64> =
                x.iter().copied().chain([0.0; LANES]).take(x.len().next_multiple_of(LANES)).collect();
            for found in [
                dot_in_order(&x, &x),
                dot(&x, &x),
                dot_wide(&x, &x),
                sum_by(&x, |x| x * x),
                dot_fused(&x, &x),
                dot_fused_padded(&padded, &padded),
            ] {
                // An empty sum may be −0.
                assert_eq!((found + 0.0).to_bits(), expected.to_bits(), "{n}");
            }
        }
    }

    #[test]
    fn norm_survives_extremes() {
        assert!((norm(&[3e300, 4e300]) / 5e300 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-300, 4e-300]) / 5e-300 - 1.0).abs() < 1e-15);
        assert!(norm(&[1.0, f64::NAN]).is_nan());
    }
}
