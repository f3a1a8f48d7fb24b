//! The models at the sizes of BDMC, section 6.4: annealing in both directions meets, and no bound contradicts the
//! other.

use std::num::NonZero;

use crust_infer::anneal::{ChainOutcome, Direction, Launch, Schedule, anneal_system, draw_initial};
use crust_infer::drive::{Control, Parallelism};
use crust_math::random::{Purpose, StreamKey};
use crust_math::special::log_sum_exp_slice;
use crust_testbed::model::Simulate;
use crust_testbed::models::binary::{self, BinaryAttributes};
use crust_testbed::models::clustering::{self, Clustering};
use crust_testbed::models::low_rank::{self, LowRank};

/// Lower and upper bound on the log marginal likelihood: log means of forward weights, and of reverse ones.
fn sandwich<M: Simulate>(setting: &M::Setting, distributions: usize, chains: u32) -> (f64, f64) {
    let key = |purpose| StreamKey::new(1, purpose);
    let (model, truth) = M::simulate(setting, &mut key(Purpose::DATA).stream()).expect("a model");
    let schedule = Schedule::sigmoid(distributions, 4.0).expect("a schedule");
    let how = Parallelism { threads: NonZero::new(2).expect("two"), ..Parallelism::default() };
    let control = Control::default();
    let anneal = |direction, purpose, starts: &[M::State]| {
        let run = Launch { direction, first_chain: 0, key: key(purpose), how, control: &control };
        let outcomes = anneal_system(&model, &schedule, starts, &run).expect("chains");
        let logs: Vec<f64> = outcomes.iter().map(|outcome: &ChainOutcome<M::State>| outcome.log_weight).collect();
        log_sum_exp_slice(&logs) - f64::from(chains).ln()
    };
    let starts = draw_initial(&mut model.clone(), chains, 0, key(Purpose::PRIOR)).expect("starts");
    let lower = anneal(Direction::Forward, Purpose::FORWARD, &starts);
    let starts = vec![truth; usize::try_from(chains).expect("few")];
    (lower, -anneal(Direction::Reverse, Purpose::REVERSE, &starts))
}

/// By Markov's inequality each bound is on the wrong side by 10 nats with probability below e^−10. That they are as
/// near as stated is what was measured with this seed, with some room; docs/testbed.md has what longer chains give.
fn check<M: Simulate>(setting: &M::Setting, distributions: usize, chains: u32, gap: f64) {
    let (lower, upper) = sandwich::<M>(setting, distributions, chains);
    assert!(upper > lower - 10.0 && upper < lower + gap, "{lower} {upper}");
}

#[test]
fn clustering_meets() {
    check::<Clustering>(&clustering::Setting::paper(), 1000, 4, 3.0);
}

#[test]
fn low_rank_meets() {
    check::<LowRank>(&low_rank::Setting::paper(), 1000, 4, 10.0);
}

#[test]
fn binary_attributes_meet() {
    check::<BinaryAttributes>(&binary::Setting::paper(), 1000, 2, 25.0);
}
