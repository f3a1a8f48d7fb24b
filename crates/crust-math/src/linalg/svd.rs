//! The decomposition into singular values `A = U·S·Vᵀ`, in its thin form, by one-sided rotations.

use super::LinalgError;
use super::memory::{identity, parts, transpose};
use super::vectors::{add_scaled_fused, dot_fused, rotate};
use crate::lanes::{Kernel, dispatch};

/// Columns count as orthogonal if the cosine of their angle is below this, a few units of rounding, and below `√rows`
/// units: the rounding of a sum of products grows with its length (as in Drmač and Veselić 2008).
const ORTHOGONAL: f64 = 1e-15;
/// More sweeps than any matrix needs; a dozen is the rule.
const SWEEPS: usize = 60;

/// Rotates pairs of columns of `w` (with at least as many rows as columns) until all are orthogonal, and those of `v`
/// along with them: the one-sided method of Hestenes and Jacobi. Then sorts, normalises `w` and writes the norms.
struct Jacobi<'a> {
    w: &'a mut [f64],
    v: &'a mut [f64],
    values: &'a mut [f64],
    rows: usize,
    limit: usize,
}

impl Kernel for Jacobi<'_> {
    type Output = Result<(), LinalgError>;

    #[inline(always)]
    fn run(self) -> Result<(), LinalgError> {
        let Self { w, v, values, rows, limit } = self;
        let n = values.len();
        let tolerance = ORTHOGONAL.max(f64::EPSILON * f64::from(u32::try_from(rows).unwrap_or(u32::MAX)).sqrt());
        let mut rotated = true;
        for _ in 0..limit {
            rotated = false;
            squared_norms(w, values, rows);
            for p in 0..n {
                for q in p + 1..n {
                    rotated |= orthogonalise([&mut *w, &mut *v], values, rows, (p, q), tolerance);
                }
            }
            if !rotated {
                break;
            }
        }
        if rotated {
            return Err(LinalgError::NoConvergence { limit });
        }
        squared_norms(w, values, rows);
        values.iter_mut().for_each(|x| *x = x.sqrt());
        for i in 0..n {
            let largest = (i + 1..n).fold(i, |largest, k| if values[k] > values[largest] { k } else { largest });
            if largest != i {
                values.swap(i, largest);
                exchange(w, rows, i, largest);
                exchange(v, n, i, largest);
            }
        }
        for i in 0..n {
            let (before, column) = w.split_at_mut(i * rows);
            let column = &mut column[..rows];
            if values[i] > 0.0 {
                let scale = 1.0 / values[i];
                column.iter_mut().for_each(|x| *x *= scale);
            } else {
                complete(before, column);
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn squared_norms(w: &[f64], squares: &mut [f64], rows: usize) {
    for (square, column) in squares.iter_mut().zip(w.chunks_exact(rows)) {
        *square = dot_fused(column, column);
    }
}

/// Makes columns `p < q` of `w` orthogonal; whether they were not. Their squared norms are kept up to date, which is
/// good enough for the angle of the rotation.
#[inline(always)]
fn orthogonalise(
    [w, v]: [&mut [f64]; 2],
    squares: &mut [f64],
    rows: usize,
    (p, q): (usize, usize),
    tolerance: f64,
) -> bool {
    let n = squares.len();
    let (x, y) = two(w, rows, p, q);
    let (xx, yy, xy) = (squares[p].max(0.0), squares[q].max(0.0), dot_fused(x, y));
    let limit = tolerance * (xx.sqrt() * yy.sqrt());
    // Not `>`: NaNs end the sweeps.
    if xy.abs() <= limit || xy.is_nan() {
        return false;
    }
    let zeta = (yy - xx) / (2.0 * xy);
    let t = 1.0_f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = c * t;
    rotate(x, y, c, s);
    (squares[p], squares[q]) = (xx - t * xy, yy + t * xy);
    let (x, y) = two(v, n, p, q);
    rotate(x, y, c, s);
    true
}

/// Columns `p < q` of a matrix.
#[inline(always)]
fn two(a: &mut [f64], rows: usize, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let (before, from) = a.split_at_mut(q * rows);
    (&mut before[p * rows..(p + 1) * rows], &mut from[..rows])
}

#[inline(always)]
fn exchange(a: &mut [f64], rows: usize, p: usize, q: usize) {
    let (x, y) = two(a, rows, p, q);
    x.swap_with_slice(y);
}

/// Overwrites `column` by some unit vector that is orthogonal to the orthonormal columns before it.
#[inline(always)]
fn complete(before: &[f64], column: &mut [f64]) {
    for axis in 0..column.len() {
        column.fill(0.0);
        column[axis] = 1.0;
        // Twice is enough (Kahan).
        for _ in 0..2 {
            for other in before.chunks_exact(column.len()) {
                let by = -dot_fused(other, column);
                add_scaled_fused(column, by, other);
            }
        }
        let norm = dot_fused(column, column).sqrt();
        if norm > 0.5 / f64::from(u32::try_from(column.len()).unwrap_or(u32::MAX)).sqrt() {
            column.iter_mut().for_each(|x| *x /= norm);
            return;
        }
    }
}

/// The parts of a decomposition, with `k` the lesser of the sizes of the matrix: `U` has `k` columns, as has `V`.
pub struct Svd<'a> {
    pub u: &'a mut [f64],
    /// The largest first.
    pub values: &'a mut [f64],
    pub v: &'a mut [f64],
}

/// How much memory [`decompose`] needs.
pub fn scratch(rows: usize, columns: usize) -> usize {
    (rows + columns + 1) * rows.min(columns)
}

/// The decomposition of a matrix, in `memory`.
pub fn decompose<'a>(a: &[f64], rows: usize, columns: usize, memory: &'a mut [f64]) -> Result<Svd<'a>, LinalgError> {
    decompose_within(SWEEPS, a, rows, columns, memory)
}

/// The same in at most `limit` sweeps.
pub(super) fn decompose_within<'a>(
    limit: usize,
    a: &[f64],
    rows: usize,
    columns: usize,
    memory: &'a mut [f64],
) -> Result<Svd<'a>, LinalgError> {
    let k = rows.min(columns);
    let [u, values, v] = parts(memory, [rows * k, k, columns * k]);
    if k > 0 {
        let wide = rows < columns;
        let (w, right) = if wide { (&mut *v, &mut *u) } else { (&mut *u, &mut *v) };
        if wide {
            transpose(a, rows, w);
        } else {
            w.copy_from_slice(a);
        }
        identity(right, k);
        dispatch(Jacobi { w, v: right, values, rows: rows.max(columns), limit })?;
    }
    Ok(Svd { u, values, v })
}
