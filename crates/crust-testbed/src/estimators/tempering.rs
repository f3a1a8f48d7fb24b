//! Sequential Monte Carlo along the geometric path, with temperatures that a pilot run finds.

use crust_infer::evidence::{Keep, SmcSettings, find_schedule, smc};
use crust_math::random::StreamKey;

use super::{Error, Estimator, Kind, Knob, Problem, at_least, mean, own_streams};
use crate::model::Model;

/// Tempered SMC. A first population rises as far at each step as keeps a share of its effective number; a second one,
/// which the estimate is from, uses the temperatures of the first. Temperatures that depend on the particles they weigh
/// would bias the estimate; these do not, so it is a stochastic lower bound.
#[derive(Clone, Copy, Debug)]
pub struct TemperedSmc {
    pub particles: usize,
    /// Transitions at each temperature.
    pub sweeps: usize,
    /// The share of the effective number that a step keeps.
    pub efficiency: f64,
}

impl<M: Model> Estimator<M> for TemperedSmc {
    fn name(&self) -> &'static str {
        "tempered SMC"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticLowerBound
    }

    fn knob(&self) -> Knob {
        Knob::new("sweeps", self.sweeps)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("tempered SMC", "particles", 2, self.particles)?;
        let settings = SmcSettings { islands: 1, resampled: self.particles, chain: self.sweeps + 1, keep: Keep::Last };
        let mut population = problem.population();
        // The two populations share no numbers.
        let [pilot, own] = [1, 2].map(|step| problem.run(own_streams(key.step(step))));
        let schedule = find_schedule(&mut population, self.efficiency, settings, &pilot)?;
        Ok(mean(&smc(&mut population, &schedule, settings, &own)?.islands))
    }
}
