//! Tensors of numbers, in row-major order.

use crate::error::{Run, fail};
use crust_math::linalg::cholesky::rows;
use crust_math::linalg::lu;
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

    /// The determinant of the transpose, which is the same: the library has matrices by columns.
    pub fn determinant(&self) -> Run<f64> {
        let n = self.square("determinant")?;
        Ok(lu::decompose(&self.data, n, &mut vec![0.0; lu::scratch(n)]).determinant())
    }

    /// By columns the transpose of this is inverted, and by rows again the result is that of this. A singular matrix
    /// gives infinite or undefined numbers, as in JavaScript.
    pub fn inverse(&self) -> Run<Self> {
        let n = self.square("inverse")?;
        let mut out = vec![0.0; n * n];
        lu::decompose(&self.data, n, &mut vec![0.0; lu::scratch(n)]).inverse(&mut out);
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
