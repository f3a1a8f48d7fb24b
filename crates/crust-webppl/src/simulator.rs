//! A model as a simulator: prior draws, simulated data, and Markov kernels at any power of the likelihood.
//!
//! This is what bidirectional Monte Carlo needs of a program. A run of the program is a draw from the prior; with
//! [`Simulator::simulate`], `observe` draws its value, so that parameters and data come from their joint distribution.
//! [`Simulator::step`] is a single-site Metropolis–Hastings step that leaves prior × likelihood^β invariant. Its index
//! is drawn uniformly and it satisfies detailed balance, so it is its own time reversal.

use std::cell::RefCell;
use std::rc::Rc;

use crust_math::random::StreamKey;

use crate::error::{Run, RunError, fail};
use crate::infer::kernel::Scope;
use crate::infer::mh::Mh;
use crate::infer::trace::{Data, Ended, Prior, Trace};
use crate::infer::{Model, ROOT};
use crate::machine::{Effect, State};
use crate::output;
use crate::value::Value;
use crate::world::{Context, Limits, World};
use crate::{Errors, Program};

/// A program's model, ready to be run.
pub struct Simulator {
    world: World,
    model: Model,
}

/// An execution of a model.
#[derive(Clone)]
pub struct Execution {
    trace: Trace,
}

/// Why a program cannot be a simulator.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    #[error(transparent)]
    Program(#[from] Errors),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the program has no function named '{0}'")]
    NoModel(String),
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

    /// Accepted and proposed steps.
    pub fn acceptance(&self) -> [u64; 2] {
        self.trace.info
    }

    /// The value of the model, as JSON.
    pub fn value(&self) -> Result<String, RunError> {
        output::json(self.trace.value.as_ref().unwrap_or(&Value::Undefined))
    }

    /// The observations, as JSON in the order in which they were made; nothing if they are the program's own.
    pub fn data(&self) -> Result<Option<String>, RunError> {
        match &self.trace.data {
            Some(data) => output::json(&Value::array(data.borrow().values.clone())).map(Some),
            None => Ok(None),
        }
    }
}

impl Simulator {
    /// Runs the program up to its end and takes the function of this name as the model.
    pub fn new(program: &Program, name: &str, key: StreamKey) -> Result<Self, SimulatorError> {
        let mut world = World::new(key.stream(), Limits::default())?;
        let main = world.compile_unit(&program.name, &program.text)?;
        let mut state = State::call(&mut world, &Value::Closure(main), Vec::new(), ROOT, Rc::default())?;
        loop {
            match state.run(&mut world)? {
                Effect::Done(_) => break,
                Effect::Sample { dist, .. } => {
                    let value = dist.sample(&mut world.stream)?;
                    state.resume(value);
                }
                _ => state.resume(Value::Undefined),
            }
        }
        let slot = world.names.slots.get(name).copied();
        let function = slot.map_or(Value::Undefined, |slot| world.globals[slot as usize].clone());
        if !function.is_function() {
            return Err(SimulatorError::NoModel(name.to_owned()));
        }
        let model = Model { function, store: state.store, addr: ROOT };
        Ok(Self { world, model })
    }

    /// Random numbers come from this stream from now on.
    pub fn reseed(&mut self, key: StreamKey) {
        self.world.stream = key.stream();
    }

    fn run(&mut self, data: Option<Rc<RefCell<Data>>>) -> Run<Execution> {
        self.world.context = Context { observe_hook: data.is_some(), ..Context::default() };
        let mut trace = Trace { data, ..Trace::empty() };
        let state = self.model.start(&mut self.world)?;
        match trace.extend(&mut self.world, state, &mut Prior, 0)? {
            Ended::Complete => Ok(Execution { trace }),
            _ => fail("an execution from the prior has probability 0: the model has a hard condition"),
        }
    }

    /// A draw from the prior, with the observations of the program.
    pub fn prior(&mut self) -> Result<Execution, RunError> {
        self.run(None)
    }

