//! Values that miss their constraint by rounding only. `CmdStan` writes six to nine digits, so that a simplex in a file
//! sums to one up to 10⁻⁶ or so, where Stan itself allows 10⁻⁸.

use crust_math::transforms::{Problem, TransformError};

/// How far a value may be off, relative to its size: ten times what four digits do.
const ROUNDING: f64 = 1e-4;
/// Half a unit of the sixth digit: how far apart numbers may be that are written alike.
const DIGIT: f64 = 5e-7;

/// Moves a value, whose last index runs fastest, to where its constraint is satisfied. `false` if it is too far from
/// there, or nobody knows how.
pub(super) fn project(error: &TransformError, sizes: &[usize], values: &mut [f64]) -> bool {
    let before = values.to_vec();
    let last = sizes.last().copied().unwrap_or(1).max(1);
    let rows = sizes.len().checked_sub(2).map_or(1, |d| sizes[d]).max(1);
    match error.declared {
        "simplex" | "row_stochastic_matrix" => values.chunks_exact_mut(last).for_each(sum_to_one),
        "column_stochastic_matrix" => {
            for matrix in values.chunks_exact_mut(rows * last) {
                transposed(matrix, rows, last, sum_to_one);
            }
        }
        "unit_vector" => values.chunks_exact_mut(last).for_each(unit_length),
        "sum_to_zero_vector" => values.chunks_exact_mut(last).for_each(sum_to_zero),
        "sum_to_zero_matrix" => {
            for matrix in values.chunks_exact_mut(rows * last) {
                matrix.chunks_exact_mut(last).for_each(sum_to_zero);
                transposed(matrix, rows, last, sum_to_zero);
            }
        }
        "ordered" | "positive_ordered" => values.chunks_exact_mut(last).for_each(increase),
        "cholesky_factor_corr" | "cholesky_factor_cov" => {
            for factor in values.chunks_exact_mut(rows * last) {
                for (row, numbers) in factor.chunks_exact_mut(last).enumerate() {
                    numbers.iter_mut().skip(row + 1).for_each(|x| *x = 0.0);
                    if error.declared == "cholesky_factor_corr" {
                        unit_length(numbers);
                    }
                }
            }
        }
        "corr_matrix" | "cov_matrix" => {
            for matrix in values.chunks_exact_mut(last * last) {
                mirror(matrix, last, error.declared == "corr_matrix");
            }
        }
        _ => return beside_bound(error.problem, values),
    }
    // What sums to zero is as large as its numbers, not as its sum.
    let size = before.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= ROUNDING * size;
    before.iter().zip(&*values).all(near) && before != *values
}

/// A number on the wrong side of its bound, which was rounded as well.
fn beside_bound(problem: Problem, values: &mut [f64]) -> bool {
    let (element, bound, inwards) = match problem {
        Problem::BelowLower { element, lower, .. } => (element, lower, 1.0),
        Problem::AboveUpper { element, upper, .. } => (element, upper, -1.0),
        _ => return false,
    };
    let Some(value) = element.checked_sub(1).and_then(|i| values.get_mut(i)) else { return false };
    let near = (*value - bound).abs() <= ROUNDING * bound.abs();
    if near {
        *value = bound + inwards * DIGIT * bound.abs();
    }
    near
}

fn sum_to_one(values: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|x| *x /= sum);
}

fn unit_length(values: &mut [f64]) {
    let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    values.iter_mut().for_each(|x| *x /= length);
}

fn sum_to_zero(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / float(values.len());
    values.iter_mut().for_each(|x| *x -= mean);
}

/// Numbers that are written alike go up by half a digit.
fn increase(values: &mut [f64]) {
    for i in 1..values.len() {
        let least = values[i - 1] + DIGIT * values[i - 1].abs().max(f64::MIN_POSITIVE);
        values[i] = values[i].max(least);
    }
}

/// Does something with each column of a matrix that lies row by row.
fn transposed(matrix: &mut [f64], rows: usize, columns: usize, each: fn(&mut [f64])) {
    for column in 0..columns {
        let mut numbers: Vec<f64> = (0..rows).map(|row| matrix[row * columns + column]).collect();
        each(&mut numbers);
        (0..rows).for_each(|row| matrix[row * columns + column] = numbers[row]);
    }
}

/// Both triangles alike, and ones on the diagonal if it is that of correlations.
fn mirror(matrix: &mut [f64], size: usize, ones: bool) {
    for i in 0..size {
        for j in 0..i {
            let mean = 0.5 * (matrix[i * size + j] + matrix[j * size + i]);
            (matrix[i * size + j], matrix[j * size + i]) = (mean, mean);
        }
        if ones {
            matrix[i * size + i] = 1.0;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of vectors")]
fn float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(declared: &'static str, sizes: &[usize], values: &[f64]) -> Option<Vec<f64>> {
        let error = TransformError { lane: 0, declared, problem: Problem::NoElements };
        let mut values = values.to_vec();
        project(&error, sizes, &mut values).then_some(values)
    }

    #[test]
    fn what_was_rounded_is_moved_and_what_is_wrong_is_not() {
        let third = projected("simplex", &[2, 3], &[0.333_333, 0.333_333, 0.333_333, 0.2, 0.3, 0.500_001]).unwrap();
        assert!(third.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-15));
        assert_eq!(projected("simplex", &[3], &[0.3, 0.3, 0.3]), None);
        let zero = projected("sum_to_zero_vector", &[3], &[1.000_01, -0.5, -0.5]).unwrap();
        assert!(zero.iter().sum::<f64>().abs() < 1e-15);
        let both = projected("sum_to_zero_matrix", &[2, 2], &[1.0, -1.0, -1.0, 1.000_01]).unwrap();
        assert!((both[0] + both[1]).abs() < 1e-15 && (both[1] + both[3]).abs() < 1e-15);
        let columns = projected("column_stochastic_matrix", &[2, 2], &[0.3, 0.6, 0.700_01, 0.4]).unwrap();
        assert!((columns[0] + columns[2] - 1.0).abs() < 1e-15 && columns[1].to_bits() == 0.6_f64.to_bits());
        let factor = projected("cholesky_factor_corr", &[2, 2], &[1.0, 0.0, 0.6, 0.800_01]).unwrap();
        assert!((factor[2].hypot(factor[3]) - 1.0).abs() < 1e-15);
        let matrix = projected("corr_matrix", &[2, 2], &[0.999_999, 0.5, 0.500_001, 1.0]).unwrap();
        assert_eq!((matrix[0].to_bits(), matrix[1].to_bits()), (1.0_f64.to_bits(), matrix[2].to_bits()));
        let ordered = projected("ordered", &[2], &[1.0, 1.0]).unwrap();
        assert!(ordered[1] > 1.0);
        assert_eq!(projected("ordered", &[2], &[1.0, 0.9]), None);
    }

    #[test]
    fn bounds_are_rounded_like_values() {
        let beside = |value: f64, lower: f64| {
            let problem = Problem::BelowLower { element: 1, value, lower };
            let mut values = [value];
            project(&TransformError { lane: 0, declared: "<lower>", problem }, &[], &mut values).then_some(values[0])
        };
        assert!(beside(0.123_456, 0.123_456_7).is_some_and(|x| x > 0.123_456_7));
        assert_eq!((beside(-1.0, 0.0), beside(-1e-9, 0.0), beside(1.0, 1.1)), (None, None, None));
    }
}
