//! The summary of a run: a row of statistics for each quantity, and warnings that say what to do.

mod table;
mod warnings;

pub use crate::number::Number;
pub use table::TableOptions;
pub use warnings::{Warning, WarningKind};

use crate::convergence::{Scores, Workspace, bfmi};
use crate::draws::{Draws, bracketed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What to summarise, and what the run was told.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOptions {
    /// Probabilities of the quantiles to report.
    pub quantiles: Vec<f64>,
    /// The greatest depth that the sampler's trees could reach, where it is known.
    pub max_depth: Option<u32>,
}

impl Default for SummaryOptions {
    /// The quantiles that posterior reports, and Stan's tree depth.
    fn default() -> Self {
        Self { quantiles: vec![0.05, 0.95], max_depth: Some(10) }
    }
}

/// Statistics of all quantities, what the sampler reported, and warnings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub chains: usize,
    /// Draws in each chain; in the shortest if they differ.
    pub draws: usize,
    /// The names of the quantiles in the order in which they were asked for.
    pub quantiles: Vec<String>,
    pub rows: Vec<Row>,
    pub sampler: SamplerReport,
    pub warnings: Vec<Warning>,
}

/// Statistics of one quantity. The names are those of the R package posterior and of `ArviZ`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The name as people write it: `theta[1]`.
    pub name: String,
    #[serde(with = "crate::number")]
    pub mean: f64,
    #[serde(with = "crate::number")]
    pub mcse_mean: f64,
    #[serde(with = "crate::number")]
    pub sd: f64,
    #[serde(with = "crate::number")]
    pub mcse_sd: f64,
    #[serde(with = "crate::number")]
    pub median: f64,
    #[serde(with = "crate::number")]
    pub mad: f64,
    #[serde(with = "crate::number")]
    pub ess_bulk: f64,
    #[serde(with = "crate::number")]
    pub ess_tail: f64,
    #[serde(with = "crate::number")]
    pub r_hat: f64,
    /// Quantiles by name: `q5`, `q97.5`.
    #[serde(flatten)]
    pub quantiles: BTreeMap<String, Number>,
}

/// What the sampler said of its own transitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SamplerReport {
    /// Transitions after warm-up that diverged.
    pub divergences: usize,
    /// Transitions after warm-up whose tree had the greatest depth allowed.
    pub max_depth_reached: usize,
    /// E-BFMI of each chain; empty where the energy is not known.
    pub ebfmi: Vec<Number>,
}

/// posterior's name of a quantile: `q5` at probability 0.05.
pub fn quantile_name(probability: f64) -> String {
    // 100 × 0.07 is not 7
    format!("q{}", (probability * 1e11).round() / 1e9)
}

impl Row {
    /// Summarises the chains of one quantity.
    pub fn new<C: AsRef<[f64]>>(name: &str, chains: &[C], quantiles: &[f64]) -> Self {
        Self::in_workspace(&mut Workspace::default(), name, chains, quantiles)
    }

    fn in_workspace<C: AsRef<[f64]>>(workspace: &mut Workspace, name: &str, chains: &[C], quantiles: &[f64]) -> Self {
        let statistics = workspace.statistics(chains, quantiles);
        let named = |(&p, value): (&f64, f64)| (quantile_name(p), Number(value));
        Self {
            name: bracketed(name),
            mean: statistics.mean,
            mcse_mean: statistics.mcse_mean,
            sd: statistics.sd,
            mcse_sd: statistics.mcse_sd,
            median: statistics.median,
            mad: statistics.mad,
            ess_bulk: statistics.ess_bulk,
            ess_tail: statistics.ess_tail,
            r_hat: statistics.rhat,
            quantiles: quantiles.iter().zip(statistics.quantiles).map(named).collect(),
        }
    }
}

impl SamplerReport {
    fn new(draws: &Draws, max_depth: Option<u32>) -> Self {
        let count = |name: &str, condition: &dyn Fn(f64) -> bool| {
            let columns = draws.sampler(name).unwrap_or_default();
            columns.into_iter().flatten().filter(|&&x| condition(x)).count()
        };
        Self {
            divergences: count("divergent__", &|x| x > 0.0),
            max_depth_reached: max_depth.map_or(0, |depth| count("treedepth__", &|x| x >= f64::from(depth))),
            ebfmi: draws
                .sampler("energy__")
                .map_or_else(Vec::new, |energy| bfmi(&energy).into_iter().map(Number).collect()),
        }
    }
}

/// The rows of all quantities, computed by as many threads as pay.
fn rows(draws: &Draws, quantiles: &[f64]) -> Vec<Row> {
    let n = draws.names.len();
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = available.min(n / 4).max(1);
    let ranked = draws.chains.len() * 2 * (draws.lengths().0 / 2);
    let scores = Scores::among(ranked, threads);
    let part = |from: usize, to: usize| -> Vec<Row> {
        let mut workspace = Workspace::new(Arc::clone(&scores));
        let mut row = |i: usize| Row::in_workspace(&mut workspace, &draws.names[i], &draws.quantity(i), quantiles);
        (from..to).map(&mut row).collect()
    };
    if threads == 1 {
        return part(0, n);
    }
    let (part, share) = (&part, n.div_ceil(threads));
    let shares: Vec<Vec<Row>> = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..n).step_by(share).map(|from| scope.spawn(move || part(from, n.min(from + share)))).collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    shares.into_iter().flatten().collect()
}

impl Summary {
    /// Summarises all quantities of a run.
    pub fn new(draws: &Draws, options: &SummaryOptions) -> Self {
        let rows = rows(draws, &options.quantiles);
        let sampler = SamplerReport::new(draws, options.max_depth);
        let warnings = warnings::warnings(draws, &rows, &sampler, options);
        Self {
            chains: draws.chains.len(),
            draws: draws.lengths().0,
            quantiles: options.quantiles.iter().map(|&p| quantile_name(p)).collect(),
            rows,
            sampler,
            warnings,
        }
    }

    /// The table and the warnings as text.
    pub fn render(&self, options: &TableOptions) -> String {
        table::render(self, options)
    }
}
