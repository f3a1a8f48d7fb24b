//! Assignments: whole variables are bound anew, elements are written in place and what was there is kept for the way
//! back.

use crust_stan::span::Span;
use smallvec::SmallVec;

use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Run, Stop, Variable, fatal};
use crate::code::{Index, Slot, Step};
use crate::kernels::gather;
use crate::memory::{Block, Flags};

/// Where numbers that are assigned to live: a variable, or a part of a tuple.
#[derive(Clone, Copy)]
pub(super) enum Home {
    Slot(Slot),
    Part(usize),
}

impl Machine {
    pub(super) fn assign(&mut self, slot: Slot, path: &[Step], value: Value, mutable: bool, span: Span) -> Run<()> {
        if path.is_empty() {
            let variable = self.variable(slot);
            if let (Value::Numbers(old), Value::Numbers(new)) = (variable.value, value) {
                Self::check_shape(old.shape, new.shape, span)?;
            }
            let value = self.own(value, mutable)?;
            let value = self.widened(value, variable.declared)?;
            *self.slot_mut(slot) = Variable { value, read: true, ..variable };
            return Ok(());
        }
        let mut home = Home::Slot(slot);
        let mut indices: SmallVec<[&[Index]; 4]> = SmallVec::new();
        for step in path {
            match step {
                Step::Index(list) => indices.push(list),
                Step::Part(part) => match self.read(home) {
                    // An array of tuples is a tuple of arrays: the index waits for the part.
                    Value::Tuple { first, .. } => home = Home::Part(first as usize + part),
                    _ => return fatal("internal", "this is not a tuple", span),
                },
            }
        }
        self.assign_at(home, &indices, value, span)
    }

    fn read(&self, home: Home) -> Value {
        match home {
            Home::Slot(slot) => self.variable(slot).value,
            Home::Part(at) => self.tuples[at],
        }
    }

    fn write(&mut self, home: Home, value: Value) {
        match home {
            Home::Slot(slot) => self.slot_mut(slot).value = value,
            Home::Part(at) => self.tuples[at] = value,
        }
    }

    fn assign_at(&mut self, home: Home, indices: &[&[Index]], value: Value, span: Span) -> Run<()> {
        match (self.read(home), value) {
            (Value::Tuple { first, parts }, Value::Tuple { first: from, .. }) => {
                for part in 0..parts {
                    let value = self.tuples[(from + part) as usize];
                    self.assign_at(Home::Part((first + part) as usize), indices, value, span)?;
                }
                Ok(())
            }
            (Value::Numbers(view), Value::Numbers(new)) if indices.is_empty() => {
                Self::check_shape(view.shape, new.shape, span)?;
                let value = self.own(Value::Numbers(new), true)?;
                self.write(home, value);
                Ok(())
            }
            (Value::Numbers(view), Value::Numbers(new)) => {
                let selection = match indices {
                    [only] => self.select(&view.shape, only, span)?,
                    // `x[i][j]` is `x[i, j]`.
                    [singles @ .., _] if singles.iter().all(|list| list.iter().all(is_single)) => {
                        let all: Vec<Index> = indices.iter().flat_map(|list| list.iter().cloned()).collect();
                        self.select(&view.shape, &all, span)?
                    }
                    _ => {
                        return fatal("not-supported", "the engine cannot assign through this chain of indices", span);
                    }
                };
                self.assign_elements(home, view, selection, new, span)
            }
            _ => fatal("internal", "this cannot be assigned", span),
        }
    }

