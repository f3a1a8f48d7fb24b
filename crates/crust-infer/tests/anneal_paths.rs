//! Annealing over a small discrete space, path by path: what theory says of expectations holds as an identity of sums.
//!
//! The system follows a script in place of random numbers and multiplies up the probability of what it does. Run over
//! all scripts, the very code that anneals enumerates all paths.

mod common;

use std::collections::BTreeMap;

use common::key;
use crust_infer::anneal::{ChainOutcome, Direction, Launch, Moved, Schedule, Subset, System, anneal_system};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::target::Fatal;
use crust_math::random::Stream;

/// Two bits.
const STATES: usize = 4;
/// log f at β = 0 and at β = 1; `f_β` is their geometric average. Neither is normalised.
const LOG_F: [[f64; STATES]; 2] = [[0.3, -0.2, 1.1, 0.0], [2.0, -1.5, 0.4, 1.2]];

fn log_f(x: usize, beta: f64) -> f64 {
    (1.0 - beta) * LOG_F[0][x] + beta * LOG_F[1][x]
}

fn normaliser(beta: f64) -> f64 {
    (0..STATES).map(|x| log_f(x, beta).exp()).sum()
}

/// Gibbs sampling of one bit.
fn gibbs(x: usize, next: usize, bit: usize, beta: f64) -> f64 {
    if (x ^ next) & !(1 << bit) != 0 {
        return 0.0;
    }
    let other = x ^ (1 << bit);
    log_f(next, beta).exp() / (log_f(x, beta).exp() + log_f(other, beta).exp())
}

/// Both bits, in an order: not reversible, and the opposite order is its reversal.
fn scan(x: usize, next: usize, order: [usize; 2], beta: f64) -> f64 {
    (0..STATES).map(|between| gibbs(x, between, order[0], beta) * gibbs(between, next, order[1], beta)).sum()
}

/// Which mistake the reversal makes.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// The reverse chain uses the kernel itself.
    NotReversed,
}

#[derive(Clone)]
struct Scripted(Mistake);

#[derive(Clone)]
struct Path {
    visited: Vec<usize>,
    script: Vec<usize>,
    probability: f64,
}

impl Path {
    fn follow(&mut self, p: impl Fn(usize, usize) -> f64) -> Moved {
        let (x, next) = (self.visited[self.visited.len() - 1], self.script[self.visited.len() - 1]);
        self.probability *= p(x, next);
        self.visited.push(next);
        Moved { accept: 1.0, evaluations: 1 }
    }
}

impl System for Scripted {
    type State = Path;

    fn draw_initial(&mut self, _stream: &mut Stream) -> Result<Path, Fatal> {
        Err(Fatal::new("paths are given"))
    }

    fn log_ratio(&mut self, path: &Path, from: f64, to: f64) -> Result<f64, Fatal> {
        let x = path.visited[path.visited.len() - 1];
        Ok(log_f(x, to) - log_f(x, from))
    }

    fn step(&mut self, path: &mut Path, beta: f64, _stream: &mut Stream) -> Result<Moved, Fatal> {
        Ok(path.follow(|x, next| scan(x, next, [0, 1], beta)))
    }

    fn step_reversed(&mut self, path: &mut Path, beta: f64, _stream: &mut Stream) -> Result<Moved, Fatal> {
        let order = if self.0 == Mistake::NotReversed { [0, 1] } else { [1, 0] };
        Ok(path.follow(|x, next| scan(x, next, order, beta)))
    }
}

