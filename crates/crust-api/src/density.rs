//! `crust density`: the log density and its gradient at unconstrained points.

use crate::error::{Error, ValuesError};
use crate::problem::{Problem, Program, Source};
use crate::session::Session;
use crust_diagnose::result::{Density, Point};
use crust_engine::{Batch, Model, Terms};
use std::sync::Arc;

/// Options of `density`.
#[derive(Clone, Copy, Debug)]
pub struct DensityOptions {
    /// Drop the constant terms of `~` and `_lupdf`, as Stan does while it samples.
    pub propto: bool,
    /// With the log Jacobian of the parameter transforms.
    pub jacobian: bool,
}

impl Default for DensityOptions {
    fn default() -> Self {
        Self { propto: false, jacobian: true }
    }
}

/// Evaluates a program at points: a JSON array of points, each an array of unconstrained numbers.
pub fn density(
    problem: &Problem,
    points: &Source,
    options: DensityOptions,
    session: &Session<'_>,
) -> Result<Density, Error> {
    let model = problem.model(session.seed)?;
    session.printed(&model.messages);
    let points = read_points(points, model.dimension())?;
    let terms = Terms { propto: options.propto, jacobian: options.jacobian };
    evaluate(problem.program(), &model, &points, terms, session)
}

fn read_points(source: &Source, dimension: usize) -> Result<Vec<Vec<f64>>, Error> {
    let text = source.read("read the points")?;
    let file = source.name().to_owned();
    let points: Vec<Vec<f64>> = match serde_json::from_str(&text) {
        Ok(points) => points,
        Err(error) => return Err(ValuesError::NoPoints { file, error }.into()),
    };
    if points.is_empty() {
        return Err(ValuesError::EmptyPoints { file, dimension }.into());
    }
    match points.iter().position(|p| p.len() != dimension) {
        None => Ok(points),
        Some(at) => {
            let found = points[at].len();
            Err(ValuesError::PointSize { number: at + 1, file, found, dimension }.into())
        }
    }
}

fn evaluate(
    program: &Program,
    model: &Arc<Model>,
    points: &[Vec<f64>],
    terms: Terms,
    session: &Session<'_>,
) -> Result<Density, Error> {
    let (lanes, dimension) = (points.len(), model.dimension());
    let x: Vec<f64> = (0..dimension).flat_map(|d| points.iter().map(move |p| p[d])).collect();
    let (mut log_prior, mut log_likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
    let mut gradient = vec![0.0; lanes * dimension];
    let mut evaluator = model.evaluator();
    let mut batch = Batch {
        lanes,
        points: &x,
        beta: None,
        log_prior: &mut log_prior,
        log_likelihood: &mut log_likelihood,
        gradient: &mut gradient,
    };
    evaluator.evaluate(&mut batch, terms).map_err(|error| program.engine(error))?;
    session.printed(&evaluator.take_messages());
    let point = |l: usize| {
        let value = log_prior[l] + log_likelihood[l];
        let reason = match &evaluator.rejections()[l] {
            Some(rejection) => {
                let place = program.text().location(rejection.span);
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
    Ok(Density { names: model.unconstrained_names(), points: (0..lanes).map(point).collect() })
}
