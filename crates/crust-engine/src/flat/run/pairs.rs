//! Sums of products of parameters: two lists of elements for each iteration.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

use std::ops::Range;

use super::super::rows::{add_product, fill, load, load_unchecked, store, store_unchecked, sum};
use super::super::steps::{Scale, at, at_mut};
use super::super::{GROUP, Lists, Normal, Positions, Register};
use super::gathers::fill_up;
use super::{Group, Room};
use crate::kernels::fma;

impl Group<'_> {
    #[inline(always)]
    pub(super) fn pair_dot<const L: usize, const S: bool>(&mut self, lists: &Lists, out: Register) {
        let n = self.numbers::<L, S>();
        fill(at_mut(&mut self.room.registers, out, n), 0.0);
        for b in 0..self.span.blocks {
            if S {
                self.pair_dot_of::<1>(lists, (out, n), (b, b, self.span.apart::<L>()));
            } else {
                self.pair_dot_of::<L>(lists, (out, n), (b, b * self.span.rows * L, L));
            }
        }
        if S && self.span.is_flat() {
            fill_up(at_mut(&mut self.room.registers, out, n), self.span.rows);
        }
    }

    /// For one block, whose numbers are in the register from a place on, some apart.
    #[inline(always)]
    fn pair_dot_of<const W: usize>(
        &mut self,
        lists: &Lists,
        (out, n): (Register, usize),
        (block, from, apart): (usize, usize, usize),
    ) {
        let (rows, inner, packed) = (self.pair_rows(lists, block), lists.inner, self.is_packed());
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let out = &mut at_mut(registers, out, n)[from..];
        for first in (0..inner).step_by(MOST_KEPT) {
            match inner - first {
                1 => rows.forward::<W, 1>(values, (&mut *out, apart), first),
                2 => rows.forward::<W, 2>(values, (&mut *out, apart), first),
                3 => rows.forward::<W, 3>(values, (&mut *out, apart), first),
                4 => rows.forward::<W, 4>(values, (&mut *out, apart), first),
                5 => rows.forward::<W, 5>(values, (&mut *out, apart), first),
                6 => rows.forward::<W, 6>(values, (&mut *out, apart), first),
                7 => rows.forward::<W, 7>(values, (&mut *out, apart), first),
                _ => rows.forward::<W, MOST_KEPT>(values, (&mut *out, apart), first),
            }
        }
    }

    #[inline(always)]
    pub(super) fn pair_dot_reverse<const L: usize, const S: bool>(
        &mut self,
        lists: &Lists,
        out: Register,
        blocks: Range<usize>,
    ) {
        let n = self.numbers::<L, S>();
        for b in blocks {
            if S {
                self.pair_dot_reverse_of::<1>(lists, (out, n), (b, b, self.span.apart::<L>()));
            } else {
                self.pair_dot_reverse_of::<L>(lists, (out, n), (b, b * self.span.rows * L, L));
            }
        }
    }

    #[inline(always)]
    fn pair_dot_reverse_of<const W: usize>(
        &mut self,
        lists: &Lists,
        (out, n): (Register, usize),
        (block, from, apart): (usize, usize, usize),
    ) {
        let (rows, inner, packed) = (self.pair_rows(lists, block), lists.inner, self.is_packed());
        let Room { adjoints, packed: copies, packed_adjoints, .. } = &mut *self.room;
        let (values, into, base): (&[f64], &mut [f64], usize) =
            if packed { (copies, packed_adjoints, 0) } else { (self.values, self.adjoints, self.base) };
        let adjoint = &at(adjoints, out, n)[from..];
        for first in (0..inner).step_by(MOST_KEPT) {
            match inner - first {
                1 => rows.reverse::<W, 1>(values, (&mut *into, base), (adjoint, apart), first),
                2 => rows.reverse::<W, 2>(values, (&mut *into, base), (adjoint, apart), first),
                3 => rows.reverse::<W, 3>(values, (&mut *into, base), (adjoint, apart), first),
                4 => rows.reverse::<W, 4>(values, (&mut *into, base), (adjoint, apart), first),
                5 => rows.reverse::<W, 5>(values, (&mut *into, base), (adjoint, apart), first),
                6 => rows.reverse::<W, 6>(values, (&mut *into, base), (adjoint, apart), first),
                7 => rows.reverse::<W, 7>(values, (&mut *into, base), (adjoint, apart), first),
                _ => rows.reverse::<W, MOST_KEPT>(values, (&mut *into, base), (adjoint, apart), first),
            }
        }
    }

    #[inline(always)]
    pub(super) fn add_normal_products<const L: usize, const S: bool>(
        &mut self,
        lists: &Lists,
        normal: &Normal,
        blocks: Range<usize>,
    ) {
        for block in blocks {
            if S {
                self.add_normal_products_of::<1>(lists, normal, block);
            } else {
                self.add_normal_products_of::<L>(lists, normal, block);
            }
        }
    }

    #[inline(always)]
    fn add_normal_products_of<const W: usize>(&mut self, lists: &Lists, normal: &Normal, block: usize) {
        let (rows, packed) = (self.pair_rows(lists, block), self.is_packed());
        let Some(column) = &normal.column else { return };
        let column = &column[self.iterations_of(block)];
        let Room { registers, packed: copies, packed_adjoints, sums, .. } = &mut *self.room;
        let scale = Scale {
            inverse: load::<W>(at(registers, normal.inverse, W), 0),
            weight: load::<W>(at(registers, normal.weight, W), 0),
        };
        let squares = &mut sums[usize::from(normal.squares)];
        let (values, into, base): (&[f64], &mut [f64], usize) =
            if packed { (copies, packed_adjoints, 0) } else { (self.values, self.adjoints, self.base) };
        let into = if self.call.gradient { Some((into, base)) } else { None };
        match lists.inner {
            1 => rows.normal::<W, 1>(values, into, column, scale, squares),
            2 => rows.normal::<W, 2>(values, into, column, scale, squares),
            3 => rows.normal::<W, 3>(values, into, column, scale, squares),
            4 => rows.normal::<W, 4>(values, into, column, scale, squares),
            5 => rows.normal::<W, 5>(values, into, column, scale, squares),
            6 => rows.normal::<W, 6>(values, into, column, scale, squares),
            7 => rows.normal::<W, 7>(values, into, column, scale, squares),
            _ => rows.normal::<W, MOST_KEPT>(values, into, column, scale, squares),
        }
    }

    fn iterations_of(&self, block: usize) -> Range<usize> {
        let start = self.span.start + block * self.span.rows;
        start..start + self.span.rows
    }

    /// Where the elements of two lists are, for the iterations of a block.
    #[inline(always)]
    fn pair_rows<'a>(&self, lists: &'a Lists, block: usize) -> PairRows<'a> {
        let own = self.iterations_of(block);
        let list = |positions: &'a Positions, stride: u32| {
            let (origin, lanes) = self.source(positions.operand);
            debug_assert!(lanes == 1 || lanes == GROUP, "elements lie together");
            let (elements, changes) = (&positions.elements[own.clone()], &positions.changes[own.clone()]);
            List { elements, changes, start: own.start, origin, step: stride as usize * lanes }
        };
        PairRows { kept: list(&lists.a, lists.strides[0]), other: list(&lists.b, lists.strides[1]) }
    }
}

