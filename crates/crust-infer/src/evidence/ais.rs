//! Annealed importance sampling in both directions (BDMC, sections 3.3 and 4.2.1).

use crust_math::random::StreamKey;

use super::Population;
use super::population::Moving;
use super::{float, log_mean_exp};
use crate::anneal::{Direction, Schedule};
use crate::error::Error;

/// Weights of chains, with what there is to say about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Annealed {
    /// log w of the direction in which the chains ran.
    pub log_weights: Vec<f64>,
    /// The mean acceptance probability.
    pub accept: f64,
    pub evaluations: u64,
}

impl Annealed {
    /// log of the mean weight: of forward chains a stochastic lower bound on log p(y), of reverse ones on −log p(y).
    pub fn log_mean(&self) -> f64 {
        log_mean_exp(&self.log_weights)
    }
}

/// Forward chains from draws of the prior. Draws and moves may have different keys; chain k uses number k of both.
pub fn ais<P: Moving>(
    population: &mut P,
    schedule: &Schedule,
    chains: u32,
    draws: StreamKey,
    moves: StreamKey,
) -> Result<Annealed, Error> {
    let starts = population.draw(0..chains, draws)?;
    run(population, schedule, &starts, (Direction::Forward, 0), moves)
}

/// Reverse chains from exact draws of the posterior, numbered from `first_chain` on.
pub fn reverse_ais<P: Moving>(
    population: &mut P,
    schedule: &Schedule,
    starts: &[<P as Population>::Particle],
    first_chain: u32,
    moves: StreamKey,
) -> Result<Annealed, Error> {
    run(population, schedule, starts, (Direction::Reverse, first_chain), moves)
}

fn run<P: Moving>(
    population: &mut P,
    schedule: &Schedule,
    starts: &[<P as Population>::Particle],
    way: (Direction, u32),
    moves: StreamKey,
) -> Result<Annealed, Error> {
    let outcomes = population.anneal(schedule, starts, way, moves)?;
    Ok(Annealed {
        log_weights: outcomes.iter().map(|outcome| outcome.log_weight).collect(),
        accept: outcomes.iter().map(|outcome| outcome.accept).sum::<f64>() / float(outcomes.len()),
        evaluations: outcomes.iter().map(|outcome| outcome.evaluations).sum(),
    })
}
