//! Functions that make one number of one container.

use super::exponentials::{add_weights, log_sum_exp};
use super::sums::count;
use crate::density::DomainError;
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};
use crate::linalg::vectors::{dot_wide, sum, sum_by};

/// A function of the numbers of a container, whatever its shape.
pub(super) struct Reduction {
    name: &'static str,
    may_be_empty: bool,
    value: fn(&[f64]) -> f64,
    /// `(x, value, adjoint of the value, adjoint of x, as much memory as x has)`
    reverse: Reverse,
}

type Reverse = fn(&[f64], f64, f64, &mut [f64], &mut [f64]);

pub(super) const SUM: Reduction = Reduction {
    name: "sum",
    may_be_empty: true,
    value: sum,
    reverse: |_, _, adjoint, to, _| to.iter_mut().for_each(|to| *to += adjoint),
};

pub(super) const PROD: Reduction =
    Reduction { name: "prod", may_be_empty: true, value: |x| x.iter().product(), reverse: prod_reverse };

pub(super) const MEAN: Reduction = Reduction {
    name: "mean",
    may_be_empty: false,
    value: mean,
    reverse: |x, _, adjoint, to, _| to.iter_mut().for_each(|to| *to += adjoint / count(x.len())),
};

pub(super) const VARIANCE: Reduction =
    Reduction { name: "variance", may_be_empty: false, value: variance, reverse: variance_reverse };

pub(super) const SD: Reduction =
    Reduction { name: "sd", may_be_empty: false, value: |x| variance(x).sqrt(), reverse: sd_reverse };

pub(super) const MIN: Reduction = Reduction {
    name: "min",
    may_be_empty: true,
    value: |x| x.iter().copied().reduce(|m, x| if x < m { x } else { m }).unwrap_or(f64::INFINITY),
    reverse: extreme_reverse,
};

pub(super) const MAX: Reduction = Reduction {
    name: "max",
    may_be_empty: true,
    value: |x| x.iter().copied().reduce(|m, x| if x > m { x } else { m }).unwrap_or(f64::NEG_INFINITY),
    reverse: extreme_reverse,
};

pub(super) const NORM1: Reduction = Reduction {
    name: "norm1",
    may_be_empty: true,
    value: |x| sum_by(x, f64::abs),
    reverse: |x, _, adjoint, to, _| add_each(x, to, |x| if x == 0.0 { 0.0 } else { adjoint * x.signum() }),
};

pub(super) const NORM2: Reduction = Reduction {
    name: "norm2",
    may_be_empty: true,
    value: |x| dot_wide(x, x).sqrt(),
    reverse: |x, norm, adjoint, to, _| add_each(x, to, |x| adjoint * (x / norm)),
};

pub(super) const DOT_SELF: Reduction = Reduction {
    name: "dot_self",
    may_be_empty: true,
    value: |x| dot_wide(x, x),
    reverse: |x, _, adjoint, to, _| add_each(x, to, |x| 2.0 * adjoint * x),
};

pub(super) const LOG_SUM_EXP: Reduction = Reduction {
    name: "log_sum_exp",
    may_be_empty: true,
    value: log_sum_exp,
    reverse: |x, value, adjoint, to, _| add_weights(x, value, adjoint, to),
};

fn add_each(x: &[f64], to: &mut [f64], f: impl Fn(f64) -> f64) {
    for (to, &x) in to.iter_mut().zip(x) {
        *to += f(x);
    }
}

/// The derivative for a factor is the product of those before and those after it: no division by a factor 0.
fn prod_reverse(x: &[f64], _: f64, adjoint: f64, to: &mut [f64], before: &mut [f64]) {
    let mut product = adjoint;
    for (before, x) in before.iter_mut().zip(x) {
        *before = product;
        product *= x;
    }
    let mut after = 1.0;
    for ((to, before), x) in to.iter_mut().zip(&*before).zip(x).rev() {
        *to += before * after;
        after *= x;
    }
}

fn mean(x: &[f64]) -> f64 {
    sum(x) / count(x.len())
}

/// Σ (xᵢ − m)² / (n − 1), and 0 for a single number.
fn variance(x: &[f64]) -> f64 {
    if x.len() == 1 {
        return 0.0;
    }
    let m = mean(x);
    sum_by(x, |x| (x - m) * (x - m)) / count(x.len() - 1)
}

fn variance_reverse(x: &[f64], _: f64, adjoint: f64, to: &mut [f64], _: &mut [f64]) {
    if x.len() > 1 {
        let (m, factor) = (mean(x), 2.0 * adjoint / count(x.len() - 1));
        add_each(x, to, |x| factor * (x - m));
    }
}

/// Where all numbers are equal there is no derivative; there Stan has n^−½ for each of them.
fn sd_reverse(x: &[f64], sd: f64, adjoint: f64, to: &mut [f64], _: &mut [f64]) {
    const EQUAL: f64 = 1e-20;
    if x.len() == 1 {
        return;
    }
    let degrees = count(x.len() - 1);
    if sd * sd * degrees < EQUAL {
        let slope = adjoint / count(x.len()).sqrt();
        to.iter_mut().for_each(|to| *to += slope);
    } else {
        let (m, factor) = (mean(x), adjoint / (sd * degrees));
        add_each(x, to, |x| factor * (x - m));
    }
}

/// The smallest or largest number is the first one that is equal to it.
#[expect(clippy::float_cmp, reason = "the value is one of the numbers")]
fn extreme_reverse(x: &[f64], value: f64, adjoint: f64, to: &mut [f64], _: &mut [f64]) {
    if let Some(i) = x.iter().position(|&x| x == value) {
        to[i] += adjoint;
    }
}

impl VectorFunction for Reduction {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [x] = arguments else { return Err(ShapeError::Arguments("one argument")) };
        if x.shape.is_empty() && !self.may_be_empty {
            return Err(ShapeError::EmptyArgument(x.shape));
        }
        Ok(Shape::SCALAR)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        out[0] = (self.value)(arguments[0].numbers);
        Ok(())
    }

    fn reverse(
        &self,
        arguments: &[Argument],
        out: &[f64],
        adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) {
        let x = arguments[0].numbers;
        if !adjoints[0].is_empty() {
            (self.reverse)(x, out[0], adjoint[0], adjoints[0], &mut scratch[..x.len()]);
        }
    }
}
