//! The command line, and the options of the library that it stands for.

mod approximation;
mod calibration;
mod choices;
mod options;

pub use approximation::{Approximate, ApproximationChoice, Taddaa};
pub use calibration::Sbc;
pub use choices::{
    Budget, EvidenceMethod, Experiment, KernelChoice, MethodChoice, MetricChoice, ScheduleChoice, SimulationChoice,
};

use choices::{
    at_least_ten, budget, chains, distributions, iterations, lanes, lanes_at_once, one_chain_or_more, one_in,
    path_choice, positive, radius, rate, threads,
};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use crust_api::PathChoice;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

/// How far is your Bayesian inference from the true posterior?
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Parse and type-check a Stan or `WebPPL` program, and its data if given
    Check(Check),
    /// Log density and gradient at unconstrained points
    Density(Density),
    /// How long a program takes to compile, and one gradient at several batch widths
    Bench(Bench),
    /// Draw from the posterior with NUTS, and say whether the draws can be trusted
    Sample(Sample),
    /// Approximate the posterior by a distribution that can be written down, and say how good it is
    Approximate(Approximate),
    /// Lower bounds on the errors of an approximation, or of draws, from many short chains that start at it
    Taddaa(Taddaa),
    /// Draw parameters from the prior and data from the model
    Simulate(Simulate),
    /// Run a `WebPPL` program and print the value of its last expression
    Run(Run),
    /// Simulate data, sandwich their marginal likelihood, and bound how far annealing ends from their posterior
    Bdmc(Bdmc),
    /// The whole protocol on real data: fit, simulate, sandwich, compare real with simulated data
    Bread(Bread),
    /// Is a sampler or an approximation calibrated? Ranks of exact draws among its own, on data that the model has made
    Sbc(Sbc),
    /// Representations of a model, kernels or schedules side by side on the same simulated data
    Compare(Compare),
    /// The log marginal likelihood of real data by one or several estimators, each with its error and what kind of
    /// number it is
    Evidence(Evidence),
    /// Repeat an experiment of the papers
    Reproduce(Reproduce),
    /// How good estimators of the marginal likelihood are, on simulated data where it is known
    Testbed(Testbed),
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// Write the result as JSON to FILE, or to standard output (and nothing else there) for `-`
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Common {
    /// Whether there is something to be said on standard output.
    pub fn tells(&self) -> bool {
        !self.quiet && !self.json.as_deref().is_some_and(crate::terminal::is_stdout)
    }
}

/// Where the parts of a program are.
#[derive(Debug, Args)]
pub struct Includes {
    /// A folder to look for `#include`d files in, after the program's own (may be given several times)
    #[arg(short = 'I', long, value_name = "DIR")]
    pub include_path: Vec<PathBuf>,
}

/// A program with its data, to be run.
#[derive(Debug, Args)]
pub struct Program {
    /// The Stan program
    pub model: PathBuf,
    /// Its data, in Stan's JSON; may be left out if the program has none
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub includes: Includes,
}

/// Random numbers, and how the machine is used: results depend on the seed alone.
#[derive(Debug, Args)]
pub struct Computing {
    /// The seed of all random numbers: the same seed gives the same result, with any number of threads
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many threads; all cores unless told otherwise
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZero<usize>>,
    /// How many chains a thread evaluates together; results do not depend on it
    #[arg(long, value_name = "N", default_value = "64", value_parser = lanes)]
    pub lanes: NonZero<usize>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// The Stan program (`-` reads it from standard input), or a `WebPPL` program whose name ends in .wppl
    pub model: PathBuf,
    /// Its data, in JSON
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub includes: Includes,
    /// The function that is the model of a `WebPPL` program
    #[arg(long = "model", value_name = "NAME")]
    pub model_name: Option<String>,
    /// Also warn of what is valid, but perhaps not meant
    #[arg(long)]
    pub pedantic: bool,
    /// Print the program in current syntax, formatted, with its comments
    #[arg(long)]
    pub canonical: bool,
}

