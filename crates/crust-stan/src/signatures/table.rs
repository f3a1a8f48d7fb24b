//! Reads the tables of the library. Their notation is explained in `vocabulary.txt`.
//!
//! The tables are part of the program, so mistakes in them are mistakes in the program: they panic, and the tests read
//! all tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use super::shape::{Choice, Form, Gives, Instance, Shape, Slot};
use crate::types::{ArgumentType, FunctionType, Type};

const VOCABULARY: &str = include_str!("vocabulary.txt");
const TABLES: [&str; 2] = [include_str!("functions.txt"), include_str!("distributions.txt")];

/// How deep stanc vectorises where nothing else is said.
const DEPTH: usize = 7;

/// All functions, by name.
pub(super) struct Library {
    shapes: Vec<Shape>,
    /// Sorted by name; the numbers are positions in `shapes`.
    functions: Vec<(String, Vec<usize>)>,
    /// The stems of `name_lpdf` and `name_lpmf`, sorted.
    distributions: Vec<String>,
    words: Words,
}

type Words = BTreeMap<&'static str, Word>;

/// The meaning of a word in the vocabulary.
struct Word {
    forms: Vec<Form>,
    /// Families are linked, sets are not.
    family: bool,
}

/// The library, read when it is first asked for.
pub(super) fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(Library::read)
}

impl Library {
    /// The shapes of a function; none if there is no such function.
    pub fn shapes(&self, name: &str) -> impl Iterator<Item = &Shape> + use<'_> {
        let name = stored_name(name);
        let found = self.functions.binary_search_by(|(other, _)| other.as_str().cmp(&name));
        let shapes = found.map_or(&[][..], |found| &self.functions[found].1);
        shapes.iter().map(|&shape| &self.shapes[shape])
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|(name, _)| name.as_str())
    }

    pub fn distributions(&self) -> impl Iterator<Item = &str> {
        self.distributions.iter().map(String::as_str)
    }

    pub fn is_distribution(&self, stem: &str) -> bool {
        self.distributions.binary_search_by(|other| other.as_str().cmp(stem)).is_ok()
    }

    /// The types in a set of the vocabulary.
    pub fn set(&self, word: &str) -> Option<Vec<Type>> {
        let word = self.words.get(word).filter(|word| !word.family)?;
        Some(word.forms.iter().map(|form| form.element.clone().in_array(form.depth)).collect())
    }

    fn read() -> Self {
        let words = read_vocabulary(VOCABULARY);
        let mut reader =
            Reader { words: &words, slots: BTreeMap::new(), shapes: Vec::new(), functions: BTreeMap::new() };
        for table in TABLES {
            reader.read(table);
        }
        let Reader { shapes, functions, .. } = reader;
        let functions: Vec<_> = functions.into_iter().collect();
        let mut distributions: Vec<String> = functions
            .iter()
            .filter_map(|(name, _)| name.strip_suffix("_lpdf").or_else(|| name.strip_suffix("_lpmf")))
            .map(str::to_owned)
            .collect();
        distributions.sort();
        Self { shapes, functions, distributions, words }
    }
}

/// The name under which a function is stored: unnormalised densities are like the normalised ones.
pub(super) fn stored_name(name: &str) -> Cow<'_, str> {
    for (unnormalised, normalised) in [("_lupdf", "_lpdf"), ("_lupmf", "_lpmf")] {
        if let Some(stem) = name.strip_suffix(unnormalised) {
            return Cow::Owned(format!("{stem}{normalised}"));
        }
    }
    Cow::Borrowed(name)
}

/// The lines that say something.
fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read_vocabulary(text: &'static str) -> Words {
    let mut words = Words::new();
    for line in lines(text) {
        let (word, meaning) = line.split_once('=').expect("a definition has the form `word = types`");
        let (word, meaning) = (word.trim(), meaning.trim());
        let family = meaning.contains(" / ");
        let forms = if meaning.starts_with('(') {
            vec![Form { element: read_functor(&words, meaning), depth: 0 }]
        } else {
            let parts = meaning.split(if family { " / " } else { " | " });
            parts.flat_map(|part| read_choices(&words, part.trim()).0).flat_map(|choice| choice.forms).collect()
        };
        words.insert(word, Word { forms, family });
    }
    words
}

