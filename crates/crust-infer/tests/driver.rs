//! A driver keeps what it has, passes on what goes wrong, and gives the same numbers however it is run.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Lanes, NormalGamma, Pointwise, parallelism};
use crust_infer::drive::{Answer, Control, Driver, Walker};
use crust_infer::error::Error;
use crust_infer::target::{Batch, Fatal, Target};

/// Counts its copies, and goes wrong where it is told to.
struct Brittle {
    inner: Lanes<NormalGamma>,
    copies: Arc<AtomicUsize>,
}

/// First coordinates that make it panic, or fail.
const PANIC: f64 = 1e6;
const FAIL: f64 = 2e6;

impl Brittle {
    fn new() -> Self {
        Self { inner: Lanes(NormalGamma { y: vec![1.0, 0.3] }), copies: Arc::default() }
    }
}

impl Clone for Brittle {
    fn clone(&self) -> Self {
        self.copies.fetch_add(1, Ordering::Relaxed);
        Self { inner: self.inner.clone(), copies: Arc::clone(&self.copies) }
    }
}

impl Target for Brittle {
    fn dimension(&self) -> usize {
        2
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        assert!(!batch.x.contains(&PANIC), "a bug");
        if batch.x.contains(&FAIL) {
            return Err(Fatal::new("a wrong program"));
        }
        self.inner.evaluate(batch)
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        self.inner.rejection(lane)
    }
}

fn points(n: u32) -> Vec<Vec<f64>> {
    (0..n).map(|i| vec![f64::from(i) / 10.0, -f64::from(i) / 30.0]).collect()
}

#[test]
fn each_thread_has_one_evaluator_for_as_long_as_the_driver_lives() {
    let target = Brittle::new();
    let copies = Arc::clone(&target.copies);
    let mut driver = Driver::new(target, parallelism(3, 4));
    for _ in 0..50 {
        driver.evaluate_points(&points(30), 0.5, true, &Control::default()).expect("densities");
    }
    assert_eq!(copies.load(Ordering::Relaxed), 2, "the first thread has the original");
    // Less work than threads: the same evaluators do it.
    driver.evaluate_points(&points(2), 0.5, true, &Control::default()).expect("densities");
    assert_eq!(copies.load(Ordering::Relaxed), 2);
}

#[test]
fn points_are_those_of_the_target_for_any_threads_and_widths() {
    let model = NormalGamma { y: vec![1.0, 0.3] };
    let points = points(23);
    for (threads, width) in [(1, 64), (2, 7), (3, 1), (64, 5)] {
        let mut driver = Driver::new(Lanes(model.clone()), parallelism(threads, width));
        let control = Control::default();
        let found = driver.evaluate_points(&points, 0.25, true, &control).expect("densities");
        assert_eq!(control.evaluations(), 23);
        for (point, found) in points.iter().zip(&found) {
            let mut gradient = [0.0; 2];
            let (log_prior, log_likelihood) = model.at(point, 0.25, &mut gradient);
            let densities = found.densities;
            assert_eq!((densities.log_prior, densities.log_likelihood), (log_prior, log_likelihood));
            assert_eq!(densities.log_density().to_bits(), (log_prior + 0.25 * log_likelihood).to_bits());
            assert_eq!((&found.gradient[..], &found.rejection), (&gradient[..], &None));
        }
        let without = driver.evaluate_points(&points, 0.25, false, &control).expect("densities");
        assert!(without.iter().zip(&found).all(|(a, b)| a.gradient.is_empty() && a.densities == b.densities));
        assert!(driver.evaluate_points(&[], 0.25, false, &control).expect("nothing").is_empty());
    }
    let mut driver = Driver::new(Lanes(model), parallelism(1, 4));
    let outside =
        driver.evaluate_points(&[vec![0.0, f64::INFINITY]], 1.0, false, &Control::default()).expect("a point");
    assert_eq!(outside[0].rejection.as_deref(), Some("lane 0 is outside"));
}

/// Walks until it is told to stop, from a thread of its own or not.
struct Endless<'a> {
    at: [f64; 2],
    control: &'a Control,
    steps: u64,
}

impl Walker for Endless<'_> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        true
    }

    fn beta(&self) -> f64 {
        1.0
    }

    fn position(&self) -> &[f64] {
        &self.at
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn advance(&mut self, _answer: &Answer<'_>) -> Result<(), Error> {
        self.steps += 1;
        if self.steps == 100 && self.at[1] > 0.0 {
            self.control.interrupt();
        }
        Ok(())
    }
}

/// One of many walkers panics or fails, on a thread of the pool or on that of the caller, while the others would go on
/// for ever. The panic and the error come out, and the driver works afterwards.
#[test]
fn panics_and_errors_come_out_and_end_the_others() {
    let mut driver = Driver::new(Brittle::new(), parallelism(4, 2));
    for which in [0, 7] {
        for first in [PANIC, FAIL] {
            let control = Control::default();
            let walker = |i| Endless { at: [if i == which { first } else { 0.1 }, 0.0], control: &control, steps: 0 };
            let mut walkers: Vec<Endless<'_>> = (0..8).map(walker).collect();
            let result = catch_unwind(AssertUnwindSafe(|| driver.drive(&mut walkers, &control)));
            match result {
                Err(panic) => {
                    assert!(first.total_cmp(&PANIC).is_eq(), "{which}");
                    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
                }
                Ok(result) => {
                    let error = result.expect_err("a wrong program");
                    assert!(first.total_cmp(&FAIL).is_eq() && error.to_string() == "a wrong program", "{which}");
                }
            }
            assert!(driver.evaluate_points(&points(8), 1.0, false, &control).is_ok());
        }
    }
}

#[test]
fn an_interruption_ends_all_threads() {
    let mut driver = Driver::new(Brittle::new(), parallelism(3, 2));
    let control = Control::default();
    let walker = |i| Endless { at: [0.1, if i == 5 { 0.2 } else { 0.0 }], control: &control, steps: 0 };
    let mut walkers: Vec<Endless<'_>> = (0..6).map(walker).collect();
    driver.drive(&mut walkers, &control).expect("interrupted runs are no errors of walkers");
    assert!(matches!(driver.evaluate_points(&points(3), 1.0, false, &control), Err(Error::Interrupted)));
}
