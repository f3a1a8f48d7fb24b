//! Linear algebra, as far as it is needed before the run.

use super::{Args, Function, plain};
use crate::ast::BinaryOp;
use crate::eval::operators::{
    Answer, Dense, as_matrix, binary, cholesky, complexes, determinant, inverse, multiply, solve_left, transpose,
};
use crate::eval::{Failure, fail};
use crate::value::{Cell, Complex, Tensor, Value};

pub(super) const TABLE: &[Function] = &[
    plain("dot_product", |a| dot(a, 0, 1)),
    plain("dot_self", |a| dot(a, 0, 0)),
    plain("distance", |a| Ok(Value::Real(squared_distance(a)?.sqrt()))),
    plain("squared_distance", |a| Ok(Value::Real(squared_distance(a)?))),
    plain("rows_dot_product", |a| Ok(Value::vector(lines_dot(a, 1, true)?))),
    plain("rows_dot_self", |a| Ok(Value::vector(lines_dot(a, 0, true)?))),
    plain("columns_dot_product", |a| Ok(Value::row_vector(lines_dot(a, 1, false)?))),
    plain("columns_dot_self", |a| Ok(Value::row_vector(lines_dot(a, 0, false)?))),
    plain("crossprod", |a| multiply(&transpose(a.get(0)?)?, a.get(0)?)),
    plain("tcrossprod", |a| multiply(a.get(0)?, &transpose(a.get(0)?)?)),
    plain("quad_form", |a| multiply(&multiply(&transpose(a.get(1)?)?, a.get(0)?)?, a.get(1)?)),
    plain("quad_form_diag", |a| diag_times(a, a.get(0)?, Some(a.get(1)?), Some(a.get(1)?))),
    plain("diag_pre_multiply", |a| diag_times(a, a.get(1)?, Some(a.get(0)?), None)),
    plain("diag_post_multiply", |a| diag_times(a, a.get(0)?, None, Some(a.get(1)?))),
    plain("trace", |a| {
        let m = as_matrix(a.get(0)?)?;
        Ok(Value::Real((0..m.rows.min(m.cols)).map(|i| m.at(i, i)).sum()))
    }),
    plain("diagonal", |a| {
        let m = as_matrix(a.get(0)?)?;
        Ok(Value::vector((0..m.rows.min(m.cols)).map(|i| m.at(i, i)).collect()))
    }),
    plain("diag_matrix", |a| {
        let v = as_matrix(a.get(0)?)?.numbers;
        let n = v.len();
        let mut numbers = vec![0.0; a.room(&[n, n])?];
        v.iter().enumerate().for_each(|(i, x)| numbers[i * n + i] = *x);
        Ok(Value::matrix(n, n, numbers))
    }),
    plain("add_diag", add_diag),
    plain("symmetrize_from_lower_tri", |a| {
        let m = square(a)?;
        let n = m.rows;
        let numbers = (0..n * n).map(|k| m.at((k % n).max(k / n), (k % n).min(k / n))).collect();
        Ok(Value::matrix(n, n, numbers))
    }),
    plain("cholesky_decompose", cholesky_decompose),
    plain("inverse", |a| {
        square(a)?;
        inverse(a.get(0)?)
    }),
    plain("determinant", |a| Ok(Value::Real(determinant(a.get(0)?)?.0))),
    plain("log_determinant", |a| Ok(Value::Real(determinant(a.get(0)?)?.1))),
    plain("mdivide_left", |a| solve_left(a.get(0)?, a.get(1)?)),
    plain("mdivide_right", |a| binary(BinaryOp::Divide, a.get(0)?, a.get(1)?)),
    plain("matrix_power", matrix_power),
    plain("csr_extract_w", |a| Ok(Value::vector(sparse(a)?.weights))),
    plain("csr_extract_v", |a| Ok(Value::int_array(sparse(a)?.columns))),
    plain("csr_extract_u", |a| Ok(Value::int_array(sparse(a)?.starts))),
    plain("csr_extract", |a| {
        let s = sparse(a)?;
        Ok(Value::tuple(vec![Value::vector(s.weights), Value::int_array(s.columns), Value::int_array(s.starts)]))
    }),
    plain("csr_to_dense_matrix", csr_to_dense),
];

fn square(a: &Args) -> Result<Dense, Failure> {
    let m = as_matrix(a.get(0)?)?;
    if m.rows == m.cols {
        Ok(m)
    } else {
        a.error("size-mismatch", &format!("a square matrix is expected, found {} by {}", m.rows, m.cols))
    }
}

fn dot(a: &Args, i: usize, j: usize) -> Answer {
    let (x, y) = (a.tensor(i)?, a.tensor(j)?);
    if x.scalars() != y.scalars() {
        let message = format!("the sizes do not match: {} and {}", x.shape(), y.shape());
        return a.error("size-mismatch", &message);
    }
    let complex = x.cell.is_complex() || y.cell.is_complex();
    if complex {
        return Err(Failure::Lacking(format!("`{}` of complex numbers is not computed before the run", a.name)));
    }
    let sum = complexes(x).into_iter().zip(complexes(y)).fold(Complex::default(), |sum, (x, y)| sum + x * y);
    Ok(Value::Real(sum.re))
}

fn squared_distance(a: &Args) -> Result<f64, Failure> {
    let (x, y) = (a.get(0)?, a.get(1)?);
    match (x.to_reals(), y.to_reals()) {
        (Some(x), Some(y)) if x.len() == y.len() => Ok(x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum()),
        _ => a.error("size-mismatch", "the arguments differ in size"),
    }
}

