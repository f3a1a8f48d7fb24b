//! Runs do not depend on how they are run, can be interrupted, and fail with words.

mod common;

use std::ops::ControlFlow;
use std::sync::Mutex;

use common::{Keep, Kept, Lanes, Normal, NormalGamma, Pointwise, key, parallelism, run};
use crust_infer::drive::{Control, Driver};
use crust_infer::error::Error;
use crust_infer::kernel::{Kernel, Method};
use crust_infer::metric::{Metric, MetricKind};
use crust_infer::sample::{Draw, KernelSource, Observer, Sampled, Settings, Start, sample};
use crust_infer::step_size::Averaging;
use crust_infer::target::{Batch, Fatal, Target};
use crust_infer::warmup::Warmup;

/// What must be the same: all numbers, to the last bit.
fn bits(draws: &[Kept]) -> Vec<u64> {
    let numbers = |k: &Kept| {
        let s = k.statistics;
        let counts = [u64::from(s.tree_depth), u64::from(s.leapfrog_steps), u64::from(s.divergent)];
        let floats = [k.log_density, s.accept_stat, s.step_size, s.energy];
        let floats = k.q.iter().copied().chain(floats).map(f64::to_bits).collect::<Vec<u64>>();
        [counts.to_vec(), floats].concat()
    };
    draws.iter().flat_map(numbers).collect()
}

fn seven() -> Vec<Start> {
    (0..7).map(|chain| Start::random(chain).beta(1.0 / f64::from(1 + chain % 3))).collect()
}

