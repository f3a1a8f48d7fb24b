//! Real elements of an outcome that are normal together.
//!
//! A log density that is q(y) = c + gᵀδ − ½ δᵀΛδ, with δ what y differs by from the base, is that of a normal
//! distribution times ∫ exp q = exp(c + ½ gᵀΛ⁻¹g) (2π)^(n/2) det Λ^(−½). Differences of a quadratic function are exact
//! whatever the steps are, so that g and Λ follow from values; that it is one is looked at elsewhere, and at all that is
//! drawn.

use crust_math::linalg::cholesky;
use crust_math::random::Stream;

use super::super::SimulateError;
use super::parts::{Change, Components, Parted};

/// More elements than that are not looked at together: as many pairs have to be evaluated.
pub const MOST: usize = 100;

/// A pivot that is so much smaller than its element is nothing but rounding.
const SINGULAR: f64 = 1e-9;

/// The distribution of elements around the base.
#[derive(Clone, Debug)]
pub struct Normal {
    gradient: Vec<f64>,
    /// Λ, row by row.
    precision: Vec<f64>,
    /// Its factor, Λ = L Lᵀ, column by column, and the mean.
    factor: Vec<f64>,
    mean: Vec<f64>,
    /// log ∫ exp(q − c).
    pub log_integral: f64,
}

/// The distributions of a group of elements, by component; none for a component that has no weight, or that is not
/// concave.
pub fn normals(
    all: &mut dyn Parted,
    (mixed, elements): (usize, &[usize]),
    (base, start): (&[f64], &Components),
    step: f64,
) -> Result<Vec<Option<Normal>>, SimulateError> {
    let n = elements.len();
    let change = |i: usize, by: f64| Change { mixed, element: elements[i], value: base[elements[i]] + by, also: None };
    let mut changes: Vec<Change> = (0..n).flat_map(|i| [change(i, step), change(i, -step)]).collect();
    for i in 0..n {
        for j in 0..i {
            let also = Some((elements[j], base[elements[j]] + step));
            changes.push(Change { also, ..change(i, step) });
        }
    }
    let found = all.changed(&changes)?;
    let of = |k: usize| {
        let at = |i: usize| found[i][k] - start[k];
        let (mut gradient, mut precision) = (vec![0.0; n], vec![0.0; n * n]);
        for i in 0..n {
            let (up, down) = (at(2 * i), at(2 * i + 1));
            gradient[i] = (up - down) / (2.0 * step);
            precision[i * n + i] = -(up + down) / (step * step);
        }
        let mut pair = 2 * n;
        for i in 0..n {
            for j in 0..i {
                let both = -(at(pair) - at(2 * i) - at(2 * j)) / (step * step);
                (precision[i * n + j], precision[j * n + i]) = (both, both);
                pair += 1;
            }
        }
        Normal::new(gradient, precision)
    };
    Ok((0..start.len()).map(|k| if start[k].is_finite() { of(k) } else { None }).collect())
}

impl Normal {
    fn new(gradient: Vec<f64>, precision: Vec<f64>) -> Option<Self> {
        let n = gradient.len();
        if gradient.iter().chain(&precision).any(|x| !x.is_finite()) {
            return None;
        }
        let mut factor = precision.clone();
        cholesky::factor(&mut factor, n).ok()?;
        // What is singular but for rounding has no integral.
        if (0..n).any(|i| factor[i * n + i].powi(2) < SINGULAR * precision[i * n + i]) {
            return None;
        }
        let mut mean = gradient.clone();
        cholesky::solve_factored(&factor, n, &mut mean, 1);
        let squares: f64 = gradient.iter().zip(&mean).map(|(g, m)| g * m).sum();
        #[allow(clippy::cast_precision_loss, reason = "few elements")]
        let constant = 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln();
        let log_determinant: f64 = (0..n).map(|i| factor[i * n + i].ln()).sum();
        let log_integral = 0.5 * squares + constant - log_determinant;
        log_integral.is_finite().then_some(Self { gradient, precision, factor, mean, log_integral })
    }

