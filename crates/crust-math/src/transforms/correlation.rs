//! Correlation matrices and their Cholesky factors, by canonical partial correlations.
//!
//! Each element (i, j), j < i, of the factor L has one free value xᵢⱼ, and zᵢⱼ = tanh xᵢⱼ is a partial correlation:
//! Lᵢⱼ = zᵢⱼ rᵢⱼ with rᵢⱼ = Π_{k < j} √(1 − zᵢₖ²), and Lᵢᵢ = rᵢᵢ. We use √(1 − z²) = 1 / cosh x, which is exact where z
//! rounds to 1.
//!
//! | declared | constrained value | order of free values | log Jacobian: Σ weight · log(1 − zᵢⱼ²), from 1 |
//! | --- | --- | --- | --- |
//! | `cholesky_factor_corr[K]` | L | row by row | 1 + ½ (i − j − 1) |
//! | `corr_matrix[K]` | L Lᵀ | column by column | 1 + ½ (K − j − 1) |

use super::covariance::{check_factor, check_symmetric, cholesky, factor_adjoint, packed, times_transpose};
use super::error::{Problem, TransformError};
use super::{Forward, Reverse, TOLERANCE, to_f64};

/// What the free values make.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Factor,
    Matrix,
}

impl Kind {
    /// The place of the free value of (i, j), j < i, from 0.
    #[inline]
    fn place(self, size: usize, i: usize, j: usize) -> usize {
        match self {
            Self::Factor => i * (i - 1) / 2 + j,
            // columns 0 … j − 1 have size − 1, size − 2, … elements
            Self::Matrix => j * (2 * size - j - 1) / 2 + i - j - 1,
        }
    }

    /// The weight of log(1 − zᵢⱼ²) in the log Jacobian.
    #[inline]
    fn weight(self, size: usize, i: usize, j: usize) -> f64 {
        match self {
            Self::Factor => 1.0 + 0.5 * to_f64(i - j - 1),
            Self::Matrix => 1.0 + 0.5 * to_f64(size - j - 2),
        }
    }
}

/// log(1 − tanh² x) = −2 log cosh x
fn log_one_minus_square(x: f64) -> f64 {
    2.0 * (std::f64::consts::LN_2 - x.abs() - (-2.0 * x.abs()).exp().ln_1p())
}

/// 1 / cosh x = √(1 − tanh² x)
fn sech(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    2.0 * e / (1.0 + e * e)
}

/// Writes row i of L, with xⱼ for its free values.
fn factor_row(i: usize, x: impl Fn(usize) -> f64, mut write: impl FnMut(usize, f64)) {
    let mut rest = 1.0;
    for j in 0..i {
        write(j, x(j).tanh() * rest);
        rest *= sech(x(j));
    }
    write(i, rest);
}

pub(super) fn constrain(f: &mut Forward<'_>, size: usize, kind: Kind) {
    let (lanes, free) = (f.lanes, f.free);
    for lane in 0..lanes {
        let x = |i: usize, j: usize| free[kind.place(size, i, j) * lanes + lane];
        match kind {
            Kind::Factor => {
                for i in 0..size {
                    factor_row(i, |j| x(i, j), |j, value| f.out[(j * size + i) * lanes + lane] = value);
                    for j in i + 1..size {
                        f.out[(j * size + i) * lanes + lane] = 0.0;
                    }
                }
            }
            Kind::Matrix => {
                let l = &mut f.scratch[..packed(size, 0)];
                for i in 0..size {
                    factor_row(i, |j| x(i, j), |j, value| l[packed(i, j)] = value);
                }
                times_transpose(l, size, |e, value| f.out[e * lanes + lane] = value);
            }
        }
        if let Some(jacobian) = f.log_jacobian.as_deref_mut() {
            for i in 1..size {
                for j in 0..i {
                    jacobian[lane] += kind.weight(size, i, j) * log_one_minus_square(x(i, j));
                }
            }
        }
    }
}

