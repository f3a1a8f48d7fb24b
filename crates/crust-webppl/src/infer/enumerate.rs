//! Exhaustive enumeration: depth first, breadth first, or the most likely first.

use std::collections::VecDeque;
use std::rc::Rc;

use super::{Model, Options};
use crate::distributions::{Dist, Table};
use crate::error::{Run, fail};
use crate::machine::{Effect, State};
use crate::tape::Num;
use crate::value::Value;
use crate::world::World;

/// An execution that waits to go on.
struct Waiting {
    state: State,
    score: Num,
}

enum Queue {
    Depth(Vec<Waiting>),
    Breadth(VecDeque<Waiting>),
    Likely(Vec<Waiting>),
}

impl Queue {
    fn push(&mut self, item: Waiting) {
        match self {
            Self::Depth(stack) => stack.push(item),
            Self::Breadth(queue) => queue.push_back(item),
            Self::Likely(heap) => {
                heap.push(item);
                let mut i = heap.len() - 1;
                while i > 0 && heap[(i - 1) / 2].score.value() < heap[i].score.value() {
                    heap.swap(i, (i - 1) / 2);
                    i = (i - 1) / 2;
                }
            }
        }
    }

    fn pop(&mut self) -> Option<Waiting> {
        match self {
            Self::Depth(stack) => stack.pop(),
            Self::Breadth(queue) => queue.pop_front(),
            Self::Likely(heap) => {
                if heap.is_empty() {
                    return None;
                }
                let item = heap.swap_remove(0);
                let score = |heap: &Vec<Waiting>, i: usize| heap.get(i).map_or(f64::NEG_INFINITY, |w| w.score.value());
                let mut i = 0;
                loop {
                    let (left, right) = (2 * i + 1, 2 * i + 2);
                    let best = if score(heap, right) > score(heap, left) { right } else { left };
                    if best >= heap.len() || score(heap, best) <= score(heap, i) {
                        return Some(item);
                    }
                    heap.swap(i, best);
                    i = best;
                }
            }
        }
    }
}

/// Why enumeration gave up.
pub enum Stopped {
    /// A choice has no finite support, or there are too many executions.
    Unsuitable(String),
}

pub struct Settings {
    pub max_executions: f64,
    pub strategy: String,
    /// Gives up if the tree of choices seems to be larger than this.
    pub max_tree: f64,
}

/// `Infer({method: 'enumerate'})`
pub fn enumerate(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let max_executions = options.number("maxExecutions", f64::INFINITY)?;
    let strategy = match options.get("strategy") {
        Value::Text(t) => t.to_string(),
        _ => String::new(),
    };
    for ignored in ["throwOnError", "maxRuntimeInMS"] {
        options.get(ignored);
    }
    let settings = Settings { max_executions, strategy, max_tree: options.number("maxEnumTreeSize", f64::INFINITY)? };
    options.finish(world, "Enumerate");
    match run(world, model, &settings)? {
        Ok(dist) => Ok(Value::Dist(Rc::new(dist))),
        Err(Stopped::Unsuitable(why)) => fail(why),
    }
}

/// Enumerates; the inner error is about the model, not the run.
pub fn run(world: &mut World, model: &Model, settings: &Settings) -> Run<Result<Dist, Stopped>> {
    let mut queue = match &*settings.strategy {
        "likelyFirst" => Queue::Likely(Vec::new()),
        "breadthFirst" => Queue::Breadth(VecDeque::new()),
        "depthFirst" => Queue::Depth(Vec::new()),
        _ if settings.max_executions.is_finite() => Queue::Likely(Vec::new()),
        _ => Queue::Depth(Vec::new()),
    };
    let mut scores = Table::default();
    let (mut completed, mut pushed) = (0.0, 0.0);
    let mut tree = Some((1.0, 1.0));
    let mut current = Some(Waiting { state: model.start(world)?, score: Num::Plain(0.0) });
    while let Some(Waiting { mut state, mut score }) = current {
        let ended = loop {
            match state.run(world)? {
                Effect::Sample { dist, .. } => {
                    let support = match dist.support() {
                        Ok(Value::Array(values)) if !dist.is_continuous() => values,
                        _ => {
                            let message = "enumerate can only be used with distributions that have finite support";
                            return Ok(Err(Stopped::Unsuitable(format!("{message}, not {}", dist.family.name()))));
                        }
                    };
                    let support = support.items();
                    if support.is_empty() {
                        return fail("enumerate encountered a distribution with empty support");
                    }
                    if let Some((level, total)) = &mut tree {
                        *level *= support.len() as f64;
                        *total += *level;
                    }
                    pushed += support.len() as f64;
                    if pushed > 5.0 * settings.max_tree {
                        return Ok(Err(Stopped::Unsuitable(format!("more than {pushed} computations"))));
                    }
                    for value in support.iter() {
                        let mut next = state.clone();
                        next.resume(value.clone());
                        queue.push(Waiting { state: next, score: score.add(&dist.score(value)?) });
                    }
                    break None;
                }
                Effect::Factor { score: more, result, .. } => {
                    score = score.add(&more);
                    if score.value() == f64::NEG_INFINITY {
                        break Some(Value::Undefined);
                    }
                    state.resume(result);
                }
                Effect::Done(value) => break Some(state.result(value)),
                _ => state.resume(Value::Undefined),
            }
        };
        if let Some(value) = ended {
            if let Some((_, total)) = tree.take().filter(|(_, total)| *total > settings.max_tree) {
                return Ok(Err(Stopped::Unsuitable(format!("{total} computations ahead"))));
            }
            if score.value() > f64::NEG_INFINITY {
                let entry = scores.entry(&value, f64::NEG_INFINITY);
                entry.prob = entry.prob.log_add_exp(&score);
            }
            completed += 1.0;
            if completed >= settings.max_executions {
                break;
            }
        }
        current = queue.pop();
    }
    if scores.entries.is_empty() {
        return fail("all paths explored by enumerate have probability zero");
    }
    let total = scores.entries.iter().fold(Num::Plain(f64::NEG_INFINITY), |acc, e| acc.log_add_exp(&e.prob));
    for entry in &mut scores.entries {
        entry.prob = entry.prob.sub(&total).exp();
    }
    let mut dist = Dist::marginal(scores);
    dist.normalization = Some(total.value());
    Ok(Ok(dist))
}
