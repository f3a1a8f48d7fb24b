//! The product of matrices that everything else is made of: `C += α·A·B`, in tiles that stay in registers.

use super::vectors::Aligned;
use crate::lanes::{InstructionSet, Kernel, dispatch};

/// Where the numbers of an operand are.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// In the slice of the result, apart from the elements that are written.
    Here,
    There(&'a [f64]),
}

/// A matrix inside a slice: element (i, j) is at `offset + i·row + j·column`. One of the two strides is 1.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub place: Place<'a>,
    pub offset: usize,
    pub row: usize,
    pub column: usize,
}

impl<'a> Operand<'a> {
    /// A whole matrix with `rows` rows, column by column.
    pub fn new(numbers: &'a [f64], rows: usize) -> Self {
        Self { place: Place::There(numbers), offset: 0, row: 1, column: rows }
    }

    /// A part of the slice of the result, whose columns are `stride` apart.
    pub fn here(offset: usize, stride: usize) -> Self {
        Self { place: Place::Here, offset, row: 1, column: stride }
    }

    /// The part that starts at element (i, j).
    #[must_use]
    pub fn at(self, i: usize, j: usize) -> Self {
        Self { offset: self.offset + i * self.row + j * self.column, ..self }
    }

    #[must_use]
    pub fn transposed(self) -> Self {
        Self { row: self.column, column: self.row, ..self }
    }

    /// Element (i, j), where `here` is the slice of the result.
    #[inline(always)]
    pub fn element(&self, i: usize, j: usize, here: &[f64]) -> f64 {
        self.numbers(here)[self.offset + i * self.row + j * self.column]
    }

    #[inline(always)]
    fn numbers<'b>(&self, here: &'b [f64]) -> &'b [f64]
    where
        'a: 'b,
    {
        match self.place {
            Place::Here => here,
            Place::There(numbers) => numbers,
        }
    }
}

/// The part of a slice that a product is added to: its first element, the distance of its columns, its size.
#[derive(Clone, Copy)]
pub struct Target {
    pub offset: usize,
    pub stride: usize,
    pub rows: usize,
    pub columns: usize,
}

impl Target {
    /// A whole matrix.
    pub fn whole(rows: usize, columns: usize) -> Self {
        Self { offset: 0, stride: rows, rows, columns }
    }
}

/// Columns of a tile.
const COLUMNS: usize = 4;
/// Of the inner dimension, so much is summed up in registers. It decides on rounding, so it is the same on all
/// processors.
const DEPTH: usize = 128;

/// Up to so many products of numbers, plain loops take less time than the preparation of anything else.
pub const TINY: usize = 64;

/// `C += α·A·B`, where `depth` is the inner dimension.
pub fn gemm(c: &mut [f64], target: Target, depth: usize, alpha: f64, a: Operand, b: Operand) {
    if target.rows == 0 || target.columns == 0 || depth == 0 {
        return;
    }
    if target.rows * target.columns * depth <= TINY {
        for j in 0..target.columns {
            for i in 0..target.rows {
                let sum: f64 = (0..depth).map(|p| a.element(i, p, c) * b.element(p, j, c)).sum();
                c[target.offset + i + j * target.stride] += alpha * sum;
            }
        }
        return;
    }
    // Tiles of 8 accumulators: enough to hide the latency of the multiply-add, few enough to be registers. For short
    // sums a small buffer, as clearing a large one would take longer than the product.
    match (InstructionSet::best() == InstructionSet::Avx512, depth <= 16) {
        (true, true) => dispatch(Gemm::<16, 16> { c, target, depth, alpha, a, b }),
        (true, false) => dispatch(Gemm::<16, DEPTH> { c, target, depth, alpha, a, b }),
        (false, true) => dispatch(Gemm::<8, 16> { c, target, depth, alpha, a, b }),
        (false, false) => dispatch(Gemm::<8, DEPTH> { c, target, depth, alpha, a, b }),
    }
}

/// `C = A·B` for a whole matrix `C` with the given rows and columns.
pub fn multiply(c: &mut [f64], (rows, depth, columns): (usize, usize, usize), a: Operand, b: Operand) {
    c.fill(0.0);
    gemm(c, Target::whole(rows, columns), depth, 1.0, a, b);
}

struct Gemm<'a, const ROWS: usize, const D: usize> {
    c: &'a mut [f64],
    target: Target,
    depth: usize,
    alpha: f64,
    a: Operand<'a>,
    b: Operand<'a>,
}

