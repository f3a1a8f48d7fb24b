//! Values of nodes: computing them, taking changes back, checking guards.

use super::{Check, FINITE, GUARD, Graph, Kind, NUMBER, Shape, TERM, Update};
use crate::record::Input;
use crate::value::Value;

impl Graph {
    /// The value of a node that is no number.
    #[inline]
    pub(super) fn object(&self, node: u32) -> Option<&Value> {
        match self.shape.slots[node as usize] {
            NUMBER => None,
            slot => self.objects.get(slot as usize),
        }
    }

    /// The value of a node.
    pub(super) fn value(&self, node: u32) -> Value {
        if let Some(object) = self.object(node) {
            return object.clone();
        }
        let x = self.numbers[node as usize];
        match self.shape.kinds[node as usize] {
            Kind::Scalar(op) if op.is_test() => Value::Bool(x != 0.0),
            _ => Value::Number(x),
        }
    }

    pub(super) fn input(&self, input: &Input) -> Value {
        match input {
            Input::Value(value) => value.clone(),
            Input::Node(node) => self.value(*node),
        }
    }

    /// A value with its nodes replaced by what they are now.
    pub(super) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::Ad(ad) => self.value(ad.index),
            Value::Array(a) if value.has_derivatives() => {
                Value::array(a.items().iter().map(|v| self.fill(v)).collect())
            }
            Value::Object(o) if value.has_derivatives() => {
                Value::object(o.fields().iter().map(|(k, v)| (k.clone(), self.fill(v))))
            }
            other => other.clone(),
        }
    }

    /// Changes are taken back up to here.
    pub fn begin(&mut self) {
        self.undo.clear();
        self.undo_objects.clear();
        self.undo_sums = self.sums;
    }

    /// Takes all changes since [`Graph::begin`] back.
    pub fn undo(&mut self) {
        while let Some((i, old)) = self.undo.pop() {
            self.numbers[i as usize] = old;
        }
        while let Some((i, old)) = self.undo_objects.pop() {
            self.objects[i as usize] = old;
        }
        self.sums = self.undo_sums;
    }

    pub(super) fn place(&mut self, node: u32, value: Value) {
        let i = node as usize;
        if let Value::Number(x) = value {
            self.undo.push((node, std::mem::replace(&mut self.numbers[i], x)));
        } else {
            let slot = self.shape.slots[i];
            if let Some(object) = self.objects.get_mut(slot as usize) {
                self.undo_objects.push((slot, std::mem::replace(object, value)));
            }
        }
    }

    /// Computes a node again.
    #[inline]
    pub(super) fn compute(&mut self, shape: &Shape, node: u32) -> Update {
        let i = node as usize;
        match shape.kinds[i] {
            Kind::Scalar(op) => {
                let [a, b, c] = shape.args[i];
                let numbers = &mut self.numbers;
                let new = op.value([numbers[a as usize], numbers[b as usize], numbers[c as usize]]);
                let old = numbers[i];
                if new.to_bits() == old.to_bits() {
                    return Update::Done;
                }
                numbers[i] = new;
                self.undo.push((node, old));
                if shape.flags[i] != 0 { self.note(shape, node, old) } else { Update::Done }
            }
            Kind::General(at) => {
                let general = &shape.general[at as usize];
                let inputs: Vec<Value> = general.inputs.iter().map(|input| self.input(input)).collect();
                let Ok(value) = (general.function)(&inputs) else { return Update::Broken };
                let is_number = matches!(value, Value::Number(_));
                // what was a number stays one
                if is_number != (shape.slots[i] == NUMBER) {
                    return Update::Broken;
                }
                let old = self.numbers[i];
                self.place(node, value);
                if shape.flags[i] != 0 { self.note(shape, node, old) } else { Update::Done }
            }
            Kind::Leaf => Update::Done,
        }
    }

    /// Computes all nodes again. What was there before is lost.
    pub(super) fn compute_all(&mut self, shape: &Shape) -> Update {
        for i in 0..shape.kinds.len() {
            if let Kind::Scalar(op) = shape.kinds[i] {
                let [a, b, c] = shape.args[i];
                let numbers = &mut self.numbers;
                let new = op.value([numbers[a as usize], numbers[b as usize], numbers[c as usize]]);
                numbers[i] = new;
                if shape.flags[i] & TERM != 0 && (new.is_nan() || new.is_infinite()) {
                    return if new == f64::NEG_INFINITY { Update::Impossible } else { Update::Broken };
                }
            } else {
                self.begin();
                let update = self.compute(shape, u32::try_from(i).unwrap_or(NUMBER));
                if update != Update::Done {
                    return update;
                }
            }
            if shape.flags[i] & (GUARD | FINITE) != 0 && !self.holds(shape, u32::try_from(i).unwrap_or(NUMBER)) {
                return Update::Broken;
            }
        }
        self.sum_up();
        Update::Done
    }

    /// Adds the change of a term, and checks guards.
    fn note(&mut self, shape: &Shape, node: u32, old: f64) -> Update {
        let i = node as usize;
        if !self.holds(shape, node) {
            return Update::Broken;
        }
        if shape.flags[i] & TERM != 0 {
            let new = self.numbers[i];
            // the program says what is wrong with it
            if new.is_nan() || new == f64::INFINITY {
                return Update::Broken;
            }
            if new == f64::NEG_INFINITY {
                return Update::Impossible;
            }
            for (sum, count) in self.sums.iter_mut().zip(shape.terms[i]) {
                if count > 0 {
                    *sum += f64::from(count) * (new - old);
                }
            }
        }
        Update::Done
    }

    /// Whether the guards of a node hold.
    #[inline]
    pub(super) fn holds(&self, shape: &Shape, node: u32) -> bool {
        let flags = shape.flags[node as usize];
        (flags & FINITE == 0 || self.numbers[node as usize].is_finite())
            && (flags & GUARD == 0 || self.holds_all(shape, node))
    }

    fn holds_all(&self, shape: &Shape, node: u32) -> bool {
        let guards = &shape.guards;
        let first = guards.partition_point(|(of, _)| *of < node);
        let all = guards[first..].iter().take_while(|(of, _)| *of == node);
        all.into_iter().all(|(_, check)| match check {
            Check::Value(Value::Tensor(t)) => match self.object(node) {
                Some(Value::Tensor(now)) => now.dims == t.dims && now.data == t.data,
                _ => false,
            },
            check => check.holds_number(self.numbers[node as usize]),
        })
    }

    /// Log prior and factors from all their terms.
    pub(super) fn sum_up(&mut self) {
        let mut sums = self.shape.constant;
        for &node in &self.shape.scored {
            let x = self.numbers[node as usize];
            for (sum, count) in sums.iter_mut().zip(self.shape.terms[node as usize]) {
                if count > 0 {
                    *sum += f64::from(count) * x;
                }
            }
        }
        self.sums = sums;
    }
}
