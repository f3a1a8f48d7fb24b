//! Members and methods of values.

use std::rc::Rc;

use super::State;
use crate::coerce;
use crate::error::{Run, fail};
use crate::library::{arrays, strings};
use crate::object::{Fields, Object, array_index};
use crate::value::{Text, Value, Wrapped};
use crate::world::World;

fn bound(receiver: &Value, method: &Text) -> Value {
    let wrapped = Wrapped::Bound { receiver: receiver.clone(), method: method.clone(), args: Vec::new(), limit: None };
    Value::Wrapped(Rc::new(wrapped))
}

/// `object.name`
pub fn member(world: &mut World, object: &Value, name: &Text) -> Run<Value> {
    match object {
        Value::Object(o) => Ok(o.fields().get_text(name).cloned().unwrap_or(Value::Undefined)),
        Value::Array(a) => Ok(match &**name {
            "length" => Value::Number(a.items().len() as f64),
            key => match array_index(key) {
                Some(i) => a.items().get(i as usize).cloned().unwrap_or(Value::Undefined),
                None if arrays::METHODS.contains(&key) => bound(object, name),
                None => Value::Undefined,
            },
        }),
        Value::Text(t) => Ok(match &**name {
            "length" => Value::Number(t.encode_utf16().count() as f64),
            key if strings::METHODS.contains(&key) => bound(object, name),
            _ => Value::Undefined,
        }),
        Value::Tensor(t) => Ok(match &**name {
            "dims" => Value::numbers(t.dims.iter().map(|d| *d as f64)),
            "length" => Value::Number(t.len() as f64),
            "rank" => Value::Number(t.dims.len() as f64),
            "data" => Value::numbers(t.data.iter().copied()),
            _ => Value::Undefined,
        }),
        Value::Dist(d) => d.member(world, name),
        Value::Ad(_) if matches!(&**name, "dims" | "length" | "rank") => member(world, &object.shape().clone(), name),
        Value::Ad(ad) => member(world, &ad.read().clone(), name),
        Value::Undefined | Value::Null => {
            fail(format!("cannot read the property '{}' of {}", &**name, coerce::text(object)))
        }
        Value::Closure(c) if &**name == "length" => Ok(Value::Number(f64::from(c.proto.params))),
        Value::Query if matches!(&**name, "add" | "addAll") => Ok(bound(object, name)),
        v if v.is_function() && matches!(&**name, "apply" | "call") => Ok(bound(object, name)),
        _ => Ok(Value::Undefined),
    }
}

/// `object[index]`
pub fn index(world: &mut World, object: &Value, index: &Value) -> Run<Value> {
    if let (Value::Array(a), Some(i)) = (object, index.as_number()) {
        if i >= 0.0 && i.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            return Ok(a.items().get(i as usize).cloned().unwrap_or(Value::Undefined));
        }
        return Ok(Value::Undefined);
    }
    if let (Value::Text(t), Some(i)) = (object, index.as_number()) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let c = if i >= 0.0 && i.fract() == 0.0 { t.chars().nth(i as usize) } else { None };
        return Ok(c.map_or(Value::Undefined, |c| Value::text(&c.to_string())));
    }
    let key = match index {
        Value::Text(t) => t.clone(),
        other => coerce::text(other).into(),
    };
    member(world, object, &key)
}

/// The function in a field of an object, if the object has one of that name.
pub fn field_function(object: &Value, name: &Text) -> Option<Value> {
    match object {
        Value::Object(o) => o.fields().get_text(name).cloned(),
        _ => None,
    }
}

/// `object.name(args)` for methods of the language.
pub fn method(world: &mut World, state: &mut State, object: &Value, name: &Text, args: &[Value]) -> Run<Value> {
    match object {
        Value::Array(a) => arrays::method(world, a, name, args),
        Value::Text(t) => strings::method(world, t, name, args),
        Value::Number(x) => strings::number_method(*x, name, args),
        Value::Bool(_) if &**name == "toString" => Ok(Value::text(&coerce::text(object))),
        Value::Dist(d) => d.method(world, name, args),
        Value::Tensor(_) => crate::library::tensors::method(object, name, args),
        Value::Ad(ad) => method(world, state, &ad.read().clone(), name, args),
        Value::Query => query_method(state, name, args),
        Value::Object(_) if matches!(&**name, "hasOwnProperty" | "toString") => match object {
            Value::Object(o) if &**name == "hasOwnProperty" => {
                let key = coerce::text(args.first().unwrap_or(&Value::Undefined));
                Ok(Value::Bool(o.fields().get(&key).is_some()))
            }
            other => Ok(Value::text(&coerce::text(other))),
        },
        Value::Wrapped(w) if matches!(**w, Wrapped::Regex { .. }) => strings::regex_method(w, name, args),
        Value::Undefined | Value::Null => {
            fail(format!("cannot call the method '{}' of {}", &**name, coerce::text(object)))
        }
        v if v.is_function() => {
            let args = match &**name {
                "call" => args.get(1..).unwrap_or_default().to_vec(),
                "apply" => match args.get(1) {
                    Some(Value::Array(a)) => a.items().clone(),
                    _ => Vec::new(),
                },
                _ => return fail(format!("functions have no method '{}'", &**name)),
            };
            world.call_sync(v, args, "a JavaScript function")
        }
        other => fail(format!("{} has no method '{}'", crate::format::inspect(other), &**name)),
    }
}

fn query_method(state: &mut State, name: &Text, args: &[Value]) -> Run<Value> {
    let mut table: Fields = (*state.query).clone();
    match (&**name, args) {
        ("add", [key, value]) => table.set(coerce::text(key).into(), value.clone()),
        ("addAll", [Value::Object(o)]) => o.fields().iter().for_each(|(k, v)| table.set(k.clone(), v.clone())),
        ("getTable", _) => return Ok(Value::Object(Rc::new(Object::from(table)))),
        _ => return fail(format!("query has no method '{}' with these arguments", &**name)),
    }
    state.query = Rc::new(table);
    Ok(Value::Undefined)
}
