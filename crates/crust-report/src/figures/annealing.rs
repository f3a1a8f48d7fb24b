//! Plots of both directions of annealing on simulated data, and of the kernels.

use super::{Figure, best_log_ml, difference_axis, interval, is_relative, steps_axis, two_errors};
use crate::number::{self, as_f64, nats, quartiles};
use crate::svg::{Axis, Dash, Interval, Kind, Plot, Rule, Series, Shape, Tone};
use crust_diagnose::result::{Confirmation, KernelAt, MeanRung, Rung, Timing};

/// Bounds on log-ML against T; where there is no log-ML, what chains of both directions say relative to their middle.
pub(crate) fn sandwich(rungs: &[Rung]) -> Option<Figure> {
    let centre = best_log_ml(rungs)?;
    let relative = rungs.iter().all(is_relative);
    let at = |value: fn(&Rung) -> f64| rungs.iter().map(move |r| (as_f64(r.t), value(r) - centre)).collect::<Vec<_>>();
    let chains = |label: &str, tone: Tone, dash: Dash, values: fn(&Rung) -> &[f64]| {
        let all: Vec<_> = rungs.iter().filter_map(|r| Some((as_f64(r.t), quartiles(values(r))?))).collect();
        Series {
            label: label.to_owned(),
            tone,
            dash,
            bare: true,
            points: all.iter().map(|(t, q)| (*t, q[1] - centre)).collect(),
            band: all.iter().map(|(t, q)| interval(*t, *q, centre)).collect(),
            ..Series::default()
        }
    };
    let bound = |label: &str, tone: Tone, shape: Shape, value: fn(&Rung) -> f64| Series {
        label: label.to_owned(),
        tone,
        shape,
        scattered: true,
        points: at(value),
        ..Series::default()
    };
    let mut series = vec![
        chains("reverse chains", Tone::Reverse, Dash::Dashed, |r| &r.reverse),
        chains("forward chains", Tone::Forward, Dash::Solid, |r| &r.forward),
        bound("upper bound", Tone::Reverse, Shape::TriangleDown, |r| r.log_ml_upper),
        bound("lower bound", Tone::Forward, Shape::TriangleUp, |r| r.log_ml_lower),
        Series {
            bars: rungs
                .iter()
                .filter_map(|r| two_errors(as_f64(r.t), r.log_ml_bar - centre, r.log_ml_bar_se))
                .collect(),
            ..bound("Bennett's estimate", Tone::Ink, Shape::Circle, |r| r.log_ml_bar)
        },
    ];
    let spread = series.iter().flat_map(|s| s.band.iter().flat_map(|i| [i.low, i.high]));
    let bounds = series[2..4].iter().flat_map(|s| s.points.iter().map(|p| p.1));
    let label = format!("log-ML minus {}, in nats", nats(centre));
    let label = if relative { "log weights around their common middle, in nats" } else { &label };
    let y = difference_axis(label, spread.chain(bounds));
    let title = if relative { "Chains of both directions" } else { "Bounds on log-ML from both sides" };
    if relative {
        series.truncate(2);
    }
    let x = steps_axis(rungs.iter().map(|r| r.t));
    let plot = Plot { title: title.to_owned(), x, y, series, rules: vec![] };
    if relative {
        let caption = "The log weights of forward chains, and those of reverse chains with the other sign, would be the same number if every chain ended in its \
                       target. Lines are medians and shaded regions hold the middle half of the chains. There is no marginal likelihood to look at, so \
                       that zero is the middle of both directions.";
        return Some(Figure { plot, caption: caption.to_owned() });
    }
    let caption = format!(
        "Each forward chain estimates the log marginal likelihood of the simulated data from below, each reverse chain from above. Lines are medians and shaded \
         regions hold the middle half of the chains. Triangles combine all chains of a direction into one bound, which holds with high probability; points are \
         Bennett's estimate from both directions, with two standard errors. Zero is {} nats. Triangles may trade places by chance where the bounds are tight.",
        nats(centre)
    );
    Some(Figure { plot, caption })
}

