//! Shapes written down for people.

use super::shape::{Choice, Gives, Instance, Shape, Slot};
use crate::types::Type;

/// Stand for the families of a shape, in the order in which these occur.
const LETTERS: [&str; 3] = ["T", "S", "U"];

/// The texts that explain one shape. A shape with a small family is clearest as one text per position; larger ones use
/// letters.
pub(super) fn texts(shape: &Shape) -> Vec<String> {
    let shallow = *shape.dimensions.start();
    if shape.positions <= 2 {
        (0..shape.positions)
            .map(|position| Writer::plain(Instance { position, dimensions: shallow }).shape(shape))
            .collect()
    } else {
        vec![Writer::with_letters(shape, shallow).shape(shape)]
    }
}

/// `a, b or c`
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

struct Writer {
    at: Instance,
    /// One choice per family, to be called by a letter.
    families: Vec<Choice>,
}

impl Writer {
    fn plain(at: Instance) -> Self {
        Self { at, families: Vec::new() }
    }

    fn with_letters(shape: &Shape, dimensions: usize) -> Self {
        let mut families: Vec<Choice> = Vec::new();
        let results: &[Choice] = match &shape.gives {
            Gives::Choice(choice) => std::slice::from_ref(choice),
            Gives::Tuple(parts) => parts,
            Gives::Draws(_) => &[],
        };
        for choice in shape.slots.iter().flat_map(|slot| &slot.choices).chain(results) {
            if choice.family.is_some() && families.iter().all(|other| other.family != choice.family) {
                families.push(choice.clone());
            }
        }
        Self { at: Instance { position: 0, dimensions }, families }
    }

    fn shape(&self, shape: &Shape) -> String {
        let slots: Vec<_> = shape.slots.iter().map(|slot| self.slot(slot)).collect();
        let gives = match &shape.gives {
            Gives::Choice(choice) => self.choice(choice),
            Gives::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.choice(part)).collect();
                format!("tuple({})", parts.join(", "))
            }
            Gives::Draws(ty) if shape.slots.iter().all(|slot| is_scalar(slot)) => ty.to_string(),
            Gives::Draws(ty) => format!("{ty} or array[] {ty}"),
        };
        let deep = shape.dimensions.start() < shape.dimensions.end();
        let arrays = match (deep, *shape.dimensions.start()) {
            (false, _) => "",
            (true, 0) => "; also element by element for arrays",
            (true, _) => "; also for deeper arrays",
        };
        format!("({}) => {gives}{}{arrays}", slots.join(", "), self.meaning(shape.positions))
    }

    fn slot(&self, slot: &Slot) -> String {
        let data = if slot.data_only { "data " } else { "" };
        let named = slot.set.filter(|_| slot.choices.len() > 1);
        let text = named.map_or_else(
            || slot.choices.iter().map(|choice| self.choice(choice)).collect::<Vec<_>>().join(" | "),
            str::to_owned,
        );
        format!("{data}{text}")
    }

    fn choice(&self, choice: &Choice) -> String {
        let family = self.families.iter().position(|family| family.family == choice.family);
        let Some(letter) = family.and_then(|family| LETTERS.get(family)) else {
            return choice.ty(self.at).to_string();
        };
        let dimensions = if choice.deep { self.at.dimensions } else { 0 };
        if dimensions == 0 { (*letter).to_owned() } else { format!("array[{}] {letter}", ",".repeat(dimensions - 1)) }
    }

    /// What the letters stand for.
    fn meaning(&self, positions: usize) -> String {
        let type_at = |family: &Choice, position: usize| {
            let form = &family.forms[position];
            form.element.clone().in_array(form.depth).to_string()
        };
        let tuples: Vec<_> = (0..positions)
            .map(|position| {
                let types: Vec<_> = self.families.iter().map(|family| type_at(family, position)).collect();
                if types.len() == 1 { types.concat() } else { format!("({})", types.join(", ")) }
            })
            .collect();
        match self.families.len() {
            0 => String::new(),
            1 => format!(" where T is {}", list(&tuples)),
            count => format!(" where ({}) is {}", LETTERS[..count.min(LETTERS.len())].join(", "), list(&tuples)),
        }
    }
}

fn is_scalar(slot: &Slot) -> bool {
    slot.choices.iter().all(|choice| choice.forms.iter().all(|form| form.depth == 0 && form.element.is_scalar()))
}

/// The types of a set, for people.
pub(super) fn meaning_of_set(types: &[Type]) -> String {
    list(&types.iter().map(ToString::to_string).collect::<Vec<_>>())
}
