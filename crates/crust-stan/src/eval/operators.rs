//! The operators, on every type that has them.

mod matrix;

use super::{Failure, fail};
use crate::ast::{BinaryOp, UnaryOp};
use crate::value::{Cell, Complex, Numbers, Tensor, Value};

pub(super) use matrix::{
    Dense, as_matrix, cholesky, determinant, inverse, multiply, solve_left, transpose, transposed,
};

pub(super) type Answer = Result<Value, Failure>;

/// Where an operand is unknown, so is the result, of the shape that the operands have as far as it is known.
fn unknown(a: &Value, b: &Value) -> Option<Value> {
    let reason = a.reason().or_else(|| b.reason())?;
    let shape = [a, b].into_iter().filter_map(Value::shape).find(|s| !s.ty().is_scalar());
    Some(Value::unavailable(reason.reason.clone(), reason.span, shape))
}

pub(super) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Answer {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => return ints(op, *a, *b),
        (Value::Real(_) | Value::Int(_), Value::Real(_) | Value::Int(_)) => {
            if let (Some(a), Some(b)) = (a.as_real(), b.as_real()) {
                return reals(op, a, b);
            }
        }
        _ => {}
    }
    if let Some(mut unknown) = unknown(a, b) {
        // The shape of a product is not that of a factor.
        let keeps_shape = matches!(
            op,
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::EltMultiply | BinaryOp::EltDivide | BinaryOp::EltPower
        );
        if let (false, Value::Unavailable(u)) = (keeps_shape, &unknown) {
            unknown = Value::unavailable(u.reason.clone(), u.span, None);
        }
        return Ok(unknown);
    }
    match op {
        BinaryOp::Multiply if a.as_tensor().is_some() && b.as_tensor().is_some() => multiply(a, b),
        BinaryOp::Divide if b.as_tensor().is_some() && a.as_tensor().is_some() => matrix::solve_right(a, b),
        BinaryOp::LeftDivide => solve_left(a, b),
        BinaryOp::Equal | BinaryOp::NotEqual => match (a.as_complex(), b.as_complex()) {
            (Some(a), Some(b)) => Ok(Value::flag((a == b) == (op == BinaryOp::Equal))),
            _ => fail("operand-type", "only scalars can be compared"),
        },
        _ => elementwise(op, a, b),
    }
}

fn ints(op: BinaryOp, a: i32, b: i32) -> Answer {
    let checked = |result: Option<i32>| {
        result.map(Value::Int).ok_or_else(|| Failure::Error {
            code: "integer-overflow",
            message: format!("{a} {} {b} does not fit Stan's int, which has 32 bits", op.symbol()),
        })
    };
    match op {
        BinaryOp::Add => checked(a.checked_add(b)),
        BinaryOp::Subtract => checked(a.checked_sub(b)),
        BinaryOp::Multiply | BinaryOp::EltMultiply => checked(a.checked_mul(b)),
        BinaryOp::Divide | BinaryOp::IntDivide | BinaryOp::EltDivide | BinaryOp::Modulo if b == 0 => {
            fail("division-by-zero", format!("{a} {} 0: integers cannot be divided by zero", op.symbol()))
        }
        BinaryOp::Divide | BinaryOp::IntDivide | BinaryOp::EltDivide => checked(a.checked_div(b)),
        BinaryOp::Modulo => checked(a.checked_rem(b)),
        BinaryOp::LeftDivide => fail("operand-type", "`\\` divides by a matrix"),
        BinaryOp::Power | BinaryOp::EltPower => Ok(Value::Real(f64::from(a).powf(f64::from(b)))),
        BinaryOp::Equal => Ok(Value::flag(a == b)),
        BinaryOp::NotEqual => Ok(Value::flag(a != b)),
        BinaryOp::Less => Ok(Value::flag(a < b)),
        BinaryOp::LessEqual => Ok(Value::flag(a <= b)),
        BinaryOp::Greater => Ok(Value::flag(a > b)),
        BinaryOp::GreaterEqual => Ok(Value::flag(a >= b)),
        BinaryOp::And => Ok(Value::flag(a != 0 && b != 0)),
        BinaryOp::Or => Ok(Value::flag(a != 0 || b != 0)),
    }
}

