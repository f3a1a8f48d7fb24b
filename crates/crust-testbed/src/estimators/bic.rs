//! The Bayesian information criterion.

use crust_math::random::StreamKey;
use pxfm::f_log;

use super::{Combination, Error, Estimator, Kind, Knob, Problem, at_least, float};
use crate::model::Fit;

/// log p(Y | θ̂) − (d/2) log N, with the best fit of several attempts.
#[derive(Clone, Copy, Debug)]
pub struct Bic {
    pub restarts: usize,
}

impl<M: Fit> Estimator<M> for Bic {
    fn name(&self) -> &'static str {
        "BIC"
    }

    fn kind(&self) -> Kind {
        Kind::Estimate
    }

    /// The penalty is the same in all trials: the best is the one with the best fit.
    fn combination(&self) -> Combination {
        Combination::Greatest
    }

    fn knob(&self) -> Knob {
        Knob::new("restarts", self.restarts)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("the BIC", "attempts", 1, self.restarts)?;
        let mut model = problem.model.clone();
        let mut best = f64::NEG_INFINITY;
        for step in (0..).take(self.restarts) {
            problem.tick()?;
            best = best.max(model.maximum_log_likelihood(&mut key.step(step).stream())?);
        }
        Ok(best - 0.5 * float(model.free_parameters()) * f_log(float(model.cases())))
    }
}
