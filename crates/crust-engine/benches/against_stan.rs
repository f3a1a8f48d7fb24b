//! Time per gradient per chain on the five programs of the BREAD paper, against real Stan and against the arithmetic
//! itself.
//!
//! `cargo bench -p crust-engine` prints the table. Where the environment variable `REALSTAN` names a command that
//! builds real Stan (called with a program, it leaves an executable that is asked for `bench DATA.json SECONDS`), its
//! times are measured in the same run; otherwise the ones that were measured before on a 2.8 GHz Xeon stand in the
//! table, marked with a star.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use common::{bind, folder};
use crust_engine::{Batch, Terms};

/// A program, its best rewrite, and what it costs at least.
struct Case {
    name: &'static str,
    rewrite: &'static str,
    /// Microseconds of real Stan measured before: plain loops, best rewrite.
    known: [f64; 2],
    /// Multiplications with additions per gradient; of regressions, after their squares are put together.
    products: f64,
    /// Exponentials, logarithms and divisions per gradient.
    functions: f64,
}

const CASES: [Case; 5] = [
    Case { name: "linreg", rewrite: "linreg_glm", known: [81.5, 5.9], products: 7.0 * 16.0, functions: 20.0 },
    Case { name: "logreg", rewrite: "logreg_glm", known: [48.4, 19.1], products: 768.0 * 24.0, functions: 768.0 * 2.0 },
    Case { name: "matfac", rewrite: "matfac_vec", known: [157.0, 37.5], products: 2500.0 * 21.0, functions: 20.0 },
    Case { name: "ar1", rewrite: "ar1_vec", known: [5.0, 1.5], products: 3.0 * 8.0, functions: 10.0 },
    Case {
        name: "mixture",
        rewrite: "mixture_vec2",
        known: [92.0, 32.3],
        products: 272.0 * 36.0,
        functions: 272.0 * 3.0,
    },
];

/// Eight products an instruction, one instruction a cycle at 2.8 GHz; a vectorised function takes about 0.8 ns a lane.
fn limit(case: &Case) -> f64 {
    (case.products / 8.0 / 2.8 + case.functions * 0.8) * 1e-3
}

fn read(path: &str) -> String {
    std::fs::read_to_string(folder("reference").join(path)).expect("the file is there")
}

/// Microseconds per gradient per chain: the least of many short measurements.
fn ours(name: &str, lanes: usize) -> f64 {
    let data = name.split('_').next().unwrap_or(name);
    let model = bind(&read(&format!("models/{name}.stan")), &read(&format!("data/{data}.json")));
    let dimension = model.dimension();
    let mut state = 0.123_f64;
    let points: Vec<f64> = (0..dimension * lanes)
        .map(|_| {
            state = (state * 16_807.0).fract();
            4.0 * state - 2.0
        })
        .collect();
    let (mut log_prior, mut log_likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
    let mut gradient = vec![0.0; dimension * lanes];
    let mut evaluator = model.evaluator();
    let mut evaluate = || {
        let mut batch = Batch {
            lanes,
            points: &points,
            beta: None,
            log_prior: &mut log_prior,
            log_likelihood: &mut log_likelihood,
            gradient: &mut gradient,
        };
        evaluator.evaluate(&mut batch, Terms { propto: true, jacobian: true }).expect("it runs");
    };
    (0..5).for_each(|_| evaluate());
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    while begin.elapsed().as_secs_f64() < 0.7 {
        let (mut count, round) = (0_u32, Instant::now());
        while round.elapsed().as_secs_f64() < 1e-3 {
            evaluate();
            count += 1;
        }
        #[allow(clippy::cast_precision_loss, reason = "few lanes")]
        let chains = f64::from(count) * lanes as f64;
        best = best.min(round.elapsed().as_secs_f64() * 1e6 / chains);
    }
    best
}

/// Microseconds per gradient of real Stan, if it can be built.
fn real_stan(name: &str) -> Option<f64> {
    let command = std::env::var_os("REALSTAN")?;
    let data = name.split('_').next().unwrap_or(name);
    let model = folder("reference").join(format!("models/{name}.stan"));
    let built = Command::new(command).arg(&model).output().ok()?;
    let executable = PathBuf::from(String::from_utf8_lossy(&built.stdout).lines().last()?.trim());
    let data = folder("reference").join(format!("data/{data}.json"));
    let output = Command::new(executable).arg("bench").arg(data).arg("1").output().ok()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    json["us_per_gradient"].as_f64()
}

fn main() {
    println!("µs per gradient per chain, one thread; ratios are real Stan / crust with 64 lanes\n");
    println!(
        "{:<10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "program", "Stan", "Stan best", "1 lane", "8 lanes", "64 lanes", "faster", "than best", "of limit"
    );
    for case in &CASES {
        let measured = [real_stan(case.name), real_stan(case.rewrite)];
        let stan = [measured[0].unwrap_or(case.known[0]), measured[1].unwrap_or(case.known[1])];
        let star = |i: usize| if measured[i].is_some() { "" } else { "*" };
        let [one, eight, many] = [1, 8, 64].map(|lanes| ours(case.name, lanes));
        println!(
            "{:<10} {:>9.1}{:1} {:>9.1}{:1} {one:>9.2} {eight:>9.2} {many:>9.3} {:>8.1}× {:>8.1}× {:>8.0}%",
            case.name,
            stan[0],
            star(0),
            stan[1],
            star(1),
            stan[0] / many,
            stan[1] / many,
            100.0 * limit(case) / many,
        );
    }
}
