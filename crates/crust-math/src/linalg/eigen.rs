//! Eigenvalues and eigenvectors of a symmetric matrix: reduction to a tridiagonal one by reflections, then implicit QR
//! steps.

use super::LinalgError;
use super::memory::parts;
use super::vectors::{add_scaled_fused, dot_fused, rotate};
use crate::lanes::{Kernel, dispatch};

/// QR steps for each row, at most; two are the rule.
const STEPS: usize = 30;

/// How much memory [`decompose`] needs.
pub fn scratch(n: usize) -> usize {
    n * n + 2 * n
}

/// Overwrites `values` by the eigenvalues of the symmetric matrix `a` (of which the lower triangle is read), the least
/// first, and `vectors` by the eigenvectors, one in each column. Of a matrix that is not finite, all of them are NaN.
pub fn decompose(
    a: &[f64],
    values: &mut [f64],
    vectors: &mut [f64],
    n: usize,
    memory: &mut [f64],
) -> Result<(), LinalgError> {
    decompose_within(STEPS * n, a, values, vectors, n, memory)
}

/// The same in at most `limit` steps.
pub(super) fn decompose_within(
    limit: usize,
    a: &[f64],
    values: &mut [f64],
    vectors: &mut [f64],
    n: usize,
    memory: &mut [f64],
) -> Result<(), LinalgError> {
    if !a.iter().all(|x| x.is_finite()) {
        values.fill(f64::NAN);
        vectors.fill(f64::NAN);
        return Ok(());
    }
    let [t, beside, work] = parts(memory, [n * n, n, n]);
    for j in 0..n {
        for i in j..n {
            (t[i + j * n], t[j + i * n]) = (a[i + j * n], a[i + j * n]);
        }
    }
    dispatch(Decompose { t, values, beside, work, vectors, n, limit })
}

struct Decompose<'a> {
    t: &'a mut [f64],
    values: &'a mut [f64],
    /// The elements beside the diagonal of the tridiagonal matrix.
    beside: &'a mut [f64],
    work: &'a mut [f64],
    vectors: &'a mut [f64],
    n: usize,
    limit: usize,
}

impl Kernel for Decompose<'_> {
    type Output = Result<(), LinalgError>;

    #[inline(always)]
    fn run(self) -> Result<(), LinalgError> {
        let Self { t, values, beside, work, vectors, n, limit } = self;
        tridiagonalise(t, values, beside, work, vectors, n);
        let mut end = n.saturating_sub(1);
        let mut steps = 0;
        while end > 0 {
            for i in 0..end {
                if beside[i].abs() <= f64::EPSILON * (values[i].abs() + values[i + 1].abs()) {
                    beside[i] = 0.0;
                }
            }
            while end > 0 && beside[end - 1] == 0.0 {
                end -= 1;
            }
            if end > 0 {
                let start = (0..end).rev().find(|&i| i == 0 || beside[i - 1] == 0.0).unwrap_or(0);
                if steps == limit {
                    return Err(LinalgError::NoConvergence { limit });
                }
                qr_step(values, beside, vectors, n, (start, end));
                steps += 1;
            }
        }
        for i in 0..n {
            let least = (i + 1..n).fold(i, |least, k| if values[k] < values[least] { k } else { least });
            if least != i {
                values.swap(i, least);
                let (before, from) = vectors.split_at_mut(least * n);
                before[i * n..][..n].swap_with_slice(&mut from[..n]);
            }
        }
        Ok(())
    }
}

/// `T = QᵀA·Q` by reflections `I - τ·v·vᵀ` with `v₀ = 1`; `Q` goes to `vectors`, and `beside` first holds the `τ`s.
#[inline(always)]
fn tridiagonalise(a: &mut [f64], values: &mut [f64], beside: &mut [f64], p: &mut [f64], vectors: &mut [f64], n: usize) {
    for k in 0..n.saturating_sub(1) {
        let (before, rest) = a.split_at_mut((k + 1) * n);
        let v = &mut before[k * n + k + 1..];
        let (first, tail) = (v[0], dot_fused(&v[1..], &v[1..]));
        values[k] = first;
        beside[k] = 0.0;
        if tail <= f64::MIN_POSITIVE {
            continue;
        }
        let norm = first.mul_add(first, tail).sqrt();
        let beta = if first >= 0.0 { -norm } else { norm };
        let tau = (beta - first) / beta;
        let scale = 1.0 / (first - beta);
        v.iter_mut().for_each(|x| *x *= scale);
        v[0] = 1.0;
        values[k] = beta;
        beside[k] = tau;
        let p = &mut p[k + 1..];
        p.fill(0.0);
        for (v, column) in v.iter().zip(rest.chunks_exact(n)) {
            add_scaled_fused(p, tau * v, &column[k + 1..]);
        }
        let half = -0.5 * tau * dot_fused(p, v);
        add_scaled_fused(p, half, v);
        for (j, column) in rest.chunks_exact_mut(n).enumerate() {
            add_scaled_fused(&mut column[k + 1..], -p[j], v);
            add_scaled_fused(&mut column[k + 1..], -v[j], p);
        }
    }
    vectors.fill(0.0);
    vectors.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
    for k in (0..n.saturating_sub(1)).rev() {
        let (v, tau) = (&a[k * n + k + 1..(k + 1) * n], beside[k]);
        if tau != 0.0 {
            for column in vectors[(k + 1) * n..].chunks_exact_mut(n) {
                let by = -tau * dot_fused(v, &column[k + 1..]);
                add_scaled_fused(&mut column[k + 1..], by, v);
            }
        }
        beside[k] = values[k];
    }
    for i in 0..n {
        values[i] = a[i * (n + 1)];
    }
}

/// One step with Wilkinson's shift on the rows and columns from `start` to `end`, both included (Golub and Van Loan,
/// 8.3.2).
#[inline(always)]
fn qr_step(d: &mut [f64], e: &mut [f64], vectors: &mut [f64], n: usize, (start, end): (usize, usize)) {
    let half = 0.5 * (d[end - 1] - d[end]);
    let last = e[end - 1];
    let shift = d[end] - last * (last / (half + half.hypot(last).copysign(half)));
    let (mut x, mut z) = (d[start] - shift, e[start]);
    for k in start..end {
        let r = x.hypot(z);
        let (c, s) = if r == 0.0 { (1.0, 0.0) } else { (x / r, -z / r) };
        if k > start {
            e[k - 1] = r;
        }
        let (low, high, beside) = (d[k], d[k + 1], e[k]);
        let mixed = c * low - s * beside;
        let other = c * beside - s * high;
        d[k] = c * mixed - s * other;
        e[k] = s * mixed + c * other;
        d[k + 1] = s * (s * low + c * beside) + c * (s * beside + c * high);
        x = e[k];
        if k + 1 < end {
            z = -s * e[k + 1];
            e[k + 1] *= c;
        }
        let (left, right) = vectors[k * n..(k + 2) * n].split_at_mut(n);
        rotate(left, right, c, s);
    }
}
