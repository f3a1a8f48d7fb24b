//! Stan's transforms between the constrained values of parameters and the unconstrained space that samplers move in.
//!
//! All values are element-major with `lanes` contiguous numbers per element: element `e` of lane `l` is
//! `x[e * lanes + l]`. Matrices are column-major. Nothing here allocates.
//!
//! A lane whose bounds make no sense (lower not below upper, multiplier not positive) or whose free values have no
//! image (a unit vector of length 0) gets NaN: as in Stan, such a point is rejected.

mod bounded;
mod correlation;
mod covariance;
mod error;
mod simplex;
mod sum_to_zero;
#[cfg(test)]
mod tests;
mod vectors;

pub use error::{Problem, TransformError};

use correlation::Kind;
use simplex::Place;
use vectors::First;

/// How far a constrained value may be from its constraint and still be accepted. As in Stan.
const TOLERANCE: f64 = 1e-8;

/// A bound, an offset or a multiplier: the same for all lanes (data) or varying with the lane (depends on parameters).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound<'a> {
    /// One number for all elements and lanes.
    Scalar(f64),
    /// One number per element.
    Elements(&'a [f64]),
    /// One number per lane, for all elements.
    Lanes(&'a [f64]),
    /// One row of lanes per element.
    ElementLanes(&'a [f64]),
}

/// The bound of one element.
#[derive(Clone, Copy)]
enum Row<'a> {
    Uniform(f64),
    Varying(&'a [f64]),
}

impl Row<'_> {
    fn at(self, lane: usize) -> f64 {
        match self {
            Self::Uniform(value) => value,
            Self::Varying(values) => values[lane],
        }
    }
}

impl<'a> Bound<'a> {
    fn row(self, element: usize, lanes: usize) -> Row<'a> {
        match self {
            Self::Scalar(value) => Row::Uniform(value),
            Self::Elements(values) => Row::Uniform(values[element]),
            Self::Lanes(values) => Row::Varying(&values[..lanes]),
            Self::ElementLanes(values) => Row::Varying(row(values, element, lanes)),
        }
    }

    /// The part of the bound's adjoint, laid out like the bound, that belongs to an element. Data have none.
    fn adjoint_row(self, adjoint: &mut [f64], element: usize, lanes: usize) -> Option<&mut [f64]> {
        match self {
            Self::Scalar(_) | Self::Elements(_) => None,
            Self::Lanes(_) => Some(&mut adjoint[..lanes]),
            Self::ElementLanes(_) => Some(row_mut(adjoint, element, lanes)),
        }
    }
}

/// The two numbers that a transform may depend on: lower and upper bound, or offset and multiplier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<'a> {
    /// The lower bound or the offset.
    pub first: Bound<'a>,
    /// The upper bound or the multiplier.
    pub second: Bound<'a>,
}

impl<'a> Bounds<'a> {
    /// For transforms without bounds.
    pub const NONE: Self = Self { first: Bound::Scalar(f64::NEG_INFINITY), second: Bound::Scalar(f64::INFINITY) };

    pub fn lower(lower: Bound<'a>) -> Self {
        Self { first: lower, ..Self::NONE }
    }

    pub fn upper(upper: Bound<'a>) -> Self {
        Self { second: upper, ..Self::NONE }
    }

    pub fn lower_upper(lower: Bound<'a>, upper: Bound<'a>) -> Self {
        Self { first: lower, second: upper }
    }

    /// An offset that is not declared is 0, a multiplier 1.
    pub fn offset_multiplier(offset: Option<Bound<'a>>, multiplier: Option<Bound<'a>>) -> Self {
        Self { first: offset.unwrap_or(Bound::Scalar(0.0)), second: multiplier.unwrap_or(Bound::Scalar(1.0)) }
    }
}

/// Arguments of [`Transform::constrain`].
#[derive(Debug)]
pub struct Forward<'a> {
    pub lanes: usize,
    pub free: &'a [f64],
    pub bounds: Bounds<'a>,
    /// The constrained value is written here.
    pub out: &'a mut [f64],
    /// The log Jacobian is added here, one number per lane.
    pub log_jacobian: Option<&'a mut [f64]>,
    /// At least [`Transform::scratch_len`] long, with any content.
    pub scratch: &'a mut [f64],
}

