//! All nodes of a graph at once: straight-line code in batches of nodes of one kind that do not depend on each other.
//!
//! A batch has the numbers of its nodes side by side, after the numbers of everything that they read, so that it is a
//! loop without decisions. Going back over it the other way adds g · ∂f/∂x to the adjoint of each operand.

use super::{Check, FINITE, GUARD, Graph, Kind, NUMBER, Shape, Update};
use crate::algebra::Binary;
use crate::distributions::{Family, scalar};
use crate::record::Op;

/// The order of computation for a graph of numbers.
pub struct Plan {
    batches: Vec<Batch>,
    /// Operands, batch by batch.
    args: Vec<[u32; 3]>,
    /// Where the number of each place of the graph is here: constants, choices, then batches.
    places: Vec<u32>,
    /// Terms of the log prior and of the factors, in the order of the graph: where they are, and how often they count.
    terms: [Vec<(u32, f64)>; 2],
    constant: [f64; 2],
    finite: Vec<u32>,
    guards: Vec<(u32, Check)>,
    /// Where the choices are that move.
    moving: Vec<u32>,
    pub bounds: Vec<[f64; 2]>,
    pub scales: Vec<f64>,
}

struct Batch {
    op: Op,
    /// Where its numbers begin, and its operands.
    start: usize,
    first: usize,
    len: usize,
}

/// Numbers at a point, and adjoints.
#[derive(Clone, Debug, Default)]
pub struct Work {
    numbers: Vec<f64>,
    adjoints: Vec<f64>,
    sums: [f64; 2],
}

/// Batches must be this long on average: a long chain of dependent nodes is better run one by one.
const SHORTEST: usize = 4;

fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// A number that orders kinds of operations.
fn kind(op: Op) -> String {
    format!("{op:?}")
}

impl Plan {
    /// The plan of a graph whose nodes are all numbers, for the choices that move.
    pub fn new(graph: &Graph, sites: &[usize]) -> Option<Self> {
        let shape = &*graph.shape;
        let (n, all) = (shape.kinds.len(), graph.numbers.len());
        if !shape.general.is_empty() || shape.slots.iter().any(|slot| *slot != NUMBER) {
            return None;
        }
        let mut places = vec![0; all];
        let mut next = 0;
        let mut put = |place: &mut u32| {
            *place = index(next);
            next += 1;
        };
        places[n..].iter_mut().for_each(&mut put);
        let functions: Vec<usize> = (0..n).filter(|&i| matches!(shape.kinds[i], Kind::Scalar(_))).collect();
        places
            .iter_mut()
            .take(n)
            .zip(&shape.kinds)
            .filter(|(_, kind)| matches!(kind, Kind::Leaf))
            .for_each(|(place, _)| put(place));
        let leaves = next;
        let (batches, order) = batches(shape, &functions, leaves)?;
        for (i, node) in order.iter().enumerate() {
            places[*node] = index(leaves + i);
        }
        let args = order.iter().map(|&node| shape.args[node].map(|place| places[place as usize])).collect();
        let terms = [0, 1].map(|which| {
            let count = |node: &u32| shape.terms[*node as usize][which];
            let term = |node: &u32| (places[*node as usize], f64::from(count(node)));
            shape.scored.iter().filter(|node| count(node) > 0).map(term).collect()
        });
        let flagged = |flag: u8| (0..n).filter(move |&i| shape.flags[i] & flag != 0);
        let finite = flagged(FINITE).map(|i| places[i]).collect();
        let guards = shape.guards.iter().filter(|(node, _)| shape.flags[*node as usize] & GUARD != 0);
        let guards = guards.map(|(node, check)| (places[*node as usize], check.clone())).collect();
        let moving = sites.iter().map(|&site| places[graph.leaf(site) as usize]).collect();
        let (bounds, scales) = (graph.bounds(sites), graph.scales(sites));
        let constant = shape.constant;
        Some(Self { batches, args, places, terms, constant, finite, guards, moving, bounds, scales })
    }

    /// Takes the numbers of an execution over.
    pub fn load(&self, graph: &Graph, work: &mut Work) {
        work.numbers.resize(self.places.len(), 0.0);
        work.adjoints.resize(self.places.len(), 0.0);
        for (place, x) in self.places.iter().zip(&graph.numbers) {
            work.numbers[*place as usize] = *x;
        }
        work.sums = graph.sums;
    }

    /// Gives them back.
    pub fn store(&self, graph: &mut Graph, work: &Work) {
        for (x, place) in graph.numbers.iter_mut().zip(&self.places) {
            *x = work.numbers[*place as usize];
        }
        graph.sums = work.sums;
    }

    pub fn positions(&self, work: &Work) -> Vec<f64> {
        self.moving.iter().map(|place| work.numbers[*place as usize]).collect()
    }

    /// Moves choices, and computes everything that depends on them.
    pub fn set(&self, work: &mut Work, positions: &[f64]) -> Update {
        for (place, x) in self.moving.iter().zip(positions) {
            work.numbers[*place as usize] = *x;
        }
        for batch in &self.batches {
            let (done, rest) = work.numbers.split_at_mut(batch.start);
            forward(batch.op, done, &mut rest[..batch.len], &self.args[batch.first..batch.first + batch.len]);
        }
        let numbers = &work.numbers;
        let holds = |(place, check): &(u32, Check)| check.holds_number(numbers[*place as usize]);
        if !self.finite.iter().all(|place| numbers[*place as usize].is_finite()) || !self.guards.iter().all(holds) {
            return Update::Broken;
        }
        let mut lowest = 0.0_f64;
        for (sum, (terms, constant)) in work.sums.iter_mut().zip(self.terms.iter().zip(self.constant)) {
            *sum = constant;
            for (place, count) in terms {
                let x = numbers[*place as usize];
                lowest = lowest.min(x);
                *sum += count * x;
            }
        }
        match work.sums.iter().sum::<f64>() {
            x if x.is_finite() => Update::Done,
            f64::NEG_INFINITY if lowest == f64::NEG_INFINITY => Update::Impossible,
            _ => Update::Broken,
        }
    }

