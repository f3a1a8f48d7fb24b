//! Ordinary programs with data that come from them, and hard ones that no sampler should be called good on.

mod hard;
mod hierarchical;
mod regressions;
mod series;
mod structured;

use crust_math::random::{Purpose, Stream, StreamKey};
use serde_json::Value;

/// A program with a way to draw its data.
pub struct Case {
    pub name: &'static str,
    pub program: &'static str,
    pub data: fn(u64) -> Value,
}

/// Programs with the priors people use and data that come from the model: annealing should be good on them.
pub fn ordinary() -> Vec<Case> {
    let mut list = regressions::cases();
    list.extend(hierarchical::cases());
    list.extend(series::cases());
    list.extend(structured::cases());
    list
}

/// Programs with modes that chains do not leave, and funnels that they do not enter: *good* would be wrong.
pub fn hard() -> Vec<Case> {
    hard::cases()
}

fn stream(dataset: u64) -> Stream {
    StreamKey::new(dataset, Purpose::DATA).stream()
}

fn normals(n: usize, s: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| s.standard_normal()).collect()
}

/// The groups of n observations in turn, from 1 on.
fn groups(n: usize, count: usize) -> Vec<usize> {
    (0..n).map(|i| i % count + 1).collect()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn bernoulli(logit: f64, s: &mut Stream) -> u8 {
    u8::from(s.uniform() < logistic(logit))
}

fn binomial(n: u32, p: f64, s: &mut Stream) -> usize {
    (0..n).filter(|_| s.uniform() < p).count()
}

fn poisson(rate: f64, s: &mut Stream) -> u32 {
    let (mut p, mut n) = (s.uniform(), 0);
    while p > (-rate).exp() {
        p *= s.uniform();
        n += 1;
    }
    n
}

/// A gamma variate with a whole shape and rate 1.
fn gamma(shape: u32, s: &mut Stream) -> f64 {
    (0..shape).map(|_| -s.uniform().ln()).sum()
}

/// An index from 1 on, drawn with these probabilities.
fn choice(p: &[f64], s: &mut Stream) -> usize {
    let mut u = s.uniform();
    p.iter().take_while(|p| (u >= **p, u -= **p).0).count().min(p.len() - 1) + 1
}
