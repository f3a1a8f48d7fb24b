//! Stan values: scalars inline, every container as one flat buffer of numbers with its shape beside it.
//!
//! # Layout
//! A [`Tensor`] is an array of equal *cells* (a cell is a scalar, a vector or a matrix). Its numbers lie in one buffer:
//! the cells one after the other with the last array index running fastest, inside a cell a vector's elements in order
//! and a matrix column by column; a complex number is its real part followed by its imaginary part. So `x[i]` of an
//! array of vectors is a contiguous piece, and a data-only value is handed to the engine without being touched.
//!
//! An array of tuples is a tuple of arrays ([`Tuple::array`] holds the array's dimensions and each part has them in
//! front of its own), so the numbers of one part are contiguous, too.
//!
//! Containers are shared until one of the holders writes to them, which makes passing a value to a function free.

mod display;
mod index;
mod shape;

use std::sync::Arc;

use crate::span::Span;
use crate::types::Type;

pub use index::{IndexProblem, Selector};
pub use shape::{Cell, Item, Shape};

/// A value of a Stan expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Stan's `int` has 32 bits.
    Int(i32),
    Real(f64),
    Complex(Complex),
    Tensor(Arc<Tensor>),
    Tuple(Arc<Tuple>),
    /// What cannot be known before the program runs.
    Unavailable(Arc<Unavailable>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// A vector, a matrix or an array of cells; see the module for the layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The array dimensions, outermost first; empty for a plain vector or matrix.
    pub array: Vec<usize>,
    pub cell: Cell,
    pub numbers: Numbers,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    Int(Vec<i32>),
    Real(Vec<f64>),
}

/// A tuple, or an array of tuples stored as a tuple of arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuple {
    /// The array dimensions; empty for a plain tuple. Every part has them in front of its own.
    pub array: Vec<usize>,
    pub parts: Vec<Value>,
}

/// Why a value is not known; its shape may be known all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Unavailable {
    /// Fits after "because": `normal_rng draws at random`.
    pub reason: String,
    pub span: Option<Span>,
    pub shape: Option<Shape>,
}

