//! Trials of estimators on one dataset whose marginal likelihood is known: bias, error and time (sections 6.2 and 6.4).

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crust_diagnose::sandwich::{Exchange, bennett, lower_bound, markov_check, upper_bound};
use crust_math::random::{Purpose, StreamKey};
use serde::Serialize;

use crate::estimators::{Combination, Error, Estimator, Kind, Knob, Problem, both_directions, float, mean};
use crate::model::Model;
use crate::stopwatch::Stopwatch;

/// The marginal likelihood, sandwiched by annealing in both directions (section 4.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroundTruth {
    /// The best estimate: Bennett's from both directions, or the middle between the bounds where these do not overlap.
    pub log_ml: f64,
    /// Its standard error, as far as chains that share their exact draw can tell; null where there is no overlap.
    pub se: Option<f64>,
    /// A stochastic lower bound.
    pub lower: f64,
    /// A stochastic upper bound.
    pub upper: f64,
    #[serde(rename = "T")]
    pub distributions: usize,
    /// In each direction.
    pub chains: u32,
    /// The probability, at most, that bounds contradict each other as much as these do in a correct implementation.
    pub p_value: f64,
}

/// What all trials of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Trials {
    pub count: u32,
    pub seed: u64,
    pub threads: NonZero<usize>,
}

/// An estimator at one setting of its knob.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub estimator: &'static str,
    #[serde(serialize_with = "hyphenated")]
    pub kind: Kind,
    pub combination: Combination,
    pub knob: Knob,
    /// log p(Y) as each trial has it.
    pub estimates: Vec<f64>,
    /// The mean of the estimates, with its standard error.
    pub mean: f64,
    pub se: f64,
    /// Mean minus ground truth.
    pub bias: f64,
    /// Of single trials.
    pub rmse: f64,
    /// The share of trials above the ground truth.
    pub above: f64,
    /// From all trials together (footnote 5).
    pub combined: f64,
    pub combined_error: f64,
}

/// A kind as `result.json` of the testbed has it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn hyphenated<S: serde::Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&kind.words().replace(' ', "-"))
}

/// How long the trials of a row took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Times {
    pub estimator: &'static str,
    pub knob: Knob,
    /// The median of the trials, each on one thread, without the time in which the thread had to wait for a processor.
    pub seconds: f64,
    pub least: f64,
}

/// Whoever wants to know how far it is.
pub trait Watcher: Sync {
    /// Something new begins; how long it is, in trials, or 0 if that is not known.
    fn begin(&self, what: &str, trials: usize);

    /// A trial was finished.
    fn finished(&self);
}

/// Streams of ground truth are those of the first free purpose; estimators come after it.
const TRUTH: u32 = Purpose::FIRST_FREE.0 + 100;

/// Anneals in both directions with a long schedule.
pub fn ground_truth<M: Model>(
    problem: &Problem<'_, M>,
    distributions: usize,
    chains: u32,
    repeat: &Trials,
) -> Result<GroundTruth, Error> {
    let key = StreamKey::new(repeat.seed, Purpose(TRUTH));
    let (forward, reverse) = both_directions(problem, distributions, chains, repeat.threads, key)?;
    let best = bennett(&forward, &reverse);
    let (lower, upper) = (lower_bound(&forward), upper_bound(&reverse));
    let found = !best.log_z.is_nan();
    Ok(GroundTruth {
        log_ml: if found { best.log_z } else { f64::midpoint(lower, upper) },
        se: found.then_some(best.se),
        lower,
        upper,
        distributions,
        chains,
        p_value: markov_check(&[vec![Exchange { forward: &forward, reverse: &reverse }]]),
    })
}

/// Runs all trials of all estimators, spread over threads. Estimates do not depend on how many there are.
pub fn run<M: Model>(
    problem: &Problem<'_, M>,
    roster: &[Box<dyn Estimator<M>>],
    truth: f64,
    repeat: &Trials,
    watcher: &dyn Watcher,
) -> Result<(Vec<Row>, Vec<Times>), Error> {
    let trials = repeat.count as usize;
    let jobs = roster.len() * trials;
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, f64, f64)>, Error> {
        let mut done = vec![];
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return Ok(done);
            }
            let watch = Stopwatch::start();
            let estimate = roster[job / trials].estimate(problem, key(repeat.seed, job / trials, job % trials));
            if estimate.is_err() {
                next.store(jobs, Ordering::Relaxed);
            }
            done.push((job, estimate?, watch.seconds()));
            watcher.finished();
        }
    };
    let mut done = vec![];
    thread::scope(|scope| -> Result<(), Error> {
        let handles: Vec<_> = (0..repeat.threads.get()).map(|_| scope.spawn(work)).collect();
        for handle in handles {
            done.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(())
    })?;
    done.sort_by_key(|job| job.0);
    let rows = roster.iter().zip(done.chunks(trials)).map(|(estimator, jobs)| row(&**estimator, jobs, truth));
    let times = roster.iter().zip(done.chunks(trials)).map(|(estimator, jobs)| times(&**estimator, jobs));
    Ok((rows.collect(), times.collect()))
}

