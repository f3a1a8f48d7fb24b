//! Functions of numbers and tensors with their reverse-mode derivatives: what `T`, `Math` and distributions are made
//! of.

mod matrices;
mod shapes;

pub use matrices::{cholesky, determinant, dot, inverse, transpose};
pub use shapes::{concat, diagonal, from_scalars, get, length, range, reshape, split, to_scalars};

use std::rc::Rc;

use crate::coerce;
use crate::error::{Run, fail};
use crate::machine::operators::{num_power, power};
use crate::record::Op;
use crate::tape::{Num, Placed, recorded, tensor_of};
use crate::tensor::Tensor;
use crate::value::Value;
use crust_math::special;

/// Elementwise functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Neg,
    Floor,
    Ceil,
    Round,
    Sqrt,
    Exp,
    Log,
    Abs,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Sigmoid,
    LogGamma,
    Relu,
    Log1p,
    Expm1,
    Log2,
    Log10,
    Cbrt,
    Sign,
    Trunc,
}

impl Unary {
    /// The value.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Neg => -x,
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Round => (x + 0.5).floor(),
            Self::Sqrt => x.sqrt(),
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Abs => x.abs(),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tan => x.tan(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
            Self::Sinh => x.sinh(),
            Self::Cosh => x.cosh(),
            Self::Tanh => x.tanh(),
            Self::Asinh => x.asinh(),
            Self::Acosh => x.acosh(),
            Self::Atanh => x.atanh(),
            Self::Sigmoid => special::inv_logit(x),
            Self::LogGamma => special::lgamma(x),
            Self::Relu => x.max(0.0),
            Self::Log1p => x.ln_1p(),
            Self::Expm1 => x.exp_m1(),
            Self::Log2 => x.log2(),
            Self::Log10 => x.log10(),
            Self::Cbrt => x.cbrt(),
            Self::Sign if x == 0.0 || x.is_nan() => x,
            Self::Sign => x.signum(),
            Self::Trunc => x.trunc(),
        }
    }

    /// The derivative at `x`, where the value is `y`.
    pub fn slope(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Neg => -1.0,
            // what WebPPL's differentiation has for steps
            Self::Floor | Self::Ceil | Self::Round | Self::Sign | Self::Trunc => 0.0,
            Self::Sqrt => 0.5 / y,
            Self::Exp => y,
            Self::Log => 1.0 / x,
            Self::Abs => x.signum(),
            Self::Sin => x.cos(),
            Self::Cos => -x.sin(),
            Self::Tan => y.mul_add(y, 1.0),
            Self::Asin => 1.0 / (1.0 - x * x).sqrt(),
            Self::Acos => -1.0 / (1.0 - x * x).sqrt(),
            Self::Atan => 1.0 / x.mul_add(x, 1.0),
            Self::Sinh => x.cosh(),
            Self::Cosh => x.sinh(),
            Self::Tanh => 1.0 - y * y,
            Self::Asinh => 1.0 / x.mul_add(x, 1.0).sqrt(),
            Self::Acosh => 1.0 / (x * x - 1.0).sqrt(),
            Self::Atanh => 1.0 / (1.0 - x * x),
            Self::Sigmoid => y * (1.0 - y),
            Self::LogGamma => special::digamma(x),
            Self::Relu => f64::from(u8::from(x > 0.0)),
            Self::Log1p => 1.0 / (1.0 + x),
            Self::Expm1 => y + 1.0,
            Self::Log2 => 1.0 / (x * std::f64::consts::LN_2),
            Self::Log10 => 1.0 / (x * std::f64::consts::LN_10),
            Self::Cbrt => y / (3.0 * x),
        }
    }

    /// Of a number or tensor.
    pub fn apply(self, value: &Value) -> Run<Value> {
        if is_tensor(value)
            && let Some(out) = recorded(&[value], move |v| self.apply(&v[0]))
        {
            return out;
        }
        if let Some((t, place)) = tensor_of(value) {
            let out = Rc::new(t.map(|x| self.value(x)));
            let Some((tape, index)) = place else { return Ok(Value::Tensor(out)) };
            let (x, y) = (t, out.clone());
            return Ok(tape.general(Value::Tensor(out), move |g, adjoints| {
                for (i, g) in g.iter().enumerate() {
                    adjoints.add(index, i, g * self.slope(x.data[i], y.data[i]));
                }
            }));
        }
        let x = match Num::of(value) {
            Some(x) => x,
            None => Num::Plain(coerce::number(value)),
        };
        let y = self.value(x.raw());
        Ok(match x {
            Num::Plain(_) => Value::Number(y),
            x @ Num::Ad(_) => Num::function(Op::Unary(self), &[&x], y, &[self.slope(x.raw(), y)]).into_value(),
        })
    }
}

/// Elementwise functions of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
    Atan2,
}

