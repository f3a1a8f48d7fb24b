//! Parameters: from unconstrained to constrained values, with the log Jacobian, and back for the gradient.
//!
//! With `x = g(u)` the density of the unconstrained `u` is `p(g(u)) |det ∂g/∂u|`; the log of the second factor is added
//! where it is asked for, and counts as prior.

use crust_math::functions::Shape;
use crust_math::transforms::{Bound, Bounds, Forward, Reverse, Transform};

use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Run, Variable};
use crate::code::{Code, Constraint, Declared, Item, Node};
use crate::evaluator::repeat_last;
use crate::memory::{Block, Flags, Width};

/// A cell that was constrained.
#[derive(Clone, Copy, Debug)]
pub struct Constrained {
    transform: Transform,
    free: Block,
    out: Block,
    first: Option<Block>,
    second: Option<Block>,
    jacobian: bool,
}

/// Which derivatives of a constrained cell are added up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pull {
    /// Of its value and, with adjoint 1, of its log Jacobian.
    Both,
    Value,
    /// Of its log Jacobian, with an adjoint for each lane.
    Jacobian {
        seed: Block,
    },
}

/// A block as a bound of a transform.
fn bound(values: &[f64], block: Block, width: Width) -> Bound<'_> {
    let numbers = &values[block.range(width)];
    match (block.n == 1, block.lanes()) {
        (true, false) => Bound::Scalar(numbers[0]),
        (false, false) => Bound::Elements(numbers),
        (true, true) => Bound::Lanes(numbers),
        (false, true) => Bound::ElementLanes(numbers),
    }
}

fn bounds<'a>(values: &'a [f64], constrained: &Constrained, width: Width) -> Bounds<'a> {
    let side = |block: Option<Block>| block.map(|b| bound(values, b, width));
    let (first, second) = (side(constrained.first), side(constrained.second));
    match constrained.transform {
        Transform::OffsetMultiplier { .. } => Bounds::offset_multiplier(first, second),
        _ => Bounds { first: first.unwrap_or(Bounds::NONE.first), second: second.unwrap_or(Bounds::NONE.second) },
    }
}

impl Machine {
    /// Computes the parameters from the unconstrained numbers in `free`, and binds them to their variables.
    pub(crate) fn constrain_parameters(&mut self, code: &Code, free: Block) -> Run<()> {
        if self.parameter_shapes.len() != code.parameters.len() {
            self.measure_parameters(code)?;
        }
        // Those without constraints are looked at all together.
        let missing = self.is_missing(free);
        let mut at = 0;
        for (number, parameter) in code.parameters.iter().enumerate() {
            let declared = &parameter.declared;
            let value = match (self.parameter_shapes[number], &declared.item) {
                (Some(shape), Item::Cell { constraint: Constraint::None, .. }) => {
                    let block = free.elements(at, shape.len(), self.width);
                    at += shape.len();
                    if missing {
                        self.reject_missing(block, declared)?;
                    }
                    Value::Numbers(View { shape, block })
                }
                (Some(shape), Item::Cell { constraint, .. }) => {
                    self.constrain_numbers(declared, constraint, shape, free, &mut at)?
                }
                _ => self.constrain(declared, free, &mut at)?,
            };
            self.globals[parameter.slot as usize] = Variable::of(value);
        }
        Ok(())
    }

    pub(super) fn measure_parameters(&mut self, code: &Code) -> Run<()> {
        self.parameter_shapes.clear();
        for parameter in &code.parameters {
            let shape = match &parameter.declared.item {
                Item::Cell { .. } => Some(self.declared_shape(&[], &parameter.declared)?),
                Item::Tuple(_) => None,
            };
            self.parameter_shapes.push(shape);
        }
        Ok(())
    }

