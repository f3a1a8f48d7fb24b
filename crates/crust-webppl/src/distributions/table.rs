//! Finite tables of values with probabilities, and samples.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::json;
use crate::tape::Num;
use crate::value::{Text, Value};

pub struct Entry {
    /// The value as JSON: values with the same JSON are the same.
    pub key: Text,
    pub value: Value,
    pub prob: Num,
}

#[derive(Default)]
pub struct Table {
    pub entries: Vec<Entry>,
    index: HashMap<Text, usize>,
}

impl Table {
    /// The entry of a value; a new one has probability `zero`.
    pub fn entry(&mut self, value: &Value, zero: f64) -> &mut Entry {
        let i = self.place(value, zero);
        &mut self.entries[i]
    }

    fn place(&mut self, value: &Value, zero: f64) -> usize {
        let key = Text::from(json::key(value));
        match self.index.get(&key) {
            Some(i) => *i,
            None => {
                self.index.insert(key.clone(), self.entries.len());
                self.entries.push(Entry { key, value: value.clone(), prob: Num::Plain(zero) });
                self.entries.len() - 1
            }
        }
    }

    /// How often each value was met, as a part of all.
    fn count<'a>(values: impl ExactSizeIterator<Item = &'a Value>) -> Self {
        let (mut table, mut counts) = (Self::default(), Vec::<u64>::new());
        // where values are that were met before, without writing them as JSON
        let mut near = vec![(NOTHING, 0); 1 << NEAR];
        let n = values.len() as f64;
        for value in values {
            let identity = identity(value);
            let slot = ((identity.0 ^ identity.1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - NEAR)) as usize;
            let place = match near[slot] {
                (known, place) if known == identity && identity != NOTHING => place,
                _ => {
                    let place = table.place(value, 0.0);
                    near[slot] = (identity, place);
                    place
                }
            };
            if place == counts.len() {
                counts.push(0);
            }
            counts[place] += 1;
        }
        for (entry, count) in table.entries.iter_mut().zip(counts) {
            entry.prob = Num::Plain(count as f64 / n);
        }
        table
    }

    /// Adds to the probability of a value.
    pub fn add(&mut self, value: &Value, prob: &Num) {
        let entry = self.entry(value, 0.0);
        entry.prob = entry.prob.add(prob);
    }

    pub fn score(&self, value: &Value) -> Num {
        match self.index.get(&Text::from(json::key(value))) {
            Some(i) => self.entries[*i].prob.ln(),
            None => Num::Plain(f64::NEG_INFINITY),
        }
    }

    pub fn primal(&self) -> Self {
        let entry =
            |e: &Entry| Entry { key: e.key.clone(), value: e.value.deep_primal(), prob: Num::Plain(e.prob.value()) };
        Self { entries: self.entries.iter().map(entry).collect(), index: self.index.clone() }
    }

    pub fn values(&self) -> Value {
        Value::array(self.ordered().iter().map(|e| e.value.clone()).collect())
    }

    pub fn probabilities(&self) -> Value {
        Value::array(self.ordered().iter().map(|e| e.prob.clone().into_value()).collect())
    }

    /// Entries as JavaScript lists them: keys that are array indices first, in ascending order.
    pub fn ordered(&self) -> Vec<&Entry> {
        let mut out: Vec<(Option<u32>, &Entry)> =
            self.entries.iter().map(|e| (crate::object::array_index(&e.key), e)).collect();
        out.sort_by_key(|(i, _)| i.map_or((1, 0), |i| (0, i)));
        out.into_iter().map(|(_, e)| e).collect()
    }

    /// Keys to values and probabilities.
    pub fn to_object(&self) -> Value {
        let field = |e: &&Entry| {
            let pair = [(Text::from("val"), e.value.clone()), (Text::from("prob"), e.prob.clone().into_value())];
            (e.key.clone(), Value::object(pair))
        };
        Value::object(self.ordered().iter().map(field))
    }
}

/// Values with the same identity are the same; the other way round need not hold.
fn identity(value: &Value) -> (u64, u64) {
    match value {
        Value::Bool(x) => (1, u64::from(*x)),
        Value::Number(x) => (2, x.to_bits()),
        Value::Text(t) => (5, t.address()),
        Value::Array(a) => (3, Rc::as_ptr(a) as u64),
        Value::Object(o) => (4, Rc::as_ptr(o) as u64),
        _ => NOTHING,
    }
}

const NOTHING: (u64, u64) = (0, 0);
/// The logarithm of how many values are looked up quickly.
const NEAR: u32 = 8;

/// Samples with their scores.
#[derive(Default)]
pub struct Samples {
    pub samples: Vec<(Value, Option<f64>)>,
    table: OnceCell<Rc<Table>>,
}

impl Samples {
    pub fn new(samples: Vec<(Value, Option<f64>)>) -> Self {
        Self { samples, table: OnceCell::new() }
    }

    /// How often each value was met.
    pub fn table(&self) -> Rc<Table> {
        let make = || Rc::new(Table::count(self.samples.iter().map(|(value, _)| value)));
        self.table.get_or_init(make).clone()
    }

    pub fn to_array(&self) -> Value {
        let sample = |(value, score): &(Value, Option<f64>)| {
            let mut fields = vec![(Text::from("value"), value.clone())];
            fields.extend(score.map(|s| (Text::from("score"), Value::Number(s))));
            Value::object(fields)
        };
        Value::array(self.samples.iter().map(sample).collect())
    }
}
