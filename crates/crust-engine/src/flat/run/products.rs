//! Sums of products: rows of data times parameters, and parameters times parameters.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

#[cfg(test)]
mod tests;

use std::array::from_fn as array;

use crust_math::lanes::InstructionSet;

use super::super::rows::{add_product, add_scaled, fill, load, load_unchecked, store, store_unchecked, sum};
use super::super::steps::{at, at_mut, below};
use super::super::{GROUP, Lists, Normal, Positions, Register};
use super::{Group, Room};
use crate::kernels::fma;

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
        let plus = at(low, plus, m * L);
        if L == 1 {
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
    pub(super) fn pair_dot<const L: usize>(&mut self, lists: &Lists, out: Register, start: usize, m: usize) {
        let (rows, inner, packed) = (self.pair_rows(lists, start, m), lists.inner, self.is_packed());
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let out = at_mut(registers, out, m * L);
        fill(out, 0.0);
        for first in (0..inner).step_by(MOST_KEPT) {
            match inner - first {
                1 => rows.forward::<L, 1>(values, out, first),
                2 => rows.forward::<L, 2>(values, out, first),
                3 => rows.forward::<L, 3>(values, out, first),
                4 => rows.forward::<L, 4>(values, out, first),
                5 => rows.forward::<L, 5>(values, out, first),
                6 => rows.forward::<L, 6>(values, out, first),
                7 => rows.forward::<L, 7>(values, out, first),
                _ => rows.forward::<L, MOST_KEPT>(values, out, first),
            }
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
        let column = |k: usize| &rows[k * all + start..k * all + start + m];
        if L == 1 {
            for k in 0..inner {
                into[origin + k * step] += column_times(column(k), adjoint);
            }
            return;
        }
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

    #[inline(always)]
    pub(super) fn pair_dot_reverse<const L: usize>(&mut self, lists: &Lists, out: Register, start: usize, m: usize) {
        let (rows, inner, packed) = (self.pair_rows(lists, start, m), lists.inner, self.is_packed());
        let Room { adjoints, packed: copies, packed_adjoints, .. } = &mut *self.room;
        let (values, into, base): (&[f64], &mut [f64], usize) =
            if packed { (copies, packed_adjoints, 0) } else { (self.values, self.adjoints, self.base) };
        let adjoint = at(adjoints, out, m * L);
        for first in (0..inner).step_by(MOST_KEPT) {
            match inner - first {
                1 => rows.reverse::<L, 1>(values, (into, base), adjoint, first),
                2 => rows.reverse::<L, 2>(values, (into, base), adjoint, first),
                3 => rows.reverse::<L, 3>(values, (into, base), adjoint, first),
                4 => rows.reverse::<L, 4>(values, (into, base), adjoint, first),
                5 => rows.reverse::<L, 5>(values, (into, base), adjoint, first),
                6 => rows.reverse::<L, 6>(values, (into, base), adjoint, first),
                7 => rows.reverse::<L, 7>(values, (into, base), adjoint, first),
                _ => rows.reverse::<L, MOST_KEPT>(values, (into, base), adjoint, first),
            }
        }
    }

    #[inline(always)]
    pub(super) fn add_normal_products<const L: usize>(
        &mut self,
        lists: &Lists,
        normal: &Normal,
        start: usize,
        m: usize,
    ) {
        let (rows, packed) = (self.pair_rows(lists, start, m), self.is_packed());
        let Some(column) = &normal.column else { return };
        let column = &column[start..start + m];
        let Room { registers, packed: copies, packed_adjoints, .. } = &mut *self.room;
        let scale = Scale {
            inverse: load::<L>(at(registers, normal.inverse, L), 0),
            weight: load::<L>(at(registers, normal.weight, L), 0),
        };
        let squares = at_mut(registers, normal.squares, L);
        let (values, into, base): (&[f64], &mut [f64], usize) =
            if packed { (copies, packed_adjoints, 0) } else { (self.values, self.adjoints, self.base) };
        let into = if self.call.gradient { Some((into, base)) } else { None };
        match lists.inner {
            1 => rows.normal::<L, 1>(values, into, column, scale, squares),
            2 => rows.normal::<L, 2>(values, into, column, scale, squares),
            3 => rows.normal::<L, 3>(values, into, column, scale, squares),
            4 => rows.normal::<L, 4>(values, into, column, scale, squares),
            5 => rows.normal::<L, 5>(values, into, column, scale, squares),
            6 => rows.normal::<L, 6>(values, into, column, scale, squares),
            7 => rows.normal::<L, 7>(values, into, column, scale, squares),
            _ => rows.normal::<L, MOST_KEPT>(values, into, column, scale, squares),
        }
    }

    /// Where the elements of two lists are, for the iterations of a tile.
    #[inline(always)]
    fn pair_rows<'a>(&self, lists: &'a Lists, start: usize, m: usize) -> PairRows<'a> {
        let list = |positions: &'a Positions, stride: u32| {
            let (origin, lanes) = self.source(positions.operand);
            debug_assert!(lanes == 1 || lanes == GROUP, "elements lie together");
            let own = start..start + m;
            let (elements, changes) = (&positions.elements[own.clone()], &positions.changes[own]);
            List { elements, changes, start, origin, step: stride as usize * lanes }
        };
        PairRows { kept: list(&lists.a, lists.strides[0]), other: list(&lists.b, lists.strides[1]) }
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

/// The sum of products of two columns, with so many running sums that additions do not wait for each other.
#[inline(always)]
fn column_times(column: &[f64], by: &[f64]) -> f64 {
    let n = by.len();
    let (mut i, mut sums) = (0, [[0.0; GROUP]; 4]);
    while i + 4 * GROUP <= n {
        let (a, b) = (&column[i..i + 4 * GROUP], &by[i..i + 4 * GROUP]);
        for r in 0..4 {
            sums[r] = add_product(sums[r], load::<GROUP>(a, r * GROUP), load::<GROUP>(b, r * GROUP));
        }
        i += 4 * GROUP;
    }
    let mut r = 0;
    while i + GROUP <= n {
        sums[r] = add_product(sums[r], load::<GROUP>(column, i), load::<GROUP>(by, i));
        (i, r) = (i + GROUP, r + 1);
    }
    let mut rest = 0.0;
    for i in i..n {
        rest = fma(column[i], by[i], rest);
    }
    total(&sum(sum(sums[0], sums[1]), sum(sums[2], sums[3]))) + rest
}

/// Not inlined: otherwise the compiler would keep the running sums in the order in which they are added up here, in
/// pairs.
#[inline(never)]
fn total(s: &[f64; GROUP]) -> f64 {
    ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
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

/// What residuals and their slopes are multiplied by.
#[derive(Clone, Copy)]
struct Scale<const L: usize> {
    inverse: [f64; L],
    weight: [f64; L],
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
    fn forward<const L: usize, const K: usize>(&self, values: &[f64], out: &mut [f64], first: usize) {
        let mut begin = 0;
        while begin < self.kept.elements.len() {
            let end = self.kept.end(begin);
            // SAFETY: see above.
            let kept = unsafe { load_list::<L, K>(values, self.kept.at::<L>(begin, first), self.kept.step) };
            for i in begin..end {
                // SAFETY: see above.
                let other = unsafe { load_list::<L, K>(values, self.other.at::<L>(i, first), self.other.step) };
                let mut sum = load::<L>(out, i * L);
                for k in 0..K {
                    sum = add_product(sum, kept[k], other[k]);
                }
                store(out, i * L, sum);
            }
            begin = end;
        }
    }

    #[inline(always)]
    fn reverse<const L: usize, const K: usize>(
        &self,
        values: &[f64],
        (into, base): (&mut [f64], usize),
        adjoint: &[f64],
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
                let adjoint = load::<L>(adjoint, i * L);
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
        squares: &mut [f64],
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