    /// A draw from the prior, with data drawn from it.
    pub fn simulate(&mut self) -> Result<Execution, RunError> {
        let data = Rc::new(RefCell::new(Data::simulated()));
        let execution = self.run(Some(data.clone()))?;
        data.borrow_mut().simulate = false;
        Ok(execution)
    }

    /// A draw from the prior, with the data of another execution.
    pub fn prior_given(&mut self, other: &Execution) -> Result<Execution, RunError> {
        self.run(other.trace.data.clone())
    }

    /// A step that leaves prior × likelihood^β invariant.
    pub fn step(&mut self, execution: &mut Execution, beta: f64) -> Result<(), RunError> {
        self.world.context = Context { observe_hook: execution.trace.data.is_some(), ..Context::default() };
        let scope = Scope { beta, ..Scope::default() };
        Mh { discrete_only: false }.step(&mut self.world, &mut execution.trace, &scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::Purpose;

    const COINS: &str = "
        var model = function() {
          var p = uniformDraw([0.2, 0.5, 0.9]);
          var n = flip(p) ? 1 : 2;
          var hidden = repeat(n, function() { return flip(p); });
          map(function(i) { observe(Bernoulli({p: p}), i > 0); }, [0, 1, 2]);
          return [p, sum(hidden)];
        };";

    fn simulator(key: StreamKey) -> Simulator {
        let program = Program::compile("coins", COINS).expect("compiles");
        Simulator::new(&program, "model", key).expect("a model")
    }

    /// Geweke's test: steps at β = 1 after a draw of parameters and data leave the prior of the parameters as it is.
    /// 20,000 runs; the bound is four standard errors of a difference, so the false-alarm rate is 1e-4.
    #[test]
    fn the_kernel_keeps_the_joint_distribution() {
        let mut sim = simulator(StreamKey::new(5, Purpose::FORWARD));
        let n = 20_000;
        let (mut before, mut after) = ([0.0; 2], [0.0; 2]);
        let large = |e: &Execution| f64::from(u8::from(e.value().is_ok_and(|v| v.starts_with("[0.9"))));
        let moment = |e: &Execution| e.choices() as f64;
        for _ in 0..n {
            let mut e = sim.simulate().expect("runs");
            before[0] += large(&e);
            before[1] += moment(&e);
            for _ in 0..5 {
                sim.step(&mut e, 1.0).expect("steps");
            }
            after[0] += large(&e);
            after[1] += moment(&e);
        }
        let n = f64::from(n);
        // standard deviations of the indicator and of the number of choices are below 1/2
        let bound = 4.0 * 0.5 * (2.0 / n).sqrt();
        for i in 0..2 {
            assert!(((before[i] - after[i]) / n).abs() < bound, "{before:?} {after:?}");
        }
    }

    /// A long chain at β against exact tempered probabilities: p(0.9) ∝ (0.1 · 0.9²)^β and so on.
    #[test]
    fn tempering_has_the_right_stationary_distribution() {
        for beta in [0.0, 0.5, 1.0] {
            let mut sim = simulator(StreamKey::new(9, Purpose::FORWARD));
            let mut e = sim.prior().expect("runs");
            let steps = 60_000;
            let mut hits = 0.0;
            for _ in 0..steps {
                sim.step(&mut e, beta).expect("steps");
                hits += f64::from(u8::from(e.value().is_ok_and(|v| v.starts_with("[0.9"))));
            }
            let weight = |p: f64| ((1.0 - p) * p * p).powf(beta);
            let exact = weight(0.9) / (weight(0.2) + weight(0.5) + weight(0.9));
            assert!((hits / f64::from(steps) - exact).abs() < 0.03, "β = {beta}: {} {exact}", hits / f64::from(steps));
        }
    }

    #[test]
    fn simulated_data_are_kept() {
        let mut sim = simulator(StreamKey::new(1, Purpose::FORWARD));
        let first = sim.simulate().expect("runs");
        let data = first.data().expect("json").expect("simulated");
        let mut second = sim.prior_given(&first).expect("runs");
        sim.step(&mut second, 0.3).expect("steps");
        assert_eq!(second.data().expect("json"), Some(data));
        assert!(sim.prior().expect("runs").data().expect("json").is_none());
    }
}
