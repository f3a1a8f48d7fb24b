//! Draws at every distribution of a path, and three ways to use them: thermodynamic integration, stepping stones,
//! bridges.

use crust_infer::anneal::Schedule;
use crust_infer::evidence::{Pair, StonesSettings, stones};
use crust_math::random::StreamKey;

use super::{DELTA, Error, Estimator, Kind, Knob, Problem, at_least, from_both_sides, own_streams};
use crate::model::Model;

/// How the log ratio of two neighbouring normalisers follows from Δ = log f′(x) − log f(x) at draws of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathMethod {
    /// The trapezoidal rule for ∫ E[d log `f_β`/dβ] dβ (Gelman and Meng 1998), with its error term. E\[Δ\] is below log
    /// Z′/Z at the one and above at the other.
    Thermodynamic,
    /// log of the mean of e^Δ over the draws of the first (Xie et al. 2011).
    SteppingStone,
    /// The optimal bridge between the two (Meng and Wong 1996), which is Bennett's acceptance ratio.
    Bridge,
}

/// One chain that visits the distributions one after the other, and stays at each for a while.
#[derive(Clone, Copy, Debug)]
pub struct PathSampling {
    pub method: PathMethod,
    pub distributions: usize,
    /// Draws at each distribution.
    pub sweeps: usize,
}

impl<M: Model> Estimator<M> for PathSampling {
    fn name(&self) -> &'static str {
        match self.method {
            PathMethod::Thermodynamic => "TI",
            PathMethod::SteppingStone => "stepping stone",
            PathMethod::Bridge => "bridge",
        }
    }

    /// Draws of one distribution are the start of the next: no expectation is known.
    fn kind(&self) -> Kind {
        Kind::Estimate
    }

    fn knob(&self) -> Knob {
        Knob::new("distributions", self.distributions)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("path sampling", "draws at each distribution", 1, self.sweeps)?;
        let schedule = Schedule::sigmoid(self.distributions, DELTA)?;
        let settings = StonesSettings { chains: 1, burn_in: 0, draws: self.sweeps };
        let found = stones(&mut problem.population(), &schedule, settings, &problem.run(own_streams(key)))?;
        let bridge = |pair: &Pair| from_both_sides(&pair.up.concat(), &pair.down.concat());
        Ok(match self.method {
            PathMethod::Thermodynamic => found.thermodynamic,
            PathMethod::SteppingStone => found.log_z,
            PathMethod::Bridge => found.pairs.iter().map(bridge).sum(),
        })
    }
}
