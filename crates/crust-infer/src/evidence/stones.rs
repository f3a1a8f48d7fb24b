//! Stepping stones and thermodynamic integration: chains at every β of a schedule, from the prior to the posterior.
//!
//! > log Z = Σ log E_{p_β}[L^Δβ] (Xie et al. 2011) = ∫ E_{p_β}[log L] dβ (the thermodynamic identity)
//!
//! Neither is on a known side of the truth, since the chains' draws are not exact: but for that, the product of stones would be unbiased.

use crust_math::random::{Purpose, StreamKey};

use super::smc::systematic;
use super::trail::{Trail, look};
use super::{Particle, Prior, Run, float, log_mean_exp};
use crate::anneal::{Schedule, TunedKernels};
use crate::drive::drive;
use crate::error::Error;
use crate::target::Target;

/// How many chains there are, and how long each stays at a β.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StonesSettings {
    /// At least 2: errors are told from differences between chains.
    pub chains: usize,
    /// Transitions at each β before those that count.
    pub burn_in: usize,
    pub draws: usize,
}

/// What the chains found.
#[derive(Clone, Debug, PartialEq)]
pub struct Stones {
    pub log_z: f64,
    pub se: f64,
    /// log Z by thermodynamic integration.
    pub thermodynamic: f64,
    pub thermodynamic_se: f64,
    pub evaluations: u64,
}

/// Log likelihoods at one β, chain by chain.
struct Stone {
    beta: f64,
    chains: Vec<Vec<f64>>,
}

/// Runs the chains. The first stone is made of independent draws from the prior.
pub fn stones<T: Target + Clone + Send>(
    target: &T,
    kernels: &TunedKernels,
    schedule: &Schedule,
    prior: &mut Prior<'_>,
    settings: StonesSettings,
    run: &Run<'_>,
) -> Result<Stones, Error> {
    let StonesSettings { chains, draws, .. } = settings;
    if chains < 2 || draws < 1 {
        let (name, value) = ("the number of chains and of draws", format!("{chains} and {draws}"));
        return Err(Error::Setting { name, value, must_be: "at least 2 and 1" });
    }
    let key = run.key.purpose(Purpose::PRIOR);
    let number = |k: usize| u32::try_from(k).unwrap_or(u32::MAX);
    let points = (0..chains * draws).map(|k| prior(key.chain(number(k)))).collect::<Result<Vec<_>, _>>()?;
    let before = run.control.evaluations();
    let looked = look(target, points, run)?;
    let mut states: Vec<Vec<Particle>> = looked.particles.chunks(draws).map(<[Particle]>::to_vec).collect();
    let mut list = vec![Stone::new(0.0, &states)];
    for t in 2..=schedule.len() {
        let (beta, rise) = (schedule.beta(t), schedule.beta(t) - schedule.beta(t - 1));
        let starts: Option<Vec<Vec<f64>>> =
            states.iter().enumerate().map(|(k, chain)| start(chain, rise, k, t, run)).collect();
        let Some(starts) = starts else {
            return Err(Error::NoLikelihood { draws, reason: looked.reason });
        };
        states = walk(target, kernels, beta, &starts, t, settings, run)?;
        list.push(Stone::new(beta, &states));
    }
    Ok(summarise(&list, run.control.evaluations() - before))
}

impl Stone {
    fn new(beta: f64, states: &[Vec<Particle>]) -> Self {
        let log = |p: &Particle| if p.log_joint().is_finite() { p.log_likelihood } else { f64::NEG_INFINITY };
        Self { beta, chains: states.iter().map(|chain| chain.iter().map(log).collect()).collect() }
    }
}