impl<const ROWS: usize, const D: usize> Kernel for Gemm<'_, ROWS, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { c, target, depth, alpha, a, b } = self;
        let Aligned(packed) = &mut Aligned([[0.0; ROWS]; D]);
        for from in (0..depth).step_by(D) {
            let depth = D.min(depth - from);
            for i in (0..target.rows).step_by(ROWS) {
                let rows = ROWS.min(target.rows - i);
                pack(&mut packed[..depth], rows, a.at(i, from), c);
                for j in (0..target.columns).step_by(COLUMNS) {
                    let columns = COLUMNS.min(target.columns - j);
                    let sums = tile(&packed[..depth], columns, b.at(from, j), c);
                    let first = target.offset + i + j * target.stride;
                    for (j, sums) in sums.iter().enumerate().take(columns) {
                        add_column(&mut c[first + j * target.stride..][..rows], alpha, sums);
                    }
                }
            }
        }
    }
}

/// Rows of `a` beside each other, so that the tile reads them one after the other; rows that `a` lacks are 0.
#[inline(always)]
fn pack<const ROWS: usize>(packed: &mut [[f64; ROWS]], rows: usize, a: Operand, here: &[f64]) {
    let numbers = &a.numbers(here)[a.offset..];
    if rows < ROWS {
        packed.as_flattened_mut().fill(0.0);
    }
    if a.row == 1 {
        for (p, to) in packed.iter_mut().enumerate() {
            let from = &numbers[p * a.column..][..rows];
            if let Ok(from) = <&[f64; ROWS]>::try_from(from) {
                *to = *from;
            } else {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = *from;
                }
            }
        }
    } else {
        for i in 0..rows {
            let from = &numbers[i * a.row..][..=(packed.len() - 1) * a.column];
            for (to, from) in packed.iter_mut().zip(from.iter().step_by(a.column)) {
                to[i] = *from;
            }
        }
    }
}

/// The product of the packed rows with up to four columns of `b`; where there are fewer, the last one is repeated.
#[inline(always)]
fn tile<const ROWS: usize>(packed: &[[f64; ROWS]], columns: usize, b: Operand, here: &[f64]) -> [[f64; ROWS]; COLUMNS] {
    let numbers = &b.numbers(here)[b.offset..];
    let mut sums = [[0.0; ROWS]; COLUMNS];
    let starts = [0, 1, 2, 3].map(|j: usize| j.min(columns - 1) * b.column);
    if b.row == 1 {
        let [b0, b1, b2, b3] = starts.map(|start| &numbers[start..][..packed.len()]);
        for ((((a, b0), b1), b2), b3) in packed.iter().zip(b0).zip(b1).zip(b2).zip(b3) {
            add_products(&mut sums, a, [*b0, *b1, *b2, *b3]);
        }
    } else {
        for (p, a) in packed.iter().enumerate() {
            let row = &numbers[p * b.row..][..=starts[3]];
            add_products(&mut sums, a, [row[starts[0]], row[starts[1]], row[starts[2]], row[starts[3]]]);
        }
    }
    sums
}

// A function, as a closure would not be compiled for the instruction set.
#[inline(always)]
fn add_products<const ROWS: usize>(sums: &mut [[f64; ROWS]; COLUMNS], a: &[f64; ROWS], b: [f64; COLUMNS]) {
    for j in 0..COLUMNS {
        for i in 0..ROWS {
            sums[j][i] = a[i].mul_add(b[j], sums[j][i]);
        }
    }
}

#[inline(always)]
fn add_column<const ROWS: usize>(c: &mut [f64], alpha: f64, sums: &[f64; ROWS]) {
    if let Ok(c) = <&mut [f64; ROWS]>::try_from(&mut *c) {
        for (c, sum) in c.iter_mut().zip(sums) {
            *c = alpha.mul_add(*sum, *c);
        }
    } else {
        for (c, sum) in c.iter_mut().zip(sums) {
            *c = alpha.mul_add(*sum, *c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::dispatch_on;

    /// Bit for bit, whatever the size of the tiles and the instruction set.
    #[test]
    fn rounding_is_the_same_everywhere() {
        let (rows, depth, columns) = (21, 150, 7);
        let numbers: Vec<f64> = (0..4000).map(|k| f64::from(k).sin()).collect();
        let (a, b) = (Operand::new(&numbers, rows), Operand::new(&numbers[7..], depth));
        let target = Target::whole(rows, columns);
        let mut expected = vec![0.5; rows * columns];
        gemm(&mut expected, target, depth, -0.3, a, b);
        for set in InstructionSet::available() {
            let mut out = vec![0.5; rows * columns];
            dispatch_on(set, Gemm::<8, DEPTH> { c: &mut out, target, depth, alpha: -0.3, a, b });
            assert_eq!(out, expected, "{set:?}");
            let mut out = vec![0.5; rows * columns];
            dispatch_on(set, Gemm::<16, DEPTH> { c: &mut out, target, depth, alpha: -0.3, a, b });
            assert_eq!(out, expected, "{set:?}");
        }
    }
}
