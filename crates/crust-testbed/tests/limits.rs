//! The upper limit of B̂ against the exact Jeffreys divergence, on random grids where both are known.

use crust_diagnose::sandwich::jeffreys_limit;
use crust_infer::anneal::{Direction, Launch, Schedule, anneal_system, draw_initial};
use crust_infer::drive::{Control, Parallelism};
use crust_math::random::{Purpose, StreamKey};
use crust_testbed::exact;
use crust_testbed::grid::Grid;

const CHAINS: u32 = 100;

/// log w of forward chains and −log w of reverse chains, which start at exact draws.
fn chains(grid: &Grid, schedule: &Schedule, key: StreamKey) -> (Vec<f64>, Vec<f64>) {
    let (how, control) = (Parallelism::default(), Control::default());
    let anneal = |direction, purpose, starts: &[usize]| {
        let run = Launch { direction, first_chain: 0, key: key.purpose(purpose), how, control: &control };
        let outcomes = anneal_system(grid, schedule, starts, &run).expect("chains");
        outcomes.iter().map(|outcome| outcome.log_weight).collect::<Vec<f64>>()
    };
    let starts = draw_initial(&mut grid.clone(), CHAINS, 0, key.purpose(Purpose::PRIOR)).expect("draws");
    let forward = anneal(Direction::Forward, Purpose::FORWARD, &starts);
    let exact = |k: u32| grid.draw(1.0, &mut key.purpose(Purpose::DATA).chain(k).stream());
    let starts: Vec<usize> = (0..CHAINS).map(exact).collect();
    let reverse = anneal(Direction::Reverse, Purpose::REVERSE, &starts).iter().map(|w| -w).collect();
    (forward, reverse)
}

/// On 200 random problems the limit is above J in at least 95 %, and above B, its expectation, in at least 90 %: limits
/// hold with probability 0.95, and 180 of 200 are three standard deviations less.
#[test]
fn limits_are_above_exact_divergences() {
    let problems = 200_u32;
    let (mut above_j, mut above_b) = (0, 0);
    for problem in 0..problems {
        let key = StreamKey::new(u64::from(problem), Purpose::TEST);
        let sigma = [0.5, 1.0, 2.0, 4.0][problem as usize % 4];
        let grid = Grid::random(sigma, key);
        let schedule = Schedule::linear([3, 10, 30][problem as usize % 3]).expect("a schedule");
        let found = exact::compute(&grid, &schedule);
        let (forward, reverse) = chains(&grid, &schedule, key);
        let upper = jeffreys_limit(&forward, &reverse).upper;
        above_j += u32::from(upper >= found.jeffreys());
        above_b += u32::from(upper >= found.bound());
    }
    assert!(above_j >= 190 && above_b >= 180, "above J in {above_j}, above B in {above_b} of {problems}");
}
