//! Generalised linear models with categories: `categorical_logit_glm` and `ordered_logistic_glm`.
//!
//! A row vector of predictors stands for all outcomes, a matrix has one row for each.

use super::categories::integer;
use super::layout::{Containers, Memory, category, count, element, same, shapes};
use crate::density::{Domain, DomainError, Terms};
use crate::distributions::discrete::ordered_logistic_lpmf;
use crate::functions::{Argument, Cell, Shape, ShapeError, VectorDensity};
use crate::linalg::vectors::{add_scaled, dot};

/// How many outcomes there are; an error if they do not fit the predictors. One outcome may stand for all rows.
fn check_outcomes(y: &Shape, x: &Shape) -> Result<(), ShapeError> {
    if !matches!(x.cell(), Cell::RowVector | Cell::Matrix) || x.array_rank() > 0 {
        return Err(ShapeError::Kind {
            name: "predictors",
            verb: "are",
            shape: *x,
            must_be: "a matrix or a row vector",
        });
    }
    if x.cell() == Cell::RowVector || y.is_scalar() {
        return Ok(());
    }
    same("the number of outcomes", y.len(), "the number of rows of the predictors", x.rows())
}

fn outcomes(y: &Shape, x: &Shape) -> usize {
    if x.cell() == Cell::RowVector { y.len() } else { x.rows() }
}

/// The row of predictors for outcome `i`.
fn row(x: &Shape, i: usize) -> usize {
    if x.cell() == Cell::RowVector { 0 } else { i }
}

/// out += X b
fn add_predictions(x: &Argument, b: &[f64], out: &mut [f64]) {
    let rows = x.shape.rows();
    x.numbers.chunks_exact(rows).zip(b).for_each(|(column, b)| add_scaled(out, *b, column));
}

/// Adds the derivatives of X b, given that for its result.
fn add_slopes(x: &Argument, b: &[f64], result: &[f64], d_x: &mut [f64], d_b: &mut [f64]) {
    let rows = x.shape.rows();
    d_x.chunks_exact_mut(rows).zip(b).for_each(|(column, b)| add_scaled(column, *b, result));
    d_b.iter_mut().zip(x.numbers.chunks_exact(rows)).for_each(|(d, column)| *d += dot(column, result));
}

/// Arguments y, X, α, B: the categorical distribution with logits X B + α.
#[derive(Debug)]
pub(super) struct CategoricalGlm;

impl VectorDensity for CategoricalGlm {
    fn name(&self) -> &'static str {
        "categorical_logit_glm_lpmf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [y, x, alpha, beta] = shapes(arguments)?;
        check_outcomes(&y, &x)?;
        let classes = "the number of columns of the weights";
        same("the size of the intercept vector", alpha.len(), classes, beta.columns())?;
        same("the number of columns of the predictors", x.columns(), "that of rows of the weights", beta.rows())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        2 * arguments[1].rows() * arguments[3].columns()
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let [y, x, alpha, beta] = [0, 1, 2, 3].map(|i| &arguments[i]);
        let (rows, attributes, classes) = (x.shape.rows(), beta.shape.rows(), beta.shape.columns());
        let n = outcomes(&y.shape, &x.shape);
        if n == 0 || y.shape.is_empty() || classes <= 1 {
            return Ok(0.0);
        }
        y.numbers.iter().try_for_each(|&y| category(domain, "categorical outcome", y, classes).map(|_| ()))?;
        if !terms.keep(0b1110) {
            return Ok(0.0);
        }
        let mut memory = Memory(scratch);
        let (logits, slopes) = (memory.take(rows * classes), memory.zeros(rows * classes));
        for (k, out) in logits.chunks_exact_mut(rows).enumerate() {
            out.fill(alpha.numbers[k]);
            add_predictions(x, &beta.numbers[k * attributes..(k + 1) * attributes], out);
        }
        let mut value = 0.0;
        for i in 0..n {
            let class = category(domain, "categorical outcome", y.numbers[element(&y.shape, i)], classes)?;
            slopes[class * rows + row(&x.shape, i)] += 1.0;
        }
        for i in 0..rows {
            value += softmax_row(i, rows, logits, slopes, count(n / rows));
        }
        if !value.is_finite() {
            domain.all_finite("Weight vector", beta.numbers)?;
            domain.all_finite("Intercept", alpha.numbers)?;
            domain.all_finite("Matrix of independent variables", x.numbers)?;
        }
        slopes.iter_mut().for_each(|s| *s *= seed);
        let [_, d_x, d_alpha, d_beta] = adjoints else { return Ok(value) };
        for (k, slopes) in slopes.chunks_exact(rows).enumerate() {
            if !d_alpha.is_empty() {
                d_alpha[k] += slopes.iter().sum::<f64>();
            }
            let columns = k * attributes..(k + 1) * attributes;
            let d_b = if d_beta.is_empty() { &mut [][..] } else { &mut d_beta[columns.clone()] };
            add_slopes(x, &beta.numbers[columns], slopes, d_x, d_b);
        }
        Ok(value)
    }
}

