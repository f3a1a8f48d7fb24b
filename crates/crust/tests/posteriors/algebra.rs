//! A little exact mathematics: inverses of small matrices, the gamma function at halves, mixtures.

use crate::Truth;

pub type Matrix = Vec<Vec<f64>>;

/// Inverse by Gauss–Jordan elimination with pivots.
pub fn inverse(matrix: &Matrix) -> Matrix {
    let n = matrix.len();
    let identity = |i: usize| (0..n).map(move |j| f64::from(u8::from(i == j)));
    let mut rows: Matrix =
        matrix.iter().enumerate().map(|(i, row)| row.iter().copied().chain(identity(i)).collect()).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        rows.swap(column, pivot.expect("a row"));
        let scale = rows[column][column];
        rows[column].iter_mut().for_each(|x| *x /= scale);
        let chosen = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column];
            row.iter_mut().zip(&chosen).for_each(|(x, c)| *x -= factor * c);
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

pub fn apply(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

/// Mean and covariance of a normal with log density −½ xᵀPx + hᵀx.
pub fn normal_from_precision(precision: &Matrix, h: &[f64]) -> (Vec<f64>, Matrix) {
    let covariance = inverse(precision);
    (apply(&covariance, h), covariance)
}

/// The elements of a normal vector, as `name[1]`, `name[2]` …
pub fn elements(name: &str, (mean, covariance): &(Vec<f64>, Matrix)) -> Vec<Truth> {
    let element = |i: usize| Truth::new(&format!("{name}[{}]", i + 1), mean[i], covariance[i][i].sqrt());
    (0..mean.len()).map(element).collect()
}

/// Γ(n/2).
pub fn gamma_of_half(n: u32) -> f64 {
    match n {
        0 => f64::INFINITY,
        1 => std::f64::consts::PI.sqrt(),
        2 => 1.0,
        _ => (f64::from(n) / 2.0 - 1.0) * gamma_of_half(n - 2),
    }
}

/// log Γ(n) = log (n − 1)!
pub fn log_gamma(n: u32) -> f64 {
    (2..n).map(|k| f64::from(k).ln()).sum()
}

/// A part of a mixture: the log of its weight (up to a constant of all parts), its mean and its variance.
pub struct Part {
    pub log_weight: f64,
    pub mean: f64,
    pub variance: f64,
}

/// Mean and standard deviation of a mixture, by the laws of total mean and variance.
pub fn mixture(name: &str, parts: &[Part]) -> Truth {
    let top = parts.iter().map(|part| part.log_weight).fold(f64::NEG_INFINITY, f64::max);
    let weight = |part: &Part| (part.log_weight - top).exp();
    let total: f64 = parts.iter().map(weight).sum();
    let mean = parts.iter().map(|part| weight(part) * part.mean).sum::<f64>() / total;
    let square = |part: &Part| part.variance + (part.mean - mean).powi(2);
    let variance = parts.iter().map(|part| weight(part) * square(part)).sum::<f64>() / total;
    Truth::new(name, mean, variance.sqrt())
}

#[test]
fn inverses_and_gammas() {
    let matrix = vec![vec![0.0, 2.0, 1.0], vec![1.0, 1.0, 0.0], vec![3.0, 0.0, 4.0]];
    let inverse = inverse(&matrix);
    for i in 0..3 {
        let unit: Vec<f64> = (0..3).map(|j| f64::from(u8::from(i == j))).collect();
        let column: Vec<f64> = inverse.iter().map(|row| row[i]).collect();
        assert!(apply(&matrix, &column).iter().zip(&unit).all(|(a, b)| (a - b).abs() < 1e-14));
    }
    assert!((gamma_of_half(5) - 1.329_340_388_179_137).abs() < 1e-14);
    assert!((log_gamma(5) - 24.0_f64.ln()).abs() < 1e-14 && log_gamma(1).abs() < 1e-14);
}