/// Bounds of other chains than those of the first dataset.
#[derive(Clone, Copy)]
pub(crate) enum Beside<'a> {
    /// Means over all datasets.
    Means(&'a [MeanRung]),
    /// New chains on new datasets, which the verdict rests on.
    Confirmed(Option<&'a Confirmation>),
}

impl Beside<'_> {
    fn series(self) -> Option<Series> {
        let at = |t: usize, bound: f64, se: f64| ((as_f64(t), bound), two_errors(as_f64(t), bound, se));
        let (label, shape, all): (String, Shape, Vec<_>) = match self {
            Self::Means([]) | Self::Confirmed(None) => return None,
            Self::Means(means) => {
                let each = means.iter().map(|m| at(m.t, m.jeffreys_bound, m.jeffreys_se));
                ("mean over datasets".to_owned(), Shape::Square, each.collect())
            }
            Self::Confirmed(Some(Confirmation { datasets, rung })) => {
                let label = format!("new chains on {datasets} new datasets");
                (label, Shape::Diamond, vec![at(rung.t, rung.jeffreys_bound, rung.jeffreys_se)])
            }
        };
        Some(Series {
            label,
            tone: Tone::Ink,
            shape,
            dash: Dash::Dashed,
            points: all.iter().map(|(point, _)| *point).collect(),
            bars: all.into_iter().filter_map(|(_, bar)| bar).collect(),
            ..Series::default()
        })
    }

    /// What is said of error bars.
    fn errors(self) -> &'static str {
        match self {
            Self::Means([]) | Self::Confirmed(None) => {
                " from the chains of this dataset; that its reverse chains share their start is not in them"
            }
            Self::Means(_) => ", between datasets for the mean over datasets",
            Self::Confirmed(Some(_)) => {
                "; those of the first dataset do not know that its reverse chains share their start. The verdict rests on the new chains, since a ladder \
                 that is climbed until a bound is small ends at bounds that are small by chance"
            }
        }
    }
}

/// The Jeffreys bound against T.
pub(crate) fn jeffreys(rungs: &[Rung], beside: Beside<'_>) -> Option<Figure> {
    if rungs.is_empty() {
        return None;
    }
    let mut series = vec![bound_series(rungs, |r| Some(as_f64(r.t)))];
    if let Some(other) = beside.series() {
        "first dataset".clone_into(&mut series[0].label);
        series.push(other);
    }
    let plot = Plot {
        title: "How far the approximate samples may be from the posterior".to_owned(),
        x: steps_axis(rungs.iter().map(|r| r.t)),
        y: bound_axis(&series),
        series,
        rules: vec![],
    };
    let caption = format!(
        "The mean of B̂ over single chains bounds, in expectation, the Jeffreys divergence between the last states of the forward chains and the posterior: \
         the sum of both Kullback–Leibler divergences. Bars are two standard errors{}; the shaded region holds the middle half of the pairs of chains. \
         {}",
        beside.errors(),
        if rungs.iter().any(|rung| rung.jeffreys_bound == f64::INFINITY) {
            "An open triangle at the upper edge is an infinite estimate: some chains met points without density."
        } else {
            "An open triangle at the lower edge is an estimate that is at or below zero, by chance."
        }
    );
    Some(Figure { plot, caption })
}

/// The Jeffreys bound against time, or against work where no time was taken.
pub(crate) fn jeffreys_time(rungs: &[Rung], timing: Option<&Timing>, name: &str, chains: usize) -> Option<Figure> {
    // all rungs up to this one: a short rung may take longer than the next by chance, and time does not run backwards
    let seconds = |r: &Rung| {
        let before = rungs.iter().filter(|other| other.t <= r.t);
        before.map(|other| Some(forward_seconds(timing?, name, other.t)? * as_many(other, chains))).sum::<Option<f64>>()
    };
    let timed = rungs.iter().any(|r| seconds(r).is_some());
    let series = if timed { bound_series(rungs, seconds) } else { bound_series(rungs, evaluations_per_chain) };
    if series.points.is_empty() {
        return None;
    }
    let (title, label, words) = if timed {
        (
            "What closeness costs: time",
            format!("seconds for {chains} forward chains up to this T"),
            "The same bound against the time that all forward chains up to this rung took on this computer.",
        )
    } else {
        (
            "What closeness costs: evaluations",
            "evaluations of the density for each chain".to_owned(),
            "The same bound against the evaluations of the density, with its gradient, in one chain.",
        )
    };
    let plot = Plot {
        title: title.to_owned(),
        x: Axis { label, kind: Kind::Log, ..Axis::default() },
        y: bound_axis(std::slice::from_ref(&series)),
        series: vec![series],
        rules: vec![],
    };
    Some(Figure {
        plot,
        caption: format!(
            "{words} A straight line down means that a fixed factor of work buys a fixed factor of accuracy."
        ),
    })
}

/// How many times as long a rung would have taken with as many chains as others have.
fn as_many(rung: &Rung, chains: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a place on an axis")]
    let share = |n: usize| n.max(1) as f64;
    share(chains) / share(rung.forward.len())
}

