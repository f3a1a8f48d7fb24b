//! Nested sampling (sections 5.3 and 6.2).

use crust_infer::evidence::{self, NestedSettings, Shrinkage};
use crust_math::random::StreamKey;

use super::{Error, Estimator, Kind, Knob, Problem, at_least, own_streams};
use crate::model::{Constrained, Model};

/// Nested sampling with MCMC in the constrained prior.
#[derive(Clone, Copy, Debug)]
pub struct NestedSampling {
    /// K, at least 2, which is what the paper found best.
    pub particles: usize,
    /// MCMC transitions for each new particle.
    pub transitions: usize,
    pub shrinkage: Shrinkage,
}

/// Ends when the particles may add no more than this share: e^−10.
const REMAINDER: f64 = 4.5e-5;
/// Farther than the logarithm of any likelihood ratio here: the likelihood rises without end then.
const MOST_NATS: f64 = 1e5;

impl<M: Constrained + Model> Estimator<M> for NestedSampling {
    fn name(&self) -> &'static str {
        if self.particles > 2 { "NS particles" } else { "NS" }
    }

    fn kind(&self) -> Kind {
        Kind::Estimate
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
        let settings = NestedSettings {
            live: self.particles,
            replaced: 1,
            steps: self.transitions,
            shrinkage: self.shrinkage,
            remainder: REMAINDER,
            most_nats: MOST_NATS,
        };
        Ok(evidence::nested(&mut problem.population(), settings, &problem.run(own_streams(key)))?.log_z)
    }
}
