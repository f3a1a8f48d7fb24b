//! The evidence lower bound: gradients by likelihood ratios, and through the draws where they can be differentiated.

use std::collections::HashMap;
use std::rc::Rc;

use super::optimize::{Gradients, accumulate, scale};
use super::{Model, Options, guide};
use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::machine::{Effect, Fetched, State, fetched};
use crate::tape::{Num, Tape};
use crate::value::{Array, Value};
use crate::world::{Context, World};

pub struct Elbo {
    samples: usize,
    /// The decay of running means of weights, which are subtracted from them.
    baseline: Option<f64>,
    baselines: HashMap<u64, f64>,
}

/// A step of an execution. Weights flow from later nodes to earlier ones.
struct Node {
    kind: Kind,
    parents: Vec<usize>,
    weight: f64,
}

enum Kind {
    Root,
    Sample {
        logp: Num,
        logq: Num,
        reparam: bool,
        addr: u64,
        multiplier: f64,
    },
    Factor {
        score: Num,
        multiplier: f64,
    },
    /// Where `mapData` begins: the size of the batch, of the data, and the node where it ends.
    Split {
        batch: f64,
        n: f64,
        join: Option<usize>,
    },
    Join,
}

/// A `mapData` that is being run: its first node, the last nodes of its items, and the multiplier inside.
struct Mapping {
    split: usize,
    ends: Vec<usize>,
    multiplier: f64,
}

struct Execution<'a> {
    nodes: Vec<Node>,
    last: usize,
    mappings: Vec<Mapping>,
    batches: &'a mut HashMap<u64, Option<Rc<Vec<usize>>>>,
}

impl Elbo {
    pub fn new(options: &mut Options) -> Run<Self> {
        let samples = options.count("samples", 1)?;
        let decay = options.number("avgBaselineDecay", 0.9)?;
        let baseline = options.flag("avgBaselines", true).then_some(decay);
        for ignored in ["dumpGraph", "debugWeights"] {
            options.get(ignored);
        }
        Ok(Self { samples, baseline, baselines: HashMap::new() })
    }

    pub fn estimate(&mut self, world: &mut World, model: &Model) -> Run<(Gradients, f64)> {
        let mut total = Gradients::new();
        let mut elbo = 0.0;
        let mut updates: Vec<(u64, f64, f64)> = Vec::new();
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut batches = HashMap::new();
        for _ in 0..self.samples {
            let tape = Rc::new(Tape::default());
            world.context = Context {
                guide_required: true,
                map_hooks: true,
                observe_hook: false,
                recording: false,
                tape: Some(tape.clone()),
            };
            world.params.seen.clear();
            let mut execution = Execution { nodes: Vec::new(), last: 0, mappings: Vec::new(), batches: &mut batches };
            execution.run(world, model)?;
            let nodes = execution.propagated();
            elbo -= nodes[0].weight;
            let mut objective = Num::Plain(0.0);
            for node in &nodes {
                objective = match &node.kind {
                    Kind::Sample { logp, logq, reparam: true, multiplier, .. } => {
                        objective.add(&logq.sub(logp).scale(*multiplier))
                    }
                    Kind::Sample { logp, logq, addr, multiplier, .. } => {
                        let place = *places.entry(*addr).or_insert_with(|| {
                            updates.push((*addr, 0.0, 0.0));
                            updates.len() - 1
                        });
                        updates[place].1 += 1.0;
                        updates[place].2 += node.weight;
                        let b = self.baseline_of(*addr, node.weight);
                        objective.add(&logq.scale(node.weight - b).sub(logp).scale(*multiplier))
                    }
                    Kind::Factor { score, multiplier } => objective.sub(&score.scale(*multiplier)),
                    _ => objective,
                };
            }
            accumulate(&mut total, &gradients(world, &objective));
        }
        scale(&mut total, 1.0 / self.samples as f64);
        if let Some(decay) = self.baseline {
            for (addr, n, sum) in updates {
                let mean = sum / n;
                self.baselines.entry(addr).and_modify(|b| *b = decay * *b + (1.0 - decay) * mean).or_insert(mean);
            }
        }
        Ok((total, elbo / self.samples as f64))
    }

    fn baseline_of(&self, addr: u64, weight: f64) -> f64 {
        if self.baseline.is_none() { 0.0 } else { self.baselines.get(&addr).copied().unwrap_or(weight * 0.99) }
    }
}

/// The gradient of an objective for the parameters that the execution has met.
pub fn gradients(world: &World, objective: &Num) -> Gradients {
    let adjoints = match objective {
        Num::Ad(ad) => Some(ad.tape.backward(ad.index)),
        Num::Plain(_) => None,
    };
    let mut out = Gradients::new();
    for (place, value) in &world.params.seen {
        let n = world.params.table[*place].1.len();
        let slope = |e: usize| match (&adjoints, value) {
            (Some(a), Value::Ad(ad)) => a.get(ad.index, e),
            _ => 0.0,
        };
        out.insert(*place, (0..n).map(slope).collect());
    }
    out
}

fn finite(score: &Num, whose: &str) -> Run<()> {
    if score.value().is_finite() {
        return Ok(());
    }
    let hint = if score.value().is_nan() { " Reducing the step size may help." } else { "" };
    fail(format!(
        "ELBO: the score of the previous sample under the {whose} program was {}.{hint}",
        crate::format::number(score.value())
    ))
}

