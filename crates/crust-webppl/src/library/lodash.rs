//! The functions of `_` that WebPPL programs use.

mod collections;

use std::rc::Rc;

use super::globals::spread;
use super::math::plain;
use super::{Native, arg, fields_of, object};
use crate::coerce;
use crate::error::{Run, fail};
use crate::json;
use crate::value::{Text, Value, Wrapped};
use crate::world::World;

fn flag(value: bool) -> Run<Value> {
    Ok(Value::Bool(value))
}

#[expect(clippy::too_many_lines, reason = "a table of functions")]
pub fn list() -> Vec<Native> {
    let mut list = collections::list();
    list.extend(plain(&[
        ("isNumber", |_, args| flag(matches!(arg(args, 0), Value::Number(_)))),
        ("isString", |_, args| flag(matches!(arg(args, 0), Value::Text(_)))),
        ("isBoolean", |_, args| flag(matches!(arg(args, 0), Value::Bool(_)))),
        ("isArray", |_, args| flag(matches!(arg(args, 0), Value::Array(_)))),
        ("isFunction", |_, args| flag(arg(args, 0).is_function())),
        ("isUndefined", |_, args| flag(arg(args, 0).is_undefined())),
        ("isNull", |_, args| flag(matches!(arg(args, 0), Value::Null))),
        ("isNil", |_, args| flag(matches!(arg(args, 0), Value::Null | Value::Undefined))),
        ("isNaN", |_, args| flag(matches!(arg(args, 0), Value::Number(x) if x.is_nan()))),
        ("isFinite", |_, args| flag(matches!(arg(args, 0), Value::Number(x) if x.is_finite()))),
        ("isInteger", |_, args| flag(matches!(arg(args, 0), Value::Number(x) if x.is_finite() && x.fract() == 0.0))),
        ("isObject", |_, args| {
            flag(!matches!(
                arg(args, 0).primal(),
                Value::Undefined | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)
            ))
        }),
        ("isPlainObject", |_, args| flag(matches!(arg(args, 0), Value::Object(_)))),
        ("isEmpty", |_, args| flag(fields_of(&arg(args, 0)).is_empty())),
        ("isEqual", |_, args| flag(coerce::deep_equal(&arg(args, 0), &arg(args, 1)))),
        ("keys", |_, args| {
            Ok(Value::array(fields_of(&arg(args, 0)).into_iter().map(|(k, _)| Value::Text(k)).collect()))
        }),
        ("values", |_, args| Ok(Value::array(fields_of(&arg(args, 0)).into_iter().map(|(_, v)| v).collect()))),
        ("toPairs", to_pairs),
        ("pairs", to_pairs),
        ("fromPairs", from_pairs),
        ("zipObject", zip_object),
        ("object", |world, args| if args.len() > 1 { zip_object(world, args) } else { from_pairs(world, args) }),
        ("has", has),
        ("get", get),
        ("assign", assign),
        ("extend", assign),
        ("merge", merge),
        ("defaults", |_, args| {
            let mut fields = Vec::new();
            for v in args.iter().rev() {
                fields.extend(fields_of(v));
            }
            // earlier objects win, and their keys come first
            let all = object(fields);
            let mut out = fields_of(&arg(args, 0));
            out.extend(fields_of(&all));
            let value = |k: &Text| all_get(&all, k);
            Ok(object(
                out.into_iter()
                    .map(|(k, _)| {
                        let v = value(&k);
                        (k, v)
                    })
                    .collect(),
            ))
        }),
        ("pick", |_, args| {
            let keys = names(&args[args.len().min(1)..]);
            Ok(object(fields_of(&arg(args, 0)).into_iter().filter(|(k, _)| keys.contains(k)).collect()))
        }),
        ("omit", |_, args| {
            let keys = names(&args[args.len().min(1)..]);
            Ok(object(fields_of(&arg(args, 0)).into_iter().filter(|(k, _)| !keys.contains(k)).collect()))
        }),
        ("invert", |_, args| {
            let swap = |(k, v): (Text, Value)| (Text::from(coerce::text(&v)), Value::Text(k));
            Ok(object(fields_of(&arg(args, 0)).into_iter().map(swap).collect()))
        }),
        ("clone", |_, args| Ok(copy(&arg(args, 0), false))),
        ("cloneDeep", |_, args| Ok(copy(&arg(args, 0), true))),
        ("constant", |_, args| {
            let identity = super::native(super::natives(), "_constantly");
            Ok(partial(identity, vec![arg(args, 0)], Some(0)))
        }),
        ("identity", |_, args| Ok(arg(args, 0))),
        ("noop", |_, _| Ok(Value::Undefined)),
        ("partial", |_, args| Ok(partial(arg(args, 0), args.get(1..).unwrap_or_default().to_vec(), None))),
        ("ary", ary),
        ("bindKey", |_, args| {
            let method = Text::from(coerce::text(&arg(args, 1)));
            let first = args.get(2..).unwrap_or_default().to_vec();
            Ok(match &arg(args, 0) {
                Value::Object(o) => partial(o.get(&method).unwrap_or(Value::Undefined), first, None),
                receiver => Value::Wrapped(Rc::new(Wrapped::Bound {
                    receiver: receiver.clone(),
                    method,
                    args: first,
                    limit: None,
                })),
            })
        }),
        ("capitalize", |_, args| {
            let text = coerce::text(&arg(args, 0)).to_lowercase();
            let mut chars = text.chars();
            let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
            Ok(Value::text(&(first + chars.as_str())))
        }),
        ("toUpper", |_, args| Ok(Value::text(&coerce::text(&arg(args, 0)).to_uppercase()))),
        ("toLower", |_, args| Ok(Value::text(&coerce::text(&arg(args, 0)).to_lowercase()))),
        ("toNumber", |_, args| Ok(Value::Number(coerce::number(&arg(args, 0))))),
        ("toString", |_, args| Ok(Value::text(&coerce::text(&arg(args, 0))))),
        ("uniqueId", |world, args| {
            world.ids += 1;
            let prefix = args.first().map(coerce::text).unwrap_or_default();
            Ok(Value::text(&format!("{prefix}{}", world.ids)))
        }),
    ]));
    list
}

