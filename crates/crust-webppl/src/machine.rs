//! Runs code on an explicit stack of frames that can be shared: a captured state is a pointer, and frames are copied
//! only when a shared one goes on.

mod calls;
pub mod frame;
mod loops;
mod members;
pub mod operators;
mod same;

use std::cell::RefCell;
use std::rc::Rc;

use crate::code::{Closure, Op, Proto, Source};
use crate::coerce;
use crate::distributions::{self, Dist};
use crate::error::{Failure, Place, Run, RunError, fail};
use crate::object::{Fields, Object};
use crate::tape::Num;
use crate::value::{Array, Value};
use crate::world::World;
use calls::Next;
use frame::{Body, Frame, mix};

pub use loops::{Fetched, Loop, fetched};
pub use members::index;
pub use same::{digest, same};

/// The whole state of an execution. Cloning it captures the continuation.
#[derive(Clone)]
pub struct State {
    pub top: Option<Rc<Frame>>,
    /// `globalStore`
    pub store: Rc<Object>,
    /// What `query.add` has collected.
    pub query: Rc<Fields>,
    /// The value that the topmost frame waits for.
    pub input: Option<Value>,
}

/// What an execution asks of the inference that runs it.
pub enum Effect {
    Sample {
        dist: Rc<Dist>,
        options: Value,
        addr: u64,
    },
    /// Adds to the score; the execution goes on with `result`. `observed` is the distribution of an observation.
    Factor {
        score: Num,
        result: Value,
        observed: Option<Rc<Dist>>,
    },
    /// `mapData` with hooks on: before the first item.
    MapFetch {
        data: Rc<Array>,
        options: Value,
        addr: u64,
    },
    MapEnter,
    MapLeave,
    MapFinal,
    Done(Value),
}

impl State {
    /// A call of `function` that is about to begin.
    pub fn call(world: &mut World, function: &Value, args: Vec<Value>, addr: u64, store: Rc<Object>) -> Run<Self> {
        let root = Rc::new(Frame::native(None, Body::Root, addr));
        let mut state = Self { top: None, store, query: Rc::default(), input: None };
        match calls::call(world, &mut state, root, function, args, addr)? {
            Next::Top(top) => state.top = Some(top),
            Next::Value(value, top) => {
                state.top = Some(top);
                state.input = Some(value);
            }
            // an effect as the very first thing: a frame that begins with the call again
            Next::Effect(effect, top) => {
                state.top =
                    Some(Rc::new(Frame::native(Some(top), Body::First(Rc::new(RefCell::new(Some(effect)))), addr)));
                state.input = Some(Value::Undefined);
            }
        }
        Ok(state)
    }

    /// Gives the execution the value that it waits for.
    pub fn resume(&mut self, value: Value) {
        self.input = Some(value);
    }

    /// The value of an execution that is done; `query` stands for what it collected.
    pub fn result(&self, value: Value) -> Value {
        match value {
            Value::Query => Value::Object(Rc::new(Object::from((*self.query).clone()))),
            other => other,
        }
    }

    /// Runs until the next effect.
    pub fn run(&mut self, world: &mut World) -> Run<Effect> {
        let Some(mut top) = self.top.take() else { return fail("the execution has already ended") };
        loop {
            let next = {
                let frame = Rc::make_mut(&mut top);
                if matches!(frame.body, Body::Code(_)) {
                    if let Some(value) = self.input.take() {
                        frame.stack.push(value);
                    }
                    match code(world, self, &mut top) {
                        Ok(next) => next,
                        Err(error) => return Err(locate(world, &top, error)),
                    }
                } else {
                    let value = self.input.take().unwrap_or(Value::Undefined);
                    if matches!(frame.body, Body::Root) {
                        return Ok(Effect::Done(value));
                    }
                    match loops::step(world, self, &mut top, value) {
                        Ok(next) => next,
                        Err(error) => return Err(locate(world, &top, error)),
                    }
                }
            };
            match next {
                Next::Top(frame) => top = frame,
                Next::Value(value, frame) => {
                    self.input = Some(value);
                    top = frame;
                }
                Next::Effect(effect, frame) => {
                    self.top = Some(frame);
                    return Ok(effect);
                }
            }
        }
    }

    /// A factor where data are simulated.
    pub fn refuse_factor(&self, world: &World) -> RunError {
        let error = RunError::new(
            "factor and condition weigh executions, they do not generate data: nothing can be simulated from this model; \
             say what is observed with observe(distribution, value)",
        );
        match &self.top {
            Some(top) => locate(world, top, error),
            None => error,
        }
    }

