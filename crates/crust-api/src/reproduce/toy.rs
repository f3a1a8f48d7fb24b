//! BREAD, section 5.1.1: the true Jeffreys divergence J of annealing on small grids, and its bound B.

use crate::arguments::{Common, Reproduce};
use crate::{Outcome, terminal};
use crust_infer::anneal::Schedule;
use crust_infer::drive::{Control, Parallelism};
use crust_math::random::{Purpose, StreamKey};
use crust_testbed::exact::{self, Exact};
use crust_testbed::grid::Grid;
use crust_testbed::toy::{Estimate, estimate};
use serde::Serialize;
use std::num::NonZero;

/// The toy distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toy {
    Barrier,
    EasyRandom,
    HardRandom,
}

/// Numbers of distributions, from 10 to 100,000 as in the paper's Fig. 3.
const LADDER: [usize; 9] = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000];
/// Chains in each direction; fewer where they are long.
const CHAINS: usize = 2000;
/// Moves of all chains of a row in one direction, about.
const MOVES: usize = 5_000_000;
/// A difference between B̂ and B, in standard errors, that one of nine rows shows by chance in one of 2000 runs.
const SURPRISING: f64 = 4.0;

#[derive(Serialize)]
struct Findings {
    experiment: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// log `Z_T`/Z₁, which the chains estimate.
    log_ratio: f64,
    rows: Vec<Row>,
}

/// What there is to say about one T. All in nats.
#[derive(Serialize)]
struct Row {
    #[serde(rename = "T")]
    distributions: usize,
    /// The exact Jeffreys divergence between the last states of forward chains and the target.
    #[serde(rename = "J")]
    jeffreys: f64,
    /// The exact expectation of the bound.
    #[serde(rename = "B")]
    bound: f64,
    #[serde(rename = "B_hat")]
    estimate: f64,
    #[serde(rename = "B_hat_se")]
    standard_error: f64,
    chains: u32,
    kl_forward: f64,
    kl_reverse: f64,
    chain_kl_forward: f64,
    chain_kl_reverse: f64,
}

impl Row {
    fn new(distributions: usize, exact: &Exact, estimate: Estimate) -> Self {
        Self {
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

    /// (B̂ − B) in standard errors.
    fn surprise(&self) -> f64 {
        (self.estimate - self.bound) / self.standard_error
    }
}

pub(super) fn run(toy: Toy, arguments: &Reproduce, common: &Common) -> Result<Outcome, String> {
    terminal::check_writable(common.json.as_deref())?;
    if arguments.largest < LADDER[0] {
        return Err(format!("--largest {}: the smallest number of distributions is {}", arguments.largest, LADDER[0]));
    }
    let key = StreamKey::new(arguments.seed, Purpose::FIRST_FREE);
    let (experiment, grid) = match toy {
        Toy::EasyRandom => ("easy-random", Grid::random(2.0, key)),
        Toy::HardRandom => ("hard-random", Grid::random(10.0, key)),
        Toy::Barrier => ("barrier", Grid::barrier()),
    };
    let random = toy != Toy::Barrier;
    let tells = !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout);
    if tells {
        terminal::say(&heading(toy, arguments.seed));
    }
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let how = Parallelism { threads: threads.unwrap_or(NonZero::<usize>::MIN), ..Parallelism::default() };
    let mut rows = vec![];
    for distributions in LADDER.into_iter().filter(|&t| t <= arguments.largest) {
        let schedule = Schedule::linear(distributions).map_err(|e| e.to_string())?;
        let exact = exact::compute(&grid, &schedule);
        let chains = u32::try_from((MOVES / distributions).clamp(50, CHAINS)).map_err(|e| e.to_string())?;
        let estimate = estimate(&grid, &schedule, chains, key, how, &Control::default()).map_err(|e| e.to_string())?;
        rows.push(Row::new(distributions, &exact, estimate));
        if let (true, Some(row)) = (tells, rows.last()) {
            terminal::say(&line(row));
        }
    }
    if tells {
        terminal::say(&agreement(&rows));
    }
    if let Some(file) = &common.json {
        let log_ratio = grid.log_ratio_of_normalisers();
        let seed = random.then_some(arguments.seed);
        terminal::deliver(&Findings { experiment, seed, log_ratio, rows }, file)?;
    }
    Ok(Outcome::Fine)
}

fn heading(experiment: Toy, seed: u64) -> String {
    let what = match experiment {
        Toy::Barrier => "BARRIER: four modes behind a deep barrier. The paper has J = 1.65 at T = 100, and J = 1.085, \
                                B = 1.184 at T = 1000."
            .to_string(),
        Toy::EasyRandom => format!(
            "EASY RANDOM: log f ~ normal(0, 2) in every cell, seed {seed}. The paper's own draw has J = 0.13 at T = 100, and \
             J = 0.00518, B = 0.0705 at T = 1000; another draw has other numbers."
        ),
        Toy::HardRandom => format!(
            "HARD RANDOM: log f ~ normal(0, 10) in every cell, seed {seed}. The paper's own draw has J = 4.73 at T = 100, and \
             J = 1.840, B = 2.309 at T = 1000; another draw has other numbers."
        ),
    };
    format!(
        "{what}\nAnnealing on a 7 x 7 grid through T distributions, in nats. J and B are exact: J is the Jeffreys divergence of \
         the samples,\nB the bound on it that chains in both directions estimate; B-hat is such an estimate.\n\n\
         {:>8}  {:>12}  {:>12}  {:>12}  {:>10}  {:>7}",
        "T", "J", "B", "B-hat", "std. error", "chains"
    )
}

fn line(row: &Row) -> String {
    format!(
        "{:>8}  {:>12}  {:>12}  {:>12}  {:>10}  {:>7}",
        row.distributions,
        digits(row.jeffreys),
        digits(row.bound),
        digits(row.estimate),
        digits(row.standard_error),
        row.chains
    )
}

/// Four digits that count, also of small numbers.
fn digits(x: f64) -> String {
    if x.abs() >= 1e-3 || x == 0.0 {
        let decimals = match x.abs() {
            a if a >= 1.0 => 3,
            a if a >= 0.1 => 4,
            a if a >= 0.01 => 5,
            _ => 6,
        };
        format!("{x:.decimals$}")
    } else {
        format!("{x:.3e}")
    }
}

fn agreement(rows: &[Row]) -> String {
    let worst = rows.iter().max_by(|a, b| a.surprise().abs().total_cmp(&b.surprise().abs()));
    worst.map_or_else(String::new, |row| {
        let (t, off) = (row.distributions, row.surprise());
        let verdict =
            if off.abs() < SURPRISING { "the chains agree with the exact B" } else { "this should not happen" };
        format!("\nThe largest difference between B-hat and B is {off:+.1} standard errors, at T = {t}: {verdict}.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [12.34567, 1.0846, 0.70514, 0.0705, 0.00518, 1.2345e-5, 0.0].map(digits);
        assert_eq!(shown, ["12.346", "1.085", "0.7051", "0.07050", "0.005180", "1.234e-5", "0.000000"]);
    }
}
