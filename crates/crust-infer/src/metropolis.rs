//! Random-walk Metropolis, for targets without gradients.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::f_exp;

use crate::kernel::{Densities, Kernel, State, Statistics, Stepper};

#[derive(Clone, Debug)]
pub(crate) struct Metropolis {
    /// The proposal.
    q: Vec<f64>,
    found: Densities,
    accepted: bool,
    stream: Stream,
    step_size: f64,
    initial_log_density: f64,
}

impl Metropolis {
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            q: vec![0.0; dimension],
            found: Densities::default(),
            accepted: false,
            stream: StreamKey::new(0, Purpose::KERNEL).stream(),
            step_size: 0.0,
            initial_log_density: 0.0,
        }
    }
}

impl Stepper for Metropolis {
    fn begin(&mut self, kernel: &Kernel, state: &State, mut stream: Stream) {
        self.step_size = kernel.draw_step_size(&mut stream);
        kernel.metric.draw_displacement(&mut self.q, &mut stream);
        for (q, x) in self.q.iter_mut().zip(&state.q) {
            *q = x + self.step_size * *q;
        }
        self.initial_log_density = state.log_density();
        self.stream = stream;
    }

    fn position(&self) -> &[f64] {
        &self.q
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn advance(&mut self, _kernel: &Kernel, found: Densities) -> Option<Statistics> {
        let log_density = found.log_density();
        let gain = if log_density.is_finite() { log_density - self.initial_log_density } else { f64::NEG_INFINITY };
        let accept_stat = if gain > 0.0 { 1.0 } else { f_exp(gain) };
        self.found = found;
        self.accepted = self.stream.uniform() < accept_stat;
        Some(Statistics {
            accept_stat,
            step_size: self.step_size,
            tree_depth: 0,
            leapfrog_steps: 1,
            divergent: false,
            energy: -if self.accepted { log_density } else { self.initial_log_density },
        })
    }

    fn finish(&self, state: &mut State) {
        if self.accepted {
            state.q.copy_from_slice(&self.q);
            state.densities = self.found;
        }
    }
}
