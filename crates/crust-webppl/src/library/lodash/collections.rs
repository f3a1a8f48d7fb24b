//! Functions of arrays and of functions over them.

use super::super::arrays::{position, sort_by_key};
use super::super::globals::spread;
use super::super::math::plain;
use super::super::{Native, arg, fields_of, object};
use super::unique;
use crate::coerce;
use crate::error::{Run, fail};
use crate::machine::operators;
use crate::value::{Text, Value};
use crate::world::World;

/// `value[key]`
pub fn property(world: &mut World, value: &Value, key: &str) -> Run<Value> {
    crate::machine::index(world, value, &Value::text(key))
}

/// Calls what lodash takes for a function: a function, the name of a property, or an object to match.
fn call(world: &mut World, f: &Value, item: &Value, key: Value) -> Run<Value> {
    match f {
        Value::Undefined => Ok(item.clone()),
        Value::Text(name) => property(world, item, name),
        Value::Number(_) => crate::machine::index(world, item, f),
        Value::Object(o) => {
            for (k, v) in o.fields().ordered() {
                if !coerce::deep_equal(&property(world, item, &k)?, &v) {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        }
        f => world.call_sync(f, vec![item.clone(), key], "a function of lodash"),
    }
}

/// Items with what is passed as their key: positions for arrays, names for objects.
fn items(value: &Value) -> Vec<(Value, Value)> {
    match value {
        Value::Object(o) => o.fields().ordered().into_iter().map(|(k, v)| (Value::Text(k), v)).collect(),
        other => {
            let item = |(i, (_, v)): (usize, (Text, Value))| (Value::Number(i as f64), v);
            fields_of(other).into_iter().enumerate().map(item).collect()
        }
    }
}

fn mapped(world: &mut World, args: &[Value]) -> Run<Vec<(Value, Value)>> {
    let f = arg(args, 1);
    items(&arg(args, 0)).into_iter().map(|(k, v)| Ok((call(world, &f, &v, k)?, v))).collect()
}

fn kept(world: &mut World, args: &[Value], wanted: bool) -> Run<Value> {
    let all = mapped(world, args)?;
    Ok(Value::array(all.into_iter().filter(|(t, _)| coerce::truthy(t) == wanted).map(|(_, v)| v).collect()))
}

fn numbers(value: &Value) -> Vec<f64> {
    spread(value).iter().map(coerce::number).collect()
}

fn whole(args: &[Value], i: usize, default: usize) -> usize {
    position(&arg(args, i), 1 << 30, default)
}

fn less(a: &Value, b: &Value) -> bool {
    operators::binary(crate::ast::Binary::Less, a, b).is_ok_and(|v| coerce::truthy(&v))
}

/// The item with the smallest or largest key.
fn extreme(world: &mut World, args: &[Value], largest: bool) -> Run<Value> {
    let mut best: Option<(Value, Value)> = None;
    for (key, value) in mapped(world, args)? {
        let better = match &best {
            None => true,
            Some((old, _)) => {
                if largest {
                    less(old, &key)
                } else {
                    less(&key, old)
                }
            }
        };
        if better {
            best = Some((key, value));
        }
    }
    Ok(best.map_or(Value::Undefined, |(_, v)| v))
}

fn range(_: &mut World, args: &[Value]) -> Run<Value> {
    let n = |i: usize| coerce::number(&arg(args, i));
    let (start, end) = if args.len() > 1 { (n(0), n(1)) } else { (0.0, n(0)) };
    let step = if args.len() > 2 {
        n(2)
    } else if end < start {
        -1.0
    } else {
        1.0
    };
    let count = ((end - start) / if step == 0.0 { 1.0 } else { step }).ceil().max(0.0);
    if count.is_nan() || count > 1e8 {
        return fail("_.range: too many numbers");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    Ok(Value::numbers((0..count as usize).map(|i| start + step * i as f64)))
}

fn flatten(value: &Value, deep: bool) -> Vec<Value> {
    let inner = |v: Value| match &v {
        Value::Array(_) if deep => flatten(&v, true),
        Value::Array(a) => a.items().clone(),
        _ => vec![v],
    };
    spread(value).into_iter().flat_map(inner).collect()
}

fn zip(_: &mut World, args: &[Value]) -> Run<Value> {
    let rows: Vec<Vec<Value>> = args.iter().map(spread).collect();
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    let row = |i: usize| Value::array(rows.iter().map(|r| r.get(i).cloned().unwrap_or(Value::Undefined)).collect());
    Ok(Value::array((0..n).map(row).collect()))
}

fn group(world: &mut World, args: &[Value]) -> Run<Vec<(Text, Vec<Value>)>> {
    let mut groups: Vec<(Text, Vec<Value>)> = Vec::new();
    for (key, value) in mapped(world, args)? {
        let key = Text::from(coerce::text(&key));
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, group)) => group.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    Ok(groups)
}

fn contains(items: &[Value], value: &Value) -> bool {
    items.iter().any(|v| {
        coerce::identical(v, value)
            || (matches!((v, value), (Value::Number(a), Value::Number(b)) if a.is_nan() && b.is_nan()))
    })
}

fn reduce(world: &mut World, args: &[Value]) -> Run<Value> {
    let mut rest = items(&arg(args, 0)).into_iter();
    let start = if args.len() > 2 { Some(arg(args, 2)) } else { rest.next().map(|(_, v)| v) };
    let mut acc = start.unwrap_or(Value::Undefined);
    for (k, v) in rest {
        acc = world.call_sync(&arg(args, 1), vec![acc, v, k], "a function of lodash")?;
    }
    Ok(acc)
}

fn find(world: &mut World, args: &[Value], last: &str) -> Run<Value> {
    for (i, (found, value)) in mapped(world, args)?.into_iter().enumerate() {
        if coerce::truthy(&found) {
            return Ok(if last == "index" { Value::Number(i as f64) } else { value });
        }
    }
    Ok(if last == "index" { Value::Number(-1.0) } else { Value::Undefined })
}

fn mean(xs: &[f64]) -> Value {
    Value::Number(xs.iter().sum::<f64>() / xs.len() as f64)
}

#[expect(clippy::too_many_lines, reason = "a table of functions")]
pub fn list() -> Vec<Native> {
    plain(&[
        ("map", |world, args| Ok(Value::array(mapped(world, args)?.into_iter().map(|(v, _)| v).collect()))),
        ("mapValues", |world, args| {
            let values = mapped(world, args)?;
            let keys = fields_of(&arg(args, 0)).into_iter().map(|(k, _)| k);
            Ok(object(keys.zip(values.into_iter().map(|(v, _)| v)).collect()))
        }),
        ("mapKeys", |world, args| {
            let keys = mapped(world, args)?;
            Ok(object(keys.into_iter().map(|(k, v)| (Text::from(coerce::text(&k)), v)).collect()))
        }),
        ("filter", |world, args| kept(world, args, true)),
        ("reject", |world, args| kept(world, args, false)),
        ("partition", |world, args| Ok(Value::array(vec![kept(world, args, true)?, kept(world, args, false)?]))),
        ("find", |world, args| find(world, args, "")),
        ("findIndex", |world, args| find(world, args, "index")),
        ("every", |world, args| Ok(Value::Bool(mapped(world, args)?.iter().all(|(t, _)| coerce::truthy(t))))),
        ("all", |world, args| Ok(Value::Bool(mapped(world, args)?.iter().all(|(t, _)| coerce::truthy(t))))),
        ("some", |world, args| Ok(Value::Bool(mapped(world, args)?.iter().any(|(t, _)| coerce::truthy(t))))),
        ("any", |world, args| Ok(Value::Bool(mapped(world, args)?.iter().any(|(t, _)| coerce::truthy(t))))),
        ("each", |world, args| mapped(world, args).map(|_| arg(args, 0))),
        ("forEach", |world, args| mapped(world, args).map(|_| arg(args, 0))),
        ("reduce", reduce),
        ("foldl", reduce),
        ("sortBy", |world, args| Ok(Value::array(sort_by_key(mapped(world, args)?)?))),
        ("groupBy", |world, args| {
            Ok(object(group(world, args)?.into_iter().map(|(k, g)| (k, Value::array(g))).collect()))
        }),
        ("countBy", |world, args| {
            Ok(object(group(world, args)?.into_iter().map(|(k, g)| (k, Value::Number(g.len() as f64))).collect()))
        }),
        ("keyBy", |world, args| {
            let last = |g: Vec<Value>| g.into_iter().last().unwrap_or(Value::Undefined);
            Ok(object(group(world, args)?.into_iter().map(|(k, g)| (k, last(g))).collect()))
        }),
        ("sum", |_, args| Ok(Value::Number(numbers(&arg(args, 0)).iter().sum()))),
        ("mean", |_, args| Ok(mean(&numbers(&arg(args, 0))))),
        ("sumBy", |world, args| Ok(Value::Number(mapped(world, args)?.iter().map(|(v, _)| coerce::number(v)).sum()))),
        ("meanBy", |world, args| {
            Ok(mean(&mapped(world, args)?.iter().map(|(v, _)| coerce::number(v)).collect::<Vec<_>>()))
        }),
        ("min", |world, args| extreme(world, args, false)),
        ("max", |world, args| extreme(world, args, true)),
        ("minBy", |world, args| extreme(world, args, false)),
        ("maxBy", |world, args| extreme(world, args, true)),
        ("range", range),
        ("times", |world, args| {
            let f = arg(args, 1);
            let call = |i: usize| match &f {
                Value::Undefined => Ok(Value::Number(i as f64)),
                f => world.call_sync(f, vec![Value::Number(i as f64)], "a function of lodash"),
            };
            Ok(Value::array((0..whole(args, 0, 0)).map(call).collect::<Run<_>>()?))
        }),
        ("flatten", |_, args| Ok(Value::array(flatten(&arg(args, 0), matches!(arg(args, 1), Value::Bool(true)))))),
        ("flattenDeep", |_, args| Ok(Value::array(flatten(&arg(args, 0), true)))),
        ("zip", zip),
        ("unzip", |world, args| zip(world, &spread(&arg(args, 0)))),
        ("uniq", |_, args| {
            let items = spread(&arg(args, 0));
            Ok(Value::array(unique(items.clone(), items)))
        }),
        ("uniqBy", |world, args| {
            let (keys, items): (Vec<_>, Vec<_>) = mapped(world, args)?.into_iter().unzip();
            Ok(Value::array(unique(items, keys)))
        }),
        ("union", |_, args| {
            let items: Vec<Value> = args.iter().flat_map(spread).collect();
            Ok(Value::array(unique(items.clone(), items)))
        }),
        ("difference", |_, args| {
            let other: Vec<Value> = args.iter().skip(1).flat_map(spread).collect();
            Ok(Value::array(spread(&arg(args, 0)).into_iter().filter(|v| !contains(&other, v)).collect()))
        }),
        ("intersection", |_, args| {
            let other = spread(&arg(args, 1));
            let items: Vec<Value> = spread(&arg(args, 0)).into_iter().filter(|v| contains(&other, v)).collect();
            Ok(Value::array(unique(items.clone(), items)))
        }),
        ("without", |_, args| {
            let other = args.get(1..).unwrap_or_default();
            Ok(Value::array(spread(&arg(args, 0)).into_iter().filter(|v| !contains(other, v)).collect()))
        }),
        ("includes", includes),
        ("contains", includes),
        ("indexOf", |_, args| {
            let at = spread(&arg(args, 0)).iter().position(|v| coerce::identical(v, &arg(args, 1)));
            Ok(Value::Number(at.map_or(-1.0, |i| i as f64)))
        }),
        ("compact", |_, args| Ok(Value::array(spread(&arg(args, 0)).into_iter().filter(coerce::truthy).collect()))),
        ("concat", |_, args| Ok(Value::array(args.iter().flat_map(spread).collect()))),
        ("reverse", |_, args| Ok(Value::array(spread(&arg(args, 0)).into_iter().rev().collect()))),
        ("size", |_, args| Ok(Value::Number(fields_of(&arg(args, 0)).len() as f64))),
        ("first", |_, args| Ok(spread(&arg(args, 0)).into_iter().next().unwrap_or(Value::Undefined))),
        ("head", |_, args| Ok(spread(&arg(args, 0)).into_iter().next().unwrap_or(Value::Undefined))),
        ("last", |_, args| Ok(spread(&arg(args, 0)).into_iter().last().unwrap_or(Value::Undefined))),
        ("tail", |_, args| Ok(Value::array(spread(&arg(args, 0)).into_iter().skip(1).collect()))),
        ("rest", |_, args| Ok(Value::array(spread(&arg(args, 0)).into_iter().skip(1).collect()))),
        ("initial", |_, args| {
            let items = spread(&arg(args, 0));
            Ok(Value::array(items[..items.len().saturating_sub(1)].to_vec()))
        }),
        ("take", |_, args| Ok(Value::array(spread(&arg(args, 0)).into_iter().take(whole(args, 1, 1)).collect()))),
        ("drop", |_, args| Ok(Value::array(spread(&arg(args, 0)).into_iter().skip(whole(args, 1, 1)).collect()))),
        ("takeRight", |_, args| {
            let items = spread(&arg(args, 0));
            Ok(Value::array(items[items.len().saturating_sub(whole(args, 1, 1))..].to_vec()))
        }),
        ("dropRight", |_, args| {
            let items = spread(&arg(args, 0));
            Ok(Value::array(items[..items.len().saturating_sub(whole(args, 1, 1))].to_vec()))
        }),
        ("nth", |world, args| crate::machine::index(world, &arg(args, 0), &arg(args, 1))),
        ("at", |world, args| {
            let keys: Vec<Value> = args.iter().skip(1).flat_map(spread).collect();
            let values: Run<Vec<Value>> = keys.iter().map(|k| crate::machine::index(world, &arg(args, 0), k)).collect();
            Ok(Value::array(values?))
        }),
        ("chunk", |_, args| {
            let size = whole(args, 1, 1).max(1);
            Ok(Value::array(spread(&arg(args, 0)).chunks(size).map(|c| Value::array(c.to_vec())).collect()))
        }),
        ("join", |world, args| match arg(args, 0) {
            Value::Array(a) => {
                super::super::arrays::method(world, &a, &"join".into(), args.get(1..).unwrap_or_default())
            }
            _ => Ok(Value::text("")),
        }),
        ("fill", |world, args| {
            if let Value::Array(a) = arg(args, 0) {
                a.with_mut(world, |v| v.fill(arg(args, 1)));
            }
            Ok(arg(args, 0))
        }),
        ("shuffle", |world, args| {
            let mut items = spread(&arg(args, 0));
            world.stream.shuffle(&mut items);
            Ok(Value::array(items))
        }),
    ])
}

fn includes(_: &mut World, args: &[Value]) -> Run<Value> {
    Ok(Value::Bool(match (&arg(args, 0), &arg(args, 1)) {
        (Value::Text(t), part) => t.contains(&coerce::text(part)),
        (Value::Object(o), v) => o.fields().iter().any(|(_, w)| coerce::identical(v, w)),
        (items, v) => contains(&spread(items), v),
    }))
}
