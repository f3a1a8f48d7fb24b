//! What programs can call: native functions, namespaces, and a prelude in the language itself.

pub mod arrays;
mod files;
mod globals;
mod lodash;
mod math;
mod objects;
mod sorting;
pub mod strings;
pub mod tensors;
mod utilities;

use std::rc::Rc;
use std::sync::OnceLock;

use crate::algebra;
use crate::compile;
use crate::distributions::{self, Family};
use crate::error::{Run, RunError, fail};
use crate::infer::Method;
use crate::object::Object;
use crate::parser;
use crate::value::{Text, Value};
use crate::world::World;

/// A function of the library.
pub struct Native {
    pub name: &'static str,
    pub body: Body,
}

pub type Plain = fn(&mut World, &[Value]) -> Run<Value>;

#[derive(Clone, Copy)]
pub enum Body {
    /// A function that calls nothing.
    Plain(Plain),
    /// The constructor of a family of distributions.
    Make(Family),
    Unary(algebra::Unary),
    Binary(algebra::Binary),
    /// A function that has effects or calls functions of the program.
    Control(Control),
}

#[derive(Clone, Copy)]
pub enum Control {
    Sample,
    Draw(Family),
    Flip,
    Factor,
    Condition,
    Observe,
    Map,
    Map2,
    MapN,
    MapIndexed,
    Repeat,
    Filter,
    Reduce,
    MapData,
    Apply,
    Mem,
    Infer,
    Method(Method),
    Guide,
    Param,
    Eval,
}

/// Native functions that take recorded numbers as they are: their results are recorded, or they only move values.
const RECORDED: &[&str] = &[
    "max",
    "min",
    "sum",
    "sumreduce",
    "get",
    "toScalars",
    "fromScalars",
    "range",
    "split",
    "concat",
    "reshape",
    "transpose",
    "diagonal",
    "inverse",
    "determinant",
    "dot",
    "cholesky",
    "softmax",
    "Vector",
    "Matrix",
    "Tensor",
    "dims",
];

impl Native {
    /// Calls a function that needs nothing from the machine.
    #[inline]
    pub fn call(&self, world: &mut World, args: &[Value]) -> Option<Run<Value>> {
        let arg = |i: usize| args.get(i).unwrap_or(&Value::Undefined);
        Some(match self.body {
            // functions that do not know of recordings see plain values, and the recording knows what they saw
            Body::Plain(run) if world.context.recording && !RECORDED.contains(&self.name) => {
                let plain: Vec<Value> = args.iter().map(Value::deep_primal).collect();
                run(world, &plain)
            }
            Body::Plain(run) => run(world, args),
            Body::Make(family) => distributions::from_params(family, args).map(|d| Value::Dist(Rc::new(d))),
            Body::Unary(op) => op.apply(arg(0)),
            Body::Binary(op) => op.apply(arg(0), arg(1)),
            Body::Control(_) => return None,
        })
    }
}

/// The argument at a position, or `undefined`.
pub(crate) fn arg(args: &[Value], i: usize) -> Value {
    args.get(i).cloned().unwrap_or(Value::Undefined)
}

pub(crate) fn expect_array(args: &[Value], i: usize, what: &str) -> Run<Rc<crate::value::Array>> {
    match args.get(i) {
        Some(Value::Array(a)) => Ok(a.clone()),
        other => fail(format!(
            "{what} expects an array but received {}",
            crate::format::inspect(other.unwrap_or(&Value::Undefined))
        )),
    }
}

/// A table of functions, made once.
fn natives() -> &'static [Native] {
    static LIST: OnceLock<Vec<Native>> = OnceLock::new();
    LIST.get_or_init(|| {
        let mut list: Vec<Native> = Vec::new();
        for family in Family::ALL {
            list.push(Native { name: family.name(), body: Body::Make(*family) });
            if !family.helper().is_empty() {
                list.push(Native { name: family.helper(), body: Body::Control(Control::Draw(*family)) });
            }
        }
        list.extend(globals::list());
        list
    })
}

fn native(list: &'static [Native], name: &str) -> Value {
    list.iter().find(|n| n.name == name).map_or(Value::Undefined, Value::Native)
}

fn namespace(list: &'static [Native], constants: &[(&str, f64)]) -> Value {
    let functions = list.iter().map(|n| (Text::from(n.name), Value::Native(n)));
    let numbers = constants.iter().map(|(k, x)| (Text::from(*k), Value::Number(*x)));
    Value::object(functions.chain(numbers))
}

