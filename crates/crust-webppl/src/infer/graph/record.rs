//! Runs a program with a tape that writes down what it computes.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::{Check, FINITE, GUARD, General, Graph, Guard, Kind, NUMBER, Params, Shape, Site, TERM};
use crate::coerce;
use crate::distributions::{Dist, Parts};
use crate::error::Run;
use crate::infer::Model;
use crate::infer::trace::{Choice, DataMode, Trace};
use crate::machine::Effect;
use crate::record::{Input, Node, Operand, Recorder};
use crate::tape::{Num, Tape};
use crate::value::Value;
use crate::world::{Context, World};

/// Graphs with more nodes than this are not made.
const MOST_NODES: usize = 20_000_000;

/// A run with what is known of its terms.
struct Recording {
    prior: Vec<Num>,
    factors: Vec<Num>,
    sites: Vec<(Option<u32>, Num, Rc<Dist>)>,
    result: Value,
}

/// The graph of an execution; nothing if the program does something that a graph cannot stand for.
pub fn record(world: &mut World, model: &Model, trace: &Trace) -> Run<Option<Graph>> {
    let saved = world.context.clone();
    let (stream, printed, ids) = (world.stream.clone(), world.printed.len(), world.ids);
    world.context = Context { observe_hook: saved.observe_hook, recording: true, ..Context::default() };
    world.spoiled = false;
    let tape = Tape::recording();
    let recording = run(world, model, trace, &tape);
    world.context = saved;
    let untouched = world.stream == stream && world.printed.len() == printed && world.ids == ids && !world.spoiled;
    world.stream = stream;
    // a native function that does not know of tapes may fail here: the program itself does not
    let Ok(Some(recording)) = recording else {
        world.printed.truncate(printed);
        return Ok(None);
    };
    if !untouched {
        world.printed.truncate(printed);
        return Ok(None);
    }
    let Some(graph) = assemble(recording, tape.recorded()) else { return Ok(None) };
    Ok(is_faithful(&graph, trace).then_some(graph))
}

/// Whether the graph says the same as the execution that it was made from.
fn is_faithful(graph: &Graph, trace: &Trace) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
    let same = graph.result().is_ok_and(|value| match &trace.run_value {
        Some(old) => coerce::deep_equal(&value, old) || !crate::infer::fast::is_data(old),
        None => false,
    });
    near(graph.sums[0], trace.scores.prior) && near(graph.sums[1], trace.scores.factor) && same
}

/// Whether a choice can be changed in a graph.
pub fn is_tracked(choice: &Choice) -> bool {
    let plain = matches!(&choice.options, Value::Undefined);
    let known = match (&choice.dist.parts, &choice.value) {
        (Parts::None, Value::Number(_)) => choice.dist.is_continuous(),
        (Parts::Tensors(..), Value::Tensor(_)) => choice.dist.is_continuous(),
        _ => false,
    };
    plain && known
}

fn run(world: &mut World, model: &Model, trace: &Trace, tape: &Rc<Tape>) -> Run<Option<Recording>> {
    let mut state = model.start(world)?;
    let mut all = Recording { prior: vec![], factors: vec![], sites: vec![], result: Value::Undefined };
    let mut choices = trace.choices.iter();
    let mut observed = 0;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, addr, .. } => {
                let Some(choice) = choices.next().filter(|choice| choice.addr == addr) else { return Ok(None) };
                let value = if is_tracked(choice) { tape.lift(choice.value.clone()) } else { choice.value.clone() };
                let score = dist.score(&value)?;
                all.prior.push(score.clone());
                let leaf = if let Value::Ad(ad) = &value { Some(ad.index) } else { None };
                all.sites.push((leaf, score, dist));
                state.resume(value);
            }
            Effect::Factor { score, result, observed: dist } => {
                let (score, result) = match (dist, &trace.data) {
                    (Some(dist), Some(data)) => {
                        let data = data.borrow();
                        if data.mode != DataMode::Given {
                            return Ok(None);
                        }
                        let value = data.take(&mut observed, &dist)?;
                        (dist.score(&value)?, value)
                    }
                    _ => (score, result),
                };
                all.factors.push(score);
                state.resume(result);
            }
            Effect::Done(value) => {
                all.result = state.result(value);
                return Ok(choices.next().is_none().then_some(all));
            }
            _ => state.resume(Value::Undefined),
        }
    }
}