/// Every trial of every row has streams of its own.
fn key(seed: u64, row: usize, trial: usize) -> StreamKey {
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    StreamKey::new(seed, Purpose(TRUTH + 1 + small(row))).dataset(small(trial))
}

fn row<M: Model>(estimator: &dyn Estimator<M>, jobs: &[(usize, f64, f64)], truth: f64) -> Row {
    let estimates: Vec<f64> = jobs.iter().map(|job| job.1).collect();
    let centre = mean(&estimates);
    let n = float(estimates.len());
    let spread = estimates.iter().map(|e| (e - centre) * (e - centre)).sum::<f64>() / (n - 1.0);
    let combined = estimator.combination().combine(&estimates);
    Row {
        estimator: estimator.name(),
        kind: estimator.kind(),
        combination: estimator.combination(),
        knob: estimator.knob(),
        mean: centre,
        se: (spread / n).sqrt(),
        bias: centre - truth,
        rmse: (estimates.iter().map(|e| (e - truth) * (e - truth)).sum::<f64>() / n).sqrt(),
        above: float(estimates.iter().filter(|e| **e > truth).count()) / n,
        combined,
        combined_error: (combined - truth).abs(),
        estimates,
    }
}

fn times<M: Model>(estimator: &dyn Estimator<M>, jobs: &[(usize, f64, f64)]) -> Times {
    let mut seconds: Vec<f64> = jobs.iter().map(|job| job.2).collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN);
    Times {
        estimator: estimator.name(),
        knob: estimator.knob(),
        seconds: median,
        least: seconds.first().copied().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::urn::Urn;
    use crate::estimators::{Ais, LikelihoodWeighting, NestedSampling, ReverseAis, Shrinkage};
    use crust_infer::drive::Control;

    struct Count(AtomicUsize);

    impl Watcher for Count {
        fn begin(&self, _: &str, _: usize) {}

        fn finished(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn roster() -> Vec<Box<dyn Estimator<Urn>>> {
        vec![
            Box::new(Ais { distributions: 30, chains: 1 }),
            Box::new(ReverseAis { distributions: 30, chains: 1 }),
            Box::new(LikelihoodWeighting { proposals: 10 }),
        ]
    }

    #[test]
    fn trials_do_not_depend_on_threads_and_ground_truth_is_true() {
        let mut stream = StreamKey::new(5, Purpose::TEST).stream();
        let mut urn = Urn::random(6, 2, 1.5, &mut stream);
        let (exact, log_ml) = (urn.posterior().draw(&mut stream), urn.log_evidence());
        let control = Control::default();
        let problem = Problem { model: &urn, exact: Some(&exact), control: &control };
        let with = |threads: usize| Trials { count: 8, seed: 3, threads: NonZero::new(threads).unwrap() };
        let truth = ground_truth(&problem, 200, 40, &with(2)).unwrap();
        assert_eq!(truth, ground_truth(&problem, 200, 40, &with(1)).unwrap());
        // 5 standard errors: a false alarm in 10⁶.
        let se = truth.se.unwrap();
        assert!((truth.log_ml - log_ml).abs() < 5.0 * se && se < 0.05, "{truth:?}, exact {log_ml}");
        let watcher = Count(AtomicUsize::new(0));
        let (one, times) = run(&problem, &roster(), log_ml, &with(1), &watcher).unwrap();
        let (three, _) = run(&problem, &roster(), log_ml, &with(3), &watcher).unwrap();
        assert_eq!(one, three);
        assert_eq!(watcher.0.load(Ordering::Relaxed), 48);
        assert!(times.iter().all(|t| t.least > 0.0 && t.seconds >= t.least));
        for row in &one {
            assert!((row.rmse.powi(2) - row.bias.powi(2) - row.se.powi(2) * 7.0).abs() < 1e-9, "{row:?}");
            assert!((row.combined - log_ml).abs() < 1.5 && row.estimates.len() == 8);
        }
        assert_ne!(one[0].estimates[0].to_bits(), one[0].estimates[1].to_bits(), "trials differ");
    }

    #[test]
    fn an_error_ends_all_threads() {
        let urn = Urn::random(3, 2, 1.0, &mut StreamKey::new(5, Purpose::TEST).stream());
        let control = Control::default();
        let problem = Problem { model: &urn, exact: None, control: &control };
        let mut roster = roster();
        roster.insert(0, Box::new(NestedSampling { particles: 1, transitions: 1, shrinkage: Shrinkage::Mean }));
        let repeat = Trials { count: 20, seed: 1, threads: NonZero::new(2).unwrap() };
        let watcher = Count(AtomicUsize::new(0));
        assert!(run(&problem, &roster, 0.0, &repeat, &watcher).is_err());
        assert!(watcher.0.load(Ordering::Relaxed) < 40);
    }
}
