//! How a pilot run goes, and which of its kernels are preferred.

use super::rehearse::Rehearsed;
use super::tune::LONGEST;
use super::tuned::TunedKernels;
use crate::error::Error;
use crate::kernel::{Length, MAX_ENERGY_ERROR, Method};

/// How a pilot run goes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pilot {
    pub method: Method,
    /// δ, the mean acceptance probability to reach.
    pub delta: f64,
    /// The step size of each transition is uniform within this fraction of the tuned one.
    pub jitter: f64,
    /// The longest trajectory of Hamiltonian Monte Carlo, in units where the pilot's chains have the spread 1. On a
    /// normal target a quarter of a revolution (π/2) forgets the start; half of one only mirrors it, which is as bad as
    /// not moving.
    pub longest: f64,
    /// Moves at each β, in which the step size settles.
    pub moves: usize,
    /// Trajectories of a fixed number of steps are made twice as long, up to this, as long as that pays.
    pub most_steps: u32,
    /// Whether chains rehearse in both directions what the pilot run suggests.
    pub rehearse: bool,
    /// T of the longest schedule that the kernels are for, if it is known.
    pub distributions: Option<usize>,
}

impl Pilot {
    /// The defaults for a method.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            delta: method.accept_wanted(),
            jitter: 0.3,
            longest: std::f64::consts::FRAC_PI_2,
            moves: 12,
            most_steps: 32,
            rehearse: true,
            distributions: None,
        }
    }

    /// The longest step.
    pub(super) fn longest_step(&self) -> f64 {
        self.method.fixed_steps().map_or(LONGEST, |n| self.longest / f64::from(n))
    }

    /// The same with trajectories of twice as many steps, if that is allowed.
    pub(super) fn with_longer_trajectories(&self, method: Method) -> Option<Self> {
        match method {
            Method::Hmc { length: Length::Steps(n), max_energy_error } if 2 * n <= self.most_steps => {
                Some(Self { method: Method::Hmc { length: Length::Steps(2 * n), max_energy_error }, ..*self })
            }
            _ => None,
        }
    }

    /// Whether longer trajectories are better: cheaper for the same gap, or needed since no schedule will be long
    /// enough.
    pub(super) fn prefers(&self, longer: &TunedKernels, shorter: &TunedKernels) -> bool {
        self.prefers_length((longer.length(), longer.method()), shorter)
    }

    fn prefers_length(&self, longer: (f64, Method), shorter: &TunedKernels) -> bool {
        let square = shorter.length() * shorter.length();
        #[expect(clippy::cast_precision_loss, reason = "schedules are far shorter than 2⁵³")]
        let is_wide = self.distributions.is_some_and(|t| square > WISHED * t as f64);
        expense(longer) <= WORTH_IT * expense((shorter.length(), shorter.method()))
            || (is_wide && longer.0 * longer.0 <= FALLS * square)
    }

    /// Whether these trajectories could be better than the shorter ones of a rehearsal, if they forgot at once: only
    /// then is it worth trying them.
    pub(super) fn may_be_preferred(&self, shorter: &Rehearsed) -> bool {
        self.prefers_length((shorter.least_length(), self.method), &shorter.tuned.kernels)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let setting = |name, value: String, must_be| Err(Error::Setting { name, value, must_be });
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return setting("the acceptance probability to reach", self.delta.to_string(), "between 0 and 1");
        }
        if !(0.0..1.0).contains(&self.jitter) {
            return setting("jitter", self.jitter.to_string(), "at least 0 and below 1");
        }
        if self.longest.is_nan() || self.longest <= 0.0 {
            return setting("the longest trajectory", self.longest.to_string(), "positive");
        }
        if self.moves < 2 {
            return setting("the number of moves of the pilot run", self.moves.to_string(), "at least 2");
        }
        Ok(())
    }
}

impl Default for Pilot {
    /// Trajectories of three steps. A move costs four gradients then, since the one at the start is that of another β.
    /// Measured on normal and logistic regressions, no other number closed the sandwich with clearly fewer gradients
    /// (`docs/anneal.md`).
    fn default() -> Self {
        Self::new(Method::Hmc { length: Length::Steps(3), max_energy_error: MAX_ENERGY_ERROR })
    }
}

/// Longer trajectories must promise to be cheaper by this factor: the lengths of pilot runs are uncertain.
const WORTH_IT: f64 = 0.85;
/// A gap, in nats, that the longest schedule should come down to, whatever it costs …
const WISHED: f64 = 0.5;
/// … as long as the gap falls by this factor.
const FALLS: f64 = 0.85;

/// What a gap of one nat costs a chain, in evaluations: the gap of T distributions is about length²/T, and each move of
/// n steps takes n + 1 evaluations.
fn expense((length, method): (f64, Method)) -> f64 {
    length * length * (f64::from(method.fixed_steps().unwrap_or(1)) + 1.0)
}