/// `(real, data int[]) => real` as a type.
fn read_functor(words: &Words, text: &'static str) -> Type {
    let (slots, gives) = text.split_once(" => ").expect("a function type has the form `(types) => type`");
    let only = |text| read_choices(words, text).0[0].ty(Instance::FIRST);
    let arguments = inside(slots)
        .map(|slot| {
            let (data_only, text) = read_data(slot);
            ArgumentType { data_only, ty: only(text) }
        })
        .collect();
    Type::Function(Box::new(FunctionType { arguments, returns: Some(only(gives)) }))
}

/// Reads one table after the other.
struct Reader<'a> {
    words: &'a Words,
    slots: BTreeMap<&'static str, Arc<Slot>>,
    shapes: Vec<Shape>,
    functions: BTreeMap<String, Vec<usize>>,
}

/// A shape of the group being read, and the suffix of the names that have it.
type Group = Vec<(&'static str, usize)>;

impl Reader<'_> {
    fn read(&mut self, table: &'static str) {
        let (mut group, mut named) = (Group::new(), false);
        for line in lines(table) {
            if line.starts_with(' ') {
                named = true;
                for name in line.split_whitespace() {
                    self.add_names("", name, &group);
                }
                continue;
            }
            if named {
                group.clear();
                named = false;
            }
            if let Some((outcome, rest)) = line.split_once(" ~ ") {
                self.read_distribution(outcome, rest, &mut group);
            } else {
                let (slots, gives) = line.split_once(" => ").expect("a shape has the form `(types) => type`");
                group.push(("", self.add(inside(slots), read_gives(self.words, gives))));
            }
        }
    }

    fn read_distribution(&mut self, outcome: &'static str, rest: &'static str, group: &mut Group) {
        let (slots, suffixes) = rest.rsplit_once(')').expect("a distribution has the form `type ~ (types) suffixes`");
        let slots: Vec<_> = split(&slots[1..]).collect();
        let all = std::iter::once(outcome).chain(slots.iter().copied());
        let density = self.add(all, read_gives(self.words, "real"));
        for suffix in suffixes.split_whitespace() {
            if suffix == "rng" {
                let widened = slots.iter().map(|&slot| if slot == "reals" { "numbers" } else { slot });
                let draw = if outcome.starts_with("int") { Type::Int } else { Type::Real };
                let draws = self.add(widened, Gives::Draws(draw));
                group.push(("_rng", draws));
            } else {
                let suffix = ["_lpdf", "_lpmf", "_cdf", "_lcdf", "_lccdf"].iter().find(|known| known[1..] == *suffix);
                group.push((suffix.expect("a known suffix"), density));
            }
        }
    }

    /// Adds a shape and gives its position.
    fn add(&mut self, slots: impl Iterator<Item = &'static str>, gives: Gives) -> usize {
        let slots: Vec<_> = slots.map(|slot| self.slot(slot)).collect();
        let mut positions = 1;
        let mut dimensions = None;
        for slot in &slots {
            for length in slot.choices.iter().map(|choice| choice.forms.len()).filter(|&length| length > 1) {
                assert!(positions == 1 || positions == length, "families of different lengths in one shape");
                positions = length;
            }
            if let Some(marks) = &slot.dimensions {
                assert!(dimensions.is_none_or(|known| known == marks), "different depths in one shape");
                dimensions = Some(marks);
            }
        }
        let dimensions = dimensions.cloned().unwrap_or(0..=0);
        self.shapes.push(Shape { slots, gives, positions, dimensions });
        self.shapes.len() - 1
    }

    /// Reads a slot. Few slots are different, so all shapes share them.
    fn slot(&mut self, text: &'static str) -> Arc<Slot> {
        let words = self.words;
        let read = || {
            let (data_only, text) = read_data(text);
            let (choices, dimensions) = read_choices(words, text);
            let set = words.get_key_value(text).map(|(&word, _)| word);
            Arc::new(Slot { data_only, set, choices, dimensions })
        };
        Arc::clone(self.slots.entry(text).or_insert_with(read))
    }

    /// Gives all names that `pattern` stands for the shapes of the group.
    fn add_names(&mut self, before: &str, pattern: &str, group: &Group) {
        match pattern.split_once('{') {
            Some((start, rest)) => {
                let (variants, end) = rest.split_once('}').expect("a closing brace");
                for variant in variants.split(',') {
                    self.add_names(&[before, start, variant].concat(), end, group);
                }
            }
            None => {
                for (suffix, shape) in group {
                    self.functions.entry([before, pattern, suffix].concat()).or_default().push(*shape);
                }
            }
        }
    }
}

