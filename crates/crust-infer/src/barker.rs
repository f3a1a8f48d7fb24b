//! Barker's proposal: Livingstone and Zanella, "The Barker proposal: combining robustness and efficiency in
//! gradient-based MCMC" (2022).
//!
//! Each coordinate draws a step z ~ N(0, σᵢ²) and makes it with the probability 1/(1 + exp(−z gᵢ)), the opposite step
//! otherwise, g being ∇ log f at the start (algorithm 1). With d = y − x the acceptance probability of Metropolis and
//! Hastings has the ratio
//!
//! > f(y)/f(x) · Π (1 + exp(−dᵢ gᵢ(x)))/(1 + exp(dᵢ gᵢ(y))).

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::{f_exp, f_log1p};

use crate::kernel::{Densities, Kernel, State, Statistics, Stepper};
use crate::metric::Metric;

#[derive(Clone, Debug)]
pub(crate) struct Barker {
    /// The proposal and the gradient there.
    q: Vec<f64>,
    gradient: Vec<f64>,
    start: Vec<f64>,
    /// Σ log(1 + exp(−dᵢ gᵢ(x))).
    leaving: f64,
    found: Densities,
    accepted: bool,
    stream: Stream,
    step_size: f64,
    initial_log_density: f64,
}

impl Barker {
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            q: vec![0.0; dimension],
            gradient: vec![0.0; dimension],
            start: vec![0.0; dimension],
            leaving: 0.0,
            found: Densities::default(),
            accepted: false,
            stream: StreamKey::new(0, Purpose::KERNEL).stream(),
            step_size: 0.0,
            initial_log_density: 0.0,
        }
    }
}

/// log(1 + exp(x)) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + f_log1p(f_exp(-x.abs()))
}

/// The standard deviation of a coordinate according to the metric.
fn deviation(metric: &Metric, i: usize) -> f64 {
    let at = match metric {
        Metric::Unit => return 1.0,
        Metric::Diagonal(_) => i,
        Metric::Dense(_) => i * (metric.dimension().unwrap_or(0) + 1),
    };
    metric.inverse().and_then(|inverse| inverse.get(at)).map_or(1.0, |variance| variance.sqrt())
}

impl Stepper for Barker {
    fn begin(&mut self, kernel: &Kernel, state: &State, mut stream: Stream) {
        self.step_size = kernel.draw_step_size(&mut stream);
        self.start.copy_from_slice(&state.q);
        self.leaving = 0.0;
        stream.fill_normal(&mut self.q);
        for (i, (q, g)) in self.q.iter_mut().zip(&state.gradient).enumerate() {
            let step = self.step_size * deviation(&kernel.metric, i) * *q;
            let with = stream.uniform() < f_exp(-softplus(-step * g));
            let step = if with { step } else { -step };
            self.leaving += softplus(-step * g);
            *q = self.start[i] + step;
        }
        self.initial_log_density = state.log_density();
        self.stream = stream;
    }

    fn position(&self) -> &[f64] {
        &self.q
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut self.gradient
    }

    fn advance(&mut self, _kernel: &Kernel, found: Densities) -> Option<Statistics> {
        let log_density = found.log_density();
        let returning: f64 =
            self.q.iter().zip(&self.start).zip(&self.gradient).map(|((y, x), g)| softplus((y - x) * g)).sum();
        let gain = log_density - self.initial_log_density + self.leaving - returning;
        let gain = if log_density.is_finite() && !gain.is_nan() { gain } else { f64::NEG_INFINITY };
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
            state.gradient.copy_from_slice(&self.gradient);
            state.densities = self.found;
        }
    }
}
