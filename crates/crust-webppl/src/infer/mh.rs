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

pub struct Mh {
    pub discrete_only: bool,
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

    fn pick(&self, world: &mut World, trace: &Trace, boundary: usize) -> Option<usize> {
        let n = self.count(&trace.choices, boundary);
        if n == 0 {
            return None;
        }
        let k = world.stream.index_below(n);
        if !self.discrete_only {
            return Some(boundary + k);
        }
        let discrete = trace.choices.iter().enumerate().skip(boundary).filter(|(_, c)| !c.dist.is_continuous());
        discrete.map(|(i, _)| i).nth(k)
    }

    pub fn step(&self, world: &mut World, trace: &mut Trace, scope: &Scope) -> Run<()> {
        let Some(at) = self.pick(world, trace, scope.boundary) else { return Ok(()) };
        trace.info[1] += 1;
        let choice = &trace.choices[at];
        let forward = proposal(world, choice, &choice.value)?;
        let value = forward.sample(&mut world.stream)?;
        if !forward.is_continuous() && coerce::identical(&value, &choice.value) {
            trace.info[0] += 1;
            return Ok(());
        }
        let backward = proposal(world, choice, &value)?;
        let numbers = [self.count(&trace.choices, scope.boundary), 0];
        self.propose(world, trace, scope, Proposal { at, value, forward, backward, numbers })
    }

    /// Runs the program with the new value, and accepts or rejects it.
    ///
    /// log α = log p(new) − log p(old) + log q(old | new) − log q(new | old), where q draws the choice, then the
    /// choices that are new on the way; the index is drawn uniformly.
    fn propose(&self, world: &mut World, trace: &mut Trace, scope: &Scope, proposal: Proposal) -> Run<()> {
        let Proposal { at, value, forward, backward, mut numbers } = proposal;
        let info = trace.info;
        let old_scores = trace.scores;
        let old_value = trace.value.take();
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
            let ended = trace.extend(world, state, &mut reuse, scope.exit)?;
            if ended == Ended::HardFactor && !scope.hard {
                return fail("hard factor statements are not allowed here");
            }
            if ended.is_possible() {
                met = reuse.met.map(|i| i + 1);
                let gone = old[1..met.unwrap_or(old.len())].iter().zip(&reuse.reused).filter(|(_, r)| !**r);
                let vanished: f64 = gone.map(|(c, _)| c.score).sum();
                numbers[1] = self.count(&trace.choices, scope.boundary);
                if let Some(i) = met {
                    // the rest is the old execution's
                    trace.scores = old_scores.after(&old[i].before, &trace.scores);
                    numbers[1] += self.count(&old[i..], 0);
                }
                let to = forward.score(&value)?.value() + reuse.fresh - (numbers[0] as f64).ln();
                let back = backward.score(&choice.value)?.value() + vanished - (numbers[1] as f64).ln();
                let log_ratio = trace.scores.total(scope.beta) - old_scores.total(scope.beta) + back - to;
                accepted = log_ratio >= 0.0 || world.stream.uniform().ln() < log_ratio;
            }
        }
        trace.info = info;
        if accepted {
            trace.info[0] += 1;
            if let Some(i) = met {
                let shift = [trace.scores, old_scores];
                trace.choices.extend(old.into_iter().skip(i).map(|mut c| {
                    c.before = c.before.after(&shift[1], &shift[0]);
                    c
                }));
                trace.value = old_value;
                trace.paused = old_paused;
            }
        } else {
            trace.choices.truncate(at);
            trace.choices.extend(old);
            trace.scores = old_scores;
            trace.value = old_value;
            trace.paused = old_paused;
            trace.gradient = old_gradient;
        }
        Ok(())
    }
}

struct Proposal {
    at: usize,
    value: Value,
    forward: Rc<Dist>,
    backward: Rc<Dist>,
    /// Choices to pick from, before and after.
    numbers: [usize; 2],
}
