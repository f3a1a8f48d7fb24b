//! Matrices of eight items at once: an element is a row of eight numbers, one for each item (lane), and all items go
//! through the same operations. Matrices lie column by column.
//!
//! A single item of a small matrix leaves most of a vector register unused; eight of them fill it. So nothing here
//! depends on how large matrices are.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use crate::lanes::{InstructionSet, Kernel, dispatch};

/// The numbers of eight items.
pub type Row = [f64; 8];

/// The largest matrix for which there are versions for eight items. Eight of those that are larger do not fit in the
/// first caches, and one of them fills vector registers by itself. Up to here a single item goes through the same
/// operations as eight, so that it has the same bits.
pub const WIDEST: usize = 64;

/// Columns, and rows, that are kept in registers.
const BLOCK: usize = 4;

/// `x + a b`
#[inline(always)]
pub fn add_product<const W: usize>(x: [f64; W], a: [f64; W], b: [f64; W]) -> [f64; W] {
    let mut y = x;
    for l in 0..W {
        y[l] = a[l].mul_add(b[l], x[l]);
    }
    y
}

/// `x − a b`
#[inline(always)]
pub fn subtract_product<const W: usize>(x: [f64; W], a: [f64; W], b: [f64; W]) -> [f64; W] {
    let mut y = x;
    for l in 0..W {
        y[l] = (-a[l]).mul_add(b[l], x[l]);
    }
    y
}

#[inline(always)]
pub fn times<const W: usize>(a: [f64; W], b: [f64; W]) -> [f64; W] {
    let mut y = a;
    for l in 0..W {
        y[l] = a[l] * b[l];
    }
    y
}

#[inline(always)]
fn reciprocal<const W: usize>(a: [f64; W]) -> [f64; W] {
    let mut y = a;
    for l in 0..W {
        y[l] = 1.0 / a[l];
    }
    y
}

/// Overwrites the lower triangles by Cholesky factors and the upper ones by 0. Says `false` where a pivot of any item
/// is not positive.
pub fn factor(a: &mut [Row], n: usize) -> bool {
    dispatch(Factor { a, n })
}

struct Factor<'a> {
    a: &'a mut [Row],
    n: usize,
}

impl Kernel for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { a, n } = self;
        let a = &mut a[..n * n];
        let mut first = 0;
        while first < n {
            let width = BLOCK.min(n - first);
            let (done, rest) = a.split_at_mut(first * n);
            let columns = &mut rest[..width * n];
            // What the columns before take away.
            let mut i = first;
            while i < n {
                let rows = BLOCK.min(n - i);
                if rows == BLOCK && width == BLOCK {
                    subtract_block(done, columns, n, first, i);
                } else {
                    for (r, c) in (0..rows).flat_map(|r| (0..width).map(move |c| (i + r, c))) {
                        let mut x = columns[c * n + r];
                        for column in done.chunks_exact(n) {
                            x = subtract_product(x, column[r], column[first + c]);
                        }
                        columns[c * n + r] = x;
                    }
                }
                i += rows;
            }
            if !factor_panel(columns, n, first) {
                return false;
            }
            first += width;
        }
        true
    }
}

/// Four rows from `i` on of four columns, which are those from `first` on: minus the products of the columns before.
/// What an element gets does not depend on how many of them go at once.
#[inline(always)]
fn subtract_block(done: &[Row], columns: &mut [Row], n: usize, first: usize, i: usize) {
    if InstructionSet::best().has_many_registers() {
        subtract_part::<8, BLOCK>(done, columns, n, (first, i), (0, 0));
        return;
    }
    // Two columns of half of the items: eight sums in sixteen registers.
    for (half, column) in [(0, 0), (0, 2), (4, 0), (4, 2)] {
        subtract_part::<4, 2>(done, columns, n, (first, i), (half, column));
    }
}

