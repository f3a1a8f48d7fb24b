//! `util`, `numeric`, `assert`, `dists`, `JSON`, `console`, `Date`.

use std::rc::Rc;

use super::math::plain;
use super::{Native, arg, globals, tensors};
use crate::coerce;
use crate::distributions::{self, Family};
use crate::error::{Run, fail};
use crate::json;
use crate::value::{Text, Value};
use crate::world::World;
use crust_math::special::log_sum_exp_slice;

fn flag(value: bool) -> Run<Value> {
    Ok(Value::Bool(value))
}

pub fn util_list() -> Vec<Native> {
    plain(&[
        ("isObject", |_, args| flag(matches!(arg(args, 0), Value::Object(_)))),
        ("isInteger", |_, args| flag(matches!(arg(args, 0), Value::Number(x) if x.is_finite() && x.fract() == 0.0))),
        ("isTensor", |_, args| flag(matches!(arg(args, 0), Value::Tensor(_)))),
        ("isVector", |_, args| flag(arg(args, 0).as_tensor().is_some_and(|t| t.is_vector()))),
        ("isMatrix", |_, args| flag(arg(args, 0).as_tensor().is_some_and(|t| t.is_matrix()))),
        ("serialize", |_, args| Ok(json::stringify(&arg(args, 0), true).map_or(Value::Undefined, |s| Value::text(&s)))),
        ("deserialize", |_, args| Ok(restore_infinities(&json::parse(&coerce::text(&arg(args, 0)))?))),
        ("error", |_, args| fail(coerce::text(&arg(args, 0)))),
        ("sum", |_, args| Ok(Value::Number(numbers(args).iter().sum()))),
        ("logsumexp", |_, args| Ok(Value::Number(log_sum_exp_slice(&numbers(args))))),
        ("random", |world, _| Ok(Value::Number(world.stream.uniform()))),
        ("idMatrix", tensors::id_matrix),
        ("oneHot", tensors::one_hot),
        ("asArray", |_, args| {
            Ok(if coerce::truthy(&arg(args, 0)) {
                Value::array(globals::spread(&arg(args, 0)))
            } else {
                Value::array(vec![])
            })
        }),
    ])
}

fn numbers(args: &[Value]) -> Vec<f64> {
    match args.first() {
        Some(Value::Array(a)) => a.items().iter().map(coerce::number).collect(),
        _ => Vec::new(),
    }
}

pub fn numeric_list() -> Vec<Native> {
    plain(&[
        ("squishToProbSimplex", |_, args| distributions::draw::squish(&arg(args, 0))),
        ("_sum", |_, args| Ok(Value::Number(numbers(args).iter().sum()))),
        ("_logsumexp", |_, args| Ok(Value::Number(log_sum_exp_slice(&numbers(args))))),
    ])
}

pub fn assert_list() -> Vec<Native> {
    fn check(ok: bool, message: &Value) -> Run<Value> {
        if ok {
            return Ok(Value::Undefined);
        }
        match message {
            Value::Undefined => fail("an assertion does not hold"),
            m => fail(coerce::text(m)),
        }
    }
    plain(&[
        ("ok", |_, args| check(coerce::truthy(&arg(args, 0)), &arg(args, 1))),
        ("equal", |_, args| check(coerce::loosely_equal(&arg(args, 0), &arg(args, 1)), &arg(args, 2))),
        ("strictEqual", |_, args| check(coerce::identical(&arg(args, 0), &arg(args, 1)), &arg(args, 2))),
        ("notStrictEqual", |_, args| check(!coerce::identical(&arg(args, 0), &arg(args, 1)), &arg(args, 2))),
        ("deepEqual", |_, args| check(coerce::deep_equal(&arg(args, 0), &arg(args, 1)), &arg(args, 2))),
    ])
}

pub fn dist_list() -> Vec<Native> {
    plain(&[
        ("isDist", |_, args| flag(matches!(arg(args, 0), Value::Dist(_)))),
        ("serialize", |_, args| Ok(json::stringify(&arg(args, 0), true).map_or(Value::Undefined, |s| Value::text(&s)))),
        ("deserialize", deserialize_dist),
    ])
}

/// Infinite numbers are written as strings.
fn restore_infinities(value: &Value) -> Value {
    match value {
        Value::Text(t) if &**t == "Infinity" => Value::Number(f64::INFINITY),
        Value::Text(t) if &**t == "-Infinity" => Value::Number(f64::NEG_INFINITY),
        Value::Array(a) => Value::array(a.items().iter().map(restore_infinities).collect()),
        Value::Object(o) => Value::object(o.fields().iter().map(|(k, v)| (k.clone(), restore_infinities(v)))),
        other => other.clone(),
    }
}

pub fn deserialize_dist(_: &mut World, args: &[Value]) -> Run<Value> {
    let value = restore_infinities(&json::parse(&coerce::text(&arg(args, 0)))?);
    let Value::Object(o) = &value else { return fail("cannot deserialize a non-distribution JSON object") };
    let (Some(ps), Some(vs)) = (o.get("probs"), o.get("support")) else {
        return fail("cannot deserialize a non-distribution JSON object");
    };
    let params = Value::object([(Text::from("ps"), ps), (Text::from("vs"), vs)]);
    Ok(Value::Dist(Rc::new(distributions::from_params(Family::Categorical, &[params])?)))
}

pub fn json_list() -> Vec<Native> {
    plain(&[
        ("stringify", |_, args| {
            let Some(text) = json::stringify(&arg(args, 0), false) else { return Ok(Value::Undefined) };
            let indent = super::arrays::position(&arg(args, 2), 10, 0);
            Ok(Value::text(&if indent > 0 { json::pretty(&text, indent) } else { text }))
        }),
        ("parse", |_, args| json::parse(&coerce::text(&arg(args, 0)))),
    ])
}

pub fn console_list() -> Vec<Native> {
    plain(&[
        ("log", globals::display),
        ("error", globals::display),
        ("warn", |world, args| {
            let text = args.iter().map(crate::format::inspect).collect::<Vec<_>>().join(" ");
            world.warn(&text);
            Ok(Value::Undefined)
        }),
    ])
}

pub fn date_list() -> Vec<Native> {
    plain(&[("now", |world, _| {
        world.touched += 1;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Ok(Value::Number(now.map_or(0.0, |d| (d.as_secs_f64() * 1000.0).floor())))
    })])
}
