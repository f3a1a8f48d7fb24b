//! Log densities as sums of simple terms.
//!
//! `θ ~ beta(a, b)` is `(a − 1) log θ + (b − 1) log(1 − θ)` and a constant. With `θ = logit⁻¹(u)` both logarithms are
//! made of u and `log(1 + e⁻ᵘ)`, which the log Jacobian has as well, so that any number of such terms costs one function.
//! Scales are `exp(u)`, whose logarithm is u. So what small programs spend their time in is mostly gone.
//!
//! A density is written out where its arguments are in its domain by construction, and where that is cheaper than the
//! kernel: its parameters are data, or several observations have them in common, or no logarithm is left.

mod families;
mod known;
mod logarithms;

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use smallvec::SmallVec;

use super::graph::{Graph, Op, Quick, Ref};
use super::passes::live;
use crate::code::Factor;

pub use known::holds;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Numbers with weights.
type Pieces = SmallVec<[(Ref, f64); 6]>;

/// Sums of more numbers stay what they are: neighbours are added up faster.
const SHORT: usize = 16;

/// With more terms than this only densities are taken apart.
const MANY: usize = 300;

/// A part of the log density: numbers times weights.
#[derive(Default)]
struct Total {
    numbers: Vec<(Ref, f64)>,
    places: Map<Ref, usize>,
    constant: f64,
}

impl Total {
    fn add(&mut self, x: Ref, weight: f64) {
        let place = *self.places.entry(x).or_insert(self.numbers.len());
        match self.numbers.get_mut(place) {
            Some((_, sum)) => *sum += weight,
            None => self.numbers.push((x, weight)),
        }
    }
}

/// What tells the normal densities of data with one location and one scale apart: function, location, scale.
type Sample = (u32, Ref, Ref);

struct Writer<'g> {
    graph: &'g mut Graph,
    /// How often operations need a number, besides being a term.
    uses: Vec<u32>,
    /// How many terms there are of a function with the same arguments, data aside.
    company: Map<(u32, SmallVec<[Ref; 4]>), u32>,
    /// How many terms there are of a function with data in the same places.
    kinds: Map<(u32, u32), u32>,
    total: Total,
    samples: Map<Sample, Vec<(f64, f64)>>,
    order: Vec<Sample>,
    /// Densities that were written out.
    written: Vec<Ref>,
    /// What was taken apart.
    dissolved: HashSet<Ref, BuildHasherDefault<Quick>>,
    /// Whether sums are taken apart.
    apart: bool,
    /// Whether densities that are left can be told to leave out a part: they must run at the end.
    at_end: bool,
}

/// Writes terms of the log density as sums of simpler ones.
pub fn simplify(graph: &mut Graph) {
    let mut uses = vec![0; graph.nodes.len()];
    let live = live(graph);
    for node in (0..crate::memory::cast(live.len())).filter(|&node| live[node as usize]) {
        graph.arguments(node).iter().for_each(|&x| uses[x as usize] += 1);
    }
    graph.guards.iter().chain(&graph.outputs).for_each(|&x| uses[x as usize] += 1);
    let added = std::mem::take(&mut graph.adds);
    if added.iter().any(|term| graph.known(term.x).is_some_and(|x| !x.is_finite())) {
        graph.adds = added;
        return;
    }
    let (apart, at_end) = (added.len() <= MANY, graph.outputs.is_empty());
    let mut writer = Writer {
        graph,
        uses,
        company: Map::default(),
        kinds: Map::default(),
        total: Total::default(),
        samples: Map::default(),
        order: Vec::new(),
        written: Vec::new(),
        dissolved: HashSet::default(),
        apart,
        at_end,
    };
    for part in [Factor::Prior, Factor::Likelihood] {
        let own = |f: Factor| (f == Factor::Prior) == (part == Factor::Prior);
        let mut terms = Total::default();
        added.iter().filter(|term| own(term.factor)).for_each(|term| terms.add(term.x, term.weight));
        for &(x, weight) in &terms.numbers {
            writer.term(x, weight);
        }
        writer.densities();
        writer.samples();
        let total = std::mem::take(&mut writer.total);
        let constant = writer.graph.constant(total.constant);
        if total.constant != 0.0 {
            writer.graph.add(constant, part);
        }
        for (x, weight) in total.numbers.into_iter().filter(|(_, weight)| *weight != 0.0) {
            writer.graph.add_weighted(x, weight, part);
        }
    }
    let written = std::mem::take(&mut writer.written);
    forget(graph, &written);
}

/// Densities are computed even if nobody needs them, for their domains. Those that were written out need not be, unless
/// others look at them.
fn forget(graph: &mut Graph, written: &[Ref]) {
    let mut gone = vec![false; graph.nodes.len()];
    written.iter().for_each(|&node| gone[node as usize] = true);
    let mut needed = vec![false; graph.nodes.len()];
    let ends = graph.adds.iter().map(|term| &term.x).chain(&graph.guards).chain(&graph.outputs);
    ends.for_each(|&x| needed[x as usize] = true);
    for node in (0..crate::memory::cast(needed.len())).rev() {
        let stays = matches!(graph.op(node), Op::Function(_) | Op::Density(_)) && !gone[node as usize];
        if needed[node as usize] || stays {
            graph.arguments(node).iter().for_each(|&x| needed[x as usize] = true);
        }
    }
    for &node in written.iter().filter(|&&node| !needed[node as usize]) {
        graph.replace(node, Op::Constant(0), &[]);
    }
}

