//! The iterations of a nest of loops, and what data-only expressions are in each of them.

use std::rc::Rc;

use crust_math::functions::Shape;

use super::{Fit, Obstacle};
use crate::code::{Node, Slot};
use crate::machine::value::{Value, View};
use crate::machine::{Machine, Variable};
use crate::memory::Flags;

/// The most iterations that are listed.
const MOST_ITERATIONS: usize = 1 << 22;

/// How many iterations an expression is computed for at once.
const CHUNK: usize = 1 << 12;

/// A list of iterations: the values of all loop variables in each.
#[derive(Clone, Debug, Default)]
pub struct Space {
    pub iterations: usize,
    pub loops: Vec<(Slot, Rc<Vec<f64>>)>,
}

/// The elements of a data-only expression, each with a number for each iteration.
pub struct Columns {
    pub shape: Shape,
    pub elements: Vec<Rc<Vec<f64>>>,
}

impl Space {
    /// The iterations of an outermost loop.
    pub fn outermost(slot: Slot, low: i64, high: i64) -> Fit<Self> {
        Self { iterations: 1, loops: Vec::new() }.inside(slot, &[low], &[high])
    }

    /// The iterations of a loop inside, with bounds that may differ between iterations.
    #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
    pub fn inside(&self, slot: Slot, low: &[i64], high: &[i64]) -> Fit<Self> {
        let counts = low.iter().zip(high).map(|(low, high)| usize::try_from(high - low + 1).unwrap_or(0));
        let counts: Vec<usize> = counts.collect();
        let iterations: usize = counts.iter().sum();
        if iterations > MOST_ITERATIONS {
            return Err(Obstacle::Unfit);
        }
        let repeat = |column: &Rc<Vec<f64>>| -> Rc<Vec<f64>> {
            Rc::new(column.iter().zip(&counts).flat_map(|(&x, &n)| std::iter::repeat_n(x, n)).collect())
        };
        let mut loops: Vec<_> = self.loops.iter().map(|(slot, column)| (*slot, repeat(column))).collect();
        let own = low.iter().zip(high).flat_map(|(&low, &high)| (low..=high).map(|i| i as f64)).collect();
        loops.push((slot, Rc::new(own)));
        Ok(Self { iterations, loops })
    }

    /// The iterations for which `keep` holds.
    pub fn filtered(&self, keep: &[bool]) -> Self {
        let filter = |column: &Rc<Vec<f64>>| -> Rc<Vec<f64>> {
            Rc::new(column.iter().zip(keep).filter(|(_, keep)| **keep).map(|(&x, _)| x).collect())
        };
        let loops: Vec<_> = self.loops.iter().map(|(slot, column)| (*slot, filter(column))).collect();
        Self { iterations: keep.iter().filter(|keep| **keep).count(), loops }
    }
}

impl Machine {
    /// Computes a data-only expression for all iterations.
    pub(super) fn columns(&mut self, node: &Node, space: &Space) -> Fit<Columns> {
        let mut shape: Option<Shape> = None;
        let mut elements: Vec<Vec<f64>> = Vec::new();
        for start in (0..space.iterations).step_by(CHUNK) {
            let end = space.iterations.min(start + CHUNK);
            let mark = self.mark();
            let (recording, base) = (std::mem::replace(&mut self.recording, false), self.tile_base);
            self.width.tile = end - start;
            self.tile_base = self.arena.top();
            let view = self.in_tile(node, space, start..end);
            let width = self.width;
            self.width.tile = 1;
            self.tile_base = base;
            self.recording = recording;
            let view = view?;
            if view.block.lanes() || shape.is_some_and(|s| s != view.shape) {
                return Err(Obstacle::Unfit);
            }
            shape = Some(view.shape);
            elements.resize_with(view.shape.len(), Vec::new);
            let row = view.block.item_len(width);
            let numbers = self.arena.of(view.block, width);
            for (e, column) in elements.iter_mut().enumerate() {
                let numbers = &numbers[e * row..(e + 1) * row];
                if view.block.tile() {
                    column.extend_from_slice(numbers);
                } else {
                    column.resize(end, numbers[0]);
                }
            }
            self.release(mark);
        }
        let shape = shape.ok_or(Obstacle::Unfit)?;
        Ok(Columns { shape, elements: elements.into_iter().map(Rc::new).collect() })
    }

    /// The shape of an expression in one iteration.
    pub(super) fn shape_at(&mut self, node: &Node, space: &Space, at: usize) -> Fit<Shape> {
        let mark = self.mark();
        let recording = std::mem::replace(&mut self.recording, false);
        for (slot, column) in &space.loops {
            let block = self.allocate(1, Flags::UNIFORM)?;
            self.arena.of_mut(block, self.width)[0] = column[at];
            *self.slot_mut(*slot) = Variable::of(Value::Numbers(View::scalar(block)));
        }
        let view = self.numbers(node);
        self.recording = recording;
        self.release(mark);
        Ok(view?.shape)
    }

    fn in_tile(&mut self, node: &Node, space: &Space, range: std::ops::Range<usize>) -> Fit<View> {
        for (slot, column) in &space.loops {
            let block = self.allocate(1, Flags::TILE)?;
            self.arena.of_mut(block, self.width).copy_from_slice(&column[range.clone()]);
            *self.slot_mut(*slot) = Variable::of(Value::Numbers(View::scalar(block)));
        }
        Ok(self.numbers(node)?)
    }
}
