//! Estimators of a marginal likelihood, each under the name it has in the BDMC paper, each saying what kind of number
//! it gives.
//!
//! A new estimator implements [`Estimator`] for all models that offer what it needs (see [`crate::model`]) and is
//! listed in a [roster](crate::trials).

mod ais;
mod bic;
mod chib;
mod harmonic_mean;
mod held_out;
mod likelihood_weighting;
mod nested;
mod path;
#[cfg(test)]
mod paths;
mod shme;
mod smc;
mod tempering;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod urn;
mod variational;

pub use ais::{Ais, BothDirections, ReverseAis};
pub use bic::Bic;
pub use chib::ChibMurraySalakhutdinov;
pub use harmonic_mean::HarmonicMean;
pub use held_out::held_out;
pub use likelihood_weighting::LikelihoodWeighting;
pub use nested::NestedSampling;
pub use path::{PathMethod, PathSampling};
pub use shme::Shme;
pub use smc::Smc;
pub use tempering::TemperedSmc;
pub use variational::VariationalBayes;

pub(crate) use ais::both_directions;

pub use crust_infer::evidence::{Combination, Kind, Resampling, Shrinkage};

use crust_diagnose::sandwich::{bennett, lower_bound, upper_bound};
use crust_infer::anneal::BadSchedule;
use crust_infer::drive::{Control, Parallelism};
use crust_infer::evidence::{OneByOne, Shared};
use crust_infer::target::Fatal;
use crust_math::random::StreamKey;

use crate::model::Model;

/// Data whose marginal likelihood is wanted.
#[derive(Debug)]
pub struct Problem<'a, M: Model> {
    pub model: &'a M,
    /// An exact draw from the posterior, which simulated data have: the state that generated them (section 4.2).
    pub exact: Option<&'a M::State>,
    /// Counts transitions, and ends a run.
    pub control: &'a Control,
}

impl<M: Model> Problem<'_, M> {
    fn exact(&self, estimator: &'static str) -> Result<&M::State, Error> {
        self.exact.ok_or(Error::NoExactDraw(estimator))
    }

    /// The model's states, on this thread: trials run in parallel, so that their chains need not.
    fn population(&self) -> OneByOne<'_, M> {
        OneByOne::new(self.model.clone(), Parallelism::default(), self.control)
    }

    fn run(&self, key: StreamKey) -> Shared<'_> {
        Shared { key, how: Parallelism::default(), control: self.control }
    }

    /// One more transition.
    fn tick(&self) -> Result<(), Error> {
        if self.control.is_interrupted() {
            return Err(crust_infer::error::Error::Interrupted.into());
        }
        self.control.count_iteration();
        Ok(())
    }
}

/// δ of the sigmoidal schedule of section 6.2.
pub(crate) const DELTA: f64 = 4.0;

/// The estimators of [`crust_infer::evidence`] fill in purposes of their own: what the purpose has told apart goes into
/// the seed (with the step, and the finaliser of `splitmix64`).
fn own_streams(key: StreamKey) -> StreamKey {
    let mut mixed = key.seed ^ u64::from(key.purpose.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= key.step.wrapping_mul(0xd1b5_4a32_d192_ed03);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    StreamKey { seed: mixed ^ (mixed >> 31), step: 0, ..key }
}

/// The setting that trades accuracy for time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Knob {
    pub name: &'static str,
    pub value: u64,
}

impl Knob {
    fn new(name: &'static str, value: usize) -> Self {
        Self { name, value: value as u64 }
    }
}

/// One way to estimate log p(Y).
pub trait Estimator<M: Model>: Send + Sync {
    /// As the paper abbreviates it.
    fn name(&self) -> &'static str;

    fn kind(&self) -> Kind;

    fn combination(&self) -> Combination {
        self.kind().into()
    }

    fn knob(&self) -> Knob;

    /// An estimate of log p(Y). All random numbers come from streams of `key` that differ in chain and step.
    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error>;
}

/// Why there is no estimate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Infer(#[from] crust_infer::error::Error),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error(
        "{0} starts with an exact draw from the posterior, which only simulated data have: give the state that generated the data"
    )]
    NoExactDraw(&'static str),
    #[error("{estimator} needs at least {least} {what}, but was given {given}")]
    TooFew { estimator: &'static str, what: &'static str, least: usize, given: usize },
}

impl From<Fatal> for Error {
    fn from(fatal: Fatal) -> Self {
        Self::Infer(fatal.into())
    }
}

impl Error {
    /// Whether the user ended the run.
    pub fn is_interruption(&self) -> bool {
        matches!(self, Self::Infer(crust_infer::error::Error::Interrupted))
    }
}

fn at_least(estimator: &'static str, what: &'static str, least: usize, given: usize) -> Result<(), Error> {
    if given < least { Err(Error::TooFew { estimator, what, least, given }) } else { Ok(()) }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
pub(crate) fn float(n: usize) -> f64 {
    n as f64
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

/// Bennett's estimate from both directions; where these do not overlap and it does not exist, the middle between the
/// bounds.
///
/// `forward` and `reverse` are as in [`crust_diagnose::sandwich`].
fn from_both_sides(forward: &[f64], reverse: &[f64]) -> f64 {
    let estimate = bennett(forward, reverse).log_z;
    if estimate.is_nan() { f64::midpoint(lower_bound(forward), upper_bound(reverse)) } else { estimate }
}
