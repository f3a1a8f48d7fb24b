//! Reverse-mode derivatives: what was computed from what, written down while the program runs.

use std::cell::RefCell;
use std::rc::Rc;

use crate::algebra::{Binary, Unary};
use crate::coerce;
use crate::error::Run;
use crate::record::{Guard, Input, Node, Op, Operand, Recorder, log_add_exp};
use crate::tensor::Tensor;
use crate::value::Value;

/// A number or tensor with its place on a tape.
pub struct Ad {
    value: Value,
    pub index: u32,
    pub tape: Rc<Tape>,
}

impl Ad {
    /// The plain number or tensor, for functions that go on the tape themselves.
    #[inline]
    pub fn raw(&self) -> &Value {
        &self.value
    }

    /// The plain number or tensor, for everything else: a recording notes that something depends on it in a way that is
    /// not written down.
    #[inline]
    pub fn read(&self) -> &Value {
        self.guard(Guard::Same);
        &self.value
    }

    /// Notes what the run depends on, if it is recorded.
    #[inline]
    pub fn guard(&self, guard: Guard) {
        if let Some(recorder) = &self.tape.recorder {
            recorder.borrow_mut().guard(self.index, guard);
        }
    }
}

/// Adjoints of a tensor or a number, as many as it has elements.
pub type Adjoint = Vec<f64>;

type Backward = Box<dyn Fn(&[f64], &mut Adjoints)>;

enum Entry {
    Leaf,
    /// A number that was computed from numbers, with its partial derivatives.
    Unary(u32, f64),
    Binary([(u32, f64); 2]),
    Scalars(Vec<(u32, f64)>),
    /// Anything else: takes the adjoint of the result to those of the operands.
    General(Backward),
}

#[derive(Default)]
pub struct Tape {
    entries: RefCell<Vec<Entry>>,
    /// Functions are written down in place of derivatives.
    recorder: Option<RefCell<Recorder>>,
}

/// Adjoints of everything on a tape.
pub struct Adjoints(Vec<Adjoint>);

impl Adjoints {
    pub fn add(&mut self, index: u32, element: usize, value: f64) {
        let adjoint = &mut self.0[index as usize];
        if adjoint.len() <= element {
            adjoint.resize(element + 1, 0.0);
        }
        adjoint[element] += value;
    }

    /// The adjoint of an element; 0 where nothing depends on it.
    pub fn get(&self, index: u32, element: usize) -> f64 {
        self.0[index as usize].get(element).copied().unwrap_or(0.0)
    }
}

impl Tape {
    /// A tape that writes down functions.
    pub fn recording() -> Rc<Self> {
        Rc::new(Self { recorder: Some(RefCell::default()), ..Self::default() })
    }

    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// What was written down.
    pub fn recorded(&self) -> Recorder {
        self.recorder.as_ref().map(RefCell::take).unwrap_or_default()
    }

    fn note(self: &Rc<Self>, recorder: &RefCell<Recorder>, value: Value, node: Node) -> Value {
        let mut recorder = recorder.borrow_mut();
        let index = u32::try_from(recorder.nodes.len()).unwrap_or(u32::MAX);
        recorder.nodes.push(node);
        recorder.values.push(value.clone());
        Value::Ad(Rc::new(Ad { value, index, tape: self.clone() }))
    }

    fn push(self: &Rc<Self>, value: Value, entry: Entry) -> Value {
        let mut entries = self.entries.borrow_mut();
        let index = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        entries.push(entry);
        Value::Ad(Rc::new(Ad { value, index, tape: self.clone() }))
    }

    /// A variable.
    pub fn lift(self: &Rc<Self>, value: Value) -> Value {
        if let Some(recorder) = &self.recorder {
            return self.note(recorder, value, Node::Leaf);
        }
        self.push(value, Entry::Leaf)
    }

    pub fn scalar(self: &Rc<Self>, value: f64, parents: &[(u32, f64)]) -> Value {
        let entry = match *parents {
            [(a, d)] => Entry::Unary(a, d),
            [a, b] => Entry::Binary([a, b]),
            _ => Entry::Scalars(parents.to_vec()),
        };
        self.push(Value::Number(value), entry)
    }