#[expect(clippy::float_cmp, reason = "Stan's == on reals is exact")]
fn reals(op: BinaryOp, a: f64, b: f64) -> Answer {
    Ok(match op {
        BinaryOp::Equal => Value::flag(a == b),
        BinaryOp::NotEqual => Value::flag(a != b),
        BinaryOp::Less => Value::flag(a < b),
        BinaryOp::LessEqual => Value::flag(a <= b),
        BinaryOp::Greater => Value::flag(a > b),
        BinaryOp::GreaterEqual => Value::flag(a >= b),
        BinaryOp::And => Value::flag(a != 0.0 && b != 0.0),
        BinaryOp::Or => Value::flag(a != 0.0 || b != 0.0),
        _ => match arithmetic(op) {
            Some(f) => Value::Real(f(a, b)),
            None => return fail("operand-type", format!("`{}` does not apply to reals", op.symbol())),
        },
    })
}

/// An operator as a function of two reals.
fn arithmetic(op: BinaryOp) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        BinaryOp::Add => |a, b| a + b,
        BinaryOp::Subtract => |a, b| a - b,
        BinaryOp::Multiply | BinaryOp::EltMultiply => |a, b| a * b,
        BinaryOp::Divide | BinaryOp::EltDivide => |a, b| a / b,
        BinaryOp::Power | BinaryOp::EltPower => f64::powf,
        _ => return None,
    })
}

fn elementwise(op: BinaryOp, a: &Value, b: &Value) -> Answer {
    let is_complex = |v: &Value| match v {
        Value::Complex(_) => true,
        other => other.as_tensor().is_some_and(|t| t.cell.is_complex()),
    };
    if is_complex(a) || is_complex(b) {
        let f: fn(Complex, Complex) -> Complex = match op {
            BinaryOp::Add => |a, b| a + b,
            BinaryOp::Subtract => |a, b| a - b,
            BinaryOp::Multiply | BinaryOp::EltMultiply => |a, b| a * b,
            BinaryOp::Divide | BinaryOp::EltDivide => |a, b| a / b,
            _ => return Err(Failure::Lacking(format!("`{}` of complex numbers is not computed yet", op.symbol()))),
        };
        return zip_complex(a, b, f);
    }
    match arithmetic(op) {
        Some(f) => zip(a, b, f),
        None => fail("operand-type", format!("`{}` does not apply here", op.symbol())),
    }
}

/// Applies `f` element by element; a scalar goes with every element of the other operand. Integers become reals.
pub(super) fn zip(a: &Value, b: &Value, f: impl Fn(f64, f64) -> f64) -> Answer {
    match (a, b) {
        (Value::Tensor(x), Value::Tensor(y)) => {
            same_size(x, y)?;
            let numbers = (0..x.numbers.len()).map(|i| f(x.numbers.real(i), y.numbers.real(i))).collect();
            Ok(like(x, numbers))
        }
        (Value::Tensor(x), y) => {
            let y = number(y)?;
            Ok(like(x, (0..x.numbers.len()).map(|i| f(x.numbers.real(i), y)).collect()))
        }
        (x, Value::Tensor(y)) => {
            let x = number(x)?;
            Ok(like(y, (0..y.numbers.len()).map(|i| f(x, y.numbers.real(i))).collect()))
        }
        (x, y) => Ok(Value::Real(f(number(x)?, number(y)?))),
    }
}

