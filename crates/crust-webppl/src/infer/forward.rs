//! Forward sampling, of the program or of its guide.

use super::callbacks::Callbacks;
use super::{Histogram, Model, Options, guide};
use crate::error::Run;
use crate::machine::Effect;
use crate::value::Value;
use crate::world::World;
use crust_math::special::log_sum_exp_slice;

pub struct Forward {
    pub value: Value,
    pub score: f64,
    pub log_weight: f64,
}

/// One execution.
pub fn run(world: &mut World, model: &Model, guided: bool) -> Run<Forward> {
    let saved = world.context.guide_required;
    world.context.guide_required = guided;
    let mut state = model.start(world)?;
    let (mut score, mut log_weight) = (0.0, 0.0);
    let value = loop {
        match state.run(world)? {
            Effect::Sample { dist, options, addr } => {
                let from =
                    if guided { guide::distribution(world, &mut state, &dist, &options, addr, true)? } else { None };
                let from = from.unwrap_or(dist);
                let value = from.sample(&mut world.stream)?;
                score += from.score(&value)?.value();
                state.resume(value);
            }
            Effect::Factor { score, result, .. } => {
                log_weight += score.value();
                state.resume(result);
            }
            Effect::Done(value) => break state.result(value),
            _ => state.resume(Value::Undefined),
        }
    };
    world.context.guide_required = saved;
    Ok(Forward { value: value.deep_primal(), score, log_weight })
}

/// `Infer({method: 'forward'})`
pub fn forward(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let samples = options.count("samples", 100)?;
    let guided = options.flag("guide", false);
    let mut histogram = Histogram::new(options.flag("onlyMAP", false));
    let callbacks = Callbacks::new(options.list("callbacks"));
    options.get("verbose");
    options.finish(world, "ForwardSample");
    let mut weights = Vec::with_capacity(samples);
    for _ in 0..samples {
        let one = run(world, model, guided)?;
        weights.push(one.log_weight);
        callbacks.sample(world, &one.value, Some(one.score))?;
        histogram.add(one.value, Some(one.score));
    }
    callbacks.call(world, "finish", &[])?;
    let log_z = (!guided).then(|| log_sum_exp_slice(&weights) - (samples as f64).ln());
    histogram.value(log_z)
}