/// The same for `C` of the columns and `H` of the items, from these on.
#[inline(always)]
fn subtract_part<const H: usize, const C: usize>(
    done: &[Row],
    columns: &mut [Row],
    n: usize,
    (first, i): (usize, usize),
    (half, column): (usize, usize),
) {
    let mut sums = [[[0.0; H]; BLOCK]; C];
    for c in 0..C {
        for r in 0..BLOCK {
            sums[c][r] = part(&columns[(column + c) * n + i + r], half);
        }
    }
    for before in done.chunks_exact(n) {
        let (left, right) = (&before[i..i + BLOCK], &before[first + column..first + column + C]);
        for c in 0..C {
            let right: [f64; H] = part(&right[c], half);
            for r in 0..BLOCK {
                let left: [f64; H] = part(&left[r], half);
                for l in 0..H {
                    sums[c][r][l] = (-left[l]).mul_add(right[l], sums[c][r][l]);
                }
            }
        }
    }
    for c in 0..C {
        for r in 0..BLOCK {
            columns[(column + c) * n + i + r][half..half + H].copy_from_slice(&sums[c][r]);
        }
    }
}

/// `H` of the items of a row.
#[inline(always)]
fn part<const H: usize>(row: &Row, from: usize) -> [f64; H] {
    let mut part = [0.0; H];
    part.copy_from_slice(&row[from..from + H]);
    part
}

/// Factors a few columns, the first of which has the number `first`.
#[inline(always)]
fn factor_panel(columns: &mut [Row], n: usize, first: usize) -> bool {
    for j in 0..columns.len() / n {
        let (done, column) = columns.split_at_mut(j * n);
        let column = &mut column[..n];
        let row = first + j;
        let pivot = less_before(column[row], done, n, (row, row));
        let (mut root, mut fine) = (pivot, true);
        for l in 0..8 {
            fine &= pivot[l] > 0.0;
            root[l] = pivot[l].sqrt();
        }
        if !fine {
            return false;
        }
        let scale = reciprocal(root);
        column[..row].fill([0.0; 8]);
        column[row] = root;
        for i in row + 1..n {
            column[i] = times(less_before(column[i], done, n, (i, row)), scale);
        }
    }
    true
}

/// An element in row `i` of a column, whose diagonal is in `row`, minus what the columns before take away.
#[inline(always)]
fn less_before(mut x: Row, before: &[Row], n: usize, (i, row): (usize, usize)) -> Row {
    for column in before.chunks_exact(n) {
        x = subtract_product(x, column[i], column[row]);
    }
    x
}

/// Overwrites the lower triangles of `adjoint`, those of `L`, by those of the lower triangles of `A = L·Lᵀ`. What is
/// above the diagonal is neither read nor of use afterwards.
///
/// With `Lᵢⱼ = (Aᵢⱼ − Σₖ Lᵢₖ Lⱼₖ) / Lⱼⱼ`, from the last column to the first: `Āᵢⱼ = L̄ᵢⱼ / Lⱼⱼ`,
/// `L̄ⱼⱼ −= Σᵢ Āᵢⱼ Lᵢⱼ`, `Āⱼⱼ = L̄ⱼⱼ / 2Lⱼⱼ`, `L̄ᵢₖ −= Āᵢⱼ Lⱼₖ` and `L̄ⱼₖ −= Σᵢ Āᵢⱼ Lᵢₖ`, with `Āⱼⱼ` twice.
pub fn factor_reverse(l: &[Row], adjoint: &mut [Row], n: usize) {
    dispatch(FactorReverse { l, adjoint, n });
}

struct FactorReverse<'a> {
    l: &'a [Row],
    adjoint: &'a mut [Row],
    n: usize,
}

impl Kernel for FactorReverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { l, adjoint, n } = self;
        let (l, adjoint) = (&l[..n * n], &mut adjoint[..n * n]);
        let mut end = n;
        while end > 0 {
            // Whole blocks but for the first columns.
            let first = if end.is_multiple_of(BLOCK) { end - BLOCK } else { end - end % BLOCK };
            for j in (first..end).rev() {
                reverse_column(l, adjoint, n, j, first);
            }
            let (left, block) = adjoint.split_at_mut(first * n);
            let block = &block[..(end - first) * n];
            for k in 0..first {
                let (to, lk) = (&mut left[k * n..(k + 1) * n], &l[k * n..(k + 1) * n]);
                if end - first == BLOCK {
                    reverse_left(to, lk, block, n, first);
                } else {
                    for j in (first..end).rev() {
                        reverse_pair(to, lk, &block[(j - first) * n..(j - first + 1) * n], j);
                    }
                }
            }
            end = first;
        }
    }
}

