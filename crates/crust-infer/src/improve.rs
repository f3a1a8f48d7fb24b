//! Many short chains that start at draws of an approximation and improve them: what TADDAA looks at (Wang, Kasprzak &
//! Huggins 2023, algorithm 1).
//!
//! A kernel moves a chain by x + S δ, with S Sᵀ the covariance that preconditions it, and sees the gradient as Sᵀ∇ log
//! p(x): in these coordinates every kernel has the unit matrix as preconditioner. This settles what the paper's appendix
//! leaves open (which root, on which side).
//!
//! **As published**, S Sᵀ is the covariance of the approximation throughout, and all chains share one step size, which
//! follows their mean acceptance probability (inter-chain adaptation, equation 5). Where the approximation is much too
//! narrow in some direction, chains of the paper's length do not come far: with variances a κ-th of the right ones a
//! diffusion needs of the order of κ iterations.
//!
//! **Adapted** chains are two halves A and B, and what moves one half is learnt from the other: S of A is a root of the
//! covariance of the present positions of B, and the other way round; the step size of A follows the acceptance of B.
//! Where the scale of some coordinates follows another one, they move in coordinates in which it does not (`funnel.rs`).
//! - Given B, every chain of A moves by a kernel that leaves p invariant, and so in turn for B. Hence p ⊗ ⋯ ⊗ p is
//!   invariant under the moves of all chains together, for any rule that makes S of the other half's positions, and
//!   however few chains there are. If the approximation is exact, so are the ends, and independent of each other. With S
//!   of *all* chains this would hold for infinitely many only. (The step size is one number that also depends on the
//!   past; it ties chains together to the order of 1/N, as in the paper's theorem 3.3.)
//! - Where the posterior is flat on the scale of the chains, an iteration of HMC over the time τ ~ 1 multiplies their
//!   variance by up to 1 + τ², so that few iterations may find a direction that is much too narrow. It is no promise: with
//!   a variance that is 10⁴ times too small along a direction across the coordinates, log variances were still off by 0.4
//!   after 40 iterations. Whether functionals still move is told for that reason.

mod barker;
mod frame;
mod funnel;
mod hamiltonian;
mod langevin;
mod population;
mod random_walk;

use crust_math::random::{Stream, StreamKey};
use population::Population;

use crate::approximate::Error;
use crate::approximate::evaluate::{Evaluations, Points};
use crate::approximate::family::{Elliptical, float};
use crate::target::Target;

/// A Markov kernel that brings draws of an approximation nearer to the posterior. h, the step size, is the variance of
/// a proposal in the coordinates u; for Hamiltonian kernels, the square of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Improver {
    RandomWalk,
    /// The Metropolis-adjusted Langevin algorithm.
    Mala,
    /// Livingstone & Zanella 2022. What the paper recommends.
    Barker,
    /// With 1 to this many leapfrog steps, the same random number for all chains of an iteration. A fixed number may
    /// bring chains back to where they started: on a standard normal target after a time of 2π. Chains that adapt go for
    /// a random time about the best one, π/2, with at most this many steps.
    Hmc {
        most_steps: u32,
    },
}

impl Improver {
    /// The acceptance probability that is best in high dimensions (section 3.1). For Hamiltonian kernels that adapt, 0.8:
    /// their trajectories have a given time, not a given number of steps, and shorter steps cost less than chains that
    /// stay behind where the posterior is narrow.
    pub fn best_acceptance(self, adapts: bool) -> f64 {
        match self {
            Self::RandomWalk => 0.234,
            Self::Mala => 0.574,
            Self::Barker => 0.4,
            Self::Hmc { .. } if adapts => 0.8,
            Self::Hmc { .. } => 0.651,
        }
    }

    /// h at the start (section 3.1). For Hamiltonian kernels 2.4²/d^(1/4) is no variance and too long a step: those of
    /// more than 2 are unstable even on a normal target. The step √h is 1.2/d^(1/4) here, which has the same order.
    pub fn first_step_size(self, dimension: usize) -> f64 {
        let d = float(dimension);
        match self {
            Self::RandomWalk => 5.76 / d,
            Self::Mala | Self::Barker => 5.76 / d.cbrt(),
            Self::Hmc { .. } => 1.44 / d.sqrt(),
        }
    }

    /// How many evaluations an iteration has on average.
    pub fn evaluations(self) -> f64 {
        match self {
            Self::Hmc { most_steps } => 0.5 * (f64::from(most_steps.max(1)) + 1.0),
            Self::RandomWalk | Self::Mala | Self::Barker => 1.0,
        }
    }

    fn needs_gradient(self) -> bool {
        self != Self::RandomWalk
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub key: StreamKey,
    pub kernel: Improver,
    /// T.
    pub iterations: usize,
    /// After how many iterations the positions of all chains are kept, ascending; those at the start and at the end
    /// always are.
    pub keep: Vec<usize>,
    /// Whether each half of the chains is preconditioned by the covariance of the other half, or all by that of the
    /// approximation.
    pub adapts: bool,
}

/// What the chains did.
#[derive(Clone, Debug, PartialEq)]
pub struct Chains {
    /// After how many iterations; the first is 0.
    pub times: Vec<usize>,
    /// The positions x of all chains at these times, chain after chain.
    pub positions: Vec<Points>,
    /// The mean acceptance probability of each iteration.
    pub acceptance: Vec<f64>,
    /// h of each iteration.
    pub step_sizes: Vec<f64>,
}

impl Chains {
    /// A coordinate of all chains at one of the times.
    pub fn coordinate(&self, time: usize, coordinate: usize) -> Vec<f64> {
        let points = &self.positions[time];
        points.x.iter().skip(coordinate).step_by(points.dimension).copied().collect()
    }

