//! Chains of executions over threads: each thread has a machine of its own, with a large stack.

use std::sync::Arc;
use std::thread;

use crust_infer::anneal::{Chain, Moved};
use crust_infer::drive::Parallelism;
use crust_infer::error::Error as InferError;
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_webppl::RunError;
use crust_webppl::simulator::{Execution, LEAPS, Plain, Simulator};

use super::pilot::Tuned;
use super::problem::{Trouble, WebPplProblem};

/// The stack of a thread: for values that are nested deeply. Only what is used of it is ever there.
const STACK: usize = 1 << 28;

/// What observations are: the program's own, or simulated ones.
pub(super) type Observed = Option<Arc<Vec<Plain>>>;

/// Machines for one program with data.
#[derive(Clone, Copy)]
pub(super) struct Crew<'a> {
    pub problem: &'a WebPplProblem,
    pub seed: u64,
    pub how: Parallelism,
    pub observed: &'a Observed,
}

impl Crew<'_> {
    /// One piece of work for each item, in order; neighbours are given to the same thread. Items are numbered from
    /// `first` on.
    pub fn work<I, O, F>(&self, items: &[I], first: u32, work: F) -> Result<Vec<O>, Trouble>
    where
        I: Sync,
        O: Send,
        F: Fn(&mut Simulator, &I, u32) -> Result<O, Trouble> + Sync,
    {
        let all = |items: &[I], first: u32| -> Result<Vec<O>, Trouble> {
            let mut simulator = self.problem.simulator(self.seed)?;
            simulator.observe(self.observed.as_ref().map(|values| values.as_slice()));
            items.iter().zip(first..).map(|(item, k)| work(&mut simulator, item, k)).collect()
        };
        thread::scope(|scope| {
            let (all, mut from, mut handles) = (&all, first, vec![]);
            for items in items.chunks(self.how.share(items.len())) {
                let first = from;
                let builder = thread::Builder::new().stack_size(STACK);
                let handle = builder.spawn_scoped(scope, move || all(items, first));
                handles.push(handle.unwrap_or_else(|error| panic!("no thread can be started: {error}")));
                from += u32::try_from(items.len()).unwrap_or(u32::MAX);
            }
            let mut results = vec![];
            for handle in handles {
                results.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(results)
        })
    }
}

/// A chain of executions with frozen kernels.
pub(super) struct Walker<'a> {
    pub simulator: &'a mut Simulator,
    pub tuned: &'a Tuned,
    /// What ended the chain.
    fault: Option<RunError>,
}

impl<'a> Walker<'a> {
    pub fn new(simulator: &'a mut Simulator, tuned: &'a Tuned) -> Self {
        Self { simulator, tuned, fault: None }
    }

    /// What went wrong, with the program's own words where it is the program.
    pub fn trouble(&mut self, error: InferError) -> Trouble {
        match self.fault.take() {
            Some(fault) => fault.into(),
            None => error.into(),
        }
    }
}

impl Chain for Walker<'_> {
    type State = Execution;

    fn log_ratio(&mut self, state: &Execution, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * state.log_likelihood())
    }

    fn step(&mut self, state: &mut Execution, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        let kernel = self.tuned.at(beta);
        let steps = self.simulator.step(state, beta, &kernel, stream).map_err(|error| {
            let words = error.to_string();
            self.fault = Some(error);
            Fatal::new(words)
        })?;
        #[expect(clippy::cast_precision_loss, reason = "proposals are few")]
        let accept = if steps.proposed == 0 { 1.0 } else { steps.accepted as f64 / steps.proposed as f64 };
        let each = if steps.leapt { LEAPS as u64 } else { 1 };
        Ok(Moved { accept, evaluations: each * steps.proposed })
    }

    /// The kernel is a mixture of reversible kernels, and so reversible.
    fn step_reversed(&mut self, state: &mut Execution, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(state, beta, stream)
    }
}
