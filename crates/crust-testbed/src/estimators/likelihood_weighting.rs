//! Likelihood weighting (section 3.1).

use crust_diagnose::sandwich::lower_bound;
use crust_math::random::StreamKey;

use super::{Error, Estimator, Kind, Knob, Problem, at_least};
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
        let mut model = problem.model.clone();
        let mut stream = key.stream();
        let mut weights = Vec::with_capacity(self.proposals);
        for _ in 0..self.proposals {
            problem.tick()?;
            let state = model.draw_initial(&mut stream)?;
            weights.push(model.log_likelihood(&state)?);
        }
        Ok(lower_bound(&weights))
    }
}