    /// The positions at several of the times, chain after chain.
    pub fn states(&self, times: std::ops::RangeInclusive<usize>) -> Points {
        let kept = &self.positions[times];
        let (d, n) = (self.positions[0].dimension, self.positions[0].len());
        Points::new(d, (0..n).flat_map(|chain| kept.iter().flat_map(move |at| at.point(chain))).copied().collect())
    }

    /// At the end.
    pub fn last(&self) -> usize {
        self.times.len() - 1
    }
}

/// How kernels with one evaluation propose, in the coordinates of the preconditioner.
trait Proposal {
    /// Writes a step that is proposed where the gradient is g.
    fn propose(&self, h: f64, g: &[f64], stream: &mut Stream, step: &mut [f64]);

    /// log of the density of the way back over that of the way there.
    fn log_ratio(&self, h: f64, g: &[f64], step: &[f64], g_to: &[f64]) -> f64;
}

/// Fewer chains than this cannot adapt.
const LEAST_CHAINS: usize = 16;

/// Chains on their way, which may be sent further.
pub struct Improvement {
    /// One, or two halves that learn from each other.
    groups: Vec<Population>,
    settings: Settings,
    chains: Chains,
}

/// Runs chains from points, chain after chain. `frame` has the covariance of the approximation. If the run is
/// interrupted, ends with what there is.
pub fn improve<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    starts: Points,
    frame: &Elliptical,
    settings: &Settings,
) -> Result<Chains, Error> {
    let mut improvement = Improvement::new(evaluations, starts, frame, settings)?;
    improvement.advance(evaluations, settings.iterations, &settings.keep)?;
    Ok(improvement.into_chains())
}

impl Improvement {
    /// Chains that have not moved yet.
    pub fn new<T: Target + Clone + Send>(
        evaluations: &mut Evaluations<'_, T>,
        starts: Points,
        frame: &Elliptical,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let (d, n) = (starts.dimension, starts.len());
        let first = if settings.adapts && n >= LEAST_CHAINS { n / 2 } else { n };
        let mut groups = Vec::new();
        for (number, x) in [&starts.x[..first * d], &starts.x[first * d..]].into_iter().enumerate() {
            if !x.is_empty() {
                let points = Points::new(d, x.to_vec());
                groups.push(Population::new(evaluations, points, number * first, &frame.scale, settings)?);
            }
        }
        let chains = Chains { times: vec![0], positions: vec![starts], acceptance: Vec::new(), step_sizes: Vec::new() };
        Ok(Self { groups, settings: settings.clone(), chains })
    }

    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    pub fn into_chains(self) -> Chains {
        self.chains
    }

    /// Goes on until so many iterations are done in all, and keeps the positions after some of them and after the last.
    /// False if the run was interrupted before.
    pub fn advance<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        until: usize,
        keep: &[usize],
    ) -> Result<bool, Error> {
        let mut whole = true;
        for t in self.chains.acceptance.len()..until {
            whole = match self.step(evaluations, t) {
                Err(Error::Interrupted) => false,
                other => other.map(|()| true)?,
            };
            if !whole {
                break;
            }
            if keep.binary_search(&(t + 1)).is_ok() && t + 1 < until {
                self.keep(t + 1);
            }
        }
        self.keep(self.chains.acceptance.len());
        Ok(whole)
    }

    fn keep(&mut self, time: usize) {
        let d = self.chains.positions[0].dimension;
        self.chains.times.push(time);
        self.chains
            .positions
            .push(Points::new(d, self.groups.iter().flat_map(Population::positions).copied().collect()));
    }

    /// One iteration of all chains.
    fn step<T: Target + Clone + Send>(&mut self, evaluations: &mut Evaluations<'_, T>, t: usize) -> Result<(), Error> {
        let Settings { kernel, key, adapts, .. } = self.settings;
        let gain = 1.0 / (float(t) + 1.0).sqrt();
        let number = self.groups.len();
        let (mut acceptance, mut h) = (0.0, 0.0);
        for group in 0..number {
            let other = (group + 1) % number;
            if let Ok([here, there]) = self.groups.get_disjoint_mut([group, other]) {
                here.learn(there);
            }
            let here = &mut self.groups[group];
            let share = float(here.len()) / float(self.chains.positions[0].len());
            let accepted = here.step(evaluations, kernel, key.step(t as u64 + 1))?;
            acceptance += share * accepted;
            h += share * here.h;
            // Equation 5, for the half that moves next.
            self.groups[other].h *= ((accepted - kernel.best_acceptance(adapts)) * gain).exp();
        }
        self.chains.acceptance.push(acceptance);
        self.chains.step_sizes.push(h);
        Ok(())
    }
}

/// As a part of a key.
fn chain_number(chain: usize) -> u32 {
    u32::try_from(chain).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
