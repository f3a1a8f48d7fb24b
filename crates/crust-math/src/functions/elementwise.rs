//! Functions of one, two or three scalars with their derivatives, by name.

mod binary;
mod ternary;
mod unary;

#[cfg(test)]
mod tests;

use crate::density::Density;

/// A function of one real number over slices.
#[derive(Clone, Copy, Debug)]
pub struct Unary {
    /// Stan's name.
    pub name: &'static str,
    /// Overwrites the second slice, which is as long as the first.
    pub value: fn(&[f64], &mut [f64]),
    /// Adds `adjoint · f'(x)` to the adjoint of x, where `y = f(x)`.
    pub reverse: UnaryReverse,
}

/// `(x, y, adjoint of y, adjoint of x)`.
pub type UnaryReverse = fn(&[f64], &[f64], &[f64], &mut [f64]);

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

/// Where Stan throws for an argument outside of the domain, the value is NaN.
pub const UNARY: &[Unary] = &unary::ALL;
pub const BINARY: &[Binary] = binary::ALL;
pub const TERNARY: &[Ternary] = ternary::ALL;
