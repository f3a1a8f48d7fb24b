//! The points that a covariance function is evaluated at, coordinate by coordinate.

use crate::density::{Domain, DomainError};
use crate::functions::{Argument, Shape, ShapeError};

/// Where the arguments are: one or two arrays of points, then parameters.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    /// Whether there are two arrays of points; with one, the matrix is symmetric.
    pub(super) two: bool,
    /// The position of the first parameter.
    pub(super) parameters: usize,
}

impl Signature {
    /// From the number of arguments; a call with a wrong number has none.
    pub(super) fn of(arguments: usize, parameters: usize) -> Option<Self> {
        match arguments.checked_sub(parameters)? {
            1 => Some(Self { two: false, parameters: 1 }),
            2 => Some(Self { two: true, parameters: 2 }),
            _ => None,
        }
    }

    /// The shape of the result, after a check that points are of the same dimension.
    pub(super) fn shape(self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let points = &arguments[..self.parameters];
        if let Some(x) = points.iter().find(|x| x.shape.array_rank() != 1) {
            return Err(ShapeError::NotPoints(x.shape));
        }
        let (first, last) = (points[0].shape, points[self.parameters - 1].shape);
        if first.cell_len() != last.cell_len() && !first.is_empty() && !last.is_empty() {
            return Err(ShapeError::UnequalPoints(first.cell_len(), last.cell_len()));
        }
        Ok(Shape::matrix(first.cells(), last.cells()))
    }

    pub(super) fn check(self, name: &'static str, arguments: &[Argument]) -> Result<(), DomainError> {
        let names = if self.two { ["x1", "x2"] } else { ["x", ""] };
        for (argument, what) in arguments[..self.parameters].iter().zip(names) {
            argument.numbers.iter().try_for_each(|&x| Domain(name).not_nan(what, x))?;
        }
        Ok(())
    }
}

/// Copies points that lie one after the other to coordinates that do.
pub(super) fn transpose(points: &[f64], dimension: usize, out: &mut [f64]) {
    let n = out.len() / dimension.max(1);
    for (i, point) in points.chunks_exact(dimension.max(1)).enumerate() {
        for (d, x) in point.iter().enumerate() {
            out[d * n + i] = *x;
        }
    }
}

/// Adds coordinates to points, the opposite way.
pub(super) fn add_transposed(coordinates: &[f64], dimension: usize, to: &mut [f64]) {
    let n = coordinates.len() / dimension.max(1);
    for (i, point) in to.chunks_exact_mut(dimension.max(1)).enumerate() {
        for (d, x) in point.iter_mut().enumerate() {
            *x += coordinates[d * n + i];
        }
    }
}
