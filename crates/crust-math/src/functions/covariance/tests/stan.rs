//! Values and gradients that Stan itself printed.

use super::{Owned, find, numbers, real, vectors};
use crate::functions::summaries::tests::{evaluate, gradient};

const TABLE: &str = include_str!("stan.txt");
const WEIGHTS: [f64; 9] = [0.7, -0.4, 1.1, 0.3, -0.9, 0.6, 0.2, 1.3, -0.5];

/// The arguments that the parameters make, and which parameters the numbers of each are (from 1).
fn arguments(name: &str, signature: &str, x: &[f64]) -> Vec<(Owned, Vec<usize>)> {
    let points = |range: std::ops::RangeInclusive<usize>| {
        (numbers(&x[range.start() - 1..*range.end()]), range.collect::<Vec<usize>>())
    };
    let plane = |positions: &[usize]| {
        (vectors(2, &positions.iter().map(|&i| x[i - 1]).collect::<Vec<_>>()), positions.to_vec())
    };
    // the third array of points that overlaps with itself leaves room for one more parameter
    let narrow = name == "gp_periodic_cov" || signature.ends_with('a');
    let mut all = match signature {
        "s" => vec![points(1..=3)],
        "ss" => vec![points(1..=3), points(4..=5)],
        "v" | "va" => vec![plane(&[1, 2, 3, 4, 5, 6])],
        _ if narrow => vec![plane(&[1, 2, 3, 4, 5, 6]), plane(&[7, 8, 8, 9])],
        _ => vec![plane(&[1, 2, 3, 4, 5, 6]), plane(&[7, 8, 9, 10])],
    };
    let parameter = |i: usize| (real(x[i - 1]), vec![i]);
    match name {
        "gp_dot_prod_cov" => all.push(parameter(11)),
        "gp_periodic_cov" => all.extend([parameter(10), parameter(11), parameter(12)]),
        _ if signature.ends_with('a') => all.extend([parameter(10), points(11..=12)]),
        _ => all.extend([parameter(11), parameter(12)]),
    }
    all
}

#[test]
fn everything_is_as_in_stan() {
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let (name, signature) = parts[0].split_once(':').expect("a signature");
        let numbers = |part: &str| part.split(' ').map(|x| x.parse().expect("a number")).collect::<Vec<f64>>();
        let (x, expected) = (numbers(parts[1]), numbers(parts[2]));
        let (arguments, parameters): (Vec<Owned>, Vec<Vec<usize>>) = arguments(name, signature, &x).into_iter().unzip();
        let out = evaluate(find(name), &arguments);
        let weights = &WEIGHTS[..out.len()];
        let mut got = [0.0; 13];
        got[0] = out.iter().zip(weights).map(|(out, w)| out * w).sum();
        for (adjoints, parameters) in gradient(find(name), &arguments, weights).iter().zip(&parameters) {
            for (a, &i) in adjoints.iter().zip(parameters) {
                got[i] += a;
            }
        }
        for (i, (a, b)) in got.iter().zip(&expected).enumerate() {
            if (a - b).abs() > 1e-13 * b.abs().max(1.0) {
                wrong.push(format!("{line} [{i}]: {a}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
