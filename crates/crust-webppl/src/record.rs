//! What a run computed from its choices, function by function: made by a [`Tape`](crate::tape::Tape) that records.

use std::rc::Rc;

use crate::algebra::{Binary, Unary};
use crate::ast;
use crate::distributions::{Family, scalar};
use crate::error::Run;
use crate::value::Value;

/// A function of up to three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Unary(Unary),
    Binary(Binary),
    Remainder,
    LogAddExp,
    /// The log density of the first number, with two parameters.
    Score(Family),
    /// A comparison, which is a truth value.
    Test(ast::Binary),
}

impl Op {
    pub fn is_test(self) -> bool {
        matches!(self, Self::Test(_))
    }

    /// The value; 0 or 1 for tests.
    #[inline]
    pub fn value(self, [a, b, c]: [f64; 3]) -> f64 {
        match self {
            Self::Binary(Binary::Mul) => a * b,
            Self::Binary(Binary::Add) => a + b,
            Self::Binary(op) => op.value(a, b),
            Self::Score(family) => scalar::value(family, a, b, c),
            Self::Unary(op) => op.value(a),
            Self::Remainder => a % b,
            Self::LogAddExp => log_add_exp(a, b),
            Self::Test(op) => f64::from(u8::from(compare(op, a, b))),
        }
    }

    /// Partial derivatives.
    #[inline]
    pub fn slopes(self, [a, b, c]: [f64; 3], value: f64) -> [f64; 3] {
        match self {
            Self::Binary(op) => {
                let [x, y] = op.slopes(a, b);
                [x, y, 0.0]
            }
            Self::Score(family) => scalar::slopes(family, a, b, c),
            Self::Unary(op) => [op.slope(a, value), 0.0, 0.0],
            Self::Remainder => [1.0, 0.0, 0.0],
            Self::LogAddExp if value == f64::NEG_INFINITY => [0.0; 3],
            Self::LogAddExp => [(a - value).exp(), (b - value).exp(), 0.0],
            Self::Test(_) => [0.0; 3],
        }
    }
}

/// Comparisons of numbers; false for other operators.
pub fn compare(op: ast::Binary, a: f64, b: f64) -> bool {
    match op {
        ast::Binary::Less => a < b,
        ast::Binary::LessEqual => a <= b,
        ast::Binary::Greater => a > b,
        ast::Binary::GreaterEqual => a >= b,
        ast::Binary::Equal | ast::Binary::Identical => a == b,
        ast::Binary::NotEqual | ast::Binary::NotIdentical => a != b,
        _ => false,
    }
}

/// log(exp a + exp b)
pub fn log_add_exp(a: f64, b: f64) -> f64 {
    let m = a.max(b);
    if m == f64::NEG_INFINITY { m } else { m + ((a - m).exp() + (b - m).exp()).ln() }
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    Number(f64),
    Node(u32),
}

/// Where a value comes from.
#[derive(Clone)]
pub enum Input {
    Value(Value),
    Node(u32),
}

/// A function of values: of tensors, mostly.
pub type Function = Rc<dyn Fn(&[Value]) -> Run<Value>>;

pub enum Node {
    /// A choice.
    Leaf,
    Scalar(Op, [Operand; 3]),
    General(Vec<Input>, Function),
}

/// What must stay as it was, so that the program would do the same again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guard {
    /// The value itself.
    Same,
    /// That the number lies between bounds, which are included or not.
    Within { low: f64, high: f64, closed: [bool; 2] },
}

#[derive(Default)]
pub struct Recorder {
    pub nodes: Vec<Node>,
    pub values: Vec<Value>,
    pub guards: Vec<(u32, Guard)>,
}

impl Recorder {
    pub fn guard(&mut self, index: u32, guard: Guard) {
        if self.guards.last() != Some(&(index, guard)) {
            self.guards.push((index, guard));
        }
    }
}
