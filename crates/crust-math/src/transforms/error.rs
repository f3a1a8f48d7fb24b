//! Why a value does not satisfy the constraint of its declared type.

use std::fmt;

/// A constrained value that has no unconstrained counterpart. Elements, rows and columns are counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformError {
    /// The lane whose value is at fault.
    pub lane: usize,
    /// The declared type in Stan's words, such as `simplex`.
    pub declared: &'static str,
    pub problem: Problem,
}

/// What is wrong with the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Problem {
    BelowLower { element: usize, value: f64, lower: f64 },
    AboveUpper { element: usize, value: f64, upper: f64 },
    EmptyInterval { element: usize, lower: f64, upper: f64 },
    Offset { element: usize, value: f64 },
    Multiplier { element: usize, value: f64 },
    NoElements,
    Negative { element: usize, value: f64 },
    Sum { value: f64, should_be: f64 },
    SquaredLength { value: f64 },
    NotIncreasing { element: usize, value: f64, previous: f64 },
    NotSymmetric { row: usize, column: usize, value: f64, mirrored: f64 },
    NotPositiveDefinite { row: usize },
    Diagonal { row: usize, value: f64 },
    AboveDiagonal { row: usize, column: usize, value: f64 },
    DiagonalNotPositive { row: usize, value: f64 },
    RowLength { row: usize, value: f64 },
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a valid value for {}: {}", self.declared, self.problem)
    }
}

impl std::error::Error for TransformError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BelowLower { element, value, lower } => {
                write!(f, "element {element} is {value}, but must be at least {lower}")
            }
            Self::AboveUpper { element, value, upper } => {
                write!(f, "element {element} is {value}, but must be at most {upper}")
            }
            Self::EmptyInterval { element, lower, upper } => {
                write!(f, "the lower bound of element {element} is {lower}, which is not below its upper bound {upper}")
            }
            Self::Offset { element, value } => {
                write!(f, "the offset of element {element} is {value}, but must be finite")
            }
            Self::Multiplier { element, value } => {
                write!(f, "the multiplier of element {element} is {value}, but must be positive and finite")
            }
            Self::NoElements => write!(f, "it has no elements"),
            Self::Negative { element, value } => write!(f, "element {element} is {value}, but must not be negative"),
            Self::Sum { value, should_be } => write!(f, "the elements sum to {value}, but should sum to {should_be}"),
            Self::SquaredLength { value } => write!(f, "the squares sum to {value}, but should sum to 1"),
            Self::NotIncreasing { element, value, previous } => {
                write!(f, "element {element} is {value}, but must be greater than the one before, {previous}")
            }
            Self::NotSymmetric { row, column, value, mirrored } => {
                write!(f, "it is not symmetric: [{row}, {column}] is {value}, but [{column}, {row}] is {mirrored}")
            }
            Self::NotPositiveDefinite { row } => {
                write!(f, "it is not positive definite (found at row {row})")
            }
            Self::Diagonal { row, value } => write!(f, "[{row}, {row}] is {value}, but should be 1"),
            Self::AboveDiagonal { row, column, value } => {
                write!(f, "it is not lower triangular: [{row}, {column}] is {value}, but should be 0")
            }
            Self::DiagonalNotPositive { row, value } => write!(f, "[{row}, {row}] is {value}, but must be positive"),
            Self::RowLength { row, value } => {
                write!(f, "the squares of row {row} sum to {value}, but should sum to 1")
            }
        }
    }
}
