//! The covariance function σ² + x·y of linear functions.

use super::points::Signature;
use crate::density::{Domain, DomainError};
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};
use crate::linalg::vectors::{dot_wide, sum};

/// `gp_dot_prod_cov(x, σ)` or `gp_dot_prod_cov(x1, x2, σ)`.
pub(super) struct DotProduct;

const NAME: &str = "gp_dot_prod_cov";

/// The points one by one.
fn points(argument: &Argument<'_>) -> (usize, usize) {
    (argument.shape.cells(), argument.shape.cell_len())
}

fn signature(arguments: usize) -> Signature {
    Signature::of(arguments, 1).expect("the shape was checked")
}

/// Adds `factor` times a point to another.
fn add(factor: f64, x: &[f64], to: &mut [f64]) {
    for (to, x) in to.iter_mut().zip(x) {
        *to = factor.mul_add(*x, *to);
    }
}

impl VectorFunction for DotProduct {
    fn name(&self) -> &'static str {
        NAME
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        match Signature::of(arguments.len(), 1) {
            Some(signature) => signature.shape(arguments),
            None => Err(ShapeError::NoVersion { given: arguments.len() }),
        }
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        if out.is_empty() {
            return Ok(());
        }
        let signature = signature(arguments.len());
        let (first, second) = (&arguments[0], &arguments[signature.parameters - 1]);
        let sigma = arguments[signature.parameters].numbers[0];
        Domain(NAME).nonnegative("sigma", sigma)?;
        Domain(NAME).finite("sigma", sigma)?;
        for (argument, what) in [(first, "x"), (second, "x2")] {
            argument.numbers.iter().try_for_each(|&x| Domain(NAME).finite(what, x))?;
        }
        let (n, size) = points(first);
        for (j, column) in out.chunks_exact_mut(n).enumerate() {
            let y = &second.numbers[j * size..(j + 1) * size];
            for (i, out) in column.iter_mut().enumerate() {
                *out = sigma.mul_add(sigma, dot_wide(&first.numbers[i * size..(i + 1) * size], y));
            }
        }
        Ok(())
    }

    fn reverse(
        &self,
        arguments: &[Argument],
        out: &[f64],
        adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        _: &mut [f64],
    ) {
        if out.is_empty() {
            return;
        }
        let signature = signature(arguments.len());
        let last = signature.parameters - 1;
        let (first, second) = (&arguments[0], &arguments[last]);
        let (n, size) = points(first);
        for (at, &a) in adjoint.iter().enumerate() {
            let (i, j) = (at % n * size, at / n * size);
            if !adjoints[0].is_empty() {
                add(a, &second.numbers[j..j + size], &mut adjoints[0][i..i + size]);
            }
            if !adjoints[last].is_empty() {
                add(a, &first.numbers[i..i + size], &mut adjoints[last][j..j + size]);
            }
        }
        let sigma = arguments[signature.parameters].numbers[0];
        for to in adjoints[signature.parameters].iter_mut() {
            *to += 2.0 * sigma * sum(adjoint);
        }
    }
}