impl Execution<'_> {
    fn push(&mut self, kind: Kind, parents: Vec<usize>, weight: f64) -> usize {
        self.nodes.push(Node { kind, parents, weight });
        self.nodes.len() - 1
    }

    fn multiplier(&self) -> f64 {
        self.mappings.last().map_or(1.0, |m| m.multiplier)
    }

    fn run(&mut self, world: &mut World, model: &Model) -> Run<()> {
        self.last = self.push(Kind::Root, Vec::new(), 0.0);
        let mut state = model.start(world)?;
        loop {
            match state.run(world)? {
                Effect::Sample { dist, options, addr } => {
                    let Some(from) = guide::distribution(world, &mut state, &dist, &options, addr, true)? else {
                        return fail("ELBO: no guide distribution to optimize");
                    };
                    let (value, reparam) = draw(world, &from, &options)?;
                    let (logp, logq) = (dist.score(&value)?, from.score(&value)?);
                    finite(&logp, "target")?;
                    finite(&logq, "guide")?;
                    let weight = logq.value() - logp.value();
                    let multiplier = self.multiplier();
                    let kind = Kind::Sample { logp, logq, reparam, addr, multiplier };
                    self.last = self.push(kind, vec![self.last], weight);
                    state.resume(value);
                }
                Effect::Factor { score, result, .. } => {
                    if !score.value().is_finite() {
                        return fail("ELBO: factor score is not finite");
                    }
                    let weight = -score.value();
                    let kind = Kind::Factor { score, multiplier: self.multiplier() };
                    self.last = self.push(kind, vec![self.last], weight);
                    state.resume(result);
                }
                Effect::MapFetch { data, options, addr } => self.fetch(world, &mut state, &data, &options, addr)?,
                Effect::MapEnter => {
                    if let Some(m) = self.mappings.last() {
                        self.last = m.split;
                    }
                    state.resume(Value::Undefined);
                }
                Effect::MapLeave => {
                    if let Some(m) = self.mappings.last_mut() {
                        m.ends.push(self.last);
                    }
                    state.resume(Value::Undefined);
                }
                Effect::MapFinal => {
                    if let Some(m) = self.mappings.pop().filter(|m| !m.ends.is_empty()) {
                        self.last = self.push(Kind::Join, m.ends, 0.0);
                        let end = self.last;
                        if let Kind::Split { join, .. } = &mut self.nodes[m.split].kind {
                            *join = Some(end);
                        }
                    }
                    state.resume(Value::Undefined);
                }
                Effect::Done(_) => return Ok(()),
            }
        }
    }

    /// Chooses the batch of a `mapData`.
    fn fetch(&mut self, world: &mut World, state: &mut State, data: &Rc<Array>, options: &Value, addr: u64) -> Run<()> {
        let n = data.items().len();
        let size = match options {
            Value::Object(o) => o.get("batchSize").and_then(|b| b.as_number()),
            _ => None,
        };
        let size = size.unwrap_or(n as f64);
        if !(size.fract() == 0.0 && size >= n.min(1) as f64 && size <= n as f64) {
            return fail("ELBO: invalid batchSize");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let size = size as usize;
        let indices = self
            .batches
            .entry(addr)
            .or_insert_with(|| (size != n).then(|| Rc::new((0..size).map(|_| world.stream.index_below(n)).collect())))
            .clone();
        let batch = match &indices {
            None => data.clone(),
            Some(ix) => {
                let items = data.items();
                Rc::new(Array::from(ix.iter().map(|i| items[*i].clone()).collect::<Vec<_>>()))
            }
        };
        let kind = Kind::Split { batch: size as f64, n: n as f64, join: None };
        let split = self.push(kind, vec![self.last], 0.0);
        let multiplier = self.multiplier() * n as f64 / (size.max(1)) as f64;
        self.mappings.push(Mapping { split, ends: Vec::new(), multiplier });
        let wanted = indices.is_none();
        fetched(state, Fetched { data: batch, indices, wanted, addr })
    }

    /// Nodes with the weights of everything after them added to theirs.
    fn propagated(self) -> Vec<Node> {
        let mut nodes = self.nodes;
        for i in (1..nodes.len()).rev() {
            if let Kind::Split { batch, n, join } = nodes[i].kind {
                // the whole data instead of the batch; what comes after the end was counted once for each item
                let after = join.map_or(0.0, |j| nodes[j].weight);
                if batch > 0.0 {
                    nodes[i].weight = n / batch * nodes[i].weight - (n - 1.0) * after;
                }
            }
            let (weight, parents) = (nodes[i].weight, nodes[i].parents.clone());
            for p in parents {
                nodes[p].weight += weight;
            }
        }
        nodes
    }
}

/// A draw from the guide, and whether it can be differentiated.
fn draw(world: &mut World, dist: &Dist, options: &Value) -> Run<(Value, bool)> {
    let wanted = match options {
        Value::Object(o) => o.get("reparam").map(|v| crate::coerce::truthy(&v)),
        _ => None,
    };
    if wanted == Some(true) && !dist.can_reparam() {
        return fail(format!("{} does not support reparameterization", dist.family.name()));
    }
    if wanted.unwrap_or(true) && dist.can_reparam() {
        return Ok((dist.sample_reparam(&mut world.stream)?, true));
    }
    Ok((dist.sample(&mut world.stream)?, false))
}
