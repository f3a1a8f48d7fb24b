//! Frozen kernels: they leave `f_β` invariant for every β, and nothing that a chain does changes them.
//!
//! All of them are reversible, so that each is its own time reversal. What adapts is in [`crate::warmup`]: it makes kernels.

use crust_math::random::Stream;

use crate::hmc::Hmc;
use crate::metric::Metric;
use crate::metropolis::Metropolis;
use crate::nuts::Nuts;
use crate::target::tempered;

/// How a kernel makes a transition.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Method {
    /// The No-U-Turn sampler with multinomial sampling from the trajectory, as in Stan.
    Nuts {
        /// The trajectory has at most 2^`max_depth` points.
        max_depth: u32,
        /// A trajectory whose energy is above that of its start by more than this is divergent.
        max_energy_error: f64,
    },
    /// Hamiltonian Monte Carlo with trajectories of the same length.
    Hmc { length: Length, max_energy_error: f64 },
    /// Random-walk Metropolis with normal proposals of covariance ε² M⁻¹. Needs no gradient.
    Metropolis,
}

/// The length of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Length {
    /// A number of leapfrog steps, at least 1.
    Steps(u32),
    /// The number of leapfrog steps is this time over the step size (before jitter), rounded down, but at least 1.
    Time(f64),
}

/// An energy error beyond which Stan calls a trajectory divergent.
pub const MAX_ENERGY_ERROR: f64 = 1000.0;

impl Default for Method {
    fn default() -> Self {
        Self::Nuts { max_depth: 10, max_energy_error: MAX_ENERGY_ERROR }
    }
}

impl Method {
    /// Stan's static HMC: trajectories of length 2π, which is one revolution on a standard normal target.
    pub fn hmc() -> Self {
        Self::Hmc { length: Length::Time(std::f64::consts::TAU), max_energy_error: MAX_ENERGY_ERROR }
    }

    pub fn needs_gradient(self) -> bool {
        self != Self::Metropolis
    }
}

/// A Markov kernel. The step size and the metric are fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub method: Method,
    pub step_size: f64,
    /// The step size of each transition is uniform within this fraction of `step_size`: 0 for no jitter, below 1.
    pub jitter: f64,
    pub metric: Metric,
}

impl Kernel {
    /// The step size of one transition.
    pub(crate) fn draw_step_size(&self, stream: &mut Stream) -> f64 {
        if self.jitter > 0.0 {
            self.step_size * (1.0 + self.jitter * (2.0 * stream.uniform() - 1.0))
        } else {
            self.step_size
        }
    }

    /// The number of leapfrog steps of a static trajectory.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, and casts saturate")]
    pub(crate) fn static_steps(&self, length: Length) -> u32 {
        match length {
            Length::Steps(n) => n.max(1),
            Length::Time(time) => (time / self.step_size).clamp(1.0, 1e6) as u32,
        }
    }
}

/// A point with its densities, and ∇ log `f_β` for the β of its chain (if the method needs it).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub q: Vec<f64>,
    pub gradient: Vec<f64>,
    pub log_prior: f64,
    pub log_likelihood: f64,
}

impl State {
    /// log `f_β`.
    pub fn log_density(&self, beta: f64) -> f64 {
        tempered(self.log_prior, self.log_likelihood, beta)
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

/// A transition under way: a machine that asks for one evaluation after the other. Its memory is used again by the next
/// transition of the chain.
#[derive(Clone, Debug)]
pub struct Transition(Machine);

#[derive(Clone, Debug)]
enum Machine {
    Nuts(Nuts),
    Hmc(Hmc),
    Metropolis(Metropolis),
}

/// Runs an expression for the machine, whichever it is.
macro_rules! each {
    ($self:expr, $machine:ident => $result:expr) => {
        match $self {
            Machine::Nuts($machine) => $result,
            Machine::Hmc($machine) => $result,
            Machine::Metropolis($machine) => $result,
        }
    };
}

impl Transition {
    /// Memory for transitions of a method in a dimension, which is at least 1.
    pub fn new(method: Method, dimension: usize) -> Self {
        Self(match method {
            Method::Nuts { max_depth, max_energy_error } => {
                Machine::Nuts(Nuts::new(dimension, max_depth, max_energy_error))
            }
            Method::Hmc { length, max_energy_error } => Machine::Hmc(Hmc::new(dimension, length, max_energy_error)),
            Method::Metropolis => Machine::Metropolis(Metropolis::new(dimension)),
        })
    }

    /// Begins a transition of the kernel, which must have the method that this was made for, from a state with finite
    /// log `f_β`. All randomness comes from the stream.
    pub fn begin(&mut self, kernel: &Kernel, state: &State, beta: f64, stream: Stream) {
        each!(&mut self.0, machine => machine.begin(kernel, state, beta, stream));
    }

    /// Where the next evaluation is wanted.
    pub fn position(&self) -> &[f64] {
        each!(&self.0, machine => machine.position())
    }

    /// Where the gradient of the evaluation goes; empty if none is wanted.
    pub fn gradient_mut(&mut self) -> &mut [f64] {
        each!(&mut self.0, machine => machine.gradient_mut())
    }

    /// Goes on after an evaluation, with the same kernel. `Some` if the transition is complete.
    pub fn advance(&mut self, kernel: &Kernel, log_prior: f64, log_likelihood: f64) -> Option<Statistics> {
        each!(&mut self.0, machine => machine.advance(kernel, log_prior, log_likelihood))
    }

    /// Writes the draw of a complete transition over the state that it started from.
    pub fn finish(&self, state: &mut State) {
        each!(&self.0, machine => machine.finish(state));
    }
}
