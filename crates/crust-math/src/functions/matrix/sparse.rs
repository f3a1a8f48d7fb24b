//! Sparse matrices in compressed rows: `w` holds the elements row by row, `v` their columns, `u` where each row starts.

use super::super::{Argument, Cell, Shape, ShapeError, VectorFunction};
use super::memory::{arity, expect, matrix};
use crate::density::DomainError;

/// Sizes and indices of a sparse matrix, whose arguments `(m, n, w, v, u)` come first.
#[derive(Clone, Copy)]
struct Rows<'a> {
    columns: &'a [f64],
    starts: &'a [f64],
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index that arrives as a number")]
fn index(x: f64) -> usize {
    x as usize
}

#[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
fn number(i: usize) -> f64 {
    i as f64
}

impl<'a> Rows<'a> {
    fn new(arguments: &[Argument<'a>]) -> Self {
        Self { columns: arguments[3].numbers, starts: arguments[4].numbers }
    }

    /// For each row, the range of its elements in `w`.
    fn rows(self) -> impl ExactSizeIterator<Item = std::ops::Range<usize>> + 'a {
        self.starts.windows(2).map(|ends| index(ends[0]) - 1..index(ends[1]) - 1)
    }

    fn column(self, k: usize) -> usize {
        index(self.columns[k]) - 1
    }
}

/// The sizes, after all that Stan checks, and that each row starts where the one before ends or later.
fn check(arguments: &[Argument]) -> Result<(usize, usize), ShapeError> {
    let [m, n, w, v, u] = [0, 1, 2, 3, 4].map(|i| arguments[i]);
    expect(m.shape, &[Cell::Scalar])?;
    expect(n.shape, &[Cell::Scalar])?;
    expect(w.shape, &[Cell::Vector])?;
    for (name, size) in [("m", m.numbers[0]), ("n", n.numbers[0])] {
        if size < 1.0 {
            return Err(ShapeError::SparseSize { name, size });
        }
    }
    let (rows, columns) = (index(m.numbers[0]), index(n.numbers[0]));
    let count = w.shape.len();
    if v.shape.len() != count {
        return Err(ShapeError::SparseElements { w: count, v: v.shape.len() });
    }
    if u.shape.len() != rows + 1 {
        return Err(ShapeError::SparseRows { needed: rows + 1, found: u.shape.len() });
    }
    if let Some(&column) = v.numbers.iter().find(|&&j| j < 1.0 || j > n.numbers[0]) {
        return Err(ShapeError::SparseColumn { column, columns });
    }
    let ends = u.numbers.first().zip(u.numbers.last());
    let ordered = u.numbers.is_sorted() && ends.is_some_and(|(&a, &b)| a >= 1.0 && index(b) == count + 1);
    if !ordered {
        return Err(ShapeError::SparseOrder { last: count + 1 });
    }
    Ok((rows, columns))
}

/// The product with a vector.
pub(super) struct CsrTimesVector;

impl VectorFunction for CsrTimesVector {
    fn name(&self) -> &'static str {
        "csr_matrix_times_vector"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [.., b] = arity::<6>(arguments)?;
        let (rows, columns) = check(arguments)?;
        expect(b.shape, &[Cell::Vector])?;
        if b.shape.len() != columns {
            return Err(ShapeError::SparseFactor { columns, found: b.shape.len() });
        }
        Ok(Shape::vector(rows))
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (w, b, sparse) = (arguments[2].numbers, arguments[5].numbers, Rows::new(arguments));
        for (out, row) in out.iter_mut().zip(sparse.rows()) {
            *out = row.map(|k| w[k] * b[sparse.column(k)]).sum();
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let (w, b, sparse) = (arguments[2].numbers, arguments[5].numbers, Rows::new(arguments));
        for (c, row) in adjoint.iter().zip(sparse.rows()) {
            for k in row {
                let j = sparse.column(k);
                if !to[2].is_empty() {
                    to[2][k] += c * b[j];
                }
                if !to[5].is_empty() {
                    to[5][j] += c * w[k];
                }
            }
        }
    }
}

/// The same matrix with all its zeros. Of elements at the same place the last one counts, as in Stan.
pub(super) struct CsrToDense;

impl VectorFunction for CsrToDense {
    fn name(&self) -> &'static str {
        "csr_to_dense_matrix"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        arity::<5>(arguments)?;
        check(arguments).map(|(rows, columns)| Shape::matrix(rows, columns))
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (w, sparse) = (arguments[2].numbers, Rows::new(arguments));
        let rows = sparse.rows().len();
        out.fill(0.0);
        for (i, row) in sparse.rows().enumerate() {
            for k in row {
                out[i + sparse.column(k) * rows] = w[k];
            }
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        let sparse = Rows::new(arguments);
        let rows = sparse.rows().len();
        if to[2].is_empty() {
            return;
        }
        for (i, row) in sparse.rows().enumerate() {
            let columns = &sparse.columns[row.clone()];
            let distinct = columns.is_sorted_by(|a, b| a < b);
            for (position, k) in row.enumerate() {
                if distinct || !columns[position + 1..].contains(&columns[position]) {
                    to[2][k] += adjoint[i + sparse.column(k) * rows];
                }
            }
        }
    }
}

/// Which part of a sparse matrix.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Part {
    W,
    V,
    U,
}

/// A part of the sparse form of a matrix. Elements that are exactly 0 are left out, so `w` and `v` are only for
/// matrices that are data.
pub(super) struct CsrExtract {
    pub name: &'static str,
    pub part: Part,
}

impl CsrExtract {
    /// The places of elements that are not 0, row by row.
    fn places(a: Argument) -> impl Iterator<Item = usize> {
        let (rows, columns) = (a.shape.rows(), a.shape.columns());
        (0..rows).flat_map(move |i| (0..columns).map(move |j| i + j * rows)).filter(move |&k| a.numbers[k] != 0.0)
    }
}

impl VectorFunction for CsrExtract {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [a] = arity(arguments)?;
        matrix(a.shape)?;
        if a.numbers.is_empty() && !a.shape.is_empty() {
            return Err(ShapeError::SparseUnknown);
        }
        Ok(match self.part {
            Part::W => Shape::vector(Self::places(a).count()),
            Part::V => Shape::array(&[Self::places(a).count()]),
            Part::U => Shape::array(&[a.shape.rows() + 1]),
        })
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let a = arguments[0];
        let rows = a.shape.rows();
        match self.part {
            Part::W => out.iter_mut().zip(Self::places(a)).for_each(|(out, k)| *out = a.numbers[k]),
            Part::V => out.iter_mut().zip(Self::places(a)).for_each(|(out, k)| *out = number(k / rows + 1)),
            Part::U => {
                out.fill(0.0);
                out[0] = 1.0;
                Self::places(a).for_each(|k| out[k % rows + 1] += 1.0);
                (1..out.len()).for_each(|i| out[i] += out[i - 1]);
            }
        }
        Ok(())
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], to: &mut [&mut [f64]], _: &mut [f64]) {
        if self.part == Part::W && !to[0].is_empty() {
            adjoint.iter().zip(Self::places(arguments[0])).for_each(|(c, k)| to[0][k] += c);
        }
    }
}
