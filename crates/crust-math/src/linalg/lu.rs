//! The decomposition `P·A = L·U` with partial pivoting, and what follows from it: solutions, determinants, inverses.

use super::LinalgError;
use super::gemm::{Operand, Target, gemm};
use super::memory::identity;
use super::triangular::{Triangle, solve, solve_in, solve_plain};
use super::vectors::{add_scaled, add_scaled_fused};
use crate::lanes::{Kernel, dispatch};

/// Columns of a block.
const BLOCK: usize = 16;

/// A decomposed matrix: `U` on and above the diagonal, `L` (whose diagonal is 1) below it, and for each column the row
/// that was exchanged with the diagonal's.
#[derive(Clone, Copy)]
pub struct Lu<'a> {
    factors: &'a [f64],
    pivots: &'a [f64],
    n: usize,
}

/// How much memory [`decompose`] needs.
pub fn scratch(n: usize) -> usize {
    n * n + n
}

/// Decomposes a copy of `a` in `memory`. A singular matrix gives a pivot of 0.
pub fn decompose<'a>(a: &[f64], n: usize, memory: &'a mut [f64]) -> Lu<'a> {
    let (factors, pivots) = memory[..scratch(n)].split_at_mut(n * n);
    factors.copy_from_slice(a);
    for first in (0..n).step_by(BLOCK) {
        let size = BLOCK.min(n - first);
        let end = first + size;
        dispatch(Panel::<true> {
            columns: &mut factors[first * n..end * n],
            pivots: &mut pivots[first..end],
            n,
            first,
        });
        for j in (0..first).chain(end..n) {
            exchange(&mut factors[j * n..(j + 1) * n], &pivots[first..end], first);
        }
        let rest = n - end;
        let block = Operand::here(first + first * n, n);
        let right = Target { offset: first + end * n, stride: n, rows: size, columns: rest };
        solve_in(block, Triangle::UnitLower, factors, right);
        let corner = Target { offset: end + end * n, stride: n, rows: rest, columns: rest };
        gemm(factors, corner, size, -1.0, block.at(size, 0), Operand::here(right.offset, n));
    }
    Lu { factors, pivots, n }
}

/// A decomposed matrix with memory of its own, in plain arithmetic: the solvers of differential equations choose their
/// steps by it, and choose as Stan does only if it rounds as the solvers there do.
#[derive(Clone, Debug)]
pub struct Factors {
    n: usize,
    memory: Vec<f64>,
}

impl Factors {
    /// Decomposes an `n × n` matrix; an error where a pivot is exactly zero.
    pub fn new(n: usize, a: &[f64]) -> Result<Self, LinalgError> {
        let mut memory = vec![0.0; scratch(n)];
        let (columns, pivots) = memory.split_at_mut(n * n);
        columns.copy_from_slice(a);
        dispatch(Panel::<false> { columns, pivots, n, first: 0 });
        let factors = Self { n, memory };
        factors.view().check()?;
        Ok(factors)
    }

    fn view(&self) -> Lu<'_> {
        let (factors, pivots) = self.memory.split_at(self.n * self.n);
        Lu { factors, pivots, n: self.n }
    }

    /// `b ← A⁻¹·b`.
    pub fn solve(&self, b: &mut [f64]) {
        let (lu, whole) = (self.view(), Target::whole(self.n, 1));
        let t = Operand::new(lu.factors, self.n);
        exchange(b, lu.pivots, 0);
        solve_plain(t, Triangle::UnitLower, b, whole);
        solve_plain(t, Triangle::Upper, b, whole);
    }

    /// `b ← A⁻ᵀ·b`.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        let (lu, whole) = (self.view(), Target::whole(self.n, 1));
        let t = Operand::new(lu.factors, self.n).transposed();
        solve_plain(t, Triangle::Lower, b, whole);
        solve_plain(t, Triangle::UnitUpper, b, whole);
        exchange_back(b, lu.pivots);
    }
}

/// What [`Factors::new`] does, in place; says `false` where a pivot is exactly zero.
pub(crate) fn factor_plain(n: usize, columns: &mut [f64], pivots: &mut [f64]) -> bool {
    dispatch(Panel::<false> { columns, pivots, n, first: 0 });
    Lu { factors: columns, pivots, n }.check().is_ok()
}

