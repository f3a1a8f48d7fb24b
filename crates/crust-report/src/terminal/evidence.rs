//! What the terminal shows: a table of estimates, what kinds of numbers they are, and warnings in plain words.

use super::wrap;
use crust_diagnose::result::{Evidence, EvidenceKind, EvidenceTiming};
use std::fmt::Write;

/// All estimates with the seconds that they took. No line of prose is wider than `width`.
pub fn evidence(result: &Evidence, timing: &EvidenceTiming, width: usize) -> String {
    let mut out = String::new();
    let data = result.data.as_ref().map_or_else(String::new, |data| format!(", {data}"));
    let plural = if result.dimension == 1 { "" } else { "s" };
    let _ = writeln!(out, "log p(y) of {}{data}, in nats ({} parameter{plural})\n", result.model, result.dimension);
    let _ = writeln!(out, "{:<21} {:>12} {:>8} {:>8} {:>12}  kind", "", "log p(y)", "± se", "seconds", "evaluations");
    for method in &result.methods {
        let seconds = timing.get(&method.name).copied().unwrap_or(f64::NAN);
        let _ = writeln!(
            out,
            "{:<21} {:>12.3} {:>8} {:>8.2} {:>12}  {}",
            method.name,
            method.log_ml,
            error(method.se),
            seconds,
            method.evaluations,
            kind(method.kind)
        );
    }
    if result.methods.iter().any(|method| method.kind == EvidenceKind::StochasticLowerBound) {
        out.push('\n');
        out += &wrapped(
            "A stochastic lower bound is the logarithm of an unbiased estimate of p(y): it is above log p(y) by b \
             nats with probability below e^-b, and may be far below.",
            width,
        );
    }
    for method in &result.methods {
        for warning in &method.warnings {
            out += &wrapped(&format!("warning: {}: {warning}", method.name), width);
        }
    }
    for warning in &result.warnings {
        out += &wrapped(&format!("warning: {warning}"), width);
    }
    out
}

fn error(se: f64) -> String {
    match se {
        se if !se.is_finite() => "?".to_owned(),
        se if se < 9.9995 => format!("{se:.4}"),
        se => format!("{se:.1}"),
    }
}

fn kind(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::StochasticLowerBound => "stochastic lower bound",
        EvidenceKind::Estimate => "estimate without a guarantee",
    }
}

/// Lines of at most so many characters.
fn wrapped(text: &str, width: usize) -> String {
    wrap(text, width).join("\n") + "\n"
}
