//! What a run has to say: a verdict, a table and warnings for people, the same as JSON for programs.

use super::record::Recorded;
use crust_diagnose::summary::{Number, Row, Summary, TableOptions, Warning, WarningKind};
use serde::Serialize;
use std::fmt::Write;

/// The result as JSON.
#[derive(Serialize)]
pub struct Report {
    summary: Vec<Row>,
    warnings: Vec<Warning>,
    divergences: usize,
    max_depth_reached: usize,
    ebfmi: Vec<Number>,
    seconds: Seconds,
    chains: usize,
    /// Draws of each chain that were kept; of the shortest if they differ.
    draws: usize,
    /// Whether the run was ended before all was drawn.
    interrupted: bool,
    gradients: u64,
    gradients_per_second: f64,
    seed: u64,
}

#[derive(Serialize)]
struct Seconds {
    warmup: f64,
    sampling: f64,
}

/// What the report needs to know of the run besides its draws.
#[derive(Clone, Copy)]
pub struct Run {
    pub interrupted: bool,
    pub gradients: u64,
    pub seed: u64,
    /// Draws that each chain was to make.
    pub wanted: usize,
}

impl Report {
    pub fn new(recorded: &Recorded, summary: &Summary, run: Run) -> Self {
        let seconds = Seconds { warmup: recorded.seconds.warmup, sampling: recorded.seconds.sampling };
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let gradients_per_second = run.gradients as f64 / (seconds.warmup + seconds.sampling).max(1e-9);
        Self {
            summary: summary.rows.clone(),
            warnings: summary.warnings.clone(),
            divergences: recorded.divergences,
            max_depth_reached: summary.sampler.max_depth_reached,
            ebfmi: summary.sampler.ebfmi.clone(),
            seconds,
            chains: summary.chains,
            draws: summary.draws,
            interrupted: run.interrupted,
            gradients: run.gradients,
            gradients_per_second,
            seed: run.seed,
        }
    }

    /// The verdict, the table with the warnings, and the times.
    pub fn text(&self, recorded: &Recorded, summary: &Summary, run: Run) -> String {
        let mut text = verdict(summary);
        text.push('\n');
        if run.interrupted {
            let (shortest, longest) = recorded.draws.lengths();
            let range = if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") };
            let _ =
                writeln!(text, "note: interrupted; of {} draws, each chain has {range}, which are kept", run.wanted);
        }
        if let Some(reason) = &recorded.reason {
            let rejected = recorded.rejected;
            let _ = writeln!(text, "note: the program rejected {rejected} draws after they were made: {reason}");
        }
        text.push('\n');
        if summary.rows.is_empty() {
            text.push_str("The program declares no quantities that could be summarised.\n");
        }
        text.push_str(&summary.render(&TableOptions::default()));
        let Seconds { warmup, sampling } = self.seconds;
        let _ = write!(text, "\n{warmup:.2} s warm-up, {sampling:.2} s sampling");
        if self.gradients > 0 {
            let _ = write!(text, "; {} gradients, {} per second", self.gradients, rate(self.gradients_per_second));
        }
        text
    }
}

fn rate(per_second: f64) -> String {
    match per_second {
        x if x >= 1e6 => format!("{:.2} million", x / 1e6),
        x => format!("{x:.0}"),
    }
}

/// Whether the draws may be used, in one line.
fn verdict(summary: &Summary) -> String {
    let harmless = |kind| matches!(kind, WarningKind::TreeDepth | WarningKind::OneChain | WarningKind::UnequalChains);
    let Summary { chains, draws, warnings, .. } = summary;
    let serious = warnings.iter().filter(|w| !harmless(w.kind)).count();
    let run = format!("{chains} {} × {draws} draws", if *chains == 1 { "chain" } else { "chains" });
    if serious > 0 {
        let what: Vec<&str> = warnings.iter().filter(|w| !harmless(w.kind)).map(|w| name(w.kind)).collect();
        return format!("Do not trust these draws yet: {} ({run}; see below).", what.join(", "));
    }
    let finite = |f: fn(&Row) -> f64| summary.rows.iter().map(f).filter(|x| x.is_finite());
    let mut facts = vec![run];
    if let Some(worst) = finite(|row| row.r_hat).reduce(f64::max) {
        facts.push(format!("R-hat at most {worst:.3}"));
    }
    if let Some(least) = finite(|row| row.ess_bulk.min(row.ess_tail)).reduce(f64::min) {
        facts.push(format!("effective sample size at least {least:.0}"));
    }
    let (start, end) =
        if warnings.is_empty() { ("No sign of trouble", "") } else { ("Usable", "; see the warnings below") };
    format!("{start}: {}{end}.", facts.join(", "))
}

fn name(kind: WarningKind) -> &'static str {
    match kind {
        WarningKind::Divergences => "divergent transitions",
        WarningKind::TreeDepth => "trees of the greatest depth",
        WarningKind::Ebfmi => "low E-BFMI",
        WarningKind::RHat => "high R-hat",
        WarningKind::EssBulk => "low bulk effective sample size",
        WarningKind::EssTail => "low tail effective sample size",
        WarningKind::NonFinite => "draws that are not finite",
        WarningKind::OneChain => "one chain only",
        WarningKind::UnequalChains => "chains of different lengths",
        WarningKind::TooFewDraws => "too few draws",
    }
}
