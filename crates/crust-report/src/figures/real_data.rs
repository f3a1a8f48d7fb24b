//! Plots that compare the real data with simulated ones.

use super::{Figure, difference_axis, interval, staircase, steps_axis};
use crate::number::{as_f64, fixed, nats, quartiles};
use crate::svg::{Axis, Dash, Plot, Rule, Series, Shape, Tone};
use crate::view::{last, real_lower_bound};
use crust_diagnose::result::{Bread, Calibration, StartCheck};

/// Forward curves of real and simulated data, shifted so that their lower bounds at the largest T coincide (BREAD, Fig.
/// 1 and 5).
///
/// The paper shifts by the largest lower bound at any T. At small T that may be one lucky chain, far above log-ML.
pub(crate) fn forward_curves(bread: &Bread) -> Option<Figure> {
    let rungs = &bread.simulated.rungs;
    let relative = |forward: &[f64]| quartiles(forward).map(|q| q[1]).filter(|v| v.is_finite());
    let last_real = bread.real.rungs.iter().max_by_key(|r| r.t)?;
    let real_shift = real_lower_bound(bread).or_else(|| relative(&last_real.forward))?;
    let simulated_last = last(rungs)?;
    let simulated_shift = [simulated_last.log_ml_lower].into_iter().find(|v| v.is_finite());
    let simulated_shift = simulated_shift.or_else(|| relative(&simulated_last.forward))?;
    let curve = |chains: &[(usize, &[f64])], shift: f64, label: &str, tone: Tone, shape: Shape, dash: Dash| {
        let quartile = |(t, values): &(usize, &[f64])| Some((as_f64(*t), quartiles(values)?));
        let all: Vec<_> = chains.iter().filter_map(quartile).collect();
        Series {
            label: label.to_owned(),
            tone,
            shape,
            dash,
            points: all.iter().map(|(t, q)| (*t, q[1] - shift)).collect(),
            band: all.iter().map(|(t, q)| interval(*t, *q, shift)).collect(),
            ..Series::default()
        }
    };
    let reverse: Vec<(usize, &[f64])> = rungs.iter().map(|r| (r.t, &r.reverse[..])).collect();
    let forward: Vec<(usize, &[f64])> = rungs.iter().map(|r| (r.t, &r.forward[..])).collect();
    let real: Vec<(usize, &[f64])> = bread.real.rungs.iter().map(|r| (r.t, &r.forward[..])).collect();
    let series = vec![
        curve(&reverse, simulated_shift, "simulated, reverse", Tone::Reverse, Shape::TriangleDown, Dash::Dashed),
        curve(&forward, simulated_shift, "simulated, forward", Tone::Forward, Shape::TriangleUp, Dash::Solid),
        curve(&real, real_shift, "real, forward", Tone::Real, Shape::Diamond, Dash::Dotted),
    ];
    let ends: Vec<f64> = series.iter().flat_map(|s| s.band.iter().flat_map(|i| [i.low, i.high])).collect();
    let plot = Plot {
        title: "Does inference behave alike on real and simulated data?".to_owned(),
        x: steps_axis(rungs.iter().map(|r| r.t).chain(bread.real.rungs.iter().map(|r| r.t))),
        y: difference_axis("log-ML by one chain, shifted, in nats", ends),
        series,
        rules: vec![],
    };
    let caption = format!(
        "Medians of single chains; shaded: the middle half. The data need not have the same log-ML, so each kind is shifted by its own lower bound at the largest T \
         ({} for the real data, {} for the simulated). If the two forward curves agree, the bound from simulated data is a guide to the real \
         data; if not, the model does not fit and it is none.",
        nats(real_shift),
        nats(simulated_shift)
    );
    Some(Figure { plot, caption })
}

