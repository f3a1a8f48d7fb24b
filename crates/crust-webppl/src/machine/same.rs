//! Whether two executions are in the same state, so that they go on in the same way.

use std::rc::Rc;

use super::State;
use super::frame::{Body, Frame, mix};
use crate::coerce;
use crate::object::Fields;
use crate::value::Value;

/// Comparisons that are made before the answer is no. States that differ mostly differ at once.
const BUDGET: usize = 128;

/// True only if the states are the same; a false may also mean that finding out would take too long.
pub fn same(a: &State, b: &State) -> bool {
    let mut budget = BUDGET;
    let budget = &mut budget;
    (Rc::ptr_eq(&a.store, &b.store) || fields(&a.store.fields(), &b.store.fields(), budget))
        && (Rc::ptr_eq(&a.query, &b.query) || fields(&a.query, &b.query, budget))
        && match (&a.input, &b.input) {
            (None, None) => true,
            (Some(x), Some(y)) => values(x, y, budget),
            _ => false,
        }
        && frames(a.top.as_ref(), b.top.as_ref(), budget)
}

/// The same for values.
pub(super) fn are_same(a: &Value, b: &Value) -> bool {
    values(a, b, &mut { BUDGET })
}

/// A number that is equal for states that are the same.
pub fn digest(state: &State) -> u64 {
    let mut sum = 0;
    let mut add = |x: u64| sum = mix(sum, x);
    let mut frame = state.top.as_ref();
    // the innermost calls say most, and addresses stand for the others
    for _ in 0..3 {
        let Some(f) = frame else { break };
        add(f.addr ^ u64::from(f.pc));
        match &f.body {
            Body::Loop(looping) => looping.digest(&mut add),
            _ => f.stack.iter().for_each(|value| add(bits(value))),
        }
        frame = f.parent.as_ref();
    }
    state.input.iter().for_each(|value| add(bits(value)));
    sum
}

/// The same for values that are the same.
pub(super) fn bits(value: &Value) -> u64 {
    match value {
        Value::Number(x) => x.to_bits(),
        Value::Bool(x) => u64::from(*x) + 2,
        Value::Text(text) => text.bytes().take(16).fold(text.len() as u64, |sum, byte| mix(sum, u64::from(byte))),
        Value::Array(a) => a.items().len() as u64 + 4,
        _ => 1,
    }
}

pub(super) fn spend(budget: &mut usize) -> bool {
    let left = *budget > 0;
    *budget = budget.saturating_sub(1);
    left
}

fn fields(a: &Fields, b: &Fields, budget: &mut usize) -> bool {
    a.len() == b.len() && a.iter().zip(b.iter()).all(|((k, v), (l, w))| spend(budget) && k == l && values(v, w, budget))
}

/// Numbers by their bits (0 and −0 go different ways), everything else by identity; short arrays by their items.
pub(super) fn values(a: &Value, b: &Value, budget: &mut usize) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x.to_bits() == y.to_bits(),
        (Value::Array(x), Value::Array(y)) if !Rc::ptr_eq(x, y) => {
            let (x, y) = (x.items(), y.items());
            x.len() == y.len()
                && x.len() <= 8
                && x.iter().zip(y.iter()).all(|(v, w)| spend(budget) && values(v, w, budget))
        }
        (Value::Closure(f), Value::Closure(g)) if !Rc::ptr_eq(f, g) => {
            Rc::ptr_eq(&f.proto, &g.proto)
                && f.captured.iter().zip(&g.captured).all(|(v, w)| spend(budget) && values(v, w, budget))
        }
        // a variable that is defined later may become different
        (Value::Cell(x), Value::Cell(y)) => Rc::ptr_eq(x, y),
        (Value::Ad(_), _) | (_, Value::Ad(_)) => false,
        (a, b) => coerce::identical(a, b),
    }
}

fn frames(mut a: Option<&Rc<Frame>>, mut b: Option<&Rc<Frame>>, budget: &mut usize) -> bool {
    loop {
        let (x, y) = match (a, b) {
            (None, None) => return true,
            (Some(x), Some(y)) => (x, y),
            _ => return false,
        };
        if Rc::ptr_eq(x, y) {
            return true;
        }
        let alike = spend(budget)
            && x.pc == y.pc
            && x.addr == y.addr
            && x.stack.len() == y.stack.len()
            && bodies(&x.body, &y.body, budget)
            && x.stack.iter().zip(&y.stack).all(|(v, w)| spend(budget) && values(v, w, budget));
        if !alike {
            return false;
        }
        (a, b) = (x.parent.as_ref(), y.parent.as_ref());
    }
}

fn bodies(a: &Body, b: &Body, budget: &mut usize) -> bool {
    match (a, b) {
        (Body::Code(f), Body::Code(g)) => values(&Value::Closure(f.clone()), &Value::Closure(g.clone()), budget),
        (Body::Loop(x), Body::Loop(y)) => x.same(y, budget),
        (Body::Mem(k), Body::Mem(l)) => k == l,
        (Body::Root, Body::Root) => true,
        _ => false,
    }
}