/// Where a chain goes on at the next β: one of its own draws, by weight. Chains stay independent of each other.
fn start(chain: &[Particle], rise: f64, k: usize, t: usize, run: &Run<'_>) -> Option<Vec<f64>> {
    let weight = |p: &Particle| if p.log_joint().is_finite() { rise * p.log_likelihood } else { f64::NEG_INFINITY };
    let log_weights: Vec<f64> = chain.iter().map(weight).collect();
    let key = StreamKey { chain: u32::try_from(k).unwrap_or(u32::MAX), step: t as u64, ..run.key };
    let chosen = systematic(&log_weights, 1, &mut key.purpose(Purpose::RESAMPLE).stream());
    chosen.first().map(|&i| chain[i].q.clone())
}

fn walk<T: Target + Clone + Send>(
    target: &T,
    kernels: &TunedKernels,
    beta: f64,
    starts: &[Vec<f64>],
    t: usize,
    settings: StonesSettings,
    run: &Run<'_>,
) -> Result<Vec<Vec<Particle>>, Error> {
    let kernel = kernels.at(beta);
    let steps = settings.burn_in + settings.draws;
    let key = StreamKey { step: (t as u64) << 32, ..run.key.purpose(Purpose::KERNEL) };
    let trail = |(q, k): (&Vec<f64>, u32)| Trail::new(q, &kernel, beta, steps, key.chain(k), run.control);
    let mut trails: Vec<Trail<'_>> = starts.iter().zip(0..).map(trail).collect();
    drive(target, &mut trails, run.how, run.control)?;
    run.check_interrupt()?;
    Ok(trails.into_iter().map(|trail| trail.visited.into_iter().skip(settings.burn_in).collect()).collect())
}

fn summarise(list: &[Stone], evaluations: u64) -> Stones {
    let chains = list[0].chains.len();
    let (mut log_z, mut thermodynamic) = (0.0, 0.0);
    // What each chain adds to the estimate, relative to the mean of all: their variance is that of the estimate, times the number of chains.
    let mut influence = vec![0.0; chains];
    let mut thermodynamic_influence = vec![0.0; chains];
    for pair in list.windows(2) {
        let rise = pair[1].beta - pair[0].beta;
        let stones: Vec<f64> = pair[0].chains.iter().map(|chain| log_mean_exp(&scaled(chain, rise))).collect();
        let stone = log_mean_exp(&stones);
        log_z += stone;
        influence.iter_mut().zip(&stones).for_each(|(sum, s)| *sum += pxfm::f_exp(s - stone) - 1.0);
        let [(mean_a, variance_a), (mean_b, variance_b)] = [&pair[0], &pair[1]].map(moments);
        // The trapezoidal rule with its error term, for which the derivative of the mean is the variance (Friel et al. 2014). The mean rises
        // with β, so that its average lies between its ends, also where heavy tails make the error term useless.
        let corrected = f64::midpoint(mean_a, mean_b) - rise / 12.0 * (variance_b - variance_a);
        thermodynamic += rise * corrected.clamp(mean_a.min(mean_b), mean_a.max(mean_b));
        for (k, sum) in thermodynamic_influence.iter_mut().enumerate() {
            *sum += rise
                * (f64::midpoint(mean(&pair[0].chains[k]), mean(&pair[1].chains[k])) - f64::midpoint(mean_a, mean_b));
        }
    }
    let error = |influence: &[f64]| {
        let n = float(influence.len());
        (influence.iter().map(|x| x * x).sum::<f64>() / (n - 1.0) / n).sqrt()
    };
    let thermodynamic_se = error(&thermodynamic_influence);
    Stones { log_z, se: error(&influence), thermodynamic, thermodynamic_se, evaluations }
}

fn scaled(chain: &[f64], rise: f64) -> Vec<f64> {
    chain.iter().map(|log| rise * log).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

/// Mean and variance of the log likelihood.
fn moments(stone: &Stone) -> (f64, f64) {
    let all: Vec<f64> = stone.chains.iter().flatten().copied().collect();
    let centre = mean(&all);
    (centre, all.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (float(all.len()) - 1.0).max(1.0))
}
