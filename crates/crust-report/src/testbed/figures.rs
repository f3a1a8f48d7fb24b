//! The paper's Figures 2 to 5 as plots.

use super::story::names;
use crate::svg::{Axis, Dash, Interval, Kind, Plot, Rule, Series, Shape, Tone};
use crate::view::capitalised;
use crust_diagnose::result::{TestbedModel, TestbedRow, TrialTimes};

/// What is read off the trials.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Averages and errors of single trials.
    Individual,
    /// One estimate from all trials.
    Combined,
}

/// How far from the truth a zoomed plot reaches, in nats.
const ZOOM: f64 = 50.0;

/// Estimators that the paper has, in its order; the others have plots of their own.
const PAPER: [&str; 11] = ["HME", "rev AIS", "SHME", "SMC", "NS", "AIS", "VB+sym", "CMS", "VB", "LW", "BIC"];
/// What the others are compared with.
const BEST: [&str; 3] = ["AIS", "SMC", "NS"];

/// Which estimators a plot shows.
pub(super) fn is_papers(name: &str) -> bool {
    PAPER.contains(&name)
}

pub(super) fn is_ours(name: &str) -> bool {
    BEST.contains(&name) || !is_papers(name)
}

/// Estimates against seconds (Figure 2, and the left and the middle of Figures 4 and 5).
pub(super) fn estimates(findings: &TestbedModel, times: &[TrialTimes], which: Which, zoomed: bool) -> Plot {
    let truth = findings.truth.log_ml;
    let value = |row: &TestbedRow| if which == Which::Combined { row.combined } else { row.mean };
    let mut series = curves(findings, times, is_papers, value);
    if which == Which::Individual {
        add_bars(&mut series, findings, times);
    }
    let what = if which == Which::Combined { "combined estimates" } else { "average estimates" };
    let close = if zoomed { ", close up" } else { "" };
    Plot {
        title: format!("{}: {what}{close}", capitalised(findings.model.words())),
        x: time_axis(),
        y: Axis {
            label: "log marginal likelihood (nats)".to_owned(),
            ends: zoomed.then_some((truth - ZOOM, truth + ZOOM)),
            ..Axis::default()
        },
        series,
        rules: vec![Rule::Level { y: truth, label: "true".to_owned(), tone: Tone::Ink, dash: Dash::Dashed }],
    }
}

/// Errors against seconds (Figure 3, and the right of Figures 4 and 5).
pub(super) fn errors(findings: &TestbedModel, times: &[TrialTimes], which: Which, shown: fn(&str) -> bool) -> Plot {
    // An error below the resolution of a log axis, by luck, would stretch it.
    const LEAST: f64 = 0.01;
    let value =
        |row: &TestbedRow| if which == Which::Combined { row.combined_error.max(LEAST) } else { row.rmse.max(LEAST) };
    let what = if which == Which::Combined { "error of combined estimates" } else { "error of single trials" };
    Plot {
        title: format!("{}: {what}", capitalised(findings.model.words())),
        x: time_axis(),
        y: Axis { label: "root mean squared error (nats)".to_owned(), kind: Kind::Log, ..Axis::default() },
        series: curves(findings, times, shown, value),
        rules: vec![Rule::Level { y: 10.0, label: "10 nats".to_owned(), tone: Tone::Quiet, dash: Dash::Dotted }],
    }
}

fn time_axis() -> Axis {
    Axis { label: "seconds for one trial".to_owned(), kind: Kind::Log, ..Axis::default() }
}

fn curves(
    findings: &TestbedModel,
    times: &[TrialTimes],
    shown: fn(&str) -> bool,
    value: impl Fn(&TestbedRow) -> f64,
) -> Vec<Series> {
    const SHAPES: [Shape; 5] = [Shape::Circle, Shape::Square, Shape::Diamond, Shape::TriangleUp, Shape::TriangleDown];
    const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
    let names = names(findings).into_iter().filter(|name| shown(name));
    let curve = |(n, name): (usize, &str)| {
        let points =
            |(row, time): (&TestbedRow, &TrialTimes)| (row.estimator == name).then(|| (time.seconds, value(row)));
        Series {
            label: name.to_owned(),
            tone: Tone::Entry(n),
            shape: SHAPES[n % SHAPES.len()],
            dash: DASHES[(n / 2) % DASHES.len()],
            points: findings.rows.iter().zip(times).filter_map(points).collect(),
            ..Series::default()
        }
    };
    names.enumerate().map(curve).collect()
}

/// Two standard errors of the expected estimate, as in the paper: they say nothing about the log-ML itself.
fn add_bars(series: &mut [Series], findings: &TestbedModel, times: &[TrialTimes]) {
    for one in series {
        let rows = findings.rows.iter().zip(times).filter(|(row, _)| row.estimator == one.label && row.se.is_finite());
        let bar = |(row, time): (&TestbedRow, &TrialTimes)| Interval {
            x: time.seconds,
            low: row.mean - 2.0 * row.se,
            high: row.mean + 2.0 * row.se,
        };
        one.bars = rows.map(bar).collect();
    }
}
