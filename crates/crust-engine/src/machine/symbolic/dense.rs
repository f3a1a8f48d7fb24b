//! Small matrices as operations on their elements. What many items of a loop do with a matrix each, or with one that
//! they have in common, then runs side by side, and a factor that all of them need is computed once. Where a matrix is
//! outside of a function's domain a guard does not hold.

use super::{Refs, unary_named};
use crate::code::Comparison;
use crate::ir::{Graph, Ref};
use crate::kernels::arithmetic::Arithmetic::{Add, Divide, Multiply, Subtract};
use crate::machine::value::View;
use crate::machine::{Machine, Run};
use crust_math::functions::Cell;

/// Larger matrices are factorised by a call.
pub(super) const WIDEST: usize = 5;

/// Larger matrices are inverted by a call, which looks for pivots.
const WIDEST_INVERTED: usize = 3;

/// Functions that do no more than multiply and add are called for more elements.
const MOST_SCALED: usize = 400;

/// How far a matrix may be from a symmetric one.
const SYMMETRY: f64 = 1e-8;

/// A matrix by columns.
#[derive(Clone)]
pub(super) struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub all: Refs,
}

impl Matrix {
    fn new(rows: usize, columns: usize, mut f: impl FnMut(usize, usize) -> Ref) -> Self {
        let mut all = Refs::new();
        for j in 0..columns {
            (0..rows).for_each(|i| all.push(f(i, j)));
        }
        Self { rows, columns, all }
    }

    fn at(&self, i: usize, j: usize) -> Ref {
        self.all[i + j * self.rows]
    }

    fn transposed(&self) -> Self {
        Self::new(self.columns, self.rows, |i, j| self.at(j, i))
    }

    pub(super) fn times(&self, graph: &mut Graph, other: &Self) -> Self {
        Self::new(self.rows, other.columns, |i, j| {
            let row: Refs = (0..self.columns).map(|k| self.at(i, k)).collect();
            let column: Refs = (0..self.columns).map(|k| other.at(k, j)).collect();
            graph.dot(&row, &column)
        })
    }
}

impl Machine {
    /// A value as a matrix; vectors are columns.
    pub(super) fn matrix(&mut self, view: View) -> Matrix {
        let all = self.operations(view);
        match view.shape.cell() {
            Cell::Vector => Matrix { rows: all.len(), columns: 1, all },
            Cell::RowVector => Matrix { rows: 1, columns: all.len(), all },
            _ => Matrix { rows: view.shape.rows(), columns: view.shape.columns(), all },
        }
    }

