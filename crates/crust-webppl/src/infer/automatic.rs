//! The choice of a method when none is given: enumeration, rejection, SMC, MCMC, in this order.
//!
//! WebPPL decides by the clock; here the number of executions decides, so that a seed always gives the same result.

use std::rc::Rc;

use super::callbacks::Callbacks;
use super::enumerate::{self, Settings};
use super::{Model, Options, ROOT, mcmc, rejection, smc};
use crate::error::Run;
use crate::machine::Effect;
use crate::value::Value;
use crate::world::{Context, World};

const MAX_TREE: f64 = 200_000.0;
const SAMPLES: usize = 1000;
/// Rejection is given up if fewer than one in this many executions is accepted.
const PATIENCE: f64 = 500.0;

pub fn infer(world: &mut World, model: &Model) -> Run<Value> {
    let saved = world.context.clone();
    world.context = Context { tape: saved.tape.clone(), ..Context::default() };
    let result = choose(world, model);
    world.context = saved;
    result
}

fn choose(world: &mut World, model: &Model) -> Run<Value> {
    let settings = Settings { max_executions: f64::INFINITY, strategy: "depthFirst".into(), max_tree: MAX_TREE };
    if let Ok(dist) = enumerate::run(world, model, &settings)? {
        return Ok(Value::Dist(Rc::new(dist)));
    }
    world.warn("Using \"rejection\"");
    let callbacks = Callbacks::new(Vec::new());
    if let Some(histogram) = rejection::run(world, model, SAMPLES, [0.0, PATIENCE], false, &callbacks)? {
        return histogram.value(None);
    }
    if interleaved(world, model)? {
        world.warn("Using \"SMC\" (interleaving samples and factors detected)");
        return smc::smc(world, &Model { addr: ROOT, ..model.clone() }, &mut samples("particles")?);
    }
    world.warn("Using \"MCMC\"");
    mcmc::mcmc(world, model, &mut samples("samples")?)
}

fn samples(name: &str) -> Run<Options> {
    Options::new(&Value::object([(name.into(), Value::Number(SAMPLES as f64))]))
}

/// Whether a choice comes after a factor in an execution.
fn interleaved(world: &mut World, model: &Model) -> Run<bool> {
    let mut state = model.start(world)?;
    let mut factor = false;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, .. } => {
                if factor {
                    return Ok(true);
                }
                let value = dist.sample(&mut world.stream)?;
                state.resume(value);
            }
            Effect::Factor { result, .. } => {
                factor = true;
                state.resume(result);
            }
            Effect::Done(_) => return Ok(false),
            _ => state.resume(Value::Undefined),
        }
    }
}
