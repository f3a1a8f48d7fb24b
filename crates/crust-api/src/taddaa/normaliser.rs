//! A lower bound on log Z of the real data, by annealing from a distribution that is fitted to the ends of the short
//! chains: with it KL(q‖p) = log Z − ELBO(q) has a lower bound. Any first distribution is right; a near one is tight.

use crate::error::Trouble;
use crate::target::StanTarget;
use crust_infer::anneal::{Direction, Launch, Pilot, Schedule, anneal_target, tune};
use crust_infer::approximate::evaluate::Points;
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::path::{FirstDistribution, Fitted, Reference, sides, tail_points};
use crust_math::random::{Purpose, StreamKey};

/// Chains of the pilot run, and its moves at each β.
const PILOT: u32 = 32;
const MOVES: usize = 8;
/// Chains that count, and T.
const CHAINS: u32 = 64;
const DISTRIBUTIONS: usize = 100;
/// Parts of the ends: where they disagree, the first distribution is a mixture.
const PARTS: usize = 4;

/// log w of forward chains.
pub(super) fn log_weights(
    target: StanTarget<'_>,
    ends: &Points,
    seed: u64,
    how: Parallelism,
    control: &Control,
) -> Result<Vec<f64>, Trouble> {
    let points: Vec<Vec<f64>> = (0..ends.len()).map(|i| ends.point(i).to_vec()).collect();
    let parts: Vec<Vec<Vec<f64>>> =
        (0..PARTS).map(|part| points.iter().skip(part).step_by(PARTS).cloned().collect()).collect();
    let (centre, deviation) = crate::experiment::centre(&parts);
    let mut driver = Driver::new(target.clone(), how);
    let found = driver.evaluate_points(&tail_points(&centre, &deviation), 1.0, false, control)?;
    let densities: Vec<f64> = found.iter().map(|at| at.densities.log_density()).collect();
    let first = Fitted::fit(&parts, &sides(&densities))?;
    let key = StreamKey::new(seed, Purpose::FORWARD);
    let draw = |chain: u32, step: u64| first.draw(&mut key.chain(chain).step(step).stream());
    let pilot: Vec<Vec<f64>> = (0..PILOT).map(|chain| draw(chain, 1)).collect();
    let starts: Vec<Vec<f64>> = (0..CHAINS).map(|chain| draw(chain, 2)).collect();
    let mut driver = Driver::new(Reference::new(target, first), how);
    let method = crate::annealing::KernelChoice::Hmc.method();
    let wanted = Pilot { distributions: Some(DISTRIBUTIONS), moves: MOVES, ..Pilot::new(method) };
    let kernels = tune(&mut driver, &pilot, &wanted, StreamKey::new(seed, Purpose::PILOT), control)?;
    let schedule = Schedule::from_pilot(DISTRIBUTIONS, &kernels)?;
    let run = Launch { direction: Direction::Forward, first_chain: 0, key, how, control };
    let outcomes = anneal_target(&mut driver, &kernels, &schedule, &starts, &run)?;
    Ok(outcomes.iter().map(|outcome| outcome.log_weight).collect())
}
