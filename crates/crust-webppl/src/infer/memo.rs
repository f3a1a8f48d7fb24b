//! Legs of executions that were run before.
//!
//! From one stop of an execution (a choice, a factor, the end) to the next it only computes: what it does there is a
//! function of its state and of the value that it is given. So each leg is run once, and found again by that value.
//! States that are reached on several ways are one node ([`same`]): the executions of a hidden Markov model are paths in
//! a graph with a node for each time and state. That is for choices with few values; whatever else a program does (draw
//! from inside, print, change values in place) is noticed, and then there is no memo.

use std::collections::HashMap;
use std::rc::Rc;

use super::Model;
use crate::distributions::Dist;
use crate::error::Run;
use crate::machine::{Effect, State, digest, same};
use crate::value::Value;
use crate::world::World;

/// A node: where an execution stops.
pub struct Node {
    pub stop: Stop,
    /// Ready for a value.
    pub state: State,
    legs: Vec<Leg>,
}

pub enum Stop {
    Choice {
        dist: Rc<Dist>,
        addr: u64,
    },
    /// After a factor, or at the beginning.
    Factor,
    Done(Value),
}

/// From a node to the next one.
#[derive(Clone)]
pub struct Leg {
    pub value: Value,
    /// The log probability of the value.
    pub score: f64,
    /// The sum of the factors on the way, and how many there are.
    pub factor: f64,
    pub factors: usize,
    pub end: End,
    calls: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Node(u32),
    /// A factor is −∞.
    HardFactor,
    /// The value has no probability.
    Impossible,
}

/// A leg, by its node and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub node: u32,
    pub leg: u32,
}

/// A memo between two inferences. States are told apart by what they hold, so that it serves any model; it is of no use
/// any more once something was changed that states do not hold.
pub struct Kept {
    memo: Memo,
    touched: u64,
    ids: u64,
}

#[derive(Default)]
pub struct Memo {
    nodes: Vec<Node>,
    /// Nodes by digests of their states.
    known: HashMap<u64, Vec<u32>>,
    /// Whether executions stop at factors.
    at_factors: bool,
    /// The program did more than compute: states may have been changed.
    pub spoiled: bool,
    /// Legs that were run, and that were found, since the last account.
    runs: u32,
    found: u32,
}

/// More nodes are not kept.
const MOST_NODES: usize = 1 << 15;
/// More values of one choice are not kept.
const MOST_LEGS: usize = 48;
/// More nodes are not kept between inferences.
const MOST_KEPT: usize = 1 << 12;
/// After so many runs they must have paid.
const ACCOUNT: u32 = 512;

/// Whether two values of a choice are the same for the program. Numbers by their bits: 0 and −0 go different ways.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.to_bits() == b.to_bits(),
        (a, b) => crate::coerce::identical(a, b),
    }
}

impl Memo {
    pub fn new(at_factors: bool) -> Self {
        Self { at_factors, ..Self::default() }
    }

    /// One that stops at factors, with what earlier inferences did if that still holds.
    pub fn kept(world: &mut World) -> Self {
        let fresh = world.kept.take().filter(|kept| (kept.touched, kept.ids) == (world.touched, world.ids));
        fresh.map_or_else(|| Self::new(true), |kept| Self { runs: 0, found: 0, ..kept.memo })
    }

    /// Leaves it to later inferences.
    pub fn keep(self, world: &mut World) {
        if self.nodes.len() <= MOST_KEPT && !self.spoiled {
            world.kept = Some(Kept { memo: self, touched: world.touched, ids: world.ids });
        }
    }

    #[inline]
    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    pub fn at(&self, step: Step) -> &Leg {
        &self.nodes[step.node as usize].legs[step.leg as usize]
    }

    /// The leg from the beginning of the program.
    pub fn begin(&mut self, world: &mut World, model: &Model) -> Run<Option<Leg>> {
        let state = model.start(world)?;
        self.run(world, state, Value::Undefined, 0.0)
    }

    /// The node of the beginning of the program.
    pub fn root(&mut self, world: &mut World, model: &Model) -> Run<u32> {
        let state = model.start(world)?;
        Ok(self.place(Stop::Factor, state))
    }

