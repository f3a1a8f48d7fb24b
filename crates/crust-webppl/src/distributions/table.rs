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
        let key = Text::from(json::key(value));
        let i = match self.index.get(&key) {
            Some(i) => *i,
            None => {
                self.index.insert(key.clone(), self.entries.len());
                self.entries.push(Entry { key, value: value.clone(), prob: Num::Plain(zero) });
                self.entries.len() - 1
            }
        };
        &mut self.entries[i]
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
        let make = || {
            let mut table = Table::default();
            for (value, _) in &self.samples {
                table.add(value, &Num::Plain(1.0));
            }
            let n = self.samples.len() as f64;
            for entry in &mut table.entries {
                entry.prob = Num::Plain(entry.prob.value() / n);
            }
            Rc::new(table)
        };
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