/// How long the forward chains of a rung took.
pub(super) fn forward_seconds(timing: &Timing, name: &str, t: usize) -> Option<f64> {
    timing.rungs.iter().find(|r| r.name == name && r.t == t).map(|r| r.forward_seconds).filter(|s| *s > 0.0)
}

pub(super) fn evaluations_per_chain(rung: &Rung) -> Option<f64> {
    let chains = u32::try_from(rung.forward.len() + rung.reverse.len()).ok().filter(|n| *n > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "a place on an axis")]
    let evaluations = rung.evaluations as f64;
    (evaluations > 0.0).then(|| evaluations / f64::from(chains))
}

fn bound_series(rungs: &[Rung], x: impl Fn(&Rung) -> Option<f64>) -> Series {
    let placed: Vec<(f64, &Rung)> = rungs.iter().filter_map(|r| Some((x(r)?, r))).collect();
    let quartile_band = |(x, r): &(f64, &Rung)| match r.jeffreys_quartiles[..] {
        [low, _, high] => Some(Interval { x: *x, low, high }),
        _ => None,
    };
    Series {
        label: "mean of B̂".to_owned(),
        tone: Tone::Forward,
        points: placed.iter().map(|(x, r)| (*x, r.jeffreys_bound)).collect(),
        bars: placed.iter().filter_map(|(x, r)| two_errors(*x, r.jeffreys_bound, r.jeffreys_se)).collect(),
        band: placed.iter().filter_map(quartile_band).collect(),
        ..Series::default()
    }
}

/// A logarithmic axis over what the bounds are; error bars that come near zero do not stretch it for decades.
pub(super) fn bound_axis(series: &[Series]) -> Axis {
    let values = || series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).filter(|v| *v > 0.0 && v.is_finite());
    let spread = series.iter().flat_map(|s| s.bars.iter().chain(&s.band).flat_map(|i| [i.low, i.high]));
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().chain(spread.clone().filter(|v| v.is_finite())).fold(0.0, f64::max);
    let lowest = spread.filter(|v| *v >= least / 5.0).fold(least, f64::min);
    let label = "Jeffreys bound, in nats".to_owned();
    // below zero by more than chance: a violation, which must be seen
    if !least.is_finite() || series.iter().flat_map(|s| &s.bars).any(|bar| bar.high < 0.0) {
        return Axis { label, kind: Kind::Signed { unit: 0.1 }, ..Axis::default() };
    }
    Axis { label, kind: Kind::Log, ticks: vec![], ends: Some((lowest / 1.3, most * 1.3)) }
}

/// Histograms of both directions' weights at one T.
pub(crate) fn weights(rung: &Rung) -> Option<Figure> {
    let bins = Bins::over(rung)?;
    let centre = bins.centre;
    let (label, middle, crossing) = if is_relative(rung) {
        ("log weight of one chain around the common middle, in nats".to_owned(), "middle", "where both are as likely")
    } else {
        let label = format!("estimate of log-ML by one chain, minus {}, in nats", nats(centre));
        (label, "log-ML", "exactly at log-ML")
    };
    let outside = rung.forward.iter().chain(&rung.reverse).filter(|v| !bins.holds(**v)).count();
    let histogram = |label: &str, tone, dash, values: &[f64]| Series {
        label: label.to_owned(),
        tone,
        dash,
        steps: bins.heights(values),
        ..Series::default()
    };
    let plot = Plot {
        title: format!("Weights of both directions at T = {}", rung.t),
        x: Axis { label, ..Axis::default() },
        y: Axis {
            label: "share of chains per nat".to_owned(),
            ends: Some((0.0, bins.highest(rung))),
            ..Axis::default()
        },
        series: vec![
            histogram("forward: log w", Tone::Forward, Dash::Solid, &rung.forward),
            histogram("reverse: −log w", Tone::Reverse, Dash::Dashed, &rung.reverse),
        ],
        rules: vec![Rule::Upright { x: 0.0, label: middle.to_owned(), tone: Tone::Ink, dash: Dash::Dotted }],
    };
    let left_out = match outside {
        0 => String::new(),
        1 => " One chain lies outside of the plot.".to_owned(),
        n => format!(" {n} chains lie outside of the plot."),
    };
    let caption = format!(
        "The densities of the two histograms cross {crossing} (Crooks' relation), up to chance. Where they overlap, both directions visit the same \
         states; where they lie apart, T is too small.{left_out}"
    );
    Some(Figure { plot, caption })
}

