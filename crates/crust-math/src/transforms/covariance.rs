//! Covariance matrices and their Cholesky factors.
//!
//! The free values fill the lower triangle of L row by row, with logarithms on the diagonal; rows and columns from 1:
//!
//! | declared | constrained value | log Jacobian |
//! | --- | --- | --- |
//! | `cholesky_factor_cov[M, N]` | L | Σ_{k ≤ N} log Lₖₖ |
//! | `cov_matrix[K]` | L Lᵀ | K log 2 + Σₖ (K − k + 2) log Lₖₖ |

use crate::linalg::LinalgError;
use crate::linalg::cholesky::rows::{self, Rows};
use crate::linalg::vectors::dot_in_order;

use super::error::{Problem, TransformError};
use super::{Forward, Reverse, TOLERANCE, row, row_mut, to_f64};

/// The place of (i, j), j ≤ i, in a lower triangle stored row by row.
#[inline]
pub(super) fn packed(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// The place of (i, j) among the free values of a factor with `cols` columns.
fn factor_place(cols: usize, i: usize, j: usize) -> usize {
    if i < cols { packed(i, j) } else { packed(cols, 0) + (i - cols) * cols + j }
}

pub(super) fn constrain_factor(f: &mut Forward<'_>, rows: usize, cols: usize) {
    let lanes = f.lanes;
    for j in 0..cols {
        for i in 0..rows {
            let out = row_mut(f.out, j * rows + i, lanes);
            if i < j {
                out.fill(0.0);
                continue;
            }
            let free = row(f.free, factor_place(cols, i, j), lanes);
            if i > j {
                out.copy_from_slice(free);
                continue;
            }
            out.iter_mut().zip(free).for_each(|(y, x)| *y = x.exp());
            if let Some(jacobian) = f.log_jacobian.as_deref_mut() {
                jacobian.iter_mut().zip(free).for_each(|(j, x)| *j += x);
            }
        }
    }
}

pub(super) fn reverse_factor(r: &mut Reverse<'_>, rows: usize, cols: usize) {
    let (lanes, jacobian) = (r.lanes, r.jacobian_adjoint);
    for j in 0..cols {
        for i in j..rows {
            let target = row_mut(r.free_adjoint, factor_place(cols, i, j), lanes);
            let adjoint = row(r.out_adjoint, j * rows + i, lanes);
            if i == j {
                for ((t, &a), &y) in target.iter_mut().zip(adjoint).zip(row(r.out, j * rows + i, lanes)) {
                    *t += a * y + jacobian;
                }
            } else {
                target.iter_mut().zip(adjoint).for_each(|(t, a)| *t += a);
            }
        }
    }
}

pub(super) fn unconstrain_factor(
    (rows, cols, lanes): (usize, usize, usize),
    constrained: &[f64],
    free: &mut [f64],
) -> Result<(), TransformError> {
    for lane in 0..lanes {
        let y = |i: usize, j: usize| constrained[(j * rows + i) * lanes + lane];
        check_factor(rows, cols, y).map_err(|problem| TransformError {
            lane,
            declared: "cholesky_factor_cov",
            problem,
        })?;
        for j in 0..cols {
            for i in j..rows {
                let value = if i == j { y(i, j).ln() } else { y(i, j) };
                free[factor_place(cols, i, j) * lanes + lane] = value;
            }
        }
    }
    Ok(())
}

/// Lower triangular with a positive diagonal.
pub(super) fn check_factor(rows: usize, cols: usize, y: impl Fn(usize, usize) -> f64) -> Result<(), Problem> {
    if cols == 0 {
        return Err(Problem::NoElements);
    }
    for j in 0..cols {
        if let Some(i) = (0..j.min(rows)).find(|&i| y(i, j) != 0.0) {
            return Err(Problem::AboveDiagonal { row: i + 1, column: j + 1, value: y(i, j) });
        }
    }
    for k in 0..cols {
        let positive = y(k, k) > 0.0;
        if !positive {
            return Err(Problem::DiagonalNotPositive { row: k + 1, value: y(k, k) });
        }
    }
    Ok(())
}

/// L Lᵀ into a column-major matrix, for a packed L.
pub(super) fn times_transpose(l: &[f64], size: usize, mut write: impl FnMut(usize, f64)) {
    for j in 0..size {
        for i in j..size {
            let (a, b) = (&l[packed(i, 0)..][..=j], &l[packed(j, 0)..][..=j]);
            let dot = a.iter().zip(b).map(|(a, b)| a * b).sum();
            write(j * size + i, dot);
            if i != j {
                write(i * size + j, dot);
            }
        }
    }
}

/// L̄ᵢⱼ = Σ_{k ≥ j} (S̄ᵢₖ + S̄ₖᵢ) Lₖⱼ, the adjoint of L in L Lᵀ.
pub(super) fn factor_adjoint(l: &[f64], size: usize, i: usize, j: usize, adjoint: impl Fn(usize) -> f64) -> f64 {
    (j..size).map(|k| (adjoint(k * size + i) + adjoint(i * size + k)) * l[packed(k, j)]).sum()
}

pub(super) fn constrain_matrix(f: &mut Forward<'_>, size: usize) {
    let lanes = f.lanes;
    let l = &mut f.scratch[..packed(size, 0)];
    for lane in 0..lanes {
        read_factor(f.free, size, lanes, lane, l);
        times_transpose(l, size, |e, value| f.out[e * lanes + lane] = value);
    }
    if let Some(jacobian) = f.log_jacobian.as_deref_mut() {
        let constant = to_f64(size) * std::f64::consts::LN_2;
        jacobian.iter_mut().for_each(|j| *j += constant);
        for k in 0..size {
            let power = to_f64(size - k + 1);
            let free = row(f.free, packed(k, k), lanes);
            jacobian.iter_mut().zip(free).for_each(|(j, x)| *j += power * x);
        }
    }
}

fn read_factor(free: &[f64], size: usize, lanes: usize, lane: usize, l: &mut [f64]) {
    for i in 0..size {
        for j in 0..=i {
            let x = free[packed(i, j) * lanes + lane];
            l[packed(i, j)] = if i == j { x.exp() } else { x };
        }
    }
}

pub(super) fn reverse_matrix(r: &mut Reverse<'_>, size: usize) {
    let lanes = r.lanes;
    let l = &mut r.scratch[..packed(size, 0)];
    for lane in 0..lanes {
        read_factor(r.free, size, lanes, lane, l);
        for i in 0..size {
            for j in 0..=i {
                let adjoint = factor_adjoint(l, size, i, j, |e| r.out_adjoint[e * lanes + lane]);
                r.free_adjoint[packed(i, j) * lanes + lane] += if i == j {
                    adjoint * l[packed(i, i)] + r.jacobian_adjoint * to_f64(size - i + 1)
                } else {
                    adjoint
                };
            }
        }
    }
}

pub(super) fn unconstrain_matrix(
    (size, lanes): (usize, usize),
    constrained: &[f64],
    free: &mut [f64],
    scratch: &mut [f64],
) -> Result<(), TransformError> {
    let l = &mut scratch[..packed(size, 0)];
    for lane in 0..lanes {
        let y = |i: usize, j: usize| constrained[(j * size + i) * lanes + lane];
        check_symmetric(size, y).and_then(|()| cholesky(size, y, l)).map_err(|problem| TransformError {
            lane,
            declared: "cov_matrix",
            problem,
        })?;
        for i in 0..size {
            for j in 0..=i {
                let value = l[packed(i, j)];
                free[packed(i, j) * lanes + lane] = if i == j { value.ln() } else { value };
            }
        }
    }
    Ok(())
}

/// Square, not empty and symmetric to within the tolerance.
pub(super) fn check_symmetric(size: usize, y: impl Fn(usize, usize) -> f64) -> Result<(), Problem> {
    if size == 0 {
        return Err(Problem::NoElements);
    }
    for i in 0..size {
        for j in i + 1..size {
            let symmetric = (y(i, j) - y(j, i)).abs() <= TOLERANCE;
            if !symmetric {
                return Err(Problem::NotSymmetric { row: i + 1, column: j + 1, value: y(i, j), mirrored: y(j, i) });
            }
        }
    }
    Ok(())
}

/// The Cholesky factor of the lower triangle of y, packed.
pub(super) fn cholesky(size: usize, y: impl Fn(usize, usize) -> f64, l: &mut [f64]) -> Result<(), Problem> {
    for i in 0..size {
        (0..=i).for_each(|j| l[packed(i, j)] = y(i, j));
    }
    rows::factor(l, size, Rows::Packed, |a, x, y| a - dot_in_order(x, y)).map_err(|error| match error {
        LinalgError::NotPositiveDefinite { row, .. } => Problem::NotPositiveDefinite { row },
        LinalgError::Singular { .. } | LinalgError::NoConvergence { .. } => Problem::NotPositiveDefinite { row: size },
    })
}
