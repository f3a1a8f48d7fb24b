//! Many short chains that start at draws of an approximation and improve them: what TADDAA looks at (Wang, Kasprzak &
//! Huggins 2023, algorithm 1).
//!
//! All chains share one step size, which follows their mean acceptance probability (inter-chain adaptation, equation
//! 5), and the covariance of the approximation as preconditioner. They live in coordinates u with x = m + S u and S Sᵀ
//! that covariance, in which every kernel has the unit matrix as preconditioner: the gradient there is Sᵀ∇ log p(x).
//! This settles what the paper's appendix leaves open (which root, on which side).

mod barker;
mod hamiltonian;
mod langevin;
mod random_walk;

use crust_math::random::{Stream, StreamKey};

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
    /// bring chains back to where they started: on a standard normal target after a time of 2π.
    Hmc {
        most_steps: u32,
    },
}

impl Improver {
    /// The acceptance probability that is best in high dimensions (section 3.1).
    pub fn best_acceptance(self) -> f64 {
        match self {
            Self::RandomWalk => 0.234,
            Self::Mala => 0.574,
            Self::Barker => 0.4,
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

    /// At the end.
    pub fn last(&self) -> usize {
        self.times.len() - 1
    }
}

/// All chains between two iterations.
struct Population<'a> {
    frame: &'a Elliptical,
    /// n × d.
    u: Vec<f64>,
    /// n × d: Sᵀ∇ log p.
    gradient: Vec<f64>,
    log_density: Vec<f64>,
}

/// How kernels with one evaluation propose.
trait Proposal {
    /// Writes a point proposed from u, where the gradient is g.
    fn propose(&self, h: f64, u: &[f64], g: &[f64], stream: &mut Stream, to: &mut [f64]);

    /// log of the density of the way back over that of the way there.
    fn log_ratio(&self, h: f64, u: &[f64], g: &[f64], to: &[f64], g_to: &[f64]) -> f64;
}

/// Runs chains from points, chain after chain. `frame` has the mean and the covariance of the approximation. If the run
/// is interrupted, ends with what there is.
pub fn improve<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    starts: Points,
    frame: &Elliptical,
    settings: &Settings,
) -> Result<Chains, Error> {
    let d = starts.dimension;
    let mut h = settings.kernel.first_step_size(d);
    let mut population = Population::new(evaluations, &starts, frame, settings.kernel.needs_gradient())?;
    let mut chains = Chains { times: vec![0], positions: vec![starts], acceptance: Vec::new(), step_sizes: Vec::new() };
    for t in 0..settings.iterations {
        let key = settings.key.step(t as u64 + 1);
        let stepped = match settings.kernel {
            Improver::RandomWalk => population.step(evaluations, &random_walk::RandomWalk, h, key, false),
            Improver::Mala => population.step(evaluations, &langevin::Langevin, h, key, true),
            Improver::Barker => population.step(evaluations, &barker::Barker, h, key, true),
            Improver::Hmc { most_steps } => population.hamiltonian(evaluations, most_steps, h, key),
        };
        let acceptance = match stepped {
            Err(Error::Interrupted) => break,
            other => other?,
        };
        chains.acceptance.push(acceptance);
        chains.step_sizes.push(h);
        // Equation 5.
        h *= ((acceptance - settings.kernel.best_acceptance()) / (float(t) + 1.0).sqrt()).exp();
        if settings.keep.binary_search(&(t + 1)).is_ok() && t + 1 < settings.iterations {
            chains.times.push(t + 1);
            chains.positions.push(population.positions());
        }
    }
    chains.times.push(chains.acceptance.len());
    chains.positions.push(population.positions());
    Ok(chains)
}

impl<'a> Population<'a> {
    fn new<T: Target + Clone + Send>(
        evaluations: &mut Evaluations<'_, T>,
        starts: &Points,
        frame: &'a Elliptical,
        with_gradient: bool,
    ) -> Result<Self, Error> {
        let d = starts.dimension;
        let mut x = starts.clone();
        evaluations.evaluate(&mut x, with_gradient)?;
        let from_mean = |x: &[f64]| -> Vec<f64> { x.iter().zip(&frame.mean).map(|(x, m)| x - m).collect() };
        let u = x.x.chunks_exact(d).flat_map(|x| frame.scale.solve(&from_mean(x))).collect();
        let gradient = x.gradient.chunks_exact(d).flat_map(|g| frame.scale.apply_transposed(g)).collect();
        Ok(Self { frame, u, gradient, log_density: x.log_density })
    }

    fn dimension(&self) -> usize {
        self.frame.mean.len()
    }

    fn positions(&self) -> Points {
        let d = self.dimension();
        Points::new(d, self.u.chunks_exact(d).flat_map(|u| self.frame.place(u)).collect())
    }

    /// Log densities and gradients of points in the coordinates u.
    fn evaluate<T: Target + Clone + Send>(
        &self,
        evaluations: &mut Evaluations<'_, T>,
        u: &[f64],
        with_gradient: bool,
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let d = self.dimension();
        let mut x = Points::new(d, u.chunks_exact(d).flat_map(|u| self.frame.place(u)).collect());
        evaluations.evaluate(&mut x, with_gradient)?;
        let gradient = x.gradient.chunks_exact(d).flat_map(|g| self.frame.scale.apply_transposed(g)).collect();
        Ok((x.log_density, gradient))
    }

    /// One iteration of all chains; returns their mean acceptance probability.
    fn step<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        proposal: &impl Proposal,
        h: f64,
        key: StreamKey,
        with_gradient: bool,
    ) -> Result<f64, Error> {
        let d = self.dimension();
        let n = self.log_density.len();
        let mut to = vec![0.0; n * d];
        let mut uniforms = Vec::with_capacity(n);
        for (chain, to) in to.chunks_exact_mut(d).enumerate() {
            let mut stream = key.chain(chain_number(chain)).stream();
            uniforms.push(stream.uniform());
            proposal.propose(h, self.u(chain), self.gradient(chain), &mut stream, to);
        }
        let (log_density, gradient) = self.evaluate(evaluations, &to, with_gradient)?;
        let mut total = 0.0;
        for (chain, (to, new)) in to.chunks_exact(d).zip(log_density).enumerate() {
            let g_to = gradient.chunks_exact(d).nth(chain).unwrap_or_default();
            let ratio = proposal.log_ratio(h, self.u(chain), self.gradient(chain), to, g_to);
            total += self.decide(chain, new - self.log_density[chain] + ratio, uniforms[chain], to, g_to, new);
        }
        Ok(total / float(n))
    }

    /// Accepts with probability min(1, e^ratio), which is returned. Whoever starts at a point without density leaves it
    /// for any that has one.
    fn decide(&mut self, chain: usize, log_ratio: f64, uniform: f64, to: &[f64], g_to: &[f64], new: f64) -> f64 {
        let d = to.len();
        let probability = if log_ratio.is_nan() { 0.0 } else { log_ratio.min(0.0).exp() };
        if uniform < probability {
            self.u[chain * d..][..d].copy_from_slice(to);
            if !g_to.is_empty() {
                self.gradient[chain * d..][..d].copy_from_slice(g_to);
            }
            self.log_density[chain] = new;
        }
        probability
    }

    fn u(&self, chain: usize) -> &[f64] {
        &self.u[chain * self.dimension()..][..self.dimension()]
    }

    /// Empty without gradients.
    fn gradient(&self, chain: usize) -> &[f64] {
        self.gradient.chunks_exact(self.dimension()).nth(chain).unwrap_or_default()
    }
}

/// As a part of a key.
fn chain_number(chain: usize) -> u32 {
    u32::try_from(chain).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