impl Binary {
    pub fn value(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Add => x + y,
            Self::Sub => x - y,
            Self::Mul => x * y,
            Self::Div => x / y,
            Self::Pow => power(x, y),
            Self::Min if x.is_nan() || y.is_nan() => f64::NAN,
            Self::Max if x.is_nan() || y.is_nan() => f64::NAN,
            Self::Min => x.min(y),
            Self::Max => x.max(y),
            Self::Atan2 => x.atan2(y),
        }
    }

    pub fn slopes(self, x: f64, y: f64) -> [f64; 2] {
        match self {
            Self::Add => [1.0, 1.0],
            Self::Sub => [1.0, -1.0],
            Self::Mul => [y, x],
            Self::Div => [1.0 / y, -x / (y * y)],
            Self::Pow => {
                [if y == 0.0 { 0.0 } else { y * power(x, y - 1.0) }, if x > 0.0 { power(x, y) * x.ln() } else { 0.0 }]
            }
            Self::Min => {
                if x <= y {
                    [1.0, 0.0]
                } else {
                    [0.0, 1.0]
                }
            }
            Self::Max => {
                if x >= y {
                    [1.0, 0.0]
                } else {
                    [0.0, 1.0]
                }
            }
            Self::Atan2 => {
                let r = x.mul_add(x, y * y);
                [y / r, -x / r]
            }
        }
    }

    /// Of numbers and tensors; a number stands for a tensor of any shape.
    pub fn apply(self, left: &Value, right: &Value) -> Run<Value> {
        if !is_tensor(left) && !is_tensor(right) {
            let num = |v: &Value| Num::of(v).unwrap_or_else(|| Num::Plain(coerce::number(v)));
            let (x, y) = (num(left), num(right));
            if self == Self::Pow {
                return Ok(num_power(&x, &y).into_value());
            }
            let (u, v) = (x.raw(), y.raw());
            return Ok(Num::function(Op::Binary(self), &[&x, &y], self.value(u, v), &self.slopes(u, v)).into_value());
        }
        self.tensors(left, right)
    }

    fn tensors(self, left: &Value, right: &Value) -> Run<Value> {
        if let Some(out) = recorded(&[left, right], move |v| self.tensors(&v[0], &v[1])) {
            return out;
        }
        let (x, px) = operand(left)?;
        let (y, py) = operand(right)?;
        let dims = match (&x.dims[..], &y.dims[..]) {
            ([], d) => d.to_vec(),
            (d, _) => d.to_vec(),
        };
        if !x.dims.is_empty() && !y.dims.is_empty() && x.len() != y.len() {
            return fail(format!("tensors of dims {:?} and {:?} do not fit each other", x.dims, y.dims));
        }
        let n: usize = dims.iter().product();
        let at = move |t: &Tensor, i: usize| if t.dims.is_empty() { t.data[0] } else { t.data[i] };
        let data = (0..n).map(|i| self.value(at(&x, i), at(&y, i))).collect();
        let out = Value::tensor(Tensor::new(dims, data));
        let tape = px.as_ref().or(py.as_ref()).map(|(t, _)| t.clone());
        let Some(tape) = tape else { return Ok(out) };
        let (px, py) = (px.map(|p| p.1), py.map(|p| p.1));
        Ok(tape.general(out, move |g, adjoints| {
            for (i, g) in g.iter().enumerate() {
                let [dx, dy] = self.slopes(at(&x, i), at(&y, i));
                if let Some(p) = px {
                    adjoints.add(p, if x.dims.is_empty() { 0 } else { i }, g * dx);
                }
                if let Some(p) = py {
                    adjoints.add(p, if y.dims.is_empty() { 0 } else { i }, g * dy);
                }
            }
        }))
    }
}

/// Whether a value is a tensor, with derivatives or without.
fn is_tensor(value: &Value) -> bool {
    match value {
        Value::Tensor(_) => true,
        Value::Ad(ad) => matches!(ad.raw(), Value::Tensor(_)),
        _ => false,
    }
}

/// A tensor, or a number as a tensor without dimensions; with its place on a tape.
fn operand(value: &Value) -> Run<Placed> {
    if let Some(t) = tensor_of(value) {
        return Ok(t);
    }
    match value {
        Value::Number(x) => Ok((Rc::new(Tensor::new(Vec::new(), vec![*x])), None)),
        Value::Ad(ad) => match ad.read() {
            Value::Number(x) => Ok((Rc::new(Tensor::new(Vec::new(), vec![*x])), Some((ad.tape.clone(), ad.index)))),
            _ => fail("a tensor or number is expected"),
        },
        other => fail(format!("a tensor or number is expected, not {}", crate::format::inspect(other))),
    }
}

/// The tensor in a value, or an error.
pub fn tensor(value: &Value, what: &str) -> Run<Placed> {
    match tensor_of(value) {
        Some(t) => Ok(t),
        None => fail(format!("{what} expects a tensor but received {}", crate::format::inspect(value))),
    }
}

/// The sum of all elements.
pub fn sum(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| sum(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "sumreduce")?;
    let total = Value::Number(t.data.iter().sum());
    let Some((tape, index)) = place else { return Ok(total) };
    let n = t.len();
    Ok(tape.general(total, move |g, adjoints| (0..n).for_each(|i| adjoints.add(index, i, g[0]))))
}

pub fn softmax(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| softmax(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "softmax")?;
    let max = t.data.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut out = t.map(|x| (x - max).exp());
    let total: f64 = out.data.iter().sum();
    out.data.iter_mut().for_each(|x| *x /= total);
    let out = Rc::new(out);
    let Some((tape, index)) = place else { return Ok(Value::Tensor(out)) };
    let y = out.clone();
    Ok(tape.general(Value::Tensor(out), move |g, adjoints| {
        let inner: f64 = g.iter().zip(&y.data).map(|(g, y)| g * y).sum();
        for (i, g) in g.iter().enumerate() {
            adjoints.add(index, i, y.data[i] * (g - inner));
        }
    }))
}
