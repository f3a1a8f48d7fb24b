//! Programs with known optima of their families (`tests/approximations/reference.json`).

use std::path::Path;
use std::sync::Arc;

use crust_engine::{Batch as EngineBatch, Evaluator, Model, Terms};
use crust_infer::approximate::coordinates::Family;
use crust_infer::approximate::elbo;
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::fixed::{self, Convergence};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::target::{Batch, Fatal, Target};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::{Options, read_data};
use crust_stan::front_end::read;
use crust_stan::source::NoIncludes;
use serde_json::Value;

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

fn reference() -> Value {
    let text = include_str!("../../tests/approximations/reference.json");
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

pub fn with<R>(name: &str, run: impl FnOnce(&mut Evaluations<'_, Program>, &Value) -> R) -> R {
    let reference = &reference()[name];
    let control = Control::default();
    run(&mut Evaluations::new(&program(name, reference), Parallelism::default(), &control), reference)
}

pub fn key(seed: u64) -> StreamKey {
    StreamKey::new(seed, Purpose::FIT)
}

pub const FAMILIES: [(&str, Family); 2] = [("meanfield", Family::MeanField), ("fullrank", Family::FullRank)];

/// How far the fit of a seed is from the family's optimum, in nats.
pub fn miss(name: &str, family: (&str, Family), seed: u64) -> (f64, Convergence, u64, usize, f64) {
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

/// Of this thread, which does all the work; 0 where the system does not tell.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
