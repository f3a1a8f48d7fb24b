//! Tensors of numbers, in row-major order.

use crate::error::{Run, fail};
use crust_math::linalg::cholesky::rows;
use crust_math::linalg::vectors::dot_in_order;

#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub dims: Vec<usize>,
    pub data: Vec<f64>,
}

impl Tensor {
    pub fn new(dims: Vec<usize>, data: Vec<f64>) -> Self {
        debug_assert_eq!(dims.iter().product::<usize>(), data.len());
        Self { dims, data }
    }

    pub fn fill(dims: &[usize], value: f64) -> Self {
        Self { dims: dims.to_vec(), data: vec![value; dims.iter().product()] }
    }

    pub fn vector(data: Vec<f64>) -> Self {
        Self { dims: vec![data.len(), 1], data }
    }

    pub fn len(&self) -> usize {
        self.data.len()
    }

    pub fn is_matrix(&self) -> bool {
        self.dims.len() == 2
    }

    pub fn is_vector(&self) -> bool {
        self.dims.len() == 2 && self.dims[1] == 1
    }

    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { dims: self.dims.clone(), data: self.data.iter().map(|x| f(*x)).collect() }
    }

    pub fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let data = self.data.iter().zip(&other.data).map(|(x, y)| f(*x, *y)).collect();
        Self { dims: self.dims.clone(), data }
    }

    fn square(&self, what: &str) -> Run<usize> {
        match self.dims[..] {
            [n, m] if n == m => Ok(n),
            _ => fail(format!("{what} needs a square matrix, but the dims are {:?}", self.dims)),
        }
    }

    pub fn transpose(&self) -> Run<Self> {
        let [n, m] = self.dims[..] else { return fail("transpose needs a matrix") };
        let mut data = Vec::with_capacity(n * m);
        for j in 0..m {
            data.extend((0..n).map(|i| self.data[i * m + j]));
        }
        Ok(Self::new(vec![m, n], data))
    }

    pub fn dot(&self, other: &Self) -> Run<Self> {
        let ([n, k], [k2, m]) = (&self.dims[..], &other.dims[..]) else { return fail("dot needs two matrices") };
        if k != k2 {
            return fail(format!("dot: a matrix of {n} x {k} does not fit one of {k2} x {m}"));
        }
        let mut data = vec![0.0; n * m];
        for i in 0..*n {
            for l in 0..*k {
                let x = self.data[i * k + l];
                for j in 0..*m {
                    data[i * m + j] += x * other.data[l * m + j];
                }
            }
        }
        Ok(Self::new(vec![*n, *m], data))
    }

    /// LU with partial pivoting: the factors in one matrix, the rows' order, the sign of the permutation.
    fn lu(&self, what: &str) -> Run<(Vec<f64>, Vec<usize>, f64)> {
        let n = self.square(what)?;
        let mut a = self.data.clone();
        let mut rows: Vec<usize> = (0..n).collect();
        let mut sign = 1.0;
        for k in 0..n {
            let p = (k..n).max_by(|i, j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
            if p != k {
                for j in 0..n {
                    a.swap(k * n + j, p * n + j);
                }
                rows.swap(k, p);
                sign = -sign;
            }
            let pivot = a[k * n + k];
            if pivot == 0.0 {
                continue;
            }
            for i in k + 1..n {
                let f = a[i * n + k] / pivot;
                a[i * n + k] = f;
                for j in k + 1..n {
                    a[i * n + j] -= f * a[k * n + j];
                }
            }
        }
        Ok((a, rows, sign))
    }

    pub fn determinant(&self) -> Run<f64> {
        let (a, _, sign) = self.lu("determinant")?;
        let n = self.dims[0];
        Ok((0..n).map(|i| a[i * n + i]).product::<f64>() * sign)
    }

    pub fn inverse(&self) -> Run<Self> {
        let (a, rows, _) = self.lu("inverse")?;
        let n = self.dims[0];
        let mut out = vec![0.0; n * n];
        for (column, row) in rows.iter().enumerate() {
            let mut x = vec![0.0; n];
            x[column] = 1.0;
            for i in 0..n {
                for j in 0..i {
                    x[i] -= a[i * n + j] * x[j];
                }
            }
            for i in (0..n).rev() {
                for j in i + 1..n {
                    x[i] -= a[i * n + j] * x[j];
                }
                x[i] /= a[i * n + i];
            }
            for i in 0..n {
                out[i * n + row] = x[i];
            }
        }
        Ok(Self::new(vec![n, n], out))
    }

    /// The lower Cholesky factor. Not positive definite: an error.
    pub fn cholesky(&self) -> Run<Self> {
        let n = self.square("cholesky")?;
        let Ok(l) = rows::lower(n, &self.data, |a, x, y| a - dot_in_order(x, y)) else {
            return fail("cholesky: the matrix is not positive definite");
        };
        Ok(Self::new(vec![n, n], l))
    }
}
