//! The decomposition `A = Q·R` by Householder's reflections, its explicit `Q`, and the adjoint of the whole process.

use super::vectors::{add_scaled_fused, dot_fused};
use crate::lanes::{Kernel, dispatch};

/// A decomposed matrix: `R` on and above the diagonal, below it the tails of the reflections' vectors, and their `τ`s.
#[derive(Clone, Copy)]
pub struct Factors<'a> {
    pub numbers: &'a [f64],
    pub taus: &'a [f64],
    pub rows: usize,
}

/// Overwrites the matrix `a` by its factors; as many reflections are made as there are `taus`.
pub fn factor<'a>(a: &'a mut [f64], taus: &'a mut [f64], rows: usize) -> Factors<'a> {
    dispatch(Factor { a, taus, rows });
    Factors { numbers: a, taus, rows }
}

/// Overwrites `q` by the first columns of the product of all reflections.
pub fn form_q(factors: Factors, q: &mut [f64]) {
    dispatch(FormQ { factors: factors.numbers, taus: factors.taus, q, rows: factors.rows });
}

/// What [`reverse`] works on: `Q` and `R`, each with its adjoint. A `Q` of no columns is none.
pub struct Adjoints<'a> {
    pub q: [&'a mut [f64]; 2],
    pub r: [&'a mut [f64]; 2],
    /// Adjoints of the vectors, each as long as a column of `A`, and of the `τ`s.
    pub vectors: &'a mut [f64],
    pub taus: &'a mut [f64],
}

/// Overwrites the adjoint of `R` by that of `A`.
pub fn reverse(factors: Factors, adjoints: Adjoints) {
    dispatch(Reverse { factors, adjoints });
}

/// Overwrites `x` by `(I - τ·v·vᵀ)·x`, where `v = (1, tail)`.
#[inline(always)]
fn reflect(tail: &[f64], tau: f64, x: &mut [f64]) {
    let (first, rest) = x.split_at_mut(1);
    let by = -tau * (first[0] + dot_fused(tail, rest));
    first[0] += by;
    add_scaled_fused(rest, by, tail);
}

/// Overwrites `a` by `R` on and above the diagonal and the tails of the reflections' vectors below it.
///
/// A reflection maps a column `x` to `β·e₁` with `β = -sign(x₀)·|x|`, also where the rest of `x` is 0: only so it is
/// smooth.
struct Factor<'a> {
    a: &'a mut [f64],
    taus: &'a mut [f64],
    rows: usize,
}

impl Kernel for Factor<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { a, taus, rows } = self;
        for (k, tau) in taus.iter_mut().enumerate() {
            let (before, after) = a.split_at_mut((k + 1) * rows);
            let (first, tail) = before[k * rows + k..].split_at_mut(1);
            let norm = first[0].mul_add(first[0], dot_fused(tail, tail)).sqrt();
            let beta = if first[0] >= 0.0 { -norm } else { norm };
            *tau = if norm == 0.0 { 0.0 } else { (beta - first[0]) / beta };
            if norm != 0.0 {
                let scale = 1.0 / (first[0] - beta);
                tail.iter_mut().for_each(|x| *x *= scale);
            }
            first[0] = beta;
            for column in after.chunks_exact_mut(rows) {
                reflect(tail, *tau, &mut column[k..]);
            }
        }
    }
}

/// Overwrites `q` by the first columns of the product of all reflections, before signs are changed.
struct FormQ<'a> {
    factors: &'a [f64],
    taus: &'a [f64],
    q: &'a mut [f64],
    rows: usize,
}

impl Kernel for FormQ<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { factors, taus, q, rows } = self;
        q.fill(0.0);
        q.iter_mut().step_by(rows + 1).for_each(|x| *x = 1.0);
        for (k, tau) in taus.iter().enumerate().rev() {
            let tail = &factors[k * rows + k + 1..(k + 1) * rows];
            for column in q.chunks_exact_mut(rows).skip(k) {
                reflect(tail, *tau, &mut column[k..]);
            }
        }
    }
}

