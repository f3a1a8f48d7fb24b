//! Values and gradients that Stan itself printed.

use super::{evaluate, find, gradient};
use crate::functions::Shape;

const TABLE: &str = include_str!("stan.txt");
const WEIGHTS: [f64; 6] = [0.7, -0.4, 1.1, 0.3, -0.9, 0.6];

fn number(word: &str) -> f64 {
    if word == "rejected" { f64::NAN } else { word.parse().expect("a number") }
}

/// The arguments that the parameters make.
fn arguments(kind: &str, x: &[f64]) -> Vec<(Vec<f64>, Shape)> {
    match kind {
        "v" => vec![(x.to_vec(), Shape::vector(6))],
        "m" => vec![(x.to_vec(), Shape::matrix(2, 3))],
        "vv" => vec![(x[..6].to_vec(), Shape::vector(6)), (x[6..].to_vec(), Shape::vector(6))],
        "log_mix/2" => vec![(x[..3].to_vec(), Shape::vector(3)), (x[6..].to_vec(), Shape::vector(3))],
        _ => vec![(x[..3].to_vec(), Shape::vector(3)), (x[3..].to_vec(), Shape::vector(3).in_array(2))],
    }
}

#[test]
fn everything_is_as_in_stan() {
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.ends_with("rejected")) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let (kind, name) = parts[0].split_once(':').unwrap_or((parts[0], "log_mix"));
        let x: Vec<f64> = parts[1].split(' ').map(number).collect();
        let expected: Vec<f64> = parts[2].split(' ').map(number).collect();
        let f = find(name);
        let arguments = arguments(kind, &x);
        let out = evaluate(f, &arguments);
        let weights = if out.len() == 1 { &[1.0] } else { &WEIGHTS[..] };
        let value: f64 = out.iter().zip(weights).map(|(out, w)| out * w).sum();
        let mut adjoints = gradient(f, &arguments, weights);
        if kind == "log_mix/2" {
            adjoints.insert(1, vec![0.0; 3]);
        }
        let got = std::iter::once(value).chain(adjoints.concat());
        for (i, (a, &b)) in got.zip(&expected).enumerate() {
            let near = a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-14 * b.abs().max(1.0);
            if !near && !b.is_nan() {
                wrong.push(format!("{line} [{i}]: {a}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
