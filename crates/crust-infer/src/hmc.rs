//! Static Hamiltonian Monte Carlo: the end of a trajectory of fixed length, accepted or rejected as Metropolis would.
//!
//! Kernels of annealing try again where a step is hopeless, with shorter ones (delayed rejection: Mira 2001; for
//! Hamiltonian Monte Carlo, Modi, Barnett and Carpenter 2023). One step size serves all of a path, and where the
//! density is steeper than elsewhere, in the neck of a funnel or at the narrow end of a bent ridge, chains would be
//! stuck with it.
//!
//! Let F map x = (q, p) to the end of the trajectory with its momentum turned round, and G the same with
//! [`SHORTER`] steps. Both undo themselves and preserve volume. F is accepted with probability
//! α(x) = min(1, π(F x)/π(x)), and if α(x) is below [`HOPELESS`] and F is rejected, y = G x is accepted with
//! min(1, π(y) (1 − α(y)) / (π(x) (1 − α(x)))) if α(y) is as hopeless, else not at all. The flow from x to y is then
//! the lesser of π(x) (1 − α(x)) and π(y) (1 − α(y)), which is the same from y to x.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::{f_exp, f_log, f_log1p};

use crate::kernel::{Densities, Kernel, Length, State, Statistics, Stepper};
use crate::leapfrog::Phase;
use crate::vector::{Arena, Slot};

/// Trajectories that are accepted with less than this are tried again.
const HOPELESS: f64 = 0.05;
/// Steps of the second attempt are shorter by this.
const SHORTER: f64 = 5.0;
/// Times as many steps as the first attempt has.
const MORE_STEPS: u32 = 3;

/// Which trajectory is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Attempt {
    /// From x to F x.
    First,
    /// From x to y = G x.
    Second,
    /// From y to F y: what the first attempt would have been there.
    Ghost,
}

#[derive(Clone, Debug)]
pub(crate) struct Hmc {
    length: Length,
    max_energy_error: f64,
    arena: Arena,
    current: Phase,
    /// Position, momentum and gradient of the start.
    start: [Slot; 3],
    /// Position and gradient of y.
    retried: (Slot, Slot),
    started: Densities,
    found: Densities,
    accepted: bool,
    stream: Stream,
    step_size: f64,
    initial_energy: f64,
    attempt: Attempt,
    /// α(x), which warm-up and statistics are about.
    accept: f64,
    /// y is accepted if log(1 − α(y)) is above this.
    threshold: f64,
    /// The energy of y.
    energy: f64,
    steps: u32,
    done: u32,
    /// Of all attempts.
    evaluations: u32,
}

impl Hmc {
    pub(crate) fn new(dimension: usize, length: Length, max_energy_error: f64) -> Self {
        let mut arena = Arena::new(dimension);
        Self {
            length,
            max_energy_error,
            current: Phase::reserve(&mut arena),
            start: [arena.reserve(), arena.reserve(), arena.reserve()],
            retried: (arena.reserve(), arena.reserve()),
            started: Densities::default(),
            found: Densities::default(),
            accepted: false,
            stream: StreamKey::new(0, Purpose::KERNEL).stream(),
            step_size: 0.0,
            initial_energy: 0.0,
            attempt: Attempt::First,
            accept: 0.0,
            threshold: 0.0,
            energy: 0.0,
            steps: 1,
            done: 0,
            evaluations: 0,
            arena,
        }
    }

    /// Begins another trajectory, from where the current point is.
    fn set_out(&mut self, kernel: &Kernel, attempt: Attempt) {
        let steps = self.length.steps(kernel.step_size);
        self.attempt = attempt;
        self.steps = if attempt == Attempt::Second { MORE_STEPS.saturating_mul(steps) } else { steps };
        self.done = 0;
        let step = self.step();
        self.current.begin_step(&mut self.arena, &kernel.metric, step);
    }

    /// The step size of the attempt.
    fn step(&self) -> f64 {
        if self.attempt == Attempt::Second { self.step_size / SHORTER } else { self.step_size }
    }

    /// The second attempt: from x once more.
    fn try_again(&mut self, kernel: &Kernel) {
        let [q, p, gradient] = self.start;
        self.arena.copy(q, self.current.q);
        self.arena.copy(p, self.current.p);
        self.arena.copy(gradient, self.current.gradient);
        self.set_out(kernel, Attempt::Second);
    }

