//! Arguments as densities see them: memory, arrays of vectors that broadcast, sizes that must fit, domains of matrices.

use crate::density::{Domain, DomainError};
use crate::functions::{Argument, Cell, Shape, ShapeError};
use crate::linalg::cholesky;

/// Stan's `CONSTRAINT_TOLERANCE`: how far from a constraint a matrix or simplex may be.
const CONSTRAINT_TOLERANCE: f64 = 1e-8;

/// The caller's memory, handed out piece by piece.
pub(super) struct Memory<'a>(pub &'a mut [f64]);

impl<'a> Memory<'a> {
    /// The next `n` numbers, with any content.
    pub(super) fn take(&mut self, n: usize) -> &'a mut [f64] {
        let (piece, rest) = std::mem::take(&mut self.0).split_at_mut(n);
        self.0 = rest;
        piece
    }

    pub(super) fn zeros(&mut self, n: usize) -> &'a mut [f64] {
        let piece = self.take(n);
        piece.fill(0.0);
        piece
    }
}

/// A size as a number.
#[expect(clippy::cast_precision_loss, reason = "sizes are below 2³²")]
pub(super) fn count(n: usize) -> f64 {
    n as f64
}

/// A category as an index from 0, for 1 ≤ y ≤ `categories`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small integer")]
pub(super) fn category(
    domain: Domain,
    argument: &'static str,
    y: f64,
    categories: usize,
) -> Result<usize, DomainError> {
    domain.bounded(argument, y, 1.0, count(categories), "between 1 and the number of categories")?;
    Ok(y as usize - 1)
}

/// The range of the cell that belongs to observation `i`. What is not an array is the same for all.
pub(super) fn cell(shape: &Shape, i: usize) -> std::ops::Range<usize> {
    let n = shape.cell_len();
    if shape.array_rank() == 0 { 0..n } else { i * n..(i + 1) * n }
}

/// The index of the number that belongs to observation `i`. A scalar is the same for all.
pub(super) fn element(shape: &Shape, i: usize) -> usize {
    if shape.is_scalar() { 0 } else { i }
}

/// How many observations arguments describe when each is a scalar or a container of as many: 1 if all are scalars.
pub(super) fn observations(shapes: &[Shape]) -> usize {
    shapes.iter().find(|shape| !shape.is_scalar()).map_or(1, Shape::len)
}

/// The same for arguments that are vectors or arrays of vectors.
pub(super) fn repetitions(shapes: &[&Shape]) -> usize {
    shapes.iter().find(|shape| shape.array_rank() > 0).map_or(1, |shape| shape.cells())
}

/// An error unless two sizes are equal.
pub(super) fn same(one: &'static str, n: usize, other: &'static str, m: usize) -> Result<(), ShapeError> {
    if n == m { Ok(()) } else { Err(ShapeError::Unequal { one, n, other, m }) }
}

/// An error unless the sizes of two arguments are equal.
pub(super) fn same_size(one: &'static str, n: usize, other: &'static str, m: usize) -> Result<(), ShapeError> {
    if n == m { Ok(()) } else { Err(ShapeError::UnequalSizes { one, n, other, m }) }
}

/// An error unless the matrix is square, of size `n`, as `of` says.
pub(super) fn square(name: &'static str, shape: &Shape, of: &'static str, n: usize) -> Result<(), ShapeError> {
    for (what, m) in [("rows", shape.rows()), ("columns", shape.columns())] {
        if m != n {
            return Err(ShapeError::UnequalSides { what, name, m, of, n });
        }
    }
    Ok(())
}