/// All paths of a direction, each with the probability of its start.
fn all_paths(mistake: Mistake, direction: Direction, schedule: &Schedule) -> Vec<ChainOutcome<Path>> {
    let moves = u32::try_from(schedule.len() - 1).expect("few");
    let beta = if direction == Direction::Forward { 0.0 } else { 1.0 };
    let starts: Vec<Path> = (0..STATES.pow(moves + 1))
        .map(|number| {
            let digits: Vec<usize> = (0..=moves).map(|i| number / STATES.pow(i) % STATES).collect();
            let probability = log_f(digits[0], beta).exp() / normaliser(beta);
            Path { visited: vec![digits[0]], script: digits[1..].to_vec(), probability }
        })
        .collect();
    let control = Control::default();
    let run = Launch { direction, first_chain: 0, key: key(1), how: Parallelism::default(), control: &control };
    anneal_system(&Scripted(mistake), schedule, &starts, &run).expect("paths")
}

fn schedules() -> Vec<Schedule> {
    let uneven = Schedule::try_from(vec![0.0, 0.1, 0.35, 1.0]).expect("rising");
    vec![Schedule::linear(2).expect("two"), Schedule::linear(3).expect("three"), uneven]
}

fn expectation(outcomes: &[ChainOutcome<Path>], f: impl Fn(f64) -> f64) -> f64 {
    outcomes.iter().map(|outcome| outcome.last.probability * f(outcome.log_weight)).sum()
}

/// BREAD, eqs. (19) to (23), and the same for reverse chains.
#[test]
fn weights_are_unbiased_in_both_directions() {
    for schedule in schedules() {
        let ratio = normaliser(1.0) / normaliser(0.0);
        for (direction, truth) in [(Direction::Forward, ratio), (Direction::Reverse, 1.0 / ratio)] {
            let outcomes = all_paths(Mistake::None, direction, &schedule);
            assert!((expectation(&outcomes, |_| 1.0) - 1.0).abs() < 1e-12, "probabilities sum to one");
            let mean = expectation(&outcomes, f64::exp);
            assert!((mean / truth - 1.0).abs() < 1e-12, "{direction:?}: {mean} for {truth}");
        }
    }
}

/// The largest |log (`q_fwd` w Z₁ / (`q_rev` `Z_T`))| over all paths: BREAD, eq. (22) before the expectation is taken.
fn worst_ratio(mistake: Mistake, schedule: &Schedule) -> f64 {
    let forward = all_paths(mistake, Direction::Forward, schedule);
    let reverse: BTreeMap<Vec<usize>, ChainOutcome<Path>> = all_paths(mistake, Direction::Reverse, schedule)
        .into_iter()
        .map(|outcome| (outcome.last.visited.iter().rev().copied().collect(), outcome))
        .collect();
    let log_ratio = (normaliser(1.0) / normaliser(0.0)).ln();
    let error = |outcome: &ChainOutcome<Path>| {
        let back = &reverse[&outcome.last.visited];
        let by_weight = outcome.log_weight - log_ratio;
        let by_paths = back.last.probability.ln() - outcome.last.probability.ln();
        (by_weight - by_paths).abs().max((outcome.log_weight + back.log_weight).abs())
    };
    forward.iter().map(error).fold(0.0, f64::max)
}

#[test]
fn the_weight_is_the_ratio_of_path_probabilities() {
    for schedule in schedules() {
        assert!(worst_ratio(Mistake::None, &schedule) < 1e-12);
    }
}

/// With the kernel in place of its reversal both directions are still unbiased one by one, but paths no longer match:
/// what the test above is there to see.
#[test]
fn a_kernel_that_is_not_reversed_is_found() {
    for schedule in schedules() {
        assert!(worst_ratio(Mistake::NotReversed, &schedule) > 0.1);
    }
}

