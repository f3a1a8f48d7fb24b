//! Programs whose families have a best distribution that is known: from elsewhere
//! (`tests/approximations/reference.json`), or from very long fits (those in `stan/`).

use std::path::Path;
use std::sync::Arc;

use crust_engine::data::read_data;
use crust_engine::{Batch as EngineBatch, Evaluator, Model, Terms};
use crust_infer::approximate::coordinates::Family;
use crust_infer::approximate::elbo;
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::family::Elliptical;
use crust_infer::approximate::fixed::{self, Convergence, Fit};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::target::{Batch, Fatal, Target};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::Options;
use crust_stan::front_end::read;
use crust_stan::source::NoIncludes;
use serde_json::Value;

pub const REFERENCE: [&str; 8] =
    ["ar1", "linreg", "logreg", "mixture", "gauss_ar30", "funnel10", "schools_noncentred", "schools_centred"];

/// With data that `make_data.py` has simulated.
pub const OWN: [&str; 13] = [
    "counts_varying",
    "gamma_times",
    "student_lines",
    "grades_ordered",
    "clutches_beta_binomial",
    "curve_gaussian_process",
    "series_second_order",
    "claims_negative_binomial",
    "outcomes_correlated",
    "items_one_parameter",
    "survival_weibull",
    "horseshoe",
    "logistic_25",
];

/// A program with its data, all constants counted.
pub struct Program(Evaluator);

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

pub fn reference(name: &str) -> Value {
    let text = include_str!("../../tests/approximations/reference.json");
    serde_json::from_str::<Value>(text).expect("JSON")["programs"][name].take()
}

/// The five programs of the papers lie with the tests of the engine.
pub fn program(name: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let engine = folder.join("../crust-engine/tests/reference");
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let own = folder.join("examples/fits/stan");
    let (model, data) = match &reference(name)["data"] {
        Value::Null if OWN.contains(&name) => {
            (text(&own.join(format!("{name}.stan"))), text(&own.join(format!("{name}.json"))))
        }
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

pub fn with<R>(program: &Program, run: impl FnOnce(&mut Evaluations<'_, Program>) -> R) -> R {
    let control = Control::default();
    run(&mut Evaluations::new(program, Parallelism::default(), &control))
}

pub fn key(seed: u64) -> StreamKey {
    StreamKey::new(seed, Purpose::FIT)
}

pub const FAMILIES: [(&str, Family); 2] = [("meanfield", Family::MeanField), ("fullrank", Family::FullRank)];

/// The fit of a seed, and what it took.
pub struct Outcome {
    /// Nats below the family's optimum.
    pub miss: f64,
    pub convergence: Convergence,
    pub gradients: u64,
    pub draws: usize,
    pub iterations: usize,
    /// CPU time, without draws that only the bound is computed from.
    pub seconds: f64,
}

/// What a family can do at best.
pub enum Optimum {
    /// An ELBO that is known.
    Known(f64),
    /// The distribution itself. On the same draws the difference to another one is known much better than both.
    Distribution(Elliptical),
}

fn settled(evaluations: &mut Evaluations<'_, Program>, settings: &fixed::Settings) -> Fit {
    fixed::fit(evaluations, settings).expect("a fit")
}

const MANY: usize = 65_536;

/// The best of a family by very long fits of three seeds, which must agree: with its ELBO on other draws, and by how
/// much those of the others are different.
pub fn long_fit(program: &Program, family: Family) -> (Elliptical, f64, f64) {
    with(program, |evaluations| {
        let fit = |evaluations: &mut Evaluations<'_, Program>, seed| {
            let settings = fixed::Settings::new(key(seed), family);
            let long = fixed::Settings { draws: 8192, most_draws: 131_072, tolerance: 0.01, ..settings };
            settled(evaluations, &long).approximation
        };
        let all: Vec<Elliptical> = (101..=103).map(|seed| fit(evaluations, seed)).collect();
        let bound = |q: &Elliptical, evaluations: &mut Evaluations<'_, Program>| {
            elbo::estimate(evaluations, q, MANY, key(999)).expect("a bound").value
        };
        let elbos: Vec<f64> = all.iter().map(|q| bound(q, evaluations)).collect();
        let (least, most) = elbos.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), e| (a.min(*e), b.max(*e)));
        let best = all.into_iter().zip(&elbos).max_by(|a, b| a.1.total_cmp(b.1)).expect("three").0;
        (best, most, most - least)
    })
}

/// What the draws for the bound took, by doing it again: first few, then as many as it takes to be precise.
fn seconds_of_bound(evaluations: &mut Evaluations<'_, Program>, fit: &Fit) -> f64 {
    const FIRST: usize = 1024;
    let begin = cpu_seconds();
    let mut again = |draws| elbo::estimate(evaluations, &fit.approximation, draws, key(1)).map(|bound| bound.value);
    again(FIRST).expect("a bound");
    if fit.elbo.log_ratios.len() > FIRST {
        again(fit.elbo.log_ratios.len()).expect("a bound");
    }
    cpu_seconds() - begin
}

/// How far the fit of a seed is from the family's optimum.
pub fn miss(program: &Program, family: Family, optimum: &Optimum, seed: u64) -> Outcome {
    with(program, |evaluations| {
        let begin = cpu_seconds();
        let fit = settled(evaluations, &fixed::Settings::new(key(seed), family));
        let (gradients, seconds) = (evaluations.count(), cpu_seconds() - begin);
        let seconds = seconds - if fit.bound_seconds > 0.0 { seconds_of_bound(evaluations, &fit) } else { 0.0 };
        let draws = if fit.elbo.standard_error > 0.01 { MANY } else { MANY / 4 };
        let mut bound =
            |q: &Elliptical| elbo::estimate(evaluations, q, draws, key(1000 + seed)).expect("a bound").value;
        let reached = bound(&fit.approximation);
        let best = match optimum {
            Optimum::Known(elbo) => *elbo,
            Optimum::Distribution(q) => bound(q),
        };
        let Fit { convergence, draws, iterations, .. } = fit;
        Outcome { miss: best - reached, convergence, gradients, draws, iterations, seconds }
    })
}

/// Of this thread, which does all the work; 0 where the system does not tell.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
