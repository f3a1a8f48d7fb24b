//! Sums over slices with several accumulators: the compiler can then use vector instructions, and rounding errors grow
//! more slowly. The result depends on the numbers and their order only.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

const WIDTH: usize = 8;

#[inline(always)]
fn collect(mut sums: [f64; WIDTH]) -> f64 {
    let mut n = WIDTH / 2;
    while n > 0 {
        for i in 0..n {
            sums[i] += sums[i + n];
        }
        n /= 2;
    }
    sums[0]
}

/// Σ f(xᵢ)
#[inline(always)]
pub(in crate::functions) fn sum_by(x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; WIDTH];
    let (blocks, rest) = x.as_chunks::<WIDTH>();
    for block in blocks {
        for (sum, &x) in sums.iter_mut().zip(block) {
            *sum += f(x);
        }
    }
    for (sum, &x) in sums.iter_mut().zip(rest) {
        *sum += f(x);
    }
    collect(sums)
}

/// Σ f(xᵢ, yᵢ)
#[inline(always)]
pub(in crate::functions) fn sum_by2(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; WIDTH];
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<WIDTH>(), y.as_chunks::<WIDTH>());
    for (x, y) in xs.iter().zip(ys) {
        for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
            *sum += f(x, y);
        }
    }
    for ((sum, &x), &y) in sums.iter_mut().zip(x_rest).zip(y_rest) {
        *sum += f(x, y);
    }
    collect(sums)
}

/// Σ xᵢ
#[inline(always)]
pub(in crate::functions) fn sum(x: &[f64]) -> f64 {
    sum_by(x, |x| x)
}

/// Σ xᵢ yᵢ
#[inline(always)]
pub(in crate::functions) fn dot(x: &[f64], y: &[f64]) -> f64 {
    sum_by2(x, y, |x, y| x * y)
}

/// A number of elements as a number.
#[expect(clippy::cast_precision_loss, reason = "sizes are below 2⁵³")]
pub(in crate::functions) fn count(n: usize) -> f64 {
    n as f64
}
