//! Effective draws per second of `crust sample` on the five programs of the BREAD paper, warm-up included, against real
//! Stan's NUTS.
//!
//! `cargo bench -p crust --bench sampling [PROGRAM …]` prints the table. Effective draws are the least bulk effective
//! sample size of the parameters that are single numbers: others may be exchanged with each other from chain to chain.
//! Four chains run on two threads; so real Stan, which runs one chain after the other, is given half of its processor
//! time. Where the environment variable `REALSTAN` names a command that builds real Stan (called with a program, it
//! leaves an executable that is asked for `sample DATA.json PREFIX CHAINS WARMUP DRAWS SEED`, writes `PREFIX_1.csv` …
//! and ends with `{"cpu_seconds": …}`), it runs in turns with crust; otherwise only crust's numbers are printed.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use crust_diagnose::convergence::ess_bulk;
use crust_diagnose::draws::read_files;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, its best rewrite, and the length of warm-up and of sampling.
const CASES: [(&str, &str, u32); 5] = [
    ("linreg", "linreg_glm", 1000),
    ("logreg", "logreg_glm", 1000),
    ("ar1", "ar1_vec", 1000),
    ("mixture", "mixture_vec2", 1000),
    ("matfac", "matfac_vec", 200),
];

const SEEDS: u32 = 5;

/// One run: effective draws, and seconds.
#[derive(Clone, Copy)]
struct Run {
    effective: f64,
    seconds: f64,
}

fn reference(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crust-engine/tests/reference").join(path)
}

fn data(name: &str) -> PathBuf {
    reference(&format!("data/{}.json", name.split('_').next().unwrap_or(name)))
}

fn crust(name: &str, chains: u32, iterations: u32, seed: u32) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_crust"))
        .args(["sample".as_ref(), reference(&format!("models/{name}.stan")).as_os_str(), data(name).as_os_str()])
        .args(["--chains", &chains.to_string(), "--seed", &seed.to_string(), "--threads", "2", "--json", "-"])
        .args(["--warmup", &iterations.to_string(), "--draws", &iterations.to_string(), "--quiet"])
        .output()
        .expect("crust runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let rows = json["summary"].as_array().expect("rows");
    let single = rows.iter().filter(|row| row["name"].as_str().is_some_and(|name| !name.contains('[')));
    let effective = single.filter_map(|row| row["ess_bulk"].as_f64()).fold(f64::INFINITY, f64::min);
    let seconds = ["warmup", "sampling"].iter().filter_map(|phase| json["seconds"][phase].as_f64()).sum();
    Run { effective, seconds }
}

/// Real Stan with four chains, if it can be built.
fn real_stan(name: &str, iterations: u32, seed: u32) -> Option<Run> {
    let built = Command::new(std::env::var_os("REALSTAN")?).arg(reference(&format!("models/{name}.stan"))).output();
    let executable = PathBuf::from(String::from_utf8_lossy(&built.ok()?.stdout).lines().last()?.trim());
    let prefix = std::env::temp_dir().join(format!("crust-sampling-{}-{name}", std::process::id()));
    let iterations = iterations.to_string();
    let output = Command::new(executable)
        .args(["sample".as_ref(), data(name).as_os_str(), prefix.as_os_str()])
        .args(["4", &iterations, &iterations, &seed.to_string()])
        .output()
        .ok()?;
    let last = String::from_utf8_lossy(&output.stderr).lines().last()?.to_owned();
    let json: serde_json::Value = serde_json::from_str(&last).ok()?;
    let files: Vec<String> = (1..=4).map(|chain| format!("{}_{chain}.csv", prefix.display())).collect();
    let (draws, _) = read_files(&files).ok()?;
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap_or(()));
    let single = draws.names.iter().enumerate().filter(|(_, name)| !name.contains(['.', '[']));
    let effective = single.map(|(at, _)| ess_bulk(&draws.quantity(at))).fold(f64::INFINITY, f64::min);
    Some(Run { effective, seconds: json["cpu_seconds"].as_f64()? / 2.0 })
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Medians over seeds of seconds, and of effective draws per second.
fn medians(runs: &[Run]) -> (f64, f64) {
    let rates = runs.iter().map(|run| run.effective / run.seconds).collect();
    (median(runs.iter().map(|run| run.seconds).collect()), median(rates))
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    println!("medians over {SEEDS} seeds; effective draws per second (ESS/s) with warm-up\n");
    println!(
        "{:<9} {:>10} {:>10} {:>11} {:>11} {:>8} {:>10} {:>12}",
        "program", "4 chains s", "ESS/s", "Stan ESS/s", "best ESS/s", "faster", "than best", "64 / 4 chains"
    );
    for (name, rewrite, iterations) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let (mut four, mut many, mut stan, mut best) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=SEEDS {
            four.push(crust(name, 4, iterations, seed));
            many.push(crust(name, 64, iterations, seed));
            stan.extend(real_stan(name, iterations, seed));
            best.extend(real_stan(rewrite, iterations, seed));
        }
        let ((seconds, rate), (_, rate_of_many)) = (medians(&four), medians(&many));
        let ((_, stan), (_, best)) = (medians(&stan), medians(&best));
        println!(
            "{name:<9} {seconds:>10.3} {rate:>10.0} {stan:>11.0} {best:>11.0} {:>7.1}× {:>9.1}× {:>11.1}×",
            rate / stan,
            rate / best,
            rate_of_many / rate
        );
    }
}
