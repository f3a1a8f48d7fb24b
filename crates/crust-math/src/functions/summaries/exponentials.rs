//! Logarithms of sums of exponentials along one container.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crate::lanes::{Kernel, dispatch, scalar};
use crate::linalg::vectors::{sum, sum_by};

/// The largest number; −∞ if there is none. NaN does not count.
#[inline(always)]
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(f64::NEG_INFINITY, |m, &x| if x > m { x } else { m })
}

struct LogSumExp<'a>(&'a [f64]);

impl Kernel for LogSumExp<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let m = largest(self.0);
        // all −∞, or some +∞: then shifting by m would make NaN of them
        let shift = if m.abs() < f64::INFINITY { m } else { 0.0 };
        shift + scalar::log(sum_by(self.0, |x| scalar::exp(x - shift)))
    }
}

/// log Σ exp(xᵢ) = m + log Σ exp(xᵢ − m) with the largest term m; −∞ for no terms.
pub(super) fn log_sum_exp(x: &[f64]) -> f64 {
    dispatch(LogSumExp(x))
}

struct Weights<'a> {
    x: &'a [f64],
    log_sum: f64,
    factor: f64,
    to: &'a mut [f64],
}

impl Kernel for Weights<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, &x) in self.to.iter_mut().zip(self.x) {
            *to = self.factor.mul_add(scalar::exp(x - self.log_sum), *to);
        }
    }
}

/// Adds `factor · exp(xᵢ − log_sum)`, the derivative of the logarithm of the sum.
pub(super) fn add_weights(x: &[f64], log_sum: f64, factor: f64, to: &mut [f64]) {
    // where all terms vanish none of them has a part in the sum
    if log_sum > f64::NEG_INFINITY || log_sum.is_nan() {
        dispatch(Weights { x, log_sum, factor, to });
    }
}

struct Softmax<'a> {
    x: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let m = largest(self.x);
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            *out = scalar::exp(x - m);
        }
        let scale = 1.0 / sum(self.out);
        for out in self.out {
            *out *= scale;
        }
    }
}

/// exp(xᵢ) / Σ exp(xⱼ)
pub(super) fn softmax(x: &[f64], out: &mut [f64]) {
    dispatch(Softmax { x, out });
}
