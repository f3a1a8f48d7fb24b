//! Calls of everything that is not a plain closure or native function.

use std::rc::Rc;

use super::frame::{Body, Frame};
use super::loops::{Loop, LoopKind};
use super::{Effect, State, loops};
use crate::coerce;
use crate::distributions::{self, Dist};
use crate::error::{Failure, Run, fail};
use crate::infer;
use crate::json;
use crate::library::{Body as NativeBody, Control};
use crate::tape::Num;
use crate::value::{Text, Value, Wrapped};
use crate::world::World;

/// How an execution goes on.
pub enum Next {
    Top(Rc<Frame>),
    Value(Value, Rc<Frame>),
    Effect(Effect, Rc<Frame>),
}

fn argument(args: &[Value], i: usize) -> Value {
    args.get(i).cloned().unwrap_or(Value::Undefined)
}

/// Calls a function, which returns to `parent`.
pub fn call(
    world: &mut World,
    state: &mut State,
    parent: Rc<Frame>,
    callee: &Value,
    mut args: Vec<Value>,
    addr: u64,
) -> Run<Next> {
    match callee {
        Value::Closure(closure) => {
            let depth = parent.depth + 1;
            if depth > world.limits.depth {
                return Err(Failure::Depth(world.limits.depth as usize).into());
            }
            let mut frame = Frame::enter(world, closure, &mut args, 0, addr, depth);
            frame.parent = Some(parent);
            Ok(Next::Top(Rc::new(frame)))
        }
        Value::Native(native) => match native.body {
            NativeBody::Control(control) => control_call(world, state, parent, control, &args, addr),
            _ => match native.call(world, &args) {
                Some(value) => Ok(Next::Value(value?, parent)),
                None => fail("not a function"),
            },
        },
        Value::Wrapped(wrapped) => wrapped_call(world, state, parent, wrapped, args, addr),
        other => fail(format!("{} is not a function", crate::format::inspect(other))),
    }
}

fn wrapped_call(
    world: &mut World,
    state: &mut State,
    parent: Rc<Frame>,
    wrapped: &Rc<Wrapped>,
    args: Vec<Value>,
    addr: u64,
) -> Run<Next> {
    match &**wrapped {
        Wrapped::Mem(prefix, function) => {
            let key: Text = format!("{}{}", &**prefix, json::key(&Value::array(args.clone()))).into();
            if let Some(known) = state.store.get(&key) {
                return Ok(Next::Value(known, parent));
            }
            let frame = Rc::new(Frame::native(Some(parent), Body::Mem(key), addr));
            call(world, state, frame, function, args, addr)
        }
        Wrapped::Cache(function, known, _) => {
            world.spoiled |= world.context.recording;
            world.touched += 1;
            if args.iter().any(|v| matches!(v, Value::Ad(_))) {
                return fail(
                    "cannot cache functions of scalar/tensor arguments when performing automatic differentiation",
                );
            }
            let key: Text = json::key(&Value::array(args.clone())).into();
            if let Some(value) = known.borrow().get(&key) {
                return Ok(Next::Value(value.clone(), parent));
            }
            let frame = Rc::new(Frame::native(Some(parent), Body::Cache(wrapped.clone(), key), addr));
            call(world, state, frame, function, args, addr)
        }
        Wrapped::Bound { receiver, method, args: first, limit } => {
            let mut all = first.clone();
            all.extend(args.into_iter().take(limit.unwrap_or(usize::MAX)));
            let value = super::members::method(world, state, receiver, method, &all)?;
            Ok(Next::Value(value, parent))
        }
        Wrapped::Partial { function, args: first, limit } => {
            let mut all = first.clone();
            all.extend(args.into_iter().take(limit.unwrap_or(usize::MAX)));
            call(world, state, parent, function, all, addr)
        }
        Wrapped::Regex { .. } | Wrapped::Trace(_) => fail("this is not a function"),
    }
}

fn distribution(value: &Value) -> Run<Rc<Dist>> {
    match value {
        Value::Dist(dist) => Ok(dist.clone()),
        other => {
            let text = json::stringify(other, false).unwrap_or_else(|| "undefined".into());
            fail(format!("sample() expected a distribution but received \"{text}\""))
        }
    }
}

fn factor(score: &Value, result: Value, observed: Option<Rc<Dist>>) -> Run<Effect> {
    match Num::of(score).filter(|s| !s.raw().is_nan()) {
        Some(score) => Ok(Effect::Factor { score, result, observed }),
        None => fail("the score argument of factor is not a number"),
    }
}

fn check_options(options: &Value) -> Run<()> {
    if let Value::Object(o) = options {
        for (key, _) in o.fields().iter() {
            if !matches!(&**key, "guide" | "driftKernel" | "noAutoGuide" | "reparam") {
                return fail(format!("unknown option \"{}\" passed to sample", &**key));
            }
        }
    }
    Ok(())
}

fn array(value: &Value, what: &str) -> Run<Rc<crate::value::Array>> {
    match value {
        Value::Array(a) => Ok(a.clone()),
        // strings behave like arrays of characters
        Value::Text(t) => Ok(Rc::new(t.chars().map(|c| Value::text(&c.to_string())).collect::<Vec<_>>().into())),
        other => fail(format!("{what} expects an array but received {}", crate::format::inspect(other))),
    }
}