/// The real curve among those of replicated datasets.
pub(crate) fn replicates(calibration: &Calibration) -> Option<Figure> {
    let middle = |curve: &[Vec<crust_diagnose::summary::Number>]| {
        let value = |(t, quartiles): (&usize, &Vec<crust_diagnose::summary::Number>)| {
            (as_f64(*t), quartiles.get(1).map_or(f64::NAN, |n| n.0))
        };
        calibration.steps.iter().zip(curve).map(value).collect::<Vec<_>>()
    };
    if calibration.replicate_curves.is_empty() || calibration.real_curve.is_empty() {
        return None;
    }
    let replicate = |(n, curve): (usize, &Vec<Vec<crust_diagnose::summary::Number>>)| Series {
        label: if n == 0 { "replicated datasets".to_owned() } else { String::new() },
        tone: Tone::Quiet,
        thin: true,
        bare: true,
        points: middle(curve),
        ..Series::default()
    };
    let mut series: Vec<Series> = calibration.replicate_curves.iter().enumerate().map(replicate).collect();
    series.push(Series {
        label: "real data".to_owned(),
        tone: Tone::Real,
        shape: Shape::Diamond,
        points: middle(&calibration.real_curve),
        ..Series::default()
    });
    let values: Vec<f64> = series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).collect();
    let plot = Plot {
        title: "The real data among replicated ones".to_owned(),
        x: steps_axis(calibration.steps.iter().copied()),
        y: difference_axis("median log-ML by one chain, shifted, in nats", values),
        series,
        rules: vec![],
    };
    let caption = format!(
        "Forward medians of {} datasets that were simulated from the fit, and of the real data, from {} chains each. \
         The real curve should not stand out.",
        calibration.replicate_curves.len(),
        calibration.chains
    );
    Some(Figure { plot, caption })
}

/// The discrepancy of the real data among those of the replicates.
pub(crate) fn ranks(calibration: &Calibration) -> Option<Figure> {
    if calibration.replicates.is_empty() {
        return None;
    }
    let real = Rule::Upright {
        x: calibration.discrepancy,
        label: "real data".to_owned(),
        tone: Tone::Real,
        dash: Dash::Dashed,
    };
    let replicates = Series {
        label: "replicated datasets".to_owned(),
        tone: Tone::Quiet,
        bare: true,
        points: staircase(&calibration.replicates, 0.0),
        ..Series::default()
    };
    let plot = Plot {
        title: "How unusual the real data are".to_owned(),
        x: Axis { label: "discrepancy: distance of a curve from the others".to_owned(), ..Axis::default() },
        y: Axis { label: "share of replicates at most as far".to_owned(), ends: Some((0.0, 1.03)), ..Axis::default() },
        series: vec![replicates],
        rules: vec![real],
    };
    let caption = format!(
        "The real data's discrepancy has rank {} of {}, counted from the largest (p = {}). If the model were true and fitted exactly, all ranks \
         would be equally likely.",
        calibration.rank,
        calibration.replicates.len() + 1,
        fixed(calibration.p_value, 3)
    );
    Some(Figure { plot, caption })
}

/// Whether the steps before the reverse chains matter (BREAD, Fig. 1(c) and 6).
pub(crate) fn starts(check: &StartCheck) -> Option<Figure> {
    let centre = quartiles(&check.reverse)?[1];
    let curve = |label: String, tone, dash, values: &[f64]| Series {
        label,
        tone,
        dash,
        bare: true,
        points: staircase(values, centre),
        ..Series::default()
    };
    let series = vec![
        curve(format!("after {} steps", check.steps), Tone::Reverse, Dash::Solid, &check.reverse),
        curve(format!("after {} steps", check.fewer_steps), Tone::Ink, Dash::Dashed, &check.reverse_fewer),
    ];
    let plot = Plot {
        title: format!("Do the starts of the reverse chains matter? T = {}", check.t),
        x: Axis { label: format!("−log w of a reverse chain, minus {}, in nats", nats(centre)), ..Axis::default() },
        y: Axis { label: "share of chains at or below".to_owned(), ends: Some((0.0, 1.03)), ..Axis::default() },
        series,
        rules: vec![],
    };
    let caption = format!(
        "Reverse chains ought to begin with an exact draw from the posterior. Here they begin with the generating values after {} steps of MCMC; \
         after a tenth of the steps the mean differs by {} nats. Curves that lie on each other speak for the starts, but do not prove them right.",
        check.steps,
        crate::number::with_error(check.difference, check.difference_se)
    );
    Some(Figure { plot, caption })
}
