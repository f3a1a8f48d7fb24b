//! Sums of products: rows of data times parameters.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crust_math::lanes::InstructionSet;

use super::super::rows::{add_product, add_scaled, load, store, sum};
use super::super::steps::{at, below};
use super::super::{GROUP, Register};
use super::gathers::fill_up;
use super::{Group, Room, Span};
use crate::kernels::fma;

impl Group<'_> {
    #[inline(always)]
    pub(super) fn row_dot<const L: usize, const S: bool>(
        &mut self,
        (rows, inner): (&[f64], usize),
        operand: usize,
        (plus, out): (Register, Register),
    ) {
        let ((origin, step), all, n) = (self.source(operand), self.strip.iterations, self.numbers::<L, S>());
        let (start, m) = (self.span.start, self.span.iterations());
        let packed = self.is_packed();
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let (low, out) = below(registers, out, n);
        let plus = at(low, plus, n);
        if S {
            out.copy_from_slice(plus);
            let b = |k: usize| values[origin + k * step];
            let mut i = 0;
            while i + 4 * GROUP <= m {
                let four = &mut out[i..i + 4 * GROUP];
                let mut sums = [[0.0; GROUP]; 4];
                for r in 0..4 {
                    sums[r] = load::<GROUP>(four, r * GROUP);
                }
                for k in 0..inner {
                    let column = &rows[k * all + start + i..k * all + start + i + 4 * GROUP];
                    for r in 0..4 {
                        sums[r] = add_scaled(sums[r], b(k), load::<GROUP>(column, r * GROUP));
                    }
                }
                for r in 0..4 {
                    store(four, r * GROUP, sums[r]);
                }
                i += 4 * GROUP;
            }
            while i + GROUP <= m {
                let mut sum = load::<GROUP>(out, i);
                for k in 0..inner {
                    sum = add_scaled(sum, b(k), load::<GROUP>(rows, k * all + start + i));
                }
                store(out, i, sum);
                i += GROUP;
            }
            // Not in memory: additions would wait for it.
            let (rest, mut sums) = (m - i, [0.0; GROUP]);
            sums[..rest].copy_from_slice(&out[i..m]);
            for k in 0..inner {
                let column = &rows[k * all + start + i..][..rest];
                for r in 0..rest {
                    sums[r] = fma(b(k), column[r], sums[r]);
                }
            }
            out[i..m].copy_from_slice(&sums[..rest]);
            fill_up(out, m);
            return;
        }
        let product = RowProduct { rows, inner, all, start, values, origin, step };
        if InstructionSet::best().has_many_registers() {
            product.add::<L, MOST_ROWS>(plus, out);
        } else {
            product.add::<L, FEW_ROWS>(plus, out);
        }
    }

    #[inline(always)]
    pub(super) fn row_dot_reverse<const L: usize, const S: bool>(
        &mut self,
        (rows, inner): (&[f64], usize),
        operand: usize,
        out: Register,
        blocks: Range<usize>,
    ) {
        let block = self.call.operands[operand];
        if !block.gradient() {
            return;
        }
        let ((origin, step), all, packed) = (self.target(operand), self.strip.iterations, self.is_packed());
        let (Span { start, rows: length, .. }, n) = (self.span, self.numbers::<L, S>());
        let m = self.span.iterations();
        let Room { adjoints, packed_adjoints, .. } = &mut *self.room;
        let into: &mut [f64] = if packed { packed_adjoints } else { self.adjoints };
        let adjoint = at(adjoints, out, n);
        let alone = if !S {
            Alone::No
        } else if self.span.is_flat() {
            Alone::InOrder
        } else {
            Alone::Beside
        };
        let mut columns = Columns { rows, all, first: start, count: m, length, blocks, by: adjoint };
        let mut k = 0;
        while k < inner {
            let to = (origin + k * step, step);
            let left = inner - k;
            k += if alone == Alone::No && left >= MOST_ROWS && InstructionSet::best().has_many_registers() {
                columns.add::<L, MOST_ROWS>(alone, into, to)
            } else if left >= FEW_ROWS {
                columns.add::<L, FEW_ROWS>(alone, into, to)
            } else {
                columns.add::<L, 1>(alone, into, to)
            };
        }
    }
}

/// Rows of lanes of which sums of products are computed at once: so many that additions do not wait for each other, and
/// that the sums stay in the vector registers. What a row gets does not depend on it.
const FEW_ROWS: usize = 4;
/// The same where there are many registers.
const MOST_ROWS: usize = 8;

/// Rows of data times the elements of an operand, for the iterations of a tile.
struct RowProduct<'a> {
    /// Numbers of all iterations, `all` of them, for each of the `inner` elements.
    rows: &'a [f64],
    inner: usize,
    all: usize,
    start: usize,
    values: &'a [f64],
    origin: usize,
    step: usize,
}

