//! Runs many walkers at once: each tick evaluates what all of them ask for in one batch.

mod driver;

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

pub use driver::{Driver, Evaluated};

use crate::error::Error;
use crate::kernel::Densities;
use crate::target::Fatal;

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
    /// log `f_β` − log f₀.
    pub tilt: f64,
    rejection: &'a dyn Fn() -> Option<String>,
}

impl Answer<'_> {
    pub fn densities(&self) -> Densities {
        Densities { log_prior: self.log_prior, log_likelihood: self.log_likelihood, tilt: self.tilt }
    }

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
    /// The run that this is a part of, and the time that the part has.
    whole: Option<(Arc<Control>, Option<Instant>)>,
}

/// On cache lines of its own: what each thread looks at all the time must not lie beside what others change.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl Control {
    /// Of a part of a run that ends with the run, or when its time is over, in the middle of a transition if need be.
    /// To end the part is not to end the run.
    pub fn part_of(run: &Arc<Self>, deadline: Option<Instant>) -> Self {
        Self { whole: Some((Arc::clone(run), deadline)), ..Self::default() }
    }

    /// Ends the run after the current tick. What was drawn stays.
    pub fn interrupt(&self) {
        self.interrupted.0.store(true, Ordering::Relaxed);
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.0.load(Ordering::Relaxed) || self.whole.as_ref().is_some_and(is_over)
    }

    /// Evaluations so far, summed over all walkers.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.0.load(Ordering::Relaxed)
    }

    /// Transitions so far, summed over all walkers.
    pub fn iterations(&self) -> u64 {
        self.iterations.0.load(Ordering::Relaxed)
    }

    /// Interrupted runs have nothing to say.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    pub fn count_iteration(&self) {
        self.iterations.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn is_over((run, deadline): &(Arc<Control>, Option<Instant>)) -> bool {
    run.is_interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_the_run_or_their_time() {
        let run = Arc::new(Control::default());
        let free = Control::part_of(&run, None);
        assert!(!free.is_interrupted());
        assert!(Control::part_of(&run, Some(Instant::now())).is_interrupted());
        let other = Control::part_of(&run, None);
        other.interrupt();
        assert!(other.is_interrupted() && !run.is_interrupted() && !free.is_interrupted());
        run.interrupt();
        assert!(free.is_interrupted());
    }
}
