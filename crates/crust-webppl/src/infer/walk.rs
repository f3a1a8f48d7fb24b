//! Metropolis–Hastings on executions that are paths in a [`Memo`]: the same proposals with the same random numbers as
//! [`Mh`] makes by running the program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Model;
use super::kernel::Scope;
use super::memo::{End, Leg, Memo, Step, Stop};
use super::mh::Mh;
use super::trace::{Choice, Scores, Trace};
use crate::coerce;
use crate::error::{Run, fail};
use crate::value::Value;
use crate::world::World;

/// An execution as a path.
#[derive(Clone)]
pub struct Walk {
    memo: Rc<RefCell<Memo>>,
    steps: Vec<Step>,
    /// The leg from the beginning of the program.
    first: Leg,
    /// Changes since scores were added up anew.
    changes: u32,
    proposal: Proposal,
}

/// A new way from a choice on.
#[derive(Clone, Default)]
struct Proposal {
    steps: Vec<Step>,
    /// Which of the old choices are made again with their values.
    reused: Vec<bool>,
    /// The log probability of choices that were drawn.
    fresh: f64,
    /// Where the old way is met again, counted from the choice that is changed.
    met: Option<usize>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    Done,
    /// The memo cannot make it. Nothing has changed but random numbers and what was printed.
    Lost,
}

enum Way {
    Open,
    /// There is no density at its end.
    Closed(End),
    Lost,
}

impl Walk {
    /// The path of an execution; nothing if it has none.
    pub fn new(world: &mut World, model: &Model, trace: &Trace) -> Run<Option<Self>> {
        let before = world.marks();
        let walk = Self::follow(world, model, trace);
        world.printed.truncate(before.printed);
        world.stream = before.stream;
        walk
    }

