//! Functions of one, two or three scalars with their derivatives, by name.

use crate::density::Density;

/// A function of one real number over slices.
#[derive(Clone, Copy, Debug)]
pub struct Unary {
    /// Stan's name.
    pub name: &'static str,
    /// Overwrites the second slice, which is as long as the first.
    pub value: fn(&[f64], &mut [f64]),
    /// `(x, y, adjoint of y, adjoint of x)`: adds `adjoint · f'(x)` to the last one, where `y = f(x)`.
    pub reverse: fn(&[f64], &[f64], &[f64], &mut [f64]),
}

/// A function of two real numbers with its partial derivatives. An error rejects the point.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    pub name: &'static str,
    pub at: fn(f64, f64) -> Density<2>,
}

/// A function of three real numbers with its partial derivatives. An error rejects the point.
#[derive(Clone, Copy, Debug)]
pub struct Ternary {
    pub name: &'static str,
    pub at: fn(f64, f64, f64) -> Density<3>,
}

pub const UNARY: &[Unary] = &[];
pub const BINARY: &[Binary] = &[];
pub const TERNARY: &[Ternary] = &[];