    /// The variable of the outermost function whose value is being computed: the name of a choice that is made now.
    pub fn variable(&self) -> Option<crate::ast::Name> {
        let (mut frame, mut name) = (self.top.as_ref(), None);
        while let Some(f) = frame {
            if let Body::Code(closure) = &f.body {
                let inside = |v: &&(u32, u32, _)| v.0 < f.pc && f.pc < v.1;
                name = closure.proto.variables.iter().find(inside).map(|v| v.2.clone()).or(name);
            }
            frame = f.parent.as_ref();
        }
        name
    }

    fn set_store(&mut self, key: &Value, value: Value) {
        let key = match key {
            Value::Text(t) => t.clone(),
            other => coerce::text(other).into(),
        };
        if Rc::strong_count(&self.store) > 1 {
            self.store = Rc::new((*self.store).clone());
        }
        self.store.set(key, value);
    }
}

/// Puts the place in the program to an error: the innermost frame that is not of the library.
fn locate(world: &World, top: &Rc<Frame>, mut error: RunError) -> RunError {
    if error.place.is_some() {
        return error;
    }
    let mut frame = Some(top);
    while let Some(f) = frame {
        if let Body::Code(closure) = &f.body {
            let proto = &closure.proto;
            if let Some(Some((name, text))) = world.units.get(proto.unit as usize) {
                let pc = (f.pc as usize).saturating_sub(1).min(proto.at.len().saturating_sub(1));
                error.place = Some(Place::of(name, text, proto.at.get(pc).copied().unwrap_or(0)));
                return error;
            }
        }
        frame = f.parent.as_ref();
    }
    error
}

/// A closure of a function, with the variables that it captures.
fn close(proto: &Rc<Proto>, frame: &Frame, closure: &Rc<Closure>) -> Value {
    let value = |source: &Source| match *source {
        Source::Local(i) => frame.stack[i as usize].clone(),
        Source::Captured(i) => closure.captured[i as usize].clone(),
        Source::Myself => Value::Closure(closure.clone()),
    };
    let captured = proto.captures.iter().map(value).collect();
    Value::Closure(Rc::new(Closure { proto: proto.clone(), captured }))
}

/// Defines a variable that a function uses before. An execution that is gone on with a second time has the cells of the
/// first, which still needs them: only the same value may be written again.
fn set_cell(cell: &RefCell<Value>, value: Value) -> Run<()> {
    let mut known = cell.borrow_mut();
    if known.is_undefined() {
        *known = value;
        return Ok(());
    }
    if same::are_same(&known, &value) {
        return Ok(());
    }
    fail(
        "a function uses this variable before its definition, which depends on a random choice: inference cannot go \
         back there; define the variable first, or pass it as an argument",
    )
}

fn read_cell(value: &Value) -> Value {
    match value {
        Value::Cell(cell) => cell.borrow().clone(),
        other => other.clone(),
    }
}