    fn constrain(&mut self, declared: &Declared, free: Block, at: &mut usize) -> Run<Value> {
        let Item::Cell { constraint, .. } = &declared.item else {
            return self.constrain_tuples(declared, free, at);
        };
        let shape = self.declared_shape(&[], declared)?;
        if matches!(constraint, Constraint::None) {
            let block = free.elements(*at, shape.len(), self.width);
            *at += shape.len();
            self.reject_missing(block, declared)?;
            return Ok(Value::Numbers(View { shape, block }));
        }
        self.constrain_numbers(declared, constraint, shape, free, at)
    }

    fn constrain_numbers(
        &mut self,
        declared: &Declared,
        constraint: &Constraint,
        shape: Shape,
        free: Block,
        at: &mut usize,
    ) -> Run<Value> {
        let (first, second) = self.constraint_sides(constraint)?;
        // Special types are transformed cell by cell, others all at once.
        let (cells, rows, columns) = match constraint {
            Constraint::Special(_) => (shape.cells(), shape.rows(), shape.columns()),
            _ => (1, shape.len(), 1),
        };
        let transform = constraint.transform(rows, columns);
        let out = self.allocate(shape.len(), free.flags)?;
        for cell in 0..cells {
            let (n, m) = (transform.constrained_size(), transform.free_size());
            let constrained = Constrained {
                transform,
                free: free.elements(*at, m, self.width),
                out: out.elements(cell * n, n, self.width),
                first,
                second,
                jacobian: self.wanted.jacobian,
            };
            *at += m;
            self.constrain_cell(constrained, declared)?;
        }
        Ok(Value::Numbers(View { shape, block: out }))
    }

    /// An array of tuples is a tuple of arrays, but its unconstrained numbers come tuple by tuple.
    fn constrain_tuples(&mut self, declared: &Declared, free: Block, at: &mut usize) -> Run<Value> {
        let Item::Tuple(parts) = &declared.item else { return Ok(Value::Unset) };
        let mut all = Vec::new();
        for size in &declared.arrays {
            let n = self.int(size)?;
            all.push(usize::try_from(n).unwrap_or(0));
        }
        let count: usize = all.iter().product();
        let mut columns: Vec<Vec<View>> = vec![Vec::new(); parts.len()];
        if all.is_empty() {
            let mut values = Vec::new();
            for part in parts {
                values.push(self.constrain(part, free, at)?);
            }
            return Ok(self.push_tuple(&values));
        }
        for _ in 0..count {
            for (part, column) in parts.iter().zip(&mut columns) {
                match self.constrain(part, free, at)? {
                    Value::Numbers(view) => column.push(view),
                    _ => return super::fatal("not-supported", "the engine has no nested arrays of tuples", part.span),
                }
            }
        }
        let mut values = Vec::new();
        for column in columns {
            let element = column.first().map_or(Shape::SCALAR, |v| v.shape);
            let block = self.concatenate(&column)?;
            let shape = all.iter().rev().fold(element, |shape, &n| shape.in_array(n));
            values.push(Value::Numbers(View { shape, block }));
        }
        Ok(self.push_tuple(&values))
    }

    /// Lower and upper bound, or offset and multiplier.
    pub(super) fn constraint_sides(&mut self, constraint: &Constraint) -> Run<(Option<Block>, Option<Block>)> {
        let mut side = |node: Option<&Node>| -> Run<Option<Block>> {
            node.map(|node| self.numbers(node).map(|v| v.block)).transpose()
        };
        Ok(match constraint {
            Constraint::None | Constraint::Special(_) => (None, None),
            Constraint::Lower(lower) => (side(Some(lower))?, None),
            Constraint::Upper(upper) => (None, side(Some(upper))?),
            Constraint::LowerUpper(lower, upper) => (side(Some(lower))?, side(Some(upper))?),
            Constraint::OffsetMultiplier(offset, multiplier) => (side(offset.as_ref())?, side(multiplier.as_ref())?),
        })
    }

