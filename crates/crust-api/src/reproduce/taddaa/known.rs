//! Distributions whose functionals are known exactly.

use super::{Question, TaddaaExperiment, Target};
use crate::error::Error;
use crate::problem::{Problem, Source};
use serde::Serialize;
use std::num::NonZero;

macro_rules! program {
    ($name:literal) => {
        Source::text($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/programs/taddaa/", $name)))
    };
}

/// Where the paper compares numbers of iterations (its figures 10 and 11).
const COMPARED: usize = 30;

/// The data of programs of any dimension.
#[derive(Serialize)]
struct Sizes {
    d: usize,
}

pub(super) fn targets(experiment: TaddaaExperiment, dimensions: &[NonZero<usize>]) -> Result<Vec<Target>, Error> {
    let (program, questions) = match experiment {
        TaddaaExperiment::Gaussian => (program!("gaussian.stan"), gaussian()),
        TaddaaExperiment::Funnel => (program!("funnel.stan"), funnel()),
        TaddaaExperiment::Banana => {
            let problem = Problem::read(program!("banana.stan"), None)?;
            return Ok(vec![Target { problem, questions: banana(), reference: None, compares: true }]);
        }
    };
    let compared = dimensions.iter().map(|d| d.get()).min_by_key(|d| d.abs_diff(COMPARED));
    let target = |d: usize| {
        let sizes = Source::text("the dimension", serde_json::to_string(&Sizes { d })?);
        let problem = Problem::read(program.clone(), Some(sizes))?;
        Ok(Target { problem, questions: questions.clone(), reference: None, compares: compared == Some(d) })
    };
    dimensions.iter().map(|d| target(d.get())).collect()
}

/// Means 0, variances 10 and 1.
fn gaussian() -> Vec<Question> {
    vec![
        Question::exact("mean(x[1])", 0.0),
        Question::exact("log_variance(x[1])", 10_f64.ln()),
        Question::exact("mean(x[2])", 0.0),
        Question::exact("log_variance(x[2])", 0.0),
    ]
}

/// The variance of x[2] is E exp(x[1]) = exp(1/2). Its 90 % quantile solves ∫ φ(u) Φ(q exp(−u/2)) du = 0.9.
fn funnel() -> Vec<Question> {
    vec![
        Question::exact("mean(x[1])", 0.0),
        Question::exact("log_variance(x[1])", 0.0),
        Question::exact("quantile(x[1], 0.9)", 1.281_551_565_544_600_5),
        Question::exact("mean(x[2])", 0.0),
        Question::exact("log_variance(x[2])", 0.5),
        Question::exact("quantile(x[2], 0.9)", 1.406_276_467_632_067),
    ]
}

/// x[1] = 10 u and x[2] = −3 (u² − 1) + e with standard normal u and e: the variance of x[2] is 9·2 + 1.
fn banana() -> Vec<Question> {
    vec![
        Question::exact("mean(x[1])", 0.0),
        Question::exact("log_variance(x[1])", 100_f64.ln()),
        Question::exact("mean(x[2])", 0.0),
        Question::exact("log_variance(x[2])", 19_f64.ln()),
    ]
}