/// An error unless the arrays among the arguments are equally long.
pub(super) fn equally_long(names: &[&'static str], shapes: &[&Shape]) -> Result<(), ShapeError> {
    let mut arrays = names.iter().zip(shapes).filter(|(_, shape)| shape.array_rank() > 0);
    let Some((one, shape)) = arrays.next() else { return Ok(()) };
    arrays.try_for_each(|(other, next)| {
        let (n, m) = (shape.cells(), next.cells());
        if n == m { Ok(()) } else { Err(ShapeError::UnequalArrays { one, n, other, m }) }
    })
}

/// An error unless the containers among the arguments, which are numbers or containers of numbers, are equally long.
pub(super) fn scalars_fit(names: &[&'static str], shapes: &[Shape]) -> Result<(), ShapeError> {
    let mut containers = names.iter().zip(shapes).filter(|(_, shape)| !shape.is_scalar());
    let Some((one, shape)) = containers.next() else { return Ok(()) };
    containers.try_for_each(|(other, next)| same_size(one, shape.len(), other, next.len()))
}

/// The shapes of the arguments.
pub(super) fn shapes<const N: usize>(arguments: &[Argument]) -> Result<[Shape; N], ShapeError> {
    if arguments.len() != N {
        return Err(ShapeError::ArgumentsGiven { given: arguments.len(), needed: N });
    }
    Ok(std::array::from_fn(|i| arguments[i].shape))
}

/// An error unless the argument is a matrix.
pub(super) fn matrix(name: &'static str, shape: &Shape) -> Result<(), ShapeError> {
    if shape.cell() == Cell::Matrix && shape.array_rank() == 0 {
        Ok(())
    } else {
        Err(ShapeError::Kind { name, verb: "is", shape: *shape, must_be: "a matrix" })
    }
}

/// Checks on whole containers in Stan's words.
pub(crate) trait Containers {
    fn all_finite(self, argument: &'static str, x: &[f64]) -> Result<(), DomainError>;
    fn none_nan(self, argument: &'static str, x: &[f64]) -> Result<(), DomainError>;
    fn symmetric(self, argument: &'static str, a: &[f64], n: usize) -> Result<(), DomainError>;
    fn lower_triangular(self, argument: &'static str, a: &[f64], n: usize) -> Result<(), DomainError>;
    fn positive_diagonal(self, argument: &'static str, a: &[f64], n: usize) -> Result<(), DomainError>;
    fn simplex(self, argument: &'static str, theta: impl Iterator<Item = f64> + Clone) -> Result<(), DomainError>;
    fn factor(self, argument: &'static str, a: &[f64], n: usize, out: &mut [f64]) -> Result<(), DomainError>;
    fn semidefinite(self, argument: &'static str, a: &[f64], n: usize, scratch: &mut [f64]) -> Result<(), DomainError>;
}

impl Containers for Domain {
    fn all_finite(self, argument: &'static str, x: &[f64]) -> Result<(), DomainError> {
        x.iter().try_for_each(|&x| self.finite(argument, x))
    }

    fn none_nan(self, argument: &'static str, x: &[f64]) -> Result<(), DomainError> {
        x.iter().try_for_each(|&x| self.not_nan(argument, x))
    }

    fn symmetric(self, argument: &'static str, a: &[f64], n: usize) -> Result<(), DomainError> {
        for j in 0..n {
            for i in 0..j {
                let ok = (a[j * n + i] - a[i * n + j]).abs() <= CONSTRAINT_TOLERANCE;
                self.that(ok, argument, a[j * n + i], "symmetric: equal to the element across the diagonal")?;
            }
        }
        Ok(())
    }

    fn lower_triangular(self, argument: &'static str, a: &[f64], n: usize) -> Result<(), DomainError> {
        for j in 1..n {
            for &x in &a[j * n..j * n + j] {
                self.that(x == 0.0, argument, x, "lower triangular: 0 above the diagonal")?;
            }
        }
        Ok(())
    }

    fn positive_diagonal(self, argument: &'static str, a: &[f64], n: usize) -> Result<(), DomainError> {
        (0..n).try_for_each(|j| self.that(a[j * (n + 1)] > 0.0, argument, a[j * (n + 1)], "positive on the diagonal"))
    }

    fn simplex(self, argument: &'static str, theta: impl Iterator<Item = f64> + Clone) -> Result<(), DomainError> {
        let sum: f64 = theta.clone().sum();
        let ok = (1.0 - sum).abs() <= CONSTRAINT_TOLERANCE;
        self.that(ok, argument, sum, "a simplex: its sum must be 1")?;
        let mut theta = theta;
        theta.try_for_each(|p| self.that(p >= 0.0, argument, p, "a simplex: its elements must be nonnegative"))
    }

    /// The Cholesky factor of a matrix that must be symmetric and positive definite, with zeros above the diagonal.
    fn factor(self, argument: &'static str, a: &[f64], n: usize, out: &mut [f64]) -> Result<(), DomainError> {
        self.symmetric(argument, a, n)?;
        out.copy_from_slice(a);
        cholesky::factor(out, n).or_else(|error| self.that(false, argument, error.value(), "positive definite"))
    }

    /// Cholesky with the largest pivot first: what is left when no pivot is positive must be 0 up to rounding.
    fn semidefinite(self, argument: &'static str, a: &[f64], n: usize, scratch: &mut [f64]) -> Result<(), DomainError> {
        self.symmetric(argument, a, n)?;
        let left = &mut scratch[..n * n];
        left.copy_from_slice(a);
        let largest = (0..n).map(|j| a[j * (n + 1)]).fold(0.0, f64::max);
        let rounding = 64.0 * f64::EPSILON * count(n) * largest;
        for _ in 0..n {
            let pivot_at = (0..n).fold(0, |best, j| if left[j * (n + 1)] > left[best * (n + 1)] { j } else { best });
            let pivot = left[pivot_at * (n + 1)];
            if pivot <= rounding {
                break;
            }
            for j in (0..n).filter(|&j| j != pivot_at) {
                let ratio = left[j * n + pivot_at] / pivot;
                for i in 0..n {
                    left[j * n + i] -= ratio * left[pivot_at * n + i];
                }
            }
            (0..n).for_each(|i| {
                left[pivot_at * n + i] = 0.0;
                left[i * n + pivot_at] = 0.0;
            });
        }
        left.iter().try_for_each(|&x| self.that(x.abs() <= rounding, argument, x, "positive semidefinite"))
    }
}
