//! Markov chain Monte Carlo.

use super::callbacks::Callbacks;
use super::kernel::{Kernel, Scope};
use super::trace::Trace;
use super::{Histogram, Model, Options};
use crate::error::Run;
use crate::value::Value;
use crate::world::World;

/// `Infer({method: 'MCMC'})`
pub fn mcmc(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let kernel = options.get("kernel");
    let kernel = Kernel::parse(world, &kernel)?;
    options.get("verbose");
    chain(world, model, options, &kernel, "MCMC")
}

/// `Infer({method: 'incrementalMH'})`: the same chain as MH; what is not run again is an implementation matter here.
pub fn incremental(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let ignored = [
        "verbose",
        "verboseLag",
        "doFullRerun",
        "cacheIterations",
        "cacheMinHitRate",
        "fuseLength",
        "limitCache",
        "debuglevel",
        "dontAdapt",
    ];
    for name in ignored {
        options.get(name);
    }
    chain(world, model, options, &Kernel::Mh(super::mh::Mh::default()), "IncrementalMH")
}

fn chain(world: &mut World, model: &Model, options: &mut Options, kernel: &Kernel, name: &str) -> Run<Value> {
    let samples = options.count("samples", 100)?;
    let lag = options.count("lag", 0)?;
    let burn = options.count("burn", 0)?;
    let mut histogram = Histogram::new(options.flag("onlyMAP", false));
    let callbacks = Callbacks::new(options.list("callbacks"));
    options.finish(world, name);
    let iterations = burn + (lag + 1) * samples;
    let report = name == "MCMC" && !callbacks.is_empty();
    if report {
        callbacks.call(world, "setup", &[Value::Number(iterations as f64)])?;
        callbacks.call(world, "initialize", &[])?;
    }
    let mut trace = Trace::initialize(world, model)?;
    let scope = Scope::default();
    for i in 1..=iterations {
        kernel.step(world, model, &mut trace, &scope)?;
        if report {
            callbacks.call(world, "iteration", &[summary(&trace)?])?;
        }
        if i > burn && (i - burn).is_multiple_of(lag + 1) {
            let value = trace.value()?;
            let score = trace.scores.total(1.0);
            callbacks.sample(world, &value, Some(score))?;
            histogram.add(value, Some(score));
        }
    }
    callbacks.call(world, "finish", &[summary(&trace)?])?;
    histogram.value(None)
}

/// What callbacks see of a trace.
fn summary(trace: &Trace) -> Run<Value> {
    let [accepted, total] = trace.info;
    let info = [("accepted".into(), Value::Number(accepted as f64)), ("total".into(), Value::Number(total as f64))];
    Ok(Value::object([
        ("value".into(), trace.value()?),
        ("score".into(), Value::Number(trace.scores.total(1.0))),
        ("length".into(), Value::Number(trace.len() as f64)),
        ("info".into(), Value::object(info)),
    ]))
}