/// Arguments of [`Transform::constrain_reverse`].
#[derive(Debug)]
pub struct Reverse<'a> {
    pub lanes: usize,
    pub free: &'a [f64],
    pub bounds: Bounds<'a>,
    /// What [`Transform::constrain`] wrote.
    pub out: &'a [f64],
    pub out_adjoint: &'a [f64],
    /// The adjoint of the log Jacobian: 1 if it is part of the density, else 0.
    pub jacobian_adjoint: f64,
    /// The adjoint of the free values is added here.
    pub free_adjoint: &'a mut [f64],
    /// The adjoints of the bounds are added here, laid out like the bound; those of uniform bounds are never touched.
    pub first_adjoint: Option<&'a mut [f64]>,
    pub second_adjoint: Option<&'a mut [f64]>,
    /// At least [`Transform::scratch_len`] long, with any content.
    pub scratch: &'a mut [f64],
}

/// A transform with the sizes of its constrained value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    Identity { size: usize },
    Lower { size: usize },
    Upper { size: usize },
    LowerUpper { size: usize },
    OffsetMultiplier { size: usize },
    Simplex { size: usize },
    UnitVector { size: usize },
    Ordered { size: usize },
    PositiveOrdered { size: usize },
    SumToZeroVector { size: usize },
    SumToZeroMatrix { rows: usize, cols: usize },
    CovMatrix { size: usize },
    CorrMatrix { size: usize },
    CholeskyFactorCov { rows: usize, cols: usize },
    CholeskyFactorCorr { size: usize },
    ColumnStochasticMatrix { rows: usize, cols: usize },
    RowStochasticMatrix { rows: usize, cols: usize },
}

impl Transform {
    /// The number of unconstrained values.
    pub fn free_size(self) -> usize {
        match self {
            Self::Identity { size }
            | Self::Lower { size }
            | Self::Upper { size }
            | Self::LowerUpper { size }
            | Self::OffsetMultiplier { size }
            | Self::UnitVector { size }
            | Self::Ordered { size }
            | Self::PositiveOrdered { size } => size,
            Self::Simplex { size } | Self::SumToZeroVector { size } => size.saturating_sub(1),
            Self::SumToZeroMatrix { rows, cols } => rows.saturating_sub(1) * cols.saturating_sub(1),
            Self::CovMatrix { size } => size * (size + 1) / 2,
            Self::CorrMatrix { size } | Self::CholeskyFactorCorr { size } => size * size.saturating_sub(1) / 2,
            Self::CholeskyFactorCov { rows, cols } => cols * (cols + 1) / 2 + rows.saturating_sub(cols) * cols,
            Self::ColumnStochasticMatrix { rows, cols } => rows.saturating_sub(1) * cols,
            Self::RowStochasticMatrix { rows, cols } => rows * cols.saturating_sub(1),
        }
    }

    /// The number of elements of the constrained value.
    pub fn constrained_size(self) -> usize {
        match self {
            Self::Identity { size }
            | Self::Lower { size }
            | Self::Upper { size }
            | Self::LowerUpper { size }
            | Self::OffsetMultiplier { size }
            | Self::Simplex { size }
            | Self::UnitVector { size }
            | Self::Ordered { size }
            | Self::PositiveOrdered { size }
            | Self::SumToZeroVector { size } => size,
            Self::CovMatrix { size } | Self::CorrMatrix { size } | Self::CholeskyFactorCorr { size } => size * size,
            Self::SumToZeroMatrix { rows, cols }
            | Self::CholeskyFactorCov { rows, cols }
            | Self::ColumnStochasticMatrix { rows, cols }
            | Self::RowStochasticMatrix { rows, cols } => rows * cols,
        }
    }

    /// How many numbers of scratch space the other methods need.
    pub fn scratch_len(self, lanes: usize) -> usize {
        match self {
            Self::SumToZeroMatrix { rows, .. } => 2 * rows * lanes,
            // a packed factor and a row of it, for one lane
            Self::CovMatrix { size } | Self::CorrMatrix { size } | Self::CholeskyFactorCorr { size } => {
                size * (size + 1) / 2 + size
            }
            _ => 0,
        }
    }

