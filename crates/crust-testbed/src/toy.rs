//! The experiment of BREAD, section 5.1.1: how tight is the bound? Exact, and by chains.

use crust_infer::anneal::{BadSchedule, ChainOutcome, Direction, Launch, Schedule, anneal_system, draw_initial};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error;
use crust_math::random::{Purpose, StreamKey};

use crate::exact::{self, Exact};
use crate::grid::{Grid, float};

/// B̂, the mean gap between reverse and forward chains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    pub standard_error: f64,
    /// In each direction.
    pub chains: u32,
}

/// J and B for the linear schedule through a number T of distributions.
pub fn compute(grid: &Grid, distributions: usize) -> Result<Exact, BadSchedule> {
    Ok(exact::compute(grid, &Schedule::linear(distributions)?))
}

/// B̂ from independent chains, whose reverse ones start with independent exact draws: all of the randomness is in the
/// error.
pub fn estimate(
    grid: &Grid,
    schedule: &Schedule,
    chains: u32,
    key: StreamKey,
    how: Parallelism,
    control: &Control,
) -> Result<Estimate, Error> {
    // Rungs of different lengths are independent: so are their starts.
    let start_key = |purpose| key.purpose(purpose).step(schedule.len() as u64);
    let exact_draw = |k: u32| grid.draw(1.0, &mut start_key(Purpose::DATA).chain(k).stream());
    let anneal = |direction, purpose, starts: &[usize]| {
        let run = Launch { direction, first_chain: 0, key: key.purpose(purpose), how, control };
        anneal_system(grid, schedule, starts, &run)
    };
    let starts = draw_initial(&mut grid.clone(), chains, 0, start_key(Purpose::PRIOR))?;
    let forward = anneal(Direction::Forward, Purpose::FORWARD, &starts)?;
    let starts: Vec<usize> = (0..chains).map(exact_draw).collect();
    let reverse = anneal(Direction::Reverse, Purpose::REVERSE, &starts)?;
    let (lower, lower_variance) = moments(&forward);
    let (upper, upper_variance) = moments(&reverse);
    Ok(Estimate { mean: -upper - lower, standard_error: (lower_variance + upper_variance).sqrt(), chains })
}

/// The mean of the log weights, and its variance.
fn moments(outcomes: &[ChainOutcome<usize>]) -> (f64, f64) {
    let n = float(outcomes.len());
    let logs = || outcomes.iter().map(|outcome| outcome.log_weight);
    let mean = logs().sum::<f64>() / n;
    (mean, logs().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (n * (n - 1.0)))
}
