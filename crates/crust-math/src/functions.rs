//! Functions of Stan's library with their derivatives, each for one item: one lane of one iteration.
//!
//! [`elementwise`] holds functions of scalars that apply to every element of a container. [`VectorFunction`] is a
//! function whose result depends on whole containers, such as a matrix decomposition. Both know nothing of lanes: the
//! engine lays the numbers of one item side by side, calls them, and puts the results back. Those that programs spend
//! their time in have a version for eight items at once, whose arithmetic fills vector registers at any size.

pub mod covariance;
pub mod elementwise;
mod error;
pub mod matrix;
mod shape;
pub mod summaries;

pub use error::ShapeError;
pub use shape::{Cell, Shape};

use crate::density::{DomainError, Terms};
pub use crate::linalg::lanes::Row;

/// One argument of a function, for one item.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// Array cells one after the other, the last array index running fastest; a matrix column by column. Integers are
    /// numbers, too.
    pub numbers: &'a [f64],
    pub shape: Shape,
}

/// One argument for eight items at once: each of its numbers is a row of eight.
#[derive(Clone, Copy, Debug)]
pub struct LaneArgument<'a, const W: usize = 8> {
    pub numbers: &'a [[f64; W]],
    pub shape: Shape,
}

impl<'a> From<&Argument<'a>> for LaneArgument<'a, 1> {
    /// One item as a row of one.
    fn from(argument: &Argument<'a>) -> Self {
        Self { numbers: argument.numbers.as_chunks().0, shape: argument.shape }
    }
}

/// A function of whole containers. The engine promotes nothing: an `int` argument arrives as one number.
///
/// Memory comes from the caller: `scratch` is at least as long as [`VectorFunction::scratch`] says, with any content.
pub trait VectorFunction: Sync {
    /// Stan's name.
    fn name(&self) -> &'static str;

    /// The shape of the result. The error says which sizes do not fit and completes "…: "; it is a mistake in the
    /// program. Numbers are there only for arguments that are the same in all items (all integers are); of others the
    /// slice is empty.
    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError>;

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let _ = arguments;
        0
    }

    /// Overwrites `out`. An error rejects the item.
    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError>;

    /// Adds `Σᵢ adjointᵢ · ∂outᵢ/∂argument` to the slice of each argument in `adjoints`. A slice is empty where the
    /// derivative is not wanted (data). `out` is what [`VectorFunction::value`] wrote.
    fn reverse(
        &self,
        arguments: &[Argument],
        out: &[f64],
        adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    );

    /// How many rows of scratch the version for eight items at once needs; none where there is no such version.
    fn lanes_scratch(&self, arguments: &[Shape]) -> Option<usize> {
        let _ = arguments;
        None
    }

    /// [`VectorFunction::value`] for eight items. Says `false` where some item is outside of the domain.
    fn value_lanes(&self, arguments: &[LaneArgument], out: &mut [Row], scratch: &mut [Row]) -> bool {
        let _ = (arguments, out, scratch);
        false
    }

    /// [`VectorFunction::reverse`] for eight items. Says `false`, and has added nothing, where it cannot do that.
    fn reverse_lanes(
        &self,
        arguments: &[LaneArgument],
        out: &[Row],
        adjoint: &[Row],
        adjoints: &mut [&mut [Row]],
        scratch: &mut [Row],
    ) -> bool {
        let _ = (arguments, out, adjoint, adjoints, scratch);
        false
    }
}

/// A log density (or log probability, or cumulative function) of containers, with derivatives.
pub trait VectorDensity: Sync {
    /// Stan's name with its suffix, such as `multi_normal_lpdf`.
    fn name(&self) -> &'static str;

    /// Whether sizes fit; the error completes "…: ". As for [`VectorFunction::shape`].
    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError>;

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let _ = arguments;
        0
    }

    /// The log density, and `seed` times each partial derivative *added* to the slice of its argument in `adjoints`
    /// (empty where it is not wanted). Arguments are numbered in `terms` as they come, the variate first.
    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError>;

    /// How many rows of scratch the version for eight items at once needs; none where there is no such version.
    fn lanes_scratch(&self, arguments: &[Shape]) -> Option<usize> {
        let _ = arguments;
        None
    }

    /// [`VectorDensity::log_density`] for eight items, with a seed of 1. None, with anything in `adjoints`, where some
    /// item is outside of the domain.
    fn log_density_lanes(
        &self,
        arguments: &[LaneArgument],
        terms: Terms,
        adjoints: &mut [&mut [Row]],
        scratch: &mut [Row],
    ) -> Option<Row> {
        let _ = (arguments, terms, adjoints, scratch);
        None
    }
}
