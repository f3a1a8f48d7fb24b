//! Functions that are power series of a matrix: its exponential and its powers.
//!
//! For `f(A) = Σ cₖ·Aᵏ` the adjoint of the derivative in direction `E` is the derivative at `Aᵀ`: `Ā += L(Aᵀ, C̄)`, and
//! `f(X + ε·Y) = f(X) + ε·L(X, Y)` if `ε² = 0`. So everything here is written for such dual matrices.

mod lanes;

use super::super::{Argument, Cell, LaneArgument, Row, Shape, ShapeError, VectorFunction};
use super::memory::{accumulate, agree, arity, expect, matrix, square};
use crate::density::DomainError;
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::memory::transpose;
use crate::linalg::{identity, parts};

/// `C = A·B` for dual matrices: `n²` numbers of the value, then as many of the tangent; without a tangent if `C` has
/// none.
fn product(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    let (c_value, c_tangent) = c.split_at_mut(n * n);
    let [(a_value, a_tangent), (b_value, b_tangent)] = [a, b].map(|x| x.split_at(n * n));
    multiply(c_value, (n, n, n), Operand::new(a_value, n), Operand::new(b_value, n));
    if !c_tangent.is_empty() {
        multiply(c_tangent, (n, n, n), Operand::new(a_value, n), Operand::new(b_tangent, n));
        gemm(c_tangent, Target::whole(n, n), n, 1.0, Operand::new(a_tangent, n), Operand::new(b_value, n));
    }
}

/// Up to which norm the Taylor polynomial of degree 4, 8, 12, 16 has a backward error below the rounding (Bader,
/// Blanes, Casas 2019; Sastre, Ibáñez, Defez 2019).
const NORMS: [f64; 4] = [3.397e-4, 4.99e-2, 2.996e-1, 7.80e-1];

/// How many matrices [`exponential`] needs as memory, each as long as its argument.
const EXPONENTIAL: usize = 5;

