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
            let seconds = all.iter().map(|a| a.4).sum::<f64>() / 20.0;
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let converged = all.iter().filter(|a| a.1 == Convergence::Converged).count();
            println!(
                "{name} {}: {:.3} to {:.3} nats below the optimum, {converged} converged, {} gradients, {} to {} draws, {seconds:.4} CPU s",
                family.0,
                all[0].0,
                all[19].0,
                all[10].2,
                all.iter().map(|a| a.3).min().unwrap_or(0),
                all.iter().map(|a| a.3).max().unwrap_or(0),
            );
            worst = worst.max(all[19].0);
        }
        paths(name);
    }
    println!("the worst fit is {worst:.3} nats below the optimum");
}

/// Pathfinder beside Stan's.
fn paths(name: &str) {
    let begin = cpu_seconds();
    let mut single: Vec<f64> = Vec::new();
    let mut several: Vec<f64> = Vec::new();
    for seed in 1..=20 {
        with(name, |evaluations, reference| {
            let found =
                pathfinder::multi_path(evaluations, &pathfinder::Settings::new(key(seed)), 4000).expect("paths");
            let label = if name == "mixture" { 2.0_f64.ln() } else { 0.0 };
            let log_z = reference["log_z"].as_f64().expect("a number") - label;
            several.push(log_z - found.elbo.value);
            let first =
                elbo::estimate(evaluations, &found.paths[0].approximation, 4096, key(seed).step(9)).expect("a bound");
            single.push(log_z - first.value);
        });
    }
    let order = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        format!("{:.3} {:.3} {:.3}", all[0], all[10], all[19])
    };
    let seconds = (cpu_seconds() - begin) / 20.0;
    println!(
        "{name} pathfinder: KL of one path {}, of four {} ({seconds:.4} CPU s)",
        order(&mut single),
        order(&mut several)
    );
}
