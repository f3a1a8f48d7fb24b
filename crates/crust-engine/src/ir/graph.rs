//! The graph of a region: operations on single numbers, each result computed once.
//!
//! Building folds what can be folded: operations on constants never get here (the machine computes them), neutral
//! elements vanish, and an operation that is there already is not added again.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crust_math::density::Terms;
use crust_math::functions::elementwise::Unary;
use crust_math::functions::{Shape, VectorDensity, VectorFunction};
use smallvec::SmallVec;

use super::LONGEST;
use super::simple::holds;
use crate::code::{Comparison, Factor};
use crate::flat::Function;
use crate::kernels::arithmetic::Arithmetic;

/// A number: the result of the operation with this index.
pub type Ref = u32;

/// The operand of inputs that are unconstrained numbers: no variable has this slot.
pub const FREE: u32 = u32::MAX;

/// A term of the log density: a number times a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    pub x: Ref,
    pub weight: f64,
    pub factor: Factor,
}

impl Added {
    /// Whether its weight is 1.
    #[allow(clippy::float_cmp, reason = "1 is exact")]
    pub fn plain(&self) -> bool {
        self.weight == 1.0
    }
}

/// What an operation does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A number from data, by its bits.
    Constant(u64),
    /// An element of a value that the machine has computed.
    Input {
        operand: u32,
        element: u32,
    },
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    /// `a b + c`
    MultiplyAdd,
    /// `c − a b`
    MultiplySubtract,
    Unary(u32),
    /// A function of a few numbers with partial derivatives; mostly a log density.
    Function(u32),
    LogSumExp,
    Sum,
    /// The first half of the arguments times the second half.
    Dot,
    /// `a ? b : c`
    Select,
    Compare(Comparison),
    Not,
    And,
    Or,
    /// A function of containers; its results are [`Op::Element`]s.
    Call(u32),
    Element(u32),
    /// A log density of containers.
    Density(u32),
}

impl Op {
    /// Whether derivatives go through it.
    pub fn differentiable(self) -> bool {
        !matches!(self, Self::Compare(_) | Self::Not | Self::And | Self::Or)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub op: Op,
    first: u32,
    count: u32,
}

/// A function of scalars that is called.
#[derive(Clone, Copy, Debug)]
pub struct ScalarCall {
    pub function: Function,
    pub terms: Terms,
}

impl ScalarCall {
    /// Whether this is a normal log density of which anything is wanted.
    pub fn is_normal(&self) -> bool {
        matches!(&self.function, Function::Density(scalar) if scalar.is_normal_density()) && self.terms.keep(0b111)
    }

    pub fn name(&self) -> &'static str {
        match &self.function {
            Function::Density(scalar) | Function::LogOdds(scalar) => scalar.name,
            Function::Binary(function, _) => function.name,
            Function::Ternary(function) => function.name,
        }
    }

    fn same(&self, other: &Self) -> bool {
        let alike = match (&self.function, &other.function) {
            (Function::Density(a), Function::Density(b)) => a.same(b),
            (Function::Binary(a, _), Function::Binary(b, _)) => std::ptr::eq(*a, *b),
            (Function::Ternary(a), Function::Ternary(b)) => std::ptr::eq(*a, *b),
            _ => false,
        };
        alike && self.terms == other.terms
    }
}

/// A function of containers that is called: what it is, and how its arguments are shaped.
#[derive(Clone)]
pub enum ContainerCall {
    Function {
        function: &'static dyn VectorFunction,
        shapes: Vec<Shape>,
        results: usize,
        /// For each argument, whether it depends on parameters.
        varies: Vec<bool>,
    },
    Density {
        density: &'static dyn VectorDensity,
        shapes: Vec<Shape>,
        terms: Terms,
        varies: Vec<bool>,
    },
}