    /// A function of matrices, if it is one of those that are written here and the matrices are small.
    pub(super) fn dense(&mut self, name: &str, views: &[View]) -> Run<Option<Refs>> {
        if views.is_empty() || views.iter().any(|v| v.shape.array_rank() > 0 || v.shape.len() > MOST_SCALED) {
            return Ok(None);
        }
        let m: Vec<Matrix> = views.iter().map(|&view| self.matrix(view)).collect();
        if m.iter().any(|m| m.all.is_empty()) {
            return Ok(None);
        }
        let n = m[0].rows.max(m[0].columns);
        Ok(match (name, &m[..]) {
            ("quad_form_diag", [a, d]) => Some(self.scaled_both(a, &d.all)),
            ("multiply_lower_tri_self_transpose", [l]) if n * n * n <= MOST_SCALED => Some(self.lower_square(l)),
            ("cholesky_decompose", [a]) if n <= WIDEST => Some(self.cholesky(a)?.all),
            ("mdivide_left_tri_low", [l, b]) if l.rows <= WIDEST => Some(self.solve_lower(l, b).all),
            ("mdivide_right_tri_low", [b, l]) if l.rows <= WIDEST => {
                Some(self.solve_lower_transposed(l, &b.transposed()).transposed().all)
            }
            ("log_determinant", [a]) if a.rows <= WIDEST_INVERTED => {
                let (abs, log) = (unary_named("abs")?, unary_named("log")?);
                let graph = self.graph();
                let determinant = determinant(graph, a);
                let size = graph.unary(abs, determinant);
                Some(Refs::from_slice(&[graph.unary(log, size)]))
            }
            ("determinant", [a]) if a.rows <= WIDEST_INVERTED => {
                Some(Refs::from_slice(&[determinant(self.graph(), a)]))
            }
            ("inverse", [a]) if a.rows <= WIDEST_INVERTED => Some(inverse(self.graph(), a).all),
            ("mdivide_left", [a, b]) if a.rows <= WIDEST_INVERTED => {
                let graph = self.graph();
                Some(inverse(graph, a).times(graph, b).all)
            }
            ("mdivide_right", [b, a]) if a.rows <= WIDEST_INVERTED => {
                let graph = self.graph();
                let inverse = inverse(graph, a);
                Some(b.times(graph, &inverse).all)
            }
            ("inverse_spd", [a]) if a.rows <= WIDEST => {
                let one = self.identity(a.rows);
                Some(self.divided(a, &one)?.all)
            }
            ("mdivide_left_spd", [a, b]) if a.rows <= WIDEST => Some(self.divided(a, b)?.all),
            ("mdivide_right_spd", [b, a]) if a.rows <= WIDEST => {
                Some(self.divided(a, &b.transposed())?.transposed().all)
            }
            ("log_determinant_spd", [a]) if a.rows <= WIDEST => {
                let factor = self.cholesky(a)?;
                let half = self.log_diagonal(&factor)?;
                Some(Refs::from_slice(&[self.graph().arithmetic(Add, half, half)]))
            }
            ("quad_form", [a, b]) if a.all.len() * b.columns <= MOST_SCALED => {
                let graph = self.graph();
                let right = a.times(graph, b);
                Some(b.transposed().times(graph, &right).all)
            }
            _ => None,
        })
    }

    fn identity(&mut self, n: usize) -> Matrix {
        let graph = self.graph();
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        Matrix::new(n, n, |i, j| if i == j { one } else { zero })
    }

    /// `dᵢ mᵢⱼ dⱼ`
    fn scaled_both(&mut self, m: &Matrix, d: &Refs) -> Refs {
        let graph = self.graph();
        let each = Matrix::new(m.rows, m.columns, |i, j| {
            // So that symmetric elements are the same operation.
            let weight = graph.arithmetic(Multiply, d[i.min(j)], d[i.max(j)]);
            graph.arithmetic(Multiply, m.at(i, j), weight)
        });
        each.all
    }

    /// `L Lᵀ`, of the lower triangle.
    fn lower_square(&mut self, l: &Matrix) -> Refs {
        let graph = self.graph();
        let each = Matrix::new(l.rows, l.rows, |i, j| {
            let (i, j) = (i.min(j), i.max(j));
            let inner = 0..=i.min(l.columns - 1);
            let row = |i: usize| -> Refs { inner.clone().map(|k| l.at(i, k)).collect() };
            graph.dot(&row(i), &row(j))
        });
        each.all
    }

