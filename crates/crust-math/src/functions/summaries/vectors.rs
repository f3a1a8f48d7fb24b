//! Functions that make of a vector one of the same shape.

use super::exponentials::{log_sum_exp, softmax};
use crate::density::DomainError;
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};
use crate::linalg::vectors::{dot_wide, sum};

/// A function of the numbers of a vector or array.
pub(super) struct Same {
    name: &'static str,
    value: fn(&[f64], &mut [f64]),
    /// `(out, adjoint of out, adjoint of x)`; none of them needs x.
    reverse: fn(&[f64], &[f64], &mut [f64]),
}

pub(super) const CUMULATIVE_SUM: Same =
    Same { name: "cumulative_sum", value: cumulative_sum, reverse: cumulative_sum_reverse };
pub(super) const SOFTMAX: Same = Same { name: "softmax", value: softmax, reverse: softmax_reverse };
pub(super) const LOG_SOFTMAX: Same = Same { name: "log_softmax", value: log_softmax, reverse: log_softmax_reverse };

fn cumulative_sum(x: &[f64], out: &mut [f64]) {
    let mut sum = 0.0;
    for (out, x) in out.iter_mut().zip(x) {
        sum += x;
        *out = sum;
    }
}

/// Each element is in its own sum and all later ones.
fn cumulative_sum_reverse(_: &[f64], adjoint: &[f64], to: &mut [f64]) {
    let mut sum = 0.0;
    for (to, adjoint) in to.iter_mut().zip(adjoint).rev() {
        sum += adjoint;
        *to += sum;
    }
}

/// ∂sᵢ/∂xⱼ = sᵢ (δᵢⱼ − sⱼ), so that the adjoint of xⱼ is sⱼ (aⱼ − Σ aᵢ sᵢ).
fn softmax_reverse(out: &[f64], adjoint: &[f64], to: &mut [f64]) {
    let mean = dot_wide(out, adjoint);
    for ((to, s), a) in to.iter_mut().zip(out).zip(adjoint) {
        *to += s * (a - mean);
    }
}

fn log_softmax(x: &[f64], out: &mut [f64]) {
    let log_sum = log_sum_exp(x);
    for (out, x) in out.iter_mut().zip(x) {
        *out = x - log_sum;
    }
}

/// ∂lᵢ/∂xⱼ = δᵢⱼ − exp(lⱼ)
fn log_softmax_reverse(out: &[f64], adjoint: &[f64], to: &mut [f64]) {
    super::exponentials::add_weights(out, 0.0, -sum(adjoint), to);
    for (to, a) in to.iter_mut().zip(adjoint) {
        *to += a;
    }
}

impl VectorFunction for Same {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [x] = arguments else { return Err(ShapeError::Arguments("one argument")) };
        Ok(x.shape)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        (self.value)(arguments[0].numbers, out);
        Ok(())
    }

    fn reverse(&self, _: &[Argument], out: &[f64], adjoint: &[f64], adjoints: &mut [&mut [f64]], _: &mut [f64]) {
        if !adjoints[0].is_empty() {
            (self.reverse)(out, adjoint, adjoints[0]);
        }
    }
}
