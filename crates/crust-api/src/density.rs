//! `crust density`: the log density and its gradient at unconstrained points.

use crate::arguments::{Common, Density};
use crate::program::{Bound, bind, read_text, show_engine_error};
use crate::{Outcome, terminal};
use crust_engine::{Batch, Terms};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
struct Report {
    names: Vec<String>,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    /// `null` for a rejected point.
    log_density: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_prior: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_likelihood: Option<f64>,
    gradient: Vec<Option<f64>>,
    /// Why the point was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub fn run(arguments: &Density, common: &Common) -> Result<Outcome, String> {
    let Some(bound) = bind(&arguments.program, arguments.seed, common.quiet)? else { return Ok(Outcome::BadInput) };
    let points = read_points(&arguments.at, bound.model.dimension())?;
    let terms = Terms { propto: arguments.propto, jacobian: !arguments.no_jacobian };
    let report = match evaluate(&bound, &points, terms) {
        Ok(report) => report,
        Err(error) => {
            show_engine_error(&bound.reading, &error);
            return Ok(Outcome::BadInput);
        }
    };
    if let Some(file) = &common.json {
        terminal::deliver(&report, file)?;
    }
    if !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout) {
        show(&report);
    }
    Ok(Outcome::Fine)
}

fn read_points(path: &Path, dimension: usize) -> Result<Vec<Vec<f64>>, String> {
    let text = read_text("points", path)?;
    let name = path.display();
    let points: Vec<Vec<f64>> = serde_json::from_str(&text)
        .map_err(|e| format!("{name} must hold a JSON array of points, each an array of numbers: {e}"))?;
    if points.is_empty() {
        return Err(format!("{name} holds no points; a point is an array of {dimension} numbers"));
    }
    match points.iter().position(|p| p.len() != dimension) {
        None => Ok(points),
        Some(at) => {
            let n = points[at].len();
            Err(format!(
                "point {} in {name} has {n} numbers, but the program has {dimension} unconstrained parameters",
                at + 1
            ))
        }
    }
}

fn evaluate(bound: &Bound, points: &[Vec<f64>], terms: Terms) -> Result<Report, crust_engine::EngineError> {
    let (lanes, dimension) = (points.len(), bound.model.dimension());
    let x: Vec<f64> = (0..dimension).flat_map(|d| points.iter().map(move |p| p[d])).collect();
    let (mut log_prior, mut log_likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
    let mut gradient = vec![0.0; lanes * dimension];
    let mut evaluator = bound.model.evaluator();
    let mut batch = Batch {
        lanes,
        points: &x,
        beta: None,
        log_prior: &mut log_prior,
        log_likelihood: &mut log_likelihood,
        gradient: &mut gradient,
    };
    evaluator.evaluate(&mut batch, terms)?;
    evaluator.take_messages().iter().for_each(|line| terminal::complain(line));
    let source = &bound.reading.source;
    let point = |l: usize| {
        let value = log_prior[l] + log_likelihood[l];
        let reason = match &evaluator.rejections()[l] {
            Some(rejection) => {
                let place = source.location(rejection.span);
                Some(format!("{} (line {})", rejection.message, place.line))
            }
            None if !value.is_finite() => Some(format!("the log density is {value}")),
            None => None,
        };
        let finite = |x: f64| x.is_finite().then_some(x);
        let rejected = reason.is_some();
        Point {
            log_density: if rejected { None } else { finite(value) },
            log_prior: if rejected { None } else { finite(log_prior[l]) },
            log_likelihood: if rejected { None } else { finite(log_likelihood[l]) },
            gradient: if rejected {
                Vec::new()
            } else {
                (0..dimension).map(|d| finite(gradient[d * lanes + l])).collect()
            },
            reason,
        }
    };
    Ok(Report { names: bound.model.unconstrained_names(), points: (0..lanes).map(point).collect() })
}

/// A table for people: one row for each point.
fn show(report: &Report) {
    let mut text = String::new();
    let _ = writeln!(text, "{:>6}  {:>22}  {:>14}", "point", "log density", "|gradient|");
    for (i, point) in report.points.iter().enumerate() {
        let norm = point.gradient.iter().flatten().map(|d| d * d).sum::<f64>().sqrt();
        let _ = match (&point.log_density, &point.reason) {
            (Some(value), _) => writeln!(text, "{:>6}  {value:>22.12}  {norm:>14.6}", i + 1),
            (None, reason) => writeln!(text, "{:>6}  rejected: {}", i + 1, reason.as_deref().unwrap_or("no reason")),
        };
    }
    terminal::say(text.trim_end());
}
