//! Likelihood weighting (section 3.1).

use crust_infer::evidence;
use crust_math::random::StreamKey;

use super::{Error, Estimator, Kind, Knob, Problem, at_least, own_streams};
use crate::model::Model;

/// The mean likelihood of draws from the prior: importance sampling with the prior as the proposal (Eqs. 4–5).
#[derive(Clone, Copy, Debug)]
pub struct LikelihoodWeighting {
    pub proposals: usize,
}

impl<M: Model> Estimator<M> for LikelihoodWeighting {
    fn name(&self) -> &'static str {
        "LW"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticLowerBound
    }

    fn knob(&self) -> Knob {
        Knob::new("proposals", self.proposals)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("likelihood weighting", "proposals", 1, self.proposals)?;
        let draws = u32::try_from(self.proposals).unwrap_or(u32::MAX);
        Ok(evidence::likelihood_weighting(&mut problem.population(), draws, own_streams(key))?.log_z)
    }
}
