//! Eigenvalues and eigenvectors of a symmetric matrix: reduction to a tridiagonal one by reflections, then implicit QR steps.

use super::super::{Argument, Shape, VectorFunction};
use super::gemm::{Operand, Target, gemm, multiply};
use super::memory::{arity, parts, square, symmetric};
use super::vectors::{add_scaled, dot, rotate};
use crate::density::DomainError;
use crate::lanes::{Kernel, dispatch};

/// How much memory [`decompose`] needs.
fn scratch(n: usize) -> usize {
    n * n + 2 * n
}

/// Overwrites `values` by the eigenvalues of the symmetric matrix `a` (of which the lower triangle is read), the least first,
/// and `vectors` by the eigenvectors, one in each column.
fn decompose(a: &[f64], values: &mut [f64], vectors: &mut [f64], n: usize, memory: &mut [f64]) {
    if !a.iter().all(|x| x.is_finite()) {
        values.fill(f64::NAN);
        vectors.fill(f64::NAN);
        return;
    }
    let [t, beside, work] = parts(memory, [n * n, n, n]);
    for j in 0..n {
        for i in j..n {
            (t[i + j * n], t[j + i * n]) = (a[i + j * n], a[i + j * n]);
        }
    }
    dispatch(Decompose { t, values, beside, work, vectors, n });
}

struct Decompose<'a> {
    t: &'a mut [f64],
    values: &'a mut [f64],
    /// The elements beside the diagonal of the tridiagonal matrix.
    beside: &'a mut [f64],
    work: &'a mut [f64],
    vectors: &'a mut [f64],
    n: usize,
}

impl Kernel for Decompose<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { t, values, beside, work, vectors, n } = self;
        tridiagonalise(t, values, beside, work, vectors, n);
        let mut end = n.saturating_sub(1);
        let mut steps = 30 * n;
        while end > 0 && steps > 0 {
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
                qr_step(values, beside, vectors, n, (start, end));
                steps -= 1;
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
    }
}

/// `T = QᵀA·Q` by reflections `I - τ·v·vᵀ` with `v₀ = 1`; `Q` goes to `vectors`, and `beside` first holds the `τ`s.
#[inline(always)]
fn tridiagonalise(a: &mut [f64], values: &mut [f64], beside: &mut [f64], p: &mut [f64], vectors: &mut [f64], n: usize) {
    for k in 0..n.saturating_sub(1) {
        let (before, rest) = a.split_at_mut((k + 1) * n);
        let v = &mut before[k * n + k + 1..];
        let (first, tail) = (v[0], dot(&v[1..], &v[1..]));
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
            add_scaled(p, tau * v, &column[k + 1..]);
        }
        let half = -0.5 * tau * dot(p, v);
        add_scaled(p, half, v);
        for (j, column) in rest.chunks_exact_mut(n).enumerate() {
            add_scaled(&mut column[k + 1..], -p[j], v);
            add_scaled(&mut column[k + 1..], -v[j], p);
        }
    }
    vectors.fill(0.0);
    vectors.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
    for k in (0..n.saturating_sub(1)).rev() {
        let (v, tau) = (&a[k * n + k + 1..(k + 1) * n], beside[k]);
        if tau != 0.0 {
            for column in vectors[(k + 1) * n..].chunks_exact_mut(n) {
                let by = -tau * dot(v, &column[k + 1..]);
                add_scaled(&mut column[k + 1..], by, v);
            }
        }
        beside[k] = values[k];
    }
    for i in 0..n {
        values[i] = a[i * (n + 1)];
    }
}

/// One step with Wilkinson's shift on the rows and columns from `start` to `end`, both included (Golub and Van Loan, 8.3.2).
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

/// Eigenvalues of a symmetric matrix, or its eigenvectors.
///
/// `Ā += V·(diag(λ̄) + F∘(Vᵀ·V̄))·Vᵀ` with `Fᵢⱼ = 1 / (λⱼ - λᵢ)` off the diagonal and 0 on it.
pub(super) struct EigenSym {
    pub name: &'static str,
    pub vectors: bool,
}

impl VectorFunction for EigenSym {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, String> {
        let [a] = arity(arguments)?;
        let n = square(a.shape)?;
        Ok(if self.vectors { Shape::matrix(n, n) } else { Shape::vector(n) })
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let n = arguments[0].rows();
        scratch(n) + 2 * n * n + n
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], memory: &mut [f64]) -> Result<(), DomainError> {
        let (a, n) = (arguments[0].numbers, arguments[0].shape.rows());
        symmetric(self.name, a, n)?;
        if self.vectors {
            let [values, memory] = parts(memory, [n, scratch(n)]);
            decompose(a, values, out, n, memory);
        } else {
            let [vectors, memory] = parts(memory, [n * n, scratch(n)]);
            decompose(a, out, vectors, n, memory);
        }
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
        let (a, n) = (arguments[0].numbers, arguments[0].shape.rows());
        if to[0].is_empty() {
            return;
        }
        let whole = Target::whole(n, n);
        if self.vectors {
            let [middle, product, values] = parts(scratch, [n * n, n * n, n]);
            let v = Operand::new(out, n);
            // The eigenvalues once more: λ = vᵀ·A·v.
            multiply(product, (n, n, n), Operand::new(a, n), v);
            for (value, (v, av)) in values.iter_mut().zip(out.chunks_exact(n).zip(product.chunks_exact(n))) {
                *value = v.iter().zip(av).map(|(v, av)| v * av).sum();
            }
            multiply(middle, (n, n, n), v.transposed(), Operand::new(adjoint, n));
            for j in 0..n {
                for i in 0..n {
                    let factor = if i == j { 0.0 } else { 1.0 / (values[j] - values[i]) };
                    middle[i + j * n] *= factor;
                }
            }
            multiply(product, (n, n, n), v, Operand::new(middle, n));
            gemm(to[0], whole, n, 1.0, Operand::new(product, n), v.transposed());
        } else {
            let [vectors, scaled, values, memory] = parts(scratch, [n * n, n * n, n, self::scratch(n)]);
            decompose(a, values, vectors, n, memory);
            for ((scaled, v), c) in scaled.chunks_exact_mut(n).zip(vectors.chunks_exact(n)).zip(adjoint) {
                scaled.iter_mut().zip(v).for_each(|(scaled, v)| *scaled = c * v);
            }
            gemm(to[0], whole, n, 1.0, Operand::new(scaled, n), Operand::new(vectors, n).transposed());
        }
    }
}
