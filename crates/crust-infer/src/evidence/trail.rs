//! Walkers of the estimators: chains that remember where they were, and single looks at points.

use crust_math::random::StreamKey;

use super::Particle;
use crate::drive::{Answer, Control, Driver, Evaluated, Walker};
use crate::error::{Error, InitialFailure};
use crate::kernel::{Densities, Kernel, State, Transition};
use crate::target::Target;

/// A number of transitions at one β from a point, all of which it remembers. Transition i uses step i of the key,
/// counted from the key's own.
pub(super) struct Trail<'a> {
    state: State,
    transition: Transition,
    /// Taken in turn: each leaves the distribution as it is.
    kernels: &'a [Kernel],
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
        kernels: &'a [Kernel],
        beta: f64,
        steps: usize,
        key: StreamKey,
        control: &'a Control,
    ) -> Self {
        Self {
            state: State::at(start, kernels[0].method.needs_gradient()),
            transition: Transition::new(kernels[0].method, start.len()),
            kernels,
            beta,
            key,
            control,
            refreshing: true,
            steps,
            visited: Vec::with_capacity(steps),
            accept: 0.0,
        }
    }

    /// That of the transition that is under way.
    fn kernel(&self) -> &'a Kernel {
        &self.kernels[self.visited.len() % self.kernels.len()]
    }

    fn begin(&mut self) {
        if self.visited.len() < self.steps {
            let key = self.key.step(self.key.step + self.visited.len() as u64);
            self.transition.begin(self.kernel(), &self.state, key.stream());
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
        } else if let Some(statistics) = self.transition.advance(self.kernel(), answer.densities()) {
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

/// Points with their densities.
pub(super) struct Looked {
    pub(super) particles: Vec<Particle>,
    /// Why one of them has no density, if there is such a one.
    pub(super) reason: Option<String>,
}

/// The densities of points.
pub(super) fn look<T: Target + Clone + Send>(
    driver: &mut Driver<T>,
    points: Vec<Vec<f64>>,
    control: &Control,
) -> Result<Looked, Error> {
    let found = driver.evaluate_points(&points, 1.0, false, control)?;
    let reason = found.iter().find_map(|at| at.rejection.clone());
    let particle = |(q, at): (Vec<f64>, Evaluated)| {
        let Densities { log_prior, log_likelihood, .. } = at.densities;
        Particle { q, log_prior, log_likelihood }
    };
    Ok(Looked { particles: points.into_iter().zip(found).map(particle).collect(), reason })
}