impl Writer<'_> {
    fn used(&self, x: Ref) -> bool {
        self.uses.get(x as usize).is_some_and(|n| *n > 0)
    }

    /// The arguments of a term that is taken apart are terms now.
    fn gone(&mut self, x: Ref) {
        // Once, however often it is a term.
        if !self.dissolved.insert(x) {
            return;
        }
        for &x in self.graph.arguments(x) {
            if let Some(n) = self.uses.get_mut(x as usize) {
                *n = n.saturating_sub(1);
            }
        }
    }

    /// Counts the terms of each kind.
    fn count(&mut self, terms: &Total) {
        self.company.clear();
        self.kinds.clear();
        for &(x, weight) in &terms.numbers {
            let Op::Function(index) = self.graph.op(x) else { continue };
            *self.kinds.entry((index, self.data(x))).or_default() += 1;
            let own: SmallVec<[Ref; 4]> = self.varying(x);
            *self.company.entry((index, own)).or_default() += if weight > 1.0 { 2 } else { 1 };
        }
    }

    /// Which arguments are data.
    fn data(&self, x: Ref) -> u32 {
        let known = |&x: &Ref| u32::from(self.graph.known(x).is_some());
        self.graph.arguments(x).iter().enumerate().fold(0, |mask, (k, x)| mask | known(x) << k)
    }

    fn varying(&self, x: Ref) -> SmallVec<[Ref; 4]> {
        self.graph.arguments(x).iter().copied().filter(|&x| self.graph.known(x).is_none()).collect()
    }

    /// Whether other terms have the same function and parameters.
    fn has_company(&self, index: u32, x: Ref) -> bool {
        self.company.get(&(index, self.varying(x))).is_some_and(|n| *n > 1)
    }

    /// How many terms there are of the function with data in the same places.
    fn kind(&self, index: u32, x: Ref) -> u32 {
        self.kinds.get(&(index, self.data(x))).copied().unwrap_or(0)
    }

    /// Writes out the densities among the terms, when it is known who needs them.
    fn densities(&mut self) {
        let found = std::mem::take(&mut self.total);
        self.total.constant = found.constant;
        self.count(&found);
        for &(x, weight) in &found.numbers {
            let pieces = match self.graph.op(x) {
                Op::Function(index) if !self.used(x) => self.density(index, x, weight),
                _ => None,
            };
            let Some(pieces) = pieces.filter(|pieces| pieces.iter().all(|(_, by)| by.is_finite())) else {
                self.total.add(x, weight);
                continue;
            };
            self.gone(x);
            self.written.push(x);
            for (piece, by) in pieces {
                self.term(piece, by * weight);
            }
        }
    }

    /// Adds `weight · x`, in as simple terms as there are but for densities.
    fn term(&mut self, x: Ref, weight: f64) {
        let mut open = Pieces::new();
        open.push((x, weight));
        while let Some((x, weight)) = open.pop() {
            if weight == 0.0 {
                continue;
            }
            if let Some(x) = self.graph.known(x) {
                self.total.constant += weight * x;
                continue;
            }
            let pieces = if self.used(x) { None } else { self.pieces(x) };
            match pieces {
                Some(pieces) => {
                    self.gone(x);
                    open.extend(pieces.into_iter().rev().map(|(piece, by)| (piece, by * weight)));
                }
                None => self.total.add(x, weight),
            }
        }
    }

    fn densities_only(&self, xs: &[Ref]) -> bool {
        xs.iter().all(|&x| matches!(self.graph.op(x), Op::Function(_)))
    }

    /// What a number is the sum of.
    fn pieces(&mut self, x: Ref) -> Option<Pieces> {
        let op = self.graph.op(x);
        let arguments: SmallVec<[Ref; 4]> = SmallVec::from_slice(self.graph.arguments(x));
        let known = |x: Ref| self.graph.known(x);
        match (op, &arguments[..]) {
            (Op::Unary(_), &[a]) if self.graph.own_logs.contains(&x) => self.free_log(a, 0),
            (Op::Negate, &[a]) => Some(Pieces::from_slice(&[(a, -1.0)])),
            _ if !self.apart => None,
            (Op::Add, &[a, b]) => Some(Pieces::from_slice(&[(a, 1.0), (b, 1.0)])),
            (Op::Subtract, &[a, b]) => Some(Pieces::from_slice(&[(a, 1.0), (b, -1.0)])),
            (Op::Multiply, &[a, b]) => match (known(a), known(b)) {
                (Some(by), _) => Some(Pieces::from_slice(&[(b, by)])),
                (_, Some(by)) => Some(Pieces::from_slice(&[(a, by)])),
                _ => None,
            },
            (Op::Divide, &[a, b]) => known(b).map(|by| Pieces::from_slice(&[(a, 1.0 / by)])),
            (Op::Sum, xs) if xs.len() <= SHORT || self.densities_only(xs) => {
                Some(xs.iter().map(|&x| (x, 1.0)).collect())
            }
            (Op::Dot, xs) if xs.len() <= 2 * SHORT => {
                let (a, b) = xs.split_at(xs.len() / 2);
                let weighted = |xs: &[Ref], by: &[Ref]| -> Option<Pieces> {
                    xs.iter().zip(by).map(|(&x, &by)| Some((x, known(by)?))).collect()
                };
                weighted(a, b).or_else(|| weighted(b, a))
            }
            _ => None,
        }
        .filter(|pieces| pieces.iter().all(|(_, by)| by.is_finite()))
    }
}
