//! `Math`, `Number` and `ad.scalar`.

use super::{Body, Native, Plain, arg};
use crate::algebra::{Binary, Unary};
use crate::coerce;
use crate::error::Run;
use crate::value::Value;
use crate::world::World;

pub const CONSTANTS: &[(&str, f64)] = &[
    ("PI", std::f64::consts::PI),
    ("E", std::f64::consts::E),
    ("LN2", std::f64::consts::LN_2),
    ("LN10", std::f64::consts::LN_10),
    ("LOG2E", std::f64::consts::LOG2_E),
    ("LOG10E", std::f64::consts::LOG10_E),
    ("SQRT2", std::f64::consts::SQRT_2),
    ("SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
];

pub const NUMBER_CONSTANTS: &[(&str, f64)] = &[
    ("MAX_VALUE", f64::MAX),
    ("MIN_VALUE", 5e-324),
    ("EPSILON", f64::EPSILON),
    ("MAX_SAFE_INTEGER", 9_007_199_254_740_991.0),
    ("MIN_SAFE_INTEGER", -9_007_199_254_740_991.0),
    ("POSITIVE_INFINITY", f64::INFINITY),
    ("NEGATIVE_INFINITY", f64::NEG_INFINITY),
    ("NaN", f64::NAN),
];

/// Elementwise functions by name, for `Math`, `T` and `ad.scalar`.
pub const UNARY: &[(&str, Unary)] = &[
    ("neg", Unary::Neg),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("round", Unary::Round),
    ("sqrt", Unary::Sqrt),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("abs", Unary::Abs),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("tanh", Unary::Tanh),
    ("asinh", Unary::Asinh),
    ("acosh", Unary::Acosh),
    ("atanh", Unary::Atanh),
    ("sigmoid", Unary::Sigmoid),
    ("logGamma", Unary::LogGamma),
    ("log1p", Unary::Log1p),
    ("expm1", Unary::Expm1),
    ("log2", Unary::Log2),
    ("log10", Unary::Log10),
    ("cbrt", Unary::Cbrt),
    ("sign", Unary::Sign),
    ("trunc", Unary::Trunc),
];

pub const BINARY: &[(&str, Binary)] = &[
    ("add", Binary::Add),
    ("sub", Binary::Sub),
    ("mul", Binary::Mul),
    ("div", Binary::Div),
    ("pow", Binary::Pow),
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("atan2", Binary::Atan2),
];

pub fn elementwise() -> Vec<Native> {
    let unary = UNARY.iter().map(|(name, op)| Native { name, body: Body::Unary(*op) });
    let binary = BINARY.iter().map(|(name, op)| Native { name, body: Body::Binary(*op) });
    unary.chain(binary).collect()
}

pub(super) fn plain(functions: &[(&'static str, Plain)]) -> Vec<Native> {
    functions.iter().map(|(name, run)| Native { name, body: Body::Plain(*run) }).collect()
}

pub fn list() -> Vec<Native> {
    let mut list = plain(&[
        ("max", |_, args| extreme(args, Binary::Max, f64::NEG_INFINITY)),
        ("min", |_, args| extreme(args, Binary::Min, f64::INFINITY)),
        ("random", |world, _| Ok(Value::Number(world.stream.uniform()))),
        ("hypot", |_, args| Ok(Value::Number(args.iter().map(|v| coerce::number(v).powi(2)).sum::<f64>().sqrt()))),
    ]);
    let all = elementwise();
    list.extend(all.into_iter().filter(|n| !matches!(n.name, "max" | "min")));
    list
}

fn extreme(args: &[Value], op: Binary, none: f64) -> Run<Value> {
    let mut best = Value::Number(none);
    for v in args {
        best = op.apply(v, &best)?;
    }
    Ok(best)
}

pub fn scalar_list() -> Vec<Native> {
    let mut list = elementwise();
    list.extend(plain(&[("sum", |_, args| {
        let items = match args {
            [Value::Array(a)] => a.items().clone(),
            args => args.to_vec(),
        };
        items.iter().try_fold(Value::Number(0.0), |acc, v| Binary::Add.apply(&acc, v))
    })]));
    list
}

fn is_integer(args: &[Value]) -> bool {
    matches!(args.first(), Some(Value::Number(x)) if x.is_finite() && x.fract() == 0.0)
}

pub fn number_list() -> Vec<Native> {
    plain(&[
        ("isInteger", |_, args| Ok(Value::Bool(is_integer(args)))),
        ("isFinite", |_, args| Ok(Value::Bool(matches!(arg(args, 0), Value::Number(x) if x.is_finite())))),
        ("isNaN", |_, args| Ok(Value::Bool(matches!(arg(args, 0), Value::Number(x) if x.is_nan())))),
        ("parseFloat", parse_float),
        ("parseInt", parse_int),
    ])
}

pub fn parse_float(_: &mut World, args: &[Value]) -> Run<Value> {
    let text = coerce::text(&arg(args, 0));
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    if text[sign..].starts_with("Infinity") {
        return Ok(Value::Number(coerce::parse_number(&text[..sign + 8])));
    }
    // the longest beginning that is a number
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(text.len());
    let value = (1..=end).rev().find_map(|n| text[..n].parse::<f64>().ok());
    Ok(Value::Number(value.unwrap_or(f64::NAN)))
}

pub fn parse_int(_: &mut World, args: &[Value]) -> Run<Value> {
    let text = coerce::text(&arg(args, 0));
    let mut text = text.trim();
    let negative = text.starts_with('-');
    text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut radix = match coerce::int32(&arg(args, 1)) {
        r @ 2..=36 => r.unsigned_abs(),
        _ => 10,
    };
    if let Some(rest) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        radix = 16;
        text = rest;
    }
    let mut value = None;
    for c in text.chars() {
        match c.to_digit(radix) {
            Some(d) => value = Some(value.unwrap_or(0.0) * f64::from(radix) + f64::from(d)),
            None => break,
        }
    }
    let value = value.unwrap_or(f64::NAN);
    Ok(Value::Number(if negative { -value } else { value }))
}
