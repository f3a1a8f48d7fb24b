//! The decomposition `A = Q·R` by reflections, with a nonnegative diagonal of `R`.
//!
//! The derivative is that of the algorithm: the columns of a full `Q` beyond those of `A` are not determined by `A` alone.

use super::super::{Argument, Shape, VectorFunction};
use super::memory::{accumulate, arity, matrix, parts};
use super::vectors::{add_scaled, dot};
use crate::density::DomainError;
use crate::lanes::{Kernel, dispatch};

/// Sizes of the matrix and of `Q`'s columns that are wanted.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
    q_columns: usize,
}

impl Size {
    fn reflections(self) -> usize {
        self.rows.min(self.columns)
    }
}

/// Overwrites `x` by `(I - τ·v·vᵀ)·x`, where `v = (1, tail)`.
#[inline(always)]
fn reflect(tail: &[f64], tau: f64, x: &mut [f64]) {
    let (first, rest) = x.split_at_mut(1);
    let by = -tau * (first[0] + dot(tail, rest));
    first[0] += by;
    add_scaled(rest, by, tail);
}

/// Overwrites `a` by `R` on and above the diagonal and the tails of the reflections' vectors below it.
///
/// A reflection maps a column `x` to `β·e₁` with `β = -sign(x₀)·|x|`, also where the rest of `x` is 0: only so it is smooth.
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
            let norm = first[0].mul_add(first[0], dot(tail, tail)).sqrt();
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

/// The adjoint of the whole process. `values` and `adjoints` hold `Q` with its adjoint, then `R` with its adjoint, all
/// before signs are changed; the adjoint of `A` takes the place of `R`'s.
struct Reverse<'a> {
    factors: &'a [f64],
    taus: &'a [f64],
    q: [&'a mut [f64]; 2],
    r: [&'a mut [f64]; 2],
    /// Adjoints of the vectors, each as long as a column of `A`, and of the `τ`s.
    vectors: &'a mut [f64],
    tau_adjoints: &'a mut [f64],
    rows: usize,
}

impl Kernel for Reverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { factors, taus, q: [q, q_adjoint], r: [r, r_adjoint], vectors, tau_adjoints, rows } = self;
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

/// Of `y = H·x` with `H = I - τ·v·vᵀ`: overwrites `y` by `x`, its adjoint by that of `x`, and adds to those of `v` and `τ`.
#[inline(always)]
fn reverse_reflect(
    tail: &[f64],
    tau: f64,
    [y, y_adjoint]: [&mut [f64]; 2],
    v_adjoint: &mut [f64],
    tau_adjoint: &mut f64,
) {
    reflect(tail, tau, y);
    let along_x = y[0] + dot(tail, &y[1..]);
    let along_adjoint = y_adjoint[0] + dot(tail, &y_adjoint[1..]);
    *tau_adjoint -= along_x * along_adjoint;
    add_scaled(v_adjoint, -tau * along_x, y_adjoint);
    add_scaled(v_adjoint, -tau * along_adjoint, y);
    reflect(tail, tau, y_adjoint);
}

/// Of the reflection's vector, `τ` and `β` as functions of the column `x`: overwrites `y = β·e₁` by `x` and its adjoint by
/// that of `x`.
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
    let s_adjoint = -dot(tail, tail_adjoint) / s - tau_adjoint / beta;
    let beta_adjoint = first[0] + tau_adjoint * s / (beta * beta) - s_adjoint;
    first[0] = s_adjoint + beta_adjoint * (s + beta) / beta;
    add_scaled(rest, 1.0 / s, tail_adjoint);
    add_scaled(rest, beta_adjoint / beta * s, tail);
    y[0] += s;
    add_scaled(&mut y[1..], s, tail);
}

/// `Q` or `R` of a matrix; thin if `Q` has only as many columns, and `R` as many rows, as the lesser size of the matrix.
pub(super) struct Qr {
    pub name: &'static str,
    /// `Q` or else `R`.
    pub q: bool,
    pub thin: bool,
}

impl Qr {
    fn size(&self, shape: Shape) -> Size {
        let (rows, columns) = (shape.rows(), shape.columns());
        Size { rows, columns, q_columns: if self.thin { rows.min(columns) } else { rows } }
    }

    /// Multiplies the columns of a matrix with the rows of `Q`, or the rows of `R` in `out`, by the sign of `R`'s diagonal.
    fn change_signs(&self, factors: &[f64], size: Size, out: &mut [f64]) {
        for k in (0..size.reflections()).filter(|k| factors[k * (size.rows + 1)] < 0.0) {
            if self.q {
                out[k * size.rows..][..size.rows].iter_mut().for_each(|x| *x = -*x);
            } else {
                out[k..].iter_mut().step_by(size.q_columns).for_each(|x| *x = -*x);
            }
        }
    }
}

impl VectorFunction for Qr {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, String> {
        let [a] = arity(arguments)?;
        matrix(a.shape)?;
        let size = self.size(a.shape);
        Ok(match self.q {
            _ if a.shape.is_empty() => Shape::matrix(0, 0),
            true => Shape::matrix(size.rows, size.q_columns),
            false => Shape::matrix(size.q_columns, size.columns),
        })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let size = self.size(arguments[0]);
        let (a, q) = (size.rows * size.columns, size.rows * size.q_columns);
        5 * a + 3 * q + 2 * size.reflections()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let a = arguments[0].numbers;
        let size = self.size(arguments[0].shape);
        let [factors, taus] = parts(scratch, [a.len(), size.reflections()]);
        if a.is_empty() {
            return Ok(());
        }
        factors.copy_from_slice(a);
        dispatch(Factor { a: factors, taus, rows: size.rows });
        if self.q {
            dispatch(FormQ { factors, taus, q: out, rows: size.rows });
        } else {
            copy_upper(factors, size.rows, out, size.q_columns);
        }
        self.change_signs(factors, size, out);
        Ok(())
    }

    fn reverse(
        &self,
        arguments: &[Argument],
        out: &[f64],
        adjoint: &[f64],
        to: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) {
        let a = arguments[0].numbers;
        let size = self.size(arguments[0].shape);
        let (rows, count) = (size.rows, size.reflections());
        if a.is_empty() {
            return;
        }
        let len = if self.q { out.len() } else { 0 };
        let [factors, r, r_adjoint, vectors, q, q_adjoint, signed, taus, tau_adjoints] =
            parts(scratch, [a.len(), a.len(), a.len(), rows * count, len, len, adjoint.len(), count, count]);
        factors.copy_from_slice(a);
        dispatch(Factor { a: factors, taus, rows });
        copy_upper(factors, rows, r, rows);
        signed.copy_from_slice(adjoint);
        self.change_signs(factors, size, signed);
        r_adjoint.fill(0.0);
        if self.q {
            q.copy_from_slice(out);
            self.change_signs(factors, size, q);
            q_adjoint.copy_from_slice(signed);
        } else {
            copy_upper(signed, size.q_columns, r_adjoint, rows);
        }
        dispatch(Reverse { factors, taus, q: [q, q_adjoint], r: [r, r_adjoint], vectors, tau_adjoints, rows });
        accumulate(to[0], r_adjoint);
    }
}

/// Copies what is on and above the diagonal, with 0 below it; the number of rows may differ.
fn copy_upper(from: &[f64], from_rows: usize, to: &mut [f64], to_rows: usize) {
    to.fill(0.0);
    for (j, (from, to)) in from.chunks_exact(from_rows).zip(to.chunks_exact_mut(to_rows)).enumerate() {
        let end = (j + 1).min(from_rows).min(to_rows);
        to[..end].copy_from_slice(&from[..end]);
    }
}
