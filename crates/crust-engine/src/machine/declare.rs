//! Declarations: shapes of variables, and the storage of those that are assigned by element.

use crust_math::functions::{Cell, Shape};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::value::{Value, View};
use super::{Machine, Run, Stop, Variable, fatal};
use crate::code::{Declared, Item, Node, Slot};
use crate::memory::Flags;

impl Machine {
    /// The shape that a declaration of numbers asks for.
    pub(crate) fn declared_shape(&mut self, arrays: &[usize], declared: &Declared) -> Run<Shape> {
        let mut all: SmallVec<[usize; 8]> = SmallVec::from_slice(arrays);
        for size in &declared.arrays {
            all.push(self.size(size)?);
        }
        let Item::Cell { cell, sizes, .. } = &declared.item else {
            return fatal("internal", "a tuple has no shape", declared.span);
        };
        let mut cell_sizes: SmallVec<[usize; 2]> = SmallVec::new();
        for size in sizes {
            cell_sizes.push(self.size(size)?);
        }
        let shape = checked_shape(&all, *cell, &cell_sizes, declared.span)?;
        self.room_for(shape, declared.span)?;
        Ok(shape)
    }

    fn size(&mut self, node: &Node) -> Run<usize> {
        let view = self.numbers(node)?;
        if self.uniform_number(view)?.is_nan() {
            let unset = Diagnostic::error("negative-size", "a size must not be negative", node.span);
            return Err(Stop::Fatal(Box::new(unset.label("this has never been given a value"))));
        }
        let n = self.int_of(view)?;
        if let Ok(n) = usize::try_from(n) {
            return Ok(n);
        }
        let negative = Diagnostic::error("negative-size", "a size must not be negative", node.span);
        Err(Stop::Fatal(Box::new(negative.label(format!("this is {n}")))))
    }

    pub(super) fn declare(
        &mut self,
        slot: Slot,
        declared: &Declared,
        initial: Option<&Node>,
        (mutable, id): (bool, u32),
    ) -> Run<()> {
        let value = match initial {
            Some(node) => {
                let value = self.eval(node)?;
                if let (Value::Numbers(view), Item::Cell { .. }) = (value, &declared.item) {
                    let shape = self.declared_shape(&[], declared)?;
                    Self::check_shape(shape, view.shape, node.span)?;
                }
                let value = self.own(value, mutable)?;
                self.widened(value, id)?
            }
            None => self.unset(&[], declared, (mutable, id))?,
        };
        *self.slot_mut(slot) = Variable { value, declared: id, read: initial.is_some() };
        Ok(())
    }

    /// A value without content: NaN everywhere.
    fn unset(&mut self, arrays: &[usize], declared: &Declared, (mutable, id): (bool, u32)) -> Run<Value> {
        match &declared.item {
            Item::Cell { .. } => {
                let shape = self.declared_shape(arrays, declared)?;
                let flags = if mutable { self.learned_axes(id) } else { Flags::UNIFORM };
                let block = self.allocate(shape.len(), flags)?;
                self.arena.of_mut(block, self.width).fill(f64::NAN);
                Ok(Value::Numbers(View { shape, block }))
            }
            Item::Tuple(parts) => {
                let mut all: SmallVec<[usize; 8]> = SmallVec::from_slice(arrays);
                for size in &declared.arrays {
                    all.push(self.size(size)?);
                }
                let mut values: SmallVec<[Value; 8]> = SmallVec::new();
                for part in parts {
                    values.push(self.unset(&all, part, (mutable, id))?);
                }
                Ok(self.push_tuple(&values))
            }
        }
    }

    /// Storage takes on at once the axes that it turned out to need before.
    fn learned_axes(&self, id: u32) -> Flags {
        let flags = self.learned.get(id as usize).copied().unwrap_or(Flags::UNIFORM);
        if self.width.tile > 1 { flags } else { flags.without(Flags::TILE) }
    }

    /// A variable's own numbers in storage that has the learned axes: inside of a tile it is too late to add any, and a
    /// run that is begun again because of that must not come to the same place with the same storage.
    pub(super) fn widened(&mut self, value: Value, id: u32) -> Run<Value> {
        let Value::Numbers(view) = value else { return Ok(value) };
        let axes = view.block.flags.axes();
        let wanted = axes.with(self.learned_axes(id)).axes();
        let wanted = if self.recording { wanted } else { wanted.without(Flags::GRADIENT) };
        if wanted == axes {
            return Ok(value);
        }
        let block = self.allocate(view.block.count(), wanted)?;
        self.spread(view.block, block);
        Ok(Value::Numbers(View { shape: view.shape, block }))
    }

    /// A value that a variable can hold: a copy where the numbers belong to a variable that may change, or where this
    /// one may.
    pub(super) fn own(&mut self, value: Value, mutable: bool) -> Run<Value> {
        match value {
            Value::Numbers(view) => {
                let flags = view.block.flags;
                let shared = flags.has(Flags::MUTABLE) || (mutable && flags.has(Flags::SHARED));
                let mut block = view.block;
                if shared {
                    block = self.allocate(block.count(), flags)?;
                    self.spread(view.block, block);
                }
                block.flags = block.flags.axes();
                Ok(Value::Numbers(View { shape: view.shape, block }))
            }
            Value::Tuple { first, parts } => {
                let mut values: SmallVec<[Value; 8]> = SmallVec::new();
                for part in first..first + parts {
                    let part = self.tuples[part as usize];
                    // Parts may belong to another variable: nobody knows here.
                    let part = match part {
                        Value::Numbers(mut view) => {
                            view.block.flags = view.block.flags.with(Flags::SHARED).with(Flags::MUTABLE);
                            Value::Numbers(view)
                        }
                        other => other,
                    };
                    values.push(self.own(part, mutable)?);
                }
                Ok(self.push_tuple(&values))
            }
            Value::Unset => Ok(Value::Unset),
        }
    }

    pub(super) fn check_shape(declared: Shape, given: Shape, span: Span) -> Run<()> {
        let same = declared.rank() == given.rank() && (0..declared.rank()).all(|d| declared.size(d) == given.size(d));
        if same {
            return Ok(());
        }
        let message = format!("the variable is a {declared}, but its new value is a {given}");
        fatal("size-mismatch", message, span)
    }
}

/// A shape, if it has not too many dimensions or numbers.
fn checked_shape(arrays: &[usize], cell: Cell, cell_sizes: &[usize], span: Span) -> Run<Shape> {
    if arrays.len() + cell_sizes.len() > Shape::MOST {
        let message = format!("the engine has no values with more than {} dimensions", Shape::MOST);
        return fatal("not-supported", message, span);
    }
    let count = arrays.iter().chain(cell_sizes).try_fold(1_usize, |n, &size| n.checked_mul(size));
    if count.is_none_or(|n| n > 1 << 31) || arrays.iter().chain(cell_sizes).any(|&n| n > 1 << 31) {
        return fatal("too-large", "this variable is too large", span);
    }
    Ok(Shape::new(arrays, cell, cell_sizes))
}
