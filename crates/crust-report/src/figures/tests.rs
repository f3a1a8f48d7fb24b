//! What plots must have, whatever the results: text inside of the drawing, nothing on top of each other, values where
//! they belong.

use super::*;
use crate::common;
use crate::svg::{Drawing, Rule, Series, Shape, Tone};
use crust_diagnose::result::{Bread, Timing};
use proptest::prelude::*;

fn all_figures(bread: &Bread, timing: Option<&Timing>) -> Vec<Figure> {
    let rungs = &bread.simulated.rungs;
    let figures = [
        sandwich(rungs),
        jeffreys(rungs, Beside::Means(&[])),
        jeffreys_time(rungs, timing, "simulated-1", 100),
        rungs.last().and_then(weights),
        acceptance(&bread.kernels),
        step_sizes(&bread.kernels),
        forward_curves(bread),
        bread.calibration.as_ref().and_then(replicates),
        bread.calibration.as_ref().and_then(ranks),
        bread.start_check.as_ref().and_then(starts),
    ];
    figures.into_iter().flatten().collect()
}

/// Every label lies in the drawing, and no two lie on each other.
fn check_labels(drawing: &Drawing) -> Result<(), TestCaseError> {
    for (n, label) in drawing.labels.iter().enumerate() {
        let area = &label.area;
        let inside =
            area.left >= 0.0 && area.top >= 0.0 && area.right <= drawing.width && area.bottom <= drawing.height;
        prop_assert!(inside, "{}: {label:?} in {} × {}", drawing.title, drawing.width, drawing.height);
        for other in &drawing.labels[n + 1..] {
            prop_assert!(!area.overlaps(&other.area), "{}: {label:?} on {other:?}", drawing.title);
        }
    }
    for nowhere in ["NaN", "Minf", "Linf", "M-inf", "L-inf", " inf\"", " -inf\"", "\"inf\"", "\"-inf\""] {
        prop_assert!(!drawing.body.contains(nowhere), "{nowhere} in {}", drawing.title);
    }
    Ok(())
}

#[test]
fn labels_stay_inside_and_apart() {
    let mut poor = common::bread();
    for rung in &mut poor.simulated.rungs {
        rung.forward[0] = f64::NEG_INFINITY;
        rung.log_ml_lower *= 1e5;
        rung.jeffreys_bound = -rung.jeffreys_bound;
        rung.reverse[3] = f64::NAN;
    }
    let compare = common::compare();
    let timing = common::timing(&["simulated-1", "uncollapsed.stan", "collapsed.stan"]);
    let mut figures = all_figures(&common::bread(), Some(&timing));
    assert_eq!(figures.len(), 10, "every plot has something to show");
    figures.extend(all_figures(&poor, None));
    figures.extend(jeffreys(&common::bdmc().rungs, Beside::Means(&common::bdmc().mean)));
    figures.extend(jeffreys(&common::violation().rungs, Beside::Means(&[])));
    figures.extend(
        [compare_steps(&compare), compare_evaluations(&compare), compare_time(&compare, &timing)].into_iter().flatten(),
    );
    for figure in &figures {
        for size in [Size::WIDE, Size::NARROW] {
            let drawing = figure.plot.draw(size);
            check_labels(&drawing).unwrap();
            assert!(drawing.labels.len() >= 4, "{}: title, axes and ticks", drawing.title);
        }
    }
}

#[test]
fn nothing_to_show_is_no_figure() {
    let nothing = Bread::default();
    assert!(all_figures(&nothing, None).is_empty());
    assert!(picture(&Results::Bread(nothing)).is_none());
    assert!(weights(&Rung { t: 10, forward: vec![f64::NAN], reverse: vec![f64::NAN], ..Rung::default() }).is_none());
}

#[test]
fn a_histogram_is_a_density() {
    let mut stream = common::Stream::new(7);
    let rung = common::rung(100, -12.0, 50.0, &mut stream);
    let plot = weights(&rung).unwrap().plot;
    for (series, chains) in plot.series.iter().zip([&rung.forward, &rung.reverse]) {
        let area: f64 = series.steps.windows(2).map(|two| (two[1].0 - two[0].0) * two[0].1).sum();
        assert!((area - 1.0).abs() < 1e-9, "{area}");
        let mean: f64 = series
            .steps
            .windows(2)
            .map(|two| (two[1].0 - two[0].0) * two[0].1 * f64::midpoint(two[0].0, two[1].0))
            .sum();
        let truth = chains.iter().sum::<f64>() / number::as_f64(chains.len())
            - best_log_ml(std::slice::from_ref(&rung)).unwrap();
        let width = series.steps[1].0 - series.steps[0].0;
        assert!((mean - truth).abs() < width / 2.0, "bins lie where their values are: {mean} for {truth}");
    }
}

#[test]
fn a_few_chains_far_off_do_not_squeeze_the_histogram() {
    let mut rung = common::rung(100, -12.0, 50.0, &mut common::Stream::new(7));
    rung.forward[0] = -1e6;
    rung.forward[1] = f64::NEG_INFINITY;
    let figure = weights(&rung).unwrap();
    let steps = &figure.plot.series[0].steps;
    assert!(steps.last().unwrap().0 - steps[0].0 < 20.0);
    assert!(figure.caption.contains("2 chains lie outside"), "{}", figure.caption);
}