impl ContainerCall {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Function { function, .. } => function.name(),
            Self::Density { density, .. } => density.name(),
        }
    }

    pub fn shapes(&self) -> &[Shape] {
        match self {
            Self::Function { shapes, .. } | Self::Density { shapes, .. } => shapes,
        }
    }

    /// The part of each argument, of room for as many numbers as they have; nothing of those that do not depend on
    /// parameters.
    pub fn slices<'a>(&self, mut room: &'a mut [f64]) -> SmallVec<[&'a mut [f64]; 8]> {
        let (Self::Function { shapes, varies, .. } | Self::Density { shapes, varies, .. }) = self;
        let mut slices = SmallVec::new();
        for (shape, varies) in shapes.iter().zip(varies) {
            let (now, later) = room.split_at_mut(shape.len());
            room = later;
            slices.push(if *varies { now } else { &mut [] });
        }
        slices
    }

    pub fn results(&self) -> usize {
        match self {
            Self::Function { results, .. } => *results,
            Self::Density { .. } => 1,
        }
    }
}

impl std::fmt::Debug for ContainerCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A hash that is quick to compute; keys are few numbers.
#[derive(Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }

    fn write_isize(&mut self, x: isize) {
        self.write_u64(x.cast_unsigned() as u64);
    }
}

type Key = (Op, SmallVec<[Ref; 4]>);

/// Operations in an order in which they can be computed.
#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    arguments: Vec<Ref>,
    pub unaries: Vec<&'static Unary>,
    pub functions: Vec<ScalarCall>,
    pub calls: Vec<ContainerCall>,
    /// Terms of the log density.
    pub adds: Vec<Added>,
    /// Conditions without which the list does not hold.
    pub guards: Vec<Ref>,
    /// Numbers that the machine needs afterwards.
    pub outputs: Vec<Ref>,
    /// Logarithms that are part of a density. Those that the program writes are computed as it says, infinities and all.
    pub own_logs: HashSet<Ref, BuildHasherDefault<Quick>>,
    seen: HashMap<Key, Ref, BuildHasherDefault<Quick>>,
    /// Whether the list is of no use: it has become too long, or never holds.
    pub useless: bool,
    /// It must not become as long as this, if that is given.
    pub limit: Option<usize>,
}

impl Graph {
    pub fn arguments(&self, node: Ref) -> &[Ref] {
        let Node { first, count, .. } = self.nodes[node as usize];
        &self.arguments[first as usize..(first + count) as usize]
    }

    pub fn op(&self, node: Ref) -> Op {
        self.nodes[node as usize].op
    }

    /// How large it is.
    pub fn size(&self) -> usize {
        self.nodes.len() + self.arguments.len()
    }

    /// Lets the list become longer than a statement may make it: for what the machine would do number by number, too.
    pub fn lengthen(&mut self, by: usize) {
        self.limit = self.limit.map(|limit| (limit + by).min(LONGEST));
    }

    /// Adds an operation, or finds it.
    pub fn push(&mut self, op: Op, arguments: &[Ref]) -> Ref {
        // Long lists of arguments are never the same by chance.
        let key = (arguments.len() <= 4).then(|| (op, SmallVec::from_slice(arguments)));
        if let Some(found) = key.as_ref().and_then(|key| self.seen.get(key)) {
            return *found;
        }
        if self.size() >= self.limit.unwrap_or(LONGEST) {
            self.useless = true;
            return 0;
        }
        let first = crate::memory::cast(self.arguments.len());
        self.arguments.extend_from_slice(arguments);
        self.nodes.push(Node { op, first, count: crate::memory::cast(arguments.len()) });
        let node = crate::memory::cast(self.nodes.len() - 1);
        if let Some(key) = key {
            self.seen.insert(key, node);
        }
        node
    }

    /// An element of an operand, which nobody asks for twice: there may be very many, and looking for them takes longer
    /// than all else.
    pub fn input(&mut self, operand: u32, element: u32) -> Ref {
        if self.size() >= self.limit.unwrap_or(LONGEST) {
            self.useless = true;
            return 0;
        }
        let first = crate::memory::cast(self.arguments.len());
        self.nodes.push(Node { op: Op::Input { operand, element }, first, count: 0 });
        crate::memory::cast(self.nodes.len() - 1)
    }

