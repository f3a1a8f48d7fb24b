//! What the terminal shows: a table of estimates, what kinds of numbers they are, and warnings in plain words.

use super::methods::MOST_ERROR;
use super::{MethodResult, Result};
use crust_infer::evidence::Kind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A bound that is above an estimate by so many standard errors contradicts it.
const SIGMAS: f64 = 4.0;
/// Differences below this are not worth a word, however small the errors are said to be.
const NATS: f64 = 0.1;

pub fn story(result: &Result, timing: &BTreeMap<String, f64>, width: usize) -> String {
    let mut out = String::new();
    let data = result.data.as_ref().map_or_else(String::new, |data| format!(", {data}"));
    let plural = if result.dimension == 1 { "" } else { "s" };
    let _ = writeln!(out, "log p(y) of {}{data}, in nats ({} parameter{plural})\n", result.model, result.dimension);
    let _ = writeln!(out, "{:<21} {:>12} {:>8} {:>8} {:>12}  kind", "", "log p(y)", "± se", "seconds", "evaluations");
    for method in &result.methods {
        let seconds = timing.get(method.name).copied().unwrap_or(f64::NAN);
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
    if result.methods.iter().any(|method| method.kind == Kind::StochasticLowerBound) {
        out.push('\n');
        out += &wrap(
            "A stochastic lower bound is the logarithm of an unbiased estimate of p(y): it is above log p(y) by b nats with probability below e^-b, and may be far below.",
            width,
        );
    }
    for method in &result.methods {
        for warning in &method.warnings {
            out += &wrap(&format!("warning: {}: {warning}", method.name), width);
        }
    }
    for warning in &result.warnings {
        out += &wrap(&format!("warning: {warning}"), width);
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

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::StochasticLowerBound => "stochastic lower bound",
        Kind::Estimate => "estimate without a guarantee",
        Kind::StochasticUpperBound | Kind::LowerBound => kind.words(),
    }
}

/// Lines of at most so many characters.
fn wrap(text: &str, width: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out + "\n"
}

/// Where estimates contradict each other: two estimates that are further apart than their errors, or a lower bound above an estimate.
pub fn disagreements(methods: &[MethodResult]) -> Vec<String> {
    let mut list = Vec::new();
    // what nobody should trust is no reason to mistrust others
    let trusted: Vec<&MethodResult> =
        methods.iter().filter(|m| m.name != "harmonic-mean" && m.se <= MOST_ERROR).collect();
    for (i, a) in trusted.iter().enumerate() {
        for b in &trusted[i + 1..] {
            let (gap, error) = (a.log_ml - b.log_ml, a.se.hypot(b.se));
            let bounds = |m: &MethodResult| m.kind == Kind::StochasticLowerBound;
            // a bound may well be below: only one that is above says something
            let contradiction = match (bounds(a), bounds(b)) {
                (false, false) => gap.abs() > SIGMAS * error + NATS,
                (true, false) => gap > SIGMAS * error + NATS,
                (false, true) => -gap > SIGMAS * error + NATS,
                (true, true) => false,
            };
            if !contradiction {
                continue;
            }
            let tail = match (bounds(a), bounds(b)) {
                (false, false) => "at least one of them is wrong, and neither error can be believed".to_owned(),
                (bound, _) => {
                    let (bound, other) = if bound { (a, b) } else { (b, a) };
                    format!(
                        "a lower bound is above log p(y) by so much with probability below e^-{:.1}, so that {} has missed a part of the posterior",
                        bound.log_ml - other.log_ml,
                        other.name
                    )
                }
            };
            list.push(format!("{} and {} are {:.2} nats apart: {tail}", a.name, b.name, gap.abs()));
        }
    }
    list
}
