//! Frozen kernels: they leave `f_β` invariant for every β, and nothing that a chain does changes them.
//!
//! All of them are reversible, so that each is its own time reversal. What adapts is in [`crate::warmup`]: it makes
//! kernels.

use std::fmt::Debug;

use crust_math::random::Stream;

use crate::metric::Metric;

pub use crate::method::{Length, MAX_ENERGY_ERROR, Method, Transition};

/// A Markov kernel. The step size and the metric are fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub method: Method,
    pub step_size: f64,
    /// The step size of each transition is uniform within this fraction of `step_size`: 0 for no jitter, below 1.
    pub jitter: f64,
    /// The share of transitions whose steps are shorter, by up to a factor of 100: a chain that starts where the density
    /// is steep would otherwise never leave. Trajectories that are hopeless are tried again then, see `hmc`.
    pub short: f64,
    pub metric: Metric,
}

impl Kernel {
    /// Whether hopeless trajectories are tried again with shorter steps.
    pub(crate) fn tries_again(&self) -> bool {
        self.short > 0.0
    }

    /// The step size of one transition.
    pub(crate) fn draw_step_size(&self, stream: &mut Stream) -> f64 {
        let mut step_size = self.step_size;
        if self.jitter > 0.0 {
            step_size *= 1.0 + self.jitter * (2.0 * stream.uniform() - 1.0);
        }
        if self.short > 0.0 {
            let rare = stream.uniform() / self.short;
            // from 1 down to 1/100
            step_size *= if rare < 1.0 { pxfm::f_exp(-2.0 * std::f64::consts::LN_10 * rare) } else { 1.0 };
        }
        step_size
    }
}

/// What an evaluation at one β says of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Densities {
    /// log f₀: the prior, or what the [path](crate::path::Path) has in its place.
    pub log_prior: f64,
    pub log_likelihood: f64,
    /// log `f_β` − log f₀.
    pub tilt: f64,
}

impl Densities {
    /// log `f_β`.
    pub fn log_density(self) -> f64 {
        self.log_prior + self.tilt
    }
}

/// A point with its densities, and ∇ log `f_β` for the β of its chain (if the method needs it).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub q: Vec<f64>,
    pub gradient: Vec<f64>,
    pub densities: Densities,
}

impl State {
    /// A point that has not been evaluated yet.
    pub fn at(q: &[f64], with_gradient: bool) -> Self {
        let gradient = vec![0.0; if with_gradient { q.len() } else { 0 }];
        Self { q: q.to_vec(), gradient, densities: Densities::default() }
    }

    /// log `f_β`, for the β of the last evaluation.
    pub fn log_density(&self) -> f64 {
        self.densities.log_density()
    }
}

/// What there is to say about one transition, in Stan's words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The mean Metropolis acceptance probability over the trajectory: what warm-up steers.
    pub accept_stat: f64,
    pub step_size: f64,
    pub tree_depth: u32,
    /// The number of evaluations.
    pub leapfrog_steps: u32,
    pub divergent: bool,
    /// −log `f_β` + kinetic energy of the draw.
    pub energy: f64,
}

/// A way to move: a state machine that makes one transition after the other, and asks for one evaluation after the
/// other in each. Its memory is used again by the next transition of the chain.
///
/// A new way to move is a file with an implementation and a line in [`Method`]. Chains are generic in it, so that
/// nothing is looked up in between two evaluations.
pub trait Stepper: Debug + Send {
    /// Begins a transition of the kernel, which must have the method that this was made for, from a state with finite
    /// log `f_β`. All randomness comes from the stream.
    fn begin(&mut self, kernel: &Kernel, state: &State, stream: Stream);

    /// Where the next evaluation is wanted.
    fn position(&self) -> &[f64];

    /// Where the gradient of the evaluation goes; empty if none is wanted.
    fn gradient_mut(&mut self) -> &mut [f64];

    /// Goes on after an evaluation, with the same kernel. `Some` if the transition is complete.
    fn advance(&mut self, kernel: &Kernel, found: Densities) -> Option<Statistics>;

    /// Writes the draw of a complete transition over the state that it started from.
    fn finish(&self, state: &mut State);
}
