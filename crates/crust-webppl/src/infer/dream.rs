//! The dream objective: guides of local choices are fitted to executions that the program fantasized.

use std::collections::HashMap;
use std::rc::Rc;

use super::elbo::gradients;
use super::optimize::{Gradients, accumulate, scale};
use super::{Model, guide};
use crate::error::{Run, fail};
use crate::machine::frame::mix;
use crate::machine::{Effect, Fetched, State, fetched};
use crate::tape::{Num, Tape};
use crate::value::{Array, Value};
use crate::world::{Context, World};

/// Choices and observations of a fantasy.
pub struct Record {
    values: HashMap<u64, Value>,
    pub data: Vec<Value>,
}

/// Keeps the addresses of fantasies apart from those of the real data.
const DREAM: u64 = 0x64_7265_616D;

/// Draws global choices from the guide, local ones and observations from the program.
pub fn sample(world: &mut World, model: &Model) -> Run<Record> {
    world.context = Context { guide_required: true, map_hooks: true, observe_hook: true, recording: false, tape: None };
    let mut record = Record { values: HashMap::new(), data: Vec::new() };
    let mut inside = false;
    let mut observations = Vec::new();
    let mut state = model.start(world)?;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, options, addr } => {
                let value = if inside {
                    dist.sample(&mut world.stream)?
                } else {
                    match guide::distribution(world, &mut state, &dist, &options, addr, true)? {
                        Some(from) => from.sample(&mut world.stream)?,
                        None => return fail("dream: no guide distribution specified"),
                    }
                };
                record.values.insert(addr, value.clone());
                state.resume(value);
            }
            Effect::Factor { observed, .. } => {
                let Some(dist) = observed else { return fail("dream: factor not supported, use observe instead") };
                if !inside {
                    return fail("dream: observe can only be used within mapData with this estimator");
                }
                let value = dist.sample(&mut world.stream)?;
                observations.push(value.clone());
                state.resume(value);
            }
            Effect::MapFetch { data, options, addr } => {
                if inside {
                    return fail("dream: nested mapData is not supported by this estimator");
                }
                inside = true;
                world.context.guide_required = false;
                fetch(world, &mut state, &data, &options, addr)?;
            }
            Effect::MapEnter => {
                observations.clear();
                state.resume(Value::Undefined);
            }
            Effect::MapLeave => {
                let datum = match &observations[..] {
                    [] => return fail("dream: expected at least one observation to be made"),
                    [one] => one.clone(),
                    many => Value::array(many.to_vec()),
                };
                record.data.push(datum);
                state.resume(Value::Undefined);
            }
            Effect::MapFinal => {
                inside = false;
                world.context.guide_required = true;
                state.resume(Value::Undefined);
            }
            Effect::Done(_) => return Ok(record),
        }
    }
}

/// Real data are shown to the observation function, so that it finds their structure.
fn fetch(world: &mut World, state: &mut State, data: &Rc<Array>, options: &Value, addr: u64) -> Run<()> {
    let batch = match options {
        Value::Object(o) => o.get("dreamBatchSize").and_then(|b| b.as_number()).unwrap_or(1.0),
        _ => 1.0,
    };
    let items = data.items();
    if items.is_empty() {
        return fail("dream: data should be non empty");
    }
    if !(batch >= 0.0 && batch.fract() == 0.0 && batch < 1e9) {
        return fail("dream: dreamBatchSize should be a non negative integer");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    let chosen: Vec<Value> =
        (0..batch as usize).map(|_| items[world.stream.index_below(items.len())].clone()).collect();
    let data = Rc::new(Array::from(chosen));
    fetched(state, Fetched { data, indices: None, wanted: false, addr: mix(addr, DREAM) })
}

/// The gradient of the guide's log density of fantasies.
pub fn estimate(world: &mut World, model: &Model, samples: usize) -> Run<(Gradients, f64)> {
    let mut total = Gradients::new();
    let mut objective = 0.0;
    for _ in 0..samples {
        let record = sample(world, model)?;
        let log_q = guide_score(world, model, &record)?;
        accumulate(&mut total, &gradients(world, &log_q.scale(-1.0)));
        objective -= log_q.value();
    }
    scale(&mut total, 1.0 / samples as f64);
    Ok((total, objective / samples as f64))
}

fn guide_score(world: &mut World, model: &Model, record: &Record) -> Run<Num> {
    let tape = Some(Rc::new(Tape::default()));
    world.context = Context { guide_required: true, map_hooks: true, observe_hook: true, recording: false, tape };
    world.params.seen.clear();
    let mut log_q = Num::Plain(0.0);
    let mut inside = false;
    let mut state = model.start(world)?;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, options, addr } => {
                let Some(value) = record.values.get(&addr) else {
                    return fail("dream: no entry for this choice in the trace");
                };
                if inside {
                    match guide::distribution(world, &mut state, &dist, &options, addr, true)? {
                        Some(from) => log_q = log_q.add(&from.score(value)?),
                        None => return fail("dream: no guide distribution specified"),
                    }
                }
                state.resume(value.clone());
            }
            Effect::Factor { result, .. } => state.resume(result),
            Effect::MapFetch { addr, .. } => {
                inside = true;
                let data = Rc::new(Array::from(record.data.clone()));
                fetched(&mut state, Fetched { data, indices: None, wanted: false, addr: mix(addr, DREAM) })?;
            }
            Effect::MapFinal => {
                inside = false;
                state.resume(Value::Undefined);
            }
            Effect::MapEnter | Effect::MapLeave => state.resume(Value::Undefined),
            Effect::Done(_) => return Ok(log_q),
        }
    }
}
