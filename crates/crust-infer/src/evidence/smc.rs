//! Sequential Monte Carlo from the prior to the posterior along a frozen schedule, without waste.
//!
//! Of N particles with weights L^Δβ, M are resampled; each is the start of a chain of P = N/M states at the new β, and all
//! N = M P states are the next particles (Dau and Chopin 2022, *Waste-free sequential Monte Carlo*). The product over t of mean weights is an
//! unbiased estimate of p(y) if schedule and kernels are fixed beforehand (their proposition 1), so its logarithm is a stochastic lower bound.
//!
//! Several independent *islands* tell the error: the mean over islands is unbiased too.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::f_exp;

use super::trail::{Trail, look};
use super::{Particle, Run, float, log_mean_exp};
use crate::anneal::{Schedule, TunedKernels};
use crate::drive::drive;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::target::Target;

/// How many particles there are, and how they move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmcSettings {
    /// Independent runs.
    pub islands: usize,
    /// M: particles of an island that are resampled.
    pub resampled: usize,
    /// P: states of the chain that begins with each of them, its start included.
    pub chain: usize,
}

impl SmcSettings {
    /// N: particles of an island.
    pub fn particles(&self) -> usize {
        self.resampled * self.chain
    }
}

/// What a run found.
#[derive(Clone, Debug, PartialEq)]
pub struct Smc {
    /// log Ẑ of each island: the mean of Ẑ over islands is an unbiased estimate of p(y).
    pub islands: Vec<f64>,
    pub evaluations: u64,
    /// The mean acceptance probability.
    pub accept: f64,
    /// The largest correlation, over distributions, of a chain's last log likelihood with its first. Near 0 chains forget where they began;
    /// near 1 they do not, all that descends from a particle is alike, and the bound is low.
    pub memory: f64,
}

/// Runs all islands, each from its share of the draws from the prior: `settings.islands` · `settings.particles()` of them.
pub fn smc<T: Target + Clone + Send>(
    target: &T,
    kernels: &TunedKernels,
    schedule: &Schedule,
    prior_draws: Vec<Vec<f64>>,
    settings: SmcSettings,
    run: &Run<'_>,
) -> Result<Smc, Error> {
    check(&prior_draws, settings)?;
    let mut evaluations = prior_draws.len() as u64;
    let mut particles = look(target, prior_draws, run)?.particles;
    let n = settings.particles();
    let mut islands = vec![0.0; settings.islands];
    let (mut accept, mut moves, mut memory) = (0.0, 0, 0.0_f64);
    for t in 2..=schedule.len() {
        let rise = schedule.beta(t) - schedule.beta(t - 1);
        let mut starts = Vec::with_capacity(settings.islands * settings.resampled);
        for (island, group) in particles.chunks(n).enumerate() {
            let log_weights: Vec<f64> = group.iter().map(|particle| log_weight(particle, rise)).collect();
            islands[island] += log_mean_exp(&log_weights);
            let key = StreamKey { chain: number(island), step: t as u64, ..run.key.purpose(Purpose::RESAMPLE) };
            let chosen = systematic(&log_weights, settings.resampled, &mut key.stream());
            starts.extend(chosen.into_iter().map(|i| (island, &group[i])));
        }
        if t == schedule.len() || starts.is_empty() {
            break;
        }
        let kernel = kernels.at(schedule.beta(t));
        let chains = move_all(target, &starts, &kernel, schedule.beta(t), t, settings, run)?;
        evaluations += chains.evaluations;
        accept += chains.accept;
        moves += starts.len() * (settings.chain - 1);
        memory = memory.max(correlation(&chains.visited));
        // An island without a likelihood has no more particles: its places stay, with weight 0.
        let mut next = vec![lost(); settings.islands * n];
        let mut filled = vec![0; settings.islands];
        for ((island, _), trail) in starts.iter().zip(chains.visited) {
            for particle in trail {
                next[island * n + filled[*island]] = particle;
                filled[*island] += 1;
            }
        }
        particles = next;
    }
    Ok(Smc { islands, evaluations, accept: accept / float(moves.max(1)), memory })
}

/// Of the last log likelihood of each chain with its first; 0 where they do not vary.
fn correlation(chains: &[Vec<Particle>]) -> f64 {
    let ends = || chains.iter().filter_map(|c| Some((c.first()?.log_likelihood, c.last()?.log_likelihood)));
    let n = float(chains.len());
    let (a, b) = ends().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut first, mut last, mut both) = (0.0, 0.0, 0.0);
    for (x, y) in ends() {
        first += (x - a) * (x - a);
        last += (y - b) * (y - b);
        both += (x - a) * (y - b);
    }
    let found = both / (first * last).sqrt();
    if found.is_finite() { found } else { 0.0 }
}

