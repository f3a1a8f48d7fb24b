//! Realistic programs: against the numbers of real Stan where they are stored, and against differences.

#![allow(clippy::cast_precision_loss, reason = "the integers are small")]

mod common;

use common::{agree, bind, evaluate, folder};
use crust_engine::Terms;
use serde_json::Value;

const NORMALISED: Terms = Terms { propto: false, jacobian: true };
const PROPTO: Terms = Terms { propto: true, jacobian: true };

fn read(name: &str) -> String {
    std::fs::read_to_string(folder("programs").join(name)).expect("the file is there")
}

/// The names of the programs, in order.
fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder("programs"))
        .expect("the folder is there")
        .filter_map(|entry| {
            entry.expect("it is readable").file_name().to_str()?.strip_suffix(".stan").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// How closely log densities and gradients agree. Solvers take their steps by the last digits of what they are given.
/// Stan computes the derivative of the log of Φ by an approximation with five digits: differences of its own log
/// densities agree with our gradients.
fn tolerances(name: &str) -> (f64, f64) {
    match name {
        "lotka_volterra" => (1e-8, 1e-6),
        "ordinal_probit_and_logit" | "measurement_error" => (1e-10, 1e-4),
        _ => (1e-10, 1e-8),
    }
}

#[test]
fn log_densities_and_gradients_are_those_of_stan() {
    let golden: Value = serde_json::from_str(&read("golden.json")).expect("numbers");
    let mut failures = Vec::new();
    for name in names() {
        let rows = golden[&name].as_array().expect("there are numbers");
        let model = bind(&read(&format!("{name}.stan")), &read(&format!("{name}.json")));
        let points: Vec<Vec<f64>> = rows.iter().map(|row| numbers(&row["point"])).collect();
        let (value_tolerance, slope_tolerance) = tolerances(&name);
        for (kind, terms) in [("normalised", NORMALISED), ("propto", PROPTO)] {
            let found = evaluate(&mut model.evaluator(), &points, None, terms);
            for (l, row) in rows.iter().enumerate() {
                let (ours, value) = (found.log_density(l), row[kind]["log_density"].as_f64().expect("a number"));
                if !agree(ours, value, value_tolerance) {
                    failures.push(format!("{name} {kind} {l}: {ours} is not {value}"));
                }
                for (d, (a, b)) in found.gradient[l].iter().zip(numbers(&row[kind]["gradient"])).enumerate() {
                    if !agree(*a, b, slope_tolerance) {
                        failures.push(format!("{name} {kind} {l} gradient {d}: {a} is not {b}"));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Points of all dimensions, between −1 and 1, by a Weyl sequence.
fn spread(count: usize, dimension: usize) -> Vec<Vec<f64>> {
    let coordinate = |i: usize, d: usize| ((i + 1) as f64 * (2.3 + d as f64).sqrt() * 7.31).fract() * 2.0 - 1.0;
    (0..count).map(|i| (0..dimension).map(|d| coordinate(i, d)).collect()).collect()
}

/// Gradients against central differences of fourth order, and lanes together against lanes alone.
#[test]
fn gradients_are_slopes() {
    let h = 1e-3;
    let mut failures = Vec::new();
    for name in names() {
        let model = bind(&read(&format!("{name}.stan")), &read(&format!("{name}.json")));
        let dimension = model.dimension();
        let points = spread(5, dimension);
        let mut evaluator = model.evaluator();
        let found = evaluate(&mut evaluator, &points, None, NORMALISED);
        for (l, x) in points.iter().enumerate() {
            // All the neighbours of a point are the lanes of one batch.
            let steps = [-2.0, -1.0, 1.0, 2.0].map(|s| s * h);
            let moved = |d: usize, s: f64| {
                let mut y = x.clone();
                y[d] += s;
                y
            };
            let around: Vec<Vec<f64>> = (0..dimension).flat_map(|d| steps.map(|s| moved(d, s))).collect();
            let near = evaluate(&mut evaluator, &around, None, NORMALISED);
            for d in 0..dimension {
                let f = |k: usize| near.log_density(4 * d + k);
                let slope = (f(0) - 8.0 * f(1) + 8.0 * f(2) - f(3)) / (12.0 * h);
                if !agree(found.gradient[l][d], slope, 1e-6) {
                    failures.push(format!("{name} {l} gradient {d}: {} is not {slope}", found.gradient[l][d]));
                }
            }
            let alone = evaluate(&mut model.evaluator(), std::slice::from_ref(x), None, NORMALISED);
            let (a, b) = (alone.log_density(0), found.log_density(l));
            if !(a.is_finite() && agree(a, b, tolerances(&name).0 * 1e-2)) {
                failures.push(format!("{name} {l}: {a} alone is not {b} together"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