    pub fn general(self: &Rc<Self>, value: Value, backward: impl Fn(&[f64], &mut Adjoints) + 'static) -> Value {
        self.push(value, Entry::General(Box::new(backward)))
    }

    /// Adjoints of everything that the number at `root` was computed from.
    pub fn backward(&self, root: u32) -> Adjoints {
        self.backward_from(root, vec![1.0])
    }

    /// The same from a given adjoint of the root.
    pub fn backward_from(&self, root: u32, adjoint: Adjoint) -> Adjoints {
        let entries = self.entries.borrow();
        let mut adjoints = Adjoints(vec![Vec::new(); entries.len()]);
        adjoints.0[root as usize] = adjoint;
        for i in (0..=root as usize).rev() {
            if adjoints.0[i].is_empty() {
                continue;
            }
            match &entries[i] {
                Entry::Leaf => {}
                Entry::Unary(a, d) => {
                    let g = adjoints.0[i][0];
                    adjoints.add(*a, 0, g * d);
                }
                Entry::Binary(parents) => {
                    let g = adjoints.0[i][0];
                    for (a, d) in parents {
                        adjoints.add(*a, 0, g * d);
                    }
                }
                Entry::Scalars(parents) => {
                    let g = adjoints.0[i][0];
                    for (a, d) in parents {
                        adjoints.add(*a, 0, g * d);
                    }
                }
                Entry::General(backward) => {
                    let g = std::mem::take(&mut adjoints.0[i]);
                    backward(&g, &mut adjoints);
                    adjoints.0[i] = g;
                }
            }
        }
        adjoints
    }
}

/// A number, possibly with derivatives: what scores are made of.
#[derive(Clone)]
pub enum Num {
    Plain(f64),
    Ad(Rc<Ad>),
}

