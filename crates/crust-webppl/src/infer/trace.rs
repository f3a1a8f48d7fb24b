//! Traces: the random choices of an execution, each with the state of the machine before it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Model;
use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::machine::{Effect, State, same};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::world::World;

/// A random choice.
#[derive(Clone)]
pub struct Choice {
    pub addr: u64,
    pub dist: Rc<Dist>,
    pub value: Value,
    /// The options of `sample`: drift kernel, guide.
    pub options: Value,
    /// The log probability of the value.
    pub score: f64,
    /// Scores before this choice.
    pub before: Scores,
    /// The execution, waiting for the value.
    pub state: State,
}

/// What has been added up so far.
#[derive(Clone, Copy, Default)]
pub struct Scores {
    /// Log probability of all choices.
    pub prior: f64,
    /// Sum of all factors and observations.
    pub factor: f64,
    /// How many factors there were.
    pub factors: usize,
    /// How many numbers of the [`Data`] were observed.
    pub observed: usize,
}

impl Scores {
    /// These scores, with those up to `from` replaced by `to`.
    pub fn after(&self, from: &Self, to: &Self) -> Self {
        Self {
            prior: to.prior + (self.prior - from.prior),
            factor: to.factor + (self.factor - from.factor),
            factors: to.factors + self.factors - from.factors,
            observed: to.observed + self.observed - from.observed,
        }
    }

    /// The log of the joint density, with factors to the power of `beta`.
    pub fn total(&self, beta: f64) -> f64 {
        // a factor of −∞ counts also at 0 · ∞
        if beta == 0.0 { self.prior } else { self.prior + beta * self.factor }
    }
}

/// An execution that has ended or stopped at a factor.
#[derive(Clone)]
pub struct Trace {
    pub choices: Vec<Choice>,
    pub scores: Scores,
    /// The value of the last run of the program, if it has ended. See [`Self::value`] for that of the execution.
    pub run_value: Option<Value>,
    /// Where it stopped, if it has not.
    pub paused: Option<State>,
    /// Accepted and proposed changes.
    pub info: [u64; 2],
    /// Values of observations that take the place of those in the program.
    pub data: Option<Rc<RefCell<Data>>>,
    /// The dependency graph, if there is one.
    pub fast: super::fast::Fast,
    /// How often choices were changed by running the program.
    pub changes: u64,
    /// Gradients at this point, if HMC has computed them.
    pub gradient: Option<Rc<super::hmc::Point>>,
}

/// Values of observations in the order in which they are made, each number by itself.
#[derive(Default)]
pub struct Data {
    pub values: Vec<Value>,
    pub mode: DataMode,
}

/// Where values of observations come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataMode {
    /// They are drawn, and kept.
    Simulate,
    /// They are the program's own, and kept.
    Collect,
    /// They were simulated before.
    #[default]
    Given,
}

const VARYING: &str = "the number of observations depends on random choices, so that simulated data have no fixed size; \
    observe the same number of values in every execution";

impl Data {
    /// The value of an observation that was simulated before; `at` is where its numbers begin.
    pub fn take(&self, at: &mut usize, dist: &Dist) -> Run<Value> {
        if let Some(dims) = dist.draw_dims() {
            let n: usize = dims.iter().product();
            let Some(numbers) = self.values.get(*at..*at + n) else { return fail(VARYING) };
            *at += n;
            let numbers = numbers.iter().map(|v| v.as_number().unwrap_or(f64::NAN)).collect();
            return Ok(Value::tensor(Tensor::new(dims.to_vec(), numbers)));
        }
        let Some(value) = self.values.get(*at) else { return fail(VARYING) };
        *at += 1;
        Ok(value.clone())
    }

    /// The score and value of an observation; `at` is where its numbers begin.
    fn observe(&mut self, world: &mut World, at: &mut usize, dist: &Rc<Dist>, own: Value) -> Run<(f64, Value)> {
        let value = match self.mode {
            DataMode::Given => self.take(at, dist)?,
            mode => {
                let value = if mode == DataMode::Simulate { dist.sample(&mut world.stream)? } else { own };
                match &value {
                    Value::Tensor(t) => self.values.extend(t.data.iter().map(|x| Value::Number(*x))),
                    other => self.values.push(other.clone()),
                }
                *at = self.values.len();
                value
            }
        };
        Ok((dist.score(&value)?.value(), value))
    }
}

/// How a run of the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Complete,
    AtFactor,
    /// A choice has probability 0.
    Impossible,
    /// A factor was −∞.
    HardFactor,
    /// From here on the execution is one that is known already.
    Known,
}

impl Ended {
    pub fn is_possible(self) -> bool {
        !matches!(self, Self::Impossible | Self::HardFactor)
    }
}

/// Which values choices take.
pub trait Choose {
    fn choose(&mut self, world: &mut World, addr: u64, dist: &Rc<Dist>, state: &State) -> Run<Value>;

    /// Whether it is known how an execution goes on that waits for a choice.
    fn knows(&mut self, _addr: u64, _state: &State, _scores: &Scores) -> bool {
        false
    }
}

/// Every choice is drawn from its distribution.
pub struct Prior;

impl Choose for Prior {
    fn choose(&mut self, world: &mut World, _: u64, dist: &Rc<Dist>, _: &State) -> Run<Value> {
        world.draw(dist)
    }
}