/// Bins over the bulk of both directions' weights.
struct Bins {
    centre: f64,
    low: f64,
    width: f64,
    count: usize,
}

impl Bins {
    fn over(rung: &Rung) -> Option<Self> {
        let mut all: Vec<f64> = rung.forward.iter().chain(&rung.reverse).copied().filter(|v| v.is_finite()).collect();
        if rung.forward.is_empty() || rung.reverse.is_empty() || all.is_empty() {
            return None;
        }
        all.sort_by(f64::total_cmp);
        let centre = best_log_ml(std::slice::from_ref(rung))?;
        let [q1, _, q3] = quartiles(&all)?;
        // a few chains far off would leave the rest in one bin
        let room = 1.5 * (q3 - q1);
        let low = all[0].max(number::quantile(&all, 0.02) - room).min(centre);
        let high = all[all.len() - 1].min(number::quantile(&all, 0.98) + room).max(centre);
        let span = (high - low).max(1e-6);
        let wanted = 2.0 * (q3 - q1) / as_f64(all.len()).cbrt();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 12 and 40")]
        let count = if wanted > 0.0 { (span / wanted).ceil().clamp(12.0, 40.0) as usize } else { 12 };
        Some(Self { centre, low, width: span / as_f64(count), count })
    }

    fn holds(&self, value: f64) -> bool {
        value >= self.low && value <= self.low + self.width * as_f64(self.count)
    }

    fn heights(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let mut counts = vec![0usize; self.count];
        for value in values.iter().filter(|v| self.holds(**v)) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value lies in a bin")]
            let bin = ((value - self.low) / self.width) as usize;
            counts[bin.min(self.count - 1)] += 1;
        }
        let edge = |n: usize| self.low + self.width * as_f64(n) - self.centre;
        let height = |count: usize| as_f64(count) / (as_f64(values.len()) * self.width);
        let bars = counts.iter().enumerate().map(|(n, c)| (edge(n), height(*c)));
        bars.chain([(edge(self.count), 0.0)]).collect()
    }

    fn highest(&self, rung: &Rung) -> f64 {
        let both = [self.heights(&rung.forward), self.heights(&rung.reverse)];
        1.08 * both.iter().flatten().map(|b| b.1).fold(0.0, f64::max)
    }
}

/// Acceptance rates against β.
pub(crate) fn acceptance(kernels: &[KernelAt]) -> Option<Figure> {
    let series = kernel_series(kernels, |k| k.accept)?;
    let y = Axis { label: "mean acceptance rate".to_owned(), ends: Some((0.0, 1.03)), ..Axis::default() };
    let caption = "How often the tuned transitions accept along the path from its first distribution (β = 0) to the posterior (β = 1). Rates near 0 or 1 \
                   mean steps that are too long or too short: still valid, but wasteful.";
    let plot = Plot {
        title: "Acceptance along the path".to_owned(),
        x: beta_axis(kernels),
        y,
        series: vec![series],
        rules: vec![],
    };
    Some(Figure { plot, caption: caption.to_owned() })
}

/// Step sizes against β.
pub(crate) fn step_sizes(kernels: &[KernelAt]) -> Option<Figure> {
    let series = kernel_series(kernels, |k| k.step_size)?;
    let y = Axis { label: "step size, after scaling by the metric".to_owned(), kind: Kind::Log, ..Axis::default() };
    let caption = "Step sizes were tuned at each of these β in a pilot run, then frozen. Both directions use the same transitions.";
    let plot = Plot {
        title: "Step size along the path".to_owned(),
        x: beta_axis(kernels),
        y,
        series: vec![series],
        rules: vec![],
    };
    Some(Figure { plot, caption: caption.to_owned() })
}

fn kernel_series(kernels: &[KernelAt], value: fn(&KernelAt) -> f64) -> Option<Series> {
    let points: Vec<_> = kernels.iter().map(|k| (k.beta, value(k))).collect();
    points.iter().any(|p| p.1.is_finite()).then(|| Series { tone: Tone::Forward, points, ..Series::default() })
}

/// β from 0 to 1; small values are spread out where there are many.
fn beta_axis(kernels: &[KernelAt]) -> Axis {
    let least = kernels.iter().map(|k| k.beta).filter(|b| *b > 0.0).fold(1.0, f64::min);
    let kind = if least < 0.02 { Kind::Signed { unit: 10f64.powf(least.log10().floor()) } } else { Kind::Linear };
    Axis { label: "β".to_owned(), kind, ticks: vec![], ends: Some((0.0, 1.0)) }
}