fn all_get(all: &Value, key: &str) -> Value {
    match all {
        Value::Object(o) => o.get(key).unwrap_or(Value::Undefined),
        _ => Value::Undefined,
    }
}

fn partial(function: Value, args: Vec<Value>, limit: Option<usize>) -> Value {
    Value::Wrapped(Rc::new(Wrapped::Partial { function, args, limit }))
}

fn ary(_: &mut World, args: &[Value]) -> Run<Value> {
    let n = super::arrays::position(&arg(args, 1), 255, 255);
    Ok(partial(arg(args, 0), Vec::new(), Some(n)))
}

/// Keys given as arguments or arrays.
fn names(args: &[Value]) -> Vec<Text> {
    args.iter().flat_map(spread).map(|v| Text::from(coerce::text(&v))).collect()
}

fn to_pairs(_: &mut World, args: &[Value]) -> Run<Value> {
    let pair = |(k, v)| Value::array(vec![Value::Text(k), v]);
    Ok(Value::array(fields_of(&arg(args, 0)).into_iter().map(pair).collect()))
}

fn from_pairs(_: &mut World, args: &[Value]) -> Run<Value> {
    let mut fields = Vec::new();
    for pair in spread(&arg(args, 0)) {
        let Value::Array(pair) = pair else { return fail("fromPairs expects an array of pairs") };
        let pair = pair.items();
        let key = pair.first().map(coerce::text).unwrap_or_default();
        fields.push((Text::from(key), pair.get(1).cloned().unwrap_or(Value::Undefined)));
    }
    Ok(object(fields))
}

fn zip_object(_: &mut World, args: &[Value]) -> Run<Value> {
    let values = spread(&arg(args, 1));
    let keys = names(&args[..args.len().min(1)]);
    let value = |i: usize| values.get(i).cloned().unwrap_or(Value::Undefined);
    Ok(object(keys.into_iter().enumerate().map(|(i, k)| (k, value(i))).collect()))
}

fn has(_: &mut World, args: &[Value]) -> Run<Value> {
    let key = coerce::text(&arg(args, 1));
    flag(match &arg(args, 0) {
        Value::Object(o) => o.fields().get(&key).is_some(),
        Value::Array(a) => crate::object::array_index(&key).is_some_and(|i| (i as usize) < a.items().len()),
        Value::Dist(d) => match &*key {
            "normalizationConstant" => d.normalization.is_some(),
            "params" => true,
            _ => d.extra.borrow().iter().any(|(k, _)| **k == *key),
        },
        _ => false,
    })
}

fn get(world: &mut World, args: &[Value]) -> Run<Value> {
    let path = match &arg(args, 1) {
        Value::Array(a) => a.items().iter().map(coerce::text).collect::<Vec<_>>(),
        other => coerce::text(other).replace('[', ".").replace(']', "").split('.').map(str::to_owned).collect(),
    };
    let mut value = arg(args, 0);
    for key in path {
        if matches!(value, Value::Undefined | Value::Null) {
            break;
        }
        value = collections::property(world, &value, &key)?;
    }
    Ok(if value.is_undefined() { arg(args, 2) } else { value })
}

/// Sets fields of the first object: the one place, with `push` and its like, where a program can change a value.
pub fn assign(world: &mut World, args: &[Value]) -> Run<Value> {
    world.touched += 1;
    let target = arg(args, 0);
    for source in args.iter().skip(1) {
        for (k, v) in fields_of(source) {
            match &target {
                Value::Object(o) => o.set(k, v),
                Value::Dist(d) => d.extra.borrow_mut().push((k, v)),
                _ => {}
            }
        }
    }
    Ok(target)
}

fn merge(world: &mut World, args: &[Value]) -> Run<Value> {
    fn join(target: &Value, source: &Value) -> Value {
        match (target, source) {
            (Value::Object(t), Value::Object(s)) => {
                for (k, v) in s.fields().ordered() {
                    let old = t.get(&k).unwrap_or(Value::Undefined);
                    t.set(k, join(&old, &v));
                }
                target.clone()
            }
            (_, Value::Undefined) => target.clone(),
            _ => source.clone(),
        }
    }
    world.touched += 1;
    Ok(args.iter().skip(1).fold(arg(args, 0), |target, source| join(&target, source)))
}

fn copy(value: &Value, deep: bool) -> Value {
    let inner = |v: &Value| if deep { copy(v, true) } else { v.clone() };
    match value {
        Value::Array(a) => Value::array(a.items().iter().map(inner).collect()),
        Value::Object(o) => Value::object(o.fields().iter().map(|(k, v)| (k.clone(), inner(v)))),
        other => other.clone(),
    }
}

/// Values without repetitions.
pub(super) fn unique(items: Vec<Value>, keys: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    let key = |v: &Value| match v {
        // objects are the same only if they are the same object
        Value::Object(o) => format!("object {:p}", Rc::as_ptr(o)),
        Value::Array(a) => format!("array {:p}", Rc::as_ptr(a)),
        v => json::key(v),
    };
    items.into_iter().zip(keys).filter(|(_, k)| seen.insert(key(k))).map(|(v, _)| v).collect()
}
