//! Paths of distributions `f_β`: β = 0 can be drawn from exactly, β = 1 is the posterior times p(y).
//!
//! Every kind of path is one file: what it makes of a [`Target`], and how its densities change with β. A target itself
//! is the geometric path from its prior, so that nothing has to be wrapped for it.

mod any;
mod damped;
mod fitted;
mod reference;

use std::fmt::Debug;
use std::sync::Arc;

use crust_math::random::Stream;

use crate::axes::Axes;
use crate::target::{Batch, Fatal, Target};

pub use any::AnyPath;
pub use damped::{Damped, Damping};
pub use fitted::{BadReference, Fitted, Sides, Tail, sides, tail_points};
pub use reference::{FirstDistribution, Reference};

/// A path of densities on ℝᵈ, each of which is evaluated for many points at once. As with a [`Target`], what a lane
/// gets must not depend on the others.
///
/// In a [`Batch`] of a path, `log_prior` is log f₀ and `log_likelihood` is what the [`Course`] says.
pub trait Path {
    /// d, the number of coordinates.
    fn dimension(&self) -> usize;

    /// Fills in `log_prior`, `log_likelihood` and, if it [is wanted](Batch::wants_gradient), ∇ log `f_β` for all lanes.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal>;

    /// How the density at a fixed point changes with β.
    fn course(&self) -> Course;

    /// An exact draw of p₀, if the path knows how. Where it does not, p₀ is the prior, which others draw from.
    fn draw_first(&self, _stream: &mut Stream) -> Option<Vec<f64>> {
        None
    }

    /// Coordinates on which the priors of others may depend: [`Target::hyperparameters`].
    fn hyperparameters(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Directions in which p₀ is isotropic, if they are known and others than those of the coordinates.
    fn axes(&self) -> Option<Axes> {
        None
    }

    /// Why a lane of the last batch was rejected, in words for the user.
    fn rejection(&self, _lane: usize) -> Option<String> {
        None
    }
}

/// How log `f_β` changes with β at a fixed point, given its `log_likelihood` ℓ.
#[derive(Clone, Debug)]
pub enum Course {
    /// log `f_β` = log f₀ + β ℓ, with the same ℓ for every β.
    Straight,
    /// log `f_β` = log f₀ + τ(β, ℓ), with the same ℓ for every β.
    Bent(Arc<dyn Bend>),
    /// Only an evaluation at β tells: ℓ differs from β to β, and for its own, log `f_β` = log f₀ + β ℓ.
    Evaluated,
}

/// τ of a path that is not straight.
pub trait Bend: Debug + Send + Sync {
    /// τ(β, ℓ) = log `f_β` − log f₀. 0 at β = 0, even where ℓ is −∞.
    fn tilt(&self, log_likelihood: f64, beta: f64) -> f64;
}

impl Course {
    /// log `f_β` − log f₀, ℓ being that of β. At β = 0 the likelihood does not matter, even where it is 0.
    pub fn tilt(&self, log_likelihood: f64, beta: f64) -> f64 {
        match self {
            Self::Bent(bend) => bend.tilt(log_likelihood, beta),
            Self::Straight | Self::Evaluated if beta == 0.0 => 0.0,
            Self::Straight | Self::Evaluated => beta * log_likelihood,
        }
    }

    /// log `f_to` − log `f_from`; `None` if both have to be evaluated.
    pub fn log_ratio(&self, log_likelihood: f64, from: f64, to: f64) -> Option<f64> {
        match self {
            Self::Straight => Some((to - from) * log_likelihood),
            Self::Bent(bend) => Some(bend.tilt(log_likelihood, to) - bend.tilt(log_likelihood, from)),
            Self::Evaluated => None,
        }
    }

    /// Whether a point that was evaluated at one β is known at all.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Evaluated)
    }
}

/// The geometric path: log `f_β` = log prior + β · log likelihood.
impl<T: Target> Path for T {
    fn dimension(&self) -> usize {
        Target::dimension(self)
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        Target::evaluate(self, batch)
    }

    fn course(&self) -> Course {
        Course::Straight
    }

    fn hyperparameters(&self) -> Vec<usize> {
        Target::hyperparameters(self)
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        Target::rejection(self, lane)
    }
}
