//! Sequential Monte Carlo from the prior to the posterior along a frozen schedule, with or without waste.
//!
//! Of N particles with weights `f_β′`/`f_β`, M are resampled; each is the start of a chain of P states at the new β.
//! Without waste all N = M P states are the next particles (Dau and Chopin 2022, *Waste-free sequential Monte Carlo*);
//! otherwise the last of each chain are, and N = M. The product over t of mean weights is an unbiased estimate of p(y)
//! if schedule and kernels are fixed beforehand (their proposition 1), so its logarithm is a stochastic lower bound.
//!
//! Several independent *islands* tell the error: the mean over islands is unbiased too.

use crust_math::random::{Purpose, StreamKey};

use super::bridge::{Weighted, shortfall};
use super::population::{Moving, Population};
use super::resample::{Resampling, effective_size};
use super::{Shared, float, log_mean_exp, number};
use crate::anneal::Schedule;
use crate::error::Error;
use crate::target::Fatal;

/// How many particles there are, and how they move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmcSettings {
    /// Independent runs.
    pub islands: usize,
    /// M: particles of an island that are resampled.
    pub resampled: usize,
    /// P: states of the chain that begins with each of them, its start included.
    pub chain: usize,
    pub keep: Keep,
}

/// Which states of a chain become particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    All,
    Last,
}