    /// Computes the constrained value of every lane and adds the log Jacobian.
    pub fn constrain(self, f: &mut Forward<'_>) {
        match self {
            Self::Identity { size } => bounded::identity(f, size),
            Self::Lower { size } => bounded::lower(f, size),
            Self::Upper { size } => bounded::upper(f, size),
            Self::LowerUpper { size } => bounded::lower_upper(f, size),
            Self::OffsetMultiplier { size } => bounded::offset_multiplier(f, size),
            Self::Simplex { size } => simplex::constrain(f, Place::vector(size)),
            Self::UnitVector { size } => vectors::constrain_unit_vector(f, size),
            Self::Ordered { size } => vectors::constrain_ordered(f, size, First::Any),
            Self::PositiveOrdered { size } => vectors::constrain_ordered(f, size, First::Positive),
            Self::SumToZeroVector { size } => sum_to_zero::constrain_vector(f, size),
            Self::SumToZeroMatrix { rows, cols } => sum_to_zero::constrain_matrix(f, rows, cols),
            Self::CovMatrix { size } => covariance::constrain_matrix(f, size),
            Self::CorrMatrix { size } => correlation::constrain(f, size, Kind::Matrix),
            Self::CholeskyFactorCov { rows, cols } => covariance::constrain_factor(f, rows, cols),
            Self::CholeskyFactorCorr { size } => correlation::constrain(f, size, Kind::Factor),
            Self::ColumnStochasticMatrix { .. } | Self::RowStochasticMatrix { .. } => {
                self.simplexes().for_each(|place| simplex::constrain(f, place));
            }
        }
    }

    /// Adds the derivatives of ⟨`out_adjoint`, constrained value⟩ + `jacobian_adjoint` · log Jacobian for the free
    /// values and the bounds.
    pub fn constrain_reverse(self, r: &mut Reverse<'_>) {
        match self {
            Self::Identity { size } => bounded::identity_reverse(r, size),
            Self::Lower { size } => bounded::lower_reverse(r, size),
            Self::Upper { size } => bounded::upper_reverse(r, size),
            Self::LowerUpper { size } => bounded::lower_upper_reverse(r, size),
            Self::OffsetMultiplier { size } => bounded::offset_multiplier_reverse(r, size),
            Self::Simplex { size } => simplex::constrain_reverse(r, Place::vector(size)),
            Self::UnitVector { size } => vectors::reverse_unit_vector(r, size),
            Self::Ordered { size } => vectors::reverse_ordered(r, size, First::Any),
            Self::PositiveOrdered { size } => vectors::reverse_ordered(r, size, First::Positive),
            Self::SumToZeroVector { size } => sum_to_zero::reverse_vector(r, size),
            Self::SumToZeroMatrix { rows, cols } => sum_to_zero::reverse_matrix(r, rows, cols),
            Self::CovMatrix { size } => covariance::reverse_matrix(r, size),
            Self::CorrMatrix { size } => correlation::constrain_reverse(r, size, Kind::Matrix),
            Self::CholeskyFactorCov { rows, cols } => covariance::reverse_factor(r, rows, cols),
            Self::CholeskyFactorCorr { size } => correlation::constrain_reverse(r, size, Kind::Factor),
            Self::ColumnStochasticMatrix { .. } | Self::RowStochasticMatrix { .. } => {
                self.simplexes().for_each(|place| simplex::constrain_reverse(r, place));
            }
        }
    }

