//! Walkers of the estimators: chains that remember where they were, and single looks at points.

use crust_math::random::StreamKey;

use super::{Particle, Run};
use crate::drive::{Answer, Control, Walker, drive};
use crate::error::{Error, InitialFailure};
use crate::kernel::{Densities, Kernel, State, Transition};
use crate::target::Target;

/// A number of transitions at one β from a point, all of which it remembers. Transition i uses step i of the key, counted from the key's own.
pub(super) struct Trail<'a> {
    state: State,
    transition: Transition,
    kernel: &'a Kernel,
    beta: f64,
    key: StreamKey,
    control: &'a Control,
    /// The next answer is for the start itself: its gradient is not known yet.
    refreshing: bool,
    steps: usize,
    /// The start is not among them.
    pub(super) visited: Vec<Particle>,
    /// Summed over transitions.
    pub(super) accept: f64,
}

impl<'a> Trail<'a> {
    pub(super) fn new(
        start: &[f64],
        kernel: &'a Kernel,
        beta: f64,
        steps: usize,
        key: StreamKey,
        control: &'a Control,
    ) -> Self {
        Self {
            state: State::at(start, kernel.method.needs_gradient()),
            transition: Transition::new(kernel.method, start.len()),
            kernel,
            beta,
            key,
            control,
            refreshing: true,
            steps,
            visited: Vec::with_capacity(steps),
            accept: 0.0,
        }
    }

    fn begin(&mut self) {
        if self.visited.len() < self.steps {
            let key = self.key.step(self.key.step + self.visited.len() as u64);
            self.transition.begin(self.kernel, &self.state, key.stream());
        }
    }
}

impl Walker for Trail<'_> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        self.visited.len() < self.steps
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn position(&self) -> &[f64] {
        if self.refreshing { &self.state.q } else { self.transition.position() }
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        if self.refreshing { &mut self.state.gradient } else { self.transition.gradient_mut() }
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        if self.refreshing {
            self.refreshing = false;
            self.state.densities = answer.densities();
            if !self.state.log_density().is_finite() {
                let failure = InitialFailure { given: true, tries: 1, bad_gradients: 0, reason: answer.rejection() };
                return Err(Error::Initial { chain: self.key.chain, failure });
            }
        } else if let Some(statistics) = self.transition.advance(self.kernel, answer.densities()) {
            self.transition.finish(&mut self.state);
            self.accept += statistics.accept_stat;
            self.control.count_iteration();
            let State { q, densities: Densities { log_prior, log_likelihood, .. }, .. } = &self.state;
            self.visited.push(Particle { q: q.clone(), log_prior: *log_prior, log_likelihood: *log_likelihood });
        } else {
            return Ok(());
        }
        self.begin();
        Ok(())
    }
}

/// Asks for the densities of one point, without a gradient.
struct Look {
    particle: Particle,
    done: bool,
    reason: Option<String>,
}

impl Walker for Look {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        !self.done
    }

    fn beta(&self) -> f64 {
        1.0
    }

    fn position(&self) -> &[f64] {
        &self.particle.q
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        (self.particle.log_prior, self.particle.log_likelihood) = (answer.log_prior, answer.log_likelihood);
        if !(answer.log_prior + answer.log_likelihood).is_finite() {
            self.reason = answer.rejection();
        }
        self.done = true;
        Ok(())
    }
}

/// Points with their densities.
pub(super) struct Looked {
    pub(super) particles: Vec<Particle>,
    /// Why one of them has no density, if there is such a one.
    pub(super) reason: Option<String>,
}

/// The densities of points.
pub(super) fn look<T: Target + Clone + Send>(
    target: &T,
    points: Vec<Vec<f64>>,
    run: &Run<'_>,
) -> Result<Looked, Error> {
    let look = |q| Look { particle: Particle { q, ..Particle::default() }, done: false, reason: None };
    let mut looks: Vec<Look> = points.into_iter().map(look).collect();
    drive(target, &mut looks, run.how, run.control)?;
    run.check_interrupt()?;
    let reason = looks.iter().find_map(|look| look.reason.clone());
    Ok(Looked { particles: looks.into_iter().map(|look| look.particle).collect(), reason })
}