    /// The leg that a value leads to from a node; nothing if it cannot be kept.
    #[inline]
    pub fn leg(&mut self, world: &mut World, node: u32, value: &Value) -> Run<Option<Step>> {
        let legs = &self.nodes[node as usize].legs;
        if let Some(leg) = legs.iter().position(|leg| alike(&leg.value, value)) {
            self.found = self.found.saturating_add(1);
            world.skip(legs[leg].calls)?;
            return Ok(Some(Step { node, leg: u32::try_from(leg).unwrap_or(u32::MAX) }));
        }
        self.explore(world, node, value)
    }

    #[inline(never)]
    fn explore(&mut self, world: &mut World, at: u32, value: &Value) -> Run<Option<Step>> {
        if self.nodes.len() >= MOST_NODES || self.is_loss() {
            return Ok(None);
        }
        let node = &self.nodes[at as usize];
        if node.legs.len() >= MOST_LEGS {
            return Ok(None);
        }
        let score = match &node.stop {
            Stop::Choice { dist, .. } => dist.score(value)?.value(),
            _ => 0.0,
        };
        let leg = if score == f64::NEG_INFINITY {
            Leg { value: value.clone(), score, factor: 0.0, factors: 0, end: End::Impossible, calls: 0 }
        } else {
            let mut state = node.state.clone();
            if matches!(node.stop, Stop::Choice { .. }) {
                state.resume(value.clone());
            }
            let Some(leg) = self.run(world, state, value.clone(), score)? else { return Ok(None) };
            leg
        };
        let legs = &mut self.nodes[at as usize].legs;
        legs.push(leg);
        Ok(Some(Step { node: at, leg: u32::try_from(legs.len() - 1).unwrap_or(u32::MAX) }))
    }

    /// Whether legs are run more often than they are found.
    fn is_loss(&mut self) -> bool {
        self.runs += 1;
        if self.runs < ACCOUNT {
            return false;
        }
        let loss = self.found < self.runs;
        (self.runs, self.found) = (0, 0);
        loss
    }

    /// Runs to the next stop.
    fn run(&mut self, world: &mut World, mut state: State, value: Value, score: f64) -> Run<Option<Leg>> {
        let (before, steps) = (world.marks(), world.steps);
        let (mut factor, mut factors) = (0.0, 0);
        let stop = loop {
            match state.run(world)? {
                Effect::Sample { dist, options, addr } => {
                    if dist.is_continuous() || !options.is_undefined() {
                        break None;
                    }
                    break Some(Stop::Choice { dist, addr });
                }
                Effect::Factor { score: more, result, .. } => {
                    let more = more.value();
                    factor += more;
                    factors += 1;
                    state.resume(result);
                    if self.at_factors {
                        break Some(Stop::Factor);
                    }
                    if more == f64::NEG_INFINITY {
                        let calls = world.steps - steps;
                        self.spoiled |= world.marks() != before;
                        let leg = Leg { value, score, factor, factors, end: End::HardFactor, calls };
                        return Ok((!self.spoiled).then_some(leg));
                    }
                }
                Effect::Done(value) => break Some(Stop::Done(state.result(value))),
                _ => break None,
            }
        };
        self.spoiled |= world.marks() != before;
        let Some(stop) = stop.filter(|_| !self.spoiled) else { return Ok(None) };
        let end = End::Node(self.place(stop, state));
        Ok(Some(Leg { value, score, factor, factors, end, calls: world.steps - steps }))
    }

    /// The node of a state: one that is there already, if it is the same.
    fn place(&mut self, stop: Stop, state: State) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let addr = match &stop {
            Stop::Choice { addr, .. } => *addr,
            Stop::Factor => 1,
            Stop::Done(_) => {
                self.nodes.push(Node { stop, state, legs: Vec::new() });
                return next;
            }
        };
        let all = self.known.entry(digest(&state) ^ addr).or_default();
        let alike = |node: &&u32| {
            let node = &self.nodes[**node as usize];
            let stops = match (&node.stop, &stop) {
                (Stop::Choice { addr: a, .. }, Stop::Choice { addr: b, .. }) => a == b,
                (Stop::Factor, Stop::Factor) => true,
                _ => false,
            };
            stops && same(&node.state, &state)
        };
        // a hash that says little must not make a long list
        if let Some(node) = all.iter().rev().take(8).find(alike) {
            return *node;
        }
        all.push(next);
        self.nodes.push(Node { stop, state, legs: Vec::new() });
        next
    }
}
