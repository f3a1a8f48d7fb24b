//! What a Gibbs sweep costs on the three models of BDMC, section 6, and how that grows with the number of cases.
//!
//! `cargo bench -p crust-testbed --bench gibbs`. The exponent is the slope of log time against log N; it should be
//! about 1.

#![allow(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::time::Instant;

use crust_math::random::{Purpose, StreamKey};
use crust_testbed::model::Simulate;
use crust_testbed::models::binary::{self, BinaryAttributes};
use crust_testbed::models::clustering::{self, Clustering};
use crust_testbed::models::low_rank::{self, LowRank};

const SIZES: [usize; 5] = [50, 100, 200, 400, 800];
/// Of these repetitions the fastest counts: others may be using the machine.
const REPETITIONS: usize = 7;
/// Sweeps of all repetitions, times N.
const WORK: usize = 100_000;

/// Microseconds for a sweep at β, and for weighing a state between two β.
fn measure<M: Simulate>(setting: &M::Setting, beta: f64) -> (f64, f64) {
    let mut stream = StreamKey::new(1, Purpose::TEST).stream();
    let (mut model, mut state) = M::simulate(setting, &mut stream).expect("a model");
    let sweeps = (WORK / model.cases()).max(20);
    let mut best = (f64::INFINITY, f64::INFINITY);
    let each =
        |clock: Instant| 1e6 * clock.elapsed().as_secs_f64() / f64::from(u32::try_from(sweeps).unwrap_or(u32::MAX));
    for _ in 0..REPETITIONS {
        let clock = Instant::now();
        for _ in 0..sweeps {
            model.step(&mut state, beta, &mut stream).expect("a sweep");
        }
        best.0 = best.0.min(each(clock));
        let clock = Instant::now();
        let mut sum = 0.0;
        for _ in 0..sweeps {
            sum += model.log_ratio(&state, beta, beta + 1e-4).expect("a weight");
        }
        assert!(sum.is_finite());
        best.1 = best.1.min(each(clock));
    }
    best
}

/// The slope of log time against log N, by least squares.
fn exponent(points: &[(usize, f64)]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let logs: Vec<(f64, f64)> = points.iter().map(|&(n, t)| ((n as f64).ln(), t.ln())).collect();
    let n = f64::from(u32::try_from(logs.len()).unwrap_or(u32::MAX));
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let cross: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    cross / logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>()
}

fn report<M: Simulate>(name: &str, setting: impl Fn(usize) -> M::Setting) {
    for beta in [0.0, 0.2, 1.0] {
        let mut points = vec![];
        print!("{name:<12} β = {beta:<4}");
        for cases in SIZES {
            let (sweep, weight) = measure::<M>(&setting(cases), beta);
            print!("  N = {cases}: {sweep:.1} + {weight:.2} µs");
            points.push((cases, sweep));
        }
        println!("  exponent {:.2}", exponent(&points));
    }
}

fn main() {
    println!("microseconds for a sweep + for a weight, one thread, D = 25");
    report::<Clustering>("clustering", |cases| clustering::Setting { cases, ..clustering::Setting::paper() });
    report::<LowRank>("low rank", |cases| low_rank::Setting { cases, ..low_rank::Setting::paper() });
    report::<BinaryAttributes>("binary", |cases| binary::Setting { cases, ..binary::Setting::paper() });
}
