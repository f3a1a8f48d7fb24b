//! Any state space with a path and kernels as a population: one chain at a time.

use std::ops::Range;

use crust_math::random::{Stream, StreamKey};

use super::population::{Climbers, Climbing, Crowd, Floor, Moving, Population, Walks, forget};
use crate::anneal::{self, ChainOutcome, Direction, Schedule, System, anneal_system, on_threads};
use crate::drive::{Control, Parallelism};
use crate::error::Error;
use crate::target::Fatal;

/// Moves within the constrained prior, for nested sampling (BDMC, section 5.3).
pub trait Constrained: System {
    /// One sweep that leaves p(x) · [`Floor::share`](log p(Y | x)) invariant. Gibbs sampling of a discrete variable
    /// draws from the prior conditional times the share of each value; of a continuous variable, from the prior
    /// conditional restricted to the interval (Gaussian likelihoods make it one) where the likelihood is above C.
    /// Starts at a state whose share is positive. Returns log p(Y | x) of the new state.
    fn step_constrained(&mut self, state: &mut Self::State, floor: &Floor, stream: &mut Stream) -> Result<f64, Fatal>;
}

/// A system whose states are moved one by one, over threads.
#[derive(Debug)]
pub struct OneByOne<'a, S> {
    system: S,
    how: Parallelism,
    control: &'a Control,
    evaluations: u64,
}

impl<'a, S: System + Clone + Send> OneByOne<'a, S> {
    pub fn new(system: S, how: Parallelism, control: &'a Control) -> Self {
        Self { system, how, control, evaluations: 0 }
    }
}

/// One more transition.
fn tick(control: &Control) -> Result<(), Error> {
    if control.is_interrupted() {
        return Err(Error::Interrupted);
    }
    control.count_iteration();
    Ok(())
}

impl<S: System + Clone + Send> Population for OneByOne<'_, S> {
    type Particle = S::State;

    fn draw(&mut self, numbers: Range<u32>, key: StreamKey) -> Result<Vec<S::State>, Error> {
        self.evaluations += u64::from(numbers.end - numbers.start);
        let draw = |k: u32| {
            tick(self.control)?;
            Ok(self.system.draw_initial(&mut key.chain(k).stream())?)
        };
        numbers.map(draw).collect()
    }

    fn log_ratios(&mut self, particles: &[S::State], from: f64, to: f64) -> Result<Vec<f64>, Error> {
        particles.iter().map(|state| Ok(self.system.log_ratio(state, from, to)?)).collect()
    }

    fn known_log_likelihood(&self, _particle: &S::State) -> Option<f64> {
        None
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// The states that a chain visited, with its acceptance probabilities and evaluations summed up.
type Trail<S> = (Vec<S>, f64, u64);

impl<S: System + Clone + Send> Moving for OneByOne<'_, S> {
    fn walk(
        &mut self,
        starts: &[&S::State],
        beta: f64,
        steps: usize,
        key: StreamKey,
    ) -> Result<Walks<S::State>, Error> {
        let control = self.control;
        let walk = |system: &mut S, start: &&S::State, k: u32| -> Result<Trail<S::State>, Error> {
            let mut state = (*start).clone();
            let (mut visited, mut accept, mut evaluations) = (Vec::with_capacity(steps), 0.0, 0);
            for i in 0..steps as u64 {
                tick(control)?;
                let moved = system.step(&mut state, beta, &mut key.chain(k).step(key.step + i).stream())?;
                accept += moved.accept;
                evaluations += moved.evaluations;
                visited.push(state.clone());
            }
            Ok((visited, accept, evaluations))
        };
        let mut walks = Walks { visited: Vec::with_capacity(starts.len()), accept: 0.0 };
        for (visited, accept, evaluations) in on_threads(&mut self.system, starts, 0, self.how, &walk)? {
            walks.visited.push(visited);
            walks.accept += accept;
            self.evaluations += evaluations;
        }
        Ok(walks)
    }

    fn anneal(
        &mut self,
        schedule: &Schedule,
        starts: &[S::State],
        (direction, first_chain): (Direction, u32),
        key: StreamKey,
    ) -> Result<Vec<ChainOutcome<()>>, Error> {
        let run = anneal::Launch { direction, first_chain, key, how: self.how, control: self.control };
        let outcomes = anneal_system(&self.system, schedule, starts, &run)?;
        self.evaluations += outcomes.iter().map(|outcome| outcome.evaluations).sum::<u64>();
        Ok(outcomes.iter().map(forget).collect())
    }
}

impl<S: Constrained + Clone + Send> Climbing for OneByOne<'_, S> {
    /// Sums over cases are kept up to date in another order than they are made.
    const ROUNDING: f64 = 1e-11;

    fn climb(
        &mut self,
        crowd: Crowd<'_, S::State>,
        floor: &Floor,
        steps: usize,
        starts: Vec<(usize, Stream)>,
    ) -> Result<Climbers<S::State>, Error> {
        let mut ends = Vec::with_capacity(starts.len());
        for (from, mut stream) in starts {
            let (mut state, mut height) = (crowd.particles[from].clone(), crowd.log_likelihoods[from]);
            for _ in 0..steps {
                tick(self.control)?;
                height = self.system.step_constrained(&mut state, floor, &mut stream)?;
                self.evaluations += 1;
            }
            ends.push((state, height));
        }
        Ok(Climbers { ends, accept: 1.0 })
    }
}