#[derive(Debug, Args)]
pub struct Density {
    #[command(flatten)]
    pub program: Program,
    /// A JSON array of points, each an array of unconstrained numbers
    #[arg(long, value_name = "POINTS.json")]
    pub at: PathBuf,
    /// Drop the constant terms of `~` and `_lupdf`, as Stan does while it samples
    #[arg(long)]
    pub propto: bool,
    /// Leave out the log Jacobian of the parameter transforms
    #[arg(long)]
    pub no_jacobian: bool,
    /// The seed of random draws in `transformed data`
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct Bench {
    #[command(flatten)]
    pub program: Program,
    /// How many chains are evaluated at once, one row for each
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 4, 16, 64], value_parser = lanes_at_once)]
    pub lanes: Vec<usize>,
    /// How long to measure each row, in seconds
    #[arg(long, default_value_t = 0.5, value_parser = positive)]
    pub seconds: f64,
    /// Print the lists of operations that the program became
    #[arg(long)]
    pub ir: bool,
    /// The seed of the points, and of random draws in `transformed data`
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct Sample {
    #[command(flatten)]
    pub program: Program,
    /// How many chains
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = one_chain_or_more)]
    pub chains: u32,
    /// Iterations of warm-up in each chain
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = iterations)]
    pub warmup: usize,
    /// Draws after warm-up in each chain
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = iterations)]
    pub draws: usize,
    /// A JSON file with initial values of parameters, or the radius of random ones on the unconstrained scale
    #[arg(long, value_name = "FILE|RADIUS", default_value = "2")]
    pub init: String,
    /// The acceptance rate that warm-up aims for, between 0 and 1
    #[arg(long, default_value_t = 0.8, value_parser = rate)]
    pub delta: f64,
    /// The greatest depth of NUTS's trees: at most 2^N gradients for a draw
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=24))]
    pub max_depth: u32,
    /// What warm-up estimates of the covariance
    #[arg(long, value_enum, default_value_t = MetricChoice::Diag)]
    pub metric: MetricChoice,
    /// Keep one of so many draws
    #[arg(long, value_name = "N", default_value = "1", value_parser = one_in)]
    pub thin: NonZero<usize>,
    /// Write the draws of warm-up too
    #[arg(long)]
    pub save_warmup: bool,
    /// How draws are made
    #[arg(long, value_enum, default_value_t = MethodChoice::Nuts)]
    pub method: MethodChoice,
    /// A folder for the draws: `chain-1.csv` … as Stan writes them, and `draws.zarr`
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub computing: Computing,
}

/// Options of annealing.
#[derive(Debug, Args)]
pub struct Annealing {
    /// How many chains in each direction
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = chains)]
    pub chains: usize,
    /// The ladder of T, the number of distributions from the prior to the posterior. Unless told otherwise 10, 30, 100,
    /// 300, 1000, 3000, and for `bdmc` and `bread` also 10000 and 30000 while the bound is above 1 nat (or
    /// `--max-divergence`) but may come down to it
    #[arg(long, value_name = "T,…", value_delimiter = ',', value_parser = distributions)]
    pub steps: Vec<usize>,
    /// The path to the posterior: from the `prior`; from a `reference` that a pilot run fits to the same data, which is
    /// short and keeps bounds finite where the prior has mass at scales of 0; from the prior through a `damped`
    /// likelihood; or `data:N` to add observations one at a time, where the integer N of the data block counts them
    #[arg(long, value_name = "PATH", value_parser = path_choice)]
    pub path: Option<PathChoice>,
    /// Climb no further once the bound on the divergence is at most so many nats
    #[arg(long, value_name = "NATS", default_value_t = 0.1, value_parser = radius)]
    pub tolerance: f64,
    /// Exit with code 1 if the bound on the divergence is above so many nats
    #[arg(long, value_name = "NATS", value_parser = positive)]
    pub max_divergence: Option<f64>,
    /// Hyperparameters, in place of those that crust finds
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub hyper: Option<Vec<String>>,
    /// A Stan program that simulates outcomes: its generated quantities of their names
    #[arg(long, value_name = "SIM.stan")]
    pub simulator: Option<PathBuf>,
    /// The function that is the model of a `WebPPL` program; `model`, or the argument of its one `Infer`, unless told
    /// otherwise
    #[arg(long = "model", value_name = "NAME")]
    pub model_name: Option<String>,
    #[command(flatten)]
    pub computing: Computing,
    /// A folder for all results; a run that was ended goes on from what is in it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub includes: Includes,
}

/// How chains move, and how far apart the distributions are.
#[derive(Clone, Copy, Debug, Args)]
pub struct MethodOptions {
    /// How chains move
    #[arg(long, value_enum, default_value_t = KernelChoice::Hmc)]
    pub kernel: KernelChoice,
    /// How the distributions are spaced between the prior and the posterior
    #[arg(long, value_enum, default_value_t = ScheduleChoice::Adaptive)]
    pub schedule: ScheduleChoice,
}

#[derive(Debug, Args)]
pub struct Bdmc {
    /// The Stan program, or a `WebPPL` program whose name ends in .wppl
    pub model: PathBuf,
    /// Sizes and covariates, in JSON; outcomes are simulated and may be missing
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub annealing: Annealing,
    #[command(flatten)]
    pub method: MethodOptions,
    /// Add chains at the end of the ladder until the standard error of Bennett's estimate of log-ML is at most this
    #[arg(long, value_name = "NATS", value_parser = positive)]
    pub bennett_error: Option<f64>,
    /// How many datasets to simulate: with several, error bars cover the differences between datasets
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub datasets: u32,
    /// Transitions at the posterior before each reverse chain, which spread their starts
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = iterations)]
    pub start_steps: usize,
    /// Datasets in which simulator and kernels are checked against each other; 0 for no check
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub rank_checks: u32,
}