#[test]
fn draws_do_not_depend_on_the_batch() {
    let target = Lanes(NormalGamma { y: vec![1.3, 0.4, 2.2] });
    let dense = Warmup { metric: MetricKind::Dense, jitter: 0.1, ..Warmup::default() };
    for warmup in [Warmup::default(), dense, Warmup::new(Method::hmc()), Warmup::new(Method::Metropolis)] {
        let settings =
            Settings { warmup: 160, draws: 40, kernel: KernelSource::Warmup(warmup), ..Settings::new(key(1)) };
        let (together, outcomes) = run(&target, &settings, &seven()).expect("a run");
        let together = together.draws.into_inner().expect("no panic");
        assert_eq!(outcomes.len(), 7);
        for (chain, draws) in &together {
            assert_eq!(draws.len(), 200);
            let (alone, outcome) = run(&target, &settings, &seven()[*chain as usize..=*chain as usize]).expect("a run");
            assert_eq!(bits(&alone.draws.into_inner().expect("no panic")[chain]), bits(draws));
            assert_eq!(outcome[0].kernel, outcomes[*chain as usize].kernel);
        }
        for (threads, width) in [(1, 1), (2, 2), (3, 64), (16, 1)] {
            let keep = Keep::default();
            let how = parallelism(threads, width);
            let again = sample(&mut Driver::new(target.clone(), how), &settings, &seven(), &keep, &Control::default())
                .expect("a run");
            assert_eq!(again.iter().map(|o| o.chain).collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
            let again = keep.draws.into_inner().expect("no panic");
            assert!(together.iter().all(|(chain, draws)| bits(draws) == bits(&again[chain])), "{threads} {width}");
        }
        let other = Settings { key: key(2), ..settings };
        let (other, _) = run(&target, &other, &seven()).expect("a run");
        assert_ne!(bits(&other.draws.into_inner().expect("no panic")[&0]), bits(&together[&0]));
        assert_ne!(bits(&together[&0])[..40], bits(&together[&3])[..40], "chains with the same beta differ");
    }
}

#[test]
fn what_is_reported_is_consistent() {
    let target = Lanes(NormalGamma { y: vec![1.3, 0.4, 2.2] });
    let settings = Settings { warmup: 100, draws: 50, ..Settings::new(key(3)) };
    let (keep, control) = (Keep::default(), Control::default());
    let outcomes = sample(&mut Driver::new(target.clone(), parallelism(2, 3)), &settings, &seven(), &keep, &control)
        .expect("a run");
    assert_eq!(control.iterations(), 7 * 150);
    assert_eq!(control.evaluations(), outcomes.iter().map(|o| o.evaluations).sum::<u64>());
    let kernels = keep.kernels.into_inner().expect("no panic");
    let draws = keep.draws.into_inner().expect("no panic");
    for (outcome, start) in outcomes.iter().zip(seven()) {
        let draws = &draws[&outcome.chain];
        assert_eq!((outcome.warmup, outcome.draws), (100, 50));
        assert_eq!(outcome.kernel, kernels[&outcome.chain]);
        assert!(draws.iter().enumerate().all(|(i, kept)| kept.iteration == i && kept.warmup == (i < 100)));
        for kept in draws {
            let (log_prior, log_likelihood) = target.0.at(&kept.q, start.beta, &mut [0.0; 2]);
            assert!((kept.log_density - (log_prior + start.beta * log_likelihood)).abs() < 1e-12);
            let s = kept.statistics;
            assert!(s.energy >= -kept.log_density && (0.0..=1.0).contains(&s.accept_stat));
            assert!(s.leapfrog_steps >= 1 && s.leapfrog_steps < 1 << (s.tree_depth + 1));
        }
        let fixed = outcome.kernel.step_size.to_bits();
        assert!(draws[100..].iter().all(|kept| kept.statistics.step_size.to_bits() == fixed), "frozen");
        assert!(draws[99].statistics.step_size.to_bits() != fixed);
        assert_eq!(outcome.state.q, draws[149].q);
    }
}

/// Stops at a number of draws.
struct StopAfter {
    left: Mutex<usize>,
    keep: Keep,
}

impl Observer for StopAfter {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        let _ = self.keep.draw(draw);
        let mut left = self.left.lock().expect("no panic");
        // The chains of the same tick still come after the last one that is wanted.
        *left = left.saturating_sub(1);
        if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_interruption_keeps_what_was_drawn() {
    let target = Lanes(Normal::awkward(4, 1));
    let settings = Settings { warmup: 60, draws: 60, ..Settings::new(key(4)) };
    let (all, _) = run(&target, &settings, &seven()).expect("a run");
    let all = all.draws.into_inner().expect("no panic");
    for after in [1, 100, 600] {
        let stop = StopAfter { left: Mutex::new(after), keep: Keep::default() };
        let control = Control::default();
        let outcomes =
            sample(&mut Driver::new(target.clone(), parallelism(1, 64)), &settings, &seven(), &stop, &control)
                .expect("a part");
        assert!(control.is_interrupted());
        let draws = stop.keep.draws.into_inner().expect("no panic");
        let total: usize = draws.values().map(Vec::len).sum();
        assert!(total >= after && total < after + 7, "{total}");
        assert_eq!(outcomes.iter().map(|o| o.warmup + o.draws).sum::<usize>(), total);
        assert!(draws.iter().all(|(chain, part)| bits(part) == bits(&all[chain][..part.len()])), "a beginning");
    }
    let control = Control::default();
    control.interrupt();
    let outcomes =
        sample(&mut Driver::new(target.clone(), parallelism(2, 64)), &settings, &seven(), &Keep::default(), &control)
            .expect("nothing");
    assert!(outcomes.iter().all(|o| o.warmup == 0 && o.draws == 0));
}

/// Normal where the first coordinate is in an interval; the gradient is NaN where the second is negative.
#[derive(Clone)]
struct Corner {
    low: f64,
    bad_gradient: bool,
}

impl Pointwise for Corner {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        gradient[0] = -beta * x[0];
        gradient[1] = if self.bad_gradient { f64::NAN } else { -beta * x[1] };
        (0.0, if x[0] > self.low { -0.5 * (x[0] * x[0] + x[1] * x[1]) } else { f64::NEG_INFINITY })
    }
}

fn failure<T: Target + Clone + Send>(target: &T, start: Start) -> String {
    let settings = Settings { warmup: 10, draws: 10, ..Settings::new(key(5)) };
    let result: Result<(Keep, Vec<Sampled>), Error> = run(target, &settings, &[start]);
    result.err().expect("an error").to_string()
}

#[test]
fn starting_points_are_tried_a_hundred_times() {
    // 1 of 10 points is inside.
    let target = Lanes(Corner { low: 1.6, bad_gradient: false });
    let settings = Settings { warmup: 0, draws: 5, ..Settings::new(key(6)) };
    let starts: Vec<Start> = (0..50).map(Start::random).collect();
    let (keep, outcomes) = run(&target, &settings, &starts).expect("a run");
    assert!(outcomes.iter().all(|o| o.evaluations > 5));
    assert!(keep.chains().iter().flatten().all(|kept| kept.q[0] > 1.6));
    assert_eq!(
        failure(&Lanes(Corner { low: 2.0, bad_gradient: false }), Start::random(3)),
        "chain 3: no point to start from: the density was zero or not a number in all of 100 random points \
         (lane 0 is outside); give initial values, or narrow the range of random ones"
    );
    let words = failure(&Lanes(Corner { low: 0.0, bad_gradient: true }), Start::random(3));
    assert!(words.contains("a gradient that is not finite"), "{words}");
    let words = failure(&target, Start::at(1, &[0.0, 0.0]));
    assert!(words.contains("the density at the given point is zero"), "{words}");
    let words = failure(&Lanes(Corner { low: 0.0, bad_gradient: true }), Start::at(1, &[1.0, 0.0]));
    assert!(words.contains("the gradient at the given point"), "{words}");
}

#[test]
fn starting_points_are_uniform_or_given() {
    let frozen =
        Kernel { method: Method::Metropolis, step_size: 1e-300, jitter: 0.0, short: 0.0, metric: Metric::Unit };
    let kernel = KernelSource::Frozen(frozen);
    let settings = Settings { warmup: 0, draws: 1, kernel, radius: 2.0, ..Settings::new(key(7)) };
    let starts: Vec<Start> = (0..2000).map(Start::random).collect();
    let target = Lanes(Normal::awkward(2, 1));
    let (keep, _) = run(&target, &settings, &starts).expect("a run");
    let chains = keep.chains();
    for i in 0..2 {
        common::assert_uniform("start", chains.iter().map(|draws| (draws[0].q[i] + 2.0) / 4.0).collect());
    }
    let partly = Start { given: vec![None, Some(7.5)], ..Start::random(0) };
    let (keep, _) = run(&target, &settings, &[partly]).expect("a run");
    assert_eq!(keep.chains()[0][0].q, [chains[0][0].q[0], 7.5]);
}

/// The largest density of so many starting points, of which the first one is where a chain would have begun otherwise.
#[test]
fn the_best_of_several_starting_points_is_taken() {
    let frozen =
        Kernel { method: Method::Metropolis, step_size: 1e-300, jitter: 0.0, short: 0.0, metric: Metric::Unit };
    let kernel = KernelSource::Frozen(frozen);
    let target = Lanes(Normal::awkward(2, 1));
    let starts: Vec<Start> = (0..500).map(Start::random).collect();
    let densities = |candidates: u32, starts: &[Start]| -> Vec<f64> {
        let settings = Settings { warmup: 0, draws: 1, kernel: kernel.clone(), candidates, ..Settings::new(key(7)) };
        let (keep, _) = run(&target, &settings, starts).expect("a run");
        keep.chains().iter().map(|draws| draws[0].log_density).collect()
    };
    let (one, eight) = (densities(1, &starts), densities(8, &starts));
    let better = one.iter().zip(&eight).filter(|(one, eight)| eight > one).count();
    assert!(one.iter().zip(&eight).all(|(one, eight)| eight >= one));
    // The first of eight is the best one with probability 1/8: 437.5 ± 7.4 of 500 are another one.
    assert!((408..=467).contains(&better), "{better}");
    let given = [Start::at(0, &[0.3, -0.4])];
    assert_eq!(densities(1, &given), densities(8, &given));
}

/// A program with a bug.
#[derive(Clone)]
struct Broken;

impl Target for Broken {
    fn dimension(&self) -> usize {
        1
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        if batch.point(0).any(|x| x > 0.0) {
            return Err(Fatal::new("index 4 is out of range"));
        }
        batch.log_likelihood.fill(0.0);
        batch.log_prior.fill(f64::NAN);
        Ok(())
    }
}

/// Improper: flat.
#[derive(Clone)]
struct Flat(usize);

impl Pointwise for Flat {
    fn dimension(&self) -> usize {
        self.0
    }

    fn at(&self, _x: &[f64], _beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        gradient.fill(0.0);
        (0.0, 0.0)
    }
}

#[test]
fn errors_say_what_is_wrong() {
    assert_eq!(failure(&Broken, Start::random(0)), "index 4 is out of range");
    assert!(failure(&Lanes(Flat(2)), Start::random(2)).starts_with("chain 2: steps of any length are accepted"));
    let none = "the number of parameters is 0, but must be at least 1 to sample";
    assert_eq!(failure(&Lanes(Flat(0)), Start::random(0)), none);
    assert!(failure(&Lanes(Flat(2)), Start::at(0, &[1.0])).starts_with("the number of initial values is 1"));
    assert!(failure(&Lanes(Flat(2)), Start::random(0).beta(f64::NAN)).starts_with("beta is NaN"));

    let kernel_fails = |kernel| {
        let settings = Settings { kernel, ..Settings::new(key(1)) };
        run(&Lanes(Flat(2)), &settings, &seven()).err().expect("an error").to_string()
    };
    let averaging = Averaging { delta: 1.0, ..Averaging::default() };
    let warmup = KernelSource::Warmup(Warmup { averaging, ..Warmup::default() });
    assert_eq!(kernel_fails(warmup), "delta is 1, but must be between 0 and 1");
    let metric = Metric::diagonal(vec![1.0; 3]).expect("positive");
    let kernel = |step_size, metric| {
        KernelSource::Frozen(Kernel { method: Method::hmc(), step_size, jitter: 0.0, short: 0.0, metric })
    };
    assert!(kernel_fails(kernel(1.0, metric)).starts_with("the dimension of the metric is 3"));
    assert!(kernel_fails(kernel(0.0, Metric::Unit)).starts_with("step size is 0"));
}

#[test]
fn an_error_in_one_thread_ends_the_others() {
    let settings = Settings { warmup: 1_000_000, draws: 1_000_000, ..Settings::new(key(8)) };
    let starts = [Start::at(0, &[1.0, 1.0]), Start::at(1, &[-1.0, 1.0])];
    let target = Lanes(Corner { low: 0.0, bad_gradient: false });
    let result = sample(
        &mut Driver::new(target.clone(), parallelism(2, 64)),
        &settings,
        &starts,
        &Keep::default(),
        &Control::default(),
    );
    assert!(matches!(result, Err(Error::Initial { chain: 1, .. })));
}

#[test]
fn nothing_to_do_is_done() {
    let target = Lanes(Normal::awkward(2, 1));
    let settings = Settings { warmup: 0, draws: 0, ..Settings::new(key(9)) };
    let (keep, outcomes) = run(&target, &settings, &seven()).expect("a run");
    assert!(keep.chains().is_empty() && outcomes.len() == 7);
    let (_, outcomes) = run(&target, &Settings::new(key(9)), &[]).expect("a run");
    assert!(outcomes.is_empty());
}
