//! BREAD, section 5.1.1: the true Jeffreys divergence J of annealing on small grids, and its bound B.

use crate::error::Error;
use crate::session::{Part, Session};
use crust_diagnose::result::{Toy, ToyRow};
use crust_infer::anneal::Schedule;
use crust_math::random::{Purpose, StreamKey};
use crust_testbed::exact::{self, Exact};
use crust_testbed::grid;
use crust_testbed::toy::{Estimate, estimate};

/// The toy distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Four modes behind a barrier.
    Barrier,
    /// Random and easy to explore.
    EasyRandom,
    /// Random with separated modes.
    HardRandom,
}

impl Grid {
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::EasyRandom => "easy-random",
            Self::HardRandom => "hard-random",
        }
    }

    fn make(self, key: StreamKey) -> grid::Grid {
        match self {
            Self::EasyRandom => grid::Grid::random(2.0, key),
            Self::HardRandom => grid::Grid::random(10.0, key),
            Self::Barrier => grid::Grid::barrier(),
        }
    }
}

/// Options of the toy experiments.
#[derive(Clone, Copy, Debug)]
pub struct ToyOptions {
    /// The largest number of distributions.
    pub largest: usize,
}

impl Default for ToyOptions {
    fn default() -> Self {
        Self { largest: 100_000 }
    }
}

/// Numbers of distributions, from 10 to 100,000 as in the paper's Fig. 3.
const LADDER: [usize; 9] = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000];
/// Chains in each direction; fewer where they are long.
const CHAINS: usize = 2000;
/// Moves of all chains of a row in one direction, about.
const MOVES: usize = 5_000_000;

fn row(distributions: usize, exact: &Exact, estimate: Estimate) -> ToyRow {
    ToyRow {
        distributions,
        jeffreys: exact.jeffreys(),
        bound: exact.bound(),
        estimate: estimate.mean,
        standard_error: estimate.standard_error,
        chains: estimate.chains,
        kl_forward: exact.kl_forward,
        kl_reverse: exact.kl_reverse,
        chain_kl_forward: exact.chain_kl_forward,
        chain_kl_reverse: exact.chain_kl_reverse,
    }
}

/// Anneals on a grid; each row is told as a [`Part`].
pub fn toy(which: Grid, options: ToyOptions, session: &Session<'_>) -> Result<Toy, Error> {
    if options.largest < LADDER[0] {
        let least = format!("the smallest number of distributions is {}", LADDER[0]);
        return Err(Error::option("largest", options.largest, least));
    }
    let key = StreamKey::new(session.seed, Purpose::FIRST_FREE);
    let grid = which.make(key);
    let mut rows = vec![];
    for distributions in LADDER.into_iter().filter(|&t| t <= options.largest) {
        let schedule = Schedule::linear(distributions)?;
        let exact = exact::compute(&grid, &schedule);
        let chains = u32::try_from((MOVES / distributions).clamp(50, CHAINS)).unwrap_or(u32::MAX);
        let found = estimate(&grid, &schedule, chains, key, session.parallelism(), session.stop.control());
        let found = found.map_err(Error::infer)?;
        let row = row(distributions, &exact, found);
        session.observer.part(&Part::Toy(&row))?;
        rows.push(row);
    }
    let seed = (which != Grid::Barrier).then_some(session.seed);
    Ok(Toy { experiment: which.name().to_owned(), seed, log_ratio: grid.log_ratio_of_normalisers(), rows })
}
