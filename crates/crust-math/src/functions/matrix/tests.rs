//! Tests of the matrix functions, with what they share: random arguments and calls with exactly the memory that is
//! asked for.

mod derivatives;
mod errors;
mod identities;

use super::super::{Argument, Shape, VectorFunction};
use super::ALL;
use crate::density::DomainError;
use crate::random::{Purpose, Stream, StreamKey};

fn stream(seed: u64) -> Stream {
    StreamKey::new(seed, Purpose(0)).stream()
}

fn function(name: &str) -> &'static dyn VectorFunction {
    ALL.iter().find(|function| function.name() == name).copied().unwrap_or_else(|| panic!("no function {name}"))
}

/// A value of an argument.
#[derive(Clone, Debug)]
struct Value {
    numbers: Vec<f64>,
    shape: Shape,
}

impl Value {
    fn new(shape: Shape, numbers: &[f64]) -> Self {
        assert_eq!(shape.len(), numbers.len());
        Self { numbers: numbers.to_vec(), shape }
    }

    /// A matrix from its rows.
    fn matrix<const N: usize>(rows: &[[f64; N]]) -> Self {
        let numbers = (0..N).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
        Self { numbers, shape: Shape::matrix(rows.len(), N) }
    }

    fn scalar(x: f64) -> Self {
        Self::new(Shape::SCALAR, &[x])
    }

    fn integers(numbers: &[f64]) -> Self {
        Self::new(Shape::array(&[numbers.len()]), numbers)
    }

    fn random(shape: Shape, rng: &mut Stream) -> Self {
        Self { numbers: (0..shape.len()).map(|_| 2.0 * rng.uniform() - 1.0).collect(), shape }
    }

    fn random_matrix(rows: usize, columns: usize, rng: &mut Stream) -> Self {
        Self::random(Shape::matrix(rows, columns), rng)
    }

    /// Symmetric, with eigenvalues of at least 1.
    fn random_spd(n: usize, rng: &mut Stream) -> Self {
        let a = Self::random_matrix(n, n, rng);
        let mut product = a.times(&a.transposed());
        product.numbers.iter_mut().step_by(n + 1).for_each(|x| *x += 1.0);
        product
    }

    /// Lower triangular, with a diagonal away from 0.
    fn random_lower(n: usize, rng: &mut Stream) -> Self {
        let mut a = Self::random_matrix(n, n, rng);
        for j in 0..n {
            a.numbers[j * n..j * n + j].fill(0.0);
            a.numbers[j * (n + 1)] += 2.0;
        }
        a
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.numbers[i + j * self.shape.rows()]
    }

    fn from_fn(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let numbers = (0..rows * columns).map(|k| f(k % rows, k / rows)).collect();
        Self { numbers, shape: Shape::matrix(rows, columns) }
    }

    fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))
    }

    fn transposed(&self) -> Self {
        Self::from_fn(self.shape.columns(), self.shape.rows(), |i, j| self.at(j, i))
    }

    /// The product, in the most simple way.
    fn times(&self, other: &Self) -> Self {
        let depth = self.shape.columns();
        assert_eq!(depth, other.shape.rows());
        Self::from_fn(self.shape.rows(), other.shape.columns(), |i, j| {
            (0..depth).map(|k| self.at(i, k) * other.at(k, j)).sum()
        })
    }

    fn argument(&self) -> Argument<'_> {
        Argument { numbers: &self.numbers, shape: self.shape }
    }

    #[track_caller]
    fn assert_near(&self, other: &Self, tolerance: f64) {
        assert_eq!((self.shape.rows(), self.shape.columns()), (other.shape.rows(), other.shape.columns()));
        for (k, (x, y)) in self.numbers.iter().zip(&other.numbers).enumerate() {
            let error = (x - y).abs();
            assert!(error <= tolerance * (1.0 + y.abs()), "element {k}: {x} instead of {y}");
        }
    }
}

/// Calls the function with memory of exactly the wanted size, full of NaN.
fn call(name: &str, arguments: &[&Value]) -> Result<Value, DomainError> {
    let function = function(name);
    let list: Vec<Argument> = arguments.iter().map(|value| value.argument()).collect();
    let shapes: Vec<Shape> = arguments.iter().map(|value| value.shape).collect();
    let shape = function.shape(&list).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut out = vec![f64::NAN; shape.len()];
    let mut scratch = vec![f64::NAN; function.scratch(&shapes)];
    function.value(&list, &mut out, &mut scratch)?;
    Ok(Value { numbers: out, shape })
}

#[track_caller]
fn value(name: &str, arguments: &[&Value]) -> Value {
    call(name, arguments).unwrap_or_else(|error| panic!("{error}"))
}
