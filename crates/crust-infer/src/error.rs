//! What can go wrong in a run.

use crate::metric::NotPositive;
use crate::step_size::SearchFailure;
use crate::target::Fatal;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program that defines the density is wrong.
    #[error(transparent)]
    Fatal(#[from] Fatal),
    #[error("{name} is {value}, but must be {must_be}")]
    Setting { name: &'static str, value: String, must_be: &'static str },
    #[error("chain {chain}: no point to start from: {failure}")]
    Initial { chain: u32, failure: InitialFailure },
    #[error("chain {chain}: {failure}")]
    StepSize { chain: u32, failure: SearchFailure },
    #[error(
        "chain {chain}: {failure} after warm-up iteration {iteration}: the chain went to extreme values, \
         as it does when the posterior is improper or too wide"
    )]
    Metric { chain: u32, iteration: usize, failure: NotPositive },
    #[error("interrupted")]
    Interrupted,
    /// Annealing has nowhere to go.
    #[error(
        "the likelihood is zero or not a number at all of {draws} draws from the prior{}: check the priors, or that the data \
         are possible under the model",
        reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    )]
    NoLikelihood { draws: usize, reason: Option<String> },
}

/// Why a chain could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialFailure {
    /// Whether all coordinates were given by the user.
    pub given: bool,
    pub tries: u32,
    /// How often there was a density but a coordinate of its gradient was not finite.
    pub bad_gradients: u32,
    /// Why the last point was rejected, if the target says.
    pub reason: Option<String>,
}

impl std::fmt::Display for InitialFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { given, tries, bad_gradients, reason } = self;
        let no_density = tries - bad_gradients;
        match (given, bad_gradients) {
            (true, 0) => write!(f, "the density at the given point is zero or not a number")?,
            (true, _) => write!(f, "the gradient at the given point is not finite")?,
            (false, 0) => write!(f, "the density was zero or not a number in all of {tries} random points")?,
            (false, _) => write!(
                f,
                "of {tries} random points, {no_density} had a density that is zero or not a number and \
                 {bad_gradients} a gradient that is not finite"
            )?,
        }
        if let Some(reason) = reason {
            write!(f, " ({reason})")?;
        }
        write!(f, "; give {}initial values, or narrow the range of random ones", if *given { "other " } else { "" })
    }
}
