//! From results to plots, each with a caption that says how to read it.

mod annealing;
mod comparison;
mod real_data;
#[cfg(test)]
mod tests;

pub(crate) use annealing::{Beside, acceptance, jeffreys, jeffreys_time, sandwich, step_sizes, weights};
pub(crate) use comparison::{compare_evaluations, compare_steps, compare_time};
pub(crate) use real_data::{forward_curves, ranks, replicates, starts};

use crate::number;
use crate::svg::{Axis, Interval, Kind, Plot, Scale, Size, document};
use crust_diagnose::result::{Results, Rung};

/// A plot with the words below it.
pub(crate) struct Figure {
    pub plot: Plot,
    pub caption: String,
}

/// The two main plots side by side as an SVG file of its own; nothing if no rung is complete.
pub fn picture(results: &Results) -> Option<String> {
    let figures = match results {
        Results::Bdmc(bdmc) => [sandwich(&bdmc.rungs), jeffreys(&bdmc.rungs, Beside::Means(&bdmc.mean))],
        Results::Bread(bread) => {
            let confirmed = Beside::Confirmed(bread.confirmation.as_ref());
            [sandwich(&bread.simulated.rungs), jeffreys(&bread.simulated.rungs, confirmed)]
        }
        Results::Compare(compare) => [compare_steps(compare), compare_evaluations(compare)],
        _ => return None,
    };
    let drawings: Vec<_> = figures.into_iter().flatten().map(|f| f.plot.draw(Size::WIDE)).collect();
    (!drawings.is_empty()).then(|| document(&drawings))
}

/// The axis of T.
fn steps_axis(steps: impl IntoIterator<Item = usize>) -> Axis {
    let mut ticks: Vec<f64> = steps.into_iter().map(number::as_f64).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    Axis { label: "T, the number of distributions on the path".to_owned(), kind: Kind::Log, ticks, ends: None }
}

/// An axis of differences in nats over these values: logarithmic on both sides of zero where they span decades.
fn difference_axis(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
    let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    let wide = values.iter().any(|v| v.abs() > 2.0);
    let kind = if wide { Kind::Signed { unit: 0.1 } } else { Kind::Linear };
    let label = format!("{label}{}", if wide { " (logarithmic beyond ±0.1)" } else { "" });
    // no error bar stretches the axis: one of an estimate that means nothing may be as long as you like
    let ends = Some(Scale::over(kind, values).ends());
    Axis { label, kind, ticks: vec![], ends }
}

fn interval(x: f64, [low, _, high]: [f64; 3], shift: f64) -> Interval {
    Interval { x, low: low - shift, high: high - shift }
}

/// Two standard errors to both sides, where there are any.
fn two_errors(x: f64, value: f64, error: f64) -> Option<Interval> {
    (value.is_finite() && error.is_finite() && error > 0.0).then_some(Interval {
        x,
        low: value - 2.0 * error,
        high: value + 2.0 * error,
    })
}

/// The best value of log-ML that there is: Bennett's estimate at the largest T, else the middle of the sandwich, else a
/// bound. Where weights are relative and there is no log-ML, what they are relative to.
pub(crate) fn best_log_ml(rungs: &[Rung]) -> Option<f64> {
    let last = rungs.iter().max_by_key(|r| r.t)?;
    let middle = f64::midpoint(last.log_ml_lower, last.log_ml_upper);
    let known = [last.log_ml_bar, middle, last.log_ml_lower, last.log_ml_upper].into_iter().find(|v| v.is_finite());
    if known.is_none() && is_relative(last) { Some(0.0) } else { known }
}

/// Whether weights are relative to their own middle, since there is no marginal likelihood to tell.
pub(crate) fn is_relative(rung: &Rung) -> bool {
    rung.log_ml_lower.is_nan() && rung.log_ml_upper.is_nan() && rung.log_ml_bar.is_nan()
}

/// The share of values at or below each, as a staircase.
fn staircase(values: &[f64], shift: f64) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let share = |n: usize| number::as_f64(n) / number::as_f64(values.len());
    let below =
        number::as_f64(values.iter().filter(|v| **v == f64::NEG_INFINITY).count()) / number::as_f64(values.len());
    let corner = |(n, v): (usize, &f64)| [(v - shift, below + share(n)), (v - shift, below + share(n + 1))];
    sorted.iter().enumerate().flat_map(corner).collect()
}
