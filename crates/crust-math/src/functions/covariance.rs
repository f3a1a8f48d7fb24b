//! Covariance functions of Gaussian processes.

mod correlations;
mod dot_product;
mod lanes;
mod points;
mod radial;

#[cfg(test)]
mod tests;

use super::VectorFunction;
use correlations::{ExpQuad, Exponential, Matern32, Matern52, Periodic, RetiredExpQuad};
use radial::Covariance;
use std::marker::PhantomData;

pub const ALL: &[&dyn VectorFunction] = &[
    &Covariance::<ExpQuad>(PhantomData),
    &Covariance::<RetiredExpQuad>(PhantomData),
    &Covariance::<Exponential>(PhantomData),
    &Covariance::<Matern32>(PhantomData),
    &Covariance::<Matern52>(PhantomData),
    &Covariance::<Periodic>(PhantomData),
    &dot_product::DotProduct,
];