    /// Puts another operation in the place of one.
    pub(super) fn replace(&mut self, node: Ref, op: Op, arguments: &[Ref]) {
        let first = crate::memory::cast(self.arguments.len());
        self.arguments.extend_from_slice(arguments);
        self.nodes[node as usize] = Node { op, first, count: crate::memory::cast(arguments.len()) };
    }

    /// Puts operations in another order, in which `place` says where each one is.
    pub(super) fn rearrange(&mut self, order: &[Ref], place: impl Fn(Ref) -> Ref) {
        self.nodes = order.iter().map(|&node| self.nodes[node as usize]).collect();
        let named = self.arguments.iter_mut().chain(self.adds.iter_mut().map(|term| &mut term.x));
        named.chain(&mut self.guards).chain(&mut self.outputs).for_each(|x| *x = place(*x));
        // Nothing is added any more.
        self.seen.clear();
    }

    pub fn constant(&mut self, x: f64) -> Ref {
        self.push(Op::Constant(x.to_bits()), &[])
    }

    /// The value of a constant.
    pub fn known(&self, node: Ref) -> Option<f64> {
        match self.op(node) {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    #[allow(clippy::float_cmp, reason = "0 and 1 are exact")]
    pub fn arithmetic(&mut self, operator: Arithmetic, a: Ref, b: Ref) -> Ref {
        let (left, right) = (self.known(a), self.known(b));
        match (operator, left, right) {
            (Arithmetic::Add, Some(0.0), _) => b,
            (Arithmetic::Add | Arithmetic::Subtract, _, Some(0.0))
            | (Arithmetic::Multiply | Arithmetic::Divide, _, Some(1.0)) => a,
            (Arithmetic::Multiply, Some(1.0), _) => b,
            (Arithmetic::Subtract, Some(0.0), _) | (Arithmetic::Multiply, Some(-1.0), _) => self.push(Op::Negate, &[b]),
            (Arithmetic::Multiply, _, Some(-1.0)) => self.push(Op::Negate, &[a]),
            (_, Some(x), Some(y)) => self.constant(match operator {
                Arithmetic::Add => x + y,
                Arithmetic::Subtract => x - y,
                Arithmetic::Multiply => x * y,
                Arithmetic::Divide => x / y,
            }),
            (Arithmetic::Add, ..) => self.push(Op::Add, &[a, b]),
            (Arithmetic::Subtract, ..) => self.push(Op::Subtract, &[a, b]),
            (Arithmetic::Multiply, ..) => self.push(Op::Multiply, &[a, b]),
            (Arithmetic::Divide, ..) => self.push(Op::Divide, &[a, b]),
        }
    }

    pub fn negate(&mut self, x: Ref) -> Ref {
        match (self.known(x), self.op(x)) {
            (Some(x), _) => self.constant(-x),
            (None, Op::Negate) => self.arguments(x)[0],
            _ => self.push(Op::Negate, &[x]),
        }
    }

    /// Whether a number is positive wherever it is a number.
    pub fn positive(&self, x: Ref) -> bool {
        let all = |f: &dyn Fn(Ref) -> bool| self.arguments(x).iter().all(|&x| f(x));
        match self.op(x) {
            Op::Constant(bits) => f64::from_bits(bits) > 0.0,
            Op::Unary(index) => matches!(self.unaries[index as usize].name, "exp" | "inv_logit"),
            Op::Add | Op::Multiply | Op::Divide => all(&|x| self.positive(x)),
            _ => false,
        }
    }

    pub fn unary(&mut self, function: &'static Unary, x: Ref) -> Ref {
        if let Some(x) = self.known(x) {
            let mut y = [0.0];
            (function.value)(&[x], &mut y);
            return self.constant(y[0]);
        }
        let found = self.unaries.iter().position(|known| std::ptr::eq(*known, function));
        let index = found.unwrap_or_else(|| {
            self.unaries.push(function);
            self.unaries.len() - 1
        });
        self.push(Op::Unary(crate::memory::cast(index)), &[x])
    }

    pub fn function(&mut self, call: ScalarCall, arguments: &[Ref]) -> Ref {
        let found = self.functions.iter().position(|known| known.same(&call));
        let index = found.unwrap_or_else(|| {
            self.functions.push(call);
            self.functions.len() - 1
        });
        self.push(Op::Function(crate::memory::cast(index)), arguments)
    }

    pub fn sum(&mut self, xs: &[Ref]) -> Ref {
        match xs {
            [] => self.constant(0.0),
            [x] => *x,
            [a, b] => self.arithmetic(Arithmetic::Add, *a, *b),
            _ => self.push(Op::Sum, xs),
        }
    }

    /// `Σ a b`, without the terms in which a constant is 0.
    pub fn dot(&mut self, a: &[Ref], b: &[Ref]) -> Ref {
        if let ([a], [b]) = (a, b) {
            return self.arithmetic(Arithmetic::Multiply, *a, *b);
        }
        let all: SmallVec<[Ref; 16]> = a.iter().chain(b).copied().collect();
        self.push(Op::Dot, &all)
    }

    pub fn log_sum_exp(&mut self, xs: &[Ref]) -> Ref {
        if let [x] = xs { *x } else { self.push(Op::LogSumExp, xs) }
    }

    pub fn compare(&mut self, comparison: Comparison, a: Ref, b: Ref) -> Ref {
        match (self.known(a), self.known(b)) {
            (Some(a), Some(b)) => self.constant(f64::from(comparison.holds(a, b))),
            _ if holds(self, comparison, a, b) => self.constant(1.0),
            _ => self.push(Op::Compare(comparison), &[a, b]),
        }
    }

    pub fn not(&mut self, x: Ref) -> Ref {
        match self.known(x) {
            Some(x) => self.constant(f64::from(x == 0.0)),
            None => self.push(Op::Not, &[x]),
        }
    }

    /// `a && b`, or `a || b`
    pub fn connect(&mut self, either: bool, a: Ref, b: Ref) -> Ref {
        for (one, other) in [(a, b), (b, a)] {
            if let Some(x) = self.known(one) {
                let decided = (x != 0.0) == either;
                return if decided {
                    self.constant(f64::from(either))
                } else if let Some(y) = self.known(other) {
                    self.constant(f64::from(y != 0.0))
                } else {
                    other
                };
            }
        }
        self.push(if either { Op::Or } else { Op::And }, &[a, b])
    }

    pub fn select(&mut self, condition: Ref, a: Ref, b: Ref) -> Ref {
        match self.known(condition) {
            Some(x) if x != 0.0 => a,
            Some(_) => b,
            None if a == b => a,
            None => self.push(Op::Select, &[condition, a, b]),
        }
    }

    /// Calls a function of containers; its results.
    pub fn call(&mut self, call: ContainerCall, arguments: &[Ref]) -> Vec<Ref> {
        let (results, density) = (call.results(), matches!(call, ContainerCall::Density { .. }));
        self.calls.push(call);
        let index = crate::memory::cast(self.calls.len() - 1);
        let op = if density { Op::Density(index) } else { Op::Call(index) };
        let node = self.push(op, arguments);
        if density {
            return vec![node];
        }
        (0..crate::memory::cast(results)).map(|k| self.push(Op::Element(k), &[node])).collect()
    }

    pub fn add(&mut self, x: Ref, factor: Factor) {
        self.add_weighted(x, 1.0, factor);
    }

    /// Adds a number times a weight to the log density.
    pub fn add_weighted(&mut self, x: Ref, weight: f64, factor: Factor) {
        self.adds.push(Added { x, weight, factor });
    }

    /// The list holds only where this is true.
    pub fn guard(&mut self, condition: Ref) {
        match self.known(condition) {
            Some(x) => self.useless |= x == 0.0,
            None => self.guards.push(condition),
        }
    }
}
