//! Vectors and matrices that sum to zero: orthonormal maps, so their log Jacobian is 0.
//!
//! Vector of N elements from N − 1 free values x: with wₙ = xₙ / √(n (n + 1)), n = 1 … N − 1,
//! zₙ = Σ_{m > n} wₘ − n wₙ for n = 0 … N − 1.
//!
//! Matrix (M rows, N columns) from a free (M − 1) × (N − 1) matrix X (column-major): Z = A(M) X A(N)ᵀ, where t = A(K) x
//! is the same orthonormal map with its first element moved to the end and the opposite sign:
//! tₙ₋₁ = n wₙ − Σ_{m > n} wₘ for n = 1 … K − 1, and t_{K−1} = −Σ w. Every row and every column of Z sums to zero.

use super::error::{Problem, TransformError};
use super::{Forward, LaneBlock, Reverse, TOLERANCE, lane_blocks, to_f64};

/// 1 / √(n (n + 1))
pub(super) fn norm(n: usize) -> f64 {
    1.0 / (to_f64(n) * to_f64(n + 1)).sqrt()
}

pub(super) fn constrain_vector(f: &mut Forward<'_>, size: usize) {
    if size == 0 {
        return;
    }
    for block in lane_blocks(f.lanes) {
        let mut sum = LaneBlock::ZEROS;
        for n in (1..size).rev() {
            let (scale, count) = (norm(n), to_f64(n));
            let out = block.row_mut(f.out, n);
            for ((z, &x), sum) in out.iter_mut().zip(block.row(f.free, n - 1)).zip(&mut sum) {
                let w = x * scale;
                *z = *sum - count * w;
                *sum += w;
            }
        }
        let out = block.row_mut(f.out, 0);
        out.copy_from_slice(&sum[..out.len()]);
    }
}

/// w̄ₙ = Σ_{k < n} z̄ₖ − n z̄ₙ
pub(super) fn reverse_vector(r: &mut Reverse<'_>, size: usize) {
    for block in lane_blocks(r.lanes) {
        let mut sum = LaneBlock::ZEROS;
        for n in 0..size {
            let adjoint = block.row(r.out_adjoint, n);
            if n > 0 {
                let (scale, count) = (norm(n), to_f64(n));
                for ((t, &a), &sum) in block.row_mut(r.free_adjoint, n - 1).iter_mut().zip(adjoint).zip(&sum) {
                    *t += scale * (sum - count * a);
                }
            }
            for (sum, &a) in sum.iter_mut().zip(adjoint) {
                *sum += a;
            }
        }
    }
}

pub(super) fn unconstrain_vector(
    size: usize,
    lanes: usize,
    constrained: &[f64],
    free: &mut [f64],
) -> Result<(), TransformError> {
    for lane in 0..lanes {
        let z = |n: usize| constrained[n * lanes + lane];
        check(size, z).map_err(|problem| TransformError { lane, declared: "sum_to_zero_vector", problem })?;
        let mut sum = 0.0;
        for n in (1..size).rev() {
            let w = (sum - z(n)) / to_f64(n);
            free[(n - 1) * lanes + lane] = w / norm(n);
            sum += w;
        }
    }
    Ok(())
}

/// First all columns, then all rows in place; the last element of each serves as −Σ w so far.
pub(super) fn constrain_matrix(f: &mut Forward<'_>, rows: usize, cols: usize) {
    if rows == 0 || cols == 0 {
        return;
    }
    for block in lane_blocks(f.lanes) {
        for j in 0..cols - 1 {
            let mut sum = LaneBlock::ZEROS;
            for i in (0..rows - 1).rev() {
                let free = block.row(f.free, j * (rows - 1) + i);
                let out = block.row_mut(f.out, j * rows + i);
                out.copy_from_slice(free);
                turn(out, &mut sum, i + 1);
            }
            negate_into(&sum, block.row_mut(f.out, j * rows + rows - 1));
        }
        for i in 0..rows {
            let mut sum = LaneBlock::ZEROS;
            for j in (0..cols - 1).rev() {
                turn(block.row_mut(f.out, j * rows + i), &mut sum, j + 1);
            }
            negate_into(&sum, block.row_mut(f.out, (cols - 1) * rows + i));
        }
    }
}

