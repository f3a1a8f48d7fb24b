//! A model as a simulator: prior draws, simulated data, and Markov kernels at any power of the likelihood.
//!
//! This is what bidirectional Monte Carlo needs of a program. A run of the program is a draw from the prior; with
//! [`Simulator::simulate`], `observe` draws its value, so that parameters and data come from their joint distribution.
//! [`Simulator::step`] leaves prior × likelihood^β invariant. It is a mixture of kernels that satisfy detailed balance,
//! the mixture's weights being constant, so it is its own time reversal.

mod choose;
mod describe;
mod plain;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use crust_math::random::{Stream, StreamKey};
use serde::{Deserialize, Serialize};

use crate::error::{Failure, Run, RunError, fail};
use crate::infer::kernel::Scope;
use crate::infer::leap::{Leap, Leapt, leap};
use crate::infer::mh::Mh;
use crate::infer::trace::{Choice, Choose, Data, DataMode, Ended, Prior, Trace};
use crate::infer::{Model, ROOT, fast};
use crate::lexer::{self, Token};
use crate::machine::{Effect, State};
use crate::value::Value;
use crate::world::{Context, Limits, Wanted, World};
use crate::{Program, output};
use choose::{Named, Replay};
pub use describe::{Description, Group};
pub use plain::Plain;

/// A program's model, ready to be run. It lives on the thread that made it, which should have a large stack
/// ([`on_large_stack`](crate::on_large_stack)).
pub struct Simulator {
    world: World,
    model: Model,
    /// Values that observations have; the program's own if there are none.
    data: Option<Rc<RefCell<Data>>>,
}

/// Which model of a program, and what the program may read.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The name of the model's function. Otherwise it is `model`, or the argument of the program's one `Infer`.
    pub model: Option<String>,
    pub folder: Option<PathBuf>,
    /// Of draws that the program makes outside of its model.
    pub seed: u64,
}

/// An execution of a model.
#[derive(Clone)]
pub struct Execution {
    trace: Trace,
}

/// An execution that can leave its thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub choices: Vec<Drawn>,
    /// None is −∞, here and below.
    pub log_prior: Option<f64>,
    pub log_likelihood: Option<f64>,
}

/// A choice with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    pub address: u64,
    /// The variable of the model whose value it is a part of.
    pub name: String,
    pub value: Plain,
    pub continuous: bool,
}

/// Numbers of all choices of a variable, by its name.
pub type Numbers = BTreeMap<String, Vec<f64>>;

/// A reversible kernel on executions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceKernel {
    /// How many proposals make up one step.
    pub proposals: usize,
    /// The length of random-walk steps, in spreads of the prior; 0 for draws from the prior only.
    pub drift: f64,
    /// Whether one of four proposals draws two choices again.
    pub pairs: bool,
    /// Half of the steps are trajectories of Hamiltonian Monte Carlo over all continuous choices, with leaps of about
    /// this length, in spreads of the prior; 0 for none.
    pub leap: f64,
}

impl TraceKernel {
    /// WebPPL's own kernel: one choice is drawn again from the prior.
    pub fn single_site() -> Self {
        Self { proposals: 1, drift: 0.0, pairs: false, leap: 0.0 }
    }
}

/// Leaps of a trajectory.
pub const LEAPS: usize = 5;

/// What there is to say about a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    pub accepted: u64,
    pub proposed: u64,
    /// Whether it was a trajectory.
    pub leapt: bool,
    /// There can be no trajectories from here.
    pub no_leaps: bool,
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl Execution {
    /// The log probability of all choices.
    pub fn log_prior(&self) -> f64 {
        self.trace.scores.prior
    }

    /// The sum of observations and factors.
    pub fn log_likelihood(&self) -> f64 {
        self.trace.scores.factor
    }

    /// How many random choices there are.
    pub fn choices(&self) -> usize {
        self.trace.choices.len()
    }

    /// The value of the model, as JSON.
    pub fn value(&self) -> Result<String, RunError> {
        output::json(&self.trace.value()?)
    }

    /// Everything that is needed to make this execution again.
    pub fn snapshot(&self) -> Result<Snapshot, RunError> {
        let drawn = |(at, choice): (usize, &Choice)| match Plain::drawn(&choice.dist, &self.trace.choice_value(at)) {
            Some(value) => Ok(Drawn {
                address: choice.addr,
                name: choice.state.variable().map_or_else(|| "choice".to_owned(), |name| name.to_string()),
                value,
                continuous: choice.dist.is_continuous(),
            }),
            None => fail("a choice has a value that is neither plain data nor in a finite support"),
        };
        Ok(Snapshot {
            choices: self.trace.choices.iter().enumerate().map(drawn).collect::<Run<_>>()?,
            log_prior: finite(self.log_prior()),
            log_likelihood: finite(self.log_likelihood()),
        })
    }
}

