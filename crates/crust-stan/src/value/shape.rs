//! Shapes: a type with its sizes filled in.

use std::fmt;

use crate::ast::BaseType;
use crate::types::Type;

/// What an array is an array of, with its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Int,
    Real,
    Complex,
    Vector(usize),
    RowVector(usize),
    /// Rows and columns.
    Matrix(usize, usize),
    ComplexVector(usize),
    ComplexRowVector(usize),
    ComplexMatrix(usize, usize),
}

/// The dimensions of a cell: none, one or two.
#[derive(Clone, Copy, Debug)]
pub struct CellDims {
    dims: [usize; 2],
    count: usize,
}

impl CellDims {
    pub fn as_slice(&self) -> &[usize] {
        &self.dims[..self.count]
    }
}

impl Cell {
    /// The cell of a declared type; sizes that are not given count as zero.
    pub fn of(base: BaseType, sizes: &[usize]) -> Self {
        let size = |i: usize| sizes.get(i).copied().unwrap_or(0);
        match base {
            BaseType::Int => Self::Int,
            BaseType::Real => Self::Real,
            BaseType::Complex => Self::Complex,
            BaseType::Vector => Self::Vector(size(0)),
            BaseType::RowVector => Self::RowVector(size(0)),
            BaseType::Matrix => Self::Matrix(size(0), size(1)),
            BaseType::ComplexVector => Self::ComplexVector(size(0)),
            BaseType::ComplexRowVector => Self::ComplexRowVector(size(0)),
            BaseType::ComplexMatrix => Self::ComplexMatrix(size(0), size(1)),
        }
    }

    pub fn dims(self) -> CellDims {
        let (dims, count) = match self {
            Self::Int | Self::Real | Self::Complex => ([0, 0], 0),
            Self::Vector(n) | Self::RowVector(n) | Self::ComplexVector(n) | Self::ComplexRowVector(n) => ([n, 0], 1),
            Self::Matrix(r, c) | Self::ComplexMatrix(r, c) => ([r, c], 2),
        };
        CellDims { dims, count }
    }

    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex | Self::ComplexVector(_) | Self::ComplexRowVector(_) | Self::ComplexMatrix(..))
    }

    pub fn is_scalar(self) -> bool {
        self.dims().count == 0
    }

    /// Numbers per scalar: two for complex ones.
    pub fn unit(self) -> usize {
        if self.is_complex() { 2 } else { 1 }
    }

    /// Scalars in a cell.
    pub fn scalars(self) -> usize {
        self.dims().as_slice().iter().product()
    }

    /// Numbers in a cell.
    pub fn numbers(self) -> usize {
        self.scalars() * self.unit()
    }

    /// The type of one element of a vector or matrix; of a scalar, itself.
    #[must_use]
    pub fn scalar(self) -> Self {
        match self {
            Self::Int => Self::Int,
            _ if self.is_complex() => Self::Complex,
            _ => Self::Real,
        }
    }

    pub fn ty(self) -> Type {
        match self {
            Self::Int => Type::Int,
            Self::Real => Type::Real,
            Self::Complex => Type::Complex,
            Self::Vector(_) => Type::Vector,
            Self::RowVector(_) => Type::RowVector,
            Self::Matrix(..) => Type::Matrix,
            Self::ComplexVector(_) => Type::ComplexVector,
            Self::ComplexRowVector(_) => Type::ComplexRowVector,
            Self::ComplexMatrix(..) => Type::ComplexMatrix,
        }
    }

    /// The cell of the same size with numbers as in `ty`, which is what this cell's type promotes to.
    #[must_use]
    pub fn promoted(self, ty: &Type) -> Self {
        match (self, ty) {
            (Self::Int, Type::Real) => Self::Real,
            (Self::Int | Self::Real, Type::Complex) => Self::Complex,
            (Self::Vector(n), Type::ComplexVector) => Self::ComplexVector(n),
            (Self::RowVector(n), Type::ComplexRowVector) => Self::ComplexRowVector(n),
            (Self::Matrix(r, c), Type::ComplexMatrix) => Self::ComplexMatrix(r, c),
            _ => self,
        }
    }

    /// The cell of the same size with complex numbers, or with reals.
    #[must_use]
    pub fn with_complex(self, complex: bool) -> Self {
        match (self, complex) {
            (Self::Int | Self::Real | Self::Complex, true) => Self::Complex,
            (Self::Complex, false) => Self::Real,
            (Self::Vector(n), true) => Self::ComplexVector(n),
            (Self::ComplexVector(n), false) => Self::Vector(n),
            (Self::RowVector(n), true) => Self::ComplexRowVector(n),
            (Self::ComplexRowVector(n), false) => Self::RowVector(n),
            (Self::Matrix(r, c), true) => Self::ComplexMatrix(r, c),
            (Self::ComplexMatrix(r, c), false) => Self::Matrix(r, c),
            (cell, _) => cell,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty())?;
        match self.dims().as_slice() {
            [] => Ok(()),
            [n] => write!(f, "[{n}]"),
            dims => write!(f, "[{}, {}]", dims[0], dims[1]),
        }
    }
}

