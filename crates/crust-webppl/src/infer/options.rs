//! Options of inference, with their defaults.

use crate::coerce;
use crate::error::{Run, fail};
use crate::value::{Text, Value};
use crate::world::World;

pub struct Options {
    fields: Vec<(Text, Value)>,
    used: Vec<&'static str>,
}

impl Options {
    pub fn new(value: &Value) -> Run<Self> {
        let fields = match value {
            Value::Undefined | Value::Null => Vec::new(),
            Value::Object(o) => o.fields().ordered(),
            other => return fail(format!("expected an options object but received {}", crate::format::inspect(other))),
        };
        Ok(Self { fields, used: Vec::new() })
    }

    pub fn get(&mut self, name: &'static str) -> Value {
        self.used.push(name);
        let found = self.fields.iter().find(|(k, _)| &**k == name);
        found.map_or(Value::Undefined, |(_, v)| v.clone())
    }

    pub fn number(&mut self, name: &'static str, default: f64) -> Run<f64> {
        match self.get(name) {
            Value::Undefined => Ok(default),
            value => match value.as_number() {
                Some(x) => Ok(x),
                None => fail(format!("the option '{name}' should be a number")),
            },
        }
    }

    /// A number of samples, particles or steps.
    pub fn count(&mut self, name: &'static str, default: usize) -> Run<usize> {
        let x = self.number(name, default as f64)?;
        if x >= 0.0 && x.fract() == 0.0 && x <= 1e12 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            return Ok(x as usize);
        }
        fail(format!("the option '{name}' should be a non-negative integer"))
    }

    pub fn flag(&mut self, name: &'static str, default: bool) -> bool {
        match self.get(name) {
            Value::Undefined => default,
            value => coerce::truthy(&value),
        }
    }

    /// The array of an option; a single value is an array of one.
    pub fn list(&mut self, name: &'static str) -> Vec<Value> {
        match self.get(name) {
            Value::Undefined => Vec::new(),
            Value::Array(a) => a.items().clone(),
            other => vec![other],
        }
    }

    /// Warns of options that nothing has asked for.
    pub fn finish(&self, world: &mut World, caller: &str) {
        for (name, _) in &self.fields {
            if !self.used.iter().any(|u| **u == **name) {
                world.warn(&format!("unused option \"{}\" given to {caller}", &**name));
            }
        }
    }
}

pub fn named(value: &Value, default: &str) -> Run<(String, Options)> {
    match value {
        Value::Undefined => Ok((default.to_owned(), Options::new(&Value::Undefined)?)),
        Value::Text(t) => Ok((t.to_string(), Options::new(&Value::Undefined)?)),
        Value::Object(o) => match &o.fields().ordered()[..] {
            [(key, inner)] => Ok((key.to_string(), Options::new(inner)?)),
            _ => fail("expected an object with a single key"),
        },
        _ => fail("expected a name, or an object with a name as its key"),
    }
}