#[derive(Debug, Args)]
pub struct Bread {
    /// The Stan program, or a `WebPPL` program whose name ends in .wppl
    pub model: PathBuf,
    /// Its data, in JSON; a `WebPPL` program may have its data in itself
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub annealing: Annealing,
    #[command(flatten)]
    pub method: MethodOptions,
    /// Judge an approximation of this kind in place of annealing: it is fitted to the real data and to every simulated
    /// dataset, and its divergence from the posterior is bounded from both sides
    #[arg(long = "method", value_enum, value_name = "METHOD")]
    pub approximation: Option<ApproximationChoice>,
    /// The rank of `--method lowrank`
    #[arg(long, value_name = "R", default_value = "5", value_parser = one_in)]
    pub rank: NonZero<usize>,
    /// What data are simulated with: `conditional` on the real data, with draws of the fit, which needs no prior to draw
    /// from; `fitted` hyperparameters and the prior of everything else; the `prior`; or `nothing`, the real data alone with
    /// draws of the fit in place of exact ones. Conditional unless an option that is for the others says otherwise, and
    /// nothing where no data can be simulated
    #[arg(long, value_enum)]
    pub simulate: Option<SimulationChoice>,
    /// Transitions from the generating values before each reverse chain, with `--simulate fitted`: 1000 unless told
    /// otherwise
    #[arg(long, value_name = "S", value_parser = at_least_ten)]
    pub start_steps: Option<usize>,
    /// Datasets that the real one is ranked among; 0 for no comparison
    #[arg(long, value_name = "R", default_value_t = 39, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub replicates: u32,
    /// Draws of another run, CSV files of `CmdStan` (one for each chain) or `ArviZ`'s `NetCDF` or Zarr: they are the fit, so
    /// that the verdict is about them
    #[arg(long, value_name = "FILE,…", value_delimiter = ',', num_args = 1..)]
    pub draws: Vec<PathBuf>,
    /// The time that the run may take, such as `30s`, `5m`, `2h`, or `none`: what is done is planned for it. 90s unless
    /// told otherwise; none if `--steps` says what to do
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Budget>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Stan programs, or `WebPPL` programs: representations of the same model, with parameters that are the same named
    /// alike
    #[arg(required = true)]
    pub models: Vec<PathBuf>,
    /// Sizes and covariates, in Stan's JSON; outcomes are simulated and may be missing
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub annealing: Annealing,
    /// How chains move; several are compared
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [KernelChoice::Hmc])]
    pub kernel: Vec<KernelChoice>,
    /// How the distributions are spaced; several are compared
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [ScheduleChoice::Adaptive])]
    pub schedule: Vec<ScheduleChoice>,
}

#[derive(Debug, Args)]
pub struct Evidence {
    /// The Stan program; every parameter needs a proper prior
    pub model: PathBuf,
    /// Its data, in Stan's JSON; may be left out if the program has none
    pub data: Option<PathBuf>,
    /// How log p(y) is estimated; bridge sampling with a stochastic lower bound beside it unless told otherwise
    #[arg(long, value_enum, value_name = "NAME,…", value_delimiter = ',')]
    pub methods: Vec<EvidenceMethod>,
    /// Bridge sampling and importance sampling go on until the standard error is below so many nats, or it takes too
    /// long
    #[arg(long, value_name = "NATS", default_value_t = 0.005, value_parser = positive)]
    pub tolerance: f64,
    /// How much work the methods that do not stop by themselves do, as a multiple of what they do by default
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = positive)]
    pub effort: f64,
    #[command(flatten)]
    pub computing: Computing,
    /// A folder for `result.json` and `timing.json`
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub includes: Includes,
}

