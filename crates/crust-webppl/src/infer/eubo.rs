//! The evidence upper bound: guides are fitted to executions from elsewhere.

use std::collections::HashMap;
use std::rc::Rc;

use super::elbo::gradients;
use super::optimize::{Gradients, accumulate, scale};
use super::{Model, Options, guide};
use crate::error::{Run, fail};
use crate::machine::Effect;
use crate::tape::{Num, Tape};
use crate::value::{Value, Wrapped};
use crate::world::{Context, World};

/// The choices of an execution that `saveTraces` kept.
pub struct SavedTrace {
    pub values: HashMap<u64, Value>,
    pub score: f64,
}

pub struct Eubo {
    traces: Vec<Value>,
    batch: usize,
}

impl Eubo {
    pub fn new(options: &mut Options) -> Run<Self> {
        let traces = options.list("traces");
        let batch = options.count("batchSize", 1)?;
        if batch == 0 || batch > traces.len() {
            return fail("EUBO: there must be traces, and batchSize must lie between 1 and their number");
        }
        Ok(Self { traces, batch })
    }

    pub fn estimate(&mut self, world: &mut World, model: &Model) -> Run<(Gradients, f64)> {
        let mut total = Gradients::new();
        let mut objective = 0.0;
        for i in 0..self.batch {
            let at = if self.batch == self.traces.len() { i } else { world.stream.index_below(self.traces.len()) };
            let Value::Wrapped(wrapped) = &self.traces[at] else { return fail("EUBO: these are not traces") };
            let Wrapped::Trace(trace) = &**wrapped else { return fail("EUBO: these are not traces") };
            let log_q = guide_score(world, model, trace)?;
            accumulate(&mut total, &gradients(world, &log_q.scale(-1.0)));
            objective += trace.score - log_q.value();
        }
        scale(&mut total, 1.0 / self.batch as f64);
        Ok((total, objective / self.batch as f64))
    }
}

/// The log density of a trace under the guide.
fn guide_score(world: &mut World, model: &Model, trace: &SavedTrace) -> Run<Num> {
    world.context = Context { guide_required: true, tape: Some(Rc::new(Tape::default())), ..Context::default() };
    world.params.seen.clear();
    let mut log_q = Num::Plain(0.0);
    let mut state = model.start(world)?;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, options, addr } => {
                let Some(from) = guide::distribution(world, &mut state, &dist, &options, addr, true)? else {
                    return fail("EUBO: no guide distribution to optimize");
                };
                let Some(value) = trace.values.get(&addr) else { return fail("EUBO: a choice is not in the trace") };
                log_q = log_q.add(&from.score(value)?);
                state.resume(value.clone());
            }
            Effect::Factor { result, .. } => state.resume(result),
            Effect::Done(_) => return Ok(log_q),
            _ => state.resume(Value::Undefined),
        }
    }
}