    fn assign_elements(
        &mut self,
        home: Home,
        view: View,
        mut selection: super::index::Selection,
        value: View,
        span: Span,
    ) -> Run<()> {
        Self::check_shape(selection.shape, value.shape, span)?;
        let value = self.apart_from(view, value)?;
        let picks = self.offsets(&mut selection);
        if self.tracer.is_some() {
            self.traced_assignment(view.block, &picks, value.block);
            self.give_picks(picks);
            return Ok(());
        }
        if !selection.varies() {
            let x = self.storage(home, view, value.block.flags)?;
            let saved = self.save(home, picks.len(), x.flags, |this, saved| {
                gather::save(&mut this.arena, this.width, x, &picks, saved);
            })?;
            gather::assign(&mut self.arena, self.width, x, &picks, value.block);
            if self.logging() {
                let index = self.tape.list(&picks);
                self.tape.push(Entry::Assign { x, index, v: value.block, saved });
            }
            self.give_picks(picks);
            return Ok(());
        }
        let index = self.varying_index(&picks, &selection)?;
        self.give_picks(picks);
        // A variable from outside of the tile has a part for each iteration; one from inside is another one in each.
        let inside = view.block.start() >= self.tile_base;
        let mut flags = value.block.flags.with(index.flags);
        if !inside {
            flags = flags.without(Flags::TILE);
        }
        let x = self.storage(home, view, flags)?;
        let all = x.flags.with(index.flags).with(value.block.flags.without(Flags::GRADIENT));
        let saved = self.save(home, index.count(), all, |this, saved| {
            gather::save_varying(&mut this.arena, this.width, x, index, value.block, saved);
        })?;
        gather::assign_varying(&mut self.arena, self.width, x, index, value.block);
        if self.logging() {
            self.tape.push(Entry::AssignVarying { x, index, v: value.block, saved });
        }
        Ok(())
    }

    /// A value that does not change while a variable is written to: a copy where it is several numbers of that variable,
    /// as in `x[{2, 1}] = x`.
    fn apart_from(&mut self, variable: View, value: View) -> Run<View> {
        let (x, v) = (variable.block.range(self.width), value.block.range(self.width));
        if value.block.n <= 1 || v.end <= x.start || x.end <= v.start {
            return Ok(value);
        }
        let block = self.allocate(value.block.count(), value.block.flags.axes())?;
        self.spread(value.block, block);
        Ok(View { block, ..value })
    }

    /// Whether changes of variables are remembered.
    fn logging(&self) -> bool {
        self.recording || self.transaction
    }

    /// Room for what is going to be overwritten, filled by `copy`. What nobody has seen need not be kept.
    pub(super) fn save(
        &mut self,
        home: Home,
        n: usize,
        flags: Flags,
        copy: impl FnOnce(&mut Self, Block),
    ) -> Run<Option<Block>> {
        let seen = !matches!(home, Home::Slot(slot) if !self.variable(slot).read);
        if !self.logging() || !seen {
            return Ok(None);
        }
        let saved = self.allocate(n, flags)?;
        copy(self, saved);
        Ok(Some(saved))
    }

    /// The storage of a variable with at least these axes; it is enlarged where it lacks some.
    pub(super) fn storage(&mut self, home: Home, view: View, flags: Flags) -> Run<Block> {
        let wanted = view.block.flags.with(flags).axes();
        let wanted = if self.recording { wanted } else { wanted.without(Flags::GRADIENT) };
        if wanted == view.block.flags.axes() {
            return Ok(view.block);
        }
        if let Home::Slot(slot) = home {
            let id = self.variable(slot).declared as usize;
            if let Some(learned) = self.learned.get_mut(id) {
                *learned = learned.with(wanted);
            }
            if self.width.tile > 1 && view.block.start() < self.tile_base {
                // What lies outside of the tile cannot be replaced from inside.
                return Err(Stop::Again);
            }
        } else if self.width.tile > 1 && view.block.start() < self.tile_base {
            return Err(Stop::TileUnfit);
        }
        let block = self.allocate(view.block.count(), wanted)?;
        self.spread(view.block, block);
        self.write(home, Value::Numbers(View { shape: view.shape, block }));
        Ok(block)
    }
}

/// Whether an index picks one element.
fn is_single(index: &Index) -> bool {
    matches!(index, Index::Single(_))
}