impl Snapshot {
    /// Numbers of all choices in order.
    pub fn numbers(&self) -> Vec<f64> {
        self.choices.iter().flat_map(|choice| choice.value.numbers()).collect()
    }

    /// Numbers by the names of variables.
    pub fn by_name(&self) -> Numbers {
        let mut all = Numbers::new();
        for choice in &self.choices {
            all.entry(choice.name.clone()).or_default().extend(choice.value.numbers());
        }
        all
    }
}

impl Simulator {
    /// Runs the program as far as it takes to know its model.
    pub fn new(program: &Program, setup: &Setup) -> Result<Self, RunError> {
        let key = StreamKey::new(setup.seed, crate::PURPOSE);
        let mut world = World::new(key.stream(), Limits::default())?;
        world.folder.clone_from(&setup.folder);
        let main = program.load(&mut world)?;
        let wish = setup.model.as_deref().unwrap_or("model");
        let slot = world.names.slots.get(wish).copied().filter(|slot| !world.names.known.contains_key(slot));
        if slot.is_none() && setup.model.is_some() {
            return fail(format!("the program has no function named '{wish}'"));
        }
        if slot.is_none() && mentions(&program.text, "Infer") != 1 {
            return fail(
                "the program has no function named 'model', and not exactly one Infer: say with --model which function is the \
                 model",
            );
        }
        world.wanted = Some(Wanted { slot, found: None });
        let mut state = State::call(&mut world, &Value::Closure(main), Vec::new(), ROOT, Rc::default())?;
        let model = run_main(&mut world, &mut state)?;
        world.wanted = None;
        world.nesting = 0;
        let named = slot.map_or(Value::Undefined, |slot| world.globals[slot as usize].clone());
        let model = match model {
            Some(model) => model,
            None if named.is_function() => Model { function: named, store: state.store, addr: ROOT },
            None => return fail(format!("'{wish}' is not a function, and the program does not call Infer")),
        };
        Ok(Self { world, model, data: None })
    }

    /// Observations have these values from now on; without any they have the program's own.
    pub fn observe(&mut self, values: Option<&[Plain]>) {
        let data =
            |values: &[Plain]| Data { values: values.iter().map(|v| v.value(None)).collect(), mode: DataMode::Given };
        self.data = values.map(|values| Rc::new(RefCell::new(data(values))));
    }

    fn run(&mut self, data: Option<Rc<RefCell<Data>>>, choose: &mut dyn Choose) -> Run<Execution> {
        self.world.context = Context { observe_hook: data.is_some(), ..Context::default() };
        let mut trace = Trace { data, ..Trace::empty() };
        let state = self.model.start(&mut self.world)?;
        match trace.extend(&mut self.world, state, choose, 0)? {
            Ended::Impossible => trace.scores.prior = f64::NEG_INFINITY,
            // a prior draw that the data rule out
            Ended::HardFactor => trace.scores.factor = f64::NEG_INFINITY,
            _ => {}
        }
        Ok(Execution { trace })
    }

