//! Inference: programs in, distributions out.

mod ais;
mod asyncpf;
mod automatic;
mod callbacks;
mod dream;
mod elbo;
mod enumerate;
mod eubo;
pub mod fast;
#[cfg(test)]
mod fast_tests;
mod forward;
mod graph;
pub mod guide;
mod hmc;
pub mod kernel;
pub mod leap;
mod mcmc;
pub mod memo;
pub mod mh;
mod optimize;
mod options;
pub mod params;
mod pmcmc;
mod rejection;
mod smc;
pub mod trace;
mod walk;
#[cfg(test)]
mod walk_tests;

use std::rc::Rc;

use crate::coerce;
use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::machine::State;
use crate::object::Object;
use crate::value::{Text, Value};
use crate::world::World;
pub use eubo::SavedTrace;
use options::Options;

/// What can be called with a model and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Enumerate,
    Rejection,
    Mcmc,
    IncrementalMh,
    Smc,
    Pmcmc,
    AsyncPf,
    Ais,
    Forward,
    RunForward,
    RunGuide,
    DreamSample,
    Optimize,
    OptimizeThenSample,
}

/// The program that inference runs, with the store that it starts from and its address.
#[derive(Clone)]
pub struct Model {
    pub function: Value,
    pub store: Rc<Object>,
    pub addr: u64,
}

/// Where addresses begin for inference that names parameters relative to itself.
pub const ROOT: u64 = 0x5EED;

impl Model {
    /// An execution that is about to begin.
    pub fn start(&self, world: &mut World) -> Run<State> {
        world.tick()?;
        State::call(world, &self.function, Vec::new(), self.addr, self.store.clone())
    }
}

const METHODS: &[(&str, Option<Method>)] = &[
    ("SMC", Some(Method::Smc)),
    ("MCMC", Some(Method::Mcmc)),
    ("PMCMC", Some(Method::Pmcmc)),
    ("asyncPF", Some(Method::AsyncPf)),
    ("rejection", Some(Method::Rejection)),
    ("enumerate", Some(Method::Enumerate)),
    ("incrementalMH", Some(Method::IncrementalMh)),
    ("forward", Some(Method::Forward)),
    ("optimize", Some(Method::OptimizeThenSample)),
    ("AIS", Some(Method::Ais)),
    ("defaultInfer", None),
];

/// `Infer(options)`, `Infer(options, model)`, `Infer(model)`
pub fn infer(world: &mut World, state: &mut State, options: &Value, model: &Value, addr: u64) -> Run<Value> {
    let (function, fields) = match options {
        Value::Object(o) => {
            let function =
                if coerce::truthy(model) { model.clone() } else { o.get("model").unwrap_or(Value::Undefined) };
            (function, o.fields().ordered())
        }
        other => (other.clone(), Vec::new()),
    };
    if !function.is_function() {
        return fail("Infer: a model was not specified");
    }
    if let Some(wanted) = world.wanted.as_mut().filter(|_| world.nesting == 0) {
        let named = |slot: u32| world.globals.get(slot as usize).is_some_and(|v| coerce::identical(v, &function));
        if wanted.slot.is_none_or(named) {
            wanted.found = Some(Model { function, store: state.store.clone(), addr: ROOT });
            return Err(crate::error::Failure::Found.into());
        }
    }
    let name = fields.iter().find(|(k, _)| &**k == "method").map(|(_, v)| coerce::text(v));
    let rest = fields.into_iter().filter(|(k, _)| !matches!(&**k, "method" | "model"));
    let options = Value::object(rest);
    let name = name.unwrap_or_else(|| "defaultInfer".into());
    match METHODS.iter().find(|(n, _)| *n == name) {
        Some((_, Some(Method::Ais))) => {
            let log_z = method(world, state, Method::Ais, &function, &options, addr)?;
            let mut dist = Dist::samples(crate::distributions::Samples::new(vec![(Value::Bool(true), None)]));
            dist.normalization = log_z.as_number();
            Ok(Value::Dist(Rc::new(dist)))
        }
        Some((_, Some(m))) => method(world, state, *m, &function, &options, addr),
        Some((_, None)) => {
            let model = Model { function, store: state.store.clone(), addr };
            world.nest()?;
            let result = automatic::infer(world, &model);
            world.nesting -= 1;
            result
        }
        None => {
            let names: Vec<&str> = METHODS.iter().map(|(n, _)| *n).collect();
            fail(format!(
                "Infer: '{name}' is not a valid method. The following methods are available: {}",
                names.join(", ")
            ))
        }
    }
}

/// Calls a method by its functional name.
pub fn method(
    world: &mut World,
    state: &mut State,
    method: Method,
    function: &Value,
    options: &Value,
    addr: u64,
) -> Run<Value> {
    if method == Method::Optimize {
        return optimize::call(world, state, function, options);
    }
    if !function.is_function() {
        return fail("inference: a model was not specified");
    }
    let base = matches!(
        method,
        Method::Smc
            | Method::Forward
            | Method::RunForward
            | Method::RunGuide
            | Method::DreamSample
            | Method::OptimizeThenSample
    );
    let model = Model { function: function.clone(), store: state.store.clone(), addr: if base { ROOT } else { addr } };
    let mut options = Options::new(options)?;
    world.nest()?;
    let saved = world.context.clone();
    let result = run(world, &model, method, &mut options);
    world.context = saved;
    world.nesting -= 1;
    result
}

fn run(world: &mut World, model: &Model, method: Method, options: &mut Options) -> Run<Value> {
    let tape = world.context.tape.clone();
    world.context = crate::world::Context { tape, ..Default::default() };
    match method {
        Method::Enumerate => enumerate::enumerate(world, model, options),
        Method::Rejection => rejection::rejection(world, model, options),
        Method::Mcmc => mcmc::mcmc(world, model, options),
        Method::IncrementalMh => mcmc::incremental(world, model, options),
        Method::Smc => smc::smc(world, model, options),
        Method::Pmcmc => pmcmc::pmcmc(world, model, options),
        Method::AsyncPf => asyncpf::async_pf(world, model, options),
        Method::Ais => ais::ais(world, model, options),
        Method::Forward => forward::forward(world, model, options),
        Method::RunForward => Ok(forward::run(world, model, false)?.value),
        Method::RunGuide => Ok(forward::run(world, model, true)?.value),
        Method::DreamSample => {
            let record = dream::sample(world, model)?;
            Ok(Value::object([(Text::from("data"), Value::array(record.data))]))
        }
        Method::Optimize | Method::OptimizeThenSample => optimize::then_sample(world, model, options),
    }
}

/// Samples with scores, or only the best of them.
pub(crate) struct Histogram {
    samples: Vec<(Value, Option<f64>)>,
    only_map: bool,
}

impl Histogram {
    pub fn new(only_map: bool) -> Self {
        Self { samples: Vec::new(), only_map }
    }

    pub fn add(&mut self, value: Value, score: Option<f64>) {
        if !self.only_map {
            self.samples.push((value, score));
        } else if self.samples.first().is_none_or(|(_, best)| score > *best) {
            self.samples = vec![(value, score)];
        }
    }

    pub fn dist(self, normalization: Option<f64>) -> Run<Dist> {
        if self.samples.is_empty() {
            return fail("inference produced no samples");
        }
        let mut dist = Dist::samples(crate::distributions::Samples::new(self.samples));
        dist.normalization = normalization;
        Ok(dist)
    }

    pub fn value(self, normalization: Option<f64>) -> Run<Value> {
        Ok(Value::Dist(Rc::new(self.dist(normalization)?)))
    }
}
