//! Functions of the library that call functions for each item: their frames hold how far they are.

use std::rc::Rc;

use super::calls::{Next, call};
use super::frame::{Body, Frame, mix};
use super::same::{bits, spend, values};
use super::{Effect, State};
use crate::coerce;
use crate::error::{Run, fail};
use crate::value::{Array, Value, Wrapped};
use crate::world::World;

#[derive(Clone)]
pub enum LoopKind {
    Map,
    Map2(Rc<Array>),
    MapN,
    MapIndexed,
    Repeat,
    Filter,
    /// From the last item to the first, as WebPPL does.
    Reduce,
    /// Positions of the items in the original data if they are a part of it; whether the result is wanted; what is
    /// next.
    MapData {
        indices: Option<Rc<Vec<usize>>>,
        wanted: bool,
        hooks: bool,
        phase: Phase,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Fetch,
    Enter,
    Call,
    Leave,
    Final,
}

/// Results so far: a list that continuations can share.
#[derive(Clone)]
struct Results {
    last: Option<Rc<Link>>,
    count: usize,
}

struct Link {
    value: Value,
    before: Option<Rc<Link>>,
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(link) = before {
            match Rc::try_unwrap(link) {
                Ok(mut link) => before = link.before.take(),
                Err(_) => break,
            }
        }
    }
}

impl Results {
    fn same(&self, other: &Self, budget: &mut usize) -> bool {
        let (mut a, mut b) = (self.last.as_ref(), other.last.as_ref());
        while let (Some(x), Some(y)) = (a, b) {
            if Rc::ptr_eq(x, y) {
                return true;
            }
            if !spend(budget) || !values(&x.value, &y.value, budget) {
                return false;
            }
            (a, b) = (x.before.as_ref(), y.before.as_ref());
        }
        a.is_none() && b.is_none()
    }

    fn push(&mut self, value: Value) {
        self.last = Some(Rc::new(Link { value, before: self.last.take() }));
        self.count += 1;
    }

    fn array(&self) -> Value {
        let mut items = vec![Value::Undefined; self.count];
        let mut link = self.last.as_ref();
        for item in items.iter_mut().rev() {
            if let Some(l) = link {
                *item = l.value.clone();
                link = l.before.as_ref();
            }
        }
        Value::array(items)
    }
}

#[derive(Clone)]
pub struct Loop {
    kind: LoopKind,
    function: Value,
    data: Value,
    n: usize,
    done: usize,
    results: Results,
}

