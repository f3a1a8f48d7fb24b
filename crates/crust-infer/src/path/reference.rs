//! The geometric path from a reference distribution: q^(1−β) f^β with f = prior · likelihood.
//!
//! > log `f_β` = (1 − β) log q + β (log prior + log likelihood) = log q + β ℓ, ℓ = log prior + log likelihood − log q
//!
//! It has the form of the geometric path from a prior, with q in the place of the prior and f/q in that of the
//! likelihood. q is normalised, so that Z₁/Z₀ is p(y) all the same.
//!
//! Where ℓ has no mean under q, whatever its tails (a volatility e^(s z) with log s and z unbounded makes log f minus
//! the exponential of an exponential), the path goes through q e^g with the [damped](Damping) ℓ first.

use std::sync::Arc;

use crust_math::random::Stream;

use super::{Course, Damping, Path};
use crate::axes::Axes;
use crate::target::{Batch, Fatal, Target};

/// A normalised density that can be drawn from.
pub trait FirstDistribution {
    /// log q, normaliser included, and its gradient if there is room for it.
    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// An exact draw.
    fn draw(&self, stream: &mut Stream) -> Vec<f64>;

    /// Directions in which it is isotropic, where they are not those of the coordinates.
    fn axes(&self) -> Option<Axes> {
        None
    }
}

/// ℓ where the density is 0, or too small for a number, on a path that is damped: it ends at max(f, q e^NOTHING), whose
/// integral is that of f to more digits than there are, and chains can leave such places.
const NOTHING: f64 = -1e300;

/// The path from q to the posterior of a target.
#[derive(Clone, Debug)]
pub struct Reference<T, Q> {
    target: T,
    first: Q,
    damping: Option<Damping>,
    /// β of the lanes while the target is evaluated at β = 1.
    beta: Vec<f64>,
    point: Vec<f64>,
    gradient: Vec<f64>,
}

impl<T: Target, Q: FirstDistribution> Reference<T, Q> {
    pub fn new(target: T, first: Q) -> Self {
        let dimension = target.dimension();
        let (point, gradient) = (vec![0.0; dimension], vec![0.0; dimension]);
        Self { target, first, damping: None, beta: Vec::new(), point, gradient }
    }

    /// The same through q e^g, if there is a damping.
    #[must_use]
    pub fn through(self, damping: Option<Damping>) -> Self {
        Self { damping, ..self }
    }

    /// Puts q in the place of the prior in one lane.
    fn replace_prior(&mut self, batch: &mut Batch, lane: usize) {
        let (lanes, beta) = (batch.lanes, self.beta[lane]);
        self.point.iter_mut().zip(batch.x.iter().skip(lane).step_by(lanes)).for_each(|(to, x)| *to = *x);
        let room = if batch.wants_gradient() { &mut self.gradient[..] } else { &mut [] };
        let log_q = self.first.log_density(&self.point, room);
        let log_joint = batch.log_prior[lane] + batch.log_likelihood[lane];
        let has_density = log_joint > f64::NEG_INFINITY;
        let log_ratio = if has_density || self.damping.is_none() { log_joint - log_q } else { NOTHING };
        batch.log_prior[lane] = log_q;
        batch.log_likelihood[lane] = log_ratio;
        // ∇ log f_β = ∇ log q + ∂τ/∂ℓ ∇ℓ: both gradients are known, so that one evaluation does.
        let share = match self.damping {
            None => beta,
            Some(damping) if has_density => damping.slope(log_ratio, beta),
            Some(_) => 0.0,
        };
        for (to, of_q) in batch.gradient.iter_mut().skip(lane).step_by(lanes).zip(&self.gradient) {
            // At β = 0 the posterior does not matter, even where it has no gradient.
            *to = if share == 0.0 { *of_q } else { (1.0 - share) * of_q + share * *to };
        }
    }
}

impl<T: Target, Q: FirstDistribution> Path for Reference<T, Q> {
    fn dimension(&self) -> usize {
        self.target.dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        self.beta.clone_from(&batch.beta);
        batch.beta.fill(1.0);
        let evaluated = self.target.evaluate(batch);
        batch.beta.copy_from_slice(&self.beta);
        evaluated?;
        (0..batch.lanes).for_each(|lane| self.replace_prior(batch, lane));
        Ok(())
    }

    fn course(&self) -> Course {
        self.damping.map_or(Course::Straight, |damping| Course::Bent(Arc::new(damping)))
    }

    fn draw_first(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        Some(self.first.draw(stream))
    }

    fn axes(&self) -> Option<Axes> {
        self.first.axes()
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        self.target.rejection(lane)
    }
}
