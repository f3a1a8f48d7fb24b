//! Sums of products: rows of data times parameters.

#[cfg(test)]
mod tests;

use std::array::from_fn as array;
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
        if S {
            let column = |k: usize| &rows[k * all + start..k * all + start + m];
            let mut k = 0;
            while k < inner {
                let to = origin + k * step;
                if k + FEW_ROWS <= inner {
                    blocks_times::<L, FEW_ROWS>(array(|r| column(k + r)), adjoint, into, (to, step), blocks.clone());
                    k += FEW_ROWS;
                } else {
                    blocks_times::<L, 1>([column(k)], adjoint, into, (to, step), blocks.clone());
                    k += 1;
                }
            }
            return;
        }
        for b in blocks {
            let column = |k: usize| &rows[k * all + start + b * length..][..length];
            let adjoint = &adjoint[b * length * L..(b + 1) * length * L];
            let mut k = 0;
            while k < inner {
                let to = origin + k * step;
                if k + MOST_ROWS <= inner && InstructionSet::best().has_many_registers() {
                    columns_times::<L, MOST_ROWS>(array(|r| column(k + r)), adjoint, into, (to, step));
                    k += MOST_ROWS;
                } else if k + FEW_ROWS <= inner {
                    columns_times::<L, FEW_ROWS>(array(|r| column(k + r)), adjoint, into, (to, step));
                    k += FEW_ROWS;
                } else {
                    columns_times::<L, 1>([column(k)], adjoint, into, (to, step));
                    k += 1;
                }
            }
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

/// Adds the sums of products of columns with rows of lanes to neighbouring elements, from `at` on and `step` apart.
#[inline(always)]
fn columns_times<const L: usize, const K: usize>(
    columns: [&[f64]; K],
    by: &[f64],
    into: &mut [f64],
    (at, step): (usize, usize),
) {
    let n = by.len() / L;
    let columns = columns.map(|column| &column[..n]);
    let mut sums = [[0.0; L]; K];
    for i in 0..n {
        let row = load::<L>(by, i * L);
        for k in 0..K {
            sums[k] = add_scaled(sums[k], columns[k][i], row);
        }
    }
    for k in 0..K {
        let to = at + k * step;
        store(into, to, sum(load::<L>(into, to), sums[k]));
    }
}

/// The same for blocks of a lane alone that stand beside each other: each of them in turn adds its sum.
#[inline(always)]
fn blocks_times<const L: usize, const K: usize>(
    columns: [&[f64]; K],
    by: &[f64],
    into: &mut [f64],
    (at, step): (usize, usize),
    blocks: Range<usize>,
) {
    let mut sums = [[0.0; L]; K];
    let whole = columns[0].len() / L;
    for i in 0..whole {
        let row = load::<L>(by, i * L);
        for k in 0..K {
            sums[k] = add_product(sums[k], load::<L>(columns[k], i * L), row);
        }
    }
    // Fewer blocks than there is room for have one iteration each.
    if whole * L < columns[0].len() {
        for k in 0..K {
            for (b, x) in columns[k].iter().enumerate() {
                sums[k][b] = fma(*x, by[b], 0.0);
            }
        }
    }
    for k in 0..K {
        let to = at + k * step;
        into[to] = sums[k][blocks.clone()].iter().fold(into[to], |sum, x| sum + x);
    }
}
