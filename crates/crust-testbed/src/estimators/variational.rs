//! Variational Bayes with restarts (sections 5.1 and 6.2).

use crust_math::random::{Stream, StreamKey};

use super::{Combination, Error, Estimator, Kind, Knob, Problem, at_least};
use crate::model::Variational;

/// The highest bound ℱ(q) of several attempts.
#[derive(Clone, Copy, Debug)]
pub struct VariationalBayes {
    pub restarts: usize,
    /// Add the logarithm of the number of relabellings. The result is no longer a bound: ℱ of the mixture of all
    /// relabelled q is at most that much higher than ℱ(q), and reaches it only if they do not overlap.
    pub symmetry_correction: bool,
}

/// An attempt ends when ℱ rises by less than [`LEAST_RISE`] over this many rounds.
const ROUNDS: usize = 50;
const LEAST_RISE: f64 = 0.01;

fn attempt<M: Variational>(model: &mut M, problem: &Problem<'_, M>, stream: &mut Stream) -> Result<f64, Error> {
    let mut factors = model.initial_factors(stream)?;
    let mut before = f64::NEG_INFINITY;
    loop {
        for _ in 0..ROUNDS {
            problem.tick()?;
            model.update(&mut factors)?;
        }
        let bound = model.bound(&factors)?;
        // Also ends if the bound is not a number.
        if !matches!((bound - before).partial_cmp(&LEAST_RISE), Some(std::cmp::Ordering::Greater)) {
            return Ok(bound.max(before));
        }
        before = bound;
    }
}

impl<M: Variational> Estimator<M> for VariationalBayes {
    fn name(&self) -> &'static str {
        if self.symmetry_correction { "VB+sym" } else { "VB" }
    }

    fn kind(&self) -> Kind {
        if self.symmetry_correction { Kind::Estimate } else { Kind::LowerBound }
    }

    fn combination(&self) -> Combination {
        Combination::Greatest
    }

    fn knob(&self) -> Knob {
        Knob::new("restarts", self.restarts)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("variational Bayes", "attempts", 1, self.restarts)?;
        let mut model = problem.model.clone();
        let mut best = f64::NEG_INFINITY;
        for step in (0..).take(self.restarts) {
            best = best.max(attempt(&mut model, problem, &mut key.step(step).stream())?);
        }
        Ok(if self.symmetry_correction { best + model.log_symmetries() } else { best })
    }
}
