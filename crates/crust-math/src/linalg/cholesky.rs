//! The Cholesky factor `A = L·Lᵀ` and its reverse, both in blocks of columns.
//!
//! The reverse is the blocked algorithm of Murray (2016), "Differentiation of the Cholesky decomposition".

use super::LinalgError;
use super::gemm::{Operand, Target, gemm};
use super::lanes::WIDEST;
use super::vectors::{Aligned, add_scaled_fused, copy, dot_fused};
use crate::lanes::{Kernel, dispatch};

pub mod rows;

use super::memory::identity;
use super::triangular::{Triangle, solve, solve_in};

/// Columns of a block in the factorisation: few, as only what is left of them is the product of matrices.
const FACTOR: usize = 16;
/// From so many rows on, columns are first taken together in wider blocks: the columns before them are then read less
/// often from memory beyond the caches. Where that pays is a measurement (`benches/linalg.rs`); it changes the last
/// digit.
const LARGE: usize = 256;
/// Columns of a wide block.
const WIDE: usize = 64;
/// Columns of a block in the reverse.
const REVERSE: usize = 32;

/// Overwrites the lower triangle of the `n × n` matrix by its factor and the upper one by 0. A pivot must be
/// positive.
pub fn factor(a: &mut [f64], n: usize) -> Result<(), LinalgError> {
    match n {
        0..=4 => return dispatch(Small::<4> { a, n }),
        5..=8 => return dispatch(Small::<8> { a, n }),
        // Products are subtracted one after the other, as from eight matrices at once.
        9..=WIDEST => return dispatch(Panel { columns: &mut a[..n * n], n, first: 0 }),
        _ => {}
    }
    let wide = if n < LARGE { FACTOR } else { WIDE };
    for first in (0..n).step_by(wide) {
        let width = wide.min(n - first);
        let (done, panel) = a.split_at_mut(first * n);
        let panel = &mut panel[..width * n];
        let left = Operand::new(done, n).at(first, 0);
        let target = Target { offset: first, stride: n, rows: n - first, columns: width };
        gemm(panel, target, first, -1.0, left, left.transposed());
        factor_panel(panel, n, first)?;
    }
    Ok(())
}

/// Factors columns `first…`, from which the product of the columns before them has been subtracted.
fn factor_panel(panel: &mut [f64], n: usize, first: usize) -> Result<(), LinalgError> {
    for inner in (0..panel.len() / n).step_by(FACTOR) {
        let row = first + inner;
        let width = FACTOR.min(panel.len() / n - inner);
        let left = Operand::here(row, n);
        let target = Target { offset: row + inner * n, stride: n, rows: n - row, columns: width };
        gemm(panel, target, inner, -1.0, left, left.transposed());
        dispatch(Panel { columns: &mut panel[inner * n..(inner + width) * n], n, first: row })?;
    }
    Ok(())
}

/// Overwrites each column of `b` by `(L·Lᵀ)⁻¹·b`.
pub fn solve_factored(l: &[f64], n: usize, b: &mut [f64], columns: usize) {
    let l = Operand::new(l, n);
    solve(l, Triangle::Lower, n, b, columns);
    solve(l.transposed(), Triangle::Upper, n, b, columns);
}

/// Overwrites `out` by `(L·Lᵀ)⁻¹`, both triangles.
pub fn inverse(l: &[f64], n: usize, out: &mut [f64]) {
    identity(out, n);
    let whole = Operand::new(l, n);
    // The first rows of a block of columns of L⁻¹ are 0.
    for first in (0..n).step_by(REVERSE) {
        let columns = REVERSE.min(n - first);
        let target = Target { offset: first + first * n, stride: n, rows: n - first, columns };
        solve_in(whole.at(first, first), Triangle::Lower, out, target);
    }
    solve(whole.transposed(), Triangle::Upper, n, out, n);
}

/// `Σ log Lⱼⱼ`: half of `log |L·Lᵀ|`.
pub fn log_diagonal(l: &[f64], n: usize) -> f64 {
    (0..n).map(|j| l[j * (n + 1)].ln()).sum()
}

/// A whole matrix of at most `W` rows, in an array of known size: what is beyond the matrix is 0 and stays 0.
struct Small<'a, const W: usize> {
    a: &'a mut [f64],
    n: usize,
}