/// Runs the topmost frame until it calls, returns or has an effect.
#[expect(clippy::too_many_lines, reason = "one arm for each operation")]
fn code(world: &mut World, state: &mut State, top: &mut Rc<Frame>) -> Run<Next> {
    let frame = Rc::make_mut(top);
    let Body::Code(closure) = &frame.body else { return fail("not code") };
    let closure = closure.clone();
    let proto = &*closure.proto;
    let pop = |stack: &mut Vec<Value>| stack.pop().unwrap_or(Value::Undefined);
    loop {
        let op = proto.ops[frame.pc as usize];
        frame.pc += 1;
        let stack = &mut frame.stack;
        match op {
            Op::Const(i) => stack.push(proto.consts[i as usize].clone()),
            Op::Undefined => stack.push(Value::Undefined),
            Op::Local(i) => stack.push(stack[i as usize].clone()),
            Op::SetLocal(i) => stack[i as usize] = pop(stack),
            Op::LooseLocal(i) | Op::CellLocal(i) => stack.push(read_cell(&stack[i as usize])),
            Op::SetCell(i) => {
                let value = pop(stack);
                match &stack[i as usize] {
                    Value::Cell(cell) => {
                        world.touched += 1;
                        set_cell(cell, value)?;
                    }
                    _ => stack[i as usize] = value,
                }
            }
            Op::Captured(i) => stack.push(closure.captured[i as usize].clone()),
            Op::CapturedCell(i) => stack.push(read_cell(&closure.captured[i as usize])),
            Op::Myself => stack.push(Value::Closure(closure.clone())),
            Op::Global(i) => stack.push(world.globals[i as usize].clone()),
            Op::SetGlobal(i) => {
                world.touched += 1;
                world.globals[i as usize] = pop(stack);
            }
            Op::Store => stack.push(Value::Object(state.store.clone())),
            Op::SetStore => {
                let value = pop(stack);
                let key = pop(stack);
                state.set_store(&key, value.clone());
                stack.push(value);
            }
            Op::Pop => drop(pop(stack)),
            Op::Jump(to) => frame.pc = to,
            Op::JumpIfFalse(to) => {
                let test = match pop(stack) {
                    Value::Bool(b) => b,
                    other => coerce::truthy(&other),
                };
                if !test {
                    frame.pc = to;
                }
            }
            Op::JumpIfFalseKeep(to) | Op::JumpIfTrueKeep(to) => {
                let truthy = coerce::truthy(stack.last().unwrap_or(&Value::Undefined));
                if truthy == matches!(op, Op::JumpIfTrueKeep(_)) {
                    frame.pc = to;
                } else {
                    stack.pop();
                }
            }
            Op::Array(n) => {
                let items = stack.split_off(stack.len() - n as usize);
                stack.push(Value::array(items));
            }
            Op::Object(shape) => {
                let keys = &proto.shapes[shape as usize];
                let start = stack.len() - keys.len();
                let object = Value::object(keys.iter().cloned().zip(stack.drain(start..)));
                stack.push(object);
            }
            Op::Closure(i) => {
                let value = close(&proto.protos[i as usize], frame, &closure);
                frame.stack.push(value);
            }
            Op::Dist(family) => {
                let start = stack.len() - family.parameters().len();
                let dist = distributions::from_numbers(family, &stack[start..])?;
                stack.truncate(start);
                stack.push(Value::Dist(Rc::new(dist)));
            }
            Op::Unary(op) => {
                let value = pop(stack);
                stack.push(operators::unary(op, &value)?);
            }
            Op::Binary(op) => {
                let right = pop(stack);
                let left = pop(stack);
                stack.push(operators::binary(op, &left, &right)?);
            }
            Op::Member(name) => {
                let object = pop(stack);
                let Value::Text(name) = &proto.consts[name as usize] else { return fail("not a name") };
                stack.push(members::member(world, &object, name)?);
            }
            Op::Index => {
                let index = pop(stack);
                let object = pop(stack);
                stack.push(members::index(world, &object, &index)?);
            }
            Op::Call { args, tail, site } => {
                world.tick()?;
                let start = stack.len() - args as usize;
                match &stack[start - 1] {
                    Value::Closure(callee) => {
                        let callee = callee.clone();
                        let addr = mix(frame.addr, u64::from(site));
                        let depth = frame.depth + u32::from(!tail);
                        if depth > world.limits.depth {
                            return Err(Failure::Depth(world.limits.depth as usize).into());
                        }
                        let mut new = Frame::enter(world, &callee, stack, start, addr, depth);
                        stack.pop();
                        if tail {
                            new.parent = frame.parent.take();
                            world.recycle(top);
                        } else {
                            new.parent = Some(top.clone());
                        }
                        return Ok(Next::Top(Rc::new(new)));
                    }
                    Value::Native(native) => {
                        if let Some(value) = native.call(world, &stack[start..]) {
                            let value = value?;
                            stack.truncate(start - 1);
                            stack.push(value);
                            continue;
                        }
                    }
                    _ => {}
                }
                let addr = mix(frame.addr, u64::from(site));
                let args = stack.split_off(start);
                let callee = pop(stack);
                return calls::call(world, state, top.clone(), &callee, args, addr);
            }
            Op::Method { name, args, site } => {
                world.tick()?;
                let start = stack.len() - args as usize;
                let Value::Text(name) = &proto.consts[name as usize] else { return fail("not a name") };
                let args = stack.split_off(start);
                let object = pop(stack);
                if let Some(callee) = members::field_function(&object, name) {
                    let addr = mix(frame.addr, u64::from(site));
                    return calls::call(world, state, top.clone(), &callee, args, addr);
                }
                let value = members::method(world, state, &object, name, &args)?;
                stack.push(value);
            }
            Op::Return => {
                let value = pop(stack);
                let Some(parent) = frame.parent.take() else { return fail("nowhere to return to") };
                world.recycle(top);
                return Ok(Next::Value(value, parent));
            }
        }
    }
}
