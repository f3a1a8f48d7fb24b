//! log p(y) by formulas and by sums over fine grids.

use std::f64::consts::{PI, TAU};

pub fn log_sum_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top.is_infinite() { top } else { top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln() }
}

/// log ∫ exp f over an interval: the trapezoidal rule, exact to rounding for what vanishes smoothly at both ends.
pub fn line(f: impl Fn(f64) -> f64, (low, high): (f64, f64)) -> f64 {
    const STEPS: i32 = 40_000;
    let width = (high - low) / f64::from(STEPS);
    let values: Vec<f64> = (0..=STEPS)
        .map(|i| f(low + f64::from(i) * width) - if i == 0 || i == STEPS { std::f64::consts::LN_2 } else { 0.0 })
        .collect();
    log_sum_exp(&values) + width.ln()
}

/// The same over a rectangle.
pub fn plane(f: impl Fn(f64, f64) -> f64, first: (f64, f64), (low, high): (f64, f64)) -> f64 {
    const STEPS: i32 = 1500;
    let width = (first.1 - first.0) / f64::from(STEPS);
    let rows: Vec<f64> = (0..=STEPS)
        .map(|i| {
            let x = first.0 + f64::from(i) * width;
            let inner = (high - low) / f64::from(STEPS);
            let row: Vec<f64> = (0..=STEPS).map(|j| f(x, low + f64::from(j) * inner)).collect();
            log_sum_exp(&row) + inner.ln()
        })
        .collect();
    log_sum_exp(&rows) + width.ln()
}

pub fn normal(x: f64, mean: f64, deviation: f64) -> f64 {
    -0.5 * TAU.ln() - deviation.ln() - 0.5 * ((x - mean) / deviation).powi(2)
}

pub fn cauchy(x: f64, centre: f64, scale: f64) -> f64 {
    -(PI * scale).ln() - (((x - centre) / scale).powi(2)).ln_1p()
}

/// log |A| and y' A⁻¹ y of a positive definite matrix, by elimination.
fn eliminate(mut a: Vec<Vec<f64>>, mut y: Vec<f64>) -> (f64, f64) {
    let (mut log_det, mut form) = (0.0, 0.0);
    for i in 0..y.len() {
        log_det += a[i][i].ln();
        form += y[i] * y[i] / a[i][i];
        for j in i + 1..y.len() {
            let ratio = a[j][i] / a[i][i];
            let (above, below) = a.split_at_mut(j);
            below[0][i..].iter_mut().zip(&above[i][i..]).for_each(|(b, a)| *b -= ratio * a);
            y[j] -= ratio * y[i];
        }
    }
    (log_det, form)
}

/// log N(y; 0, A)
pub fn multi_normal(y: &[f64], a: Vec<Vec<f64>>) -> f64 {
    let (log_det, form) = eliminate(a, y.to_vec());
    -0.5 * (y.iter().map(|_| TAU.ln()).sum::<f64>() + log_det + form)
}