/// A particle that counts as one but has no weight.
fn lost() -> Particle {
    Particle { q: vec![], log_prior: f64::NEG_INFINITY, log_likelihood: f64::NEG_INFINITY }
}

fn check(draws: &[Vec<f64>], settings: SmcSettings) -> Result<(), Error> {
    let setting = |name, value: usize, must_be| Err(Error::Setting { name, value: value.to_string(), must_be });
    if settings.islands == 0 || settings.resampled < 2 {
        return setting("the number of particles that are resampled", settings.resampled, "at least 2 on 1 island");
    }
    if settings.chain < 2 {
        return setting("the length of a particle's chain", settings.chain, "at least 2");
    }
    if draws.len() != settings.islands * settings.particles() {
        return setting("the number of prior draws", draws.len(), "that of all particles");
    }
    Ok(())
}

/// log L^rise; −∞ where there is no density.
fn log_weight(particle: &Particle, rise: f64) -> f64 {
    if particle.log_joint().is_finite() { rise * particle.log_likelihood } else { f64::NEG_INFINITY }
}

/// The states of all chains, their starts included.
struct Moved {
    visited: Vec<Vec<Particle>>,
    evaluations: u64,
    accept: f64,
}

fn move_all<T: Target + Clone + Send>(
    target: &T,
    starts: &[(usize, &Particle)],
    kernel: &Kernel,
    beta: f64,
    t: usize,
    settings: SmcSettings,
    run: &Run<'_>,
) -> Result<Moved, Error> {
    let steps = settings.chain - 1;
    let key = run.key.purpose(Purpose::KERNEL);
    // Transition i of this t has a step of its own.
    let key = |k: usize| StreamKey { chain: number(k), step: (t as u64) << 32, ..key };
    let mut trails: Vec<Trail<'_>> = starts
        .iter()
        .enumerate()
        .map(|(k, (_, start))| Trail::new(&start.q, kernel, beta, steps, key(k), run.control))
        .collect();
    let before = run.control.evaluations();
    drive(target, &mut trails, run.how, run.control)?;
    run.check_interrupt()?;
    let accept = trails.iter().map(|trail| trail.accept).sum();
    let visited = starts.iter().zip(trails).map(|((_, start), trail)| {
        let mut states = Vec::with_capacity(settings.chain);
        states.push((*start).clone());
        states.extend(trail.visited);
        states
    });
    Ok(Moved { visited: visited.collect(), evaluations: run.control.evaluations() - before, accept })
}

/// Systematic resampling: `count` indices, each i drawn ⌊c wᵢ⌋ or ⌈c wᵢ⌉ times with c = count/Σ w. Nothing if all weights are 0.
pub(super) fn systematic(log_weights: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
    let greatest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut chosen = Vec::with_capacity(count);
    if greatest == f64::NEG_INFINITY {
        return chosen;
    }
    let weights: Vec<f64> = log_weights.iter().map(|v| f_exp(v - greatest)).collect();
    let spacing = weights.iter().sum::<f64>() / float(count);
    let mut point = stream.uniform() * spacing;
    let mut sum = 0.0;
    for (i, w) in weights.iter().enumerate() {
        sum += w;
        while *w > 0.0 && point < sum && chosen.len() < count {
            chosen.push(i);
            point += spacing;
        }
    }
    // Rounding may leave the last place empty.
    while let (true, Some(&last)) = (chosen.len() < count, chosen.last()) {
        chosen.push(last);
    }
    chosen
}

fn number(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_that_stay_remember() {
        let chain = |values: &[f64]| -> Vec<Particle> {
            values.iter().map(|&log_likelihood| Particle { log_likelihood, ..Particle::default() }).collect()
        };
        let stuck: Vec<_> = (0..9).map(|k| chain(&[f64::from(k), -3.0, f64::from(k)])).collect();
        assert!((correlation(&stuck) - 1.0).abs() < 1e-12);
        let free = [chain(&[0.0, 1.0]), chain(&[1.0, 1.0]), chain(&[0.0, 2.0]), chain(&[1.0, 2.0])];
        assert!(correlation(&free).abs() < 1e-12);
        assert!(correlation(&[chain(&[1.0, 1.0])]).abs() < 1e-12, "no variation, no memory");
    }
}
