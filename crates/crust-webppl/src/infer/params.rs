//! Parameters of guides and models, by name.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Model, forward};
use crate::algebra;
use crate::coerce;
use crate::distributions::build::dims_of;
use crate::error::{Run, fail};
use crate::json;
use crate::library::{Body, Native, Plain, arg};
use crate::machine::State;
use crate::tensor::Tensor;
use crate::value::{Text, Value};
use crate::world::World;

#[derive(Default)]
pub struct Params {
    /// Values in the order of creation.
    pub table: Vec<(String, Tensor)>,
    places: HashMap<String, usize>,
    /// Parameters that the current execution has met, with derivatives.
    pub seen: Vec<(usize, Value)>,
    id: u64,
}

impl Params {
    fn set(&mut self, name: &str, value: Tensor) -> usize {
        match self.places.get(name) {
            Some(i) => {
                self.table[*i].1 = value;
                *i
            }
            None => {
                self.places.insert(name.to_owned(), self.table.len());
                self.table.push((name.to_owned(), value));
                self.table.len() - 1
            }
        }
    }

    fn clear(&mut self) {
        self.table.clear();
        self.places.clear();
        self.seen.clear();
    }
}

/// The value of a parameter; with derivatives while it is being optimized.
fn fetch(world: &mut World, place: usize) -> Value {
    let value = Value::tensor(world.params.table[place].1.clone());
    let Some(tape) = world.context.tape.clone() else { return value };
    if let Some((_, seen)) = world.params.seen.iter().find(|(p, _)| *p == place) {
        return seen.clone();
    }
    let lifted = tape.lift(value);
    world.params.seen.push((place, lifted.clone()));
    lifted
}

/// A parameter of a guide that is made automatically; it starts at 0.
pub fn fetch_or_create(world: &mut World, name: &str, dims: &[usize]) -> Run<Value> {
    let place = match world.params.places.get(name) {
        Some(place) => *place,
        None => world.params.set(name, Tensor::fill(dims, 0.0)),
    };
    if world.params.table[place].1.dims != dims {
        return fail(format!("the parameter '{name}' has changed its dims"));
    }
    Ok(fetch(world, place))
}

/// `param({dims, mu, sigma, init, name})`
pub fn param(world: &mut World, state: &mut State, options: &Value, addr: u64) -> Run<Value> {
    let get = |name: &str| match options {
        Value::Object(o) => o.get(name).unwrap_or(Value::Undefined),
        _ => Value::Undefined,
    };
    let scalar = get("dims").is_undefined();
    let dims = if scalar { vec![1] } else { dims_of(&get("dims")) };
    let name = match get("name") {
        Value::Undefined => format!("{addr:016x}"),
        name => coerce::text(&name),
    };
    let place = match world.params.places.get(&name) {
        Some(place) => *place,
        None => {
            let value = initial(world, state, &get("init"), [&get("mu"), &get("sigma")], &dims)?;
            world.params.set(&name, value)
        }
    };
    let actual = &world.params.table[place].1.dims;
    if *actual != dims {
        return fail(format!(
            "the dims specified here ({dims:?}) do not match the dims of the current parameter value ({actual:?})"
        ));
    }
    let value = fetch(world, place);
    if scalar { algebra::get(&value, 0) } else { Ok(value) }
}

fn initial(world: &mut World, state: &State, init: &Value, [mu, sigma]: [&Value; 2], dims: &[usize]) -> Run<Tensor> {
    let shape = Value::numbers(dims.iter().map(|d| *d as f64));
    if init.is_undefined() {
        let mu = mu.as_number().unwrap_or(0.0);
        let sigma = sigma.as_number().unwrap_or(0.1);
        let mut out = Tensor::fill(dims, mu);
        out.data.iter_mut().for_each(|x| *x += sigma * world.stream.standard_normal());
        return Ok(out);
    }
    if !init.is_function() {
        return fail("expected the init argument to be a function");
    }
    let function = Value::Wrapped(Rc::new(crate::value::Wrapped::Partial {
        function: init.clone(),
        args: vec![shape],
        limit: Some(0),
    }));
    let model = Model { function, store: state.store.clone(), addr: 0 };
    let tape = world.context.tape.take();
    let value = forward::run(world, &model, false);
    world.context.tape = tape;
    match value?.value.as_tensor() {
        Some(t) if t.dims == dims => Ok((**t).clone()),
        _ => fail("the init function did not return a tensor with the expected shape"),
    }
}

fn table(world: &World) -> Value {
    Value::object(world.params.table.iter().map(|(k, t)| (Text::from(&**k), Value::tensor(t.clone()))))
}

pub fn natives() -> Vec<Native> {
    let list: &[(&'static str, Plain)] = &[
        ("getParams", |world, _| Ok(table(world))),
        ("setParams", |world, args| {
            world.params.clear();
            for (name, value) in crate::library::fields_of(&arg(args, 0)) {
                match value {
                    Value::Tensor(t) => {
                        world.params.set(&name, (*t).clone());
                    }
                    _ => return fail("setParams expects an object of tensors"),
                }
            }
            Ok(Value::Undefined)
        }),
        ("setFreshParamsId", |world, _| {
            world.params.clear();
            world.params.id += 1;
            Ok(Value::text(&format!("params-{}", world.params.id)))
        }),
        ("setParamsId", |_, args| Ok(arg(args, 0))),
        ("getParamsId", |world, _| Ok(Value::text(&format!("params-{}", world.params.id)))),
        ("serializeParams", |_, args| {
            let one = |(k, v): (Text, Value)| {
                let t = algebra::tensor(&v, "serializeParams")?.0;
                let dims = Value::numbers(t.dims.iter().map(|d| *d as f64));
                let data = Value::numbers(t.data.iter().copied());
                Ok((k, Value::object([("dims".into(), dims), ("data".into(), data)])))
            };
            let fields: Vec<_> = crate::library::fields_of(&arg(args, 0)).into_iter().map(one).collect::<Run<_>>()?;
            Ok(Value::text(&json::stringify(&Value::object(fields), false).unwrap_or_default()))
        }),
        ("deserializeParams", |_, args| {
            let one = |(k, v): (Text, Value)| match &v {
                Value::Object(o) => {
                    let dims = dims_of(&o.get("dims").unwrap_or(Value::Undefined));
                    let data = crate::library::fields_of(&o.get("data").unwrap_or(Value::Undefined));
                    let data: Vec<f64> = data.iter().map(|(_, v)| coerce::number(v)).collect();
                    if dims.iter().product::<usize>() != data.len() {
                        return fail("deserializeParams: dims and data do not fit each other");
                    }
                    Ok((k, Value::tensor(Tensor::new(dims, data))))
                }
                _ => fail("deserializeParams expects an object of tensors"),
            };
            let fields = crate::library::fields_of(&json::parse(&coerce::text(&arg(args, 0)))?);
            Ok(Value::object(fields.into_iter().map(one).collect::<Run<Vec<_>>>()?))
        }),
    ];
    list.iter().map(|(name, run)| Native { name, body: Body::Plain(*run) }).collect()
}
