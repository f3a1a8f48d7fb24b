//! Sizes and kinds of arguments that do not fit: mistakes in a program, as opposed to points outside of a domain.

use super::Shape;

/// Why arguments do not fit. The text completes "…: ".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    #[error("{needed} arguments are needed, not {given}")]
    ArgumentsNeeded { needed: usize, given: usize },
    #[error("{given} arguments are given, but there must be {needed}")]
    ArgumentsGiven { given: usize, needed: usize },
    #[error("{given} arguments are given, but there must be from {least} to {most}")]
    ArgumentsOutside { given: usize, least: usize, most: usize },
    #[error("there must be {0}")]
    Arguments(&'static str),
    #[error("there is no version with {given} arguments")]
    NoVersion { given: usize },
    #[error("an argument has the shape {0}, for which there is no such function")]
    NoSuchFunction(Shape),
    #[error("the {name} {verb} a {shape}, but must be {must_be}")]
    Kind { name: &'static str, verb: &'static str, shape: Shape, must_be: &'static str },

    #[error("the matrix must be square, but has {rows} rows and {columns} columns")]
    NotSquare { rows: usize, columns: usize },
    #[error("the {what} is not square: {shape}")]
    NotSquareMatrix { what: &'static str, shape: Shape },
    #[error("{what} ({m}) must be as many as {of} ({n})")]
    NotAsMany { what: &'static str, m: usize, of: &'static str, n: usize },
    #[error("{one} is {n}, but {other} is {m}")]
    Unequal { one: &'static str, n: usize, other: &'static str, m: usize },
    #[error("the size of the {one} is {n}, but that of the {other} is {m}")]
    UnequalSizes { one: &'static str, n: usize, other: &'static str, m: usize },
    #[error("the number of {what} of the {name} is {m}, but {of} is {n}")]
    UnequalSides { what: &'static str, name: &'static str, m: usize, of: &'static str, n: usize },
    #[error("the length of the array of {one}s is {n}, but that of the {other}s is {m}")]
    UnequalArrays { one: &'static str, n: usize, other: &'static str, m: usize },
    #[error("sizes must be the same, but are those of {0} and {1}")]
    UnequalPair(Shape, Shape),
    #[error("{one} {x} and {other} {y} do not fit")]
    DoNotFit { one: &'static str, x: Shape, other: &'static str, y: Shape },
    #[error("log densities {log_omega}, transitions {gamma} and initial {rho} do not fit")]
    HiddenStates { log_omega: Shape, gamma: Shape, rho: Shape },
    #[error("there are {weights} weights, but {densities} log densities")]
    Weights { weights: usize, densities: usize },
    #[error("{drawn} are drawn, but an argument has {parts}: {shape}")]
    Drawn { drawn: usize, parts: usize, shape: Shape },

    #[error("{0}")]
    Empty(&'static str),
    #[error("the argument is empty ({0}), but must have at least one element")]
    EmptyArgument(Shape),
    #[error("argument {argument} is {shape}, but must have {size} elements")]
    Elements { argument: usize, shape: Shape, size: usize },
    #[error("the position is {position}, but must be between 1 and {last}")]
    Position { position: f64, last: usize },

    #[error("points must be an array of numbers or vectors, but are {0}")]
    NotPoints(Shape),
    #[error("points must have the same size, but have {0} and {1} coordinates")]
    UnequalPoints(usize, usize),
    #[error("there are {scales} length scales for points with {dimension} coordinates")]
    LengthScales { scales: usize, dimension: usize },

    #[error("{name} must be positive, but is {size}")]
    SparseSize { name: &'static str, size: f64 },
    #[error("w and v must have the same size, but have {w} and {v} elements")]
    SparseElements { w: usize, v: usize },
    #[error("u must have m + 1 = {needed} elements, but has {found}")]
    SparseRows { needed: usize, found: usize },
    #[error("v contains the column {column}, but there are {columns} columns")]
    SparseColumn { column: f64, columns: usize },
    #[error("u must increase, from 1 or more to the number of elements of w plus 1, {last}")]
    SparseOrder { last: usize },
    #[error("b must have n = {columns} elements, but has {found}")]
    SparseFactor { columns: usize, found: usize },
    #[error("the matrix depends on parameters, so that the number of its zeros could change")]
    SparseUnknown,
}