impl<const W: usize> Kernel for Small<'_, W> {
    type Output = Result<(), LinalgError>;

    #[inline(always)]
    fn run(self) -> Result<(), LinalgError> {
        let Self { a, n } = self;
        let Aligned(block) = &mut Aligned([[0.0; W]; W]);
        for j in 0..n {
            copy(&mut block[j][j..n], &a[j * n + j..(j + 1) * n]);
        }
        // The diagonal goes to an array of its own: to read a vector of which one element has just been written is
        // slow.
        let mut roots = [0.0; W];
        for j in 0..n {
            let pivot = block[j][j];
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(LinalgError::NotPositiveDefinite { row: j + 1, pivot });
            }
            roots[j] = pivot.sqrt();
            let scale = 1.0 / roots[j];
            let column = block[j].map(|x| x * scale);
            block[j] = column;
            for k in j + 1..n {
                add_scaled_fused(&mut block[k], -column[k], &column);
            }
        }
        for j in 0..n {
            a[j * n..j * n + j].fill(0.0);
            a[j * n + j] = roots[j];
            copy(&mut a[j * n + j + 1..(j + 1) * n], &block[j][j + 1..n]);
        }
        Ok(())
    }
}

/// Columns `first…` of the matrix, from which the product of the columns before them has been subtracted.
struct Panel<'a> {
    columns: &'a mut [f64],
    n: usize,
    first: usize,
}

impl Kernel for Panel<'_> {
    type Output = Result<(), LinalgError>;

    #[inline(always)]
    fn run(self) -> Result<(), LinalgError> {
        let Self { columns, n, first } = self;
        for j in 0..columns.len() / n {
            let row = first + j;
            let (done, column) = columns.split_at_mut(j * n);
            let column = &mut column[..n];
            subtract_products(&mut column[row..], done, n, row);
            let pivot = column[row];
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(LinalgError::NotPositiveDefinite { row: row + 1, pivot });
            }
            let root = pivot.sqrt();
            let scale = 1.0 / root;
            column[..row].fill(0.0);
            column[row] = root;
            column[row + 1..].iter_mut().for_each(|x| *x *= scale);
        }
        Ok(())
    }
}

/// `x -= Σₚ Lₚ[row]·Lₚ[row…]` over the columns of `done`, four at a time so that `x` is loaded and stored less often.
#[inline(always)]
fn subtract_products(x: &mut [f64], done: &[f64], n: usize, row: usize) {
    let mut fours = done.chunks_exact(4 * n);
    for four in &mut fours {
        let column = |p: usize| &four[p * n + row..][..x.len()];
        let (a, b, c, d) = (column(0), column(1), column(2), column(3));
        let (l, m, o, p) = (-a[0], -b[0], -c[0], -d[0]);
        for ((((x, a), b), c), d) in x.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *x = p.mul_add(*d, o.mul_add(*c, m.mul_add(*b, l.mul_add(*a, *x))));
        }
    }
    for column in fours.remainder().chunks_exact(n) {
        add_scaled_fused(x, -column[row], &column[row..]);
    }
}

/// Overwrites the lower triangle of `adjoint`, that of `L`, by that of `A`'s lower triangle (whose elements stand for
/// both of a symmetric pair). What is above the diagonal is neither read nor of use afterwards.
pub fn reverse(l: &[f64], adjoint: &mut [f64], n: usize) {
    match n {
        0..=4 => return dispatch(ReverseSmall::<4> { l, adjoint, n }),
        5..=8 => return dispatch(ReverseSmall::<8> { l, adjoint, n }),
        9..=16 => return dispatch(ReverseSmall::<16> { l, adjoint, n }),
        17..=32 => return dispatch(ReverseSmall::<32> { l, adjoint, n }),
        33..=WIDEST => return dispatch(ReverseSmall::<WIDEST> { l, adjoint, n }),
        _ => {}
    }
    // The rows and columns of a block are called as in the paper: D on the diagonal, R left of it, C below it, B below
    // R.
    for first in (0..n).step_by(REVERSE).rev() {
        let size = REVERSE.min(n - first);
        let below = first + size;
        let rest = n - below;
        let whole = Operand::new(l, n);
        let (c_adjoint, c) = (Operand::here(below + first * n, n), whole.at(below, first));
        let (r, b) = (whole.at(first, 0), whole.at(below, 0));
        dispatch(DivideByBlock { l, adjoint, n, first, size });
        gemm(adjoint, Target { offset: below, stride: n, rows: rest, columns: first }, size, -1.0, c_adjoint, r);
        let on_diagonal = Target { offset: first + first * n, stride: n, rows: size, columns: size };
        gemm(adjoint, on_diagonal, rest, -1.0, c_adjoint.transposed(), c);
        dispatch(ReverseBlock { l, adjoint, n, first, size });
        let left = Target { offset: first, stride: n, rows: size, columns: first };
        gemm(adjoint, left, rest, -1.0, c_adjoint.transposed(), b);
        let mut both = [0.0; REVERSE * REVERSE];
        for j in 0..size {
            for i in j..size {
                let d = adjoint[first + i + (first + j) * n];
                both[i + j * REVERSE] += d;
                both[j + i * REVERSE] += d;
            }
        }
        gemm(adjoint, left, size, -1.0, Operand::new(&both, REVERSE), r);
    }
}