    fn follow(world: &mut World, model: &Model, trace: &Trace) -> Run<Option<Self>> {
        let mut memo = Memo::new(false);
        let Some(first) = memo.begin(world, model)? else { return Ok(None) };
        let mut steps = Vec::with_capacity(trace.choices.len());
        let mut end = first.end;
        for choice in &trace.choices {
            let End::Node(node) = end else { return Ok(None) };
            match memo.node(node).stop {
                Stop::Choice { addr, .. } if addr == choice.addr => {}
                _ => return Ok(None),
            }
            let Some(step) = memo.leg(world, node, &choice.value)? else { return Ok(None) };
            steps.push(step);
            end = memo.at(step).end;
        }
        let done = matches!(end, End::Node(node) if matches!(memo.node(node).stop, Stop::Done(_)));
        let memo = Rc::new(RefCell::new(memo));
        Ok(done.then_some(Self { memo, steps, first, changes: 0, proposal: Proposal::default() }))
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The value of a choice.
    pub fn choice(&self, at: usize) -> Value {
        self.memo.borrow().at(self.steps[at]).value.clone()
    }

    /// The value of the execution.
    pub fn value(&self) -> Value {
        let memo = self.memo.borrow();
        let end = self.steps.last().map_or(self.first.end, |step| memo.at(*step).end);
        match end {
            End::Node(node) => match &memo.node(node).stop {
                Stop::Done(value) => value.clone(),
                _ => Value::Undefined,
            },
            _ => Value::Undefined,
        }
    }

    /// Choices as a trace has them, without the scores before each.
    pub fn choices(&self) -> Vec<Choice> {
        let memo = self.memo.borrow();
        let choice = |step: &Step| {
            let (node, leg) = (memo.node(step.node), memo.at(*step));
            let Stop::Choice { dist, addr } = &node.stop else { return None };
            let (dist, state, before) = (dist.clone(), node.state.clone(), Scores::default());
            let (value, options) = (leg.value.clone(), Value::Undefined);
            Some(Choice { addr: *addr, dist, value, options, score: leg.score, before, state })
        };
        self.steps.iter().filter_map(choice).collect()
    }

    fn scores(&self, memo: &Memo) -> Scores {
        let mut scores = Scores { factor: self.first.factor, factors: self.first.factors, ..Scores::default() };
        for leg in self.steps.iter().map(|step| memo.at(*step)) {
            scores.prior += leg.score;
            scores.factor += leg.factor;
            scores.factors += leg.factors;
        }
        scores
    }

    /// A step of the chain.
    pub fn step(
        &mut self,
        mh: &Mh,
        world: &mut World,
        scope: &Scope,
        scores: &mut Scores,
        info: &mut [u64; 2],
    ) -> Run<Walked> {
        // discrete choices do not drift, but the random number is used
        let _ = mh.drift > 0.0 && world.index_below(2) == 1;
        let n = self.steps.len();
        if n == 0 {
            return Ok(Walked::Done);
        }
        let at = world.index_below(n);
        let shared = self.memo.clone();
        let memo = &mut *shared.borrow_mut();
        let old = self.steps[at];
        let Stop::Choice { dist, .. } = &memo.node(old.node).stop else { return Ok(Walked::Lost) };
        let value = world.draw(dist)?;
        info[1] += 1;
        if coerce::identical(&value, &memo.at(old).value) {
            info[0] += 1;
            return Ok(Walked::Done);
        }
        match self.propose(world, memo, at, &value)? {
            Way::Lost => {
                info[1] -= 1;
                return Ok(Walked::Lost);
            }
            Way::Closed(End::HardFactor) if !scope.hard => {
                return fail("hard factor statements are not allowed here");
            }
            Way::Closed(_) => return Ok(Walked::Done),
            Way::Open => {}
        }
        let Proposal { steps: new, reused, fresh, met } = &self.proposal;
        let gone = &self.steps[at..at + met.unwrap_or(n - at)];
        let mut change = Scores::default();
        for leg in new.iter().map(|step| memo.at(*step)) {
            change.prior += leg.score;
            change.factor += leg.factor;
            change.factors += leg.factors;
        }
        let (mut vanished, mut left) = (0.0, 0);
        for (i, leg) in gone.iter().map(|step| memo.at(*step)).enumerate() {
            change.prior -= leg.score;
            change.factor -= leg.factor;
            left += leg.factors;
            if i > 0 && !reused.get(i).copied().unwrap_or(false) {
                vanished += leg.score;
            }
        }
        let count = n - gone.len() + new.len();
        let log = |m: usize| if n == count { 0.0 } else { (m as f64).ln() };
        let to = memo.at(new[0]).score + fresh - log(n);
        let back = memo.at(old).score + vanished - log(count);
        let log_ratio = change.total(scope.beta) + back - to;
        if !world.accepts(log_ratio) {
            return Ok(Walked::Done);
        }
        info[0] += 1;
        scores.prior += change.prior;
        scores.factor += change.factor;
        scores.factors = scores.factors + change.factors - left;
        let gone = gone.len();
        if gone == new.len() {
            self.steps[at..at + gone].copy_from_slice(new);
        } else {
            self.steps.splice(at..at + gone, new.iter().copied());
        }
        // rounding errors of differences must not add up
        self.changes += 1;
        if self.changes.is_multiple_of(4096) {
            *scores = self.scores(memo);
        }
        Ok(Walked::Done)
    }

    /// Goes on with another value of a choice, with old values where addresses are the same.
    fn propose(&mut self, world: &mut World, memo: &mut Memo, at: usize, value: &Value) -> Run<Way> {
        let old = &self.steps[at..];
        let Proposal { steps: new, reused, fresh, met } = &mut self.proposal;
        new.clear();
        reused.clear();
        (*fresh, *met) = (0.0, None);
        let mut places: Option<HashMap<u64, usize>> = None;
        let Some(mut step) = memo.leg(world, old[0].node, value)? else { return Ok(Way::Lost) };
        new.push(step);
        let mut cursor = 1;
        loop {
            let node = match memo.at(step).end {
                End::Node(node) => node,
                closed => return Ok(Way::Closed(closed)),
            };
            let next = old.get(cursor);
            if next.is_some_and(|next| next.node == node) {
                *met = Some(cursor);
                return Ok(Way::Open);
            }
            let Stop::Choice { dist, addr } = &memo.node(node).stop else { return Ok(Way::Open) };
            let address = |step: &Step| match &memo.node(step.node).stop {
                Stop::Choice { addr, .. } => *addr,
                _ => 0,
            };
            let found = if next.is_some_and(|next| address(next) == *addr) {
                Some(cursor)
            } else if cursor == old.len() && places.is_none() && new.len() == cursor {
                // all old choices were met, one after the other
                None
            } else {
                let list = || old.iter().enumerate().skip(1).map(|(i, step)| (address(step), i)).collect();
                places.get_or_insert_with(list).get(addr).copied()
            };
            let leg = if let Some(i) = found {
                cursor = i + 1;
                reused.resize(reused.len().max(cursor), false);
                reused[i] = true;
                let value = memo.at(old[i]).value.clone();
                memo.leg(world, node, &value)?
            } else {
                let value = world.draw(dist)?;
                let leg = memo.leg(world, node, &value)?;
                *fresh += leg.map_or(0.0, |step| memo.at(step).score);
                leg
            };
            let Some(leg) = leg else { return Ok(Way::Lost) };
            step = leg;
            new.push(step);
        }
    }
}
