//! Single-site Metropolis–Hastings on traces: one choice is drawn again, and what comes after it is run again with the
//! old values where the addresses are the same.

use std::rc::Rc;

use super::kernel::Scope;
use super::trace::{Choice, Ended, Reuse, Trace};
use crate::coerce;
use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::value::Value;
use crate::world::World;

#[derive(Clone, Copy, Debug, Default)]
pub struct Mh {
    pub discrete_only: bool,
    /// Steps of a random walk in place of draws from the prior, for half of the proposals of single continuous
    /// numbers: their length in [spreads](Dist::spread). 0 for none.
    pub drift: f64,
    /// Two choices are drawn again.
    pub pair: bool,
}

/// The distribution that a new value is drawn from: the drift kernel's, or the prior.
fn proposal(world: &mut World, choice: &Choice, value: &Value) -> Run<Rc<Dist>> {
    let kernel = match &choice.options {
        Value::Object(o) => o.get("driftKernel"),
        _ => None,
    };
    let Some(kernel) = kernel.filter(coerce::truthy) else { return Ok(choice.dist.clone()) };
    let mut store = choice.state.store.clone();
    match world.call_sync_in(&kernel, vec![value.clone()], "drift kernel", choice.addr, &mut store)? {
        Value::Dist(dist) => Ok(dist),
        _ => fail("the drift kernel did not return a distribution"),
    }
}

impl Mh {
    /// Positions of choices that may be drawn again.
    fn count(&self, choices: &[Choice], boundary: usize) -> usize {
        if self.discrete_only {
            choices.iter().skip(boundary).filter(|c| !c.dist.is_continuous()).count()
        } else {
            choices.len().saturating_sub(boundary)
        }
    }

    /// Draws which choice is changed, and whether it drifts.
    pub fn pick(&self, world: &mut World, trace: &Trace, boundary: usize) -> Option<(usize, bool)> {
        let drift = self.drift > 0.0 && world.index_below(2) == 1;
        let n = self.count(&trace.choices, boundary);
        if n == 0 {
            return None;
        }
        let k = world.index_below(n);
        if !self.discrete_only {
            return Some((boundary + k, drift));
        }
        let discrete = trace.choices.iter().enumerate().skip(boundary).filter(|(_, c)| !c.dist.is_continuous());
        discrete.map(|(i, _)| (i, drift)).nth(k)
    }

    pub fn step(&self, world: &mut World, trace: &mut Trace, scope: &Scope) -> Run<()> {
        if self.pair {
            return self.step_pair(world, trace, scope);
        }
        match self.pick(world, trace, scope.boundary) {
            Some(picked) => self.step_at(world, trace, scope, picked),
            None => Ok(()),
        }
    }

    /// Changes a choice that was picked, by drift or by a draw.
    pub fn step_at(&self, world: &mut World, trace: &mut Trace, scope: &Scope, picked: (usize, bool)) -> Run<()> {
        let (at, drift) = picked;
        trace.info[1] += 1;
        let choice = &trace.choices[at];
        let numbers = [self.count(&trace.choices, scope.boundary), 0];
        if let (true, Some(spread), Value::Number(x)) = (drift, choice.dist.spread(), &choice.value) {
            // the distribution does not depend on its own value, so that the way back has the same probability
            let value = Value::Number(x + self.drift * spread * world.stream.standard_normal());
            return self.propose(world, trace, scope, Proposal { at, value, draws: None, numbers, redraw: None });
        }
        let forward = proposal(world, choice, &choice.value)?;
        let value = world.draw(&forward)?;
        if !forward.is_continuous() && coerce::identical(&value, &choice.value) {
            trace.info[0] += 1;
            return Ok(());
        }
        let backward = proposal(world, choice, &value)?;
        let draws = Some([forward, backward]);
        self.propose(world, trace, scope, Proposal { at, value, draws, numbers, redraw: None })
    }

    /// Draws two choices again from the prior, each pair with the same probability.
    fn step_pair(&self, world: &mut World, trace: &mut Trace, scope: &Scope) -> Run<()> {
        match Self::pick_pair(world, trace, scope.boundary) {
            Some(picked) => self.step_pair_at(world, trace, scope, picked),
            None => Ok(()),
        }
    }

    /// Draws which two choices are changed.
    pub fn pick_pair(world: &mut World, trace: &Trace, boundary: usize) -> Option<(usize, usize)> {
        let n = trace.choices.len().saturating_sub(boundary);
        if n < 2 {
            return None;
        }
        let (i, j) = (world.index_below(n), world.index_below(n - 1));
        let j = if j < i { j } else { j + 1 };
        Some((boundary + i.min(j), boundary + i.max(j)))
    }

