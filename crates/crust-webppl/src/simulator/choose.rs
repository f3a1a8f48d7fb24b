//! Executions whose choices are known.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Drawn, Numbers, Plain};
use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::infer::trace::Choose;
use crate::machine::State;
use crate::value::Value;
use crate::world::World;

/// The choices of an earlier execution.
pub struct Replay<'a> {
    choices: &'a [Drawn],
    cursor: usize,
}

impl<'a> Replay<'a> {
    pub fn new(choices: &'a [Drawn]) -> Self {
        Self { choices, cursor: 0 }
    }
}

impl Choose for Replay<'_> {
    fn choose(&mut self, _: &mut World, addr: u64, dist: &Rc<Dist>, _: &State) -> Run<Value> {
        match self.choices.get(self.cursor) {
            Some(choice) if choice.address == addr => {
                self.cursor += 1;
                Ok(choice.value.value(Some(dist)))
            }
            _ => fail("an execution does not make the same choices a second time"),
        }
    }
}

/// Choices of named variables take given numbers, in order.
pub struct Named<'a> {
    numbers: &'a Numbers,
    taken: HashMap<String, usize>,
    /// Others are drawn.
    draw_others: bool,
}

impl<'a> Named<'a> {
    pub fn some(numbers: &'a Numbers) -> Self {
        Self { numbers, taken: HashMap::new(), draw_others: true }
    }

    pub fn all(numbers: &'a Numbers) -> Self {
        Self { draw_others: false, ..Self::some(numbers) }
    }
}

impl Choose for Named<'_> {
    fn choose(&mut self, world: &mut World, _: u64, dist: &Rc<Dist>, state: &State) -> Run<Value> {
        let value = world.draw(dist)?;
        if self.draw_others && self.numbers.is_empty() {
            return Ok(value);
        }
        let name = state.variable().map_or_else(|| "choice".to_owned(), |name| name.to_string());
        let Some(all) = self.numbers.get(&name) else {
            return if self.draw_others {
                Ok(value)
            } else {
                fail(format!("'{name}' is not a variable of the model that the data were simulated with"))
            };
        };
        // a draw says of what kind the value is, and how many numbers it has
        let Some(kind) = Plain::drawn(dist, &value) else { return Ok(value) };
        let count = kind.numbers().len();
        let from = self.taken.entry(name.clone()).or_default();
        let Some(numbers) = all.get(*from..*from + count) else {
            return fail(format!("'{name}' has more numbers than in the model that the data were simulated with"));
        };
        *from += count;
        Ok(kind.with_numbers(&mut numbers.iter().copied()).value(Some(dist)))
    }
}
