//! Plots of several representations, kernels or schedules side by side (BREAD, Fig. 2).

use super::annealing::{bound_axis, evaluations_per_chain, forward_seconds};
use super::{Figure, steps_axis, two_errors};
use crate::number::as_f64;
use crate::svg::{Axis, Dash, Kind, Plot, Series, Shape, Tone};
use crust_diagnose::result::{Compare, Entry, Rung, Timing};

/// Bounds against T.
pub(crate) fn compare_steps(compare: &Compare) -> Option<Figure> {
    let steps = compare.entries.iter().flat_map(|e| e.rungs.iter().map(|r| r.t));
    figure(
        compare,
        "Bound against steps",
        steps_axis(steps),
        "Which needs fewer steps: lower is better. Bars are two standard errors.",
        |_, rung| Some(as_f64(rung.t)),
    )
}

/// Bounds against evaluations of the density.
pub(crate) fn compare_evaluations(compare: &Compare) -> Option<Figure> {
    let x = Axis { label: "evaluations of the density for each chain".to_owned(), kind: Kind::Log, ..Axis::default() };
    let caption = "Which needs fewer evaluations of its density. One evaluation need not cost the same in each.";
    figure(compare, "Bound against evaluations", x, caption, |_, rung| evaluations_per_chain(rung))
}

/// Bounds against time.
pub(crate) fn compare_time(compare: &Compare, timing: &Timing) -> Option<Figure> {
    let label = format!("seconds for {} forward chains", compare.run.chains);
    let x = Axis { label, kind: Kind::Log, ..Axis::default() };
    let caption =
        "Which needs less time on this computer: the lower curve at the time that one can spend is the better choice.";
    figure(compare, "Bound against time", x, caption, |entry, rung| forward_seconds(timing, &entry.name, rung.t))
}

fn figure(
    compare: &Compare,
    title: &str,
    x: Axis,
    caption: &str,
    place: impl Fn(&Entry, &Rung) -> Option<f64>,
) -> Option<Figure> {
    let series: Vec<Series> = compare.entries.iter().enumerate().map(|(n, e)| curve(n, e, &place)).collect();
    if series.iter().all(|s| s.points.is_empty()) {
        return None;
    }
    let plot = Plot { title: title.to_owned(), x, y: bound_axis(&series), series, rules: vec![] };
    Some(Figure { plot, caption: caption.to_owned() })
}

fn curve(n: usize, entry: &Entry, place: impl Fn(&Entry, &Rung) -> Option<f64>) -> Series {
    const SHAPES: [Shape; 5] = [Shape::Circle, Shape::Square, Shape::Diamond, Shape::TriangleUp, Shape::TriangleDown];
    const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
    let placed: Vec<(f64, &Rung)> = entry.rungs.iter().filter_map(|r| Some((place(entry, r)?, r))).collect();
    Series {
        label: entry.name.clone(),
        tone: Tone::Entry(n),
        shape: SHAPES[n % SHAPES.len()],
        dash: DASHES[n % DASHES.len()],
        points: placed.iter().map(|(x, r)| (*x, r.jeffreys_bound)).collect(),
        bars: placed.iter().filter_map(|(x, r)| two_errors(*x, r.jeffreys_bound, r.jeffreys_se)).collect(),
        ..Series::default()
    }
}
