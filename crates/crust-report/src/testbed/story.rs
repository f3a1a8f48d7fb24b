//! What the terminal shows of one model of the testbed.

use crate::view::capitalised;
use crust_diagnose::result::{GroundTruth, ModelTiming, PaperComparison, TestbedModel, TestbedRow, TrialTimes};
use std::fmt::Write;

/// A root mean squared error, in nats, that tells models apart (section 6.3).
pub(super) const ACCURATE: f64 = 10.0;

/// Ground truth, each estimator at its best and at its fastest that is accurate enough, and the paper's seconds beside
/// ours.
pub fn model(findings: &TestbedModel, timing: &ModelTiming) -> String {
    let mut text = format!("\n{}\n", heading(findings));
    let _ = writeln!(
        text,
        "\n{:<15} {:<23} {:>24} {:>9} {:>8} {:>9} {:>9}   under 10 nats in",
        "estimator", "kind", "most accurate at", "bias", "RMSE", "combined", "seconds"
    );
    let names = names(findings);
    for name in names {
        let rows: Vec<(&TestbedRow, &TrialTimes)> =
            findings.rows.iter().zip(&timing.rows).filter(|(row, _)| row.estimator == name).collect();
        let Some((row, time)) = rows.iter().min_by(|a, b| a.0.rmse.total_cmp(&b.0.rmse)) else { continue };
        let _ = writeln!(
            text,
            "{name:<15} {:<23} {:>24} {:>9} {:>8} {:>9} {:>9}   {}",
            row.kind.words(),
            format!("{} {}", row.knob.value, row.knob.name),
            signed(row.bias),
            nats(row.rmse),
            signed(row.combined - findings.truth.log_ml),
            seconds(time.seconds),
            quickest(&rows)
        );
    }
    for comparison in &timing.comparisons {
        let _ = writeln!(text, "{}", sentence(comparison));
    }
    text.trim_end().to_owned()
}

pub(super) fn heading(findings: &TestbedModel) -> String {
    let GroundTruth { log_ml, se, lower, upper, distributions, chains, .. } = &findings.truth;
    let error = se.map_or_else(String::new, |se| format!(" ± {se:.2}"));
    let mut text = format!(
        "{}, {} cases: log p(y) = {log_ml:.2}{error}, between stochastic bounds {lower:.2} and {upper:.2} ({chains} \
         chains each \
         way, T = {distributions}).",
        capitalised(findings.model.words()),
        findings.cases,
    );
    if upper - lower > 1.0 {
        text.push_str(" The bounds are more than 1 nat apart: errors of that size below say nothing.");
    }
    text
}

/// Estimators in the order in which they were run.
pub(super) fn names(findings: &TestbedModel) -> Vec<&str> {
    let mut names: Vec<&str> = findings.rows.iter().map(|row| row.estimator.as_str()).collect();
    names.dedup();
    names
}

fn quickest(rows: &[(&TestbedRow, &TrialTimes)]) -> String {
    let accurate = rows.iter().filter(|(row, _)| row.rmse < ACCURATE);
    accurate.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds)).map_or_else(
        || "never".to_owned(),
        |(row, time)| format!("{} s ({} {})", seconds(time.seconds), row.knob.value, row.knob.name),
    )
}

/// One of the paper's results and ours.
pub(super) fn sentence(comparison: &PaperComparison) -> String {
    let paper = &comparison.paper;
    let theirs = format!(
        "{} on {}: the paper's RMSE of {} nats took {} s",
        paper.estimator,
        comparison.model.words(),
        paper.rmse,
        paper.seconds
    );
    match &comparison.ours {
        Some(ours) => format!(
            "{theirs}; here {} nats took {} s ({}, {} {}), {:.0} times faster.",
            nats(ours.rmse),
            seconds(ours.seconds),
            ours.estimator,
            ours.knob.value,
            ours.knob.name,
            ours.times_faster
        ),
        None => format!("{theirs}; no setting here was as accurate."),
    }
}

/// An error in nats: tenths matter where it is small.
pub(super) fn nats(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

pub(super) fn signed(value: f64) -> String {
    if value >= 0.0 { format!("+{}", nats(value)) } else { nats(value) }
}

pub(super) fn seconds(value: f64) -> String {
    match value {
        v if v < 0.01 => format!("{v:.5}"),
        v if v < 1.0 => format!("{v:.3}"),
        v => format!("{v:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!((nats(3.456), nats(-1234.5), signed(0.0)), ("3.46".into(), "-1234".into(), "+0.00".into()));
        assert_eq!(
            (seconds(0.000_123), seconds(0.25), seconds(12.34)),
            ("0.00012".into(), "0.250".into(), "12.3".into())
        );
    }
}