/// Choices of an earlier execution where the address is the same, draws elsewhere.
pub struct Reuse<'a> {
    old: &'a [Choice],
    /// Executions mostly make the same choices in the same order: look here first.
    cursor: usize,
    places: Option<HashMap<u64, usize>>,
    pub reused: Vec<bool>,
    /// The log probability of choices that were drawn.
    pub fresh: f64,
    /// Look for a state that the earlier execution was in, too.
    pub watch: bool,
    /// The choice at which there was one.
    pub met: Option<usize>,
    /// A choice that is drawn again although it is known.
    pub redraw: Option<usize>,
    /// Whether it was.
    pub redrawn: bool,
}

impl<'a> Reuse<'a> {
    pub fn new(old: &'a [Choice]) -> Self {
        let reused = vec![false; old.len()];
        let (fresh, watch, met, redraw, redrawn) = (0.0, false, None, None, false);
        Self { old, cursor: 0, places: None, reused, fresh, watch, met, redraw, redrawn }
    }

    fn find(&mut self, addr: u64) -> Option<usize> {
        if self.old.get(self.cursor).is_some_and(|c| c.addr == addr) {
            self.cursor += 1;
            return Some(self.cursor - 1);
        }
        let old = self.old;
        let places = self.places.get_or_insert_with(|| old.iter().enumerate().map(|(i, c)| (c.addr, i)).collect());
        let found = places.get(&addr).copied();
        if let Some(i) = found {
            self.cursor = i + 1;
        }
        found
    }
}

impl Choose for Reuse<'_> {
    fn knows(&mut self, addr: u64, state: &State, scores: &Scores) -> bool {
        let next = self.old.get(self.cursor);
        let same = |c: &Choice| c.addr == addr && c.before.observed == scores.observed && same(&c.state, state);
        if self.watch && (self.redraw.is_none() || self.redrawn) && next.is_some_and(same) {
            self.met = Some(self.cursor);
        }
        self.met.is_some()
    }

    fn choose(&mut self, world: &mut World, addr: u64, dist: &Rc<Dist>, _: &State) -> Run<Value> {
        if let Some(i) = self.find(addr) {
            if self.redraw != Some(i) {
                self.reused[i] = true;
                return Ok(self.old[i].value.clone());
            }
            self.redrawn = true;
        }
        let value = world.draw(dist)?;
        self.fresh += dist.score(&value)?.value();
        Ok(value)
    }
}

impl Trace {
    pub fn empty() -> Self {
        Self {
            choices: Vec::new(),
            scores: Scores::default(),
            run_value: None,
            paused: None,
            info: [0; 2],
            data: None,
            fast: super::fast::Fast::default(),
            changes: 0,
            gradient: None,
        }
    }

    /// Adds a choice; whether it is possible.
    pub fn push(&mut self, state: State, addr: u64, dist: Rc<Dist>, options: Value, value: Value) -> Run<bool> {
        let score = dist.score(&value)?.value();
        let before = self.scores;
        self.choices.push(Choice { addr, dist, value, options, score, before, state });
        self.scores.prior += score;
        Ok(score > f64::NEG_INFINITY)
    }

    /// Runs on from a state, writing down choices, to the end or to a factor (the `exit`th, if not 0), or to where
    /// `choose` knows how it goes on.
    pub fn extend(&mut self, world: &mut World, mut state: State, choose: &mut dyn Choose, exit: usize) -> Run<Ended> {
        self.run_value = None;
        self.paused = None;
        self.gradient = None;
        loop {
            match state.run(world)? {
                Effect::Sample { dist, options, addr } => {
                    if choose.knows(addr, &state, &self.scores) {
                        return Ok(Ended::Known);
                    }
                    let value = choose.choose(world, addr, &dist, &state)?;
                    let before = state.clone();
                    if !self.push(before, addr, dist, options, value.clone())? {
                        return Ok(Ended::Impossible);
                    }
                    state.resume(value);
                }
                Effect::Factor { score, result, observed, .. } => {
                    let (score, result) = match (observed, &self.data) {
                        (Some(dist), Some(data)) => {
                            data.borrow_mut().observe(world, &mut self.scores.observed, &dist, result)?
                        }
                        (None, Some(_)) => return Err(state.refuse_factor(world)),
                        _ => (score.value(), result),
                    };
                    if score == f64::NEG_INFINITY {
                        return Ok(Ended::HardFactor);
                    }
                    self.scores.factor += score;
                    self.scores.factors += 1;
                    state.resume(result);
                    if self.scores.factors == exit {
                        self.paused = Some(state);
                        return Ok(Ended::AtFactor);
                    }
                }
                Effect::Done(value) => {
                    if self.data.as_ref().is_some_and(|data| data.borrow().values.len() != self.scores.observed) {
                        return fail(VARYING);
                    }
                    self.run_value = Some(state.result(value));
                    return Ok(Ended::Complete);
                }
                _ => state.resume(Value::Undefined),
            }
        }
    }

    /// An execution of positive probability, from the prior.
    pub fn initialize(world: &mut World, model: &Model) -> Run<Self> {
        let mut failures: u64 = 0;
        loop {
            let mut trace = Self::empty();
            let state = model.start(world)?;
            if trace.extend(world, state, &mut Prior, 0)? == Ended::Complete {
                return Ok(trace);
            }
            failures += 1;
            if failures == 1000 {
                world.warn("no execution with positive probability was found in 1000 attempts; going on");
            }
        }
    }

    /// The same execution again, with the values of the choices that it made.
    pub fn replay(world: &mut World, model: &Model, values: &[Choice], exit: usize) -> Run<(Self, Ended)> {
        let mut trace = Self::empty();
        let state = model.start(world)?;
        let ended = trace.extend(world, state, &mut Reuse::new(values), exit)?;
        Ok((trace, ended))
    }
}