/// BREAD, eqs. (8), (11) and (12): the gap between the expectations bounds the Jeffreys divergence of the last state.
#[test]
fn the_gap_bounds_the_divergence() {
    for schedule in schedules() {
        let forward = all_paths(Mistake::None, Direction::Forward, &schedule);
        let reverse = all_paths(Mistake::None, Direction::Reverse, &schedule);
        let mut last = [0.0; STATES];
        forward.iter().for_each(|o| last[o.last.visited[o.last.visited.len() - 1]] += o.last.probability);
        let target: Vec<f64> = (0..STATES).map(|x| log_f(x, 1.0).exp() / normaliser(1.0)).collect();
        let divergence = |p: &[f64], q: &[f64]| -> f64 { p.iter().zip(q).map(|(p, q)| p * (p / q).ln()).sum() };
        let log_ratio = (normaliser(1.0) / normaliser(0.0)).ln();
        let (lower, upper) = (expectation(&forward, |w| w), -expectation(&reverse, |w| w));
        assert!(log_ratio - lower >= divergence(&last, &target) - 1e-12);
        assert!(upper - log_ratio >= divergence(&target, &last) - 1e-12);
        assert!(upper > log_ratio && log_ratio > lower);
    }
}

/// A coin with one of three biases, and its tosses: a system on the data-subset path, whose kernel draws anew given
/// what counts.
#[derive(Clone)]
struct Coin;

const BIASES: [f64; 3] = [0.2, 0.5, 0.9];
const TOSSES: [bool; 4] = [true, true, false, true];

impl Coin {
    /// log prior + log likelihood of the first tosses, the next one in part.
    fn log_f(x: usize, beta: f64) -> f64 {
        let log = |toss: bool| if toss { BIASES[x] } else { 1.0 - BIASES[x] }.ln();
        let Subset { whole, part } = Subset::at(beta, TOSSES.len());
        let next = TOSSES.get(whole).map_or(0.0, |&toss| part * log(toss));
        (1.0_f64 / 3.0).ln() + TOSSES[..whole].iter().map(|&toss| log(toss)).sum::<f64>() + next
    }

    fn p(x: usize, beta: f64) -> f64 {
        let total: f64 = (0..3).map(|x| Self::log_f(x, beta).exp()).sum();
        Self::log_f(x, beta).exp() / total
    }
}

impl System for Coin {
    type State = Path;

    fn draw_initial(&mut self, _stream: &mut Stream) -> Result<Path, Fatal> {
        Err(Fatal::new("paths are given"))
    }

    fn log_ratio(&mut self, path: &Path, from: f64, to: f64) -> Result<f64, Fatal> {
        let x = path.visited[path.visited.len() - 1];
        Ok(Self::log_f(x, to) - Self::log_f(x, from))
    }

    fn step(&mut self, path: &mut Path, beta: f64, _stream: &mut Stream) -> Result<Moved, Fatal> {
        Ok(path.follow(|_, next| Self::p(next, beta)))
    }

    fn step_reversed(&mut self, path: &mut Path, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(path, beta, stream)
    }
}

#[test]
fn observations_one_at_a_time_are_a_path_too() {
    let likelihood = |bias: &f64| TOSSES.iter().map(|&toss| if toss { *bias } else { 1.0 - bias }).product::<f64>();
    let truth = BIASES.iter().map(likelihood).sum::<f64>() / 3.0;
    for steps_each in [1, 2] {
        let schedule = Schedule::data_subset(TOSSES.len(), steps_each).expect("a schedule");
        let moves = u32::try_from(schedule.len() - 1).expect("few");
        assert_eq!(moves as usize, TOSSES.len() * steps_each);
        let start = |number: usize| {
            let digits: Vec<usize> = (0..=moves).map(|i| number / 3_usize.pow(i) % 3).collect();
            Path { visited: vec![digits[0]], script: digits[1..].to_vec(), probability: Coin::p(digits[0], 0.0) }
        };
        let starts: Vec<Path> = (0..3_usize.pow(moves + 1)).map(start).collect();
        let control = Control::default();
        let how = Parallelism::default();
        let run = Launch { direction: Direction::Forward, first_chain: 0, key: key(1), how, control: &control };
        let outcomes = anneal_system(&Coin, &schedule, &starts, &run).expect("paths");
        assert!((expectation(&outcomes, f64::exp) / truth - 1.0).abs() < 1e-12);
    }
}
