//! Objects: keys to values, in JavaScript's order of keys.

use std::cell::{Ref, RefCell};
use std::collections::HashMap;

use crate::value::{Text, Value};

/// Above this size an index of keys is kept.
const INDEXED: usize = 16;

/// Fields in order of insertion. JavaScript lists keys that are array indices first, see [`Fields::ordered`].
#[derive(Clone, Default)]
pub struct Fields {
    entries: Vec<(Text, Value)>,
    index: Option<HashMap<Text, usize>>,
}

impl Fields {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn position(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&Text::from(key)).copied(),
            None => self.entries.iter().position(|(k, _)| &**k == key),
        }
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|i| &self.entries[i].1)
    }

    /// Like [`Fields::get`], quicker for a key that is the same string as the one stored.
    #[inline]
    pub fn get_text(&self, key: &Text) -> Option<&Value> {
        if self.index.is_none() {
            for (k, v) in &self.entries {
                if k.same(key) {
                    return Some(v);
                }
            }
        }
        self.get(key)
    }

    pub fn set(&mut self, key: Text, value: Value) {
        let position = match &self.index {
            Some(index) => index.get(&key).copied(),
            None => self.position(&key),
        };
        if let Some(i) = position {
            self.entries[i].1 = value;
            return;
        }
        if let Some(index) = &mut self.index {
            index.insert(key.clone(), self.entries.len());
        }
        self.entries.push((key, value));
        if self.index.is_none() && self.entries.len() > INDEXED {
            self.index = Some(self.entries.iter().enumerate().map(|(i, (k, _))| (k.clone(), i)).collect());
        }
    }

    /// Removes the oldest field.
    pub fn remove_first(&mut self) {
        if !self.entries.is_empty() {
            self.entries.remove(0);
            self.index = None;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Text, Value)> {
        self.entries.iter()
    }

    /// Fields as JavaScript lists them: array indices in ascending order, then the others by insertion.
    pub fn ordered(&self) -> Vec<(Text, Value)> {
        let mut numbered: Vec<(u32, usize)> =
            self.entries.iter().enumerate().filter_map(|(i, (k, _))| Some((array_index(k)?, i))).collect();
        if numbered.is_empty() {
            return self.entries.clone();
        }
        numbered.sort_unstable();
        let first = numbered.iter().map(|(_, i)| self.entries[*i].clone());
        let rest = self.entries.iter().filter(|(k, _)| array_index(k).is_none()).cloned();
        first.chain(rest).collect()
    }
}

/// The index that a key stands for, if it is written as JavaScript writes it.
pub fn array_index(key: &str) -> Option<u32> {
    let bytes = key.as_bytes();
    let plain = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit) && (bytes.len() == 1 || bytes[0] != b'0');
    if plain { key.parse().ok().filter(|n| *n != u32::MAX) } else { None }
}

/// An object. Only library functions and `globalStore` change one.
#[derive(Default)]
pub struct Object(RefCell<Fields>);

impl Object {
    pub fn fields(&self) -> Ref<'_, Fields> {
        self.0.borrow()
    }

    pub fn get(&self, key: &str) -> Option<Value> {
        self.0.borrow().get(key).cloned()
    }

    pub fn set(&self, key: Text, value: Value) {
        self.0.borrow_mut().set(key, value);
    }
}

impl Clone for Object {
    fn clone(&self) -> Self {
        Self(RefCell::new(self.0.borrow().clone()))
    }
}

impl From<Fields> for Object {
    fn from(fields: Fields) -> Self {
        Self(RefCell::new(fields))
    }
}

impl FromIterator<(Text, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(iter: I) -> Self {
        let mut fields = Fields::default();
        for (k, v) in iter {
            fields.set(k, v);
        }
        Self(RefCell::new(fields))
    }
}