/// For a matrix, the adjoints of L come from those of L Lᵀ first.
pub(super) fn constrain_reverse(r: &mut Reverse<'_>, size: usize, kind: Kind) {
    let (lanes, out_adjoint) = (r.lanes, r.out_adjoint);
    let (l, rest) = r.scratch.split_at_mut(if kind == Kind::Matrix { packed(size, 0) } else { 0 });
    for lane in 0..lanes {
        let x = |i: usize, j: usize| r.free[kind.place(size, i, j) * lanes + lane];
        if kind == Kind::Matrix {
            for i in 0..size {
                factor_row(i, |j| x(i, j), |j, value| l[packed(i, j)] = value);
            }
        }
        let adjoint = |i: usize, j: usize| match kind {
            Kind::Factor => out_adjoint[(j * size + i) * lanes + lane],
            Kind::Matrix => factor_adjoint(l, size, i, j, |e| out_adjoint[e * lanes + lane]),
        };
        for i in 1..size {
            reverse_row(
                i,
                |j| x(i, j),
                |j| adjoint(i, j),
                rest,
                |j, value| {
                    let jacobian = r.jacobian_adjoint * kind.weight(size, i, j) * -2.0 * x(i, j).tanh();
                    r.free_adjoint[kind.place(size, i, j) * lanes + lane] += value + jacobian;
                },
            );
        }
    }
}

/// With rⱼ₊₁ = rⱼ sⱼ, sⱼ = 1 / cosh xⱼ: x̄ⱼ = rⱼ sⱼ (L̄ⱼ sⱼ − r̄ⱼ₊₁ zⱼ) and r̄ⱼ = r̄ⱼ₊₁ sⱼ + L̄ⱼ zⱼ, from r̄ᵢ = L̄ᵢᵢ.
fn reverse_row(
    i: usize,
    x: impl Fn(usize) -> f64,
    adjoint: impl Fn(usize) -> f64,
    rest: &mut [f64],
    mut add: impl FnMut(usize, f64),
) {
    let mut product = 1.0;
    for (j, rest) in rest[..i].iter_mut().enumerate() {
        *rest = product;
        product *= sech(x(j));
    }
    let mut rest_adjoint = adjoint(i);
    for j in (0..i).rev() {
        let (z, s, a) = (x(j).tanh(), sech(x(j)), adjoint(j));
        add(j, rest[j] * s * (a * s - rest_adjoint * z));
        rest_adjoint = rest_adjoint * s + a * z;
    }
}

/// xᵢⱼ = sinh⁻¹(Lᵢⱼ / √(Σ_{k > j} Lᵢₖ²)), which is tanh⁻¹ zᵢⱼ without cancellation.
pub(super) fn unconstrain(
    (size, lanes): (usize, usize),
    kind: Kind,
    constrained: &[f64],
    free: &mut [f64],
    scratch: &mut [f64],
) -> Result<(), TransformError> {
    let declared = if kind == Kind::Matrix { "corr_matrix" } else { "cholesky_factor_corr" };
    for lane in 0..lanes {
        let y = |i: usize, j: usize| constrained[(j * size + i) * lanes + lane];
        let l = &mut scratch[..packed(size, 0)];
        match kind {
            Kind::Factor => read_factor(size, y, l),
            Kind::Matrix => check_matrix(size, y).and_then(|()| cholesky(size, y, l)),
        }
        .map_err(|problem| TransformError { lane, declared, problem })?;
        for i in 1..size {
            let mut squares = l[packed(i, i)].powi(2);
            for j in (0..i).rev() {
                let value = l[packed(i, j)];
                free[kind.place(size, i, j) * lanes + lane] = (value / squares.sqrt()).asinh();
                squares += value * value;
            }
        }
    }
    Ok(())
}

fn read_factor(size: usize, y: impl Fn(usize, usize) -> f64, l: &mut [f64]) -> Result<(), Problem> {
    check_factor(size, size, &y)?;
    for i in 0..size {
        let squares: f64 = (0..=i).map(|j| y(i, j).powi(2)).sum();
        let unit = (squares - 1.0).abs() <= TOLERANCE;
        if !unit {
            return Err(Problem::RowLength { row: i + 1, value: squares });
        }
        for j in 0..=i {
            l[packed(i, j)] = y(i, j);
        }
    }
    Ok(())
}

fn check_matrix(size: usize, y: impl Fn(usize, usize) -> f64) -> Result<(), Problem> {
    check_symmetric(size, &y)?;
    for k in 0..size {
        let one = (y(k, k) - 1.0).abs() <= TOLERANCE;
        if !one {
            return Err(Problem::Diagonal { row: k + 1, value: y(k, k) });
        }
    }
    Ok(())
}
