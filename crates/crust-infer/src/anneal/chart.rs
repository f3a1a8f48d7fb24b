//! Coordinates in which kernels move, where those of the program are not the best.
//!
//! A kernel that leaves the density of z invariant leaves that of θ(z) invariant, whatever the map is: a poor chart costs
//! time, never correctness.

use std::sync::Arc;

use super::widths::Widths;
use crate::axes::Axes;

/// A change of coordinates, frozen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Chart {
    /// Parameters relative to widths that depend on hyperparameters.
    Widths(Widths),
    /// Along the axes of the path's first distribution.
    Axes(Arc<Axes>),
}

impl Chart {
    /// θ from z.
    pub(super) fn to_parameters(&self, z: &[f64], parameters: &mut [f64]) {
        match self {
            Self::Widths(widths) => widths.to_parameters(z, parameters),
            Self::Axes(axes) => axes.to_parameters(z, parameters),
        }
    }

    /// z from θ.
    pub(super) fn to_coordinates(&self, parameters: &[f64], z: &mut [f64]) {
        match self {
            Self::Widths(widths) => widths.to_coordinates(parameters, z),
            Self::Axes(axes) => axes.to_coordinates(parameters, z),
        }
    }

    /// log |∂θ/∂z| up to a constant. x may be θ or z.
    pub(super) fn log_jacobian(&self, x: &[f64]) -> f64 {
        match self {
            Self::Widths(widths) => widths.log_jacobian(x),
            Self::Axes(_) => 0.0,
        }
    }

    /// ∇ of log f(θ(z)) + log |∂θ/∂z| with respect to z, from ∇ log f with respect to θ.
    pub(super) fn pull_back(&self, parameters: &[f64], gradient: &[f64], into: &mut [f64]) {
        match self {
            Self::Widths(widths) => widths.pull_back(parameters, gradient, into),
            Self::Axes(axes) => axes.pull_back(gradient, into),
        }
    }

    /// The inverse of [`pull_back`](Self::pull_back).
    pub(super) fn push_forward(&self, parameters: &[f64], gradient: &[f64], into: &mut [f64]) {
        match self {
            Self::Widths(widths) => widths.push_forward(parameters, gradient, into),
            Self::Axes(axes) => axes.push_forward(gradient, into),
        }
    }
}
