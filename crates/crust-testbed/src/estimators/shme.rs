//! The sequential harmonic mean estimator (Algorithm 3): particle learning in reverse.

use crust_diagnose::sandwich::{log_mean_exp, upper_bound};
use crust_math::random::StreamKey;

use super::smc::{RESAMPLER, streams};
use super::{Error, Estimator, Kind, Knob, Problem, at_least, float};
use crate::model::{Proposal, Sequential};
use crust_infer::evidence::{Resampling, effective_size, take};

/// Starts with all cases and the exact draw, and gives up one case at a time.
#[derive(Clone, Copy, Debug)]
pub struct Shme {
    pub particles: usize,
    /// MCMC transitions before each case is given up.
    pub transitions: usize,
    pub proposal: Proposal,
    /// Particles are resampled when the effective number of their reciprocal weights falls below this share.
    pub threshold: f64,
    pub resampling: Resampling,
}

impl Shme {
    /// One particle, as in the paper's experiments.
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

impl<M: Sequential> Estimator<M> for Shme {
    fn name(&self) -> &'static str {
        "SHME"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticUpperBound
    }

    fn knob(&self) -> Knob {
        Knob::new("transitions", self.transitions)
    }

    /// The mean of 1/w is an unbiased estimate of 1/p(Y): the path of particle learning is walked backwards, with the
    /// reversal of its kernels, so that the ratio of the two probabilities of a path is w/p(Y). Particles that share
    /// their exact start are exact each, which is all that an expectation needs.
    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("SHME", "particles", 1, self.particles)?;
        let mut model = problem.model.clone();
        let mut streams = streams(key, self.particles);
        let mut resampler = key.chain(RESAMPLER).stream();
        let mut particles = vec![model.particle(problem.exact("SHME")?)?; self.particles];
        // log 1/w
        let mut log_reciprocals = vec![0.0; self.particles];
        for left in (0..model.cases()).rev() {
            for ((particle, stream), log_reciprocal) in particles.iter_mut().zip(&mut streams).zip(&mut log_reciprocals)
            {
                for _ in 0..self.transitions {
                    problem.tick()?;
                    model.refresh_reversed(particle, stream)?;
                }
                *log_reciprocal -= model.retract(particle, self.proposal)?;
            }
            if left > 0 && effective_size(&log_reciprocals) < self.threshold * float(self.particles) {
                let chosen = self.resampling.choose(&log_reciprocals, self.particles, &mut resampler);
                // All stay where all weights are 0.
                if !chosen.is_empty() {
                    particles = take(particles, &chosen);
                }
                let level = log_mean_exp(&log_reciprocals);
                log_reciprocals.fill(level);
            }
        }
        let estimates: Vec<f64> = log_reciprocals.iter().map(|r| -r).collect();
        Ok(upper_bound(&estimates))
    }
}
