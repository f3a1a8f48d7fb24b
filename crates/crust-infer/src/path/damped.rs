//! From the prior through a damped likelihood, for likelihoods whose logarithm has no mean under the prior.
//!
//! > g(ℓ) = −k log(1 + (ℓ* − ℓ)₊/c)
//!
//! grows only with the logarithm of how unlikely the data are, so that it has a mean under the prior where ℓ = log
//! likelihood has none, and under prior · e^g (with k = 2, say) ℓ has one. The path goes straight from the prior to
//! prior · e^g, at β = ½, and straight on from there to the posterior:
//!
//! > log `f_β` = log prior + 2β g for β ≤ ½, log prior + (2 − 2β) g + (2β − 1) ℓ beyond.
//!
//! A [`Reference`](super::Reference) can be in the place of the prior, with ℓ = log f − log q.

use std::sync::Arc;

use pxfm::f_log1p;

use super::{Bend, Course, Path};
use crate::target::{Batch, Fatal, Target};

/// The constants of g.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Damping {
    /// ℓ*, near the largest log likelihood.
    pub top: f64,
    /// c, positive: how far below ℓ* the logarithm takes over.
    pub scale: f64,
    /// k, positive.
    pub power: f64,
}

/// The two parts of τ(β, ℓ) = a g(ℓ) + b ℓ.
fn shares(beta: f64) -> (f64, f64) {
    if beta <= 0.5 { (2.0 * beta, 0.0) } else { (2.0 - 2.0 * beta, 2.0 * beta - 1.0) }
}

impl Damping {
    /// (ℓ* − ℓ)₊/c.
    fn depth(self, log_likelihood: f64) -> f64 {
        (self.top - log_likelihood).max(0.0) / self.scale
    }

    /// g(ℓ).
    fn damped(self, log_likelihood: f64) -> f64 {
        -self.power * f_log1p(self.depth(log_likelihood))
    }

    /// ∂τ/∂ℓ: the power of the likelihood whose gradient is that of `f_β` here.
    pub(super) fn slope(self, log_likelihood: f64, beta: f64) -> f64 {
        let (damped, plain) = shares(beta);
        let below = log_likelihood < self.top;
        let steep = if below { self.power / (self.scale * (1.0 + self.depth(log_likelihood))) } else { 0.0 };
        damped * steep + plain
    }
}

impl Bend for Damping {
    fn tilt(&self, log_likelihood: f64, beta: f64) -> f64 {
        let (damped, plain) = shares(beta);
        // A share of nothing is nothing, also of −∞.
        let part = |share: f64, value: f64| if share == 0.0 { 0.0 } else { share * value };
        part(damped, self.damped(log_likelihood)) + part(plain, log_likelihood)
    }
}

/// The damped path of a target.
#[derive(Clone, Debug)]
pub struct Damped<T> {
    target: T,
    damping: Damping,
    values: Batch,
}

impl<T: Target> Damped<T> {
    pub fn new(target: T, damping: Damping) -> Self {
        Self { target, damping, values: Batch::default() }
    }
}

impl<T: Target> Path for Damped<T> {
    fn dimension(&self) -> usize {
        self.target.dimension()
    }

    /// Of `f_β` the gradient is ∇ log prior + ∂τ/∂ℓ ∇ℓ: that of the target at the power ∂τ/∂ℓ, which is known once ℓ
    /// is. So the values come first, and gradients in a second evaluation.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        if !batch.wants_gradient() {
            return self.target.evaluate(batch);
        }
        self.values.resize(self.target.dimension(), batch.lanes, false);
        self.values.x.copy_from_slice(&batch.x);
        self.values.beta.copy_from_slice(&batch.beta);
        self.target.evaluate(&mut self.values)?;
        for (beta, &log_likelihood) in batch.beta.iter_mut().zip(&self.values.log_likelihood) {
            *beta = self.damping.slope(log_likelihood, *beta);
        }
        let evaluated = self.target.evaluate(batch);
        batch.beta.copy_from_slice(&self.values.beta);
        evaluated
    }

    fn course(&self) -> Course {
        Course::Bent(Arc::new(self.damping))
    }

    fn hyperparameters(&self) -> Vec<usize> {
        self.target.hyperparameters()
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        self.target.rejection(lane)
    }
}
