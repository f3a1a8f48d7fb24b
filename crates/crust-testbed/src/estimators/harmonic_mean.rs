//! The harmonic mean estimator (section 3.2).

use crust_infer::evidence;
use crust_math::random::StreamKey;

use super::{Error, Estimator, Kind, Knob, Problem, at_least, own_streams};
use crate::model::Model;

/// The harmonic mean of the likelihood over draws from the posterior (Eqs. 6–7), which are those of a Markov chain that
/// starts at the exact draw, as in section 6.
///
/// Every state of the chain is an exact draw, so the mean of reciprocals is unbiased and the estimate is a stochastic
/// upper bound. It is an exceedingly loose one: do not use it for anything but comparisons.
#[derive(Clone, Copy, Debug)]
pub struct HarmonicMean {
    pub draws: usize,
}

impl<M: Model> Estimator<M> for HarmonicMean {
    fn name(&self) -> &'static str {
        "HME"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticUpperBound
    }

    fn knob(&self) -> Knob {
        Knob::new("draws", self.draws)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("the harmonic mean", "draws", 1, self.draws)?;
        let exact = problem.exact("the harmonic mean")?;
        let key = own_streams(key);
        let chain = evidence::posterior_log_likelihoods(&mut problem.population(), exact, self.draws, key)?;
        Ok(evidence::harmonic_mean(&[chain]).log_z)
    }
}