macro_rules! table {
    ($make:expr) => {{
        static LIST: OnceLock<Vec<Native>> = OnceLock::new();
        LIST.get_or_init(|| $make).as_slice()
    }};
}

/// Defines everything in a new world.
pub fn install(world: &mut World) -> Run<()> {
    let list = natives();
    for n in list {
        world.names.define_known(n.name, Value::Native(n));
    }
    world.names.define_known("Infinity", Value::Number(f64::INFINITY));
    world.names.define_known("NaN", Value::Number(f64::NAN));
    world.names.define_known("query", Value::Query);
    let tensors = namespace(table!(tensors::list()), &[]);
    let math = namespace(table!(math::list()), math::CONSTANTS);
    let scalar = namespace(table!(math::scalar_list()), &[("PI", std::f64::consts::PI)]);
    let ad = namespace(table!(tensors::ad_list()), &[]);
    if let Value::Object(o) = &ad {
        o.set("tensor".into(), tensors.clone());
        o.set("scalar".into(), scalar);
    }
    let dists = namespace(table!(utilities::dist_list()), &[]);
    if let Value::Object(o) = &dists {
        for family in Family::ALL {
            let make = native(list, family.name());
            o.set(family.name().into(), make.clone());
            o.set(format!("make{}", family.name()).into(), make);
        }
    }
    let cache = Value::object([(Text::from("cache"), native(list, "cache"))]);
    let spaces = [
        ("Math", math),
        ("T", tensors),
        ("ad", ad),
        ("_", namespace(table!(lodash::list()), &[])),
        ("util", namespace(table!(utilities::util_list()), &[])),
        ("numeric", namespace(table!(utilities::numeric_list()), &[])),
        ("assert", namespace(table!(utilities::assert_list()), &[])),
        ("dists", dists),
        ("dp", cache),
        ("JSON", namespace(table!(utilities::json_list()), &[])),
        ("json", namespace(table!(files::json_list()), &[])),
        ("csv", namespace(table!(files::csv_list()), &[])),
        ("console", namespace(table!(utilities::console_list()), &[])),
        ("Date", namespace(table!(utilities::date_list()), &[])),
    ];
    for (name, space) in spaces {
        world.names.define_known(name, space);
    }
    // functions that are namespaces too
    for (name, members, constants) in [
        ("Number", table!(math::number_list()), math::NUMBER_CONSTANTS),
        ("Array", table!(arrays::array_list()), &[][..]),
        ("Object", table!(objects::list()), &[]),
        ("String", table!(strings::list()), &[]),
    ] {
        if let Some(slot) = world.names.slots.get(name).copied() {
            world.names.namespaces.insert(slot, namespace(members, constants));
        }
    }
    prelude(world)
}

/// Functions of the library that are written in the language.
const PRELUDE: &str = include_str!("library/prelude.wppl");

fn prelude(world: &mut World) -> Run<()> {
    let broken = |what: &str, message: String| RunError::new(format!("the prelude {what}: {message}"));
    let body = parser::parse(PRELUDE).map_err(|m| broken("cannot be read", format!("{} at {}", m.message, m.at)))?;
    let proto = compile::compile(&body, &mut world.names)
        .map_err(|m| broken("cannot be compiled", m.first().map(|m| m.message.clone()).unwrap_or_default()))?;
    world.units.push(None);
    world.globals.resize(world.names.count as usize, Value::Undefined);
    let closure = Value::Closure(Rc::new(crate::code::Closure { proto, captured: Box::new([]) }));
    world.call_sync(&closure, Vec::new(), "the prelude")?;
    // what the prelude defines never changes: programs can refer to it directly
    for (slot, value) in world.globals.iter().enumerate() {
        if value.is_function() {
            world.names.known.insert(u32::try_from(slot).unwrap_or(u32::MAX), value.clone());
        }
    }
    Ok(())
}

/// An object with some of the fields of another.
pub(crate) fn fields_of(value: &Value) -> Vec<(Text, Value)> {
    match value {
        Value::Object(o) => o.fields().ordered(),
        Value::Array(a) => a.items().iter().enumerate().map(|(i, v)| (Text::from(i.to_string()), v.clone())).collect(),
        Value::Text(t) => {
            t.chars().enumerate().map(|(i, c)| (Text::from(i.to_string()), Value::text(&c.to_string()))).collect()
        }
        _ => Vec::new(),
    }
}

pub(crate) fn object(fields: Vec<(Text, Value)>) -> Value {
    Value::Object(Rc::new(Object::from_iter(fields)))
}
