//! Runs many walkers at once: each tick evaluates what all of them ask for in one batch.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::target::{Batch, Fatal, Target};

/// A state machine that asks for one evaluation of a target after the other. No walker waits for another: what one does
/// depends on the answers to it only, never on how many walkers share a batch or a thread.
pub trait Walker: Send {
    type Error: From<Fatal> + Send;

    /// Whether there is a next evaluation to ask for. Once false, it stays so.
    fn wants_evaluation(&self) -> bool;

    /// β of the next evaluation.
    fn beta(&self) -> f64;

    /// The point of the next evaluation.
    fn position(&self) -> &[f64];

    /// Where the gradient goes. Empty if none is wanted, which must be so for all walkers or for none.
    fn gradient_mut(&mut self) -> &mut [f64];

    /// Goes on, after the gradient was filled in.
    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Self::Error>;
}

/// The densities at the point that a [`Walker`] asked for.
pub struct Answer<'a> {
    pub log_prior: f64,
    pub log_likelihood: f64,
    rejection: &'a dyn Fn() -> Option<String>,
}

impl Answer<'_> {
    /// Why the target rejected the point, if it says.
    pub fn rejection(&self) -> Option<String> {
        (self.rejection)()
    }
}

/// What other threads can see of a run, and how they can end it.
#[derive(Debug, Default)]
pub struct Control {
    interrupted: Apart<AtomicBool>,
    evaluations: Apart<AtomicU64>,
    iterations: Apart<AtomicU64>,
}

/// On cache lines of its own: what each thread looks at all the time must not lie beside what others change.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl Control {
    /// Ends the run after the current tick. What was drawn stays.
    pub fn interrupt(&self) {
        self.interrupted.0.store(true, Ordering::Relaxed);
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.0.load(Ordering::Relaxed)
    }

    /// Evaluations so far, summed over all walkers.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.0.load(Ordering::Relaxed)
    }

    /// Transitions so far, summed over all walkers.
    pub fn iterations(&self) -> u64 {
        self.iterations.0.load(Ordering::Relaxed)
    }

    pub fn count_iteration(&self) {
        self.iterations.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// How walkers are spread over the machine. Results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    pub threads: NonZero<usize>,
    /// The largest number of lanes of a batch.
    pub width: NonZero<usize>,
}

impl Parallelism {
    /// How many walkers are given to a thread, neighbours to the same one.
    pub fn share(self, walkers: usize) -> usize {
        walkers.div_ceil(self.threads.get().min(walkers).max(1)).max(1)
    }
}

impl Default for Parallelism {
    fn default() -> Self {
        Self { threads: NonZero::<usize>::MIN, width: NonZero::new(64).unwrap_or(NonZero::<usize>::MIN) }
    }
}

/// Runs all walkers until none wants an evaluation, or until the run is interrupted. Each thread has its own copy of
/// the target. After an error of one walker the others stop too.
pub fn drive<T, W>(target: &T, walkers: &mut [W], how: Parallelism, control: &Control) -> Result<(), W::Error>
where
    T: Target + Clone + Send,
    W: Walker,
{
    let failed = AtomicBool::new(false);
    let share = how.share(walkers.len());
    let run = |target: &mut T, walkers: &mut [W]| {
        let result = drive_here(target, walkers, how.width.get(), control, &failed);
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    };
    if share >= walkers.len() {
        return run(&mut target.clone(), walkers);
    }
    thread::scope(|scope| {
        let run = &run;
        let spawn = |walkers| {
            let mut target = target.clone();
            scope.spawn(move || run(&mut target, walkers))
        };
        let handles: Vec<_> = walkers.chunks_mut(share).map(spawn).collect();
        // All threads are joined before the first error is returned: the scope would wait for them anyway.
        let results = handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.fold(Ok(()), Result::and)
    })
}

/// How many evaluations are told others at once.
const EVALUATIONS_AT_ONCE: u64 = 256;

fn drive_here<T: Target, W: Walker>(
    target: &mut T,
    walkers: &mut [W],
    width: usize,
    control: &Control,
    failed: &AtomicBool,
) -> Result<(), W::Error> {
    let mut batch = Batch::default();
    let mut active: Vec<usize> = (0..walkers.len()).filter(|&w| walkers[w].wants_evaluation()).collect();
    let mut evaluations = 0;
    let mut result = Ok(());
    while result.is_ok() && !active.is_empty() && !control.is_interrupted() && !failed.load(Ordering::Relaxed) {
        for group in active.chunks(width) {
            result = tick(target, walkers, group, &mut batch);
            if result.is_err() {
                break;
            }
            evaluations += group.len() as u64;
        }
        // Not each time: other threads write there as well.
        if evaluations >= EVALUATIONS_AT_ONCE {
            control.evaluations.0.fetch_add(std::mem::take(&mut evaluations), Ordering::Relaxed);
        }
        active.retain(|&w| walkers[w].wants_evaluation());
    }
    control.evaluations.0.fetch_add(evaluations, Ordering::Relaxed);
    result
}

/// Evaluates for a group of walkers, and advances each of them.
fn tick<T: Target, W: Walker>(
    target: &mut T,
    walkers: &mut [W],
    group: &[usize],
    batch: &mut Batch,
) -> Result<(), W::Error> {
    let lanes = group.len();
    let with_gradient = !walkers[group[0]].gradient_mut().is_empty();
    batch.resize(target.dimension(), lanes, with_gradient);
    for (lane, &w) in group.iter().enumerate() {
        batch.beta[lane] = walkers[w].beta();
        for (row, &x) in batch.x.chunks_exact_mut(lanes).zip(walkers[w].position()) {
            row[lane] = x;
        }
    }
    target.evaluate(batch)?;
    for (lane, &w) in group.iter().enumerate() {
        for (to, row) in walkers[w].gradient_mut().iter_mut().zip(batch.gradient.chunks_exact(lanes)) {
            *to = row[lane];
        }
        walkers[w].advance(&Answer {
            log_prior: batch.log_prior[lane],
            log_likelihood: batch.log_likelihood[lane],
            rejection: &|| target.rejection(lane),
        })?;
    }
    Ok(())
}
