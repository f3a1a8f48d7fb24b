//! Sequential Monte Carlo over the cases: particle learning (Algorithm 2).

use crust_diagnose::sandwich::log_mean_exp;
use crust_math::random::{Stream, StreamKey};

use super::{Error, Estimator, Kind, Knob, Problem, at_least, float};
use crate::model::{Proposal, Sequential};
use crust_infer::evidence::{Resampling, effective_size, take};

/// Particle learning, with any number of particles (the paper's experiments have one).
#[derive(Clone, Copy, Debug)]
pub struct Smc {
    pub particles: usize,
    /// MCMC transitions after each case.
    pub transitions: usize,
    pub proposal: Proposal,
    /// Particles are resampled when their effective number falls below this share.
    pub threshold: f64,
    pub resampling: Resampling,
}

impl Smc {
    /// As in section 6.2.
    pub fn single(transitions: usize) -> Self {
        Self {
            particles: 1,
            transitions,
            proposal: Proposal::Posterior,
            threshold: 0.5,
            resampling: Resampling::Systematic,
        }
    }
}

/// Resampling draws from a chain number that no particle has.
pub(super) const RESAMPLER: u32 = u32::MAX;

pub(super) fn streams(key: StreamKey, particles: usize) -> Vec<Stream> {
    (0..).take(particles).map(|k| key.chain(k).stream()).collect()
}

impl<M: Sequential> Estimator<M> for Smc {
    /// With one particle the transitions are turned, as in the paper; with many, their number.
    fn name(&self) -> &'static str {
        if self.particles > 1 { "SMC particles" } else { "SMC" }
    }

    fn kind(&self) -> Kind {
        Kind::StochasticLowerBound
    }

    fn knob(&self) -> Knob {
        if self.particles > 1 {
            Knob::new("particles", self.particles)
        } else {
            Knob::new("transitions", self.transitions)
        }
    }

    /// The mean weight is unbiased: resampling by any scheme with the right expectations keeps Σ w h(x) for every h in
    /// expectation, and when it is done depends on the weights so far only.
    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("SMC", "particles", 1, self.particles)?;
        let mut model = problem.model.clone();
        let mut streams = streams(key, self.particles);
        let mut resampler = key.chain(RESAMPLER).stream();
        let mut particles = Vec::with_capacity(self.particles);
        for stream in &mut streams {
            particles.push(model.begin(stream)?);
        }
        let mut log_weights = vec![0.0; self.particles];
        let cases = model.cases();
        for case in 1..=cases {
            for ((particle, stream), log_weight) in particles.iter_mut().zip(&mut streams).zip(&mut log_weights) {
                *log_weight += model.extend(particle, self.proposal, stream)?;
            }
            if case == cases {
                // What comes after the last weight does not change the estimate.
                break;
            }
            if effective_size(&log_weights) < self.threshold * float(self.particles) {
                let chosen = self.resampling.choose(&log_weights, self.particles, &mut resampler);
                // All stay where all weights are 0.
                if !chosen.is_empty() {
                    particles = take(particles, &chosen);
                }
                // S/K: w stays an estimate of p(y₁…yᵢ), not of one factor.
                let level = log_mean_exp(&log_weights);
                log_weights.fill(level);
            }
            for (particle, stream) in particles.iter_mut().zip(&mut streams) {
                for _ in 0..self.transitions {
                    problem.tick()?;
                    model.refresh(particle, stream)?;
                }
            }
        }
        Ok(log_mean_exp(&log_weights))
    }
}
