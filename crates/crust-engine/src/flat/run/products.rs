//! Sums of products: rows of data times parameters, and parameters times parameters.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

use super::super::rows::{add_product, add_scaled, load, load_unchecked, store, store_unchecked, sum};
use super::super::steps::{at, at_mut, below};
use super::super::{Positions, Register};
use super::{Group, Room};
use crate::kernels::{fma, row_sum};

impl Group<'_> {
    #[inline(always)]
    pub(super) fn row_dot<const L: usize>(
        &mut self,
        (rows, inner): (&[f64], usize),
        operand: usize,
        (plus, out): (Register, Register),
        start: usize,
        m: usize,
    ) {
        let ((origin, step), all) = (self.source(operand), self.strip.iterations);
        let packed = self.is_packed();
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let (low, out) = below(registers, out, m * L);
        out.copy_from_slice(at(low, plus, m * L));
        if L == 1 {
            for k in 0..inner {
                let b = values[origin + k * step];
                let column = &rows[k * all + start..k * all + start + m];
                for (out, x) in out.iter_mut().zip(column) {
                    *out = fma(*x, b, *out);
                }
            }
            return;
        }
        // Four rows at once, so that sums do not wait for each other.
        for (block, four) in out.chunks_mut(4 * L).enumerate() {
            let first = start + 4 * block;
            if four.len() == 4 * L {
                let mut sums = [load::<L>(four, 0), load::<L>(four, L), load::<L>(four, 2 * L), load::<L>(four, 3 * L)];
                for k in 0..inner {
                    let b = load::<L>(values, origin + k * step);
                    let x = load::<4>(rows, k * all + first);
                    for r in 0..4 {
                        sums[r] = add_scaled(sums[r], x[r], b);
                    }
                }
                for (r, sum) in sums.into_iter().enumerate() {
                    store(four, r * L, sum);
                }
                continue;
            }
            for r in 0..four.len() / L {
                let mut sum = load::<L>(four, r * L);
                for k in 0..inner {
                    sum = add_scaled(sum, rows[k * all + first + r], load::<L>(values, origin + k * step));
                }
                store(four, r * L, sum);
            }
        }
    }

    #[inline(always)]
    pub(super) fn pair_dot<const L: usize>(
        &mut self,
        [a, b]: [&Positions; 2],
        (strides, inner): ([u32; 2], usize),
        out: Register,
        start: usize,
        m: usize,
    ) {
        let ([(first, lanes), (second, _)], packed) =
            ([self.source(a.operand), self.source(b.operand)], self.is_packed());
        let steps = [strides[0] as usize * lanes, strides[1] as usize * lanes];
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let out = at_mut(registers, out, m * L);
        let (a, b) = (&a.elements[start..start + m], &b.elements[start..start + m]);
        for ((row, &a), &b) in out.chunks_exact_mut(L).zip(a).zip(b) {
            let mut sum: [f64; L] = [0.0; L];
            let (mut a, mut b) = (first + a as usize * lanes, second + b as usize * lanes);
            for _ in 0..inner {
                // SAFETY: the last of the elements is one of the operand, which lies whole in `values` (`check_positions`).
                let (x, y) = unsafe { (load_unchecked::<L>(values, a), load_unchecked::<L>(values, b)) };
                sum = add_product(sum, x, y);
                a += steps[0];
                b += steps[1];
            }
            store(row, 0, sum);
        }
    }

    #[inline(always)]
    pub(super) fn row_dot_reverse<const L: usize>(
        &mut self,
        (rows, inner): (&[f64], usize),
        operand: usize,
        out: Register,
        start: usize,
        m: usize,
    ) {
        let block = self.call.operands[operand];
        if !block.gradient() {
            return;
        }
        let ((origin, step), all, packed) = (self.target(operand), self.strip.iterations, self.is_packed());
        let Room { adjoints, packed_adjoints, .. } = &mut *self.room;
        let into: &mut [f64] = if packed { packed_adjoints } else { self.adjoints };
        let adjoint = at(adjoints, out, m * L);
        for k in 0..inner {
            let column = &rows[k * all + start..k * all + start + m];
            let to = origin + k * step;
            if L == 1 {
                into[to] += row_sum(m, |j| column[j] * adjoint[j]);
                continue;
            }
            // Four running sums, so that the additions do not wait for each other.
            let mut sums = [[0.0; L]; 4];
            let (fours, rest) = column.as_chunks::<4>();
            let (whole, remainder) = adjoint.split_at(fours.len() * 4 * L);
            for (x, rows) in fours.iter().zip(whole.chunks_exact(4 * L)) {
                for r in 0..4 {
                    sums[r] = add_scaled(sums[r], x[r], load::<L>(rows, r * L));
                }
            }
            for (x, row) in rest.iter().zip(remainder.chunks_exact(L)) {
                sums[0] = add_scaled(sums[0], *x, load::<L>(row, 0));
            }
            let all = sum(sum(sums[0], sums[1]), sum(sums[2], sums[3]));
            store(into, to, sum(load::<L>(into, to), all));
        }
    }

    #[inline(always)]
    pub(super) fn pair_dot_reverse<const L: usize>(
        &mut self,
        [a, b]: [&Positions; 2],
        (strides, inner): ([u32; 2], usize),
        out: Register,
        start: usize,
        m: usize,
    ) {
        let ([(first, lanes), (second, _)], packed) =
            ([self.source(a.operand), self.source(b.operand)], self.is_packed());
        let steps = [strides[0] as usize * lanes, strides[1] as usize * lanes];
        let Room { adjoints, packed: copies, packed_adjoints, .. } = &mut *self.room;
        let (values, into, base): (&[f64], &mut [f64], usize) =
            if packed { (copies, packed_adjoints, 0) } else { (self.values, self.adjoints, self.base) };
        let adjoint = at(adjoints, out, m * L);
        let (a, b) = (&a.elements[start..start + m], &b.elements[start..start + m]);
        for ((row, &a), &b) in adjoint.chunks_exact(L).zip(a).zip(b) {
            let row = load::<L>(row, 0);
            let (mut a, mut b) = (first + a as usize * lanes, second + b as usize * lanes);
            for _ in 0..inner {
                // SAFETY: as in `pair_dot`; adjoints lie as values do.
                unsafe {
                    let (x, y) = (load_unchecked::<L>(values, a), load_unchecked::<L>(values, b));
                    store_unchecked(into, a - base, add_product(load_unchecked::<L>(into, a - base), row, y));
                    store_unchecked(into, b - base, add_product(load_unchecked::<L>(into, b - base), row, x));
                }
                a += steps[0];
                b += steps[1];
            }
        }
    }
}