/// One row of predictors with `n` outcomes, whose counts for each class are in `slopes`: the log probability, and in
/// `slopes` the derivatives for the logits, counts − n softmax.
fn softmax_row(i: usize, rows: usize, logits: &[f64], slopes: &mut [f64], n: f64) -> f64 {
    let row = || logits[i..].iter().step_by(rows);
    let top = row().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row().map(|z| (z - top).exp()).sum();
    let mut value = -n * sum.ln();
    for (slope, z) in slopes[i..].iter_mut().step_by(rows).zip(row()) {
        value += *slope * (z - top);
        *slope -= n * (z - top).exp() / sum;
    }
    value
}

/// Arguments y, X, β, cutpoints: the ordered logistic distribution with location X β.
#[derive(Debug)]
pub(super) struct OrderedGlm;

impl VectorDensity for OrderedGlm {
    fn name(&self) -> &'static str {
        "ordered_logistic_glm_lpmf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [y, x, beta, _] = shapes(arguments)?;
        check_outcomes(&y, &x)?;
        same("the number of columns of the predictors", x.columns(), "the size of the weights", beta.len())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        2 * arguments[1].rows() + arguments[3].len()
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let [y, x, beta, cuts] = [0, 1, 2, 3].map(|i| &arguments[i]);
        let (rows, n) = (x.shape.rows(), outcomes(&y.shape, &x.shape));
        if n == 0 || y.shape.is_empty() || cuts.numbers.is_empty() {
            return Ok(0.0);
        }
        let mut memory = Memory(scratch);
        let (locations, slopes) = (memory.zeros(rows), memory.zeros(rows));
        let d_cuts = memory.take(cuts.numbers.len());
        add_predictions(x, beta.numbers, locations);
        if locations.iter().any(|l| !l.is_finite()) {
            domain.all_finite("Weight vector", beta.numbers)?;
            domain.all_finite("Matrix of independent variables", x.numbers)?;
        }
        let mut value = 0.0;
        for i in 0..n {
            let outcome = integer(y.numbers[element(&y.shape, i)]);
            let at = row(&x.shape, i);
            // the mask of the three arguments moves to the two of the distribution
            let all = if terms.keep(0b1110) { Terms::ALL } else { terms };
            let one = ordered_logistic_lpmf(outcome, locations[at], cuts.numbers, all, d_cuts)
                .map_err(|error| DomainError { function: domain.0, ..error })?;
            value += one.value;
            slopes[at] += seed * one.d[1];
            if !adjoints[3].is_empty() {
                add_scaled(adjoints[3], seed, d_cuts);
            }
        }
        if !terms.keep(0b1110) {
            return Ok(0.0);
        }
        let [_, d_x, d_beta, _] = adjoints else { return Ok(value) };
        add_slopes(x, beta.numbers, slopes, d_x, d_beta);
        Ok(value)
    }
}
