//! Random-walk Metropolis, for targets without gradients.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::f_exp;

use crate::kernel::{Kernel, State, Statistics};
use crate::target::tempered;

#[derive(Clone, Debug)]
pub(crate) struct Metropolis {
    /// The proposal.
    q: Vec<f64>,
    densities: (f64, f64),
    accepted: bool,
    stream: Stream,
    beta: f64,
    step_size: f64,
    initial_log_density: f64,
}

impl Metropolis {
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            q: vec![0.0; dimension],
            densities: (0.0, 0.0),
            accepted: false,
            stream: StreamKey::new(0, Purpose::KERNEL).stream(),
            beta: 1.0,
            step_size: 0.0,
            initial_log_density: 0.0,
        }
    }

    pub(crate) fn begin(&mut self, kernel: &Kernel, state: &State, beta: f64, mut stream: Stream) {
        self.step_size = kernel.draw_step_size(&mut stream);
        kernel.metric.draw_displacement(&mut self.q, &mut stream);
        for (q, x) in self.q.iter_mut().zip(&state.q) {
            *q = x + self.step_size * *q;
        }
        self.initial_log_density = state.log_density(beta);
        self.beta = beta;
        self.stream = stream;
    }

    pub(crate) fn position(&self) -> &[f64] {
        &self.q
    }

    #[expect(clippy::unused_self, reason = "the kernels have the same methods")]
    pub(crate) fn gradient_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    #[expect(clippy::unnecessary_wraps, reason = "the kernels have the same methods")]
    pub(crate) fn advance(&mut self, _kernel: &Kernel, log_prior: f64, log_likelihood: f64) -> Option<Statistics> {
        let log_density = tempered(log_prior, log_likelihood, self.beta);
        let gain = if log_density.is_finite() { log_density - self.initial_log_density } else { f64::NEG_INFINITY };
        let accept_stat = if gain > 0.0 { 1.0 } else { f_exp(gain) };
        self.densities = (log_prior, log_likelihood);
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

    pub(crate) fn finish(&self, state: &mut State) {
        if self.accepted {
            state.q.copy_from_slice(&self.q);
            (state.log_prior, state.log_likelihood) = self.densities;
        }
    }
}
