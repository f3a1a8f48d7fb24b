//! BDMC, Table 1: how well do three models explain the data of each?

use crate::annealing::journal;
use crate::error::Error;
use crate::session::{Part, Session, Unit};
use crust_diagnose::checkpoint::{Halt, Journal};
use crust_diagnose::result::{Table1, Table1Cell, Table1Row};
use crust_infer::error::Error as InferError;
use crust_math::special::log_sum_exp_slice;
use crust_testbed::models::table1::{Effort, Kind, log_weights, simulate};
use std::path::PathBuf;
use std::time::Instant;

/// Options of `table1`.
#[derive(Clone, Debug)]
pub struct Table1Options {
    /// The largest number of distributions.
    pub largest: usize,
    /// The mean of their weights is an entry.
    pub chains: u32,
    /// How many datasets of each model.
    pub datasets: u32,
    /// For what is finished: a run that was ended goes on from there.
    pub folder: Option<PathBuf>,
}

impl Default for Table1Options {
    fn default() -> Self {
        Self { largest: 100_000, chains: 2, datasets: 5, folder: None }
    }
}

/// As many distributions as in the paper.
const DISTRIBUTIONS: usize = 30_000;

/// Finds all entries; each dataset is told as a [`Part`].
pub fn table1(options: &Table1Options, session: &Session<'_>) -> Result<Table1, Error> {
    let distributions = options.largest.min(DISTRIBUTIONS);
    if distributions < 2 {
        return Err(Error::option("largest", options.largest, "annealing needs at least 2 distributions"));
    }
    let (chains, wanted) = (options.chains, options.datasets);
    let settings = format!("table1 {} {distributions} {chains}", session.seed);
    let mut journal = journal(options.folder.as_deref(), &[&settings])?;
    let effort = Effort {
        distributions,
        chains,
        seed: session.seed,
        how: session.parallelism(),
        control: session.stop.control(),
    };
    let clock = Instant::now();
    let mut tables = vec![];
    match fill(&mut tables, wanted, &effort, &mut journal, session) {
        Ok(()) | Err(Error::Interrupted) => {}
        Err(error) => return Err(error),
    }
    Ok(Table1 {
        experiment: "table1".to_owned(),
        seed: session.seed,
        distributions,
        chains: chains as usize,
        datasets: u32::try_from(tables.len()).unwrap_or(wanted),
        partial: tables.len() < wanted as usize,
        seconds: clock.elapsed().as_secs_f64(),
        rows: if tables.is_empty() { vec![] } else { Kind::ALL.map(|data| row(data, &tables)).into() },
    })
}

/// The bounds of one dataset of each model: a row for the data, a column for the model that sees them.
type Table = [[f64; 3]; 3];

/// Finds all entries, dataset by dataset, so that a run that is ended early has whole tables.
fn fill(
    tables: &mut Vec<Table>,
    wanted: u32,
    effort: &Effort<'_>,
    journal: &mut Journal,
    session: &Session<'_>,
) -> Result<(), Error> {
    for dataset in 0..wanted {
        let mut table = [[0.0; 3]; 3];
        for data in Kind::ALL {
            let y = simulate(data, dataset, effort.seed).map_err(|error| Error::infer(error.into()))?;
            for model in Kind::ALL {
                let what = format!("{} of {wanted}: {} data, {} model", dataset + 1, data.name(), model.name());
                session.begin(&what, effort.chains as usize * (effort.distributions - 1), Unit::Transitions);
                let bound = || match log_weights(model, &y, data, dataset, effort) {
                    Ok(weights) => Ok(Some(log_sum_exp_slice(&weights) - f64::from(effort.chains).ln())),
                    Err(InferError::Interrupted) => Ok(None),
                    Err(error) => Err(error),
                };
                let name = format!("{dataset} {} {}", data.name(), model.name());
                table[data as usize][model as usize] = journal.unit(&name, bound).map_err(|halt| match halt {
                    Halt::Interrupted => Error::Interrupted,
                    Halt::Work(error) => Error::infer(error),
                    Halt::Journal(error) => error.into(),
                    Halt::NoRealData => Error::NoRealData,
                })?;
            }
        }
        session.observer.part(&Part::Table1 { dataset, wanted, bounds: &table })?;
        tables.push(table);
    }
    Ok(())
}

fn row(data: Kind, tables: &[Table]) -> Table1Row {
    let cell = |model: Kind| {
        let bounds: Vec<f64> = tables.iter().map(|table| table[data as usize][model as usize]).collect();
        let own = tables.iter().map(|table| table[data as usize][data as usize]);
        let behind: Vec<f64> = own.zip(&bounds).map(|(own, other)| own - other).collect();
        let (mean, _) = moments(&bounds);
        let (difference, behind_se) = moments(&behind);
        Table1Cell { model: model.name().to_owned(), log_ml_lower: bounds, mean, behind: difference, behind_se }
    };
    Table1Row { data: data.name().to_owned(), cells: Kind::ALL.map(cell).into() }
}

/// The mean and its standard error, if there are two numbers at least.
#[expect(clippy::cast_precision_loss, reason = "few datasets")]
fn moments(x: &[f64]) -> (f64, Option<f64>) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (x.len() > 1).then(|| (squares / (n * (n - 1.0))).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_errors_are_those_of_a_mean() {
        let (mean, se) = moments(&[1.0, 2.0, 6.0]);
        assert!((mean - 3.0).abs() < 1e-12 && (se.expect("three numbers") - (14.0_f64 / 6.0).sqrt()).abs() < 1e-12);
        assert_eq!(moments(&[4.0]), (4.0, None));
    }
}
