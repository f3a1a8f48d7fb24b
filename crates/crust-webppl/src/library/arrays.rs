//! Methods of arrays.

use std::rc::Rc;

use super::globals::spread;
use super::math::plain;
use super::{Native, arg};
use crate::ast::Binary;
use crate::coerce;
use crate::error::{Run, fail};
use crate::machine::operators;
use crate::value::{Array, Text, Value};
use crate::world::World;

pub const METHODS: &[&str] = &[
    "concat",
    "slice",
    "join",
    "indexOf",
    "lastIndexOf",
    "includes",
    "reverse",
    "push",
    "pop",
    "shift",
    "unshift",
    "map",
    "filter",
    "forEach",
    "every",
    "some",
    "reduce",
    "reduceRight",
    "find",
    "findIndex",
    "sort",
    "toString",
    "fill",
    "flat",
    "keys",
    "splice",
];

pub fn array_list() -> Vec<Native> {
    plain(&[
        ("isArray", |_, args| Ok(Value::Bool(matches!(arg(args, 0), Value::Array(_))))),
        ("of", |_, args| Ok(Value::array(args.to_vec()))),
        ("from", |_, args| Ok(Value::array(super::fields_of(&arg(args, 0)).into_iter().map(|(_, v)| v).collect()))),
    ])
}

/// A position as JavaScript reads it: from the end if negative, within the length.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the length")]
pub fn position(value: &Value, length: usize, default: usize) -> usize {
    if value.is_undefined() {
        return default;
    }
    let x = coerce::number(value).trunc();
    let n = length as f64;
    match x {
        x if x.is_nan() => 0,
        x if x < 0.0 => (n + x).max(0.0) as usize,
        x => x.min(n) as usize,
    }
}

/// Calls a function of an item, its position and the array, as JavaScript's methods do.
fn call(world: &mut World, f: &Value, item: &Value, i: usize, array: &Rc<Array>) -> Run<Value> {
    let args = vec![item.clone(), Value::Number(i as f64), Value::Array(array.clone())];
    world.call_sync(f, args, "a function that JavaScript calls")
}

pub fn method(world: &mut World, array: &Rc<Array>, name: &Text, args: &[Value]) -> Run<Value> {
    let items = || array.items().clone();
    let f = arg(args, 0);
    match &**name {
        "concat" => {
            let mut out = items();
            args.iter().for_each(|v| out.extend(spread(v)));
            Ok(Value::array(out))
        }
        "slice" => {
            let items = array.items();
            let from = position(&f, items.len(), 0);
            let to = position(&arg(args, 1), items.len(), items.len());
            Ok(Value::array(items.get(from..to.max(from)).unwrap_or_default().to_vec()))
        }
        "join" => {
            let separator = if f.is_undefined() { ",".to_owned() } else { coerce::text(&f) };
            let text =
                |v: &Value| if matches!(v, Value::Undefined | Value::Null) { String::new() } else { coerce::text(v) };
            Ok(Value::text(&array.items().iter().map(text).collect::<Vec<_>>().join(&separator)))
        }
        "toString" => Ok(Value::text(&coerce::text(&Value::Array(array.clone())))),
        "indexOf" | "lastIndexOf" | "includes" => {
            let items = array.items();
            let same = |v: &Value| coerce::identical(v, &f);
            let from = position(&arg(args, 1), items.len(), 0);
            let found = match &**name {
                "lastIndexOf" => items.iter().rposition(same),
                _ => items[from..].iter().position(same).map(|i| from + i),
            };
            Ok(match &**name {
                "includes" => Value::Bool(found.is_some()),
                _ => Value::Number(found.map_or(-1.0, |i| i as f64)),
            })
        }
        "reverse" => {
            array.with_mut(world, |v| v.reverse());
            Ok(Value::Array(array.clone()))
        }
        "push" => Ok(Value::Number(array.with_mut(world, |v| {
            v.extend(args.iter().cloned());
            v.len() as f64
        }))),
        "pop" => Ok(array.with_mut(world, Vec::pop).unwrap_or(Value::Undefined)),
        "shift" => Ok(array.with_mut(world, |v| if v.is_empty() { Value::Undefined } else { v.remove(0) })),
        "unshift" => Ok(Value::Number(array.with_mut(world, |v| {
            v.splice(0..0, args.iter().cloned());
            v.len() as f64
        }))),
        "splice" => {
            let n = array.items().len();
            let from = position(&f, n, 0);
            let count = if args.len() < 2 { n - from } else { position(&arg(args, 1), n - from, 0) };
            let new = args.get(2..).unwrap_or_default().to_vec();
            Ok(Value::array(array.with_mut(world, |v| v.splice(from..from + count, new).collect())))
        }
        "fill" => {
            array.with_mut(world, |v| v.fill(f));
            Ok(Value::Array(array.clone()))
        }
        "flat" => Ok(Value::array(array.items().iter().flat_map(spread).collect())),
        "keys" => Ok(Value::numbers((0..array.items().len()).map(|i| i as f64))),
        "map" => {
            let out: Run<Vec<Value>> = items().iter().enumerate().map(|(i, v)| call(world, &f, v, i, array)).collect();
            Ok(Value::array(out?))
        }
        "forEach" => {
            for (i, v) in items().iter().enumerate() {
                call(world, &f, v, i, array)?;
            }
            Ok(Value::Undefined)
        }
        "filter" | "find" | "findIndex" | "every" | "some" => search(world, array, name, &f),
        "reduce" | "reduceRight" => {
            let mut items: Vec<(usize, Value)> = items().into_iter().enumerate().collect();
            if &**name == "reduceRight" {
                items.reverse();
            }
            let mut items = items.into_iter();
            let start = if args.len() > 1 { Some(arg(args, 1)) } else { items.next().map(|(_, v)| v) };
            let Some(mut acc) = start else { return fail("reduce of an empty array without an initial value") };
            for (i, v) in items {
                acc = world.call_sync(&f, vec![acc, v, Value::Number(i as f64)], "a function that JavaScript calls")?;
            }
            Ok(acc)
        }
        "sort" => {
            let sorted = sort(world, items(), &f)?;
            array.with_mut(world, |v| *v = sorted);
            Ok(Value::Array(array.clone()))
        }
        other => fail(format!("arrays have no method '{other}'")),
    }
}

