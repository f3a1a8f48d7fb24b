//! The forward sampler against the density of the very program that it is read from.

mod by_density;
mod corpus;
mod ends;
mod identities;
mod kinds;
mod likelihoods;
mod linked;
mod misreadings;
mod mutations;
mod proofs;
mod refusals;
mod values;

use std::sync::Arc;

use crust_engine::data::read_data;
use crust_engine::{Batch, Evaluator, Model, Simulator, Terms};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::{Data, Options};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::front_end::{Reading, read};
use crust_stan::joint::{Joint, ReadOptions};
use crust_stan::source::IncludeFiles;

/// A program with data, ready to be drawn from.
pub struct Case {
    pub reading: Reading,
    pub joint: Joint,
    pub data: Data,
    pub simulator: Simulator,
}

pub fn parse(text: &str) -> Reading {
    let reading = read("model.stan", None, text, &IncludeFiles { folders: Vec::new() });
    let messages: Vec<&str> = reading.problems.iter().map(|p| p.message.as_str()).collect();
    assert!(!reading.has_errors(), "{messages:?}");
    reading
}

/// Codes of what stands in the way of a reading.
pub fn obstacles(text: &str) -> Vec<&'static str> {
    let problems: Vec<Diagnostic> = Joint::read(&parse(text).typed, &ReadOptions::default()).err().unwrap_or_default();
    problems.iter().map(|p| p.code).collect()
}

pub fn data_of(reading: &Reading, joint: &Joint, json: &str) -> Data {
    let names = joint.outcome_names();
    let allow_missing = move |name: &str| names.contains(name);
    let options = Options { allow_missing: &allow_missing, ..Options::default() };
    read_data(&reading.typed, &reading.source, json, &options).expect("the data fit")
}

pub fn case(text: &str, json: &str) -> Case {
    let reading = parse(text);
    let joint = Joint::read(&reading.typed, &ReadOptions::default()).unwrap_or_else(|problems| {
        let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        panic!("not readable: {messages:?}\n{text}")
    });
    let data = data_of(&reading, &joint, json);
    let simulator = Simulator::new(&reading.typed, &joint, &data, None).expect("a simulator");
    Case { reading, joint, data, simulator }
}

pub fn key(number: u32) -> StreamKey {
    StreamKey::new(20_261_115, Purpose::TEST).dataset(number)
}

impl Case {
    /// Draw number `number` of parameters and data.
    pub fn draw(&mut self, number: u32) -> (Vec<f64>, Data) {
        let point = self.simulator.draw_parameters(None, key(number)).expect("parameters");
        let data = self.simulator.draw_data(&point, key(number).chain(1)).expect("data");
        (point, data)
    }

    /// The numbers of a variable of the data, as they lie in it.
    pub fn numbers(&self, data: &Data, name: &str) -> Vec<f64> {
        let value = data.by_name(&self.reading.typed, name).expect("a variable");
        value.to_reals().expect("numbers")
    }

    pub fn bind(&self, data: &Data) -> Evaluator {
        Arc::new(Model::bind(&self.reading.typed, data, 1).expect("a model")).evaluator()
    }
}

/// Log prior, log likelihood and the gradient of their sum, with all constants and the Jacobian.
pub fn evaluate(evaluator: &mut Evaluator, point: &[f64]) -> (f64, f64, Vec<f64>) {
    let (mut prior, mut likelihood, mut gradient) = ([0.0], [0.0], vec![0.0; point.len()]);
    let mut batch = Batch {
        lanes: 1,
        points: point,
        beta: None,
        log_prior: &mut prior,
        log_likelihood: &mut likelihood,
        gradient: &mut gradient,
    };
    evaluator.evaluate(&mut batch, Terms { propto: false, jacobian: true }).expect("an evaluation");
    assert!(evaluator.rejections()[0].is_none(), "{:?}", evaluator.rejections());
    (prior[0], likelihood[0], gradient)
}