/// The column j, and what it does to the columns of its block before it.
#[inline(always)]
fn reverse_column(l: &[Row], adjoint: &mut [Row], n: usize, j: usize, first: usize) {
    let (left, own) = adjoint.split_at_mut(j * n);
    let (own, lj) = (&mut own[..n], &l[j * n..(j + 1) * n]);
    let scale = reciprocal(lj[j]);
    let mut diagonal = own[j];
    for i in j + 1..n {
        own[i] = times(own[i], scale);
        diagonal = subtract_product(diagonal, own[i], lj[i]);
    }
    diagonal = times(diagonal, scale);
    for l in 0..8 {
        own[j][l] = 0.5 * diagonal[l];
    }
    for k in first..j {
        reverse_pair(&mut left[k * n..(k + 1) * n], &l[k * n..(k + 1) * n], own, j);
    }
}

/// What column j does to column k before it.
#[inline(always)]
fn reverse_pair(to: &mut [Row], lk: &[Row], own: &[Row], j: usize) {
    let (by, mut sum) = (lk[j], to[j]);
    for i in j + 1..own.len() {
        to[i] = subtract_product(to[i], own[i], by);
        sum = subtract_product(sum, own[i], lk[i]);
    }
    to[j] = subtract_product(sum, twice(own[j]), by);
}

/// What an element of the diagonal stands for: it was halved.
#[inline(always)]
fn twice(a: Row) -> Row {
    times(a, [2.0; 8])
}

/// The same for four columns from `first` on.
#[inline(always)]
fn reverse_left(to: &mut [Row], lk: &[Row], block: &[Row], n: usize, first: usize) {
    let below = first + BLOCK;
    let own = |c: usize| &block[c * n..(c + 1) * n];
    let columns = [own(0), own(1), own(2), own(3)];
    let by = [lk[first], lk[first + 1], lk[first + 2], lk[first + 3]];
    let mut sums = [to[first], to[first + 1], to[first + 2], to[first + 3]];
    // As column by column, from the last one: of the rows of the block itself first what is below them, then the
    // diagonal, then the columns before.
    for c in 0..BLOCK {
        for i in c + 1..BLOCK {
            sums[c] = subtract_product(sums[c], columns[c][first + i], by[i]);
        }
    }
    for i in below..n {
        let (mut x, y) = (to[i], lk[i]);
        for c in (0..BLOCK).rev() {
            let a = columns[c][i];
            x = subtract_product(x, a, by[c]);
            sums[c] = subtract_product(sums[c], a, y);
        }
        to[i] = x;
    }
    for c in (0..BLOCK).rev() {
        sums[c] = subtract_product(sums[c], twice(columns[c][first + c]), by[c]);
        for i in c + 1..BLOCK {
            sums[i] = subtract_product(sums[i], columns[c][first + i], by[c]);
        }
    }
    to[first..below].copy_from_slice(&sums);
}