impl Numbers {
    pub fn len(&self) -> usize {
        match self {
            Self::Int(v) => v.len(),
            Self::Real(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers as reals, whatever they are.
    pub fn to_reals(&self) -> Vec<f64> {
        match self {
            Self::Int(v) => v.iter().map(|&n| f64::from(n)).collect(),
            Self::Real(v) => v.clone(),
        }
    }

    /// One number as a real. The position must exist.
    pub fn real(&self, at: usize) -> f64 {
        match self {
            Self::Int(v) => f64::from(v[at]),
            Self::Real(v) => v[at],
        }
    }
}

impl Tensor {
    pub fn reals(array: Vec<usize>, cell: Cell, numbers: Vec<f64>) -> Self {
        Self { array, cell, numbers: Numbers::Real(numbers) }
    }

    pub fn ints(array: Vec<usize>, numbers: Vec<i32>) -> Self {
        Self { array, cell: Cell::Int, numbers: Numbers::Int(numbers) }
    }

    pub fn shape(&self) -> Shape {
        Shape { array: self.array.clone(), item: Item::Cell(self.cell) }
    }

    /// The array dimensions followed by those of a cell: what an index expression sees.
    pub fn dims(&self) -> Vec<usize> {
        self.array.iter().chain(self.cell.dims().as_slice()).copied().collect()
    }

    /// How many scalars there are; a complex number is one.
    pub fn scalars(&self) -> usize {
        self.numbers.len() / self.cell.unit()
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(Arc::new(tensor))
    }
}

impl From<Tuple> for Value {
    fn from(tuple: Tuple) -> Self {
        Self::Tuple(Arc::new(tuple))
    }
}

impl Value {
    pub fn vector(numbers: Vec<f64>) -> Self {
        Tensor::reals(Vec::new(), Cell::Vector(numbers.len()), numbers).into()
    }

    pub fn row_vector(numbers: Vec<f64>) -> Self {
        Tensor::reals(Vec::new(), Cell::RowVector(numbers.len()), numbers).into()
    }

    /// `numbers` column by column.
    pub fn matrix(rows: usize, cols: usize, numbers: Vec<f64>) -> Self {
        Tensor::reals(Vec::new(), Cell::Matrix(rows, cols), numbers).into()
    }

    pub fn int_array(numbers: Vec<i32>) -> Self {
        Tensor::ints(vec![numbers.len()], numbers).into()
    }

    pub fn real_array(numbers: Vec<f64>) -> Self {
        Tensor::reals(vec![numbers.len()], Cell::Real, numbers).into()
    }

    pub fn tuple(parts: Vec<Self>) -> Self {
        Tuple { array: Vec::new(), parts }.into()
    }

    pub fn flag(truth: bool) -> Self {
        Self::Int(i32::from(truth))
    }

    pub fn unavailable(reason: impl Into<String>, span: Option<Span>, shape: Option<Shape>) -> Self {
        Self::Unavailable(Arc::new(Unavailable { reason: reason.into(), span, shape }))
    }

    /// What a variable holds before anything is assigned to it, as in Stan: `NaN`, or the smallest `int`.
    pub fn unset(shape: &Shape) -> Self {
        Self::unset_below(&[], shape)
    }

    /// [`Value::unset`] for `outer` array dimensions of this shape.
    fn unset_below(outer: &[usize], shape: &Shape) -> Self {
        let array: Vec<usize> = outer.iter().chain(&shape.array).copied().collect();
        match &shape.item {
            Item::Tuple(parts) => {
                let parts = parts.iter().map(|part| Self::unset_below(&array, part)).collect();
                Tuple { array, parts }.into()
            }
            Item::Cell(cell) => {
                if array.is_empty() {
                    match cell {
                        Cell::Int => return Self::Int(i32::MIN),
                        Cell::Real => return Self::Real(f64::NAN),
                        Cell::Complex => return Self::Complex(Complex { re: f64::NAN, im: f64::NAN }),
                        _ => {}
                    }
                }
                let count = array.iter().product::<usize>() * cell.numbers();
                let numbers = if *cell == Cell::Int {
                    Numbers::Int(vec![i32::MIN; count])
                } else {
                    Numbers::Real(vec![f64::NAN; count])
                };
                Tensor { array, cell: *cell, numbers }.into()
            }
        }
    }

    /// The shape; `None` where it is not known.
    pub fn shape(&self) -> Option<Shape> {
        Some(match self {
            Self::Int(_) => Shape::cell(Cell::Int),
            Self::Real(_) => Shape::cell(Cell::Real),
            Self::Complex(_) => Shape::cell(Cell::Complex),
            Self::Tensor(t) => t.shape(),
            Self::Tuple(t) => {
                let strip = |part: &Self| {
                    let mut shape = part.shape()?;
                    shape.array.drain(..t.array.len().min(shape.array.len()));
                    Some(shape)
                };
                let parts = t.parts.iter().map(strip).collect::<Option<Vec<_>>>()?;
                Shape { array: t.array.clone(), item: Item::Tuple(parts) }
            }
            Self::Unavailable(u) => return u.shape.clone(),
        })
    }

    /// The first reason why this value, or a part of it, is not known.
    pub fn reason(&self) -> Option<&Arc<Unavailable>> {
        match self {
            Self::Unavailable(u) => Some(u),
            Self::Tuple(t) => t.parts.iter().find_map(Self::reason),
            _ => None,
        }
    }

    pub fn is_available(&self) -> bool {
        self.reason().is_none()
    }

    pub fn as_int(&self) -> Option<i32> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The number, if this is an `int` or a `real`.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(f64::from(*n)),
            Self::Real(x) => Some(*x),
            _ => None,
        }
    }

    /// The number, if this is a scalar.
    pub fn as_complex(&self) -> Option<Complex> {
        match self {
            Self::Complex(z) => Some(*z),
            other => other.as_real().map(|re| Complex { re, im: 0.0 }),
        }
    }

    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The numbers of a scalar or a container in the order of the layout; `None` for a tuple or an unknown value.
    pub fn to_reals(&self) -> Option<Vec<f64>> {
        match self {
            Self::Tensor(t) => Some(t.numbers.to_reals()),
            Self::Complex(z) => Some(vec![z.re, z.im]),
            other => other.as_real().map(|x| vec![x]),
        }
    }

    /// The integers of an `int` or an array of `int`.
    pub fn to_ints(&self) -> Option<Vec<i32>> {
        match self {
            Self::Int(n) => Some(vec![*n]),
            Self::Tensor(t) => match &t.numbers {
                Numbers::Int(v) => Some(v.clone()),
                Numbers::Real(_) => None,
            },
            _ => None,
        }
    }

    /// This value as one of type `ty`: integers become reals, reals become complex where the type asks for it. A value
    /// that has the type already is handed on unchanged.
    #[must_use]
    pub fn promoted(self, ty: &Type) -> Self {
        match (self, ty) {
            (Self::Int(n), Type::Real) => Self::Real(f64::from(n)),
            (Self::Int(n), Type::Complex) => Self::Complex(Complex { re: f64::from(n), im: 0.0 }),
            (Self::Real(re), Type::Complex) => Self::Complex(Complex { re, im: 0.0 }),
            (Self::Tensor(t), ty) => {
                let target = t.cell.promoted(ty.array_parts().0);
                if target == t.cell { Self::Tensor(t) } else { promote_tensor(&t, target).into() }
            }
            (Self::Tuple(t), ty) => {
                let (Type::Tuple(types), dims) = ty.array_parts() else { return Self::Tuple(t) };
                let parts = t.parts.iter().zip(types);
                let parts = parts.map(|(part, ty)| part.clone().promoted(&ty.clone().in_array(dims))).collect();
                Tuple { array: t.array.clone(), parts }.into()
            }
            (other, _) => other,
        }
    }

    /// The part of a tuple, counted from one; for an array of tuples the array of that part.
    pub fn part(&self, part: u32) -> Option<&Self> {
        match self {
            Self::Tuple(t) => t.parts.get((part as usize).checked_sub(1)?),
            _ => None,
        }
    }
}

fn promote_tensor(tensor: &Tensor, cell: Cell) -> Tensor {
    let mut numbers = tensor.numbers.to_reals();
    if cell.is_complex() && !tensor.cell.is_complex() {
        numbers = numbers.into_iter().flat_map(|x| [x, 0.0]).collect();
    }
    Tensor::reals(tensor.array.clone(), cell, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_values_are_stans() {
        let shape =
            Shape { array: vec![2], item: Item::Tuple(vec![Shape::cell(Cell::Int), Shape::cell(Cell::Vector(3))]) };
        let value = Value::unset(&shape);
        assert_eq!(value.shape(), Some(shape));
        assert_eq!(value.part(1).and_then(Value::to_ints), Some(vec![i32::MIN; 2]));
        let reals = value.part(2).and_then(Value::to_reals).expect("a tensor");
        assert_eq!(reals.len(), 6);
        assert!(reals.iter().all(|x| x.is_nan()));
        assert_eq!(value.part(3), None);
        assert_eq!(value.part(0), None);
    }

    #[test]
    fn promotion_goes_inside_containers() {
        let ints = Value::int_array(vec![1, 2]);
        let complex = ints.clone().promoted(&Type::Complex.in_array(1));
        assert_eq!(complex.to_reals(), Some(vec![1.0, 0.0, 2.0, 0.0]));
        assert_eq!(complex.shape().map(|s| s.to_string()), Some("array[2] complex".into()));
        let tuple = Tuple { array: vec![2], parts: vec![ints, Value::real_array(vec![0.5, 1.5])] };
        let ty = Type::Tuple(vec![Type::Real, Type::Complex]).in_array(1);
        let promoted = Value::from(tuple).promoted(&ty);
        assert_eq!(promoted.shape().map(|s| s.to_string()), Some("array[2] tuple(real, complex)".into()));
    }

    #[test]
    fn a_value_is_small_and_may_cross_threads() {
        fn crosses<T: Send + Sync>() {}
        crosses::<Value>();
        assert!(size_of::<Option<Value>>() <= 24);
    }
}