fn search(world: &mut World, array: &Rc<Array>, name: &str, f: &Value) -> Run<Value> {
    let mut kept = Vec::new();
    for (i, v) in array.items().clone().iter().enumerate() {
        let found = coerce::truthy(&call(world, f, v, i, array)?);
        match name {
            "filter" if found => kept.push(v.clone()),
            "find" if found => return Ok(v.clone()),
            "findIndex" if found => return Ok(Value::Number(i as f64)),
            "every" if !found => return Ok(Value::Bool(false)),
            "some" if found => return Ok(Value::Bool(true)),
            _ => {}
        }
    }
    Ok(match name {
        "filter" => Value::array(kept),
        "findIndex" => Value::Number(-1.0),
        "every" => Value::Bool(true),
        "some" => Value::Bool(false),
        _ => Value::Undefined,
    })
}

/// Merge sort with JavaScript's comparison: by text unless a function says otherwise.
pub fn sort(world: &mut World, items: Vec<Value>, compare: &Value) -> Run<Vec<Value>> {
    if items.len() <= 1 {
        return Ok(items);
    }
    let mut left = items;
    let right = left.split_off(left.len() / 2);
    let (left, right) = (sort(world, left, compare)?, sort(world, right, compare)?);
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let after = if compare.is_function() {
            let args = vec![left[i].clone(), right[j].clone()];
            coerce::number(&world.call_sync(compare, args, "a comparison")?) > 0.0
        } else {
            coerce::text(&left[i]) > coerce::text(&right[j])
        };
        if after {
            out.push(right[j].clone());
            j += 1;
        } else {
            out.push(left[i].clone());
            i += 1;
        }
    }
    out.extend_from_slice(&left[i..]);
    out.extend_from_slice(&right[j..]);
    Ok(out)
}

/// Ascending by JavaScript's `<`, keeping ties in order.
pub fn sort_by_key(mut keyed: Vec<(Value, Value)>) -> Run<Vec<Value>> {
    let less = |a: &Value, b: &Value| operators::binary(Binary::Less, a, b).is_ok_and(|v| coerce::truthy(&v));
    keyed.sort_by(|a, b| {
        if less(&a.0, &b.0) {
            std::cmp::Ordering::Less
        } else if less(&b.0, &a.0) {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
    Ok(keyed.into_iter().map(|(_, v)| v).collect())
}
