//! What several tests need: programs bound to data, and evaluations of single points.

#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crust_engine::data::read_data;
use crust_engine::{Batch, Evaluator, Model, Terms};
use crust_stan::data::Options;
use crust_stan::front_end::read;
use crust_stan::render::render;
use crust_stan::source::NoIncludes;

/// A folder beside this one.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The programs of the breadth benchmark with their names, without some.
pub fn breadth_programs(left_out: &[&str]) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/breadth");
    let files = std::fs::read_dir(folder).expect("the programs are there");
    let paths = files.map(|entry| entry.expect("a file").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|e| e == "stan"));
    let named = paths.map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path));
    let wanted = named.filter(|(name, _)| !left_out.contains(&&**name));
    wanted.map(|(name, path)| (name, std::fs::read_to_string(path).expect("the program is there"))).collect()
}

/// Points with coordinates in (−1, 1), by a generator of which only its repeatability matters.
pub fn scattered(dimension: usize, count: usize, mut state: f64) -> Vec<Vec<f64>> {
    let mut next = || {
        state = (state * 16_807.0).fract();
        2.0 * state - 1.0
    };
    (0..count).map(|_| (0..dimension).map(|_| next()).collect()).collect()
}

/// Binds a program to data; panics with the rendered messages if that fails.
pub fn bind(text: &str, json: &str) -> Arc<Model> {
    try_bind(text, json).unwrap_or_else(|message| panic!("{message}"))
}

/// Binds a program to data, or says why not.
pub fn try_bind(text: &str, json: &str) -> Result<Arc<Model>, String> {
    let reading = read("model.stan", None, text, &NoIncludes);
    if reading.has_errors() {
        return Err(reading.problems.iter().map(|p| render(p, &reading.source, false)).collect());
    }
    let data = read_data(&reading.typed, &reading.source, json, &Options::default()).map_err(|e| format!("{e:?}"))?;
    let model = Model::bind(&reading.typed, &data, 1)
        .map_err(|e| e.0.iter().map(|p| render(p, &reading.source, false)).collect::<String>())?;
    Ok(Arc::new(model))
}

/// Log prior, log likelihood and gradient at several points at once.
pub struct Evaluated {
    pub log_prior: Vec<f64>,
    pub log_likelihood: Vec<f64>,
    /// By point.
    pub gradient: Vec<Vec<f64>>,
}

impl Evaluated {
    pub fn log_density(&self, point: usize) -> f64 {
        self.log_prior[point] + self.log_likelihood[point]
    }
}

/// Evaluates points, each a vector of unconstrained numbers, as the lanes of one batch.
pub fn evaluate(evaluator: &mut Evaluator, points: &[Vec<f64>], beta: Option<&[f64]>, terms: Terms) -> Evaluated {
    try_evaluate(evaluator, points, beta, terms).unwrap_or_else(|e| panic!("{e}"))
}

pub fn try_evaluate(
    evaluator: &mut Evaluator,
    points: &[Vec<f64>],
    beta: Option<&[f64]>,
    terms: Terms,
) -> Result<Evaluated, crust_engine::EngineError> {
    let (lanes, dimension) = (points.len(), evaluator.model().dimension());
    let mut x = vec![0.0; lanes * dimension];
    for (l, point) in points.iter().enumerate() {
        assert_eq!(point.len(), dimension, "the point has a number for each dimension");
        for (d, v) in point.iter().enumerate() {
            x[d * lanes + l] = *v;
        }
    }
    let (mut log_prior, mut log_likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
    let mut gradient = vec![0.0; lanes * dimension];
    let mut batch = Batch {
        lanes,
        points: &x,
        beta,
        log_prior: &mut log_prior,
        log_likelihood: &mut log_likelihood,
        gradient: &mut gradient,
    };
    evaluator.evaluate(&mut batch, terms)?;
    let gradient = (0..lanes).map(|l| (0..dimension).map(|d| gradient[d * lanes + l]).collect()).collect();
    Ok(Evaluated { log_prior, log_likelihood, gradient })
}

/// Whether two numbers agree to a relative tolerance (absolute below 1).
#[allow(clippy::float_cmp, reason = "infinities are equal or not")]
pub fn agree(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0) || a == b || (a.is_nan() && b.is_nan())
}