/// Overwrites the dual matrix by its exponential: a Taylor polynomial of `A / 2ˢ` in powers of its fourth power,
/// squared `s` times. There is nothing to be solved as there is for Padé's approximant, which keeps the derivative
/// simple.
fn exponential(a: &mut [f64], n: usize, memory: &mut [f64]) {
    let len = a.len();
    let [a2, a3, a4, sum, spare] = parts(memory, [len; EXPONENTIAL]);
    let columns = a[..n * n].chunks_exact(n.max(1));
    let norm = columns.map(|column| column.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max);
    let infinite = !a[..n * n].iter().all(|x| x.is_finite());
    if infinite {
        a.fill(f64::NAN);
        return;
    }
    let mut squarings = 0;
    let mut scale = 1.0;
    while norm * scale > NORMS[3] {
        scale *= 0.5;
        squarings += 1;
    }
    let blocks = 1 + NORMS.iter().position(|&largest| norm * scale <= largest).unwrap_or(3);
    a.iter_mut().for_each(|x| *x *= scale);
    product(a2, a, a, n);
    product(a3, a2, a, n);
    product(a4, a2, a2, n);
    let factorial = |k: usize| (1..=k).fold(1.0, |inverse, i| inverse / float(i));
    for block in (0..blocks).rev() {
        if block + 1 == blocks {
            let c = factorial(4 * blocks);
            spare.iter_mut().zip(&*a4).for_each(|(to, x)| *to = c * x);
        } else {
            product(spare, sum, a4, n);
        }
        let [c0, c1, c2, c3] = std::array::from_fn(|i| factorial(4 * block + i));
        for (k, (sum, spare)) in sum.iter_mut().zip(&*spare).enumerate() {
            *sum = ((c3 * a3[k] + c2 * a2[k]) + c1 * a[k]) + spare;
        }
        sum[..n * n].iter_mut().step_by(n + 1).for_each(|x| *x += c0);
    }
    a.copy_from_slice(sum);
    for _ in 0..squarings {
        product(sum, a, a, n);
        a.copy_from_slice(sum);
    }
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn float(i: usize) -> f64 {
    i as f64
}

/// Overwrites `dual` by `Aᵀ·scale + ε·E`.
fn transposed_dual(dual: &mut [f64], a: &[f64], scale: f64, n: usize) {
    transpose(a, n, &mut dual[..n * n]);
    dual[..n * n].iter_mut().for_each(|x| *x *= scale);
}

/// The same, of a small matrix as of eight at once.
fn small_exponential(a: &mut [f64], n: usize, memory: &mut [f64]) {
    let small = lanes::scratch(n).is_some();
    if !small || !lanes::exponential::<1>(a.as_chunks_mut().0, n, memory.as_chunks_mut().0) {
        exponential(a, n, memory);
    }
}

/// `exp(A)`.
pub(super) struct MatrixExp;

impl VectorFunction for MatrixExp {
    fn name(&self) -> &'static str {
        "matrix_exp"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a] = arity(arguments)?;
        square(a.shape).map(|n| Shape::matrix(n, n))
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        (EXPONENTIAL + 1) * 2 * arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let n = arguments[0].shape.rows();
        out.copy_from_slice(arguments[0].numbers);
        small_exponential(out, n, scratch);
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let n = arguments[0].shape.rows();
        let [dual, memory] = parts(scratch, [2 * n * n, EXPONENTIAL * 2 * n * n]);
        transposed_dual(dual, arguments[0].numbers, 1.0, n);
        dual[n * n..].copy_from_slice(adjoint);
        small_exponential(dual, n, memory);
        accumulate(to[0], &dual[n * n..]);
    }

    fn lanes_scratch(&self, arguments: &[Shape]) -> Option<usize> {
        lanes::scratch(arguments[0].rows())
    }

    fn value_lanes(&self, arguments: &[LaneArgument], out: &mut [Row], scratch: &mut [Row]) -> bool {
        out.copy_from_slice(arguments[0].numbers);
        lanes::exponential(out, arguments[0].shape.rows(), scratch)
    }

    fn reverse_lanes(
        &self,
        arguments: &[LaneArgument],
        _: &[Row],
        adjoint: &[Row],
        to: &mut [&mut [Row]],
        scratch: &mut [Row],
    ) -> bool {
        let n = arguments[0].shape.rows();
        let (dual, memory) = scratch.split_at_mut(2 * n * n);
        for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
            dual[i * n + j] = arguments[0].numbers[j * n + i];
        }
        dual[n * n..].copy_from_slice(adjoint);
        if !lanes::exponential(dual, n, memory) {
            return false;
        }
        for (to, d) in to[0].iter_mut().zip(&dual[n * n..]) {
            (0..8).for_each(|l| to[l] += d[l]);
        }
        true
    }
}

/// `C = exp(t·A)·B`, where `t = 1` if there are only two arguments: `B̄ += exp(t·Aᵀ)·C̄`, `t̄ += tr(C̄ᵀ·A·C)`, and with
/// `Ē = C̄·Bᵀ` is `Ā += t·L(t·Aᵀ, Ē)`.
pub(super) struct MatrixExpMultiply {
    pub name: &'static str,
    pub scaled: bool,
}

impl MatrixExpMultiply {
    /// `(t, A, B)`.
    fn arguments<'a>(&self, arguments: &[Argument<'a>]) -> (f64, Argument<'a>, Argument<'a>) {
        if self.scaled {
            (arguments[0].numbers[0], arguments[1], arguments[2])
        } else {
            (1.0, arguments[0], arguments[1])
        }
    }
}

