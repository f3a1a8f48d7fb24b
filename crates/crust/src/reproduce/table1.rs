//! BDMC, Table 1: how well do three models explain the data of each?

use crate::arguments::{Common, Reproduce};
use crate::experiment::Progress;
use crate::sample::interrupt_on_ctrl_c;
use crate::{Outcome, terminal};
use crust_infer::drive::{Control, Parallelism};
use crust_math::special::log_sum_exp_slice;
use crust_testbed::models::table1::{Effort, Kind, log_weights, simulate};
use serde::Serialize;
use std::fmt::Write;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

/// As many distributions as in the paper.
const DISTRIBUTIONS: usize = 30_000;
/// The mean of their weights is an entry.
const CHAINS: usize = 4;
const DATASETS: u32 = 5;

#[derive(Serialize)]
struct Findings {
    experiment: &'static str,
    seed: u64,
    #[serde(rename = "T")]
    distributions: usize,
    chains: usize,
    datasets: u32,
    seconds: f64,
    rows: Vec<Row>,
}

/// Data of one model.
#[derive(Serialize)]
struct Row {
    data: &'static str,
    cells: Vec<Cell>,
}

/// One model on the data of a row. In nats.
#[derive(Serialize)]
struct Cell {
    model: &'static str,
    /// A stochastic lower bound for each dataset.
    log_ml_lower: Vec<f64>,
    mean: f64,
    /// By how much the model that made the data is ahead, on average over datasets, and its standard error.
    behind: f64,
    behind_se: Option<f64>,
}

pub(super) fn run(arguments: &Reproduce, common: &Common) -> Result<Outcome, String> {
    terminal::check_writable(common.json.as_deref())?;
    let distributions = arguments.largest.min(DISTRIBUTIONS);
    if distributions < 2 {
        return Err(format!("--largest {}: annealing needs at least 2 distributions", arguments.largest));
    }
    let chains = arguments.chains.unwrap_or(CHAINS);
    let datasets = arguments.datasets.map_or(DATASETS, NonZero::get);
    let tells = !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout);
    let control = Arc::new(Control::default());
    interrupt_on_ctrl_c(&control)?;
    let progress = Progress::new(&control, common.quiet);
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let effort = Effort {
        distributions,
        chains: u32::try_from(chains).map_err(|e| e.to_string())?,
        seed: arguments.seed,
        how: Parallelism { threads: threads.unwrap_or(NonZero::<usize>::MIN), ..Parallelism::default() },
        control: &control,
    };
    let clock = Instant::now();
    let rows = Kind::ALL.map(|data| row(data, datasets, &effort, &progress));
    progress.end();
    let rows = rows.into_iter().collect::<Result<Vec<Row>, String>>()?;
    let seconds = clock.elapsed().as_secs_f64();
    let findings =
        Findings { experiment: "table1", seed: arguments.seed, distributions, chains, datasets, seconds, rows };
    if tells {
        terminal::say(&table(&findings));
    }
    if let Some(file) = &common.json {
        terminal::deliver(&findings, file)?;
    }
    Ok(Outcome::Fine)
}

fn row(data: Kind, datasets: u32, effort: &Effort<'_>, progress: &Progress) -> Result<Row, String> {
    let mut bounds = Kind::ALL.map(|_| vec![]);
    for dataset in 0..datasets {
        let y = simulate(data, dataset, effort.seed).map_err(|e| e.to_string())?;
        for (model, bounds) in Kind::ALL.into_iter().zip(&mut bounds) {
            let what = format!("{} data {} of {datasets}, {} model", data.name(), dataset + 1, model.name());
            progress.begin(&what, effort.chains as usize * (effort.distributions - 1));
            let weights = log_weights(model, &y, data, dataset, effort).map_err(|e| e.to_string())?;
            bounds.push(log_sum_exp_slice(&weights) - f64::from(effort.chains).ln());
        }
    }
    let own = bounds[data as usize].clone();
    let cell = |(model, bounds): (Kind, Vec<f64>)| {
        let behind: Vec<f64> = own.iter().zip(&bounds).map(|(own, other)| own - other).collect();
        let (mean, _) = moments(&bounds);
        let (difference, behind_se) = moments(&behind);
        Cell { model: model.name(), log_ml_lower: bounds, mean, behind: difference, behind_se }
    };
    Ok(Row { data: data.name(), cells: Kind::ALL.into_iter().zip(bounds).map(cell).collect() })
}

/// The mean and its standard error, if there are two numbers at least.
#[expect(clippy::cast_precision_loss, reason = "few datasets")]
fn moments(x: &[f64]) -> (f64, Option<f64>) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (x.len() > 1).then(|| (squares / (n * (n - 1.0))).sqrt()))
}

fn table(findings: &Findings) -> String {
    let Findings { distributions, chains, datasets, seconds, rows, .. } = findings;
    let mut text = format!(
        "Table 1 of BDMC: rows are the models that made the data (N = 50, D = 25; {datasets} datasets each), columns the models \
         that see them,\nwith priors on all hyperparameters. Entries are the mean over datasets of a stochastic lower bound on \
         the log marginal likelihood\n(annealing through {distributions} distributions, {chains} chains), in nats; in brackets: by \
         how much the model that made the data is ahead.\n\n{:<12}",
        ""
    );
    // Writing to a text cannot fail.
    for kind in Kind::ALL {
        let _ = write!(text, "{:>28}", kind.name());
    }
    for row in rows {
        let _ = write!(text, "\n{:<12}", row.data);
        for cell in &row.cells {
            let behind = match cell.behind_se {
                _ if cell.model == row.data => String::new(),
                Some(se) => format!("({:.1} ± {se:.1})", cell.behind),
                None => format!("({:.1})", cell.behind),
            };
            let _ = write!(text, "{:>12.1} {behind:<15}", cell.mean);
        }
    }
    let wins = rows.iter().filter(|row| row.cells.iter().all(|c| c.model == row.data || c.behind > 0.0)).count();
    let _ = write!(text, "\n\nThe model that made the data wins {wins} of 3 rows. {seconds:.0} seconds.");
    text
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
