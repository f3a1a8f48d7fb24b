//! Numbers with the derivatives for M parameters, for series and continued fractions whose coefficients depend on
//! parameters.

use std::array;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug)]
pub(super) struct Dual<const M: usize> {
    pub value: f64,
    pub d: [f64; M],
}

impl<const M: usize> Dual<M> {
    pub fn constant(value: f64) -> Self {
        Self { value, d: [0.0; M] }
    }

    /// Parameter number `i`.
    pub fn parameter(value: f64, i: usize) -> Self {
        Self { value, d: array::from_fn(|j| if i == j { 1.0 } else { 0.0 }) }
    }

    pub fn recip(self) -> Self {
        let value = 1.0 / self.value;
        Self { value, d: self.d.map(|d| -d * value * value) }
    }
}

impl<const M: usize> Add for Dual<M> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, d: array::from_fn(|i| self.d[i] + other.d[i]) }
    }
}

impl<const M: usize> AddAssign for Dual<M> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const M: usize> Neg for Dual<M> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, d: self.d.map(|d| -d) }
    }
}

impl<const M: usize> Sub for Dual<M> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

#[allow(clippy::suspicious_arithmetic_impl)] // the product rule
impl<const M: usize> Mul for Dual<M> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let d = array::from_fn(|i| self.d[i] * other.value + self.value * other.d[i]);
        Self { value: self.value * other.value, d }
    }
}

#[allow(clippy::suspicious_arithmetic_impl)] // the quotient rule
impl<const M: usize> Div for Dual<M> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, d: array::from_fn(|i| (self.d[i] - value * other.d[i]) / other.value) }
    }
}

impl<const M: usize> Add<f64> for Dual<M> {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        Self { value: self.value + other, d: self.d }
    }
}

impl<const M: usize> Mul<f64> for Dual<M> {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        Self { value: self.value * other, d: self.d.map(|d| d * other) }
    }
}
