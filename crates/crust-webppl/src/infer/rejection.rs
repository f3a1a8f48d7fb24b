//! Rejection sampling.

use super::callbacks::Callbacks;
use super::{Histogram, Model, Options};
use crate::error::{Run, fail};
use crate::machine::Effect;
use crate::value::Value;
use crate::world::World;

/// One execution: its value and total score, or nothing if it was rejected on the way.
fn execute(world: &mut World, model: &Model, threshold: f64, incremental: bool) -> Run<Option<(Value, f64)>> {
    let mut state = model.start(world)?;
    let mut score = 0.0;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, .. } => {
                let value = dist.sample(&mut world.stream)?;
                state.resume(value);
            }
            Effect::Factor { score: more, result, .. } => {
                let more = more.value();
                if incremental && more > 0.0 {
                    return fail("score must be <= 0 for incremental rejection");
                }
                score += more;
                if more == f64::NEG_INFINITY || (incremental && score <= threshold) {
                    return Ok(None);
                }
                state.resume(result);
            }
            Effect::Done(value) => return Ok(Some((state.result(value), score))),
            _ => state.resume(Value::Undefined),
        }
    }
}

/// `Infer({method: 'rejection'})`
pub fn rejection(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let samples = options.count("samples", 100)?;
    let max_score = options.number("maxScore", 0.0)?;
    let incremental = options.flag("incremental", false);
    let callbacks = Callbacks::new(options.list("callbacks"));
    for ignored in ["throwOnError", "minSampleRate"] {
        options.get(ignored);
    }
    options.finish(world, "Rejection");
    if samples == 0 {
        return fail("\"samples\" should be a positive integer");
    }
    match run(world, model, samples, [max_score, f64::INFINITY], incremental, &callbacks)? {
        Some(histogram) => histogram.value(None),
        None => fail("rejection gave up"),
    }
}

/// Collects samples; gives up when fewer than one in `patience` executions is accepted, or the bound does not hold.
pub fn run(
    world: &mut World,
    model: &Model,
    samples: usize,
    [max_score, patience]: [f64; 2],
    incremental: bool,
    callbacks: &Callbacks,
) -> Run<Option<Histogram>> {
    let mut histogram = Histogram::new(false);
    let (mut accepted, mut tried) = (0, 0.0);
    while accepted < samples {
        tried += 1.0;
        if tried > 10.0 * patience && tried > patience * (f64::from(u32::try_from(accepted).unwrap_or(u32::MAX)) + 1.0)
        {
            return Ok(None);
        }
        let threshold = max_score + world.stream.uniform().ln();
        let Some((value, score)) = execute(world, model, threshold, incremental)? else { continue };
        if score > max_score {
            if patience.is_finite() {
                return Ok(None);
            }
            return fail("score exceeded upper bound");
        }
        if score > threshold {
            callbacks.sample(world, &value, None)?;
            histogram.add(value, None);
            accepted += 1;
        }
    }
    callbacks.call(world, "finish", &[])?;
    Ok(Some(histogram))
}
