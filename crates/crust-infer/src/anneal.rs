//! Annealed importance sampling in both directions, over any state space.
//!
//! A path f₁ … `f_T` leads from a distribution that can be sampled (the prior) to the target (the posterior). Forward
//! chains start with an exact draw of p₁, reverse chains with an exact draw of `p_T`, and both collect a weight on the
//! way (BREAD, algorithms 1 and 2):
//!
//! > E\[w\] = `Z_T` / Z₁ forward, E\[w\] = Z₁ / `Z_T` reverse,
//!
//! so that log w is a stochastic lower bound on log `Z_T`/Z₁ in the one direction and −log w a stochastic upper bound
//! in the other. The order of weighing and moving is in [`Itinerary`] and nowhere else.
//!
//! Densities on ℝᵈ run in batches ([`anneal_target`]) with kernels that a pilot run has tuned and that are frozen since
//! ([`tune`], [`TunedKernels`]). Everything else is a [`System`] and runs one chain at a time ([`anneal_system`]).

mod chart;
mod itinerary;
mod pilot;
mod population;
mod rehearse;
mod scales;
mod schedule;
mod system;
mod target;
mod tune;
mod tuned;
mod widths;

pub use itinerary::{Direction, Itinerary, Leg};
pub use pilot::Pilot;
pub use scales::{Group, Scales};
pub use schedule::{BadSchedule, Schedule, Subset};
pub(crate) use system::on_threads;
pub use system::{Chain, Moved, System, anneal_one, anneal_system, draw_initial, equilibrate_one, equilibrate_system};
pub use target::{anneal_target, equilibrate};
pub use tune::tune;
pub use tuned::{Knot, TunedKernels};
pub use widths::Frame;

use crust_math::random::StreamKey;

use crate::drive::{Control, Parallelism};

/// What chains that start together share.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub direction: Direction,
    /// Chain k, counted from this number, uses `key.chain(k)`: chains that are run in parts are the same as all at
    /// once.
    pub first_chain: u32,
    /// Seed, purpose and dataset of all random numbers.
    pub key: StreamKey,
    pub how: Parallelism,
    pub control: &'a Control,
}

/// One chain at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainOutcome<S = Vec<f64>> {
    /// Σ log `f_t` − log `f_t₋₁` forward, Σ log `f_t₋₁` − log `f_t` reverse.
    pub log_weight: f64,
    /// The mean acceptance probability of its moves; 0 if there were none.
    pub accept: f64,
    pub evaluations: u64,
    pub divergences: u64,
    /// The chain met a point where a density of its path is 0, infinite or not a number. Its weight is 0 and it went no
    /// further; it counts as a chain all the same.
    pub rejected: bool,
    /// The last state: of a forward chain an approximate draw of `p_T`.
    pub last: S,
}

/// What a chain adds up on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    log_weight: f64,
    accept: f64,
    moves: u64,
    evaluations: u64,
    divergences: u64,
    rejected: bool,
}

impl Tally {
    /// Takes in the logarithm of a ratio of densities. False if the weight is 0 from now on.
    ///
    /// A ratio that is no number, or infinite, has a density in it that is: such points are outside of the support.
    fn weigh(&mut self, log_ratio: f64) -> bool {
        self.log_weight += log_ratio;
        if !self.log_weight.is_finite() {
            self.reject();
        }
        !self.rejected
    }

    fn reject(&mut self) {
        self.log_weight = f64::NEG_INFINITY;
        self.rejected = true;
    }

    fn moved(&mut self, accept: f64) {
        self.accept += accept;
        self.moves += 1;
    }

    fn outcome<S>(self, last: S) -> ChainOutcome<S> {
        #[expect(clippy::cast_precision_loss, reason = "moves are far fewer than 2⁵³")]
        let accept = if self.moves == 0 { 0.0 } else { self.accept / self.moves as f64 };
        let Self { log_weight, evaluations, divergences, rejected, .. } = self;
        ChainOutcome { log_weight, accept, evaluations, divergences, rejected, last }
    }
}

/// The stream of the move at distribution t of a schedule of length T. Schedules of different lengths share no numbers,
/// so the rungs of a ladder are independent.
fn move_key(key: StreamKey, chain: u32, distributions: usize, t: usize) -> StreamKey {
    key.chain(chain).step((distributions as u64) << 32 | t as u64)
}
