//! Draws of an approximation in a file, as `CmdStan` writes them.

use super::{ApproximateOptions, ApproximationChoice, Failure, Fitted};
use crate::error::Error;
use crate::problem::Problem;
use crate::target::StanTarget;
use crust_diagnose::draws::dotted;
use crust_diagnose::psis::psis;
use crust_engine::{Include, Model};
use crust_infer::approximate::Error as ApproximateError;
use crust_infer::approximate::elbo::{self, Estimate};
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::pathfinder::resample;
use crust_math::random::{Purpose, StreamKey};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

const ALL: Include = Include { transformed: true, generated: true };

/// Writes draws of all quantities. Those of several paths are resampled by their smoothed importance weights.
pub(super) fn write(
    file: &Path,
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
    let mut rows = Vec::with_capacity(n);
    for (k, &i) in chosen.iter().enumerate() {
        let generated = StreamKey::new(seed, Purpose::GENERATED).step(k as u64);
        let point = drawn.points.point(i);
        let found = evaluator.quantities(point, generated, ALL);
        let numbers = found.map_err(|error| problem.program().engine(error))?.numbers;
        let densities = [0.0, drawn.points.log_density[i], fitted.approximation.log_density(point)];
        let row: Vec<String> = densities.iter().chain(&numbers).map(f64::to_string).collect();
        rows.push(row.join(","));
    }
    write_rows(file, options.method, model, &rows).map_err(Error::write(file))?;
    Ok(())
}

fn write_rows(file: &Path, method: ApproximationChoice, model: &Arc<Model>, rows: &[String]) -> io::Result<()> {
    let mut names = vec!["lp__".to_owned(), "log_p__".to_owned(), "log_g__".to_owned()];
    names.extend(model.output_names(ALL).iter().map(|name| dotted(name)));
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "# crust approximate\n# method = {}\n{}", method.name(), names.join(","))?;
    rows.iter().try_for_each(|row| writeln!(out, "{row}"))?;
    out.flush()
}
