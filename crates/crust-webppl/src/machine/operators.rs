//! Operators, with JavaScript's conversions and with derivatives.

use crate::algebra;
use crate::ast::{Binary, Unary};
use crate::coerce::{self, identical, int32, loosely_equal, truthy};
use crate::error::{Run, fail};
use crate::record::{Op, compare};
use crate::tape::Num;
use crate::value::Value;

#[inline]
pub fn binary(op: Binary, left: &Value, right: &Value) -> Run<Value> {
    if let (Value::Number(a), Value::Number(b)) = (left, right) {
        return Ok(numbers(op, *a, *b));
    }
    if matches!(left, Value::Ad(_)) || matches!(right, Value::Ad(_)) {
        return derivatives(op, left, right);
    }
    general(op, left, right)
}

#[inline]
fn numbers(op: Binary, a: f64, b: f64) -> Value {
    match op {
        Binary::Add => Value::Number(a + b),
        Binary::Subtract => Value::Number(a - b),
        Binary::Multiply => Value::Number(a * b),
        Binary::Divide => Value::Number(a / b),
        Binary::Remainder => Value::Number(a % b),
        Binary::Power => Value::Number(power(a, b)),
        Binary::Less => Value::Bool(a < b),
        Binary::LessEqual => Value::Bool(a <= b),
        Binary::Greater => Value::Bool(a > b),
        Binary::GreaterEqual => Value::Bool(a >= b),
        Binary::Equal | Binary::Identical => Value::Bool(a == b),
        Binary::NotEqual | Binary::NotIdentical => Value::Bool(a != b),
        _ => bits(op, &Value::Number(a), &Value::Number(b)),
    }
}

/// `Math.pow`: as IEEE says, except that 1 to an infinite or undefined power is undefined.
pub fn power(a: f64, b: f64) -> f64 {
    if b.is_nan() || (a.abs() == 1.0 && b.is_infinite()) {
        return f64::NAN;
    }
    if b == 2.0 { a * a } else { a.powf(b) }
}

fn bits(op: Binary, left: &Value, right: &Value) -> Value {
    let (a, b) = (int32(left), int32(right));
    let shift = (b & 31).cast_unsigned();
    match op {
        Binary::BitAnd => Value::Number(f64::from(a & b)),
        Binary::BitOr => Value::Number(f64::from(a | b)),
        Binary::BitXor => Value::Number(f64::from(a ^ b)),
        Binary::ShiftLeft => Value::Number(f64::from(a.wrapping_shl(shift))),
        Binary::ShiftRight => Value::Number(f64::from(a >> shift)),
        _ => Value::Number(f64::from(a.cast_unsigned() >> shift)),
    }
}

fn general(op: Binary, left: &Value, right: &Value) -> Run<Value> {
    Ok(match op {
        Binary::Add => {
            let primitive = |v: &Value| matches!(v, Value::Undefined | Value::Null | Value::Bool(_) | Value::Number(_));
            if primitive(left) && primitive(right) {
                Value::Number(coerce::number(left) + coerce::number(right))
            } else {
                let mut text = coerce::text(left);
                text.push_str(&coerce::text(right));
                Value::Text(text.into())
            }
        }
        Binary::Identical => Value::Bool(identical(left, right)),
        Binary::NotIdentical => Value::Bool(!identical(left, right)),
        Binary::Equal => Value::Bool(loosely_equal(left, right)),
        Binary::NotEqual => Value::Bool(!loosely_equal(left, right)),
        Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
            if let (Value::Text(a), Value::Text(b)) = (left, right) {
                let (a, b) = (&**a, &**b);
                return Ok(Value::Bool(match op {
                    Binary::Less => a < b,
                    Binary::LessEqual => a <= b,
                    Binary::Greater => a > b,
                    _ => a >= b,
                }));
            }
            numbers(op, coerce::number(left), coerce::number(right))
        }
        Binary::In => match right {
            Value::Object(o) => Value::Bool(o.fields().get(&coerce::text(left)).is_some()),
            Value::Array(a) => {
                let i = coerce::number(left);
                Value::Bool(i >= 0.0 && i < a.items().len() as f64)
            }
            _ => return fail("the right side of 'in' must be an object or array"),
        },
        Binary::InstanceOf => {
            return fail("'instanceof' is not supported; test with _.isArray, _.isFunction or typeof");
        }
        Binary::BitAnd
        | Binary::BitOr
        | Binary::BitXor
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::ShiftRightZero => bits(op, left, right),
        _ => numbers(op, coerce::number(left), coerce::number(right)),
    })
}

/// At least one side carries derivatives.
fn derivatives(op: Binary, left: &Value, right: &Value) -> Run<Value> {
    let num = |v: &Value| match v {
        Value::Ad(_) => Num::of(v),
        Value::Text(_) | Value::Array(_) | Value::Object(_) => None,
        other => Some(Num::Plain(coerce::number(other))),
    };
    let (Some(a), Some(b)) = (num(left), num(right)) else { return general(op, &left.primal(), &right.primal()) };
    let result = match op {
        Binary::Add => a.add(&b),
        Binary::Subtract => a.sub(&b),
        Binary::Multiply => a.mul(&b),
        Binary::Divide => a.div(&b),
        Binary::Power => num_power(&a, &b),
        Binary::Remainder => Num::function(Op::Remainder, &[&a, &b], a.raw() % b.raw(), &[1.0, 0.0]),
        Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Identical
        | Binary::NotIdentical
            if is_recorded(left) || is_recorded(right) =>
        {
            // JavaScript does not find a number identical to anything else
            let plain = |v: &Value| matches!(v, Value::Number(_) | Value::Ad(_));
            if !plain(left) || !plain(right) {
                return binary(op, &left.primal(), &right.primal());
            }
            let yes = f64::from(u8::from(compare(op, a.raw(), b.raw())));
            Num::function(Op::Test(op), &[&a, &b], yes, &[0.0, 0.0])
        }
        _ => return binary(op, &left.primal(), &right.primal()),
    };
    Ok(result.into_value())
}

fn is_recorded(value: &Value) -> bool {
    matches!(value, Value::Ad(ad) if ad.tape.is_recording())
}

pub fn num_power(a: &Num, b: &Num) -> Num {
    let (x, y) = (a.raw(), b.raw());
    let value = power(x, y);
    let da = if y == 0.0 { 0.0 } else { y * power(x, y - 1.0) };
    let db = if matches!(b, Num::Plain(_)) { 0.0 } else { value * x.ln() };
    Num::function(Op::Binary(algebra::Binary::Pow), &[a, b], value, &[da, db])
}

pub fn unary(op: Unary, value: &Value) -> Run<Value> {
    Ok(match op {
        Unary::Not => Value::Bool(!truthy(value)),
        Unary::Negate => match Num::of(value) {
            Some(Num::Plain(x)) => Value::Number(-x),
            Some(x) => x.scale(-1.0).into_value(),
            None => Value::Number(-coerce::number(value)),
        },
        Unary::Plus => match value {
            Value::Ad(ad) if matches!(ad.raw(), Value::Number(_)) => value.clone(),
            other => Value::Number(coerce::number(other)),
        },
        Unary::BitNot => Value::Number(f64::from(!int32(value))),
        Unary::TypeOf => Value::text(coerce::type_of(value)),
        Unary::Void => Value::Undefined,
    })
}
