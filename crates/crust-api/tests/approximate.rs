//! Approximations of Stan programs against what real Stan and long optimisations found
//! (`approximations/reference.json`).

use std::path::Path;
use std::sync::Arc;

use crust_engine::{Batch as EngineBatch, Evaluator, Model, Terms};
use crust_infer::approximate::Error;
use crust_infer::approximate::coordinates::Family;
use crust_infer::approximate::elbo;
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::family::Approximation;
use crust_infer::approximate::fixed::{self, Convergence};
use crust_infer::approximate::laplace::laplace;
use crust_infer::approximate::pathfinder;
use crust_infer::drive::{Control, Parallelism};
use crust_infer::target::{Batch, Fatal, Target};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::{Options, read_data};
use crust_stan::front_end::read;
use crust_stan::source::NoIncludes;
use serde_json::Value;

/// A program with its data, all constants counted.
struct Program(Evaluator);

impl Clone for Program {
    fn clone(&self) -> Self {
        Self(self.0.model().evaluator())
    }
}

impl Target for Program {
    fn dimension(&self) -> usize {
        self.0.model().dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let mut lanes = EngineBatch {
            lanes: batch.lanes,
            points: &batch.x,
            beta: Some(&batch.beta),
            log_prior: &mut batch.log_prior,
            log_likelihood: &mut batch.log_likelihood,
            gradient: &mut batch.gradient,
        };
        self.0.evaluate(&mut lanes, Terms { propto: false, jacobian: true }).map_err(Fatal::new)
    }
}

fn reference() -> Value {
    let text = include_str!("approximations/reference.json");
    serde_json::from_str::<Value>(text).expect("JSON")["programs"].take()
}

/// The five programs of the papers lie with the tests of the engine.
fn program(name: &str, reference: &Value) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let engine = folder.join("../crust-engine/tests/reference");
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (model, data) = match &reference["data"] {
        Value::Null => {
            (text(&engine.join(format!("models/{name}.stan"))), text(&engine.join(format!("data/{name}.json"))))
        }
        data => (text(&folder.join(format!("tests/approximations/{name}.stan"))), data.to_string()),
    };
    let reading = read("model.stan", None, &model, &NoIncludes);
    let data = read_data(&reading.typed, &reading.source, &data, &Options::default()).expect("data");
    let model = Model::bind(&reading.typed, &data, 1).unwrap_or_else(|_| panic!("{name} binds"));
    Program(Arc::new(model).evaluator())
}

fn with<R>(name: &str, run: impl FnOnce(&mut Evaluations<'_, Program>, &Value) -> R) -> R {
    let reference = &reference()[name];
    let control = Control::default();
    run(&mut Evaluations::new(&program(name, reference), Parallelism::default(), &control), reference)
}

fn key(seed: u64) -> StreamKey {
    StreamKey::new(seed, Purpose::FIT)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[test]
fn modes_and_curvatures_are_those_of_stan() {
    for name in ["ar1", "linreg", "logreg", "gauss_ar30", "schools_noncentred"] {
        with(name, |evaluations, reference| {
            let found = laplace(evaluations, None, 2.0, key(1)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let truth = &reference["laplace"];
            let number = |field: &str| truth[field].as_f64().expect("a number");
            let log_density = found.mode.log_density;
            assert!((log_density / number("log_density") - 1.0).abs() < 1e-9, "{name}: {log_density}");
            assert!((found.log_z - number("log_z")).abs() < 2e-6, "{name}: {} {}", found.log_z, number("log_z"));
            let sd = numbers(&truth["sd"]);
            let at = found.mode.x.iter().zip(numbers(&truth["mean"]));
            for (((x, mean), sd), variance) in at.zip(sd).zip(found.approximation.variances()) {
                assert!(((x - mean) / sd).abs() < 2e-5, "{name}: {x} {mean}");
                assert!((variance.sqrt() / sd - 1.0).abs() < 1e-6, "{name}: {} {sd}", variance.sqrt());
            }
        });
    }
}

#[test]
fn laplace_is_refused_where_stan_gives_garbage() {
    let refused = with("schools_centred", |evaluations, _| laplace(evaluations, None, 2.0, key(1)).err());
    assert!(matches!(refused, Some(Error::Curvature { .. } | Error::NoMode(_))), "{refused:?}");
    // Factors can be rotated, along which the density does not change; only at the mode where all of them are 0 there
    // is a curvature.
    for seed in 1..=3 {
        match with("matfac", |evaluations, _| laplace(evaluations, None, 2.0, key(seed))) {
            Ok(found) => assert!(found.mode.x[3..].iter().all(|x| x.abs() < 1e-6), "seed {seed} is at another mode"),
            Err(error) => assert!(matches!(error, Error::Curvature { .. } | Error::NoMode(_)), "{error}"),
        }
    }
}

const FAMILIES: [(&str, Family); 2] = [("meanfield", Family::MeanField), ("fullrank", Family::FullRank)];

/// How far the fit of a seed is from the family's optimum, in nats.
fn miss(name: &str, family: (&str, Family), seed: u64) -> (f64, Convergence, u64, usize, f64) {
    with(name, |evaluations, reference| {
        let begin = cpu_seconds();
        let fit = fixed::fit(evaluations, &fixed::Settings::new(key(seed), family.1))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let (gradients, seconds) = (evaluations.count(), cpu_seconds() - begin);
        let draws = if fit.elbo.standard_error > 0.01 { 65_536 } else { 16_384 };
        let elbo = elbo::estimate(evaluations, &fit.approximation, draws, key(1000 + seed)).expect("a bound");
        (reference[family.0].as_f64().expect("a number") - elbo.value, fit.convergence, gradients, fit.draws, seconds)
    })
}

#[test]
fn fits_reach_the_best_of_their_family() {
    for name in ["ar1", "logreg", "schools_centred", "gauss_ar30"] {
        for family in FAMILIES {
            let (miss, convergence, ..) = miss(name, family, 1);
            assert!(miss.abs() < 0.1, "{name} {}: {miss} ({convergence:?})", family.0);
        }
    }
}

/// The table of docs/approximate.md: `cargo test --release -p crust --test approximate -- --ignored --nocapture`.
#[test]
#[ignore = "twenty seeds of sixteen fits take minutes"]
#[expect(clippy::print_stdout, reason = "a table for people")]
fn twenty_seeds_reach_the_best_of_their_family() {
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
    assert!(worst < 0.1, "{worst}");
}

/// Of this thread, which does all the work; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Pathfinder beside Stan's.
#[expect(clippy::print_stdout, reason = "a table for people")]
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
