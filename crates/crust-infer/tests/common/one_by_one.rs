//! Annealing of a density one chain and one evaluation after the other, which batched chains are compared with.

use crust_infer::anneal::{
    ChainOutcome, Direction, Frame, Knot, Launch, Moved, Schedule, System, TunedKernels, anneal_target,
};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::kernel::{Densities, Length, MAX_ENERGY_ERROR, Method, State, Transition};
use crust_infer::target::{Fatal, tempered};
use crust_math::random::Stream;

use super::{NormalGamma, Pointwise, key, path};

pub fn methods() -> [Method; 5] {
    [
        Method::default(),
        Method::Hmc { length: Length::Steps(3), max_energy_error: MAX_ENERGY_ERROR },
        Method::Metropolis,
        Method::Mala,
        Method::Barker,
    ]
}

pub fn prior_draws(chains: u32) -> Vec<Vec<f64>> {
    (0..chains).map(|k| NormalGamma::prior(&mut key(5).chain(k).stream()).to_vec()).collect()
}

pub fn kernels(method: Method) -> TunedKernels {
    let knot = |beta, step_size, length| Knot {
        beta,
        step_size,
        variance: vec![0.4, 0.5],
        accept: 0.8,
        length,
        frame: Frame::default(),
    };
    TunedKernels::new(method, 0.2, vec![knot(0.0, 1.1, 0.0), knot(0.1, 0.9, 1.0), knot(1.0, 0.5, 2.0)]).expect("knots")
}

/// Batched chains.
pub fn anneal<P: Pointwise>(
    model: P,
    kernels: &TunedKernels,
    schedule: &Schedule,
    direction: Direction,
    (starts, first_chain, how): (&[Vec<f64>], u32, Parallelism),
) -> Vec<ChainOutcome> {
    let control = Control::default();
    let run = Launch { direction, first_chain, key: key(3), how, control: &control };
    anneal_target(&mut Driver::new(path(model), how), kernels, schedule, starts, &run).expect("chains")
}

/// Starts as states of a [`OneByOne`].
pub fn states(starts: &[Vec<f64>], method: Method) -> Vec<State> {
    starts.iter().map(|q| State::at(q, method.needs_gradient())).collect()
}

/// A density as a [`System`]. Weights are ratios of densities, as the definition says; on a geometric path those of
/// likelihoods.
#[derive(Clone)]
pub struct OneByOne<'a, P> {
    pub model: P,
    pub kernels: &'a TunedKernels,
}

impl<P: Pointwise> OneByOne<'_, P> {
    fn evaluate(&self, q: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let mut room = vec![0.0; q.len()];
        let densities = self.model.at(q, beta, &mut room);
        gradient.iter_mut().zip(room).for_each(|(to, g)| *to = g);
        densities
    }
}

impl<P: Pointwise> System for OneByOne<'_, P> {
    type State = State;

    fn draw_initial(&mut self, _stream: &mut Stream) -> Result<State, Fatal> {
        Err(Fatal::new("starts are given"))
    }

    fn log_ratio(&mut self, state: &State, from: f64, to: f64) -> Result<f64, Fatal> {
        if self.model.is_geometric() {
            return Ok((to - from) * self.evaluate(&state.q, 1.0, &mut []).1);
        }
        let log_f = |beta| {
            let (log_prior, log_likelihood) = self.evaluate(&state.q, beta, &mut []);
            tempered(log_prior, log_likelihood, beta)
        };
        Ok(log_f(to) - log_f(from))
    }

    fn step(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        let kernel = self.kernels.at(beta);
        let densities = |(log_prior, log_likelihood)| {
            let tilt = tempered(0.0, log_likelihood, beta);
            Densities { log_prior, log_likelihood, tilt }
        };
        state.densities = densities(self.evaluate(&state.q, beta, &mut state.gradient));
        let mut transition = Transition::new(kernel.method, state.q.len());
        transition.begin(&kernel, state, stream.clone());
        loop {
            let q = transition.position().to_vec();
            let found = densities(self.evaluate(&q, beta, transition.gradient_mut()));
            if let Some(statistics) = transition.advance(&kernel, found) {
                transition.finish(state);
                return Ok(Moved { accept: statistics.accept_stat, evaluations: statistics.leapfrog_steps.into() });
            }
        }
    }

    fn step_reversed(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(state, beta, stream)
    }
}
