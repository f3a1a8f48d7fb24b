//! What a model has to offer so that the estimators of its marginal likelihood can be run on it.
//!
//! A model is data Y together with latent variables z and parameters θ; its state is what its kernels move: z alone
//! where θ is integrated out (clustering, binary attributes), both where it is not (low rank). Only [`Model`] is needed
//! for likelihood weighting, the harmonic mean, annealing in both directions and all that follows from it. Each other
//! trait is what one more family of estimators asks for. Equation numbers are those of the BDMC paper (Grosse,
//! Ghahramani, Adams).
//!
//! Models may keep scratch memory, hence `&mut self`: every thread works with a clone of its own. No method depends on
//! what was called before it.

pub use crust_infer::evidence::{Constrained, Floor};

use crust_infer::anneal::{Direction, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;

/// Data with a prior on states, a likelihood, and kernels along the path that leads from the one to the other.
///
/// The path of its [`System`] is the geometric one (Eq. 8), after whatever is not in the state has been integrated out:
///
/// > `f_β`(x) = ∫ p(x, θ) p(Y | x, θ)^β dθ
///
/// with *all* normalisers: the power of a Gaussian density keeps its (2πσ²)^(−β/2). So f₀ is the normalised prior, Z₁
/// is 1, and the normaliser of f₁ is the marginal likelihood.
pub trait Model: System + Clone + Send + Sync {
    /// log `f_β`(x). [`System::log_ratio`] is its difference between two β, at less cost where that is possible.
    fn log_joint(&mut self, state: &Self::State, beta: f64) -> Result<f64, Fatal>;

    /// log p(Y | x) = log f₁(x) − log f₀(x), with θ integrated out where it is not in the state.
    fn log_likelihood(&mut self, state: &Self::State) -> Result<f64, Fatal> {
        self.log_ratio(state, 0.0, 1.0)
    }

    /// N, the number of cases (rows of Y).
    fn cases(&self) -> usize;
}

/// Models that can make their own data.
pub trait Simulate: Model {
    /// Sizes and hyperparameters.
    type Setting;

    /// Draws (x, θ) from the prior and Y given them. The state is at the same time an exact draw from the posterior
    /// given Y (section 4.2).
    fn simulate(setting: &Self::Setting, stream: &mut Stream) -> Result<(Self, Self::State), Fatal>;
}

/// The kernel's transition probabilities, for the estimator of Chib, Murray and Salakhutdinov (section 5.2).
pub trait Transition: Model {
    /// log 𝒯(to | from), the density of one whole [`System::step`] at β, or of [`System::step_reversed`]: for a Gibbs
    /// sweep the sum of the log conditionals of the values of `to`, each given the values of `to` that were drawn
    /// before it and the values of `from` that were not drawn yet.
    fn log_transition(
        &mut self,
        from: &Self::State,
        to: &Self::State,
        beta: f64,
        direction: Direction,
    ) -> Result<f64, Fatal>;
}

/// How the latent variables of a new case are proposed in particle learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proposal {
    /// q = p(zᵢ | z₁…zᵢ₋₁, θ): ignores the case (Eq. 16).
    Prior,
    /// q = p(zᵢ | yᵢ, z₁…zᵢ₋₁, y₁…yᵢ₋₁, θ): the weight is the predictive likelihood of the case (Eqs. 18–20), or, where
    /// the sum over zᵢ is too long to take, as near to that as the model can come; the weights stay exact for whatever
    /// q is.
    Posterior,
}

/// Models whose cases can be seen one after the other: Algorithms 2 (particle learning) and 3 (SHME).
///
/// A particle is a state that is restricted to the first n cases, with the sufficient statistics of those; θ is in it
/// only where it is not integrated out (Rao–Blackwellisation, Eqs. 21–22).
pub trait Sequential: Model {
    type Particle: Clone + Send + Sync;

    /// No case yet; θ, if it is in the state, is drawn from the prior.
    fn begin(&mut self, stream: &mut Stream) -> Result<Self::Particle, Fatal>;

    /// Takes in the next case i: draws zᵢ from q and returns the log of the factor of Eq. 22,
    /// p(zᵢ | z₁…zᵢ₋₁) p(yᵢ | z₁…zᵢ, y₁…yᵢ₋₁) / q(zᵢ).
    fn extend(&mut self, particle: &mut Self::Particle, proposal: Proposal, stream: &mut Stream) -> Result<f64, Fatal>;

    /// The exact inverse of [`Self::extend`]: returns the log of the same factor for the zᵢ that the last case has, and
    /// gives up that case. Draws nothing.
    fn retract(&mut self, particle: &mut Self::Particle, proposal: Proposal) -> Result<f64, Fatal>;

    /// A kernel that leaves p(z₁…zₙ, θ | y₁…yₙ) invariant, n being the number of cases of the particle. For n = 0 that
    /// is the prior of θ.
    fn refresh(&mut self, particle: &mut Self::Particle, stream: &mut Stream) -> Result<(), Fatal>;

    /// The time reversal of [`Self::refresh`].
    fn refresh_reversed(&mut self, particle: &mut Self::Particle, stream: &mut Stream) -> Result<(), Fatal>;

    /// All cases, at a state: where SHME starts.
    fn particle(&mut self, state: &Self::State) -> Result<Self::Particle, Fatal>;
}

/// Mean-field variational Bayes (section 5.1).
pub trait Variational: Model {
    /// q(z) q(θ).
    type Factors: Clone + Send;

    /// Where an attempt begins; random, so that restarts differ.
    fn initial_factors(&mut self, stream: &mut Stream) -> Result<Self::Factors, Fatal>;

    /// One round of coordinate ascent: each factor in turn becomes the optimal one given the others (Eqs. 39–40). Never
    /// lowers the bound.
    fn update(&mut self, factors: &mut Self::Factors) -> Result<(), Fatal>;

    /// ℱ(q) = E[log p(θ, z, Y)] + ℋ(q) (Eq. 38), a lower bound on log p(Y) (Eq. 41), with all constants.
    fn bound(&mut self, factors: &Self::Factors) -> Result<f64, Fatal>;

    /// The logarithm of the number of equivalent relabellings, log K!.
    fn log_symmetries(&self) -> f64;
}

/// A fit, for the Bayesian information criterion.
pub trait Fit: Model {
    /// The largest log likelihood that a local search finds from a random start: over the parameters θ, with the latent
    /// variables of each case summed or integrated out where that is tractable, and maximised over otherwise.
    fn maximum_log_likelihood(&mut self, stream: &mut Stream) -> Result<f64, Fatal>;

    /// The number of free parameters: the dimension of θ, with the latent variables too where they were maximised over.
    fn free_parameters(&self) -> usize;
}

/// Models that can be held out a case: θ is fixed, and only the latent variables of one new case are integrated out
/// (sections 1 and 3.1). The case is a model of its own, so every estimator that needs no more than [`Model`] applies
/// to it.
pub trait HeldOut: Model {
    type Parameters: Clone + Send + Sync;
    type Case: Model;

    /// θ given a state: drawn from p(θ | x, Y) where it is integrated out, taken from the state where it is not.
    fn parameters(&mut self, state: &Self::State, stream: &mut Stream) -> Result<Self::Parameters, Fatal>;

    /// The model p(z, y | θ) of one case y, which has as many entries as Y has columns.
    fn case(&self, parameters: &Self::Parameters, y: &[f64]) -> Self::Case;

    /// log p(y | θ), where the sum or integral over z is short enough to take.
    fn log_held_out(&mut self, parameters: &Self::Parameters, y: &[f64]) -> Result<Option<f64>, Fatal>;
}
