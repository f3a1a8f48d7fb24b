//! Systems of linear equations with a triangular matrix, in blocks of rows.

use super::gemm::{Operand, TINY, Target, gemm};
use super::vectors::{Aligned, add_scaled, add_scaled_fused, copy, dot};
use crate::lanes::{Kernel, dispatch};

/// Rows of a block.
const BLOCK: usize = 16;
/// Right-hand sides that are solved at once.
const SIDES: usize = 4;

/// Which triangle of the matrix as it is given (after transposition) is used, and whether its diagonal is 1.
#[derive(Clone, Copy, PartialEq)]
pub enum Triangle {
    Lower,
    Upper,
    UnitLower,
    UnitUpper,
}

impl Triangle {
    fn is_lower(self) -> bool {
        matches!(self, Self::Lower | Self::UnitLower)
    }

    fn is_unit(self) -> bool {
        matches!(self, Self::UnitLower | Self::UnitUpper)
    }
}

/// Overwrites each of the `columns` columns of `b` by the solution `x` of `T·x = b`, where `T` is `n × n`.
pub fn solve(t: Operand, triangle: Triangle, n: usize, b: &mut [f64], columns: usize) {
    let target = Target { offset: 0, stride: n, rows: n, columns };
    solve_in(t, triangle, b, target);
}

/// As [`solve`], for a part of the slice `b`.
pub fn solve_in(t: Operand, triangle: Triangle, b: &mut [f64], target: Target) {
    if target.columns == 0 {
        return;
    }
    let (n, lower) = (target.rows, triangle.is_lower());
    if n * n * target.columns <= TINY {
        solve_plain(t, triangle, b, target);
        return;
    }
    let blocks = n.div_ceil(BLOCK);
    for block in 0..blocks {
        let first = BLOCK * if lower { block } else { blocks - 1 - block };
        let size = BLOCK.min(n - first);
        let (known, count) = if lower { (0, first) } else { (first + size, n - first - size) };
        let rows = Target { offset: target.offset + first, rows: size, ..target };
        let solved = Operand::here(target.offset + known, target.stride);
        gemm(b, rows, count, -1.0, t.at(first, known), solved);
        let t = t.at(first, first);
        if size <= 8 {
            dispatch(SolveBlock::<8> { t, triangle, b, rows });
        } else {
            dispatch(SolveBlock::<BLOCK> { t, triangle, b, rows });
        }
    }
}

/// `x ← L⁻¹·x` for one right-hand side, which reads each column once; the upper triangle is not read.
pub fn solve_lower(l: &[f64], n: usize, x: &mut [f64]) {
    for (j, column) in l.chunks_exact(n).enumerate() {
        x[j] /= column[j];
        let value = x[j];
        add_scaled(&mut x[j + 1..], -value, &column[j + 1..]);
    }
}

/// `x ← L⁻ᵀ·x` for one right-hand side.
pub fn solve_lower_transposed(l: &[f64], n: usize, x: &mut [f64]) {
    for (j, column) in l.chunks_exact(n).enumerate().rev() {
        x[j] = (x[j] - dot(&column[j + 1..], &x[j + 1..])) / column[j];
    }
}

/// As [`solve_in`], in plain loops without fused operations: for so few numbers that to prepare anything would take
/// longer.
pub(super) fn solve_plain(t: Operand, triangle: Triangle, b: &mut [f64], target: Target) {
    let n = target.rows;
    for j in 0..target.columns {
        let start = target.offset + j * target.stride;
        for step in 0..n {
            let q = if triangle.is_lower() { step } else { n - 1 - step };
            if !triangle.is_unit() {
                b[start + q] /= t.element(q, q, b);
            }
            for i in if triangle.is_lower() { q + 1..n } else { 0..q } {
                b[start + i] -= b[start + q] * t.element(i, q, b);
            }
        }
    }
}

/// Solves for a block of at most `W` rows.
struct SolveBlock<'a, const W: usize> {
    t: Operand<'a>,
    triangle: Triangle,
    b: &'a mut [f64],
    rows: Target,
}

impl<const W: usize> Kernel for SolveBlock<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { t, triangle, b, rows } = self;
        let size = rows.rows;
        let lower = triangle.is_lower();
        // Columns of the block with a diagonal of 0, and the inverse of the diagonal: a step then needs no shorter
        // vectors. The solution is kept apart: to read a vector of which one element has just been written is slow.
        let Aligned(block) = &mut Aligned([[0.0; W]; W]);
        let mut scale = [1.0; W];
        for q in 0..size {
            for i in if lower { q + 1..size } else { 0..q } {
                block[q][i] = t.element(i, q, b);
            }
            if !triangle.is_unit() {
                scale[q] = 1.0 / t.element(q, q, b);
            }
        }
        for j in (0..rows.columns).step_by(SIDES) {
            let sides = SIDES.min(rows.columns - j);
            let Aligned(x) = &mut Aligned([[0.0; W]; SIDES]);
            let mut solution = [[0.0; W]; SIDES];
            let start = rows.offset + j * rows.stride;
            for (side, x) in x.iter_mut().enumerate().take(sides) {
                copy(&mut x[..size], &b[start + side * rows.stride..][..size]);
            }
            for step in 0..size {
                let q = if lower { step } else { size - 1 - step };
                for side in 0..SIDES {
                    solution[side][q] = x[side][q] * scale[q];
                    add_scaled_fused(&mut x[side], -solution[side][q], &block[q]);
                }
            }
            for (side, solution) in solution.iter().enumerate().take(sides) {
                copy(&mut b[start + side * rows.stride..][..size], &solution[..size]);
            }
        }
    }
}