    /// Lets random numbers of some work come from a stream.
    fn with_stream<T>(&mut self, stream: &mut Stream, work: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.world.stream, stream);
        let result = work(self);
        std::mem::swap(&mut self.world.stream, stream);
        result
    }

    /// A draw from the prior.
    pub fn prior(&mut self, stream: &mut Stream) -> Result<Execution, RunError> {
        self.with_stream(stream, |own| own.run(own.data.clone(), &mut Prior))
    }

    /// A draw from the prior with data drawn from it. Choices of some variables may be fixed.
    pub fn simulate(&mut self, fixed: &Numbers, stream: &mut Stream) -> Result<(Execution, Vec<Plain>), RunError> {
        let data = Rc::new(RefCell::new(Data { values: Vec::new(), mode: DataMode::Simulate }));
        let execution = self.with_stream(stream, |own| own.run(Some(data.clone()), &mut Named::some(fixed)))?;
        Ok((execution, plain(&data)?))
    }

    /// The values that the program itself observes.
    pub fn own_data(&mut self, stream: &mut Stream) -> Result<Vec<Plain>, RunError> {
        let data = Rc::new(RefCell::new(Data { values: Vec::new(), mode: DataMode::Collect }));
        self.with_stream(stream, |own| own.run(Some(data.clone()), &mut Prior))?;
        plain(&data)
    }

    /// The execution that a snapshot is of, with the data of now.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<Execution, RunError> {
        self.run(self.data.clone(), &mut Replay::new(&snapshot.choices))
    }

    /// An execution with given numbers for all choices, by the names of their variables.
    pub fn assign(&mut self, numbers: &Numbers) -> Result<Execution, RunError> {
        self.run(self.data.clone(), &mut Named::all(numbers))
    }

    /// A step that leaves prior × likelihood^β invariant.
    pub fn step(
        &mut self,
        execution: &mut Execution,
        beta: f64,
        kernel: &TraceKernel,
        stream: &mut Stream,
    ) -> Result<Steps, RunError> {
        self.with_stream(stream, |own| own.step_here(execution, beta, kernel))
    }

    fn step_here(&mut self, execution: &mut Execution, beta: f64, kernel: &TraceKernel) -> Run<Steps> {
        let trace = &mut execution.trace;
        let [accepted, proposed] = trace.info;
        self.world.context = Context { observe_hook: trace.data.is_some(), ..Context::default() };
        let scope = Scope { beta, ..Scope::default() };
        let mut steps = Steps::default();
        if kernel.leap > 0.0 && self.world.index_below(2) == 0 {
            // a trajectory that leaves the graph is rejected: so would be the one back from its end
            let size = kernel.leap * (0.8 + 0.4 * self.world.stream.uniform());
            let how = Leap { steps: LEAPS, size, scaled: true };
            let leapt = leap(&mut self.world, &self.model, trace, &scope, how)?;
            steps = Steps { leapt: true, no_leaps: leapt == Leapt::Impossible, ..steps };
            return Ok(Steps { accepted: trace.info[0] - accepted, proposed: 1, ..steps });
        }
        for _ in 0..kernel.proposals {
            let pair = kernel.pairs && self.world.index_below(4) == 0;
            let mh = Mh { drift: kernel.drift, pair, ..Mh::default() };
            fast::step(&mh, &mut self.world, &self.model, trace, &scope)?;
        }
        Ok(Steps { accepted: trace.info[0] - accepted, proposed: trace.info[1] - proposed, ..steps })
    }
}

/// Runs a program to its model, or to its end.
fn run_main(world: &mut World, state: &mut State) -> Run<Option<Model>> {
    loop {
        match state.run(world) {
            Ok(Effect::Done(_)) => return Ok(None),
            Ok(Effect::Sample { dist, .. }) => {
                let value = dist.sample(&mut world.stream)?;
                state.resume(value);
            }
            Ok(Effect::Factor { .. }) => return fail(crate::OUTSIDE),
            Ok(_) => state.resume(Value::Undefined),
            Err(RunError { failure: Failure::Found, .. }) => {
                return Ok(world.wanted.as_mut().and_then(|wanted| wanted.found.take()));
            }
            Err(error) => return Err(error),
        }
    }
}

fn plain(data: &RefCell<Data>) -> Run<Vec<Plain>> {
    let one = |value: &Value| match Plain::of(value) {
        Some(plain) => Ok(plain),
        None => fail("an observation has a value that is no plain data"),
    };
    data.borrow().values.iter().map(one).collect()
}

/// How often a name stands in a program.
fn mentions(text: &str, name: &str) -> usize {
    let tokens = lexer::tokens(text).unwrap_or_default();
    tokens.iter().filter(|t| matches!(&t.token, Token::Word(word) if &**word == name)).count()
}