    /// Computes the free values of a constrained value, after checking that it satisfies the constraint.
    pub fn unconstrain(
        self,
        lanes: usize,
        constrained: &[f64],
        bounds: Bounds<'_>,
        free: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<(), TransformError> {
        let Bounds { first, second } = bounds;
        let none = Bounds::NONE;
        let inside = bounded::free_lower_upper;
        match self {
            Self::Identity { size } => {
                free[..size * lanes].copy_from_slice(&constrained[..size * lanes]);
                Ok(())
            }
            Self::Lower { size } => {
                bounded::unconstrain(("<lower>", size, lanes), (first, none.second), constrained, free, inside)
            }
            Self::Upper { size } => {
                bounded::unconstrain(("<upper>", size, lanes), (none.first, second), constrained, free, inside)
            }
            Self::LowerUpper { size } => {
                bounded::unconstrain(("<lower, upper>", size, lanes), (first, second), constrained, free, inside)
            }
            Self::OffsetMultiplier { size } => {
                let shape = ("<offset, multiplier>", size, lanes);
                bounded::unconstrain(shape, (first, second), constrained, free, bounded::free_offset_multiplier)
            }
            Self::Simplex { size } => simplex::unconstrain(("simplex", lanes), Place::vector(size), constrained, free),
            Self::UnitVector { size } => vectors::unconstrain_unit_vector(size, lanes, constrained, free),
            Self::Ordered { size } => vectors::unconstrain_ordered((size, lanes), First::Any, constrained, free),
            Self::PositiveOrdered { size } => {
                vectors::unconstrain_ordered((size, lanes), First::Positive, constrained, free)
            }
            _ => self.unconstrain_matrix(lanes, constrained, free, scratch),
        }
    }

    fn unconstrain_matrix(
        self,
        lanes: usize,
        constrained: &[f64],
        free: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<(), TransformError> {
        match self {
            Self::SumToZeroVector { size } => sum_to_zero::unconstrain_vector(size, lanes, constrained, free),
            Self::SumToZeroMatrix { rows, cols } => {
                sum_to_zero::unconstrain_matrix((rows, cols, lanes), constrained, free, scratch)
            }
            Self::CovMatrix { size } => covariance::unconstrain_matrix((size, lanes), constrained, free, scratch),
            Self::CorrMatrix { size } => {
                correlation::unconstrain((size, lanes), Kind::Matrix, constrained, free, scratch)
            }
            Self::CholeskyFactorCov { rows, cols } => {
                covariance::unconstrain_factor((rows, cols, lanes), constrained, free)
            }
            Self::CholeskyFactorCorr { size } => {
                correlation::unconstrain((size, lanes), Kind::Factor, constrained, free, scratch)
            }
            Self::ColumnStochasticMatrix { .. } => self.simplexes().try_for_each(|place| {
                simplex::unconstrain(("column_stochastic_matrix", lanes), place, constrained, free)
            }),
            Self::RowStochasticMatrix { .. } => self
                .simplexes()
                .try_for_each(|place| simplex::unconstrain(("row_stochastic_matrix", lanes), place, constrained, free)),
            _ => unreachable!("handled by unconstrain"),
        }
    }

    /// The simplexes of a stochastic matrix.
    fn simplexes(self) -> impl Iterator<Item = Place> {
        let (by_column, rows, cols) = match self {
            Self::ColumnStochasticMatrix { rows, cols } if rows > 0 => (true, rows, cols),
            Self::RowStochasticMatrix { rows, cols } if cols > 0 => (false, rows, cols),
            _ => (true, 0, 0),
        };
        let count = if by_column { cols } else { rows };
        (0..count).map(move |i| if by_column { Place::column(rows, i) } else { Place::row(rows, cols, i) })
    }
}

/// The lanes of an element.
#[inline]
fn row(x: &[f64], element: usize, lanes: usize) -> &[f64] {
    &x[element * lanes..(element + 1) * lanes]
}

#[inline]
fn row_mut(x: &mut [f64], element: usize, lanes: usize) -> &mut [f64] {
    &mut x[element * lanes..(element + 1) * lanes]
}

/// A few neighbouring lanes, few enough for running sums on the stack.
#[derive(Clone, Copy)]
struct LaneBlock {
    lanes: usize,
    start: usize,
    end: usize,
}

impl LaneBlock {
    const MAX: usize = 16;
    const ZEROS: [f64; Self::MAX] = [0.0; Self::MAX];

    fn len(self) -> usize {
        self.end - self.start
    }

    #[inline]
    fn row(self, x: &[f64], element: usize) -> &[f64] {
        &x[element * self.lanes + self.start..element * self.lanes + self.end]
    }

    #[inline]
    fn row_mut(self, x: &mut [f64], element: usize) -> &mut [f64] {
        &mut x[element * self.lanes + self.start..element * self.lanes + self.end]
    }
}

fn lane_blocks(lanes: usize) -> impl Iterator<Item = LaneBlock> {
    (0..lanes).step_by(LaneBlock::MAX).map(move |start| LaneBlock {
        lanes,
        start,
        end: lanes.min(start + LaneBlock::MAX),
    })
}

/// Sizes are far below 2⁵³.
#[expect(clippy::cast_precision_loss)]
fn to_f64(n: usize) -> f64 {
    n as f64
}
