//! What options can be, where it is one of a few words or a limited number.

use clap::ValueEnum;
use crust_api::PathChoice;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum EvidenceMethod {
    /// Bridge sampling between the posterior and a density fitted to it: accurate where the posterior has one mode
    Bridge,
    /// Importance sampling from a density fitted to the posterior: a stochastic lower bound
    Importance,
    /// Sequential Monte Carlo from the prior to the posterior: a stochastic lower bound, also with many modes
    Smc,
    /// Annealed importance sampling: a stochastic lower bound, also with many modes
    Ais,
    /// Chains at many temperatures, and the ratios between neighbours
    SteppingStone,
    /// Chains at many temperatures, and the integral of the mean log likelihood
    Thermodynamic,
    /// Nested sampling, with random-walk Metropolis within the constrained prior
    Nested,
    /// The mean likelihood of draws from the prior: a stochastic lower bound, as a rule a very poor one
    LikelihoodWeighting,
    /// The harmonic mean of the likelihood over draws of the posterior: do not trust it
    HarmonicMean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelChoice {
    /// Hamiltonian Monte Carlo with short trajectories
    Hmc,
    /// The No-U-Turn sampler
    Nuts,
    /// Random-walk Metropolis, which needs no gradient
    Rwm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScheduleChoice {
    /// Equal steps of β
    Linear,
    /// Small steps at both ends
    Sigmoid,
    /// Equal steps of thermodynamic length, as a pilot run measures it
    Adaptive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetricChoice {
    /// The variances
    Diag,
    /// The whole matrix
    Dense,
    /// Nothing: the identity
    Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodChoice {
    /// The No-U-Turn sampler
    Nuts,
    /// Hamiltonian Monte Carlo with trajectories of length 2π
    Hmc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// A grid with four modes behind a barrier: exact J and B, and B-hat from chains
    Barrier,
    /// A random grid that is easy to explore: exact J and B, and B-hat from chains
    EasyRandom,
    /// A random grid with separated modes: exact J and B, and B-hat from chains
    HardRandom,
    /// The five models of the BREAD paper on their data, for several numbers of transitions before the reverse chains
    BreadReal,
    /// Matrix factorization with one factor summed out against both in the program
    Representations,
    /// Three models on the data of each: which one has the largest marginal likelihood?
    Table1,
}

pub(super) fn path_choice(text: &str) -> Result<PathChoice, String> {
    match text.split_once(':') {
        None if text == "prior" || text == "geometric" => Ok(PathChoice::Prior),
        None if text == "reference" => Ok(PathChoice::Reference),
        None if text == "damped" => Ok(PathChoice::Damped),
        Some(("data", name)) if !name.is_empty() => Ok(PathChoice::Data(name.to_owned())),
        _ => Err(
            "a path is `prior`, `reference`, `damped`, or `data:N` for the integer N of the data block that counts \
                  observations"
                .to_owned(),
        ),
    }
}

pub(super) fn at_least_two(text: &str) -> Result<usize, String> {
    at_least(text, 2)
}

pub(super) fn at_least_ten(text: &str) -> Result<usize, String> {
    at_least(text, 10)
}

fn at_least(text: &str, least: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= least => Ok(n),
        Ok(_) => Err(format!("must be at least {least}")),
        Err(e) => Err(format!("{e}")),
    }
}