/// `Σᵢ aᵢ bᵢ` from `from` on, in four partial sums: one would wait for itself.
#[inline(always)]
pub fn dot<const W: usize>(a: &[[f64; W]], b: &[[f64; W]], from: usize) -> [f64; W] {
    let n = a.len().min(b.len());
    let (a, b) = (&a[from.min(n)..n], &b[from.min(n)..n]);
    let mut sums = [[0.0; W]; 4];
    let ((fours, rest), (other_fours, other_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in fours.iter().zip(other_fours) {
        for k in 0..4 {
            sums[k] = add_product(sums[k], a[k], b[k]);
        }
    }
    for (a, b) in rest.iter().zip(other_rest) {
        sums[0] = add_product(sums[0], *a, *b);
    }
    let mut sum = [0.0; W];
    for l in 0..W {
        sum[l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    }
    sum
}

/// `a − b`
#[inline(always)]
pub fn minus<const W: usize>(a: [f64; W], b: [f64; W]) -> [f64; W] {
    let mut y = a;
    for l in 0..W {
        y[l] = a[l] - b[l];
    }
    y
}

/// Overwrites x by `L⁻¹ x`. Diagonals are given as reciprocals.
#[inline(always)]
pub fn solve_lower<const W: usize>(l: &[[f64; W]], inverse: &[[f64; W]], n: usize, x: &mut [[f64; W]]) {
    let mut first = 0;
    while first < n {
        first += if first + BLOCK <= n {
            solve_rows::<W, BLOCK>(l, inverse, (n, first), x)
        } else {
            solve_rows::<W, 1>(l, inverse, (n, first), x)
        };
    }
}

/// So many rows at once: their sums stay in registers and do not wait for each other.
#[inline(always)]
fn solve_rows<const W: usize, const R: usize>(
    l: &[[f64; W]],
    inverse: &[[f64; W]],
    (n, first): (usize, usize),
    x: &mut [[f64; W]],
) -> usize {
    let mut sums = [[0.0; W]; R];
    sums.copy_from_slice(&x[first..first + R]);
    for k in 0..first {
        let (column, y) = (&l[k * n + first..][..R], x[k]);
        for r in 0..R {
            sums[r] = subtract_product(sums[r], column[r], y);
        }
    }
    for r in 0..R {
        for k in first..first + r {
            sums[r] = subtract_product(sums[r], l[k * n + first + r], x[k]);
        }
        x[first + r] = times(sums[r], inverse[first + r]);
    }
    R
}

/// Overwrites x by `L⁻ᵀ x`.
#[inline(always)]
pub fn solve_lower_transposed<const W: usize>(l: &[[f64; W]], inverse: &[[f64; W]], n: usize, x: &mut [[f64; W]]) {
    for j in (0..n).rev() {
        let column = &l[j * n..(j + 1) * n];
        x[j] = times(minus(x[j], dot(column, x, j + 1)), inverse[j]);
    }
}

/// The reciprocals of the diagonal; `false` where any item's is not positive.
#[inline(always)]
pub fn inverse_diagonal<const W: usize>(l: &[[f64; W]], n: usize, out: &mut [[f64; W]]) -> bool {
    let mut fine = true;
    for j in 0..n {
        let x = l[j * n + j];
        for l in 0..W {
            fine &= x[l] > 0.0;
        }
        out[j] = reciprocal(x);
    }
    fine
}

/// Overwrites `out` by `W = L⁻¹`, a lower triangle; what is above is 0.
#[inline(always)]
pub fn inverse_factor<const W: usize>(l: &[[f64; W]], inverse: &[[f64; W]], n: usize, out: &mut [[f64; W]]) {
    out[..n * n].fill([0.0; W]);
    let mut first = 0;
    while first < n {
        first += if first + BLOCK <= n {
            inverse_columns::<W, BLOCK>(l, inverse, (n, first), out)
        } else {
            inverse_columns::<W, 1>(l, inverse, (n, first), out)
        };
    }
}

/// So many columns at once. Sums go along rows of L: of sums that go along columns, item by item, the compiler would
/// make loops that collect one number of each item.
#[inline(always)]
fn inverse_columns<const W: usize, const C: usize>(
    l: &[[f64; W]],
    inverse: &[[f64; W]],
    (n, first): (usize, usize),
    out: &mut [[f64; W]],
) -> usize {
    for i in first..n {
        let mut sums = [[0.0; W]; C];
        if i < first + C {
            sums[i - first] = [1.0; W];
        }
        for k in first..i {
            let a = l[k * n + i];
            for c in 0..C {
                sums[c] = subtract_product(sums[c], a, out[(first + c) * n + k]);
            }
        }
        for c in 0..C {
            out[(first + c) * n + i] = times(sums[c], inverse[i]);
        }
    }
    C
}