impl SmcSettings {
    /// N: particles of an island.
    pub fn particles(&self) -> usize {
        match self.keep {
            Keep::All => self.resampled * self.chain,
            Keep::Last => self.resampled,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let setting = |name, value: usize, must_be| Err(Error::Setting { name, value: value.to_string(), must_be });
        if self.islands == 0 || self.resampled < 2 {
            return setting("the number of particles that are resampled", self.resampled, "at least 2 on 1 island");
        }
        if self.chain < 2 {
            return setting("the length of a particle's chain", self.chain, "at least 2");
        }
        Ok(())
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
    /// The largest correlation, over distributions, of a chain's last log likelihood with its first. Near 0 chains
    /// forget where they began; near 1 they do not, all that descends from a particle is alike, and the bound is low. 0
    /// where log likelihoods are not at hand.
    pub memory: f64,
    /// How much higher the steps' ratios are where the states after a step are asked as well, in nats (see
    /// [`Stones::shortfall`](super::Stones)). The last step has none.
    pub shortfall: f64,
}

/// Runs all islands, each from its share of draws from the prior.
pub fn smc<P: Moving>(
    population: &mut P,
    schedule: &Schedule,
    settings: SmcSettings,
    run: &Shared<'_>,
) -> Result<Smc, Error> {
    Ok(rise(population, &Betas::Frozen(schedule), settings, run)?.0)
}

/// A schedule for such a run: each step is as long as keeps a share of the effective number of particles. What it
/// weighs decides where it goes, so that its own estimate would be biased and is not told: a run that is to be a bound
/// needs a key of its own.
pub fn find_schedule<P: Moving>(
    population: &mut P,
    efficiency: f64,
    settings: SmcSettings,
    run: &Shared<'_>,
) -> Result<Schedule, Error> {
    let (_, betas) = rise(population, &Betas::Adaptive { efficiency }, settings, run)?;
    Schedule::try_from(betas).map_err(|bad| Fatal::new(bad).into())
}

/// Where the next β comes from.
enum Betas<'a> {
    Frozen(&'a Schedule),
    Adaptive { efficiency: f64 },
}

fn rise<P: Moving>(
    population: &mut P,
    betas: &Betas<'_>,
    settings: SmcSettings,
    run: &Shared<'_>,
) -> Result<(Smc, Vec<f64>), Error> {
    settings.check()?;
    let n = settings.particles();
    let before = population.evaluations();
    let drawn = population.draw(0..number(settings.islands * n), run.key.purpose(Purpose::PRIOR))?;
    let mut islands: Vec<Vec<P::Particle>> = drawn.chunks(n).map(<[P::Particle]>::to_vec).collect();
    let mut log_z = vec![0.0; settings.islands];
    let (mut accept, mut moves, mut memory, mut missed) = (0.0, 0, 0.0_f64, 0.0);
    let (mut beta, mut visited) = (0.0, vec![0.0]);
    loop {
        let t = visited.len() + 1;
        let next = match betas {
            Betas::Frozen(schedule) => schedule.beta(t),
            Betas::Adaptive { efficiency } => next_beta(population, &islands, beta, *efficiency)?,
        };
        let mut starts = Vec::with_capacity(settings.islands * settings.resampled);
        let mut up = Vec::with_capacity(settings.islands);
        let log_z_before = log_z.clone();
        for (island, group) in islands.iter().enumerate() {
            let log_weights = population.log_ratios(group, beta, next)?;
            log_z[island] += log_mean_exp(&log_weights);
            let key = StreamKey { chain: number(island), step: t as u64, ..run.key.purpose(Purpose::RESAMPLE) };
            let chosen = Resampling::Systematic.choose(&log_weights, settings.resampled, &mut key.stream());
            starts.extend(chosen.into_iter().map(|i| (island, &group[i])));
            up.push(log_weights);
        }
        let last = std::mem::replace(&mut beta, next);
        visited.push(beta);
        if beta >= 1.0 || starts.is_empty() {
            break;
        }
        let key = StreamKey { step: (t as u64) << 32, ..run.key.purpose(Purpose::KERNEL) };
        let firsts: Vec<&P::Particle> = starts.iter().map(|(_, start)| *start).collect();
        let walks = population.walk(&firsts, beta, settings.chain - 1, key)?;
        accept += walks.accept;
        moves += starts.len() * (settings.chain - 1);
        memory = memory.max(forgetting(population, &firsts, &walks.visited));
        islands = settle(&starts, walks.visited, settings);
        let down: Result<Vec<_>, _> = islands.iter().map(|group| population.log_ratios(group, last, beta)).collect();
        missed += shortfall(
            &Weighted { groups: &up, log_weights: &log_z_before },
            &Weighted { groups: &down?, log_weights: &log_z },
        );
    }
    let evaluations = population.evaluations() - before;
    let accept = accept / float(moves.max(1));
    Ok((Smc { islands: log_z, evaluations, accept, memory, shortfall: missed }, visited))
}

/// The next particles of each island. One without a likelihood has none any more, and its estimate stays 0.
fn settle<S: Clone>(starts: &[(usize, &S)], visited: Vec<Vec<S>>, settings: SmcSettings) -> Vec<Vec<S>> {
    let mut islands: Vec<Vec<S>> = vec![vec![]; settings.islands];
    for ((island, start), mut trail) in starts.iter().zip(visited) {
        match settings.keep {
            Keep::All => {
                islands[*island].push((*start).clone());
                islands[*island].append(&mut trail);
            }
            Keep::Last => islands[*island].extend(trail.pop()),
        }
    }
    islands
}

/// The smallest rise of β relative to the way that is left, so that the number of distributions is bounded.
const LEAST_RISE: f64 = 1e-4;

/// The largest β whose weights keep the efficiency, by bisection.
fn next_beta<P: Population>(
    population: &mut P,
    islands: &[Vec<P::Particle>],
    beta: f64,
    efficiency: f64,
) -> Result<f64, Error> {
    let enough = efficiency * float(islands.iter().map(Vec::len).sum());
    let mut reaches = |to: f64| -> Result<bool, Error> {
        let mut log_ratios = vec![];
        for group in islands {
            log_ratios.extend(population.log_ratios(group, beta, to)?);
        }
        Ok(effective_size(&log_ratios) >= enough)
    };
    if reaches(1.0)? {
        return Ok(1.0);
    }
    // In the logarithm of the rise: the first one may be by 10⁻³, the last ones by 10⁻¹.
    let (mut low, mut high) = (LEAST_RISE.ln(), 0.0);
    let at = |log_share: f64| beta + (1.0 - beta) * log_share.exp();
    for _ in 0..12 {
        let middle = f64::midpoint(low, high);
        if reaches(at(middle))? { low = middle } else { high = middle }
    }
    Ok(at(low))
}

/// The correlation of both ends of chains, as far as log likelihoods are at hand.
fn forgetting<P: Population>(population: &P, starts: &[&P::Particle], visited: &[Vec<P::Particle>]) -> f64 {
    let ends = starts.iter().zip(visited).filter_map(|(start, trail)| {
        Some((population.known_log_likelihood(start)?, population.known_log_likelihood(trail.last()?)?))
    });
    correlation(&ends.collect::<Vec<_>>())
}

/// 0 where there is no variation.
fn correlation(ends: &[(f64, f64)]) -> f64 {
    let n = float(ends.len());
    let (a, b) = ends.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut first, mut last, mut both) = (0.0, 0.0, 0.0);
    for (x, y) in ends {
        first += (x - a) * (x - a);
        last += (y - b) * (y - b);
        both += (x - a) * (y - b);
    }
    let found = both / (first * last).sqrt();
    if found.is_finite() { found } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_that_stay_remember() {
        let stuck: Vec<(f64, f64)> = (0..9).map(|k| (f64::from(k), f64::from(k))).collect();
        assert!((correlation(&stuck) - 1.0).abs() < 1e-12);
        assert!(correlation(&[(0.0, 1.0), (1.0, 1.0), (0.0, 2.0), (1.0, 2.0)]).abs() < 1e-12);
        assert!(correlation(&[(1.0, 1.0)]).abs() < 1e-12, "no variation, no memory");
    }
}