    fn constrain_cell(&mut self, constrained: Constrained, declared: &Declared) -> Run<()> {
        let (width, lanes) = (self.width, self.width.lanes);
        let need = constrained.transform.scratch_len(lanes);
        let mut scratch = self.take_scratch(need + lanes);
        let (jacobian, rest) = scratch.split_at_mut(lanes);
        jacobian.fill(0.0);
        let (low, out) = self.arena.below(constrained.out, width);
        constrained.transform.constrain(&mut Forward {
            lanes,
            free: &low[constrained.free.range(width)],
            bounds: bounds(low, &constrained, width),
            out,
            log_jacobian: constrained.jacobian.then_some(&mut *jacobian),
            scratch: rest,
        });
        if let (Some(totals), true) = (self.totals, constrained.jacobian) {
            for (total, j) in self.arena.of_mut(totals.prior, width).iter_mut().zip(&*jacobian) {
                *total += j;
            }
        }
        self.give_scratch(scratch);
        self.reject_missing(constrained.out, declared)?;
        if self.recording {
            let index = crate::memory::cast(self.constrained.len());
            self.constrained.push(constrained);
            self.tape.push(Entry::Constrain(index));
        }
        Ok(())
    }

    fn is_missing(&self, block: Block) -> bool {
        // Without an early exit: this is done in vector registers.
        self.arena.of(block, self.width).iter().fold(0_u64, |n, x| n + u64::from(x.is_nan())) > 0
    }

    /// Rejects lanes in which a parameter is not a number.
    fn reject_missing(&mut self, block: Block, declared: &Declared) -> Run<()> {
        if !self.is_missing(block) || self.code.forward {
            return Ok(());
        }
        let lanes = self.width.lanes;
        for lane in 0..lanes {
            let numbers = self.arena.of(block, self.width);
            if numbers.iter().skip(lane).step_by(lanes).any(|x| x.is_nan()) {
                let message =
                    || "a parameter has no value here: a bound or an unconstrained number is wrong".to_owned();
                self.reject(lane, message, declared.span)?;
            }
        }
        Ok(())
    }

    pub(super) fn reverse_constrain(&mut self, index: u32) {
        let constrained = self.constrained[index as usize];
        match self.totals {
            // The derivative is linear in both adjoints. That of the log Jacobian is another one in each lane here.
            Some(totals) if self.code.reads_target && constrained.jacobian => {
                self.pull_constrained(constrained, Pull::Value);
                self.pull_constrained(constrained, Pull::Jacobian { seed: totals.prior_seed });
            }
            _ => self.pull_constrained(constrained, Pull::Both),
        }
    }

    fn pull_constrained(&mut self, constrained: Constrained, pull: Pull) {
        let (width, lanes) = (self.width, self.width.lanes);
        let side_len = |block: Option<Block>| block.filter(|b| b.gradient()).map_or(0, |b| b.len(width));
        let (n, m) = (constrained.free.len(width), constrained.transform.scratch_len(lanes));
        let (a, b) = (side_len(constrained.first), side_len(constrained.second));
        let nothing = if matches!(pull, Pull::Jacobian { .. }) { constrained.out.len(width) } else { 0 };
        let mut scratch = self.take_scratch(n + a + b + nothing + m);
        scratch[..n + a + b + nothing].fill(0.0);
        let (free_adjoint, rest) = scratch.split_at_mut(n);
        let (first, rest) = rest.split_at_mut(a);
        let (second, rest) = rest.split_at_mut(b);
        let (zeros, rest) = rest.split_at_mut(nothing);
        let (values, mut adjoints) = self.arena.both();
        constrained.transform.constrain_reverse(&mut Reverse {
            lanes,
            free: &values[constrained.free.range(width)],
            bounds: bounds(values, &constrained, width),
            out: &values[constrained.out.range(width)],
            out_adjoint: if nothing > 0 { zeros } else { adjoints.of(constrained.out, width) },
            jacobian_adjoint: if constrained.jacobian && pull != Pull::Value { 1.0 } else { 0.0 },
            free_adjoint,
            first_adjoint: if a > 0 { Some(first) } else { None },
            second_adjoint: if b > 0 { Some(second) } else { None },
            scratch: rest,
        });
        if let Pull::Jacobian { seed } = pull {
            for row in scratch[..n + a + b].chunks_exact_mut(lanes) {
                row.iter_mut().zip(&values[seed.range(width)]).for_each(|(d, seed)| *d *= seed);
            }
        }
        let mut add = |block: Block, numbers: &[f64]| {
            for (to, d) in adjoints.of(block, width).iter_mut().zip(numbers) {
                *to += d;
            }
        };
        add(constrained.free, &scratch[..n]);
        if let Some(block) = constrained.first.filter(|b| b.gradient()) {
            add(block, &scratch[n..n + a]);
        }
        if let Some(block) = constrained.second.filter(|b| b.gradient()) {
            add(block, &scratch[n + a..n + a + b]);
        }
        self.give_scratch(scratch);
    }

