//! Stepping stones and thermodynamic integration: chains at every β of a schedule, from the prior to the posterior.
//!
//! With Δ = log `f_β′`(x) − log `f_β`(x) of neighbours on the path,
//!
//! > log Z′/Z = log E_β\[e^Δ\] (Xie et al. 2011), and it lies between E_β\[Δ\] and E_β′\[Δ\] (thermodynamic
//! > integration).
//!
//! Neither estimate is on a known side of the truth, since the chains' draws are not exact: but for that, the product
//! of stones would be unbiased. Draws of both neighbours allow other estimates of the same ratio, such as Bennett's.

use crust_math::random::{Purpose, StreamKey};

use super::bridge::{Weighted, shortfall};
use super::population::{Moving, Population};
use super::resample::Resampling;
use super::{Shared, float, log_mean_exp, number};
use crate::anneal::Schedule;
use crate::error::Error;

/// How many chains there are, and how long each stays at a β.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StonesSettings {
    /// Errors are told from differences between chains: one chain has none.
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
    /// How much higher log Z is if draws of both neighbours are asked for each ratio (Bennett's acceptance ratio), in
    /// nats. Beyond the error this means that a few draws decide the stones, and that they are too low.
    pub shortfall: f64,
    /// All neighbours, from the prior on.
    pub pairs: Vec<Pair>,
    pub evaluations: u64,
}

/// Δ at draws of two neighbours on the path, chain by chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// At draws of the lower β.
    pub up: Vec<Vec<f64>>,
    /// At draws of the higher β.
    pub down: Vec<Vec<f64>>,
}

/// Runs the chains. The first stone is made of independent draws from the prior.
pub fn stones<P: Moving>(
    population: &mut P,
    schedule: &Schedule,
    settings: StonesSettings,
    run: &Shared<'_>,
) -> Result<Stones, Error> {
    let StonesSettings { chains, draws, burn_in } = settings;
    if chains < 1 || draws < 1 {
        let (name, value) = ("the number of chains and of draws", format!("{chains} and {draws}"));
        return Err(Error::Setting { name, value, must_be: "at least 1" });
    }
    let before = population.evaluations();
    let drawn = population.draw(0..number(chains * draws), run.key.purpose(Purpose::PRIOR))?;
    let mut states: Vec<Vec<P::Particle>> = drawn.chunks(draws).map(<[P::Particle]>::to_vec).collect();
    let mut pairs = vec![];
    for t in 2..=schedule.len() {
        let (from, to) = (schedule.beta(t - 1), schedule.beta(t));
        let up = ratios(population, &states, from, to)?;
        let starts: Option<Vec<&P::Particle>> =
            states.iter().zip(&up).enumerate().map(|(k, (chain, up))| start(chain, up, (k, t), run)).collect();
        let Some(starts) = starts else {
            return Err(Error::NoLikelihood { draws, reason: population.rejection() });
        };
        let key = StreamKey { step: (t as u64) << 32, ..run.key.purpose(Purpose::KERNEL) };
        let visited = population.walk(&starts, to, burn_in + draws, key)?.visited;
        states = visited.into_iter().map(|trail| trail.into_iter().skip(burn_in).collect()).collect();
        let down = ratios(population, &states, from, to)?;
        pairs.push(Pair { up, down });
    }
    Ok(summarise(pairs, population.evaluations() - before))
}

/// Δ of all states.
fn ratios<P: Population>(
    population: &mut P,
    states: &[Vec<P::Particle>],
    from: f64,
    to: f64,
) -> Result<Vec<Vec<f64>>, Error> {
    states.iter().map(|chain| population.log_ratios(chain, from, to)).collect()
}

/// Where chain k goes on at distribution t: one of its own draws, by weight. Chains stay independent of each other.
fn start<'s, S>(chain: &'s [S], up: &[f64], (k, t): (usize, usize), run: &Shared<'_>) -> Option<&'s S> {
    let key = StreamKey { chain: number(k), step: t as u64, ..run.key };
    let chosen = Resampling::Systematic.choose(up, 1, &mut key.purpose(Purpose::RESAMPLE).stream());
    chosen.first().map(|&i| &chain[i])
}

fn summarise(pairs: Vec<Pair>, evaluations: u64) -> Stones {
    let chains = pairs.first().map_or(0, |pair| pair.up.len());
    let (mut log_z, mut thermodynamic, mut missed) = (0.0, 0.0, 0.0);
    // What each chain adds to the estimate, relative to the mean of all: their variance is that of the estimate, times
    // the number of chains.
    let mut influence = vec![0.0; chains];
    let equal = vec![0.0; chains];
    let mut thermodynamic_influence = vec![0.0; chains];
    for Pair { up, down } in &pairs {
        let stones: Vec<f64> = up.iter().map(|chain| log_mean_exp(chain)).collect();
        let stone = log_mean_exp(&stones);
        log_z += stone;
        let [up_side, down_side] = [up, down].map(|groups| Weighted { groups, log_weights: &equal });
        missed += shortfall(&up_side, &down_side);
        influence.iter_mut().zip(&stones).for_each(|(sum, s)| *sum += pxfm::f_exp(s - stone) - 1.0);
        let [(mean_up, variance_up), (mean_down, variance_down)] = [up, down].map(|chains| moments(chains));
        // The trapezoidal rule with its error term, for which the derivative of the mean is the variance (Friel et al.
        // 2014). The truth lies between the means, also where heavy tails make the error term useless.
        let corrected = f64::midpoint(mean_up, mean_down) - (variance_down - variance_up) / 12.0;
        thermodynamic += corrected.clamp(mean_up.min(mean_down), mean_up.max(mean_down));
        for (k, sum) in thermodynamic_influence.iter_mut().enumerate() {
            *sum += f64::midpoint(mean(&up[k]), mean(&down[k])) - f64::midpoint(mean_up, mean_down);
        }
    }
    let error = |influence: &[f64]| {
        let n = float(influence.len());
        (influence.iter().map(|x| x * x).sum::<f64>() / (n - 1.0) / n).sqrt()
    };
    let (se, thermodynamic_se) = (error(&influence), error(&thermodynamic_influence));
    Stones { log_z, se, thermodynamic, thermodynamic_se, shortfall: missed, pairs, evaluations }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

/// Mean and variance of all chains together.
fn moments(chains: &[Vec<f64>]) -> (f64, f64) {
    let all: Vec<f64> = chains.iter().flatten().copied().collect();
    let centre = mean(&all);
    (centre, all.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (float(all.len()) - 1.0).max(1.0))
}
