//! Fits of twenty seeds beside the best of their family, and Pathfinder beside the evidence. Behind docs/approximate.md.
//!
//! `cargo run --release -p crust-api --example fits`
#![allow(clippy::print_stdout, reason = "a table for people")]

mod program;

use crust_infer::approximate::fixed::Convergence;
use crust_infer::approximate::{elbo, pathfinder};
use program::{FAMILIES, cpu_seconds, key, miss, with};

fn main() {
    let mut worst: f64 = 0.0;
    for name in
        ["ar1", "linreg", "logreg", "mixture", "gauss_ar30", "funnel10", "schools_noncentred", "schools_centred"]
    {
        for family in FAMILIES {
            let mut all: Vec<_> = (1..=20).map(|seed| miss(name, family, seed)).collect();
            let mut seconds: Vec<f64> = all.iter().map(|a| a.4).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let converged = all.iter().filter(|a| a.1 == Convergence::Converged).count();
            println!(
                "{name} {}: {:.3} to {:.3} nats below the optimum, {converged} converged, {} gradients, {} to {} draws, {} CPU s",
                family.0,
                all[0].0,
                all[19].0,
                all[10].2,
                all.iter().map(|a| a.3).min().unwrap_or(0),
                all.iter().map(|a| a.3).max().unwrap_or(0),
                order(&mut seconds, 5),
            );
            worst = worst.max(all[19].0);
        }
        paths(name);
    }
    println!("the worst fit is {worst:.3} nats below the optimum");
}

/// Pathfinder beside Stan's. One path varies much with its start: a hundred of them.
fn paths(name: &str) {
    let label = if name == "mixture" { 2.0_f64.ln() } else { 0.0 };
    let (mut single, mut several) = (Vec::new(), Vec::new());
    let (mut seconds, mut several_seconds) = (Vec::new(), Vec::new());
    for seed in 1..=100 {
        with(name, |evaluations, reference| {
            let settings = pathfinder::Settings::new(key(seed));
            let log_z = reference["log_z"].as_f64().expect("a number") - label;
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