    /// log prior + β · factors
    pub fn total(work: &Work, beta: f64) -> f64 {
        let [prior, factor] = work.sums;
        if beta == 0.0 { prior } else { prior + beta * factor }
    }

    /// ∂ (log prior + β · factors) / ∂ choice for the choices that move.
    pub fn gradient(&self, work: &mut Work, beta: f64, out: &mut Vec<f64>) {
        work.adjoints.fill(0.0);
        for (terms, weight) in self.terms.iter().zip([1.0, beta]) {
            for (place, count) in terms {
                work.adjoints[*place as usize] += count * weight;
            }
        }
        for batch in self.batches.iter().rev() {
            let (done, rest) = work.numbers.split_at(batch.start);
            let (below, own) = work.adjoints.split_at_mut(batch.start);
            let args = &self.args[batch.first..batch.first + batch.len];
            backward(batch.op, done, &rest[..batch.len], below, &own[..batch.len], args);
        }
        out.clear();
        out.extend(self.moving.iter().map(|place| work.adjoints[*place as usize]));
    }
}

/// Nodes by how many functions lie below them, then by kind; nothing if that makes no long loops.
fn batches(shape: &Shape, functions: &[usize], leaves: usize) -> Option<(Vec<Batch>, Vec<usize>)> {
    let n = shape.kinds.len();
    let mut levels = vec![0_u32; n];
    let mut keyed = Vec::with_capacity(functions.len());
    for &node in functions {
        let Kind::Scalar(op) = shape.kinds[node] else { continue };
        let below = shape.args[node].iter().filter(|place| (**place as usize) < n);
        levels[node] = 1 + below.map(|place| levels[*place as usize]).max().unwrap_or(0);
        keyed.push((levels[node], kind(op), node, op));
    }
    keyed.sort_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
    let mut batches: Vec<Batch> = Vec::new();
    let mut last = 0;
    for (i, (level, _, _, op)) in keyed.iter().enumerate() {
        match batches.last_mut() {
            Some(batch) if last == *level && batch.op == *op => batch.len += 1,
            _ => batches.push(Batch { op: *op, start: leaves + i, first: i, len: 1 }),
        }
        last = *level;
    }
    let long = keyed.len() >= SHORTEST * batches.len();
    long.then(|| (batches, keyed.into_iter().map(|(_, _, node, _)| node).collect()))
}

/// Computes the numbers of a batch.
fn forward(op: Op, x: &[f64], out: &mut [f64], args: &[[u32; 3]]) {
    let nodes = out.iter_mut().zip(args);
    let at = |place: u32| x[place as usize];
    match op {
        Op::Binary(Binary::Add) => nodes.for_each(|(out, a)| *out = at(a[0]) + at(a[1])),
        Op::Binary(Binary::Sub) => nodes.for_each(|(out, a)| *out = at(a[0]) - at(a[1])),
        Op::Binary(Binary::Mul) => nodes.for_each(|(out, a)| *out = at(a[0]) * at(a[1])),
        Op::Binary(Binary::Div) => nodes.for_each(|(out, a)| *out = at(a[0]) / at(a[1])),
        Op::Score(Family::Gaussian) => {
            // most of them have the same scale
            let (mut scale, mut log) = (1.0, 0.0);
            nodes.for_each(|(out, a)| {
                let sigma = at(a[2]);
                if sigma != scale {
                    (scale, log) = (sigma, sigma.ln());
                }
                *out = scalar::gaussian_score(at(a[0]), at(a[1]), sigma, log);
            });
        }
        op => nodes.for_each(|(out, a)| *out = op.value(a.map(at))),
    }
}

/// Adds what the adjoints of a batch give to those of its operands. Nodes that nothing depends on give nothing, even
/// where their slopes are infinite.
fn backward(op: Op, x: &[f64], values: &[f64], below: &mut [f64], own: &[f64], args: &[[u32; 3]]) {
    let at = |place: u32| x[place as usize];
    let nodes = own.iter().zip(args).filter(|(g, _)| **g != 0.0);
    match op {
        Op::Binary(Binary::Add) => nodes.for_each(|(g, a)| {
            below[a[0] as usize] += g;
            below[a[1] as usize] += g;
        }),
        Op::Binary(Binary::Sub) => nodes.for_each(|(g, a)| {
            below[a[0] as usize] += g;
            below[a[1] as usize] -= g;
        }),
        Op::Binary(Binary::Mul) => nodes.for_each(|(g, a)| {
            let (left, right) = (at(a[0]), at(a[1]));
            below[a[0] as usize] += g * right;
            below[a[1] as usize] += g * left;
        }),
        Op::Score(Family::Gaussian) => nodes.for_each(|(g, a)| {
            let slopes = scalar::slopes(Family::Gaussian, at(a[0]), at(a[1]), at(a[2]));
            below[a[0] as usize] += g * slopes[0];
            below[a[1] as usize] += g * slopes[1];
            below[a[2] as usize] += g * slopes[2];
        }),
        op => {
            for ((g, a), value) in own.iter().zip(args).zip(values).filter(|((g, _), _)| **g != 0.0) {
                let slopes = op.slopes(a.map(at), *value);
                for (place, slope) in a.iter().zip(slopes) {
                    below[*place as usize] += g * slope;
                }
            }
        }
    }
}