fn read_gives(words: &Words, text: &'static str) -> Gives {
    let only = |text| read_choices(words, text).0.remove(0);
    match text.strip_prefix("tuple(") {
        Some(parts) => Gives::Tuple(split(parts.trim_end_matches(')')).map(only).collect()),
        None => Gives::Choice(only(text)),
    }
}

fn read_data(slot: &'static str) -> (bool, &'static str) {
    slot.strip_prefix("data ").map_or((false, slot), |text| (true, text))
}

/// Reads `a|b|c`, and the depth marks in it.
fn read_choices(words: &Words, text: &'static str) -> (Vec<Choice>, Option<RangeInclusive<usize>>) {
    let (mut choices, mut dimensions) = (Vec::new(), None);
    for part in text.split('|') {
        let (part, marks) = read_depth_mark(part);
        let (name, depth) = match part.split_once('[') {
            Some((name, commas)) => (name, commas.len()),
            None => (part, 0),
        };
        let deep = marks.is_some();
        dimensions = dimensions.or(marks);
        let deeper = |form: &Form| Form { element: form.element.clone(), depth: form.depth + depth };
        if let Some(ty) = basic_type(name) {
            choices.push(Choice { forms: vec![Form { element: ty, depth }], family: None, deep });
            continue;
        }
        let (&name, word) = words.get_key_value(name).unwrap_or_else(|| panic!("unknown word `{name}`"));
        if word.family {
            choices.push(Choice { forms: word.forms.iter().map(deeper).collect(), family: Some(name), deep });
        } else {
            choices.extend(word.forms.iter().map(|form| Choice { forms: vec![deeper(form)], family: None, deep }));
        }
    }
    (choices, dimensions)
}

fn read_depth_mark(text: &'static str) -> (&'static str, Option<RangeInclusive<usize>>) {
    if let Some(text) = text.strip_suffix('*') {
        (text, Some(0..=DEPTH))
    } else if let Some(text) = text.strip_suffix('+') {
        (text, Some(1..=DEPTH))
    } else if let Some((text, limits)) = text.strip_suffix('}').and_then(|text| text.split_once('{')) {
        let (low, high) = limits.split_once(',').expect("a depth mark has the form `{low,high}`");
        let number = |text: &str| text.parse().expect("a number");
        (text, Some(number(low)..=number(high)))
    } else {
        (text, None)
    }
}

fn basic_type(name: &str) -> Option<Type> {
    Some(match name {
        "int" => Type::Int,
        "real" => Type::Real,
        "complex" => Type::Complex,
        "vector" => Type::Vector,
        "row_vector" => Type::RowVector,
        "matrix" => Type::Matrix,
        "complex_vector" => Type::ComplexVector,
        "complex_row_vector" => Type::ComplexRowVector,
        "complex_matrix" => Type::ComplexMatrix,
        _ => return None,
    })
}

/// The parts of `(a, b)`.
fn inside(text: &'static str) -> impl Iterator<Item = &'static str> {
    split(text.trim_start_matches('(').trim_end_matches(')'))
}

/// The parts of `a, b`; commas without a space belong to `[,]` and `{1,3}`.
fn split(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split(", ").filter(|part| !part.is_empty())
}
