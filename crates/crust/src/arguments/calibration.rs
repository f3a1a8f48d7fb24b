//! The arguments of `crust sbc`.

use super::choices::one_in;
use super::{Computing, Includes};
use clap::{Args, ValueEnum};
use crust_api::Error;
use std::num::NonZero;
use std::path::PathBuf;

/// Whose draws are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SbcMethod {
    /// The No-U-Turn sampler
    Nuts,
    /// A normal distribution without correlations that maximises the ELBO
    Meanfield,
    /// A normal distribution that maximises the ELBO
    Fullrank,
    /// The same with Student's t distribution
    StudentT,
    /// The normal distribution with the mode and the curvature of the posterior
    Laplace,
    /// The best normal distribution on the way of an optimiser
    Pathfinder,
    /// Several of those as a mixture
    MultiPathfinder,
}

impl From<SbcMethod> for crust_api::SbcMethod {
    fn from(method: SbcMethod) -> Self {
        use crust_api::ApproximationChoice as Choice;
        Self::Approximation(match method {
            SbcMethod::Nuts => return Self::Nuts,
            SbcMethod::Meanfield => Choice::Meanfield,
            SbcMethod::Fullrank => Choice::Fullrank,
            SbcMethod::StudentT => Choice::StudentT,
            SbcMethod::Laplace => Choice::Laplace,
            SbcMethod::Pathfinder => Choice::Pathfinder,
            SbcMethod::MultiPathfinder => Choice::MultiPathfinder,
        })
    }
}

/// Where simulated data come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SbcSimulation {
    /// The prior
    Prior,
    /// Draws of a fit to the real data, which are judged on both datasets together; for flat and vague priors
    Conditional,
}

#[derive(Debug, Args)]
pub struct Sbc {
    /// The Stan program
    pub model: PathBuf,
    /// Sizes and covariates, in Stan's JSON; outcomes are simulated and may be missing unless `--simulate conditional`
    pub data: Option<PathBuf>,
    /// How many datasets to simulate
    #[arg(long, value_name = "N", default_value = "200", value_parser = one_in)]
    pub datasets: NonZero<usize>,
    /// What is judged
    #[arg(long, value_enum, default_value_t = SbcMethod::Nuts)]
    pub method: SbcMethod,
    /// What parameters data are simulated with
    #[arg(long, value_enum, default_value_t = SbcSimulation::Prior)]
    pub simulate: SbcSimulation,
    /// A Stan program that simulates outcomes: its generated quantities of their names
    #[arg(long, value_name = "SIM.stan")]
    pub simulator: Option<PathBuf>,
    /// A folder for `report.html` and `result.json`
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub includes: Includes,
    #[command(flatten)]
    pub computing: Computing,
}

impl Sbc {
    pub fn options(&self) -> Result<crust_api::SbcOptions, Error> {
        Ok(crust_api::SbcOptions {
            datasets: self.datasets,
            method: self.method.into(),
            simulate: match self.simulate {
                SbcSimulation::Prior => crust_api::SbcSimulation::Prior,
                SbcSimulation::Conditional => crust_api::SbcSimulation::Conditional,
            },
            generation: self.includes.generation(None, self.simulator.as_deref())?,
        })
    }
}