/// The adjoint of the whole process.
struct Reverse<'a> {
    factors: Factors<'a>,
    adjoints: Adjoints<'a>,
}

impl Kernel for Reverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Factors { numbers: factors, taus, rows } = self.factors;
        let Adjoints { q: [q, q_adjoint], r: [r, r_adjoint], vectors, taus: tau_adjoints } = self.adjoints;
        vectors.fill(0.0);
        tau_adjoints.fill(0.0);
        let tail = |k: usize| &factors[k * rows + k + 1..(k + 1) * rows];
        for (k, &tau) in taus.iter().enumerate() {
            let v_adjoint = &mut vectors[k * rows + k..(k + 1) * rows];
            for (y, y_adjoint) in q.chunks_exact_mut(rows).zip(q_adjoint.chunks_exact_mut(rows)) {
                reverse_reflect(tail(k), tau, [&mut y[k..], &mut y_adjoint[k..]], v_adjoint, &mut tau_adjoints[k]);
            }
        }
        for (k, &tau) in taus.iter().enumerate().rev() {
            let v_adjoint = &mut vectors[k * rows + k..(k + 1) * rows];
            let columns = r.chunks_exact_mut(rows).zip(r_adjoint.chunks_exact_mut(rows));
            for (y, y_adjoint) in columns.skip(k + 1) {
                reverse_reflect(tail(k), tau, [&mut y[k..], &mut y_adjoint[k..]], v_adjoint, &mut tau_adjoints[k]);
            }
            let column = [&mut *r, &mut *r_adjoint].map(|a| &mut a[k * rows + k..(k + 1) * rows]);
            reverse_vector(tail(k), tau, &v_adjoint[1..], tau_adjoints[k], column);
        }
    }
}

/// Of `y = H·x` with `H = I - τ·v·vᵀ`: overwrites `y` by `x`, its adjoint by that of `x`, and adds to those of `v` and
/// `τ`.
#[inline(always)]
fn reverse_reflect(
    tail: &[f64],
    tau: f64,
    [y, y_adjoint]: [&mut [f64]; 2],
    v_adjoint: &mut [f64],
    tau_adjoint: &mut f64,
) {
    reflect(tail, tau, y);
    let along_x = y[0] + dot_fused(tail, &y[1..]);
    let along_adjoint = y_adjoint[0] + dot_fused(tail, &y_adjoint[1..]);
    *tau_adjoint -= along_x * along_adjoint;
    add_scaled_fused(v_adjoint, -tau * along_x, y_adjoint);
    add_scaled_fused(v_adjoint, -tau * along_adjoint, y);
    reflect(tail, tau, y_adjoint);
}

/// Of the reflection's vector, `τ` and `β` as functions of the column `x`: overwrites `y = β·e₁` by `x` and its adjoint
/// by that of `x`.
///
/// With `s = x₀ - β`: `tail = x_tail / s`, `τ = -s / β`, `β² = |x|²`.
#[inline(always)]
fn reverse_vector(tail: &[f64], tau: f64, tail_adjoint: &[f64], tau_adjoint: f64, [y, y_adjoint]: [&mut [f64]; 2]) {
    let (first, rest) = y_adjoint.split_at_mut(1);
    rest.fill(0.0);
    if tau == 0.0 {
        return;
    }
    let beta = y[0];
    let s = -tau * beta;
    let s_adjoint = -dot_fused(tail, tail_adjoint) / s - tau_adjoint / beta;
    let beta_adjoint = first[0] + tau_adjoint * s / (beta * beta) - s_adjoint;
    first[0] = s_adjoint + beta_adjoint * (s + beta) / beta;
    add_scaled_fused(rest, 1.0 / s, tail_adjoint);
    add_scaled_fused(rest, beta_adjoint / beta * s, tail);
    y[0] += s;
    add_scaled_fused(&mut y[1..], s, tail);
}
