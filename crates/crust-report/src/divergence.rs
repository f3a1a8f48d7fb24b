//! How far an approximation is from the posterior: bounds on one axis, the fits to simulated data, the trace of a fit.

use crate::html::{Page, Table};
use crate::number::as_f64;
use crate::svg::{Axis, Dash, Interval, Kind, Plot, Rule, Series, Shape, Tone};
use crust_diagnose::result::{Approximate, Bounds, BreadApproximation, FitOf, KlRange};
use std::fmt::Write;

/// The page of `bread --method`; its title is the verdict.
pub fn page(result: &BreadApproximation) -> String {
    let mut page = Page::new(&result.verdict.sentence);
    let run = &result.run;
    page.paragraph(&format!(
        "crust bread --method {}: {} with {}. The approximation was fitted to the real data and to {} datasets that were simulated \
         from draws of the posterior ({}). Simulated data have an exact draw of their posterior, so that log Z lies between bounds \
         by annealing (T = {}, {} chains in each direction), and KL(q‖p) = log Z − ELBO does, too.",
        result.method,
        run.model,
        run.data,
        result.simulated.len(),
        result.simulation.kind.name(),
        result.t,
        run.chains
    ));
    page.list(&result.verdict.rests_on);
    page.section("Bounds");
    let mut plots = Vec::new();
    if let Some(real) = &result.real {
        plots.push((axis("Real data: bounds on log Z", &real.bounds), AXIS));
    }
    plots.push((datasets(result), DATASETS));
    page.plots(plots.iter().map(|(plot, caption)| (plot, *caption)));
    page.section("All fits");
    page.table(&table(result));
    page.section("What this does not cover");
    page.list(&result.verdict.does_not_cover);
    page.render()
}

pub(crate) const AXIS: &str = "ELBO ≤ IW-ELBO ≤ log Z in expectation; bars are 95 % intervals. The limits from annealing hold with 97.5 % each. The \
                    distance from the ELBO to log Z is KL(q‖p).";
const DATASETS: &str =
    "KL(q‖p) between its bounds on each simulated dataset. The dashed line is the lower bound on the real data.";

/// All bounds on log Z, each by its kind.
pub(crate) fn axis(title: &str, bounds: &Bounds) -> Plot {
    let mut series = Vec::new();
    let mut add = |label: &str, value: f64, error: f64, tone: Tone, shape: Shape| {
        if !value.is_finite() {
            return;
        }
        let x = as_f64(series.len() + 1);
        let wide = 1.96 * error;
        let bars = if wide > 0.0 && wide.is_finite() {
            vec![Interval { x, low: value - wide, high: value + wide }]
        } else {
            vec![]
        };
        let points = vec![(x, value)];
        series.push(Series {
            label: label.to_owned(),
            tone,
            shape,
            points,
            bars,
            scattered: true,
            ..Series::default()
        });
    };
    add("ELBO", bounds.elbo, bounds.elbo_se, Tone::Ink, Shape::Circle);
    let weighted = format!("IW-ELBO ({} draws)", bounds.iw_draws);
    add(&weighted, bounds.iw_elbo, bounds.iw_elbo_se, Tone::Quiet, Shape::Square);
    add("log Z at least", bounds.log_z_lower.unwrap_or(f64::NAN), 0.0, Tone::Forward, Shape::TriangleUp);
    add("log Z at most", bounds.log_z_upper.unwrap_or(f64::NAN), 0.0, Tone::Reverse, Shape::TriangleDown);
    let ends = (0.5, as_f64(series.len()) + 0.5);
    let ticks = (1..=series.len()).map(as_f64).collect();
    Plot {
        title: title.to_owned(),
        x: Axis { label: "bounds, from the loosest on".to_owned(), ends: Some(ends), ticks, ..Axis::default() },
        y: Axis { label: "nats".to_owned(), ..Axis::default() },
        series,
        rules: vec![],
    }
}

fn datasets(result: &BreadApproximation) -> Plot {
    let fits = || result.simulated.iter().filter(|fit| fit.failure.is_none());
    let bars: Vec<Interval> = fits()
        .filter_map(|fit| {
            let high = fit.bounds.kl_at_most.filter(|x| x.is_finite())?;
            Some(Interval { x: f64::from(fit.dataset), low: fit.bounds.kl_at_least, high })
        })
        .collect();
    let points = bars.iter().map(|bar| (bar.x, f64::midpoint(bar.low, bar.high))).collect();
    let label = "simulated data".to_owned();
    let simulated = Series { label, tone: Tone::Forward, points, bars, scattered: true, ..Series::default() };
    let real = result.real.as_ref().map(|real| real.bounds.kl_at_least).filter(|x| x.is_finite());
    let rule =
        |y: f64| Rule::Level { y, label: "real data, at least".to_owned(), tone: Tone::Real, dash: Dash::Dashed };
    Plot {
        title: "KL(q‖p) by dataset".to_owned(),
        x: Axis { label: "simulated dataset".to_owned(), ..Axis::default() },
        y: Axis { label: "nats".to_owned(), ..Axis::default() },
        series: vec![simulated],
        rules: real.map(rule).into_iter().collect(),
    }
}

