//! Fits of twenty seeds beside the best of their family, and Pathfinder beside the evidence: docs/approximate.md.
//!
//! `cargo run --release -p crust-api --example fits -- [reference|own|paths] [PROGRAM…]`
#![allow(clippy::print_stdout, reason = "a table for people")]

mod program;

use crust_infer::approximate::fixed::Convergence;
use crust_infer::approximate::{elbo, pathfinder};
use program::{FAMILIES, OWN, Optimum, Outcome, Program, REFERENCE, cpu_seconds, key, long_fit, miss, with};

fn main() {
    let mut words = std::env::args().skip(1);
    let what = words.next().unwrap_or_else(|| "reference".to_owned());
    let chosen: Vec<String> = words.collect();
    let all: &[&str] = if what == "own" { &OWN } else { &REFERENCE };
    for name in all.iter().filter(|name| chosen.is_empty() || chosen.iter().any(|c| c == *name)) {
        let program = program::program(name);
        if what == "paths" {
            paths(name, &program);
        } else {
            fits(name, &program, what == "own");
        }
    }
}

/// Fits of twenty seeds.
fn fits(name: &str, program: &Program, own: bool) {
    for (label, family) in FAMILIES {
        let optimum = if own {
            let (q, elbo, apart) = long_fit(program, family);
            println!("{name} {label}: the best ELBO is {elbo:.3}; three long fits are {apart:.4} apart");
            Optimum::Distribution(q)
        } else {
            Optimum::Known(program::reference(name)[label].as_f64().expect("a number"))
        };
        let mut all: Vec<Outcome> = (1..=20).map(|seed| miss(program, family, &optimum, seed)).collect();
        let mut seconds: Vec<f64> = all.iter().map(|a| a.seconds).collect();
        let mut gradients: Vec<u64> = all.iter().map(|a| a.gradients).collect();
        gradients.sort_unstable();
        all.sort_by(|a, b| a.miss.total_cmp(&b.miss));
        let converged = all.iter().filter(|a| a.convergence == Convergence::Converged).count();
        println!(
            "{name} {label}: {:.3} to {:.3} nats below the optimum, {converged} converged, {} gradients, {} to {} draws, \
             {} iterations at most, CPU s {}",
            all[0].miss,
            all[19].miss,
            gradients[10],
            all.iter().map(|a| a.draws).min().unwrap_or(0),
            all.iter().map(|a| a.draws).max().unwrap_or(0),
            all.iter().map(|a| a.iterations).max().unwrap_or(0),
            order(&mut seconds, 5),
        );
    }
}

/// Pathfinder beside Stan's. One path varies much with its start: a hundred of them.
fn paths(name: &str, program: &Program) {
    let label = if name == "mixture" { 2.0_f64.ln() } else { 0.0 };
    let log_z = program::reference(name)["log_z"].as_f64().expect("a number") - label;
    let (mut single, mut several) = (Vec::new(), Vec::new());
    let (mut seconds, mut several_seconds) = (Vec::new(), Vec::new());
    for seed in 1..=100 {
        with(program, |evaluations| {
            let settings = pathfinder::Settings::new(key(seed));
            let begin = cpu_seconds();
            let found = pathfinder::path(evaluations, &settings, 1, None).expect("a path");
            seconds.push(cpu_seconds() - begin);
            let elbo = elbo::estimate(evaluations, &found.approximation, 4096, key(seed).step(9)).expect("a bound");
            single.push(log_z - elbo.value);
            if seed <= 20 {
                let begin = cpu_seconds();
                let found = pathfinder::paths(evaluations, &settings).expect("paths");
                several_seconds.push(cpu_seconds() - begin);
                let mixture = pathfinder::mixture(&found);
                let elbo = elbo::estimate_plainly(evaluations, &mixture, 4000, key(seed).step(10)).expect("a bound");
                several.push(log_z - elbo.value);
            }
        });
    }
    println!(
        "{name} pathfinder: KL of one path {} ({} CPU s), of four {} ({} CPU s)",
        order(&mut single, 3),
        order(&mut seconds, 5),
        order(&mut several, 3),
        order(&mut several_seconds, 5)
    );
}

/// Least, median, greatest.
fn order(all: &mut [f64], digits: usize) -> String {
    all.sort_by(f64::total_cmp);
    let last = all.len() - 1;
    format!("{:.digits$} {:.digits$} {:.digits$}", all[0], all[all.len() / 2], all[last])
}
