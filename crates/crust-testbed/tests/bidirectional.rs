//! The protocol of bidirectional Monte Carlo on states that are no points of ℝᵈ, against sums over all states.

use crust_diagnose::bdmc::{Findings, Plan, bdmc};
use crust_diagnose::checkpoint::{Identity, Journal};
use crust_diagnose::experiment::Experiment;
use crust_diagnose::ladder::Ladder;
use crust_infer::anneal::{Moved, System};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_testbed::bidirectional::Bidirectional;
use crust_testbed::check::enumerate::{Enumerable, log_normaliser};
use crust_testbed::grid::{Grid, Setting as GridSetting};
use crust_testbed::model::{Model, Simulate};
use crust_testbed::models::hyper::{Probabilities, Variance, Weights};
use crust_testbed::models::{binary, clustering, low_rank};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn plan() -> Plan {
    Plan {
        chains: 40,
        ladder: Ladder::exactly(vec![5, 40]),
        tolerance: 0.0,
        bennett_error: None,
        datasets: 3,
        start_steps: 3,
        rank_checks: 20,
        acceptable: 1.0,
    }
}

fn run<M>(experiment: &mut Bidirectional<'_, M>, plan: &Plan) -> Findings
where
    M: Simulate,
    M::State: Serialize + DeserializeOwned,
{
    bdmc(experiment, plan, &mut Journal::in_memory()).expect("findings")
}

/// Bounds contain the exact answer, up to what Markov's inequality allows with probability e^−5 = 0.007 for each of the
/// 6 rungs' two bounds, and Bennett's estimate is within 5 of its standard errors; the seed is fixed. No check fails.
fn is_sandwiched<M>(setting: M::Setting, exact: impl Fn(&mut M) -> f64)
where
    M: Simulate,
    M::State: Serialize + DeserializeOwned,
{
    let control = Control::default();
    let mut experiment = Bidirectional::<M>::new(setting, 4, Parallelism::default(), &control);
    let findings = run(&mut experiment, &plan());
    assert!(!findings.violation && !findings.partial, "{:?}", findings.checks);
    assert_eq!(findings.checks.iter().filter(|check| check.rigorous).count(), 2, "ranks and bounds");
    for dataset in &findings.datasets {
        let truth = exact(&mut experiment.model(dataset.number).expect("a model").clone());
        for rung in &dataset.rungs {
            let (lower, upper) = (rung.log_ml_lower, rung.log_ml_upper);
            assert!(lower < truth + 5.0 && truth - 5.0 < upper, "T = {}: {lower} {truth} {upper}", rung.t);
        }
        let last = &dataset.rungs[1];
        let (bar, se) = (last.log_ml_bar, last.log_ml_bar_se);
        assert!((bar - truth).abs() < 5.0 * se.max(0.01) && se < 0.3, "{bar} ± {se}, exact {truth}");
    }
}

fn enumerated<M: Enumerable>(model: &mut M) -> f64 {
    let states = model.all_states(256).expect("few states");
    log_normaliser(model, &states, 1.0).expect("a number")
}

fn clusters() -> clustering::Setting {
    let weights = Weights::Fixed(vec![0.4, 0.6]);
    let prior =
        clustering::Prior { components: 2, weights, between: Variance::Fixed(1.0), within: Variance::Fixed(1.5) };
    clustering::Setting { cases: 5, dimensions: 2, prior }
}

#[test]
fn clusters_are_sandwiched() {
    is_sandwiched::<clustering::Clustering>(clusters(), enumerated);
}

#[test]
fn binary_attributes_are_sandwiched() {
    let probabilities = Probabilities::Fixed(vec![0.3, 0.6]);
    let prior =
        binary::Prior { components: 2, probabilities, features: Variance::Fixed(1.0), noise: Variance::Fixed(1.0) };
    let setting = binary::Setting { cases: 4, dimensions: 2, prior };
    is_sandwiched::<binary::BinaryAttributes>(setting, enumerated);
}

#[test]
fn grids_are_sandwiched() {
    is_sandwiched::<Grid>(GridSetting::Random(1.0), |grid| grid.log_ratio_of_normalisers());
}

/// One component and one column: given v, the cases are independent and normal with variance `σ_u²` v² + `σ_n²`.
#[test]
fn low_rank_is_sandwiched() {
    const STEP: f64 = 0.01;
    let prior = low_rank::Prior {
        components: 1,
        rows: Variance::Fixed(0.5),
        columns: Variance::Fixed(0.5),
        noise: Variance::Fixed(2.0),
    };
    let setting = low_rank::Setting { cases: 4, dimensions: 1, prior };
    is_sandwiched::<low_rank::LowRank>(setting, |model| {
        let log_normal = |x: f64, variance: f64| -0.5 * (x * x / variance + (std::f64::consts::TAU * variance).ln());
        let density = |i: i32| {
            let v = STEP * f64::from(i);
            let data: f64 = model.data().iter().map(|row| log_normal(row[0], 0.5 * v * v + 2.0)).sum();
            (log_normal(v, 0.5) + data).exp() * STEP
        };
        (-1200..=1200).map(density).sum::<f64>().ln()
    });
}

/// A state that was sent to the journal and back is the same, and so is all that follows.
#[test]
fn a_run_that_is_resumed_ends_with_the_same_numbers() {
    let folder = std::env::temp_dir().join(format!("crust-bidirectional-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let control = Control::default();
    let new = || Bidirectional::<clustering::Clustering>::new(clusters(), 9, Parallelism::default(), &control);
    let whole = run(&mut new(), &plan());
    let open = || Journal::open(&folder, &Identity::of(&["clusters"])).expect("a journal");
    // The first part of the ladder, and then all of it.
    let short = Plan { ladder: Ladder::exactly(vec![5]), ..plan() };
    bdmc(&mut new(), &short, &mut open()).expect("findings");
    let resumed = bdmc(&mut new(), &plan(), &mut open()).expect("findings");
    assert_eq!((resumed.datasets, resumed.checks), (whole.datasets, whole.checks));
    let _ = std::fs::remove_dir_all(&folder);
}

/// Tosses of a coin whose probability of heads is one of 9; with a simulator that has another probability in mind.
#[derive(Clone, Debug)]
struct Coin<const WRONG: bool> {
    heads: u32,
    tosses: u32,
}

fn probability(state: usize) -> f64 {
    (f64::from(u32::try_from(state).expect("small")) + 1.0) / 10.0
}

impl<const WRONG: bool> System for Coin<WRONG> {
    type State = usize;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<usize, Fatal> {
        Ok(stream.index_below(9))
    }

    fn log_ratio(&mut self, &state: &usize, from: f64, to: f64) -> Result<f64, Fatal> {
        let (heads, tails) = (f64::from(self.heads), f64::from(self.tosses - self.heads));
        Ok((to - from) * (heads * probability(state).ln() + tails * (-probability(state)).ln_1p()))
    }

    fn step(&mut self, state: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        let up = stream.uniform() < 0.5;
        let to = if up { *state + 1 } else { state.wrapping_sub(1) };
        if to < 9 && stream.uniform().ln() < self.log_ratio(&to, 0.0, beta)? - self.log_ratio(state, 0.0, beta)? {
            *state = to;
        }
        Ok(Moved { accept: 0.5, evaluations: 2 })
    }

    fn step_reversed(&mut self, state: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(state, beta, stream)
    }
}

impl<const WRONG: bool> Model for Coin<WRONG> {
    fn log_joint(&mut self, state: &usize, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_ratio(state, 0.0, beta)? - 9.0_f64.ln())
    }

    fn cases(&self) -> usize {
        self.tosses as usize
    }
}

impl<const WRONG: bool> Simulate for Coin<WRONG> {
    type Setting = u32;

    fn simulate(&tosses: &u32, stream: &mut Stream) -> Result<(Self, usize), Fatal> {
        let state = stream.index_below(9);
        let heads = probability(state);
        let heads = if WRONG { 1.0 - heads } else { heads };
        let heads = (0..tosses).map(|_| u32::from(stream.uniform() < heads)).sum();
        Ok((Self { heads, tosses }, state))
    }
}

/// A simulator that draws tails for heads is found, by ranks (each dataset) and by bounds that contradict each other.
#[test]
fn a_wrong_simulator_is_a_violation() {
    is_sandwiched::<Coin<false>>(20, |coin| {
        let joints: Vec<f64> = (0..9).map(|state| coin.log_joint(&state, 1.0).expect("a number").exp()).collect();
        joints.iter().sum::<f64>().ln()
    });
    let control = Control::default();
    let mut wrong = Bidirectional::<Coin<true>>::new(20, 4, Parallelism::default(), &control);
    let findings = run(&mut wrong, &Plan { start_steps: 0, ..plan() });
    let failed: Vec<&str> =
        findings.checks.iter().filter(|c| c.failed && c.rigorous).map(|c| c.name.as_str()).collect();
    assert!(findings.violation && failed.len() == 2, "{:?}", findings.checks);
    assert!(wrong.simulate(0).is_err(), "there are no real data");
}