/// A type with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The array dimensions, outermost first.
    pub array: Vec<usize>,
    pub item: Item,
}

/// What stands below the array dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Cell(Cell),
    Tuple(Vec<Shape>),
}

impl Shape {
    pub fn cell(cell: Cell) -> Self {
        Self { array: Vec::new(), item: Item::Cell(cell) }
    }

    /// How many numbers a value of this shape holds (a complex number is two); `None` where that does not fit a
    /// `usize`.
    pub fn numbers(&self) -> Option<usize> {
        self.count(&|cell| cell.dims().as_slice().iter().try_fold(cell.unit(), |product, &d| product.checked_mul(d)))
    }

    /// How many scalars a value of this shape holds (a complex number is one).
    pub fn scalars(&self) -> Option<usize> {
        self.count(&|cell| cell.dims().as_slice().iter().try_fold(1_usize, |product, &d| product.checked_mul(d)))
    }

    fn count(&self, of_cell: &dyn Fn(Cell) -> Option<usize>) -> Option<usize> {
        let inner = match &self.item {
            Item::Cell(cell) => of_cell(*cell),
            Item::Tuple(parts) => parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.count(of_cell)?)),
        };
        // A dimension of zero makes the whole empty, however large the others are.
        if self.array.contains(&0) || inner == Some(0) {
            return Some(0);
        }
        self.array.iter().try_fold(inner?, |product, &d| product.checked_mul(d))
    }

    pub fn ty(&self) -> Type {
        let item = match &self.item {
            Item::Cell(cell) => cell.ty(),
            Item::Tuple(parts) => Type::Tuple(parts.iter().map(Self::ty).collect()),
        };
        item.in_array(self.array.len())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<String>| items.join(", ");
        if !self.array.is_empty() {
            write!(f, "array[{}] ", list(self.array.iter().map(usize::to_string).collect()))?;
        }
        match &self.item {
            Item::Cell(cell) => cell.fmt(f),
            Item::Tuple(parts) => write!(f, "tuple({})", list(parts.iter().map(Self::to_string).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_read_like_declarations() {
        let part = Shape { array: vec![4], item: Item::Cell(Cell::ComplexMatrix(2, 3)) };
        let shape = Shape { array: vec![3, 2], item: Item::Tuple(vec![Shape::cell(Cell::Int), part]) };
        assert_eq!(shape.to_string(), "array[3, 2] tuple(int, array[4] complex_matrix[2, 3])");
        assert_eq!(shape.numbers(), Some(6 * (1 + 4 * 12)));
        assert_eq!(shape.scalars(), Some(6 * (1 + 4 * 6)));
    }

    #[test]
    fn counts_do_not_overflow() {
        let huge = Shape { array: vec![usize::MAX], item: Item::Cell(Cell::Matrix(usize::MAX, 2)) };
        assert_eq!(huge.numbers(), None);
        let empty = Shape { array: vec![usize::MAX, 2, 0], item: Item::Cell(Cell::Real) };
        assert_eq!(empty.numbers(), Some(0));
    }
}
