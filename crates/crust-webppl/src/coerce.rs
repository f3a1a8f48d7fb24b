//! JavaScript's conversions between types, and its two notions of equality.

use std::rc::Rc;

use crate::format;
use crate::value::{Value, Wrapped};

pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Undefined | Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(x) => *x != 0.0 && !x.is_nan(),
        Value::Text(t) => !t.is_empty(),
        Value::Ad(ad) => truthy(ad.read()),
        _ => true,
    }
}

/// `Number(value)`.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::Number(x) => *x,
        Value::Undefined => f64::NAN,
        Value::Null => 0.0,
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Text(t) => parse_number(t),
        Value::Ad(ad) => number(ad.read()),
        Value::Array(_) => parse_number(&text(value)),
        _ => f64::NAN,
    }
}

/// The number that a whole string stands for; an empty one is 0.
pub fn parse_number(text: &str) -> f64 {
    let t = text.trim();
    let radix = |digits: &str, radix: u32| {
        let value = digits
            .chars()
            .try_fold(0.0, |acc: f64, c| c.to_digit(radix).map(|d| acc.mul_add(f64::from(radix), f64::from(d))));
        value.filter(|_| !digits.is_empty()).unwrap_or(f64::NAN)
    };
    match t.get(..2) {
        Some("0x" | "0X") => return radix(&t[2..], 16),
        Some("0b" | "0B") => return radix(&t[2..], 2),
        Some("0o" | "0O") => return radix(&t[2..], 8),
        _ => {}
    }
    match t {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust also reads "inf" and "nan"
        _ if t.contains(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E') => f64::NAN,
        _ => t.parse().unwrap_or(f64::NAN),
    }
}

/// `String(value)`.
pub fn text(value: &Value) -> String {
    match value {
        Value::Undefined => "undefined".into(),
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(x) => format::number(*x),
        Value::Text(t) => t.to_string(),
        Value::Array(a) => {
            let item = |v: &Value| match v {
                Value::Undefined | Value::Null => String::new(),
                v => text(v),
            };
            a.items().iter().map(item).collect::<Vec<_>>().join(",")
        }
        Value::Ad(ad) => text(ad.read()),
        Value::Cell(c) => text(&c.borrow()),
        Value::Object(_) | Value::Query => "[object Object]".into(),
        Value::Wrapped(w) if matches!(**w, Wrapped::Regex { .. }) => format::inspect(value),
        Value::Closure(_) | Value::Native(_) | Value::Wrapped(_) => "function".into(),
        Value::Tensor(_) | Value::Dist(_) => format::inspect(value),
    }
}

/// The 32-bit integer that bit operators work on.
pub fn int32(value: &Value) -> i32 {
    let x = number(value);
    if !x.is_finite() {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "reduced to 32 bits before")]
    let bits = x.trunc().rem_euclid(4_294_967_296.0) as u32;
    bits.cast_signed()
}

pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Undefined => "undefined",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::Text(_) => "string",
        Value::Ad(ad) => type_of(ad.read()),
        v if v.is_function() => "function",
        _ => "object",
    }
}

/// `===`
pub fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) | (Value::Query, Value::Query) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => Rc::ptr_eq(a, b),
        (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
        (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
        (Value::Native(a), Value::Native(b)) => std::ptr::eq(*a, *b),
        (Value::Wrapped(a), Value::Wrapped(b)) => Rc::ptr_eq(a, b),
        (Value::Tensor(a), Value::Tensor(b)) => Rc::ptr_eq(a, b),
        (Value::Dist(a), Value::Dist(b)) => Rc::ptr_eq(a, b),
        (Value::Ad(a), b) => identical(a.read(), &b.primal()),
        (a, Value::Ad(b)) => identical(a, b.read()),
        _ => false,
    }
}

/// `==`
pub fn loosely_equal(a: &Value, b: &Value) -> bool {
    use Value as V;
    let is_object = |v: &V| matches!(v, V::Array(_) | V::Object(_) | V::Tensor(_) | V::Dist(_)) || v.is_function();
    match (a, b) {
        (V::Ad(x), _) => loosely_equal(x.read(), b),
        (_, V::Ad(y)) => loosely_equal(a, y.read()),
        (V::Undefined | V::Null, V::Undefined | V::Null) => true,
        (V::Undefined | V::Null, _) | (_, V::Undefined | V::Null) => false,
        (V::Number(_) | V::Bool(_), V::Text(_) | V::Number(_) | V::Bool(_))
        | (V::Text(_), V::Number(_) | V::Bool(_)) => number(a) == number(b),
        (x, V::Text(t)) if is_object(x) => text(x) == **t,
        (V::Text(t), y) if is_object(y) => text(y) == **t,
        (x, V::Number(_) | V::Bool(_)) if is_object(x) => number(x) == number(b),
        (V::Number(_) | V::Bool(_), y) if is_object(y) => number(a) == number(y),
        _ => identical(a, b),
    }
}

/// Deep equality, as lodash's `isEqual`.
pub fn deep_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::Array(a), Value::Array(b)) => {
            let (a, b) = (a.items(), b.items());
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| deep_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let (a, b) = (a.fields(), b.fields());
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| deep_equal(v, w)))
        }
        (Value::Tensor(a), Value::Tensor(b)) => a == b,
        (Value::Ad(x), b) => deep_equal(x.read(), &b.primal()),
        (a, Value::Ad(y)) => deep_equal(a, y.read()),
        _ => identical(a, b),
    }
}