    /// What the elements differ by from the base: Λ⁻¹g + L⁻ᵀz.
    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let n = self.mean.len();
        let mut x: Vec<f64> = (0..n).map(|_| stream.standard_normal()).collect();
        for i in (0..n).rev() {
            // L lies column by column: element (j, i) is at i n + j.
            let rest: f64 = (i + 1..n).map(|j| self.factor[i * n + j] * x[j]).sum();
            x[i] = (x[i] - rest) / self.factor[i * n + i];
        }
        x.iter().zip(&self.mean).map(|(x, m)| x + m).collect()
    }

    /// q − c, and the size of what it is a sum of.
    pub fn log_density(&self, from_base: &[f64]) -> (f64, f64) {
        let n = self.mean.len();
        let linear: f64 = self.gradient.iter().zip(from_base).map(|(g, d)| g * d).sum();
        let row = |i: usize| -> f64 { (0..n).map(|j| self.precision[i * n + j] * from_base[j]).sum() };
        let square: f64 = (0..n).map(|i| from_base[i] * row(i)).sum();
        (linear - 0.5 * square, linear.abs() + square.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    /// One group of two elements with the log density −½ δᵀΛδ + gᵀδ around the base.
    struct Quadratic;

    const BASE: [f64; 2] = [0.5, -1.0];

    fn value(y: [f64; 2]) -> f64 {
        let d = [y[0] - BASE[0], y[1] - BASE[1]];
        -0.5 * (2.0 * d[0] * d[0] + 2.0 * 0.6 * d[0] * d[1] + d[1] * d[1]) + 0.3 * d[0] - d[1]
    }

    impl Parted for Quadratic {
        fn changed(&mut self, changes: &[Change]) -> Result<Vec<Components>, SimulateError> {
            let one = |change: &Change| {
                let mut y = BASE;
                y[change.element] = change.value;
                change.also.iter().for_each(|(e, x)| y[*e] = *x);
                vec![value(y)]
            };
            Ok(changes.iter().map(one).collect())
        }

        fn whole(&mut self, numbers: &[f64]) -> Result<Vec<Components>, SimulateError> {
            Ok(vec![vec![value([numbers[0], numbers[1]])]])
        }
    }

    /// Λ = [2, 0.6; 0.6, 1], whose determinant is 1.64: mean, integral and covariances by hand.
    #[test]
    fn a_quadratic_function() {
        let found = normals(&mut Quadratic, (0, &[0, 1]), (&BASE, &vec![0.0]), 0.7).expect("values");
        let normal = found[0].as_ref().expect("a distribution");
        let mean = [(0.3 + 0.6) / 1.64, (-2.0 - 0.18) / 1.64];
        let log = 0.5 * (0.3 * mean[0] - mean[1]) + (2.0 * std::f64::consts::PI).ln() - 0.5 * 1.64_f64.ln();
        assert!((normal.log_integral - log).abs() < 1e-12);
        let mut stream = StreamKey::new(3, Purpose::GENERATED).stream();
        let (mut sums, mut product, number) = ([0.0; 2], 0.0, 20_000_u32);
        for _ in 0..number {
            let d = normal.draw(&mut stream);
            assert!((normal.log_density(&d).0 - value([BASE[0] + d[0], BASE[1] + d[1]])).abs() < 1e-9);
            (sums[0], sums[1]) = (sums[0] + d[0], sums[1] + d[1]);
            product += (d[0] - mean[0]) * (d[1] - mean[1]);
        }
        // standard errors are below 0.01
        let n = f64::from(number);
        assert!((sums[0] / n - mean[0]).abs() < 0.03 && (sums[1] / n - mean[1]).abs() < 0.04);
        assert!((product / n + 0.6 / 1.64).abs() < 0.04, "{}", product / n);
    }
}