impl Num {
    /// The number in a value, if it is one.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(x) => Some(Self::Plain(*x)),
            Value::Ad(ad) if matches!(ad.raw(), Value::Number(_)) => Some(Self::Ad(ad.clone())),
            _ => None,
        }
    }

    /// The number, for everything but functions that are on the tape themselves.
    #[inline]
    pub fn value(&self) -> f64 {
        match self {
            Self::Plain(x) => *x,
            Self::Ad(ad) => ad.read().as_number().unwrap_or(f64::NAN),
        }
    }

    /// The number, for functions that are on the tape.
    #[inline]
    pub fn raw(&self) -> f64 {
        match self {
            Self::Plain(x) => *x,
            Self::Ad(ad) => ad.raw().as_number().unwrap_or(f64::NAN),
        }
    }

    pub fn into_value(self) -> Value {
        match self {
            Self::Plain(x) => Value::Number(x),
            Self::Ad(ad) => Value::Ad(ad),
        }
    }

    /// A function of some numbers: its value and partial derivatives.
    pub fn function(op: Op, args: &[&Self], value: f64, partials: &[f64]) -> Self {
        let recording = args.iter().find_map(|arg| match arg {
            Self::Ad(ad) => ad.tape.recorder.as_ref().map(|recorder| (&ad.tape, recorder)),
            Self::Plain(_) => None,
        });
        if let Some((tape, recorder)) = recording {
            let operand = |arg: &&Self| match arg {
                Self::Plain(x) => Operand::Number(*x),
                Self::Ad(ad) => Operand::Node(ad.index),
            };
            let mut operands = [Operand::Number(0.0); 3];
            operands.iter_mut().zip(args).for_each(|(to, arg)| *to = operand(arg));
            let value = if op.is_test() { Value::Bool(value != 0.0) } else { Value::Number(value) };
            return match tape.note(recorder, value, Node::Scalar(op, operands)) {
                Value::Ad(ad) => Self::Ad(ad),
                other => Self::Plain(coerce::number(&other)),
            };
        }
        let mut tape = None;
        let mut parents: [(u32, f64); 4] = [(0, 0.0); 4];
        let mut many = Vec::new();
        let mut count = 0;
        for (arg, d) in args.iter().zip(partials) {
            if let Self::Ad(ad) = arg {
                tape = Some(&ad.tape);
                if count < 4 {
                    parents[count] = (ad.index, *d);
                } else {
                    if many.is_empty() {
                        many.extend_from_slice(&parents);
                    }
                    many.push((ad.index, *d));
                }
                count += 1;
            }
        }
        let Some(tape) = tape else { return Self::Plain(value) };
        let value = if many.is_empty() { tape.scalar(value, &parents[..count]) } else { tape.scalar(value, &many) };
        match value {
            Value::Ad(ad) => Self::Ad(ad),
            other => Self::Plain(other.as_number().unwrap_or(f64::NAN)),
        }
    }

    pub fn add(&self, other: &Self) -> Self {
        if let (Self::Plain(a), Self::Plain(b)) = (self, other) {
            return Self::Plain(a + b);
        }
        Self::function(Op::Binary(Binary::Add), &[self, other], self.raw() + other.raw(), &[1.0, 1.0])
    }

    pub fn sub(&self, other: &Self) -> Self {
        if let (Self::Plain(a), Self::Plain(b)) = (self, other) {
            return Self::Plain(a - b);
        }
        Self::function(Op::Binary(Binary::Sub), &[self, other], self.raw() - other.raw(), &[1.0, -1.0])
    }

    pub fn mul(&self, other: &Self) -> Self {
        let (a, b) = (self.raw(), other.raw());
        Self::function(Op::Binary(Binary::Mul), &[self, other], a * b, &[b, a])
    }

    pub fn scale(&self, factor: f64) -> Self {
        self.mul(&Self::Plain(factor))
    }

    pub fn div(&self, other: &Self) -> Self {
        let (a, b) = (self.raw(), other.raw());
        Self::function(Op::Binary(Binary::Div), &[self, other], a / b, &[1.0 / b, -a / (b * b)])
    }

    pub fn ln(&self) -> Self {
        let x = self.raw();
        Self::function(Op::Unary(Unary::Log), &[self], x.ln(), &[1.0 / x])
    }

    pub fn exp(&self) -> Self {
        let y = self.raw().exp();
        Self::function(Op::Unary(Unary::Exp), &[self], y, &[y])
    }

    /// log(exp a + exp b)
    pub fn log_add_exp(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Plain(f64::NEG_INFINITY), _) => return other.clone(),
            (_, Self::Plain(f64::NEG_INFINITY)) => return self.clone(),
            _ => {}
        }
        let (a, b) = (self.raw(), other.raw());
        let value = log_add_exp(a, b);
        Self::function(Op::LogAddExp, &[self, other], value, &Op::LogAddExp.slopes([a, b, 0.0], value)[..2])
    }
}

/// A tensor with its place on a tape, if it has one.
pub type Placed = (Rc<Tensor>, Option<(Rc<Tape>, u32)>);

pub fn tensor_of(value: &Value) -> Option<Placed> {
    match value {
        Value::Tensor(t) => Some((t.clone(), None)),
        // that a number is no tensor does not depend on the number
        Value::Ad(ad) if matches!(ad.raw(), Value::Tensor(_)) => match ad.read() {
            Value::Tensor(t) => Some((t.clone(), Some((ad.tape.clone(), ad.index)))),
            _ => None,
        },
        _ => None,
    }
}

/// A function of some values, if one of them is on a tape that writes functions down.
pub fn recorded(args: &[&Value], function: impl Fn(&[Value]) -> Run<Value> + 'static) -> Option<Run<Value>> {
    let ad = args.iter().find_map(|arg| match arg {
        Value::Ad(ad) if ad.tape.recorder.is_some() => Some(ad),
        _ => None,
    })?;
    let plain: Vec<Value> = args
        .iter()
        .map(|arg| match arg {
            Value::Ad(ad) => ad.raw().clone(),
            other => (*other).clone(),
        })
        .collect();
    let operand = |arg: &&Value| match arg {
        Value::Ad(ad) => Input::Node(ad.index),
        other => Input::Value((*other).clone()),
    };
    let inputs = args.iter().map(operand).collect();
    Some(function(&plain).map(|value| {
        let node = Node::General(inputs, Rc::new(function));
        match &ad.tape.recorder {
            Some(recorder) => ad.tape.note(recorder, value, node),
            None => value,
        }
    }))
}