/// How many elements of a list stay in machine registers while the other list changes.
pub const MOST_KEPT: usize = 8;

/// Elements at equal distances, from another position on in each iteration.
struct List<'a> {
    elements: &'a [u32],
    changes: &'a [u32],
    /// The number of the first iteration.
    start: usize,
    origin: usize,
    step: usize,
}

impl List<'_> {
    /// Where the element of this number is.
    #[inline(always)]
    fn at<const L: usize>(&self, iteration: usize, number: usize) -> usize {
        self.origin + self.elements[iteration] as usize * L + number * self.step
    }

    /// The end of the iterations with the same position.
    #[inline(always)]
    fn end(&self, begin: usize) -> usize {
        (self.changes[begin] as usize - self.start).min(self.elements.len())
    }
}

struct PairRows<'a> {
    kept: List<'a>,
    other: List<'a>,
}

// SAFETY of what follows: the last of the elements of a list is one of its operand, which lies whole in `values`
// (`check_positions`); adjoints lie as values do.
impl PairRows<'_> {
    /// Adds the products of `K` elements from number `first` on.
    #[inline(always)]
    fn forward<const L: usize, const K: usize>(&self, values: &[f64], (out, apart): (&mut [f64], usize), first: usize) {
        let mut begin = 0;
        while begin < self.kept.elements.len() {
            let end = self.kept.end(begin);
            // SAFETY: see above.
            let kept = unsafe { load_list::<L, K>(values, self.kept.at::<L>(begin, first), self.kept.step) };
            for i in begin..end {
                // SAFETY: see above.
                let other = unsafe { load_list::<L, K>(values, self.other.at::<L>(i, first), self.other.step) };
                let mut sum = load::<L>(out, i * apart);
                for k in 0..K {
                    sum = add_product(sum, kept[k], other[k]);
                }
                store(out, i * apart, sum);
            }
            begin = end;
        }
    }

    #[inline(always)]
    fn reverse<const L: usize, const K: usize>(
        &self,
        values: &[f64],
        (into, base): (&mut [f64], usize),
        (adjoint, apart): (&[f64], usize),
        first: usize,
    ) {
        let mut begin = 0;
        while begin < self.kept.elements.len() {
            let (end, at, step) = (self.kept.end(begin), self.kept.at::<L>(begin, first), self.kept.step);
            // SAFETY: see above.
            let kept = unsafe { load_list::<L, K>(values, at, step) };
            let mut sums = [[0.0; L]; K];
            for i in begin..end {
                let (at, step) = (self.other.at::<L>(i, first), self.other.step);
                let adjoint = load::<L>(adjoint, i * apart);
                // SAFETY: see above.
                let other = unsafe { load_list::<L, K>(values, at, step) };
                let mut adjoints = unsafe { load_list::<L, K>(into, at - base, step) };
                for k in 0..K {
                    sums[k] = add_product(sums[k], adjoint, other[k]);
                    adjoints[k] = add_product(adjoints[k], adjoint, kept[k]);
                }
                // SAFETY: see above.
                unsafe { store_list(into, at - base, step, adjoints) };
            }
            // SAFETY: see above.
            let mut adjoints = unsafe { load_list::<L, K>(into, at - base, step) };
            for k in 0..K {
                adjoints[k] = sum(adjoints[k], sums[k]);
            }
            // SAFETY: see above.
            unsafe { store_list(into, at - base, step, adjoints) };
            begin = end;
        }
    }

    /// Adds squares of `z = (y − Σ a b)/σ`, and at once what they mean for the adjoints of a and b.
    #[inline(always)]
    fn normal<const L: usize, const K: usize>(
        &self,
        values: &[f64],
        mut into: Option<(&mut [f64], usize)>,
        column: &[f64],
        scale: Scale<L>,
        squares: &mut [f64; GROUP],
    ) {
        let mut begin = 0;
        let mut total = load::<L>(squares, 0);
        while begin < self.kept.elements.len() {
            let (end, kept_at, step) = (self.kept.end(begin), self.kept.at::<L>(begin, 0), self.kept.step);
            // SAFETY: see above.
            let kept = unsafe { load_list::<L, K>(values, kept_at, step) };
            let mut sums = [[0.0; L]; K];
            for i in begin..end {
                let (at, step) = (self.other.at::<L>(i, 0), self.other.step);
                // SAFETY: see above.
                let other = unsafe { load_list::<L, K>(values, at, step) };
                let mut location = [0.0; L];
                for k in 0..K {
                    location = add_product(location, kept[k], other[k]);
                }
                let mut slope = [0.0; L];
                for l in 0..L {
                    let z = (column[i] - location[l]) * scale.inverse[l];
                    total[l] = fma(z, z, total[l]);
                    slope[l] = z * scale.weight[l];
                }
                let Some((into, base)) = &mut into else { continue };
                // SAFETY: see above.
                let mut adjoints = unsafe { load_list::<L, K>(into, at - *base, step) };
                for k in 0..K {
                    sums[k] = add_product(sums[k], slope, other[k]);
                    adjoints[k] = add_product(adjoints[k], slope, kept[k]);
                }
                // SAFETY: see above.
                unsafe { store_list(into, at - *base, step, adjoints) };
            }
            if let Some((into, base)) = &mut into {
                // SAFETY: see above.
                let mut adjoints = unsafe { load_list::<L, K>(into, kept_at - *base, step) };
                for k in 0..K {
                    adjoints[k] = sum(adjoints[k], sums[k]);
                }
                // SAFETY: see above.
                unsafe { store_list(into, kept_at - *base, step, adjoints) };
            }
            begin = end;
        }
        store(squares, 0, total);
    }
}

/// # Safety
/// All elements, `step` apart, must lie in `values`.
#[inline(always)]
unsafe fn load_list<const L: usize, const K: usize>(values: &[f64], at: usize, step: usize) -> [[f64; L]; K] {
    let mut list = [[0.0; L]; K];
    for k in 0..K {
        // SAFETY: the caller knows.
        list[k] = unsafe { load_unchecked::<L>(values, at + k * step) };
    }
    list
}

/// # Safety
/// As for [`load_list`].
#[inline(always)]
unsafe fn store_list<const L: usize, const K: usize>(into: &mut [f64], at: usize, step: usize, list: [[f64; L]; K]) {
    for k in 0..K {
        // SAFETY: the caller knows.
        unsafe { store_unchecked(into, at + k * step, list[k]) };
    }
}