/// Exchanges elements of a column as the rows of columns `first…` have been.
fn exchange(column: &mut [f64], pivots: &[f64], first: usize) {
    for (k, &pivot) in pivots.iter().enumerate() {
        column.swap(first + k, index(pivot));
    }
}

/// Undoes all exchanges.
fn exchange_back(column: &mut [f64], pivots: &[f64]) {
    for (k, &pivot) in pivots.iter().enumerate().rev() {
        column.swap(k, index(pivot));
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index that was stored as a number")]
pub(crate) fn index(pivot: f64) -> usize {
    pivot as usize
}

/// Columns `first…` of a matrix, with fused operations or in plain arithmetic.
struct Panel<'a, const FUSED: bool> {
    columns: &'a mut [f64],
    pivots: &'a mut [f64],
    n: usize,
    first: usize,
}

impl<const FUSED: bool> Kernel for Panel<'_, FUSED> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { columns, pivots, n, first } = self;
        let width = pivots.len();
        for k in 0..width {
            let row = first + k;
            let mut best = row;
            for (i, x) in columns[k * n..(k + 1) * n].iter().enumerate().skip(row) {
                if x.abs() > columns[k * n + best].abs() {
                    best = i;
                }
            }
            #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
            let pivot = best as f64;
            pivots[k] = pivot;
            columns.chunks_exact_mut(n).for_each(|column| column.swap(row, best));
            let (done, after) = columns.split_at_mut((k + 1) * n);
            let (pivot, column) = done[k * n + row..].split_at_mut(1);
            // A column of zeros stays one: the pivot of 0 tells of the singular matrix, NaNs elsewhere would hide it.
            if pivot[0] != 0.0 && FUSED {
                column.iter_mut().for_each(|x| *x /= pivot[0]);
            } else if pivot[0] != 0.0 {
                let inverse = 1.0 / pivot[0];
                column.iter_mut().for_each(|x| *x *= inverse);
            }
            for other in after.chunks_exact_mut(n) {
                let by = -other[row];
                if FUSED {
                    add_scaled_fused(&mut other[row + 1..], by, column);
                } else {
                    add_scaled(&mut other[row + 1..], by, column);
                }
            }
        }
    }
}

impl Lu<'_> {
    /// That no pivot is 0.
    pub fn check(&self) -> Result<(), LinalgError> {
        match self.diagonal().position(|x| x == 0.0) {
            Some(column) => Err(LinalgError::Singular { column: column + 1 }),
            None => Ok(()),
        }
    }

    /// Overwrites each column of `b` by `A⁻¹·b`.
    pub fn solve(&self, b: &mut [f64], columns: usize) {
        let (n, t) = (self.n, Operand::new(self.factors, self.n));
        if n > 0 {
            b.chunks_exact_mut(n).for_each(|b| exchange(b, self.pivots, 0));
        }
        solve(t, Triangle::UnitLower, n, b, columns);
        solve(t, Triangle::Upper, n, b, columns);
    }

    /// Overwrites each column of `b` by `A⁻ᵀ·b`.
    pub fn solve_transposed(&self, b: &mut [f64], columns: usize) {
        let (n, t) = (self.n, Operand::new(self.factors, self.n).transposed());
        solve(t, Triangle::Lower, n, b, columns);
        solve(t, Triangle::UnitUpper, n, b, columns);
        if n > 0 {
            b.chunks_exact_mut(n).for_each(|b| exchange_back(b, self.pivots));
        }
    }

    /// `A⁻¹`.
    pub fn inverse(&self, out: &mut [f64]) {
        identity(out, self.n);
        self.solve(out, self.n);
    }

    fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.n).map(|i| self.factors[i * (self.n + 1)])
    }

    pub fn determinant(&self) -> f64 {
        let exchanged = self.pivots.iter().enumerate().filter(|&(k, &pivot)| index(pivot) != k).count();
        let sign = if exchanged % 2 == 0 { 1.0 } else { -1.0 };
        self.diagonal().fold(sign, |product, x| product * x)
    }

    /// `log |det A|`.
    pub fn log_determinant(&self) -> f64 {
        self.diagonal().map(|x| x.abs().ln()).sum()
    }
}
