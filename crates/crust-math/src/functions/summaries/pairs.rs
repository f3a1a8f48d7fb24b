//! Functions that make one number of two containers of the same size.

use crate::density::DomainError;
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};
use crate::linalg::vectors::{dot_wide, sum_by2};

/// A symmetric function of two containers: f(x, y) = f(y, x), so that one derivative is the other with
/// x and y exchanged.
pub(super) struct Pair {
    name: &'static str,
    value: fn(&[f64], &[f64]) -> f64,
    reverse: Reverse,
}

/// `(x, y, value, adjoint of the value, adjoint of x)`
type Reverse = fn(&[f64], &[f64], f64, f64, &mut [f64]);

pub(super) const DOT_PRODUCT: Pair = Pair { name: "dot_product", value: dot_wide, reverse: dot_product_reverse };

pub(super) const SQUARED_DISTANCE: Pair = Pair {
    name: "squared_distance",
    value: squared_distance,
    reverse: |x, y, _, adjoint, to| add_difference(2.0 * adjoint, x, y, to),
};

pub(super) const DISTANCE: Pair =
    Pair { name: "distance", value: |x, y| squared_distance(x, y).sqrt(), reverse: distance_reverse };

fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    sum_by2(x, y, |x, y| (x - y) * (x - y))
}

fn dot_product_reverse(_: &[f64], y: &[f64], _: f64, adjoint: f64, to: &mut [f64]) {
    for (to, y) in to.iter_mut().zip(y) {
        *to += adjoint * y;
    }
}

/// Where the points are the same there is no derivative; there Stan has 0.
fn distance_reverse(x: &[f64], y: &[f64], distance: f64, adjoint: f64, to: &mut [f64]) {
    if distance != 0.0 {
        add_difference(adjoint / distance, x, y, to);
    }
}

/// Adds `factor · (x − y)`.
fn add_difference(factor: f64, x: &[f64], y: &[f64], to: &mut [f64]) {
    for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
        *to += factor * (x - y);
    }
}

impl VectorFunction for Pair {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [x, y] = arguments else { return Err(ShapeError::Arguments("two arguments")) };
        if x.shape.len() == y.shape.len() { Ok(Shape::SCALAR) } else { Err(ShapeError::UnequalPair(x.shape, y.shape)) }
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        out[0] = (self.value)(arguments[0].numbers, arguments[1].numbers);
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
        let (x, y) = (arguments[0].numbers, arguments[1].numbers);
        let [to_x, to_y] = adjoints else { return };
        if !to_x.is_empty() {
            (self.reverse)(x, y, out[0], adjoint[0], to_x);
        }
        if !to_y.is_empty() {
            (self.reverse)(y, x, out[0], adjoint[0], to_y);
        }
    }
}