/// Replaces xₙ by tₙ₋₁ = n wₙ − Σ_{m > n} wₘ and adds wₙ to the sum.
fn turn(x: &mut [f64], sum: &mut [f64], n: usize) {
    let (scale, count) = (norm(n), to_f64(n));
    for (x, sum) in x.iter_mut().zip(sum) {
        let w = *x * scale;
        *x = count * w - *sum;
        *sum += w;
    }
}

fn negate_into(from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = -from;
    }
}

/// X̄ = A(M)ᵀ Z̄ A(N), where w̄ₙ = n t̄ₙ₋₁ − t̄_{K−1} − Σ_{k < n} t̄ₖ₋₁. The scratch holds one column of Z̄ A(N) and
/// the sums of Z̄ so far: 2 × rows × lanes.
pub(super) fn reverse_matrix(r: &mut Reverse<'_>, rows: usize, cols: usize) {
    if rows == 0 || cols == 0 {
        return;
    }
    let lanes = r.lanes;
    let (column, sums) = r.scratch.split_at_mut(rows * lanes);
    let sums = &mut sums[..rows * lanes];
    sums.copy_from_slice(&r.out_adjoint[(cols - 1) * rows * lanes..cols * rows * lanes]);
    for j in 0..cols - 1 {
        let (scale, count) = (norm(j + 1), to_f64(j + 1));
        let adjoint = &r.out_adjoint[j * rows * lanes..(j + 1) * rows * lanes];
        for ((t, &a), sum) in column.iter_mut().zip(adjoint).zip(sums.iter_mut()) {
            *t = scale * (count * a - *sum);
            *sum += a;
        }
        for block in lane_blocks(lanes) {
            reverse_column(r.free_adjoint, column, rows, j, block);
        }
    }
}

fn reverse_column(free_adjoint: &mut [f64], column: &[f64], rows: usize, j: usize, block: LaneBlock) {
    let mut sum = LaneBlock::ZEROS;
    sum[..block.len()].copy_from_slice(block.row(column, rows - 1));
    for i in 0..rows - 1 {
        let (scale, count) = (norm(i + 1), to_f64(i + 1));
        let target = block.row_mut(free_adjoint, j * (rows - 1) + i);
        for ((t, &a), sum) in target.iter_mut().zip(block.row(column, i)).zip(&mut sum) {
            *t += scale * (count * a - *sum);
            *sum += a;
        }
    }
}

/// Undoes the rows, then the columns. The scratch holds one sum per row.
pub(super) fn unconstrain_matrix(
    (rows, cols, lanes): (usize, usize, usize),
    constrained: &[f64],
    free: &mut [f64],
    scratch: &mut [f64],
) -> Result<(), TransformError> {
    for lane in 0..lanes {
        let z = |e: usize| constrained[e * lanes + lane];
        check(rows * cols, z).map_err(|problem| TransformError { lane, declared: "sum_to_zero_matrix", problem })?;
        let row_sums = &mut scratch[..rows];
        row_sums.fill(0.0);
        for j in (0..cols - 1).rev() {
            let mut sum = 0.0;
            for i in (0..rows - 1).rev() {
                let w = (z(j * rows + i) + row_sums[i]) / to_f64(j + 1);
                row_sums[i] += w;
                let v = (w / norm(j + 1) + sum) / to_f64(i + 1);
                sum += v;
                free[(j * (rows - 1) + i) * lanes + lane] = v / norm(i + 1);
            }
        }
    }
    Ok(())
}

/// As Stan, only the total is checked, for a matrix too.
fn check(size: usize, z: impl Fn(usize) -> f64) -> Result<(), Problem> {
    if size == 0 {
        return Err(Problem::NoElements);
    }
    let sum: f64 = (0..size).map(z).sum();
    let sums_to_zero = sum.abs() <= TOLERANCE;
    if sums_to_zero { Ok(()) } else { Err(Problem::Sum { value: sum, should_be: 0.0 }) }
}
