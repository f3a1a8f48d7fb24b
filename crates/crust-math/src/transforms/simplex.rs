//! Simplexes and matrices whose columns or rows are simplexes, by the inverse isometric log ratio.
//!
//! With K elements and K − 1 free values x, let wₙ = xₙ / √(n (n + 1)) for n = 1 … K − 1 and
//! zₙ = Σ_{m > n} wₘ − n wₙ for n = 0 … K − 1, a vector that sums to zero. The simplex is y = softmax(z), and its
//! log Jacobian Σ log y + ½ log K.

use super::error::{Problem, TransformError};
use super::sum_to_zero::norm;
use super::{Forward, LaneBlock, Reverse, TOLERANCE, lane_blocks, to_f64};
use crate::lanes;

/// Where one simplex lies in a larger value: its first element and the distance from one element to the next, in the
/// free and in the constrained value.
#[derive(Clone, Copy)]
pub(super) struct Place {
    size: usize,
    free: (usize, usize),
    out: (usize, usize),
}

impl Place {
    pub(super) fn vector(size: usize) -> Self {
        Self { size, free: (0, 1), out: (0, 1) }
    }

    pub(super) fn column(rows: usize, column: usize) -> Self {
        Self { size: rows, free: (column * (rows - 1), 1), out: (column * rows, 1) }
    }

    pub(super) fn row(rows: usize, cols: usize, row: usize) -> Self {
        Self { size: cols, free: (row, rows), out: (row, rows) }
    }

    /// The place of free value n, counted from 1 as in the formulas.
    fn free(self, n: usize) -> usize {
        self.free.0 + (n - 1) * self.free.1
    }

    fn out(self, n: usize) -> usize {
        self.out.0 + n * self.out.1
    }
}

pub(super) fn constrain(f: &mut Forward<'_>, place: Place) {
    if place.size == 0 {
        return;
    }
    for block in lane_blocks(f.lanes) {
        log_ratios(f, place, block);
        softmax(f, place, block);
    }
}

/// Writes z, from its last element to its first.
fn log_ratios(f: &mut Forward<'_>, place: Place, block: LaneBlock) {
    let mut sum = LaneBlock::ZEROS;
    for n in (1..place.size).rev() {
        let (scale, count) = (norm(n), to_f64(n));
        let out = block.row_mut(f.out, place.out(n));
        for ((y, &x), sum) in out.iter_mut().zip(block.row(f.free, place.free(n))).zip(&mut sum) {
            let w = x * scale;
            *y = *sum - count * w;
            *sum += w;
        }
    }
    let out = block.row_mut(f.out, place.out(0));
    out.copy_from_slice(&sum[..out.len()]);
}

fn softmax(f: &mut Forward<'_>, place: Place, block: LaneBlock) {
    let mut max = [f64::NEG_INFINITY; LaneBlock::MAX];
    for n in 0..place.size {
        for (max, &z) in max.iter_mut().zip(block.row(f.out, place.out(n))) {
            *max = max.max(z);
        }
    }
    let mut sum = LaneBlock::ZEROS;
    for n in 0..place.size {
        let row = block.row_mut(f.out, place.out(n));
        row.iter_mut().zip(&max).for_each(|(z, max)| *z -= max);
        lanes::exp_in_place(row);
        sum.iter_mut().zip(row).for_each(|(sum, z)| *sum += *z);
    }
    for n in 0..place.size {
        for (y, &sum) in block.row_mut(f.out, place.out(n)).iter_mut().zip(&sum) {
            *y /= sum;
        }
    }
    if let Some(jacobian) = f.log_jacobian.as_deref_mut() {
        let count = to_f64(place.size);
        let row = block.row_mut(jacobian, 0);
        let (half_log, used) = (0.5 * count.ln(), row.len());
        lanes::log_in_place(&mut sum[..used]);
        for ((j, &max), &log_sum) in row.iter_mut().zip(&max).zip(&sum) {
            *j += half_log - count * (max + log_sum);
        }
    }
}

/// With ȳ for the adjoint of y and j for that of the log Jacobian: z̄ₙ = yₙ (ȳₙ − Σ y ȳ − K j) + j, and
/// w̄ₙ = Σ_{k < n} z̄ₖ − n z̄ₙ.
pub(super) fn constrain_reverse(r: &mut Reverse<'_>, place: Place) {
    let j = r.jacobian_adjoint;
    for block in lane_blocks(r.lanes) {
        let mut inner = [to_f64(place.size) * j; LaneBlock::MAX];
        for n in 0..place.size {
            let (out, adjoint) = (block.row(r.out, place.out(n)), block.row(r.out_adjoint, place.out(n)));
            for ((inner, &y), &a) in inner.iter_mut().zip(out).zip(adjoint) {
                *inner += y * a;
            }
        }
        let mut sum = LaneBlock::ZEROS;
        for n in 0..place.size {
            let (out, adjoint) = (block.row(r.out, place.out(n)), block.row(r.out_adjoint, place.out(n)));
            if n == 0 {
                for (((sum, &y), &a), &inner) in sum.iter_mut().zip(out).zip(adjoint).zip(&inner) {
                    *sum = y * (a - inner) + j;
                }
                continue;
            }
            let (scale, count) = (norm(n), to_f64(n));
            let target = block.row_mut(r.free_adjoint, place.free(n));
            for ((((t, sum), &y), &a), &inner) in target.iter_mut().zip(&mut sum).zip(out).zip(adjoint).zip(&inner) {
                let z = y * (a - inner) + j;
                *t += scale * (*sum - count * z);
                *sum += z;
            }
        }
    }
}

/// xₙ = (Σ_{k < n} log yₖ − n log yₙ) / √(n (n + 1))
pub(super) fn unconstrain(
    (declared, lanes): (&'static str, usize),
    place: Place,
    constrained: &[f64],
    free: &mut [f64],
) -> Result<(), TransformError> {
    for lane in 0..lanes {
        let y = |n: usize| constrained[place.out(n) * lanes + lane];
        check(place.size, y).map_err(|problem| TransformError { lane, declared, problem })?;
        let mut sum = y(0).ln();
        for n in 1..place.size {
            let log = y(n).ln();
            free[place.free(n) * lanes + lane] = (sum - to_f64(n) * log) * norm(n);
            sum += log;
        }
    }
    Ok(())
}

fn check(size: usize, y: impl Fn(usize) -> f64) -> Result<(), Problem> {
    if size == 0 {
        return Err(Problem::NoElements);
    }
    let sum: f64 = (0..size).map(&y).sum();
    let sums_to_one = (1.0 - sum).abs() <= TOLERANCE;
    if !sums_to_one {
        return Err(Problem::Sum { value: sum, should_be: 1.0 });
    }
    match (0..size).find(|&n| y(n) < 0.0) {
        Some(n) => Err(Problem::Negative { element: n + 1, value: y(n) }),
        None => Ok(()),
    }
}