    /// From y, with its momentum turned round.
    fn look_back(&mut self, kernel: &Kernel) {
        self.arena.copy(self.current.q, self.retried.0);
        self.arena.copy(self.current.gradient, self.retried.1);
        self.arena.get_mut(self.current.p).iter_mut().for_each(|p| *p = -*p);
        self.set_out(kernel, Attempt::Ghost);
    }

    fn complete(&self, energy: f64, excess: f64) -> Statistics {
        Statistics {
            accept_stat: self.accept,
            step_size: self.step_size,
            tree_depth: 0,
            leapfrog_steps: self.evaluations,
            divergent: !self.accepted && excess > self.max_energy_error,
            energy: if self.accepted { energy } else { self.initial_energy },
        }
    }
}

impl Stepper for Hmc {
    fn begin(&mut self, kernel: &Kernel, state: &State, mut stream: Stream) {
        self.step_size = kernel.draw_step_size(&mut stream);
        self.evaluations = 0;
        let current = self.current;
        self.arena.get_mut(current.q).copy_from_slice(&state.q);
        self.arena.get_mut(current.gradient).copy_from_slice(&state.gradient);
        kernel.metric.draw_momentum(self.arena.get_mut(current.p), &mut stream);
        let [q, p, gradient] = self.start;
        self.arena.copy(current.q, q);
        self.arena.copy(current.p, p);
        self.arena.copy(current.gradient, gradient);
        self.initial_energy = current.kinetic_energy(&mut self.arena, &kernel.metric) - state.log_density();
        self.started = state.densities;
        self.stream = stream;
        self.set_out(kernel, Attempt::First);
    }

    fn position(&self) -> &[f64] {
        self.arena.get(self.current.q)
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        self.arena.get_mut(self.current.gradient)
    }

    fn advance(&mut self, kernel: &Kernel, found: Densities) -> Option<Statistics> {
        let step = self.step();
        let kinetic = self.current.end_step(&mut self.arena, &kernel.metric, step);
        self.done += 1;
        self.evaluations += 1;
        let energy = kinetic - found.log_density();
        // A trajectory through a point without a density is rejected: so is the same trajectory backwards.
        if energy.is_finite() && self.done < self.steps {
            self.current.begin_step(&mut self.arena, &kernel.metric, step);
            return None;
        }
        let from = if self.attempt == Attempt::Ghost { self.energy } else { self.initial_energy };
        let excess = if energy.is_finite() { energy - from } else { f64::INFINITY };
        let accept = if excess < 0.0 { 1.0 } else { f_exp(-excess) };
        match self.attempt {
            Attempt::First => {
                self.found = found;
                self.accept = accept;
                self.accepted = self.stream.uniform() < accept;
                if !self.accepted && accept < HOPELESS && kernel.tries_again() {
                    self.try_again(kernel);
                    return None;
                }
                Some(self.complete(energy, excess))
            }
            Attempt::Second => {
                self.found = found;
                self.energy = energy;
                self.threshold = f_log(self.stream.uniform()) + excess + f_log1p(-self.accept);
                // 1 − α(y) is at most 1: what is rejected with that need not be looked at from y
                if self.threshold < 0.0 {
                    self.look_back(kernel);
                    return None;
                }
                Some(self.complete(energy, excess))
            }
            Attempt::Ghost => {
                self.accepted = accept < HOPELESS && f_log1p(-accept) > self.threshold;
                Some(self.complete(self.energy, 0.0))
            }
        }
    }

    fn finish(&self, state: &mut State) {
        let (q, gradient, densities) = match (self.accepted, self.attempt) {
            (false, _) => (self.start[0], self.start[2], self.started),
            (true, Attempt::Ghost) => (self.retried.0, self.retried.1, self.found),
            (true, _) => (self.current.q, self.current.gradient, self.found),
        };
        state.q.copy_from_slice(self.arena.get(q));
        state.gradient.copy_from_slice(self.arena.get(gradient));
        state.densities = densities;
    }
}

#[cfg(test)]
#[path = "hmc_tests.rs"]
mod tests;