    /// The lower factor of a symmetric, positive definite matrix.
    pub(super) fn cholesky(&mut self, a: &Matrix) -> Run<Matrix> {
        let (n, sqrt) = (a.rows, unary_named("sqrt")?);
        for (i, j) in (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j))) {
            self.guard_equal(a.at(i, j), a.at(j, i));
        }
        let zero = self.graph().constant(0.0);
        let mut l = Matrix::new(n, n, |_, _| zero);
        for j in 0..n {
            for i in j..n {
                let graph = self.graph();
                let row = |i: usize| -> Refs { (0..j).map(|k| l.at(i, k)).collect() };
                let mut rest = a.at(i, j);
                if j > 0 {
                    let known = graph.dot(&row(i), &row(j));
                    rest = graph.arithmetic(Subtract, rest, known);
                }
                l.all[i + j * n] = if i == j {
                    let positive = graph.compare(Comparison::Greater, rest, zero);
                    self.traced_guard(positive);
                    self.graph().unary(sqrt, rest)
                } else {
                    graph.arithmetic(Divide, rest, l.at(j, j))
                };
            }
        }
        Ok(l)
    }

    fn guard_equal(&mut self, a: Ref, b: Ref) {
        if a == b {
            return;
        }
        let graph = self.graph();
        let difference = graph.arithmetic(Subtract, a, b);
        for (comparison, bound) in [(Comparison::LessEqual, SYMMETRY), (Comparison::GreaterEqual, -SYMMETRY)] {
            let graph = self.graph();
            let bound = graph.constant(bound);
            let near = graph.compare(comparison, difference, bound);
            self.traced_guard(near);
        }
    }

    /// `L⁻¹ B`
    pub(super) fn solve_lower(&mut self, l: &Matrix, b: &Matrix) -> Matrix {
        let graph = self.graph();
        let mut x = b.clone();
        for (j, i) in (0..b.columns).flat_map(|j| (0..b.rows).map(move |i| (j, i))) {
            let (row, known): (Refs, Refs) = (0..i).map(|k| (l.at(i, k), x.at(k, j))).unzip();
            x.all[i + j * b.rows] = quotient(graph, (b.at(i, j), &row, &known), l.at(i, i));
        }
        x
    }

    /// `L⁻ᵀ B`
    fn solve_lower_transposed(&mut self, l: &Matrix, b: &Matrix) -> Matrix {
        let graph = self.graph();
        let mut x = b.clone();
        for (j, i) in (0..b.columns).flat_map(|j| (0..b.rows).rev().map(move |i| (j, i))) {
            let (row, known): (Refs, Refs) = (i + 1..b.rows).map(|k| (l.at(k, i), x.at(k, j))).unzip();
            x.all[i + j * b.rows] = quotient(graph, (b.at(i, j), &row, &known), l.at(i, i));
        }
        x
    }

    /// `A⁻¹ B`, where A is positive definite.
    fn divided(&mut self, a: &Matrix, b: &Matrix) -> Run<Matrix> {
        let l = self.cholesky(a)?;
        let half = self.solve_lower(&l, b);
        Ok(self.solve_lower_transposed(&l, &half))
    }

    /// The sum of the logarithms of the diagonal.
    pub(super) fn log_diagonal(&mut self, l: &Matrix) -> Run<Ref> {
        let log = unary_named("log")?;
        let graph = self.graph();
        let logs: Refs = (0..l.rows).map(|i| graph.unary(log, l.at(i, i))).collect();
        Ok(graph.sum(&logs))
    }
}

/// `(b − row · known) / by`
fn quotient(graph: &mut Graph, (b, row, known): (Ref, &Refs, &Refs), by: Ref) -> Ref {
    let rest = if row.is_empty() {
        b
    } else {
        let known = graph.dot(row, known);
        graph.arithmetic(Subtract, b, known)
    };
    graph.arithmetic(Divide, rest, by)
}

/// `a d − b c`
fn minor(graph: &mut Graph, [a, b, c, d]: [Ref; 4]) -> Ref {
    let (first, second) = (graph.arithmetic(Multiply, a, d), graph.arithmetic(Multiply, b, c));
    graph.arithmetic(Subtract, first, second)
}

/// The cofactor of an element of a matrix of three rows, by the cycle of the others.
fn cofactor(graph: &mut Graph, m: &Matrix, i: usize, j: usize) -> Ref {
    let (r, s, c, d) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
    minor(graph, [m.at(r, c), m.at(r, d), m.at(s, c), m.at(s, d)])
}

fn determinant(graph: &mut Graph, m: &Matrix) -> Ref {
    match m.rows {
        1 => m.at(0, 0),
        2 => minor(graph, [m.at(0, 0), m.at(0, 1), m.at(1, 0), m.at(1, 1)]),
        _ => {
            let first: Refs = (0..3).map(|j| m.at(0, j)).collect();
            let others: Refs = (0..3).map(|j| cofactor(graph, m, 0, j)).collect();
            graph.dot(&first, &others)
        }
    }
}

fn inverse(graph: &mut Graph, m: &Matrix) -> Matrix {
    let determinant = determinant(graph, m);
    Matrix::new(m.rows, m.rows, |i, j| {
        let adjugate = match (m.rows, i == j) {
            (1, _) => graph.constant(1.0),
            (2, true) => m.at(1 - i, 1 - j),
            (2, false) => graph.negate(m.at(i, j)),
            _ => cofactor(graph, m, j, i),
        };
        graph.arithmetic(Divide, adjugate, determinant)
    })
}
