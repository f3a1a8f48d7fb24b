//! Averages under densities of one or two numbers, by the trapezoidal rule.

use crate::Truth;

/// Points along each axis: the number of intervals is even, so that every second point is a coarser rule.
const POINTS: usize = 401;

/// Averages of `quantities` under `exp(log_density)`, which need not be normalised.
///
/// For a smooth density on the whole line that has died down at both ends of the range, the error of the trapezoidal
/// rule vanishes faster than any power of its step. Both conditions are checked: the edges carry nothing, and half as
/// many points give the same averages.
#[track_caller]
pub fn averages<const D: usize, const Q: usize>(
    ranges: [(f64, f64); D],
    log_density: impl Fn([f64; D]) -> f64,
    quantities: impl Fn([f64; D]) -> [f64; Q],
) -> [f64; Q] {
    let index = |cell: usize| -> [usize; D] { std::array::from_fn(|d| cell / POINTS.pow(d as u32) % POINTS) };
    let point = |index: [usize; D]| -> [f64; D] {
        std::array::from_fn(|d| ranges[d].0 + (ranges[d].1 - ranges[d].0) * index[d] as f64 / (POINTS - 1) as f64)
    };
    let cells: Vec<_> = (0..POINTS.pow(D as u32)).map(index).collect();
    let logs: Vec<f64> = cells.iter().map(|&cell| log_density(point(cell))).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut fine, mut coarse) = ([0.0; Q], [0.0; Q]);
    let (mut fine_mass, mut coarse_mass) = (0.0, 0.0);
    for (&cell, log) in cells.iter().zip(logs) {
        let mass = (log - top).exp();
        let edge = cell.iter().any(|&i| i == 0 || i == POINTS - 1);
        assert!(!edge || mass < 1e-9, "{mass} of the highest density at {:?}: widen the range", point(cell));
        let found = quantities(point(cell));
        fine_mass += mass;
        fine.iter_mut().zip(found).for_each(|(sum, value)| *sum += mass * value);
        if cell.iter().all(|i| i % 2 == 0) {
            coarse_mass += mass;
            coarse.iter_mut().zip(found).for_each(|(sum, value)| *sum += mass * value);
        }
    }
    let (fine, coarse) = (fine.map(|sum| sum / fine_mass), coarse.map(|sum| sum / coarse_mass));
    for (a, b) in fine.iter().zip(coarse) {
        assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{a} and {b}: the step is too wide");
    }
    fine
}

/// Means and standard deviations of named quantities under `exp(log_density)`.
#[track_caller]
pub fn moments<const D: usize, const Q: usize>(
    names: [&str; Q],
    ranges: [(f64, f64); D],
    log_density: impl Fn([f64; D]) -> f64,
    quantities: impl Fn([f64; D]) -> [f64; Q],
) -> Vec<Truth> {
    let means = averages(ranges, &log_density, &quantities);
    let squares = |x| std::array::from_fn(|q| (quantities(x)[q] - means[q]).powi(2));
    let variances: [f64; Q] = averages(ranges, &log_density, squares);
    (0..Q).map(|q| Truth::new(names[q], means[q], variances[q].sqrt())).collect()
}

/// A positive number and the log of its derivative, from a number on the whole line.
pub fn positive(t: f64) -> (f64, f64) {
    (t.exp(), t)
}

/// A number between 0 and 1 and the log of its derivative, from a number on the whole line.
pub fn unit(t: f64) -> (f64, f64) {
    let p = 1.0 / (1.0 + (-t).exp());
    (p, -(1.0 + t.exp()).ln() - (1.0 + (-t).exp()).ln())
}

/// Log density of the normal distribution without its constant.
pub fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    -0.5 * ((x - mean) / sd).powi(2) - sd.ln()
}

#[test]
fn known_integrals() {
    let beta = moments(
        ["p"],
        [(-15.0, 20.0)],
        |[t]| 3.0 * unit(t).0.ln() + (1.0 - unit(t).0).ln() + unit(t).1,
        |[t]| [unit(t).0],
    );
    // beta(4, 2)
    assert!((beta[0].mean - 4.0 / 6.0).abs() < 1e-9 && (beta[0].sd - (8.0 / 252.0_f64).sqrt()).abs() < 1e-9);
    // x is normal(1, 2) and y normal(x/2, 1) given x
    let log_density = |[x, y]: [f64; 2]| normal(x, 1.0, 2.0) + normal(y, 0.5 * x, 1.0);
    let [product] = averages([(-15.0, 17.0), (-12.0, 13.0)], log_density, |[x, y]| [x * y]);
    let y = moments(["y"], [(-15.0, 17.0), (-12.0, 13.0)], log_density, |[_, y]| [y]);
    assert!((product - 2.5).abs() < 1e-7 && (y[0].mean - 0.5).abs() < 1e-7 && (y[0].sd - 2.0_f64.sqrt()).abs() < 1e-7);
}
