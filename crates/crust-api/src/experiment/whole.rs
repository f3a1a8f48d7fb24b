//! The posterior of a dataset as a target, without a path to it: what an approximation is fitted to.

use super::StanExperiment;
use crate::error::Trouble;
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::experiment::REAL;
use crust_diagnose::result::Simulation;
use crust_infer::conditioned::Conditioned;
use crust_infer::drive::{Control, Parallelism};
use crust_infer::target::{Batch, Fatal, Target};

/// The posterior of one dataset, or of two at once.
#[derive(Clone)]
pub(crate) enum Whole<'a> {
    One(StanTarget<'a>),
    Both(Box<Conditioned<StanTarget<'a>>>),
}

impl Target for Whole<'_> {
    fn dimension(&self) -> usize {
        match self {
            Self::One(target) => target.dimension(),
            Self::Both(target) => target.dimension(),
        }
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        match self {
            Self::One(target) => target.evaluate(batch),
            Self::Both(target) => target.evaluate(batch),
        }
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        match self {
            Self::One(target) => target.rejection(lane),
            Self::Both(target) => target.rejection(lane),
        }
    }
}

impl<'a> StanExperiment<'a> {
    /// What the path of a dataset ends at, with the same constants.
    pub fn whole(&self, dataset: u32) -> Result<Whole<'a>, Trouble> {
        let integral = self.loaded.log_prior_integral.unwrap_or(0.0);
        let conditional = self.settings.simulation == Simulation::Conditional && dataset != REAL;
        if !conditional {
            return Ok(Whole::One(self.many(dataset)?.with_prior_integral(integral)));
        }
        let evaluation = Evaluation::of_many(self.model(REAL)?);
        let real = self.posterior(REAL, evaluation)?.with_prior_integral(integral);
        let other = self.posterior(dataset, evaluation)?.with_prior_integral(integral);
        let differs = self.prior_differs(real.clone(), other.clone());
        Ok(Whole::Both(Box::new(Conditioned::new(real, other, differs))))
    }

    /// How evaluations are spread, and who ends them.
    pub fn machine(&self) -> (Parallelism, &Control) {
        (self.settings.how, &self.settings.control)
    }
}