impl Loop {
    /// Whether two loops over the same data are equally far, with the same results.
    pub(super) fn same(&self, other: &Self, budget: &mut usize) -> bool {
        let kinds = match (&self.kind, &other.kind) {
            (LoopKind::Map2(x), LoopKind::Map2(y)) => Rc::ptr_eq(x, y),
            (LoopKind::MapData { .. }, _) | (_, LoopKind::MapData { .. }) => self.plain() && other.plain(),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        kinds
            && self.n == other.n
            && self.done == other.done
            && self.results.count == other.results.count
            && values(&self.function, &other.function, budget)
            && values(&self.data, &other.data, budget)
            && self.results.same(&other.results, budget)
    }

    /// Adds what is the same for loops that are the same.
    pub(super) fn digest(&self, add: &mut impl FnMut(u64)) {
        add(self.done as u64);
        let mut link = self.results.last.as_ref();
        for _ in 0..8 {
            let Some(l) = link else { break };
            add(bits(&l.value));
            link = l.before.as_ref();
        }
    }

    /// `mapData` without hooks, which is like `map`.
    fn plain(&self) -> bool {
        matches!(self.kind, LoopKind::MapData { indices: None, wanted: true, hooks: false, .. })
    }

    pub fn new(kind: LoopKind, function: Value, data: Value, n: usize) -> Self {
        Self { kind, function, data, n, done: 0, results: Results { last: None, count: 0 } }
    }

    fn item(&self, i: usize) -> Value {
        match &self.data {
            Value::Array(a) => a.items().get(i).cloned().unwrap_or(Value::Undefined),
            _ => Value::Undefined,
        }
    }

    fn index(i: usize) -> Value {
        Value::Number(i as f64)
    }

    /// Arguments of the next call, and what distinguishes its address.
    fn arguments(&self, accumulated: Value) -> (Vec<Value>, usize) {
        let i = self.done;
        match &self.kind {
            LoopKind::Map | LoopKind::Filter => (vec![self.item(i)], i),
            LoopKind::Map2(other) => (vec![self.item(i), other.items().get(i).cloned().unwrap_or(Value::Undefined)], i),
            LoopKind::MapN => (vec![Self::index(i)], i),
            LoopKind::MapIndexed => (vec![Self::index(i), self.item(i)], i),
            LoopKind::Repeat => (Vec::new(), i),
            LoopKind::Reduce => {
                let i = self.n - 1 - i;
                (vec![self.item(i), accumulated], i)
            }
            LoopKind::MapData { indices, .. } => {
                let at = indices.as_ref().map_or(i, |ix| ix[i]);
                (vec![self.item(i), Self::index(at)], at)
            }
        }
    }

    fn keep(&mut self, value: Value) {
        match self.kind {
            LoopKind::Filter => {
                if coerce::truthy(&value) {
                    self.results.push(self.item(self.done));
                }
            }
            LoopKind::Reduce => {}
            _ => self.results.push(value),
        }
        self.done += 1;
    }

    fn result(&self, last: Value) -> Value {
        match self.kind {
            LoopKind::Reduce => last,
            LoopKind::MapData { wanted: false, .. } => Value::Undefined,
            _ => self.results.array(),
        }
    }
}

/// Starts a loop whose frame is new; `input` is what is accumulated at first.
pub fn begin(world: &mut World, state: &mut State, mut frame: Rc<Frame>, input: Value) -> Run<Next> {
    advance(world, state, &mut frame, input)
}

/// A call inside of a native frame has returned a value.
pub fn step(world: &mut World, state: &mut State, top: &mut Rc<Frame>, value: Value) -> Run<Next> {
    let frame = Rc::make_mut(top);
    let parent = |frame: &mut Frame| match frame.parent.take() {
        Some(parent) => Ok(parent),
        None => fail("nowhere to return to"),
    };
    match &mut frame.body {
        Body::Loop(looping) => {
            if let LoopKind::MapData { hooks: true, .. } = looping.kind {
                return map_data_step(world, state, top, value);
            }
            looping.keep(value.clone());
            advance(world, state, top, value)
        }
        Body::Mem(key) => {
            let key = Value::Text(key.clone());
            state.set_store(&key, value.clone());
            Ok(Next::Value(value, parent(frame)?))
        }
        Body::Cache(wrapped, key) => {
            if let Wrapped::Cache(_, known, size) = &**wrapped {
                let mut known = known.borrow_mut();
                known.set(key.clone(), value.clone());
                if size.is_some_and(|size| known.len() > size) {
                    known.remove_first();
                }
            }
            Ok(Next::Value(value, parent(frame)?))
        }
        Body::First(effect) => {
            let effect = effect.borrow_mut().take();
            let parent = parent(frame)?;
            match effect {
                Some(effect) => Ok(Next::Effect(effect, parent)),
                None => fail("the first effect of an execution can happen only once"),
            }
        }
        Body::Root | Body::Code(_) => fail("not a native frame"),
    }
}

/// Calls the function for the next item, or ends the loop.
fn advance(world: &mut World, state: &mut State, top: &mut Rc<Frame>, value: Value) -> Run<Next> {
    world.tick()?;
    let frame = Rc::make_mut(top);
    let Body::Loop(looping) = &mut frame.body else { return fail("not a loop") };
    if looping.done >= looping.n {
        let result = looping.result(value);
        return match frame.parent.take() {
            Some(parent) => Ok(Next::Value(result, parent)),
            None => fail("nowhere to return to"),
        };
    }
    let (args, at) = looping.arguments(value);
    let function = looping.function.clone();
    let addr = mix(frame.addr, at as u64 + 1);
    call(world, state, top.clone(), &function, args, addr)
}

/// `mapData({data, …}, fn)`
pub fn map_data(
    world: &mut World,
    state: &mut State,
    parent: Rc<Frame>,
    options: &Value,
    function: Value,
    addr: u64,
) -> Run<Next> {
    let data = match options {
        Value::Object(o) => o.get("data"),
        _ => None,
    };
    let Some(Value::Array(data)) = data else { return fail("mapData: no data given") };
    let n = data.items().len();
    let hooks = world.context.map_hooks;
    let kind = LoopKind::MapData { indices: None, wanted: true, hooks, phase: Phase::Fetch };
    let looping = Loop::new(kind, function, Value::Array(data.clone()), n);
    let frame = Rc::new(Frame::native(Some(parent), Body::Loop(Box::new(looping)), addr));
    if hooks {
        return Ok(Next::Effect(Effect::MapFetch { data, options: options.clone(), addr }, frame));
    }
    begin(world, state, frame, Value::Undefined)
}

/// What inference chose for `mapData`: the items to map over, and where they are in the data.
#[derive(Clone)]
pub struct Fetched {
    pub data: Rc<Array>,
    pub indices: Option<Rc<Vec<usize>>>,
    pub wanted: bool,
    /// The address to go on from.
    pub addr: u64,
}

/// Goes on with the items that inference chose.
pub fn fetched(state: &mut State, choice: Fetched) -> Run<()> {
    let Some(top) = &mut state.top else { return fail("the execution has ended") };
    let frame = Rc::make_mut(top);
    frame.addr = choice.addr;
    let Body::Loop(looping) = &mut frame.body else { return fail("not a loop") };
    looping.n = choice.data.items().len();
    looping.data = Value::Array(choice.data);
    if let LoopKind::MapData { indices, wanted, .. } = &mut looping.kind {
        *indices = choice.indices;
        *wanted = choice.wanted;
    }
    state.input = Some(Value::Undefined);
    Ok(())
}

/// `mapData` with hooks: an effect before and after each item.
fn map_data_step(world: &mut World, state: &mut State, top: &mut Rc<Frame>, value: Value) -> Run<Next> {
    let frame = Rc::make_mut(top);
    let Body::Loop(looping) = &mut frame.body else { return fail("not a loop") };
    let LoopKind::MapData { phase: now, .. } = looping.kind else { return fail("not mapData") };
    let (next, effect) = match now {
        Phase::Fetch | Phase::Leave if looping.done < looping.n => (Phase::Enter, Some(Effect::MapEnter)),
        Phase::Fetch | Phase::Leave => (Phase::Final, Some(Effect::MapFinal)),
        Phase::Enter => (Phase::Call, None),
        Phase::Call => {
            looping.keep(value.clone());
            (Phase::Leave, Some(Effect::MapLeave))
        }
        Phase::Final => (Phase::Final, None),
    };
    if let LoopKind::MapData { phase, .. } = &mut looping.kind {
        *phase = next;
    }
    match effect {
        Some(effect) => Ok(Next::Effect(effect, top.clone())),
        None => advance(world, state, top, value),
    }
}
