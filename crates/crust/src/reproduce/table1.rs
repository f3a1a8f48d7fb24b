//! BDMC, Table 1: how well do three models explain the data of each?

use crate::arguments::{Common, Reproduce};
use crate::experiment::Progress;
use crate::experiment::output::journal;
use crate::sample::interrupt_on_ctrl_c;
use crate::{Outcome, terminal};
use crust_diagnose::checkpoint::{Halt, Journal};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error;
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
const CHAINS: usize = 2;
const DATASETS: u32 = 5;

#[derive(Serialize)]
struct Findings {
    experiment: &'static str,
    seed: u64,
    #[serde(rename = "T")]
    distributions: usize,
    chains: usize,
    /// Those that are finished.
    datasets: u32,
    /// Ended early: there should have been more datasets.
    partial: bool,
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
    if !arguments.models.is_empty() || arguments.movielens.is_some() {
        return Err("--models and --movielens are for `bread-real`: table1 has all three models of its own".to_owned());
    }
    terminal::check_writable(common.json.as_deref())?;
    let distributions = arguments.largest.min(DISTRIBUTIONS);
    if distributions < 2 {
        return Err(format!("--largest {}: annealing needs at least 2 distributions", arguments.largest));
    }
    let chains = arguments.chains.unwrap_or(CHAINS);
    let wanted = arguments.datasets.map_or(DATASETS, NonZero::get);
    let settings = format!("table1 {} {distributions} {chains}", arguments.seed);
    let mut journal = journal(arguments.out.as_deref(), &[&settings])?;
    let control = Arc::new(Control::default());
    interrupt_on_ctrl_c(&control)?;
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let effort = Effort {
        distributions,
        chains: u32::try_from(chains).map_err(|e| e.to_string())?,
        seed: arguments.seed,
        how: Parallelism { threads: threads.unwrap_or(NonZero::<usize>::MIN), ..Parallelism::default() },
        control: &control,
    };
    let tells = !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout);
    let progress = Progress::new(&control, common.quiet);
    let clock = Instant::now();
    let mut tables = vec![];
    let halt = fill(&mut tables, wanted, &effort, &mut journal, &progress, tells);
    progress.end();
    match halt {
        Ok(()) | Err(Halt::Interrupted) => {}
        Err(halt) => return Err(halt.to_string()),
    }
    let findings = Findings {
        experiment: "table1",
        seed: arguments.seed,
        distributions,
        chains,
        datasets: u32::try_from(tables.len()).unwrap_or(wanted),
        partial: tables.len() < wanted as usize,
        seconds: clock.elapsed().as_secs_f64(),
        rows: if tables.is_empty() { vec![] } else { Kind::ALL.map(|data| row(data, &tables)).into() },
    };
    if tells {
        terminal::say(&table(&findings));
    }
    if let Some(file) = &common.json {
        terminal::deliver(&findings, file)?;
    }
    Ok(if findings.partial { Outcome::Interrupted } else { Outcome::Fine })
}

/// The bounds of one dataset of each model: a row for the data, a column for the model that sees them.
type Table = [[f64; 3]; 3];

/// Finds all entries, dataset by dataset, so that a run that is ended early has whole tables.
fn fill(
    tables: &mut Vec<Table>,
    wanted: u32,
    effort: &Effort<'_>,
    journal: &mut Journal,
    progress: &Progress,
    tells: bool,
) -> Result<(), Halt<Error>> {
    for dataset in 0..wanted {
        let mut table = [[0.0; 3]; 3];
        for data in Kind::ALL {
            let y = simulate(data, dataset, effort.seed).map_err(|e| Halt::Work(e.into()))?;
            for model in Kind::ALL {
                let what = format!("{} of {wanted}: {} data, {} model", dataset + 1, data.name(), model.name());
                progress.begin(&what, effort.chains as usize * (effort.distributions - 1));
                let bound = || match log_weights(model, &y, data, dataset, effort) {
                    Ok(weights) => Ok(Some(log_sum_exp_slice(&weights) - f64::from(effort.chains).ln())),
                    Err(Error::Interrupted) => Ok(None),
                    Err(error) => Err(error),
                };
                let name = format!("{dataset} {} {}", data.name(), model.name());
                table[data as usize][model as usize] = journal.unit(&name, bound)?;
            }
        }
        if tells {
            progress.aside(|| terminal::say(&margins(dataset, wanted, &table)));
        }
        tables.push(table);
    }
    Ok(())
}

/// What came of one dataset of each model, in a line.
fn margins(dataset: u32, wanted: u32, table: &Table) -> String {
    let margin = |data: Kind| {
        let bounds = &table[data as usize];
        let others = Kind::ALL.into_iter().filter(|model| *model != data);
        let ahead = others.map(|model| bounds[data as usize] - bounds[model as usize]).fold(f64::INFINITY, f64::min);
        let verdict = if ahead > 0.0 { "wins" } else { "loses" };
        format!("{} {verdict} by {:.1} nats", data.name(), ahead.abs())
    };
    format!("dataset {} of {wanted}: on its own data {}", dataset + 1, Kind::ALL.map(margin).join(", "))
}

fn row(data: Kind, tables: &[Table]) -> Row {
    let cell = |model: Kind| {
        let bounds: Vec<f64> = tables.iter().map(|table| table[data as usize][model as usize]).collect();
        let own = tables.iter().map(|table| table[data as usize][data as usize]);
        let behind: Vec<f64> = own.zip(&bounds).map(|(own, other)| own - other).collect();
        let (mean, _) = moments(&bounds);
        let (difference, behind_se) = moments(&behind);
        Cell { model: model.name(), log_ml_lower: bounds, mean, behind: difference, behind_se }
    };
    Row { data: data.name(), cells: Kind::ALL.map(cell).into() }
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
    let Findings { distributions, chains, datasets, seconds, rows, partial, .. } = findings;
    if rows.is_empty() {
        return "Ended before the first dataset of each model was finished. With --out, the same command goes on."
            .to_owned();
    }
    let plural = if *datasets == 1 { "" } else { "s" };
    let mut text = format!(
        "\nTable 1 of BDMC: rows are the models that made the data (N = 50, D = 25; {datasets} dataset{plural} each), columns the models \
         that see them,\nwith priors on all hyperparameters. Entries are the mean over datasets of a stochastic lower bound on \
         the log marginal likelihood\n(annealing through {distributions} distributions, {chains} chains), in nats; in brackets: by \
         how much the model that made the data is ahead.\n\n{:<12}",
        ""
    );
    // Writing to a text cannot fail.
    for kind in Kind::ALL {
        let _ = write!(text, "{:>12} {:15}", kind.name(), "");
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
    if *partial {
        text.push_str(" Ended early: there should have been more datasets. With --out, the same command goes on.");
    }
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