fn table(result: &BreadApproximation) -> Table {
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.3}"));
    let row = |fit: &FitOf| {
        let name = if fit.dataset == 0 { "real".to_owned() } else { format!("simulated {}", fit.dataset) };
        let bounds = &fit.bounds;
        if let Some(failure) = &fit.failure {
            return vec![name, failure.clone(), "–".into(), "–".into(), "–".into(), "–".into(), "–".into()];
        }
        vec![
            name,
            format!("{:.3} ± {:.3}", bounds.elbo, bounds.elbo_se),
            number(bounds.log_z_lower),
            number(bounds.log_z_upper),
            number(Some(bounds.kl_at_least)),
            number(bounds.kl_at_most),
            number(fit.k_hat),
        ]
    };
    let head = ["data", "ELBO", "log Z at least", "log Z at most", "KL(q‖p) at least", "at most", "k-hat"];
    Table {
        caption: "In nats".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: result.real.iter().chain(&result.simulated).map(row).collect(),
        words: 1,
    }
}

/// What the terminal shows of `bread --method`.
pub fn story(result: &BreadApproximation, width: usize) -> String {
    let mut lines = crate::terminal::wrap(&result.verdict.sentence, width);
    let range = |name: &str, range: KlRange| {
        let most = if range.at_most.is_finite() { format!("{:.2}", range.at_most) } else { "∞".to_owned() };
        format!("{name} {:.2} … {most} nats (mean of {} simulated datasets)", range.at_least, range.datasets)
    };
    lines.push(range("KL(q‖p)", result.kl_q_p));
    lines.push(range("KL(p‖q)", result.kl_p_q));
    if let Some(real) = &result.real {
        let k_hat = real.k_hat.map_or_else(|| "none".to_owned(), |k| format!("{k:.2}"));
        lines.push(format!("real data: KL(q‖p) at least {:.2} nats, k-hat {k_hat}", real.bounds.kl_at_least));
        lines.extend(crate::terminal::wrap(&bounds_in_words(&real.bounds), width));
    }
    if let Some(found) = &result.comparison {
        lines.push(format!(
            "gap on the real data: rank {} of {}, p = {:.3}",
            found.rank,
            found.datasets + 1,
            found.p_value
        ));
    }
    lines.join("\n")
}

/// `ELBO −3.2 ± 0.01 ≤ IW-ELBO … ≤ log Z`.
pub(crate) fn bounds_in_words(bounds: &Bounds) -> String {
    let mut text = format!(
        "ELBO {:.3} ± {:.3} ≤ IW-ELBO {:.3} ± {:.3}",
        bounds.elbo, bounds.elbo_se, bounds.iw_elbo, bounds.iw_elbo_se
    );
    if let Some(lower) = bounds.log_z_lower.filter(|x| x.is_finite()) {
        let _ = write!(text, "; annealing: log Z ≥ {lower:.3}");
    }
    if let Some(upper) = bounds.log_z_upper.filter(|x| x.is_finite()) {
        let _ = write!(text, ", ≤ {upper:.3}");
    }
    text + " (nats)"
}

/// The page of `approximate`.
pub fn approximation(result: &Approximate) -> String {
    let title = format!("{}: {}", result.method, result.convergence);
    let mut page = Page::new(&title);
    let k_hat = result.k_hat.map_or_else(|| "none".to_owned(), |k| format!("{k:.2}"));
    page.paragraph(&format!(
        "crust approximate{}: ELBO {:.3} ± {:.3} nats, k-hat {k_hat}, {} iterations, {} evaluations, {:.2} s. KL(q‖p) is at least {:.2} \
         nats, by the importance-weighted bound alone; `crust taddaa` and `crust bread --method {}` say more.",
        of_program(&result.model, &result.data),
        result.elbo,
        result.elbo_se,
        result.iterations,
        result.gradients,
        result.seconds,
        result.bounds.kl_at_least,
        result.method
    ));
    crate::terminal::reliability(result).iter().for_each(|words| page.paragraph(words));
    page.section("Fit");
    let mut plots = Vec::new();
    if result.trace.len() > 1 {
        plots.push((
            trace(result),
            "The bound on the draws of each step. The draws become more now and then: the bound may then fall.",
        ));
    }
    plots.push((axis("Bounds on log Z", &result.bounds), AXIS));
    page.plots(plots.iter().map(|(plot, caption)| (plot, *caption)));
    page.section("Approximation");
    let row =
        |((name, mean), sd): ((&String, &f64), &f64)| vec![name.clone(), format!("{mean:.5}"), format!("{sd:.5}")];
    page.table(&Table {
        caption: "Unconstrained parameters".to_owned(),
        head: ["parameter", "mean", "sd"].map(str::to_owned).to_vec(),
        rows: result.names.iter().zip(&result.mean).zip(&result.sd).map(row).collect(),
        words: 1,
    });
    page.render()
}

/// " of m.stan with m.json", as far as both are known.
pub(crate) fn of_program(model: &str, data: &str) -> String {
    let of = if model.is_empty() { String::new() } else { format!(" of {model}") };
    if data.is_empty() { of } else { format!("{of} with {data}") }
}

/// The distance to the best bound of the way, on a logarithmic axis: first steps are a thousand times as far as last
/// ones.
fn trace(result: &Approximate) -> Plot {
    let best = result.trace.iter().map(|step| step.elbo).fold(f64::NEG_INFINITY, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "counts of evaluations")]
    let at = |gradients: u64| gradients as f64;
    let far = |elbo: f64| (best - elbo).max(1e-4);
    let points = result.trace.iter().filter(|s| s.elbo.is_finite()).map(|s| (at(s.gradients), far(s.elbo))).collect();
    Plot {
        title: "Way of the optimiser".to_owned(),
        x: Axis { label: "evaluations".to_owned(), ..Axis::default() },
        y: Axis { label: "nats below the best".to_owned(), kind: Kind::Log, ..Axis::default() },
        series: vec![Series { tone: Tone::Forward, points, ..Series::default() }],
        rules: vec![],
    }
}
