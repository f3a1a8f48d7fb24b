//! What options can be, where it is one of a few words or a limited number.

use clap::ValueEnum;
use crust_api::PathChoice;
use std::num::NonZero;

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
    /// For `WebPPL` programs: one choice is drawn again from the prior, as `WebPPL` does; otherwise the same as `rwm`
    Mh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SimulationChoice {
    /// Draws of the fit
    Conditional,
    /// Fitted hyperparameters, and the prior of everything else
    Fitted,
    /// The prior
    Prior,
    /// Nothing: the real data alone, with draws of the fit in place of exact ones
    Nothing,
}

/// Seconds, if there is a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget(pub Option<f64>);

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
    /// Mean field on a correlated normal distribution: its true errors, and lower bounds by short chains
    TaddaaGaussian,
    /// The same on Neal's funnel
    TaddaaFunnel,
    /// The same on a curved distribution in two dimensions
    TaddaaBanana,
    /// The same for a logistic regression on candies, which `--data` gives; NUTS has the truth
    TaddaaCandy,
    /// The same for a regression on genes with a horseshoe prior; `--data` gives the table of patients
    TaddaaCancer,
    /// The same for a neural network on candies
    TaddaaBnn,
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

/// The most chains of one run: each needs room of its own.
const MOST_CHAINS: usize = 100_000;
/// The most iterations, draws or distributions of one chain. A schedule of so many takes some hundred megabytes.
const MOST_STEPS: usize = 10_000_000;
/// The most threads, and chains that a thread evaluates together.
const MOST_AT_ONCE: usize = 4_096;

pub(super) fn chains(text: &str) -> Result<usize, String> {
    between(text, 2, MOST_CHAINS)
}

pub(super) fn one_chain_or_more(text: &str) -> Result<u32, String> {
    u32::try_from(between(text, 1, MOST_CHAINS)?).map_err(|e| e.to_string())
}

pub(super) fn distributions(text: &str) -> Result<usize, String> {
    between(text, 1, MOST_STEPS)
}

pub(super) fn iterations(text: &str) -> Result<usize, String> {
    between(text, 0, MOST_STEPS)
}

pub(super) fn at_least_ten(text: &str) -> Result<usize, String> {
    between(text, 10, MOST_STEPS)
}

pub(super) fn one_in(text: &str) -> Result<NonZero<usize>, String> {
    non_zero(text, MOST_STEPS)
}

pub(super) fn threads(text: &str) -> Result<NonZero<usize>, String> {
    non_zero(text, MOST_AT_ONCE).map_err(|words| words + "; without the option all cores are used")
}

pub(super) fn lanes(text: &str) -> Result<NonZero<usize>, String> {
    non_zero(text, MOST_AT_ONCE)
}

/// Where a list of them is wanted.
pub(super) fn lanes_at_once(text: &str) -> Result<usize, String> {
    between(text, 1, MOST_AT_ONCE)
}

fn non_zero(text: &str, most: usize) -> Result<NonZero<usize>, String> {
    NonZero::new(between(text, 1, most)?).ok_or_else(|| "must not be 0".to_owned())
}

fn between(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ => Err(format!("must be a whole number from {least} to {most}")),
    }
}

/// A number above 0: nats, seconds, a multiple.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("must be a number above 0".to_owned()),
    }
}

/// A time: `30`, `30s`, `5m`, `1.5h`, `none`.
pub(super) fn budget(text: &str) -> Result<Budget, String> {
    if text == "none" {
        return Ok(Budget(None));
    }
    let units = [("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];
    let with_unit = units.iter().filter_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let seconds = with_unit
        .chain([(text, 1.0)])
        .find_map(|(number, factor)| positive(number.trim()).ok().map(|number| number * factor));
    seconds.map(|seconds| Budget(Some(seconds))).ok_or_else(|| "a time is `30s`, `5m`, `2h`, or `none`".to_owned())
}

/// A distance, which may be 0.
pub(super) fn radius(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x >= 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("must be a number, not negative".to_owned()),
    }
}

/// A probability that is neither 0 nor 1.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_to_their_limits() {
        assert_eq!(chains("2"), Ok(2));
        for text in ["1", "0", "-3", "1000000000000", "many", "1e3"] {
            assert_eq!(chains(text), Err("must be a whole number from 2 to 100000".to_owned()), "{text}");
        }
        assert_eq!(
            threads("0"),
            Err("must be a whole number from 1 to 4096; without the option all cores are used".into())
        );
        assert_eq!(positive("0.5"), Ok(0.5));
        for text in ["-1", "0", "inf", "nan", "x"] {
            assert!(positive(text).is_err(), "{text}");
        }
        let seconds = |text: &str| budget(text).map(|Budget(seconds)| seconds);
        assert_eq!((seconds("90"), seconds("1.5m"), seconds("2h")), (Ok(Some(90.0)), Ok(Some(90.0)), Ok(Some(7200.0))));
        assert!(seconds("none") == Ok(None) && budget("-3s").is_err() && budget("soon").is_err());
        assert!(rate("1").is_err() && rate("0.9").is_ok());
    }
}