fn count(value: &Value, what: &str) -> Run<usize> {
    match value.as_number() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Some(n) if n >= 0.0 && n.fract() == 0.0 && n < 1e9 => Ok(n as usize),
        _ => fail(format!("{what}: expected a non-negative integer")),
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each function")]
fn control_call(
    world: &mut World,
    state: &mut State,
    parent: Rc<Frame>,
    control: Control,
    args: &[Value],
    addr: u64,
) -> Run<Next> {
    let arg = |i: usize| argument(args, i);
    let looping = |kind: LoopKind, function: Value, data: Value, n: usize| {
        let frame = Frame::native(Some(parent.clone()), Body::Loop(Box::new(Loop::new(kind, function, data, n))), addr);
        (Rc::new(frame), Value::Undefined)
    };
    let (frame, input) = match control {
        Control::Sample => {
            let dist = distribution(&arg(0))?;
            check_options(&arg(1))?;
            return Ok(Next::Effect(Effect::Sample { dist, options: arg(1), addr }, parent));
        }
        Control::Draw(family) => {
            let dist = Rc::new(distributions::from_arguments(family, args)?);
            return Ok(Next::Effect(Effect::Sample { dist, options: Value::Undefined, addr }, parent));
        }
        Control::Flip => {
            let p = match args.first() {
                None | Some(Value::Undefined) => [Value::Number(0.5)],
                Some(p) => [p.clone()],
            };
            let dist = Rc::new(distributions::from_arguments(distributions::Family::Bernoulli, &p)?);
            return Ok(Next::Effect(Effect::Sample { dist, options: Value::Undefined, addr }, parent));
        }
        Control::Factor => return Ok(Next::Effect(factor(&arg(0), Value::Undefined, None)?, parent)),
        Control::Condition => {
            let score = if coerce::truthy(&arg(0)) { 0.0 } else { f64::NEG_INFINITY };
            return Ok(Next::Effect(factor(&Value::Number(score), Value::Undefined, None)?, parent));
        }
        Control::Observe => {
            let dist = distribution(&arg(0))?;
            let value = arg(1);
            if value.is_undefined() && !world.context.observe_hook {
                return Ok(Next::Effect(Effect::Sample { dist, options: arg(2), addr }, parent));
            }
            let score = if world.context.observe_hook { Num::Plain(0.0) } else { dist.score(&value)? };
            return Ok(Next::Effect(factor(&score.into_value(), value, Some(dist))?, parent));
        }
        Control::Map => {
            let xs = array(&arg(1), "map")?;
            let n = xs.items().len();
            looping(LoopKind::Map, arg(0), Value::Array(xs), n)
        }
        Control::MapIndexed => {
            let xs = array(&arg(1), "mapIndexed")?;
            let n = xs.items().len();
            looping(LoopKind::MapIndexed, arg(0), Value::Array(xs), n)
        }
        Control::Map2 => {
            let (xs, ys) = (array(&arg(1), "map2")?, array(&arg(2), "map2")?);
            let n = xs.items().len();
            looping(LoopKind::Map2(ys), arg(0), Value::Array(xs), n)
        }
        Control::MapN => looping(LoopKind::MapN, arg(0), Value::Undefined, count(&arg(1), "mapN")?),
        Control::Repeat => {
            let n = count(&arg(0), "repeat")?;
            if !arg(1).is_function() {
                return fail("repeat: expected second argument to be a function");
            }
            looping(LoopKind::Repeat, arg(1), Value::Undefined, n)
        }
        Control::Filter => {
            let xs = array(&arg(1), "filter")?;
            let n = xs.items().len();
            looping(LoopKind::Filter, arg(0), Value::Array(xs), n)
        }
        Control::Reduce => {
            let xs = array(&arg(2), "reduce")?;
            let n = xs.items().len();
            let (frame, _) = looping(LoopKind::Reduce, arg(0), Value::Array(xs), n);
            (frame, arg(1))
        }
        Control::MapData => return loops::map_data(world, state, parent, &arg(0), arg(1), addr),
        Control::Apply => {
            let list = array(&arg(1), "apply")?.items().clone();
            return call(world, state, parent, &arg(0), list, addr);
        }
        Control::Mem => {
            let index = state.store.get("memIndex").map_or(0.0, |v| coerce::number(&v)) + 1.0;
            state.set_store(&Value::text("memIndex"), Value::Number(index));
            let prefix = format!("mem{}", crate::format::number(index));
            return Ok(Next::Value(Value::Wrapped(Rc::new(Wrapped::Mem(prefix.into(), arg(0)))), parent));
        }
        Control::Infer | Control::Method(_) | Control::Guide | Control::Param | Control::Eval
            if world.context.recording =>
        {
            world.spoiled = true;
            return fail("inference inside of a recorded run");
        }
        Control::Infer => return Ok(Next::Value(infer::infer(world, state, &arg(0), &arg(1), addr)?, parent)),
        Control::Method(method) => {
            return Ok(Next::Value(infer::method(world, state, method, &arg(0), &arg(1), addr)?, parent));
        }
        Control::Guide => {
            if world.context.guide_required {
                let mut store = state.store.clone();
                infer::guide::run_thunk(world, &mut store, &arg(0), addr)?;
                state.store = store;
            }
            return Ok(Next::Value(Value::Undefined, parent));
        }
        Control::Param => {
            world.touched += 1;
            return Ok(Next::Value(infer::params::param(world, state, &arg(0), addr)?, parent));
        }
        Control::Eval => {
            world.touched += 1;
            let closure = world.compile_unit("webpplEval", &coerce::text(&arg(0)))?;
            return call(world, state, parent, &Value::Closure(closure), Vec::new(), addr);
        }
    };
    loops::begin(world, state, frame, input)
}
