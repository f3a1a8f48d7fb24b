//! The arguments of `crust approximate` and `crust taddaa`.

use super::choices::{chains, one_in, positive, radius};
use super::{Computing, Program};
use crate::terminal;
use clap::{Args, ValueEnum};
use crust_api::{Error, Subject};
use std::num::NonZero;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApproximationChoice {
    /// A normal distribution without correlations that maximises the ELBO
    Meanfield,
    /// A normal distribution that maximises the ELBO
    Fullrank,
    /// The same with Student's t distribution, its degrees of freedom chosen by the ELBO
    StudentT,
    /// A normal distribution whose covariance is diagonal plus one of low rank
    Lowrank,
    /// The normal distribution with the mode and the curvature of the posterior
    Laplace,
    /// The best normal distribution on the way of an optimiser
    Pathfinder,
    /// Several of those as a mixture
    MultiPathfinder,
}

impl ApproximationChoice {
    pub fn choice(self, rank: NonZero<usize>) -> crust_api::ApproximationChoice {
        match self {
            Self::Meanfield => crust_api::ApproximationChoice::Meanfield,
            Self::Fullrank => crust_api::ApproximationChoice::Fullrank,
            Self::StudentT => crust_api::ApproximationChoice::StudentT,
            Self::Lowrank => crust_api::ApproximationChoice::Lowrank(rank),
            Self::Laplace => crust_api::ApproximationChoice::Laplace,
            Self::Pathfinder => crust_api::ApproximationChoice::Pathfinder,
            Self::MultiPathfinder => crust_api::ApproximationChoice::MultiPathfinder,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShortKernel {
    /// Random-walk Metropolis, which needs no gradient
    Rwmh,
    /// The Metropolis-adjusted Langevin algorithm
    Mala,
    /// Barker's proposal
    Barker,
    /// Hamiltonian Monte Carlo with 1 to 10 leapfrog steps
    Hmc,
}

#[derive(Debug, Args)]
pub struct Approximate {
    #[command(flatten)]
    pub program: Program,
    /// The kind of approximation, on the unconstrained scale
    #[arg(long, value_enum, default_value_t = ApproximationChoice::Fullrank)]
    pub method: ApproximationChoice,
    /// The rank of `lowrank`
    #[arg(long, value_name = "R", default_value = "5", value_parser = one_in)]
    pub rank: NonZero<usize>,
    /// The radius of random starting points on the unconstrained scale
    #[arg(long, value_name = "RADIUS", default_value_t = 2.0, value_parser = radius)]
    pub init: f64,
    /// How many draws `--out` gets
    #[arg(long, value_name = "N", default_value = "1000", value_parser = one_in)]
    pub draws: NonZero<usize>,
    /// A folder for `report.html`, `result.json`, and draws of all quantities: `draws.csv` in the form that `CmdStan` gives its
    /// own, and `draws.zarr`. Those of `multi-pathfinder` are resampled by their importance
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub computing: Computing,
}

impl Approximate {
    pub fn options(&self) -> crust_api::ApproximateOptions {
        crust_api::ApproximateOptions {
            method: self.method.choice(self.rank),
            radius: self.init,
            draws: self.draws,
            folder: self.out.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct Taddaa {
    #[command(flatten)]
    pub program: Program,
    /// The approximation to fit and judge
    #[arg(
        long, value_enum, default_value_t = ApproximationChoice::Meanfield, conflicts_with_all = ["draws", "approximation"]
    )]
    pub method: ApproximationChoice,
    /// The rank of `lowrank`
    #[arg(long, value_name = "R", default_value = "5", value_parser = one_in)]
    pub rank: NonZero<usize>,
    /// Draws to judge instead: CSV files of `CmdStan` or with the names of the parameters as columns, `ArviZ`'s `NetCDF` or
    /// Zarr
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "approximation")]
    pub draws: Vec<PathBuf>,
    /// An approximation to judge instead, as `crust approximate --json` writes it: mean and covariance, or mean and sd,
    /// on the unconstrained scale
    #[arg(long, value_name = "FILE")]
    pub approximation: Option<PathBuf>,
    /// What to judge, such as `mean(x[1])`, `sd(x[1])`, `log_variance(x[1])`, `quantile(x[1], 0.9)`,
    /// `covariance(x[1], x[2])`, `P(x[1] > 0)`. Unless told otherwise the mean, the log variance and the 5, 50 and 95 %
    /// quantiles of every parameter
    #[arg(long, value_name = "F", num_args = 1..)]
    pub functional: Vec<String>,
    /// How the chains move
    #[arg(long, value_enum, default_value_t = ShortKernel::Hmc)]
    pub kernel: ShortKernel,
    /// How many chains, in place of as many as the tolerances need
    #[arg(long, value_name = "N", value_parser = chains)]
    pub chains: Option<usize>,
    /// How many iterations of each chain, in place of a number by kernel and dimension that grows where chains need it
    #[arg(long, value_name = "T", value_parser = one_in)]
    pub iterations: Option<NonZero<usize>>,
    /// Move chains as in the TADDAA paper: the covariance of the approximation preconditions them throughout, and only
    /// their ends count
    #[arg(long)]
    pub as_published: bool,
    /// What error of a mean is worth noticing, in standard deviations
    #[arg(long, value_name = "SD", default_value_t = 0.1, value_parser = positive)]
    pub tolerance_mean: f64,
    /// What error of a log variance is worth noticing
    #[arg(long, value_name = "X", default_value_t = 0.15, value_parser = positive)]
    pub tolerance_variance: f64,
    /// The radius of random starting points of the fit on the unconstrained scale
    #[arg(long, value_name = "RADIUS", default_value_t = 2.0, value_parser = radius)]
    pub init: f64,
    /// Do not bound KL(q‖p) by annealing
    #[arg(long)]
    pub no_kl: bool,
    /// A folder for `report.html` and `result.json`
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub computing: Computing,
}

impl Taddaa {
    pub fn options(&self) -> Result<crust_api::TaddaaOptions, Error> {
        let subject = match &self.approximation {
            Some(file) => Subject::Approximation(terminal::source(file)?),
            None if self.draws.is_empty() => Subject::Fit(self.method.choice(self.rank)),
            None => Subject::Draws(self.draws.clone()),
        };
        Ok(crust_api::TaddaaOptions {
            subject,
            functionals: self.functional.clone(),
            kernel: match self.kernel {
                ShortKernel::Rwmh => crust_api::ShortKernel::Rwmh,
                ShortKernel::Mala => crust_api::ShortKernel::Mala,
                ShortKernel::Barker => crust_api::ShortKernel::Barker,
                ShortKernel::Hmc => crust_api::ShortKernel::Hmc,
            },
            chains: self.chains,
            iterations: self.iterations,
            published: self.as_published,
            tolerance_mean: self.tolerance_mean,
            tolerance_variance: self.tolerance_variance,
            radius: self.init,
            drift: self.out.is_some(),
            divergence: !self.no_kl,
        })
    }
}
