//! What a run of NUTS or HMC has to say: a verdict, a table and warnings.

use crust_diagnose::result::{Sample, Seconds};
use crust_diagnose::summary::{Row, SamplerReport, Summary, TableOptions, WarningKind};
use std::fmt::Write;

/// The verdict, the table with the warnings, and the times.
pub fn sample(result: &Sample) -> String {
    let (summary, facts) = (summary(result), &result.facts);
    let mut text = verdict(&summary);
    text.push('\n');
    if result.interrupted {
        let (shortest, longest) = facts.lengths;
        let range = if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") };
        let _ = writeln!(text, "note: interrupted; of {} draws, each chain has {range}, which are kept", facts.wanted);
    }
    if let Some(reason) = &facts.reason {
        let rejected = facts.rejected;
        let _ = writeln!(text, "note: the program rejected {rejected} draws after they were made: {reason}");
    }
    text.push('\n');
    if summary.rows.is_empty() {
        text.push_str("The program declares no quantities that could be summarised.\n");
    }
    text.push_str(&summary.render(&TableOptions::default()));
    let Seconds { warmup, sampling } = result.seconds;
    let _ = write!(text, "\n{warmup:.2} s warm-up, {sampling:.2} s sampling");
    if result.gradients > 0 {
        let _ = write!(text, "; {} gradients, {} per second", result.gradients, rate(result.gradients_per_second));
    }
    text
}

/// The summary that a result was made of.
fn summary(result: &Sample) -> Summary {
    Summary {
        chains: result.chains,
        draws: result.draws,
        quantiles: result.facts.quantiles.clone(),
        rows: result.summary.clone(),
        sampler: SamplerReport {
            divergences: result.divergences,
            max_depth_reached: result.max_depth_reached,
            ebfmi: result.ebfmi.clone(),
        },
        warnings: result.warnings.clone(),
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