/// The products of each row (or column) of one matrix with that of the other.
fn lines_dot(a: &Args, other: usize, rows: bool) -> Result<Vec<f64>, Failure> {
    let (x, y) = (as_matrix(a.get(0)?)?, as_matrix(a.get(other)?)?);
    if (x.rows, x.cols) != (y.rows, y.cols) {
        return a.error("size-mismatch", "the arguments differ in size");
    }
    let mut sums = vec![0.0; if rows { x.rows } else { x.cols }];
    for c in 0..x.cols {
        for r in 0..x.rows {
            sums[if rows { r } else { c }] += x.at(r, c) * y.at(r, c);
        }
    }
    Ok(sums)
}

/// diag(left) · m · diag(right)
fn diag_times(a: &Args, m: &Value, left: Option<&Value>, right: Option<&Value>) -> Answer {
    let mut m = as_matrix(m)?;
    let line = |v: Option<&Value>, n: usize| match v {
        None => Ok(vec![1.0; n]),
        Some(v) => match as_matrix(v)?.numbers {
            numbers if numbers.len() == n => Ok(numbers),
            numbers => a.error("size-mismatch", &format!("{} diagonal elements for {n} lines", numbers.len())),
        },
    };
    let (left, right) = (line(left, m.rows)?, line(right, m.cols)?);
    for (c, factor) in right.iter().enumerate() {
        for (r, other) in left.iter().enumerate() {
            m.numbers[c * m.rows + r] *= factor * other;
        }
    }
    Ok(Value::matrix(m.rows, m.cols, m.numbers))
}

fn add_diag(a: &Args) -> Answer {
    let mut m = as_matrix(a.get(0)?)?;
    let n = m.rows.min(m.cols);
    let add = match a.get(1)? {
        Value::Tensor(t) => t.numbers.to_reals(),
        _ => vec![a.real(1)?; n],
    };
    if add.len() != n {
        return a.error("size-mismatch", &format!("the diagonal has {n} elements, not {}", add.len()));
    }
    add.iter().enumerate().for_each(|(i, x)| m.numbers[i * m.rows + i] += x);
    Ok(Value::matrix(m.rows, m.cols, m.numbers))
}

fn cholesky_decompose(a: &Args) -> Answer {
    let m = square(a)?;
    let n = m.rows;
    let symmetric = (0..n).all(|i| (0..i).all(|j| (m.at(i, j) - m.at(j, i)).abs() <= 1e-8));
    match cholesky(&m) {
        Some(factor) if symmetric => Ok(Value::matrix(n, n, factor.numbers)),
        _ => a.error("out-of-domain", "the matrix is not symmetric and positive definite"),
    }
}

fn matrix_power(a: &Args) -> Answer {
    let (n, mut power) = (square(a)?.rows, a.size(1)?);
    let mut base = a.get(0)?.clone();
    let mut identity = vec![0.0; n * n];
    (0..n).for_each(|i| identity[i * n + i] = 1.0);
    let mut result = Value::matrix(n, n, identity);
    while power > 0 {
        if power % 2 == 1 {
            result = multiply(&result, &base)?;
        }
        power /= 2;
        base = multiply(&base, &base)?;
    }
    Ok(result)
}

/// A matrix in compressed sparse row form, counted from one.
struct Sparse {
    weights: Vec<f64>,
    columns: Vec<i32>,
    starts: Vec<i32>,
}

fn sparse(a: &Args) -> Result<Sparse, Failure> {
    let m = as_matrix(a.get(0)?)?;
    let place = |n: usize| i32::try_from(n + 1).or_else(|_| a.error("too-large", "too many elements"));
    let mut sparse = Sparse { weights: Vec::new(), columns: Vec::new(), starts: vec![1] };
    for r in 0..m.rows {
        for c in 0..m.cols {
            if m.at(r, c) != 0.0 {
                sparse.weights.push(m.at(r, c));
                sparse.columns.push(place(c)?);
            }
        }
        sparse.starts.push(place(sparse.weights.len())?);
    }
    Ok(sparse)
}

fn csr_to_dense(a: &Args) -> Answer {
    let (rows, cols) = (a.size(0)?, a.size(1)?);
    let weights = a.reals(2)?;
    let (Some(columns), Some(starts)) = (a.get(3)?.to_ints(), a.get(4)?.to_ints()) else {
        return a.error("argument-type", "integers are expected");
    };
    let mut numbers = vec![0.0; a.room(&[rows, cols])?];
    if starts.len() != rows + 1 || columns.len() != weights.len() {
        return a.error("size-mismatch", "the parts of the sparse matrix do not fit together");
    }
    let bad = || fail("index-out-of-range", "`csr_to_dense_matrix`: an index is out of range");
    for r in 0..rows {
        let start = |r: usize| usize::try_from(i64::from(starts[r]) - 1);
        let (Ok(from), Ok(to)) = (start(r), start(r + 1)) else { return bad() };
        for k in from..to {
            match (columns.get(k).map(|&c| usize::try_from(c)), weights.get(k)) {
                (Some(Ok(c)), Some(&w)) if (1..=cols).contains(&c) => numbers[(c - 1) * rows + r] = w,
                _ => return bad(),
            }
        }
    }
    Ok(Tensor::reals(Vec::new(), Cell::Matrix(rows, cols), numbers).into())
}