    /// Draws two choices again.
    pub fn step_pair_at(&self, world: &mut World, trace: &mut Trace, scope: &Scope, pair: (usize, usize)) -> Run<()> {
        let (at, second) = pair;
        let n = trace.choices.len() - scope.boundary;
        trace.info[1] += 1;
        let dist = trace.choices[at].dist.clone();
        let value = world.draw(&dist)?;
        let draws = Some([dist.clone(), dist]);
        let redraw = Some(second - at - 1);
        self.propose(world, trace, scope, Proposal { at, value, draws, numbers: [n * (n - 1), 0], redraw })
    }

    /// Runs the program with the new value, and accepts or rejects it.
    ///
    /// log α = log p(new) − log p(old) + log q(old | new) − log q(new | old), where q draws the choice, then the
    /// choices that are new on the way; the index is drawn uniformly.
    pub fn propose(&self, world: &mut World, trace: &mut Trace, scope: &Scope, proposal: Proposal) -> Run<()> {
        let Proposal { at, value, draws, mut numbers, redraw } = proposal;
        let info = trace.info;
        let old_scores = trace.scores;
        let old_value = trace.run_value.take();
        let old_paused = trace.paused.take();
        let old_gradient = trace.gradient.take();
        let old = trace.choices.split_off(at);
        let choice = &old[0];
        trace.scores = choice.before;
        let mut state = choice.state.clone();
        let possible =
            trace.push(state.clone(), choice.addr, choice.dist.clone(), choice.options.clone(), value.clone())?;
        let (mut accepted, mut met) = (false, None);
        if possible {
            state.resume(value.clone());
            let mut reuse = Reuse::new(&old[1..]);
            reuse.watch = true;
            reuse.redraw = redraw;
            let ended = trace.extend(world, state, &mut reuse, scope.exit)?;
            if ended == Ended::HardFactor && !scope.hard {
                return fail("hard factor statements are not allowed here");
            }
            // a choice that is to be drawn again and is not met any more has no way back
            if ended.is_possible() && (redraw.is_none() || reuse.redrawn) {
                met = reuse.met.map(|i| i + 1);
                let gone = old[1..met.unwrap_or(old.len())].iter().zip(&reuse.reused).filter(|(_, r)| !**r);
                let vanished: f64 = gone.map(|(c, _)| c.score).sum();
                numbers[1] = self.count(&trace.choices, scope.boundary);
                if let Some(i) = met {
                    // the rest is the old execution's
                    trace.scores = old_scores.after(&old[i].before, &trace.scores);
                    numbers[1] += self.count(&old[i..], 0);
                }
                if redraw.is_some() {
                    numbers[1] *= numbers[1] - 1;
                }
                let [forward, backward] = match &draws {
                    // what was drawn from the prior has its score already
                    Some([to, back]) if Rc::ptr_eq(to, &choice.dist) && Rc::ptr_eq(back, to) => {
                        [trace.choices[at].score, choice.score]
                    }
                    Some([to, back]) => [to.score(&value)?.value(), back.score(&choice.value)?.value()],
                    None => [0.0; 2],
                };
                let log = |n: usize| if numbers[0] == numbers[1] { 0.0 } else { (n as f64).ln() };
                let to = forward + reuse.fresh - log(numbers[0]);
                let back = backward + vanished - log(numbers[1]);
                let log_ratio = trace.scores.total(scope.beta) - old_scores.total(scope.beta) + back - to;
                accepted = world.accepts(log_ratio);
            }
        }
        trace.info = info;
        if accepted {
            trace.info[0] += 1;
            trace.changes += 1;
            if let Some(i) = met {
                let shift = [trace.scores, old_scores];
                trace.choices.extend(old.into_iter().skip(i).map(|mut c| {
                    c.before = c.before.after(&shift[1], &shift[0]);
                    c
                }));
                trace.run_value = old_value;
                trace.paused = old_paused;
            }
        } else {
            trace.choices.truncate(at);
            trace.choices.extend(old);
            trace.scores = old_scores;
            trace.run_value = old_value;
            trace.paused = old_paused;
            trace.gradient = old_gradient;
        }
        Ok(())
    }
}

pub struct Proposal {
    pub at: usize,
    pub value: Value,
    /// What the value was drawn from, and what the old one is drawn from on the way back; nothing if both have the same
    /// density.
    pub draws: Option<[Rc<Dist>; 2]>,
    /// Ways to pick what is drawn again, before and after.
    pub numbers: [usize; 2],
    /// A later choice that is drawn again too, counted from the one after `at`.
    pub redraw: Option<usize>,
}