/// Puts numbers into one list, and finds who reads whom.
fn assemble(recording: Recording, recorder: Recorder) -> Option<Graph> {
    let Recorder { nodes, values, guards } = recorder;
    let n = nodes.len();
    if n > MOST_NODES || holds_hidden(&recording.result) {
        return None;
    }
    let mut numbers: Vec<f64> = values.iter().map(coerce::number).collect();
    let mut objects: Vec<Value> = Vec::new();
    let mut slots = vec![NUMBER; n];
    for (slot, value) in slots.iter_mut().zip(&values) {
        if matches!(value, Value::Tensor(_)) {
            *slot = index(objects.len());
            objects.push(value.clone());
        }
    }
    let mut constant = |x: f64| {
        numbers.push(x);
        index(numbers.len() - 1)
    };
    let zero = constant(0.0);
    let mut shape = Shape {
        kinds: Vec::with_capacity(n),
        args: vec![[zero; 3]; n],
        general: Vec::new(),
        slots,
        flags: vec![0; n],
        terms: vec![[0; 2]; n],
        guards: Vec::new(),
        starts: Vec::new(),
        readers: Vec::new(),
        cones: RefCell::new(vec![None; n]),
        sites: Vec::new(),
        result: recording.result,
        scored: Vec::new(),
        constant: [0.0; 2],
        plan: OnceCell::new(),
    };
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for (i, node) in nodes.into_iter().enumerate() {
        let kind = match node {
            Node::Leaf => Kind::Leaf,
            Node::Scalar(op, operands) => {
                for (arg, operand) in shape.args[i].iter_mut().zip(operands) {
                    *arg = match operand {
                        Operand::Number(x) if x.to_bits() == 0 => zero,
                        Operand::Number(x) => constant(x),
                        Operand::Node(from) => {
                            edges.push((from, index(i)));
                            from
                        }
                    };
                }
                Kind::Scalar(op)
            }
            Node::General(inputs, function) => {
                let from = inputs.iter().filter_map(|input| if let Input::Node(j) = input { Some(*j) } else { None });
                edges.extend(from.map(|j| (j, index(i))));
                shape.general.push(General { inputs, function });
                Kind::General(index(shape.general.len() - 1))
            }
        };
        shape.kinds.push(kind);
    }
    let mut place = |num: &Num| match num {
        Num::Plain(x) => constant(*x),
        Num::Ad(ad) => ad.index,
    };
    for (leaf, score, dist) in &recording.sites {
        let params = match &dist.parts {
            _ if leaf.is_none() => Params::None,
            Parts::None => Params::Scalar(dist.family, [place(&dist.args[0]), place(&dist.args[1])]),
            Parts::Tensors(values, dims) => {
                let input = |value: &Value| match value {
                    Value::Ad(ad) => Input::Node(ad.index),
                    other => Input::Value(other.clone()),
                };
                Params::Tensors(dist.family, values.iter().map(input).collect(), dims.clone())
            }
            _ => Params::None,
        };
        let score = if let Num::Ad(ad) = score { Some(ad.index) } else { None };
        shape.sites.push(Site { leaf: *leaf, score, params, continuous: dist.is_continuous() });
    }
    add_terms(&mut shape, [&recording.prior, &recording.factors]);
    shape.scored = (0..n).filter(|&i| shape.flags[i] & TERM != 0).map(index).collect();
    add_guards(&mut shape, guards, &values);
    link(&mut shape, edges, n);
    let sums = [0.0; 2];
    let (undo, undo_objects, undo_sums, updates) = (Vec::new(), Vec::new(), sums, 0);
    let mut graph = Graph { shape: Rc::new(shape), numbers, objects, sums, undo, undo_objects, undo_sums, updates };
    graph.sum_up();
    Some(graph)
}

fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// Whether nodes are hidden where they are not looked for: in distributions and functions.
fn holds_hidden(value: &Value) -> bool {
    match value {
        Value::Array(a) => a.items().iter().any(holds_hidden),
        Value::Object(o) => o.fields().iter().any(|(_, v)| holds_hidden(v)),
        Value::Dist(d) => d.has_derivatives(),
        Value::Closure(_) | Value::Wrapped(_) | Value::Cell(_) | Value::Query => true,
        _ => false,
    }
}

/// Notes which nodes are terms of the log prior and of the factors; numbers are added up.
fn add_terms(shape: &mut Shape, terms: [&[Num]; 2]) {
    for (which, terms) in terms.into_iter().enumerate() {
        for term in terms {
            match term {
                Num::Plain(x) => shape.constant[which] += x,
                Num::Ad(ad) => {
                    shape.terms[ad.index as usize][which] += 1;
                    shape.flags[ad.index as usize] |= TERM;
                }
            }
        }
    }
}

fn add_guards(shape: &mut Shape, guards: Vec<(u32, Guard)>, values: &[Value]) {
    for (node, guard) in guards {
        let check = match guard {
            Guard::Within { low, high, .. } if low == f64::NEG_INFINITY && high == f64::INFINITY => {
                shape.flags[node as usize] |= FINITE;
                continue;
            }
            Guard::Within { low, high, closed } => Check::Within { low, high, closed },
            Guard::Same if shape.slots[node as usize] == NUMBER => {
                Check::Number(coerce::number(&values[node as usize]))
            }
            Guard::Same => Check::Value(values[node as usize].clone()),
        };
        shape.flags[node as usize] |= GUARD;
        shape.guards.push((node, check));
    }
    shape.guards.sort_by_key(|(node, _)| *node);
    shape.guards.dedup_by(|(i, a), (j, b)| i == j && same(a, b));
}

fn same(a: &Check, b: &Check) -> bool {
    match (a, b) {
        (Check::Number(_), Check::Number(_)) | (Check::Value(_), Check::Value(_)) => true,
        (Check::Within { low, high, closed }, Check::Within { low: l, high: h, closed: c }) => {
            low == l && high == h && closed == c
        }
        _ => false,
    }
}

fn link(shape: &mut Shape, mut edges: Vec<(u32, u32)>, n: usize) {
    edges.sort_unstable();
    edges.dedup();
    shape.starts = vec![0; n + 1];
    for (from, _) in &edges {
        shape.starts[*from as usize + 1] += 1;
    }
    for i in 0..n {
        shape.starts[i + 1] += shape.starts[i];
    }
    shape.readers = edges.into_iter().map(|(_, to)| to).collect();
}