    /// Rejects lanes in which a variable breaks the constraint of its declaration, as Stan does at the end of a block.
    pub(crate) fn check_constraint(&mut self, declared: &Declared, value: Value) -> Run<()> {
        let (Item::Cell { constraint, .. }, Value::Numbers(view)) = (&declared.item, value) else { return Ok(()) };
        let span = declared.span;
        if let Constraint::Special(_) = constraint {
            return self.check_special(constraint, view, declared);
        }
        let (lower, upper) = match constraint {
            Constraint::Lower(_) | Constraint::Upper(_) | Constraint::LowerUpper(..) => {
                self.constraint_sides(constraint)?
            }
            _ => return Ok(()),
        };
        for (bound, is_upper) in [(lower, false), (upper, true)] {
            let Some(bound) = bound else { continue };
            let bound = View { shape: if bound.n == 1 { Shape::SCALAR } else { view.shape }, block: bound };
            self.within(view, bound, (is_upper, false), span)?;
        }
        Ok(())
    }

    fn check_special(&mut self, constraint: &Constraint, view: View, declared: &Declared) -> Run<()> {
        if self.is_symbolic(view) {
            return self.traced_special(constraint, view);
        }
        let (rows, columns) = (view.shape.rows(), view.shape.columns());
        let transform = constraint.transform(rows, columns);
        let (n, m) = (transform.constrained_size(), transform.free_size());
        let mut numbers = vec![0.0; n + m + transform.scratch_len(1)];
        let lanes = if view.block.lanes() { self.width.lanes } else { 1 };
        for cell in 0..view.shape.cells() {
            for lane in 0..lanes {
                let (value, rest) = numbers.split_at_mut(n);
                let (free, scratch) = rest.split_at_mut(m);
                let block = view.block.elements(cell * n, n, self.width);
                for (e, x) in value.iter_mut().enumerate() {
                    *x = self.arena.values()[block.start() + e * lanes + lane];
                }
                if let Err(error) = transform.unconstrain(1, value, Bounds::NONE, free, scratch) {
                    let message = error.to_string();
                    if view.block.lanes() {
                        self.reject(lane, || message, declared.span)?;
                    } else {
                        for lane in 0..self.width.lanes {
                            self.reject(lane, || message.clone(), declared.span)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A block of unconstrained numbers, `dimension` rows of lanes taken from a batch. If there are too few, the last
    /// one is repeated.
    pub(crate) fn free_block(&mut self, x: &[f64], stride: usize, lanes: std::ops::Range<usize>) -> Run<Block> {
        let dimension = x.len().checked_div(stride).unwrap_or(0);
        let block = self.allocate(dimension, Flags::LANES.with(Flags::GRADIENT))?;
        self.fill_free_block(block, x, stride, lanes);
        Ok(block)
    }

    /// Puts unconstrained numbers into their block.
    pub(crate) fn fill_free_block(&mut self, block: Block, x: &[f64], stride: usize, lanes: std::ops::Range<usize>) {
        let width = self.width;
        let out = self.arena.of_mut(block, width);
        if width.lanes == stride {
            out.copy_from_slice(x);
            return;
        }
        for (row, from) in out.chunks_exact_mut(width.lanes).zip(x.chunks_exact(stride)) {
            repeat_last(row, &from[lanes.clone()]);
        }
    }
}
