//! Elements of operands: looked at, assigned, and on the way back added to.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

use std::ops::Range;

use super::super::rows::{fill, load, load_unchecked, store, store_unchecked, sum};
use super::super::steps::{at, at_mut};
use super::super::{Argument, Into, Positions, Register};
use super::{Group, Room};

impl Group<'_> {
    #[inline(always)]
    pub(super) fn gather<const L: usize, const S: bool>(&mut self, from: &Positions, out: Register) {
        let (n, elements) = (self.numbers::<L, S>(), self.own(&from.elements));
        let (origin, step) = self.source(from.operand);
        let packed = self.is_packed();
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let out = at_mut(registers, out, n);
        // SAFETY of both: the element is one of the operand, which lies whole in `values`, with all its lanes
        // (`check_positions`).
        if S {
            for (to, &e) in out.iter_mut().zip(elements) {
                [*to] = unsafe { load_unchecked::<1>(values, origin + e as usize * step) };
            }
            fill_up(out, elements.len());
            return;
        }
        for (row, &e) in out.chunks_exact_mut(L).zip(elements) {
            store(row, 0, unsafe { load_unchecked::<L>(values, origin + e as usize * step) });
        }
    }

    #[inline(always)]
    pub(super) fn store<const L: usize, const S: bool>(&mut self, x: Register, operand: usize, elements: &[u32]) {
        let (n, elements) = (self.numbers::<L, S>(), self.own(elements));
        let origin = self.place(self.call.operands[operand], 0);
        let numbers = at(&self.room.registers, x, n);
        // The machine says what is wrong with it, if anything is.
        if S {
            for (&x, &e) in numbers.iter().zip(elements) {
                self.values[origin + e as usize] = x;
                self.fine[0] &= !x.is_nan();
            }
            return;
        }
        for (row, &e) in numbers.chunks_exact(L).zip(elements) {
            let to = origin + e as usize * self.call.lanes;
            let row = load::<L>(row, 0);
            store(self.values, to, row);
            for l in 0..L {
                self.fine[l] &= !row[l].is_nan();
            }
        }
    }

    #[inline(always)]
    pub(super) fn scatter<const L: usize, const S: bool>(
        &mut self,
        from: &Positions,
        out: Register,
        blocks: Range<usize>,
    ) {
        let block = self.call.operands[from.operand];
        if !block.gradient() {
            return;
        }
        let (n, elements) = (self.numbers::<L, S>(), self.own(&from.elements));
        let ((origin, step), packed) = (self.target(from.operand), self.is_packed());
        let (rows, all, apart) = (self.span.rows, self.span.blocks, self.span.apart::<L>());
        let Room { adjoints, packed_adjoints, .. } = &mut *self.room;
        let into: &mut [f64] = if packed { packed_adjoints } else { self.adjoints };
        let adjoint = at(adjoints, out, n);
        // SAFETY of both: as in `gather`; adjoints lie as values do.
        if S {
            for b in blocks {
                for r in 0..rows {
                    let to = origin + elements[r * all + b] as usize * step;
                    let before = unsafe { load_unchecked::<1>(into, to) };
                    unsafe { store_unchecked(into, to, sum(before, [adjoint[r * apart + b]])) };
                }
            }
            return;
        }
        for (row, &e) in adjoint.chunks_exact(L).zip(elements) {
            let to = origin + e as usize * step;
            unsafe { store_unchecked(into, to, sum(load_unchecked::<L>(into, to), load::<L>(row, 0))) };
        }
    }

    /// Takes the adjoints of assigned elements: what was there before has none of them.
    #[inline(always)]
    pub(super) fn unstore<const L: usize, const S: bool>(&mut self, x: Argument, operand: usize, elements: &[u32]) {
        let (n, elements) = (self.numbers::<L, S>(), self.own(elements));
        let origin = self.place(self.call.operands[operand], 0) - self.base;
        let to = at_mut(&mut self.room.adjoints, x.register, n);
        if x.into == Into::Set {
            fill(to, 0.0);
        }
        if S {
            for (to, &e) in to.iter_mut().zip(elements) {
                *to += std::mem::take(&mut self.adjoints[origin + e as usize]);
            }
            return;
        }
        for (row, &e) in to.chunks_exact_mut(L).zip(elements) {
            let from = origin + e as usize * self.call.lanes;
            store(row, 0, sum(load::<L>(row, 0), load::<L>(self.adjoints, from)));
            store(self.adjoints, from, [0.0; L]);
        }
    }

    /// What belongs to the iterations that are computed at the moment.
    #[inline(always)]
    pub(super) fn own<'n, T>(&self, numbers: &'n [T]) -> &'n [T] {
        &numbers[self.span.start..self.span.start + self.span.iterations()]
    }
}

/// Repeats the last of so many numbers as often as there is room: there may be fewer than eight blocks.
#[inline(always)]
pub(super) fn fill_up(numbers: &mut [f64], given: usize) {
    if given < numbers.len() {
        let (own, rest) = numbers.split_at_mut(given);
        fill(rest, own[given - 1]);
    }
}
