//! The dependency graph of an execution: what its scores were computed from, so that a change of a choice computes
//! again only what depends on it.
//!
//! A graph is a recording of one run. It stands for all executions that make the same decisions, which its guards
//! check: whatever the run looked at outside of recorded functions must be as it was. Where a guard does not hold, the
//! change is [`Update::Broken`], and the program itself has to be run.

mod gradient;
mod plan;
mod record;
mod state;

pub use gradient::Adjoints;
pub use plan::{Plan, Work};
pub use record::{is_tracked, record};

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::distributions::build::within;
use crate::distributions::{Dist, Family, NONE, Parts};
use crate::error::Run;
use crate::record::{Function, Guard, Input, Op};
use crate::tape::Num;
use crate::value::Value;

/// What all executions with the same decisions share.
pub struct Shape {
    kinds: Vec<Kind>,
    /// Places of operands in the numbers; constants come after the nodes.
    args: Vec<[u32; 3]>,
    general: Vec<General>,
    /// Where the values of nodes are that are no numbers.
    slots: Vec<u32>,
    /// What else there is to do when the value of a node changes.
    flags: Vec<u8>,
    /// How often a node is a term of the log prior, and of the factors.
    terms: Vec<[u32; 2]>,
    guards: Vec<(u32, Check)>,
    /// Nodes that read a node: `readers[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    readers: Vec<u32>,
    /// All nodes that depend on a choice, in order; filled in when it is first changed.
    cones: RefCell<Vec<Option<Rc<[u32]>>>>,
    pub sites: Vec<Site>,
    /// The value of the execution, with nodes in it.
    result: Value,
    /// Nodes that are terms.
    scored: Vec<u32>,
    constant: [f64; 2],
    /// How all nodes are computed at once; made when it is first asked for.
    plan: OnceCell<Option<Rc<Plan>>>,
}

const TERM: u8 = 1;
const GUARD: u8 = 2;
/// The number must be finite.
const FINITE: u8 = 4;
/// The place of nodes that are numbers in the list of other values.
const NUMBER: u32 = u32::MAX;

#[derive(Clone, Copy)]
enum Kind {
    Leaf,
    Scalar(Op),
    /// A place in `general`.
    General(u32),
}

struct General {
    inputs: Vec<Input>,
    function: Function,
}

#[derive(Clone)]
enum Check {
    Number(f64),
    Value(Value),
    Within { low: f64, high: f64, closed: [bool; 2] },
}

/// A choice of the execution.
pub struct Site {
    /// Its node; nothing for choices that only the program itself can change.
    pub leaf: Option<u32>,
    /// The node of its score.
    score: Option<u32>,
    params: Params,
    pub continuous: bool,
}

enum Params {
    None,
    Scalar(Family, [u32; 2]),
    Tensors(Family, Vec<Input>, Vec<usize>),
}

/// An execution: numbers and values of all nodes.
#[derive(Clone)]
pub struct Graph {
    pub shape: Rc<Shape>,
    numbers: Vec<f64>,
    objects: Vec<Value>,
    /// Log prior and factors.
    pub sums: [f64; 2],
    undo: Vec<(u32, f64)>,
    undo_objects: Vec<(u32, Value)>,
    undo_sums: [f64; 2],
    updates: u32,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Done,
    /// The program would go another way, or fail.
    Broken,
    /// A point without density.
    Impossible,
}

impl Shape {
    /// Everything that depends on a node, in order.
    fn cone(&self, leaf: u32) -> Rc<[u32]> {
        if let Some(cone) = &self.cones.borrow()[leaf as usize] {
            return cone.clone();
        }
        let mut seen = vec![false; self.kinds.len()];
        let (mut open, mut cone) = (vec![leaf], Vec::new());
        while let Some(i) = open.pop() {
            for &reader in &self.readers[self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize] {
                if !std::mem::replace(&mut seen[reader as usize], true) {
                    cone.push(reader);
                    open.push(reader);
                }
            }
        }
        cone.sort_unstable();
        let cone: Rc<[u32]> = cone.into();
        self.cones.borrow_mut()[leaf as usize] = Some(cone.clone());
        cone
    }
}

impl Check {
    /// Whether a number is as it must be.
    #[inline]
    fn holds_number(&self, x: f64) -> bool {
        match self {
            Self::Number(y) => x.to_bits() == y.to_bits(),
            Self::Within { low, high, closed } => within(x, *low, *high, *closed),
            Self::Value(_) => false,
        }
    }
}

impl Graph {
    /// The plan for moving all these choices, if there is one. They are the same whenever it is asked for.
    pub fn plan(&self, sites: &[usize]) -> Option<Rc<Plan>> {
        self.shape.plan.get_or_init(|| Plan::new(self, sites).map(Rc::new)).clone()
    }

    /// The distribution of a choice, given the others.
    pub fn dist(&self, site: usize) -> Option<Dist> {
        match &self.shape.sites[site].params {
            Params::None => None,
            Params::Scalar(family, [a, b]) => {
                let num = |i: &u32| Num::Plain(self.numbers[*i as usize]);
                Some(Dist::new(*family, [num(a), num(b)], Parts::None))
            }
            Params::Tensors(family, inputs, dims) => {
                let values = inputs.iter().map(|input| self.input(input)).collect();
                Some(Dist::new(*family, NONE, Parts::Tensors(values, dims.clone())))
            }
        }
    }

    /// The log probability of a choice, given the others.
    pub fn score(&self, site: usize) -> f64 {
        self.shape.sites[site].score.map_or(0.0, |node| self.numbers[node as usize])
    }

    /// The value of a choice.
    pub fn choice(&self, site: usize) -> Option<Value> {
        self.shape.sites[site].leaf.map(|leaf| self.value(leaf))
    }

    /// The value that the program returns.
    pub fn result(&self) -> Run<Value> {
        Ok(self.fill(&self.shape.result))
    }

    /// Changes a choice, and everything that depends on it. [`Graph::undo`] takes the changes since
    /// [`Graph::begin`] back.
    pub fn change(&mut self, site: usize, value: Value) -> Update {
        let Some(leaf) = self.shape.sites[site].leaf else { return Update::Broken };
        let shape = self.shape.clone();
        self.place(leaf, value);
        if !self.holds(&shape, leaf) {
            return Update::Broken;
        }
        for &i in &*shape.cone(leaf) {
            let update = self.compute(&shape, i);
            if update != Update::Done {
                return update;
            }
        }
        // rounding errors of differences must not add up
        self.updates += 1;
        if self.updates.is_multiple_of(4096) {
            self.sum_up();
        }
        Update::Done
    }
}
