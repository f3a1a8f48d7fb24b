//! Distributions whose functionals are known exactly.

use super::{Question, Target};
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

pub(super) fn gaussian(dimensions: &[NonZero<usize>]) -> Result<Vec<Target>, Error> {
    targets(&program!("gaussian.stan"), &of_gaussian(), dimensions)
}

pub(super) fn funnel(dimensions: &[NonZero<usize>]) -> Result<Vec<Target>, Error> {
    targets(&program!("funnel.stan"), &of_funnel(), dimensions)
}

pub(super) fn banana() -> Result<Vec<Target>, Error> {
    let problem = Problem::read(program!("banana.stan"), None)?;
    Ok(vec![Target { problem, questions: of_banana(), reference: None, compares: true }])
}

/// A program of any dimension, in several.
fn targets(program: &Source, questions: &[Question], dimensions: &[NonZero<usize>]) -> Result<Vec<Target>, Error> {
    let compared = dimensions.iter().map(|d| d.get()).min_by_key(|d| d.abs_diff(COMPARED));
    let target = |d: usize| {
        let sizes = Source::text("the dimension", serde_json::to_string(&Sizes { d })?);
        let problem = Problem::read(program.clone(), Some(sizes))?;
        Ok(Target { problem, questions: questions.to_vec(), reference: None, compares: compared == Some(d) })
    };
    dimensions.iter().map(|d| target(d.get())).collect()
}

/// Means 0, variances 10 and 1.
fn of_gaussian() -> Vec<Question> {
    vec![
        Question::exact("mean(x[1])", 0.0),
        Question::exact("log_variance(x[1])", 10_f64.ln()),
        Question::exact("mean(x[2])", 0.0),
        Question::exact("log_variance(x[2])", 0.0),
    ]
}

/// The variance of x[2] is E exp(x[1]) = exp(1/2). Its 90 % quantile solves ∫ φ(u) Φ(q exp(−u/2)) du = 0.9.
fn of_funnel() -> Vec<Question> {
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
fn of_banana() -> Vec<Question> {
    vec![
        Question::exact("mean(x[1])", 0.0),
        Question::exact("log_variance(x[1])", 100_f64.ln()),
        Question::exact("mean(x[2])", 0.0),
        Question::exact("log_variance(x[2])", 19_f64.ln()),
    ]
}
