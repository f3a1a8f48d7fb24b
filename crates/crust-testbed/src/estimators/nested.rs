//! Nested sampling (sections 5.3 and 6.2).

use std::cmp::Ordering;

use crust_math::random::{Stream, StreamKey};
use pxfm::{f_exp, f_log, f_log1p};

use super::{Error, Estimator, Kind, Knob, Problem, at_least, float};
use crate::model::{Constrained, Floor};

/// Nested sampling with MCMC in the constrained prior.
#[derive(Clone, Copy, Debug)]
pub struct NestedSampling {
    /// K, at least 2, which is what the paper found best.
    pub particles: usize,
    /// MCMC transitions for each new particle.
    pub transitions: usize,
    pub shrinkage: Shrinkage,
}

/// By how much the prior volume is taken to shrink in each step. The share that is left is the greatest of K uniform numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shrinkage {
    /// Its mean, K/(K+1): Eq. 47. V is right in expectation, but log V, and with it log p(Y), is too high by 1/K − log(1 + 1/K) in each
    /// step: 0.095 nats with 2 particles, 20 nats after 208 steps.
    Mean,
    /// Its geometric mean, e^(−1/K) (Skilling 2006): log V is right in expectation.
    Geometric,
}

/// Ends when a step multiplies the estimate by less than 1 + e^−10.
const LOG_LEAST_RISE: f64 = -10.0;

struct Particle<S> {
    state: S,
    log_likelihood: f64,
    label: f64,
}

impl<S> Particle<S> {
    fn floor(&self) -> Floor {
        Floor { log_likelihood: self.log_likelihood, label: self.label }
    }

    fn order(&self, other: &Self) -> Ordering {
        other.floor().compare(self.log_likelihood).then(self.label.total_cmp(&other.label))
    }
}

/// Σ (V(Cₜ) − V(Cₜ₊₁)) · the mean of Cₜ and Cₜ₊₁, as a logarithm: the middle between the two sums of Eq. 48, with V(Cₜ) as
/// [`Shrinkage`] has it.
struct Sum {
    log_shrink: f64,
    log_volume: f64,
    /// log Cₜ.
    last: f64,
    log_total: f64,
}

impl Sum {
    fn new(particles: usize, shrinkage: Shrinkage) -> Self {
        let reciprocal = 1.0 / float(particles);
        let log_shrink = match shrinkage {
            Shrinkage::Mean => -f_log1p(reciprocal),
            Shrinkage::Geometric => -reciprocal,
        };
        Self { log_shrink, log_volume: 0.0, last: f64::NEG_INFINITY, log_total: f64::NEG_INFINITY }
    }

    /// The next threshold. Returns by how much the logarithm of the sum rose.
    fn add(&mut self, log_likelihood: f64) -> f64 {
        let log_shell = self.log_volume + f_log(-f_exp(self.log_shrink) + 1.0);
        let term = log_shell + log_add(self.last, log_likelihood) - std::f64::consts::LN_2;
        let before = self.log_total;
        self.log_total = log_add(self.log_total, term);
        self.log_volume += self.log_shrink;
        self.last = log_likelihood;
        if before == f64::NEG_INFINITY { f64::INFINITY } else { self.log_total - before }
    }

    /// The volume that is left has the mean likelihood of the particles in it.
    fn finish(self, particles: impl Iterator<Item = f64>, count: usize) -> f64 {
        let inside = particles.fold(f64::NEG_INFINITY, log_add);
        log_add(self.log_total, self.log_volume + inside - f_log(float(count)))
    }
}

fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + f_log1p(f_exp(low - high)) }
}

impl NestedSampling {
    /// A new particle above the floor, from a copy of another one.
    fn replace<M: Constrained>(
        &self,
        model: &mut M,
        problem: &Problem<'_, M>,
        from: &Particle<M::State>,
        floor: &Floor,
        stream: &mut Stream,
    ) -> Result<Particle<M::State>, Error> {
        let mut state = from.state.clone();
        let mut log_likelihood = from.log_likelihood;
        for _ in 0..self.transitions {
            problem.tick()?;
            log_likelihood = model.step_constrained(&mut state, floor, stream)?;
        }
        // A tie has a label above that of the floor.
        let share = floor.share(log_likelihood);
        let label = 1.0 - share * (1.0 - stream.uniform());
        Ok(Particle { state, log_likelihood, label })
    }
}

impl<M: Constrained> Estimator<M> for NestedSampling {
    fn name(&self) -> &'static str {
        if self.particles > 2 { "NS particles" } else { "NS" }
    }

    fn kind(&self) -> Kind {
        Kind::NoGuarantee
    }

    fn knob(&self) -> Knob {
        if self.particles > 2 {
            Knob::new("particles", self.particles)
        } else {
            Knob::new("transitions", self.transitions)
        }
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("nested sampling", "particles", 2, self.particles)?;
        at_least("nested sampling", "transitions", 1, self.transitions)?;
        let mut model = problem.model.clone();
        let mut stream = key.stream();
        let mut particles = Vec::with_capacity(self.particles);
        for _ in 0..self.particles {
            let state = model.draw_initial(&mut stream)?;
            let log_likelihood = model.log_likelihood(&state)?;
            particles.push(Particle { state, log_likelihood, label: stream.uniform() });
        }
        let mut sum = Sum::new(self.particles, self.shrinkage);
        loop {
            let worst = (1..self.particles)
                .fold(0, |w, k| if particles[k].order(&particles[w]) == Ordering::Less { k } else { w });
            let floor = particles[worst].floor();
            let rise = sum.add(floor.log_likelihood);
            // Any of the others, equally likely.
            let other = (worst + 1 + stream.index_below(self.particles - 1)) % self.particles;
            particles[worst] = self.replace(&mut model, problem, &particles[other], &floor, &mut stream)?;
            if rise < f_log1p(f_exp(LOG_LEAST_RISE)) {
                break;
            }
        }
        Ok(sum.finish(particles.iter().map(|p| p.log_likelihood), self.particles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With likelihoods that are known at the volumes the sum is a trapezoidal rule: ∫ L dV for L = 1 + 2(1 − V) is 2.
    #[test]
    fn the_sum_is_the_integral() {
        let mut sum = Sum::new(100, Shrinkage::Mean);
        for t in 1..2000 {
            let volume = (100.0_f64 / 101.0).powi(t);
            sum.add((1.0 + 2.0 * (1.0 - volume)).ln());
        }
        // Trapezoids are exact for what is linear in V but for the first, which knows nothing of the likelihood at V = 1.
        let first = 1.0 / 101.0 * 0.5;
        let total = sum.finish([3.0_f64.ln(); 2].into_iter(), 2).exp();
        assert!((total - (2.0 - first)).abs() < 1e-4, "{total}");
    }
}