#[test]
fn each_kind_of_data_is_shifted_by_its_own_lower_bound() {
    let mut bread = common::bread();
    let before = forward_curves(&bread).unwrap().plot;
    for rung in &mut bread.real.rungs {
        rung.forward.iter_mut().for_each(|w| *w += 1000.0);
        rung.log_ml_lower += 1000.0;
    }
    let after = forward_curves(&bread).unwrap().plot;
    for (one, other) in before.series.iter().zip(&after.series) {
        for (a, b) in one.points.iter().zip(&other.points) {
            assert!((a.1 - b.1).abs() < 1e-9, "{}", one.label);
        }
    }
    // one lucky chain at a small T does not move the curve
    bread.real.rungs[0].log_ml_lower += 50.0;
    assert_eq!(forward_curves(&bread).unwrap().plot.series[2].points, after.series[2].points);
    let bound = bread.real.rungs.last().unwrap().log_ml_lower;
    let median = number::quartiles(&bread.real.rungs[0].forward).unwrap()[1];
    assert!((after.series[2].points[0].1 - (median - bound)).abs() < 1e-9);
}

#[test]
fn time_is_that_of_the_forward_chains_else_work() {
    let rungs = common::bread().simulated.rungs;
    let timing = common::timing(&["real", "simulated-1"]);
    let timed = jeffreys_time(&rungs, Some(&timing), "simulated-1", 100).unwrap();
    assert!((timed.plot.series[0].points[0].0 - 10.0 * 0.002 * 4.0).abs() < 1e-12);
    let counted = jeffreys_time(&rungs, Some(&timing), "another", 100).unwrap();
    assert!((counted.plot.series[0].points[0].0 - 70.0).abs() < 1e-12, "14000 evaluations in 200 chains");
}

#[test]
fn what_a_log_axis_cannot_show_is_an_open_mark_at_its_edge() {
    let mut rungs = common::bread().simulated.rungs;
    rungs[5].jeffreys_bound = 0.0;
    rungs[4].jeffreys_bound = f64::NAN;
    let drawing = jeffreys(&rungs, Beside::Means(&[])).unwrap().plot.draw(Size::WIDE);
    assert_eq!(drawing.body.matches("class=\"open\"").count(), 1);
    // five marks and the one in the legend, less the one that is not a number and the open one
    assert_eq!(drawing.body.matches("class=\"mark\"").count(), 5);
}

#[test]
fn a_bound_far_below_zero_is_seen() {
    let figure = jeffreys(&common::violation().rungs, Beside::Means(&[])).unwrap();
    assert!(matches!(figure.plot.y.kind, Kind::Signed { .. }));
    assert!(!figure.plot.draw(Size::WIDE).body.contains("class=\"open\""));
}

#[test]
fn a_staircase_ends_at_the_share_of_finite_values() {
    let steps = staircase(&[3.0, 1.0, f64::NEG_INFINITY, f64::INFINITY], 1.0);
    assert_eq!(steps, [(0.0, 0.25), (0.0, 0.5), (2.0, 0.5), (2.0, 0.75)]);
}

#[test]
fn one_plot() {
    let mut rungs = common::bread().simulated.rungs;
    rungs.truncate(3);
    insta::assert_snapshot!(
        "jeffreys",
        jeffreys(&rungs, Beside::Means(&[])).unwrap().plot.draw(Size::NARROW).element("plot")
    );
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1e3..1e3f64,
        2 => prop::num::f64::NORMAL,
        1 => Just(0.0),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(f64::MAX), Just(5e-324)],
    ]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Linear), Just(Kind::Log), (1e-6..10.0f64).prop_map(|unit| Kind::Signed { unit })]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the numbers, a plot is complete: no label outside or on another, no `NaN` in the markup.
    #[test]
    fn any_numbers_make_a_plot(
        points in prop::collection::vec((any_number(), any_number()), 0..12),
        spread in prop::collection::vec((any_number(), any_number(), any_number()), 0..6),
        kinds in (any_kind(), any_kind()),
        rule in any_number(),
        label in "[a-zA-Z_ ]{0,90}",
    ) {
        let intervals: Vec<Interval> = spread.iter().map(|(x, low, high)| Interval { x: *x, low: *low, high: *high }).collect();
        let series = Series {
            label: label.clone(),
            shape: Shape::Square,
            points: points.clone(),
            band: intervals.clone(),
            bars: intervals,
            steps: points,
            ..Series::default()
        };
        let rules = vec![
            Rule::Upright { x: rule, label: "here".to_owned(), tone: Tone::Quiet, dash: crate::svg::Dash::Dotted },
            Rule::Level { y: rule, label, tone: Tone::Entry(9), dash: crate::svg::Dash::Dashed },
        ];
        let axis = |label: &str, kind| Axis { label: label.to_owned(), kind, ..Axis::default() };
        let plot = Plot {
            title: "A plot with a title that is too long for one line of a telephone".to_owned(),
            x: axis("across, in some unit that takes its time", kinds.0),
            y: axis("up", kinds.1),
            series: vec![series.clone(), Series { bare: true, scattered: true, ..series }],
            rules,
        };
        for size in [Size::WIDE, Size::NARROW] {
            check_labels(&plot.draw(size))?;
        }
    }
}
