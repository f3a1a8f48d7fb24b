//! Sorting as WebPPL does it: a merge sort that deals items out in turn, so that ties come out the same.

use super::{arg, expect_array};
use crate::coerce;
use crate::error::Run;
use crate::machine::operators;
use crate::value::Value;
use crate::world::World;

struct Order {
    predicate: Value,
    key: Value,
}

impl Order {
    fn key(&self, world: &mut World, item: &Value) -> Run<Value> {
        if self.key.is_function() {
            world.call_sync(&self.key, vec![item.clone()], "the key function of sort")
        } else {
            Ok(item.clone())
        }
    }

    fn before(&self, world: &mut World, a: &Value, b: &Value) -> Run<bool> {
        let (a, b) = (self.key(world, a)?, self.key(world, b)?);
        let result = if self.predicate.is_function() {
            world.call_sync(&self.predicate, vec![a, b], "the predicate of sort")?
        } else {
            operators::binary(crate::ast::Binary::Less, &a, &b)?
        };
        Ok(coerce::truthy(&result))
    }

    fn merge(&self, world: &mut World, a: &[Value], b: &[Value]) -> Run<Vec<Value>> {
        let mut out = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if self.before(world, &a[i], &b[j])? {
                out.push(a[i].clone());
                i += 1;
            } else {
                out.push(b[j].clone());
                j += 1;
            }
        }
        out.extend_from_slice(&a[i..]);
        out.extend_from_slice(&b[j..]);
        Ok(out)
    }

    fn sort(&self, world: &mut World, items: Vec<Value>) -> Run<Vec<Value>> {
        if items.len() <= 1 {
            return Ok(items);
        }
        let even = items.iter().step_by(2).cloned().collect();
        let odd = items.iter().skip(1).step_by(2).cloned().collect();
        let (even, odd) = (self.sort(world, even)?, self.sort(world, odd)?);
        self.merge(world, &even, &odd)
    }
}

fn run(world: &mut World, args: &[Value], predicate: Value, key: Value) -> Run<Value> {
    let items = expect_array(args, 0, "sort")?.items().clone();
    Ok(Value::array(Order { predicate, key }.sort(world, items)?))
}

/// `sort(items, predicate, key)`
pub fn sort(world: &mut World, args: &[Value]) -> Run<Value> {
    run(world, args, arg(args, 1), arg(args, 2))
}

/// `sortOn(items, key, predicate)`
pub fn sort_on(world: &mut World, args: &[Value]) -> Run<Value> {
    run(world, args, arg(args, 2), arg(args, 1))
}

/// `_sort(items, predicate, key)`
pub fn sort_full(world: &mut World, args: &[Value]) -> Run<Value> {
    sort(world, args)
}

/// `_merge(a, b, predicate, key)`
pub fn merge_full(world: &mut World, args: &[Value]) -> Run<Value> {
    let (a, b) = (expect_array(args, 0, "_merge")?.items().clone(), expect_array(args, 1, "_merge")?.items().clone());
    let order = Order { predicate: arg(args, 2), key: arg(args, 3) };
    Ok(Value::array(order.merge(world, &a, &b)?))
}
