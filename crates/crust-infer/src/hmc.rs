//! Static Hamiltonian Monte Carlo: the end of a trajectory of fixed length, accepted or rejected as Metropolis would.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::f_exp;

use crate::kernel::{Densities, Kernel, Length, State, Statistics, Stepper};
use crate::leapfrog::Phase;
use crate::vector::{Arena, Slot};

#[derive(Clone, Debug)]
pub(crate) struct Hmc {
    length: Length,
    max_energy_error: f64,
    arena: Arena,
    current: Phase,
    /// Position and gradient of the start.
    start: (Slot, Slot),
    started: Densities,
    found: Densities,
    accepted: bool,
    stream: Stream,
    step_size: f64,
    initial_energy: f64,
    steps: u32,
    done: u32,
}

impl Hmc {
    pub(crate) fn new(dimension: usize, length: Length, max_energy_error: f64) -> Self {
        let mut arena = Arena::new(dimension);
        Self {
            length,
            max_energy_error,
            current: Phase::reserve(&mut arena),
            start: (arena.reserve(), arena.reserve()),
            started: Densities::default(),
            found: Densities::default(),
            accepted: false,
            stream: StreamKey::new(0, Purpose::KERNEL).stream(),
            step_size: 0.0,
            initial_energy: 0.0,
            steps: 1,
            done: 0,
            arena,
        }
    }
}

impl Stepper for Hmc {
    fn begin(&mut self, kernel: &Kernel, state: &State, mut stream: Stream) {
        self.step_size = kernel.draw_step_size(&mut stream);
        self.steps = self.length.steps(kernel.step_size);
        self.done = 0;
        let current = self.current;
        self.arena.get_mut(current.q).copy_from_slice(&state.q);
        self.arena.get_mut(current.gradient).copy_from_slice(&state.gradient);
        self.arena.copy(current.q, self.start.0);
        self.arena.copy(current.gradient, self.start.1);
        kernel.metric.draw_momentum(self.arena.get_mut(current.p), &mut stream);
        self.initial_energy = current.kinetic_energy(&mut self.arena, &kernel.metric) - state.log_density();
        self.started = state.densities;
        self.stream = stream;
        current.begin_step(&mut self.arena, &kernel.metric, self.step_size);
    }

    fn position(&self) -> &[f64] {
        self.arena.get(self.current.q)
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        self.arena.get_mut(self.current.gradient)
    }

    fn advance(&mut self, kernel: &Kernel, found: Densities) -> Option<Statistics> {
        let kinetic = self.current.end_step(&mut self.arena, &kernel.metric, self.step_size);
        self.done += 1;
        self.found = found;
        let energy = kinetic - found.log_density();
        // A trajectory through a point without a density is rejected: so is the same trajectory backwards.
        if energy.is_finite() && self.done < self.steps {
            self.current.begin_step(&mut self.arena, &kernel.metric, self.step_size);
            return None;
        }
        let excess = if energy.is_finite() { energy - self.initial_energy } else { f64::INFINITY };
        let accept_stat = if excess < 0.0 { 1.0 } else { f_exp(-excess) };
        self.accepted = self.stream.uniform() < accept_stat;
        Some(Statistics {
            accept_stat,
            step_size: self.step_size,
            tree_depth: 0,
            leapfrog_steps: self.done,
            divergent: excess > self.max_energy_error,
            energy: if self.accepted { energy } else { self.initial_energy },
        })
    }

    fn finish(&self, state: &mut State) {
        let (q, gradient, densities) = if self.accepted {
            (self.current.q, self.current.gradient, self.found)
        } else {
            (self.start.0, self.start.1, self.started)
        };
        state.q.copy_from_slice(self.arena.get(q));
        state.gradient.copy_from_slice(self.arena.get(gradient));
        state.densities = densities;
    }
}