impl VectorFunction for MatrixExpMultiply {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let (a, b) = if self.scaled {
            let [t, a, b] = arity(arguments)?.map(|argument| argument.shape);
            expect(t, &[Cell::Scalar])?;
            (a, b)
        } else {
            arity(arguments)?.map(|argument| argument.shape).into()
        };
        matrix(b)?;
        agree("rows of the factor", b.rows(), "columns of the matrix", square(a)?)?;
        Ok(b)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let (a, b) = if self.scaled { (arguments[1], arguments[2]) } else { (arguments[0], arguments[1]) };
        (EXPONENTIAL + 1) * 2 * a.len() + b.len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (t, a, b) = self.arguments(arguments);
        let (n, m) = (b.shape.rows(), b.shape.columns());
        let [e, memory] = parts(scratch, [n * n, EXPONENTIAL * n * n]);
        e.iter_mut().zip(a.numbers).for_each(|(e, a)| *e = t * a);
        exponential(e, n, memory);
        multiply(out, (n, n, m), Operand::new(e, n), Operand::new(b.numbers, n));
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
        let (t, a, b) = self.arguments(arguments);
        let (n, m) = (b.shape.rows(), b.shape.columns());
        let [dual, memory, ac] = parts(scratch, [2 * n * n, EXPONENTIAL * 2 * n * n, n * m]);
        let (of_a, of_b) = if self.scaled { (1, 2) } else { (0, 1) };
        let c = Operand::new(adjoint, n);
        transposed_dual(dual, a.numbers, t, n);
        multiply(&mut dual[n * n..], (n, m, n), c, Operand::new(b.numbers, n).transposed());
        exponential(dual, n, memory);
        if self.scaled && !to[0].is_empty() {
            multiply(ac, (n, n, m), Operand::new(a.numbers, n), Operand::new(out, n));
            to[0][0] += ac.iter().zip(adjoint).map(|(x, c)| x * c).sum::<f64>();
        }
        to[of_a].iter_mut().zip(&dual[n * n..]).for_each(|(to, x)| *to += t * x);
        if !to[of_b].is_empty() {
            gemm(to[of_b], Target::whole(n, m), n, 1.0, Operand::new(&dual[..n * n], n), c);
        }
    }
}

/// `Aᵏ` for an integer `k ≥ 0`.
pub(super) struct MatrixPower;

/// Overwrites the dual matrix by its power, by repeated squaring; `memory` is twice as long.
fn power(a: &mut [f64], exponent: f64, n: usize, memory: &mut [f64]) {
    let [result, spare] = parts(memory, [a.len(); 2]);
    result.fill(0.0);
    identity(&mut result[..n * n], n);
    let mut left = exponent;
    while left > 0.0 {
        if left % 2.0 > 0.0 {
            product(spare, result, a, n);
            result.copy_from_slice(spare);
        }
        left = (left / 2.0).floor();
        if left > 0.0 {
            product(spare, a, a, n);
            a.copy_from_slice(spare);
        }
    }
    a.copy_from_slice(result);
}

impl VectorFunction for MatrixPower {
    fn name(&self) -> &'static str {
        "matrix_power"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a, exponent] = arity(arguments)?;
        expect(exponent.shape, &[Cell::Scalar])?;
        square(a.shape).map(|n| Shape::matrix(n, n))
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        6 * arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (a, exponent) = (arguments[0].numbers, arguments[1].numbers[0]);
        let error = |argument, value, must_be| DomainError { function: self.name(), argument, value, must_be };
        if exponent < 0.0 {
            return Err(error("Exponent", exponent, "nonnegative"));
        }
        if let Some(&value) = a.iter().find(|x| !x.is_finite()) {
            return Err(error("Matrix", value, "finite"));
        }
        out.copy_from_slice(a);
        power(out, exponent, arguments[0].shape.rows(), scratch);
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], scratch: &mut [f64]) {
        let n = arguments[0].shape.rows();
        let [dual, memory] = parts(scratch, [2 * n * n, 4 * n * n]);
        transposed_dual(dual, arguments[0].numbers, 1.0, n);
        dual[n * n..].copy_from_slice(adjoint);
        power(dual, arguments[1].numbers[0], n, memory);
        accumulate(to[0], &dual[n * n..]);
    }
}