impl RowProduct<'_> {
    /// `out = plus + x·b`, `R` rows at once.
    #[inline(always)]
    fn add<const L: usize, const R: usize>(&self, plus: &[f64], out: &mut [f64]) {
        let (mut done, m) = (0, out.len() / L);
        while done + R <= m {
            let own = done * L..(done + R) * L;
            self.add_rows::<L, R>(done, &plus[own.clone()], &mut out[own]);
            done += R;
        }
        for row in done..m {
            let own = row * L..(row + 1) * L;
            self.add_rows::<L, 1>(row, &plus[own.clone()], &mut out[own]);
        }
    }

    #[inline(always)]
    fn add_rows<const L: usize, const R: usize>(&self, first: usize, plus: &[f64], out: &mut [f64]) {
        let mut sums = [[0.0; L]; R];
        for r in 0..R {
            sums[r] = load::<L>(plus, r * L);
        }
        let (mut x_at, mut b_at) = (self.start + first, self.origin);
        for _ in 0..self.inner {
            let (x, b) = (&self.rows[x_at..x_at + R], load::<L>(self.values, b_at));
            for r in 0..R {
                sums[r] = add_scaled(sums[r], x[r], b);
            }
            (x_at, b_at) = (x_at + self.all, b_at + self.step);
        }
        for r in 0..R {
            store(out, r * L, sums[r]);
        }
    }
}

/// How numbers of a lane alone lie.
#[derive(Clone, Copy, PartialEq)]
enum Alone {
    /// There are eight lanes.
    No,
    /// Blocks stand beside each other.
    Beside,
    /// One block, whose iterations come one after the other.
    InOrder,
}

/// Columns of data, and rows of lanes that they are multiplied with, for some blocks of iterations.
struct Columns<'a> {
    /// What is left of the columns, each with numbers for `all` iterations.
    rows: &'a [f64],
    all: usize,
    /// The iterations.
    first: usize,
    count: usize,
    /// How many of them a block has.
    length: usize,
    blocks: Range<usize>,
    by: &'a [f64],
}

impl Columns<'_> {
    /// Adds the sums of products of `K` columns to elements from `at` on and `step` apart: block after block. Goes on to
    /// the next columns, and says how many were taken.
    #[inline(always)]
    fn add<const L: usize, const K: usize>(
        &mut self,
        alone: Alone,
        into: &mut [f64],
        (at, step): (usize, usize),
    ) -> usize {
        let mut columns: [&[f64]; K] = [&[]; K];
        for k in 0..K {
            columns[k] = &self.rows[k * self.all + self.first..][..self.count];
        }
        match alone {
            Alone::No => self.in_lanes::<L, K>(columns, into, (at, step)),
            Alone::Beside => self.beside::<L, K>(columns, into, (at, step)),
            Alone::InOrder => self.in_order::<K>(columns, into, (at, step)),
        }
        self.rows = &self.rows[K * self.all..];
        K
    }

    #[inline(always)]
    fn in_lanes<const L: usize, const K: usize>(
        &self,
        columns: [&[f64]; K],
        into: &mut [f64],
        (at, step): (usize, usize),
    ) {
        let length = self.length;
        let mut totals = [[0.0; L]; K];
        for k in 0..K {
            totals[k] = load::<L>(into, at + k * step);
        }
        for b in self.blocks.start..self.blocks.end {
            let by = &self.by[b * length * L..][..length * L];
            let mut own: [&[f64]; K] = [&[]; K];
            for k in 0..K {
                own[k] = &columns[k][b * length..][..length];
            }
            let mut sums = [[0.0; L]; K];
            for i in 0..length {
                let row = load::<L>(by, i * L);
                for k in 0..K {
                    sums[k] = add_scaled(sums[k], own[k][i], row);
                }
            }
            for k in 0..K {
                totals[k] = sum(totals[k], sums[k]);
            }
        }
        for k in 0..K {
            store(into, at + k * step, totals[k]);
        }
    }

    #[inline(always)]
    fn beside<const L: usize, const K: usize>(
        &self,
        columns: [&[f64]; K],
        into: &mut [f64],
        (at, step): (usize, usize),
    ) {
        let mut sums = [[0.0; L]; K];
        for i in 0..self.length {
            let row = load::<L>(self.by, i * L);
            for k in 0..K {
                sums[k] = add_product(sums[k], load::<L>(columns[k], i * L), row);
            }
        }
        for k in 0..K {
            let to = at + k * step;
            let mut total = into[to];
            for b in self.blocks.start..self.blocks.end {
                total += sums[k][b];
            }
            into[to] = total;
        }
    }

    #[inline(always)]
    fn in_order<const K: usize>(&self, columns: [&[f64]; K], into: &mut [f64], (at, step): (usize, usize)) {
        if self.blocks.is_empty() {
            return;
        }
        let by = &self.by[..self.count];
        let mut sums = [0.0; K];
        for i in 0..self.count {
            for k in 0..K {
                sums[k] = fma(columns[k][i], by[i], sums[k]);
            }
        }
        for k in 0..K {
            into[at + k * step] += sums[k];
        }
    }
}