#[derive(Debug, Args)]
pub struct Run {
    /// The program
    #[arg(value_name = "PROGRAM.wppl")]
    pub program: PathBuf,
    /// Random numbers are the same for the same seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// A file that `json.read` and `csv.read` find under a name (may be given several times)
    #[arg(long, value_name = "NAME=FILE")]
    pub data: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Simulate {
    /// The Stan program
    pub model: PathBuf,
    /// Sizes and covariates, in Stan's JSON; outcomes are simulated and may be missing
    pub data: Option<PathBuf>,
    /// How many datasets
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub number: u32,
    /// Hyperparameters, in place of those that crust finds; only for what `--json` says of them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub hyper: Option<Vec<String>>,
    /// A JSON file with values of parameters that are not drawn
    #[arg(long, value_name = "FILE")]
    pub fix: Option<PathBuf>,
    /// A Stan program that simulates outcomes: its generated quantities of their names
    #[arg(long, value_name = "SIM.stan")]
    pub simulator: Option<PathBuf>,
    /// The seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A folder for `simulated-1.json` … (data) and `simulated-1.parameters.json` … (the parameters behind them)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub includes: Includes,
}

#[derive(Debug, Args)]
pub struct Testbed {
    /// Small data and short runs, to see that everything works
    #[arg(long)]
    pub quick: bool,
    /// Which of clustering, low-rank, binary; all unless told otherwise
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Which of bic, lw, hme, ais, reverse-ais, smc, smc-particles, shme, vb, vb-sym, cms, ns, ns-particles, bar,
    /// bridge, stepping-stone, ti, tempered-smc; all unless told otherwise
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub estimators: Vec<String>,
    /// How often each estimator is run at each setting; 25 unless told otherwise, 5 for a quick run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub trials: Option<u32>,
    /// The seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many threads; all cores unless told otherwise
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZero<usize>>,
    /// A folder for the report, its figures and all numbers
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Reproduce {
    /// Which one
    #[arg(value_enum)]
    pub experiment: Experiment,
    /// The seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many threads; all cores unless told otherwise
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZero<usize>>,
    /// The largest number of distributions
    #[arg(long, value_name = "T", default_value_t = 100_000, value_parser = distributions)]
    pub largest: usize,
    /// How many chains in each direction, on real data and of representations; 100 unless told otherwise, and 2 for
    /// `table1`
    #[arg(long, value_name = "K", value_parser = chains)]
    pub chains: Option<usize>,
    /// How many datasets of each model, for `table1`; 5 unless told otherwise
    #[arg(long, value_name = "N")]
    pub datasets: Option<NonZero<u32>>,
    /// A folder for the reports of experiments with Stan programs and for what is finished of `table1`; a run that was
    /// ended goes on from what is in it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Which of the models of `bread-real`; all unless told otherwise
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub models: Vec<String>,
    /// The ratings that `examples/movielens/fetch.py` gets, for the matrix factorization of `bread-real`
    #[arg(long, value_name = "RATINGS.json")]
    pub movielens: Option<PathBuf>,
    /// The table of candies for `taddaa-candy` and `taddaa-bnn`: `FiveThirtyEight`'s candy power ranking; for
    /// `taddaa-cancer` that of leukemia patients, which `tools/fetch_leukemia.sh` gets
    #[arg(long, value_name = "TABLE.csv")]
    pub data: Option<PathBuf>,
}

impl Arguments {
    pub fn read() -> Result<Self, clap::Error> {
        parse(without_swallowed_model(std::env::args_os().collect()))
    }
}

/// Numbers may be negative, so that `--tolerance -1` is told what is wrong with it, and is not taken for an option.
fn parse(words: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let negative = |argument: clap::Arg| {
        let takes = !argument.is_positional() && argument.get_action().takes_values();
        if takes { argument.allow_negative_numbers(true) } else { argument }
    };
    let command = Arguments::command().mut_subcommands(|command| command.mut_args(negative));
    let matches = command.try_get_matches_from(words)?;
    Arguments::from_arg_matches(&matches)
}

/// `--json` may stand without a file. In `check --json model.stan` the program is not that file: nobody means to have
/// it overwritten.
fn without_swallowed_model(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_program = |a: &OsString| {
        let extension = std::path::Path::new(a).extension();
        extension.is_some_and(|e| e == "stan" || e == "stanfunctions" || e == "wppl")
    };
    let mut result = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next() {
        let alone = argument == "--json" && arguments.peek().is_some_and(is_program);
        result.push(if alone { "--json=-".into() } else { argument });
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Arguments, clap::Error> {
        parse(without_swallowed_model(words.iter().map(OsString::from).collect()))
    }

    #[test]
    fn json_never_swallows_the_program() {
        let arguments = read(&["crust", "check", "--json", "a.stan", "b.json"]).expect("valid");
        assert_eq!(arguments.common.json, Some("-".into()));
        let Command::Check(check) = arguments.command else { panic!("it is a check") };
        assert_eq!((check.model, check.data), ("a.stan".into(), Some("b.json".into())));
        assert_eq!(
            read(&["crust", "check", "a.stan", "--json", "out.json"]).expect("valid").common.json,
            Some("out.json".into())
        );
    }

    #[test]
    fn numbers_out_of_range_are_told_in_plain_words() {
        let mistake = |words: &[&str]| read(words).expect_err("out of range").to_string();
        let text = mistake(&["crust", "bdmc", "m.stan", "--tolerance", "-1"]);
        assert!(text.contains("must be a number, not negative"), "{text}");
        let text = mistake(&["crust", "bdmc", "m.stan", "--steps", "1000000000000"]);
        assert!(text.contains("must be a whole number from 1 to 10000000"), "{text}");
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
