//! Reverse-mode derivatives: what was computed from what, written down while the program runs.

use std::cell::RefCell;
use std::rc::Rc;

use crate::tensor::Tensor;
use crate::value::Value;

/// A number or tensor with its place on a tape.
pub struct Ad {
    /// The plain number or tensor.
    pub value: Value,
    pub index: u32,
    pub tape: Rc<Tape>,
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
pub struct Tape(RefCell<Vec<Entry>>);

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
    fn push(self: &Rc<Self>, value: Value, entry: Entry) -> Value {
        let mut entries = self.0.borrow_mut();
        let index = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        entries.push(entry);
        Value::Ad(Rc::new(Ad { value, index, tape: self.clone() }))
    }

    /// A variable.
    pub fn lift(self: &Rc<Self>, value: Value) -> Value {
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
        let entries = self.0.borrow();
        let mut adjoints = Adjoints(vec![Vec::new(); entries.len()]);
        adjoints.0[root as usize] = vec![1.0];
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
            Value::Ad(ad) if matches!(ad.value, Value::Number(_)) => Some(Self::Ad(ad.clone())),
            _ => None,
        }
    }

    #[inline]
    pub fn value(&self) -> f64 {
        match self {
            Self::Plain(x) => *x,
            Self::Ad(ad) => ad.value.as_number().unwrap_or(f64::NAN),
        }
    }

    pub fn into_value(self) -> Value {
        match self {
            Self::Plain(x) => Value::Number(x),
            Self::Ad(ad) => Value::Ad(ad),
        }
    }

    /// A function of some numbers: its value and partial derivatives.
    pub fn function(args: &[&Self], value: f64, partials: &[f64]) -> Self {
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
        Self::function(&[self, other], self.value() + other.value(), &[1.0, 1.0])
    }

    pub fn sub(&self, other: &Self) -> Self {
        if let (Self::Plain(a), Self::Plain(b)) = (self, other) {
            return Self::Plain(a - b);
        }
        Self::function(&[self, other], self.value() - other.value(), &[1.0, -1.0])
    }

    pub fn mul(&self, other: &Self) -> Self {
        let (a, b) = (self.value(), other.value());
        Self::function(&[self, other], a * b, &[b, a])
    }

    pub fn scale(&self, factor: f64) -> Self {
        Self::function(&[self], self.value() * factor, &[factor])
    }

    pub fn div(&self, other: &Self) -> Self {
        let (a, b) = (self.value(), other.value());
        Self::function(&[self, other], a / b, &[1.0 / b, -a / (b * b)])
    }

    pub fn ln(&self) -> Self {
        let x = self.value();
        Self::function(&[self], x.ln(), &[1.0 / x])
    }

    pub fn exp(&self) -> Self {
        let y = self.value().exp();
        Self::function(&[self], y, &[y])
    }

    /// log(exp a + exp b)
    pub fn log_add_exp(&self, other: &Self) -> Self {
        let (a, b) = (self.value(), other.value());
        if a == f64::NEG_INFINITY {
            return other.clone();
        }
        if b == f64::NEG_INFINITY {
            return self.clone();
        }
        let m = a.max(b);
        let value = m + ((a - m).exp() + (b - m).exp()).ln();
        Self::function(&[self, other], value, &[(a - value).exp(), (b - value).exp()])
    }
}

/// A tensor with its place on a tape, if it has one.
pub type Placed = (Rc<Tensor>, Option<(Rc<Tape>, u32)>);

pub fn tensor_of(value: &Value) -> Option<Placed> {
    match value {
        Value::Tensor(t) => Some((t.clone(), None)),
        Value::Ad(ad) => match &ad.value {
            Value::Tensor(t) => Some((t.clone(), Some((ad.tape.clone(), ad.index)))),
            _ => None,
        },
        _ => None,
    }
}
