//! Annealed importance sampling as WebPPL has it: a linear path, the mean of log weights.

use super::kernel::Scope;
use super::mh::Mh;
use super::trace::Trace;
use super::{Model, Options, fast};
use crate::error::Run;
use crate::value::Value;
use crate::world::World;

/// `AIS(model, {steps, samples})`: an estimate of the log normalising constant, on average below it.
pub fn ais(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let steps = options.count("steps", 20)?;
    let samples = options.count("samples", 1)?;
    options.finish(world, "AIS");
    let kernel = Mh::default();
    let increment = 1.0 / steps as f64;
    let mut total = 0.0;
    for _ in 0..samples {
        let mut trace = Trace::initialize(world, model)?;
        for i in 1..=steps {
            total += increment * trace.scores.factor;
            let scope = Scope { beta: i as f64 * increment, hard: false, ..Scope::default() };
            fast::step(&kernel, world, model, &mut trace, &scope)?;
        }
    }
    Ok(Value::Number(total / samples as f64))
}
