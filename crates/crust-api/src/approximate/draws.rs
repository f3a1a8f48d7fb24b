//! Draws of an approximation in files, in the forms in which `CmdStan` writes its own and `ArviZ` reads them.

use super::{ApproximateOptions, ApproximationChoice, Failure, Fitted};
use crate::error::Error;
use crate::problem::Problem;
use crate::target::StanTarget;
use crust_diagnose::draws::{Draws, dotted};
use crust_diagnose::psis::psis;
use crust_diagnose::zarr::write_zarr;
use crust_engine::{Include, Model};
use crust_infer::approximate::Error as ApproximateError;
use crust_infer::approximate::elbo::{self, Estimate};
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::family::Approximation;
use crust_infer::approximate::pathfinder::resample;
use crust_math::random::{Purpose, StreamKey};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

const ALL: Include = Include { transformed: true, generated: true };
const CSV: &str = "draws.csv";
const ZARR: &str = "draws.zarr";

/// Writes draws of all quantities. Those of several paths are resampled by their smoothed importance weights.
pub(super) fn write(
    folder: &Path,
    options: &ApproximateOptions,
    fitted: &Fitted,
    evaluations: &mut Evaluations<'_, StanTarget<'_>>,
    problem: &Problem,
    model: &Arc<Model>,
    seed: u64,
) -> Result<(), Failure> {
    let (key, n) = (StreamKey::new(seed, Purpose::FIT).step(7), options.draws.get());
    let fresh;
    let (drawn, chosen): (&Estimate, Vec<usize>) = if options.method == ApproximationChoice::MultiPathfinder {
        let smoothed = psis(&fitted.elbo.log_ratios, 1.0).map_err(|_| ApproximateError::NoSupport)?;
        (&fitted.elbo, resample(&smoothed.log_weights, n, &mut key.stream()))
    } else {
        fresh = elbo::estimate_plainly(evaluations, fitted.approximation.as_ref(), n, key)?;
        (&fresh, (0..n).collect())
    };
    let mut evaluator = model.evaluator();
    let mut quantities = |point: &[f64], step: u64| {
        let generated = StreamKey::new(seed, Purpose::GENERATED).step(step);
        let found = evaluator.quantities(point, generated, ALL);
        found.map(|found| found.numbers).map_err(|error| problem.program().engine(error))
    };
    let dialect = Dialect::of(options.method);
    let names = model.output_names(ALL).iter().map(|name| dotted(name)).collect();
    let sampler = dialect.columns().iter().map(|&name| name.to_owned()).collect();
    let mut draws = Draws::new(sampler, names, 1);
    for (k, &i) in chosen.iter().enumerate() {
        let point = drawn.points.point(i);
        let (p, q) = (drawn.points.log_density[i], fitted.approximation.log_density(point));
        draws.chains[0].sampling.push(&dialect.values(p, q), &quantities(point, k as u64)?);
    }
    // The first row of ADVI's files is the mean.
    let mean = match dialect {
        Dialect::Variational => Some(quantities(&fitted.normal.mean(), n as u64)?),
        Dialect::Laplace | Dialect::Pathfinder => None,
    };
    let file = folder.join(CSV);
    write_csv(&file, options.method, dialect, &draws, mean.as_deref()).map_err(Error::write(&file))?;
    let store = folder.join(ZARR);
    if store.join(".zgroup").exists() {
        // of an earlier run
        std::fs::remove_dir_all(&store).map_err(Error::write(&store))?;
    }
    write_zarr(&store, &draws).map_err(Error::write(&store))?;
    Ok(())
}

/// `CmdStan` writes the draws of its methods with different columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Variational,
    Laplace,
    Pathfinder,
}

impl Dialect {
    fn of(method: ApproximationChoice) -> Self {
        match method {
            ApproximationChoice::Laplace => Self::Laplace,
            ApproximationChoice::Pathfinder | ApproximationChoice::MultiPathfinder => Self::Pathfinder,
            ApproximationChoice::Meanfield
            | ApproximationChoice::Fullrank
            | ApproximationChoice::StudentT
            | ApproximationChoice::Lowrank(_) => Self::Variational,
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Variational => &["lp__", "log_p__", "log_g__"],
            Self::Laplace => &["log_p__", "log_q__"],
            Self::Pathfinder => &["lp_approx__", "lp__"],
        }
    }

    /// log p and log q of a draw as this dialect has them.
    fn values(self, p: f64, q: f64) -> Vec<f64> {
        match self {
            Self::Variational => vec![0.0, p, q],
            Self::Laplace => vec![p, q],
            Self::Pathfinder => vec![q, p],
        }
    }

    /// As `CmdStan` names the method.
    fn name(self) -> &'static str {
        match self {
            Self::Variational => "variational",
            Self::Laplace => "laplace",
            Self::Pathfinder => "pathfinder",
        }
    }
}

fn write_csv(
    file: &Path,
    method: ApproximationChoice,
    dialect: Dialect,
    draws: &Draws,
    mean: Option<&[f64]>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    let names: Vec<&str> = draws.sampler_names.iter().chain(&draws.names).map(String::as_str).collect();
    let (dialect, algorithm) = (dialect.name(), method.name());
    writeln!(out, "# crust_version = {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "# method = {dialect}\n#   {dialect}\n#     algorithm = {algorithm}\n{}", names.join(","))?;
    let mut row = |values: &mut dyn Iterator<Item = f64>| {
        let row: Vec<String> = values.map(|x| x.to_string()).collect();
        writeln!(out, "{}", row.join(","))
    };
    if let Some(mean) = mean {
        let zeros = vec![0.0; draws.sampler_names.len()];
        row(&mut zeros.iter().chain(mean).copied())?;
    }
    let phase = &draws.chains[0].sampling;
    for k in 0..phase.len() {
        row(&mut phase.sampler.iter().chain(&phase.quantities).map(|column| column[k]))?;
    }
    out.flush()
}
