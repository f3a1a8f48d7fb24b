//! Annealing of anything that can be weighed and moved, one chain at a time.

use std::thread;

use crust_math::random::{Stream, StreamKey};

use super::{ChainOutcome, Direction, Itinerary, Launch, Leg, Schedule, Tally, move_key};
use crate::drive::Parallelism;
use crate::error::Error;
use crate::target::Fatal;

/// A state space with a path of distributions `f_β` on it, β from 0 to 1, and a kernel for each.
///
/// The path is the system's: geometric, or [by subsets of the data](super::Subset).
pub trait System {
    type State: Clone + Send + Sync;

    /// An exact draw of p₀.
    fn draw_initial(&mut self, stream: &mut Stream) -> Result<Self::State, Fatal>;

    /// log `f_to`(x) − log `f_from`(x); −∞ or NaN where the state is outside of the support.
    fn log_ratio(&mut self, state: &Self::State, from: f64, to: f64) -> Result<f64, Fatal>;

    /// 𝒯: leaves `f_β` invariant.
    fn step(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal>;

    /// The time reversal of [`Self::step`]. A reversible kernel is its own; a sequence of such kernels is reversed by
    /// applying them in the opposite order.
    fn step_reversed(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal>;
}

/// The part of a [`System`] that one chain needs. States may be bound to their thread, unlike those of a system.
pub trait Chain {
    type State;

    /// As [`System::log_ratio`].
    fn log_ratio(&mut self, state: &Self::State, from: f64, to: f64) -> Result<f64, Fatal>;

    /// As [`System::step`].
    fn step(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal>;

    /// As [`System::step_reversed`].
    fn step_reversed(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal>;
}

impl<S: System> Chain for S {
    type State = S::State;

    fn log_ratio(&mut self, state: &Self::State, from: f64, to: f64) -> Result<f64, Fatal> {
        System::log_ratio(self, state, from, to)
    }

    fn step(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        System::step(self, state, beta, stream)
    }

    fn step_reversed(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        System::step_reversed(self, state, beta, stream)
    }
}

/// What there is to say about a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The mean acceptance probability; 1 for Gibbs sampling.
    pub accept: f64,
    pub evaluations: u64,
}

/// Exact draws of p₀, for forward chains. Chain k uses `key.chain(k)`.
pub fn draw_initial<S: System>(
    system: &mut S,
    chains: u32,
    first_chain: u32,
    key: StreamKey,
) -> Result<Vec<S::State>, Fatal> {
    (first_chain..first_chain + chains).map(|k| system.draw_initial(&mut key.chain(k).stream())).collect()
}

/// Runs one chain from each start, over threads. The result depends neither on their number nor on how many chains are
/// run together.
pub fn anneal_system<S>(
    system: &S,
    schedule: &Schedule,
    starts: &[S::State],
    run: &Launch<'_>,
) -> Result<Vec<ChainOutcome<S::State>>, Error>
where
    S: System + Clone + Send,
{
    let chain = |system: &mut S, start: &S::State, k: u32| anneal_one(system, schedule, start.clone(), k, run);
    on_threads(&mut system.clone(), starts, run.first_chain, run.how, &chain)
}

/// Transitions at β = 1 from each start, or their time reversals in the reverse direction.
pub fn equilibrate_system<S>(
    system: &S,
    starts: &[S::State],
    steps: usize,
    run: &Launch<'_>,
) -> Result<Vec<S::State>, Error>
where
    S: System + Clone + Send,
{
    let chain = |system: &mut S, start: &S::State, k: u32| {
        let mut state = start.clone();
        equilibrate_one(system, &mut state, steps, k, run)?;
        Ok(state)
    };
    on_threads(&mut system.clone(), starts, run.first_chain, run.how, &chain)
}

/// Transitions of one chain at β = 1, or their time reversals in the reverse direction.
pub fn equilibrate_one<C: Chain>(
    system: &mut C,
    state: &mut C::State,
    steps: usize,
    chain: u32,
    run: &Launch<'_>,
) -> Result<(), Error> {
    for step in 0..steps as u64 {
        if run.control.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let stream = &mut run.key.chain(chain).step(step).stream();
        match run.direction {
            Direction::Forward => system.step(state, 1.0, stream)?,
            Direction::Reverse => system.step_reversed(state, 1.0, stream)?,
        };
        run.control.count_iteration();
    }
    Ok(())
}

/// One piece of work for each item, in order; neighbours are given to the same thread, and each thread has a copy of
/// the system if there are several. Items are numbered from `first` on.
pub(crate) fn on_threads<S, I, O, F>(
    system: &mut S,
    items: &[I],
    first: u32,
    how: Parallelism,
    work: &F,
) -> Result<Vec<O>, Error>
where
    S: Clone + Send,
    I: Sync,
    O: Send,
    F: Fn(&mut S, &I, u32) -> Result<O, Error> + Sync,
{
    let all = |system: &mut S, items: &[I], first: u32| -> Result<Vec<O>, Error> {
        items.iter().zip(first..).map(|(item, k)| work(system, item, k)).collect()
    };
    let share = how.share(items.len());
    if share >= items.len() {
        return all(system, items, first);
    }
    thread::scope(|scope| {
        let all = &all;
        let mut from = first;
        let mut handles = vec![];
        for items in items.chunks(share) {
            let (mut system, first) = (system.clone(), from);
            handles.push(scope.spawn(move || all(&mut system, items, first)));
            from += u32::try_from(items.len()).unwrap_or(u32::MAX);
        }
        let mut results = vec![];
        for handle in handles {
            results.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(results)
    })
}

/// Runs one chain, which uses `run.key.chain(chain)`.
pub fn anneal_one<C: Chain>(
    system: &mut C,
    schedule: &Schedule,
    mut state: C::State,
    chain: u32,
    run: &Launch<'_>,
) -> Result<ChainOutcome<C::State>, Error> {
    let mut tally = Tally::default();
    for leg in Itinerary::new(run.direction, schedule.len()) {
        if run.control.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let stream = |t| move_key(run.key, chain, schedule.len(), t).stream();
        let moved = match leg {
            Leg::Weigh { from, to } => {
                if !tally.weigh(system.log_ratio(&state, schedule.beta(from), schedule.beta(to))?) {
                    break;
                }
                continue;
            }
            Leg::Move { t } => system.step(&mut state, schedule.beta(t), &mut stream(t))?,
            Leg::MoveReversed { t } => system.step_reversed(&mut state, schedule.beta(t), &mut stream(t))?,
        };
        tally.moved(moved.accept);
        tally.evaluations += moved.evaluations;
        run.control.count_iteration();
    }
    Ok(tally.outcome(state))
}