fn zip_complex(a: &Value, b: &Value, f: fn(Complex, Complex) -> Complex) -> Answer {
    let pack = |t: &Tensor, numbers: Vec<Complex>| -> Value {
        let flat = numbers.into_iter().flat_map(|z| [z.re, z.im]).collect();
        Tensor::reals(t.array.clone(), t.cell.with_complex(true), flat).into()
    };
    match (a, b) {
        (Value::Tensor(x), Value::Tensor(y)) => {
            same_size(x, y)?;
            Ok(pack(x, complexes(x).into_iter().zip(complexes(y)).map(|(a, b)| f(a, b)).collect()))
        }
        (Value::Tensor(x), y) => match y.as_complex() {
            Some(y) => Ok(pack(x, complexes(x).into_iter().map(|a| f(a, y)).collect())),
            None => fail("operand-type", "a number is expected here"),
        },
        (x, Value::Tensor(y)) => match x.as_complex() {
            Some(x) => Ok(pack(y, complexes(y).into_iter().map(|b| f(x, b)).collect())),
            None => fail("operand-type", "a number is expected here"),
        },
        (x, y) => match (x.as_complex(), y.as_complex()) {
            (Some(x), Some(y)) => Ok(Value::Complex(f(x, y))),
            _ => fail("operand-type", "numbers are expected here"),
        },
    }
}

/// The scalars of a container as complex numbers.
pub(super) fn complexes(t: &Tensor) -> Vec<Complex> {
    let reals = t.numbers.to_reals();
    if t.cell.is_complex() {
        reals.chunks_exact(2).map(|z| Complex { re: z[0], im: z[1] }).collect()
    } else {
        reals.into_iter().map(|re| Complex { re, im: 0.0 }).collect()
    }
}

/// A container of reals of the same size as `t`.
fn like(t: &Tensor, numbers: Vec<f64>) -> Value {
    let cell = if t.cell == Cell::Int { Cell::Real } else { t.cell };
    Tensor::reals(t.array.clone(), cell, numbers).into()
}

fn number(value: &Value) -> Result<f64, Failure> {
    match value.as_real() {
        Some(x) => Ok(x),
        None => fail("operand-type", "a number is expected here"),
    }
}

fn same_size(a: &Tensor, b: &Tensor) -> Result<(), Failure> {
    if a.dims() == b.dims() {
        Ok(())
    } else {
        fail("size-mismatch", format!("the sizes do not match: {} and {}", a.shape(), b.shape()))
    }
}

pub(super) fn unary(op: UnaryOp, value: &Value) -> Answer {
    match (op, value) {
        (UnaryOp::Plus, value) => Ok(value.clone()),
        (UnaryOp::Not, Value::Int(n)) => Ok(Value::flag(*n == 0)),
        (UnaryOp::Not, Value::Real(x)) => Ok(Value::flag(*x == 0.0)),
        (UnaryOp::Minus, Value::Int(n)) => match n.checked_neg() {
            Some(n) => Ok(Value::Int(n)),
            None => fail("integer-overflow", format!("-({n}) does not fit Stan's int, which has 32 bits")),
        },
        (UnaryOp::Minus, Value::Real(x)) => Ok(Value::Real(-x)),
        (UnaryOp::Minus, Value::Complex(z)) => Ok(Value::Complex(Complex { re: -z.re, im: -z.im })),
        (UnaryOp::Minus, Value::Tensor(t)) => {
            let numbers = match &t.numbers {
                Numbers::Real(v) => Numbers::Real(v.iter().map(|x| -x).collect()),
                Numbers::Int(v) => match v.iter().map(|n| n.checked_neg()).collect() {
                    Some(v) => Numbers::Int(v),
                    None => return fail("integer-overflow", "an element does not fit Stan's int, which has 32 bits"),
                },
            };
            Ok(Tensor { array: t.array.clone(), cell: t.cell, numbers }.into())
        }
        (_, Value::Unavailable(_)) => Ok(value.clone()),
        _ => fail("operand-type", format!("`{}` does not apply here", op.symbol())),
    }
}

impl std::ops::Add for Complex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { re: self.re + o.re, im: self.im + o.im }
    }
}

impl std::ops::Sub for Complex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { re: self.re - o.re, im: self.im - o.im }
    }
}

impl std::ops::Mul for Complex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

impl std::ops::Div for Complex {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let norm = o.re * o.re + o.im * o.im;
        Self { re: (self.re * o.re + self.im * o.im) / norm, im: (self.im * o.re - self.re * o.im) / norm }
    }
}
