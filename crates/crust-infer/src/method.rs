//! The methods that a user can choose from. This is the only list of them.

use std::f64::consts::TAU;

use crust_math::random::Stream;

use crate::kernel::{Densities, Kernel, State, Statistics, Stepper};

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
    /// The Metropolis-adjusted Langevin algorithm: N(x + ½ε² M⁻¹ ∇ log f, ε² M⁻¹), accepted as Metropolis and Hastings
    /// say.
    Mala,
    /// Barker's proposal: steps of a random size, skewed towards where the density rises. Uses the diagonal of M⁻¹
    /// only.
    Barker,
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

impl Length {
    /// The number of leapfrog steps of a trajectory.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, and casts saturate")]
    pub(crate) fn steps(self, step_size: f64) -> u32 {
        match self {
            Self::Steps(n) => n.max(1),
            Self::Time(time) => (time / step_size).clamp(1.0, 1e6) as u32,
        }
    }
}

/// An energy error beyond which Stan calls a trajectory divergent.
pub const MAX_ENERGY_ERROR: f64 = 1000.0;

/// Evaluates an expression with the stepper of a method, one that nothing else has used yet. The expression is compiled
/// for each kind of stepper, so that what it does with many of them is decided here, once.
macro_rules! with_stepper {
    ($method:expr, $dimension:expr, $stepper:ident => $result:expr) => {{
        use crate::kernel::{Length, MAX_ENERGY_ERROR, Method};
        let dimension: usize = $dimension;
        match $method {
            Method::Nuts { max_depth, max_energy_error } => {
                let $stepper = crate::nuts::Nuts::new(dimension, max_depth, max_energy_error);
                $result
            }
            Method::Hmc { length, max_energy_error } => {
                let $stepper = crate::hmc::Hmc::new(dimension, length, max_energy_error);
                $result
            }
            // One leapfrog step is a step of Langevin's: q + ½ε² M⁻¹ ∇ log f + ε M⁻¹ p with p ~ N(0, M).
            Method::Mala => {
                let $stepper = crate::hmc::Hmc::new(dimension, Length::Steps(1), MAX_ENERGY_ERROR);
                $result
            }
            Method::Barker => {
                let $stepper = crate::barker::Barker::new(dimension);
                $result
            }
            Method::Metropolis => {
                let $stepper = crate::metropolis::Metropolis::new(dimension);
                $result
            }
        }
    }};
}
pub(crate) use with_stepper;

impl Default for Method {
    fn default() -> Self {
        Self::Nuts { max_depth: 10, max_energy_error: MAX_ENERGY_ERROR }
    }
}

impl Method {
    /// Stan's static HMC: trajectories of length 2π, which is one revolution on a standard normal target.
    pub fn hmc() -> Self {
        Self::Hmc { length: Length::Time(TAU), max_energy_error: MAX_ENERGY_ERROR }
    }

    pub fn needs_gradient(self) -> bool {
        self != Self::Metropolis
    }

    /// The mean acceptance probability that step sizes are tuned for. The optima in high dimensions are 0.234 for
    /// random walks (Roberts, Gelman and Gilks 1997), 0.574 for Langevin's steps (Roberts and Rosenthal 1998) and about
    /// 0.4 for Barker's (Livingstone and Zanella 2022); trajectories have Stan's.
    pub fn accept_wanted(self) -> f64 {
        match self {
            Self::Nuts { .. } | Self::Hmc { .. } => 0.8,
            Self::Mala => 0.574,
            Self::Barker => 0.4,
            Self::Metropolis => 0.234,
        }
    }

    /// A step size to begin with where the target is about normal and the metric about right, on the long side.
    #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
    pub(crate) fn first_step(self, dimension: usize) -> f64 {
        let d = dimension as f64;
        match self {
            Self::Nuts { .. } | Self::Hmc { .. } => 1.5 / d.sqrt().sqrt(),
            Self::Mala => 1.65 / d.sqrt().cbrt(),
            Self::Barker => 2.46 / d.sqrt().cbrt(),
            Self::Metropolis => 2.38 / d.sqrt(),
        }
    }

    /// Leapfrog steps, if their number is fixed.
    pub(crate) fn fixed_steps(self) -> Option<u32> {
        match self {
            Self::Hmc { length: Length::Steps(n), .. } => Some(n.max(1)),
            _ => None,
        }
    }
}

/// A stepper whose kind is decided while the program runs: each call is looked up. Chains that move much use
/// [`Stepper`] instead.
#[derive(Debug)]
pub struct Transition(Box<dyn Stepper>);

impl Transition {
    /// Memory for transitions of a method in a dimension, which is at least 1.
    pub fn new(method: Method, dimension: usize) -> Self {
        with_stepper!(method, dimension, stepper => Self(Box::new(stepper)))
    }

    pub fn begin(&mut self, kernel: &Kernel, state: &State, stream: Stream) {
        self.0.begin(kernel, state, stream);
    }

    pub fn position(&self) -> &[f64] {
        self.0.position()
    }

    pub fn gradient_mut(&mut self) -> &mut [f64] {
        self.0.gradient_mut()
    }

    pub fn advance(&mut self, kernel: &Kernel, found: Densities) -> Option<Statistics> {
        self.0.advance(kernel, found)
    }

    pub fn finish(&self, state: &mut State) {
        self.0.finish(state);
    }
}