/// `C̄ ← C̄·D⁻¹` for the block of columns.
struct DivideByBlock<'a> {
    l: &'a [f64],
    adjoint: &'a mut [f64],
    n: usize,
    first: usize,
    size: usize,
}

impl Kernel for DivideByBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { l, adjoint, n, first, size } = self;
        let below = first + size;
        for q in (first..below).rev() {
            let (start, after) = adjoint.split_at_mut((q + 1) * n);
            let x = &mut start[q * n + below..];
            for (p, done) in (q + 1..below).zip(after.chunks_exact(n)) {
                add_scaled_fused(x, -l[p + q * n], &done[below..]);
            }
            let scale = 1.0 / l[q + q * n];
            x.iter_mut().for_each(|x| *x *= scale);
        }
    }
}

/// The reverse of the factorisation of a block on the diagonal, row by row from the last.
struct ReverseBlock<'a> {
    l: &'a [f64],
    adjoint: &'a mut [f64],
    n: usize,
    first: usize,
    size: usize,
}

impl Kernel for ReverseBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { l, adjoint, n, first, size } = self;
        let end = first + size;
        for j in (first..end).rev() {
            let (before, column) = adjoint.split_at_mut(j * n);
            let c_adjoint = &mut column[j..end];
            let scale = 1.0 / l[j + j * n];
            c_adjoint[0] -= dot_fused(&l[j * n + j + 1..j * n + end], &c_adjoint[1..]) * scale;
            c_adjoint.iter_mut().for_each(|x| *x *= scale);
            for p in first..j {
                let l = &l[p * n + j..p * n + end];
                let adjoint = &mut before[p * n + j..p * n + end];
                adjoint[0] -= dot_fused(c_adjoint, l);
                add_scaled_fused(&mut adjoint[1..], -l[0], &c_adjoint[1..]);
            }
            c_adjoint[0] *= 0.5;
        }
    }
}

/// The same for a whole matrix of at most `W` rows, in arrays of its rows: loops are of known length and without sums
/// over lanes. `rows` is 0 on and above the diagonal; `adjoints` is without meaning above it.
struct ReverseSmall<'a, const W: usize> {
    l: &'a [f64],
    adjoint: &'a mut [f64],
    n: usize,
}

impl<const W: usize> Kernel for ReverseSmall<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { l, adjoint, n } = self;
        // The diagonal apart, and results at once to their place: to read a vector of which one element has just been
        // written is slow.
        let Aligned([rows, adjoints]) = &mut Aligned([[[0.0; W]; W]; 2]);
        let mut diagonal = [0.0; W];
        for p in 0..n {
            diagonal[p] = l[p * (n + 1)];
            adjoints[p][p] = adjoint[p * (n + 1)];
            for i in p + 1..n {
                rows[i][p] = l[i + p * n];
                adjoints[i][p] = adjoint[i + p * n];
            }
        }
        for j in (0..n).rev() {
            let scale = 1.0 / diagonal[j];
            // Of larger matrices only what is left of the diagonal, in whole vectors.
            let used = if W <= 16 { W } else { j.next_multiple_of(8) };
            let left = rows[j];
            let mut d = adjoints[j][j];
            let mut left_adjoint = adjoints[j];
            for i in j + 1..n {
                let c = adjoints[i][j] * scale;
                adjoint[i + j * n] = c;
                d = (-c).mul_add(rows[i][j], d);
                add_scaled_fused(&mut adjoints[i][..used], -c, &left[..used]);
                add_scaled_fused(&mut left_adjoint[..used], -c, &rows[i][..used]);
            }
            d *= scale;
            adjoint[j * (n + 1)] = 0.5 * d;
            add_scaled_fused(&mut left_adjoint[..used], -d, &left[..used]);
            adjoints[j] = left_adjoint;
        }
    }
}
