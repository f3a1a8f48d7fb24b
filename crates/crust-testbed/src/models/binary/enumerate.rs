//! Sums over all 2ᴷ settings of the bits of one case: of q = z Σ z and |y − zμ|², which are quadratic in z.

use crust_math::lanes::scalar;

use crate::models::rows::{Rows, dot};

/// The largest K for which a sum over all settings is taken.
pub(super) const LARGEST: usize = 14;

/// A quadratic function of z: constant + Σₐ linearₐ zₐ + Σₐᵦ matrixₐᵦ zₐ zᵦ.
#[derive(Clone, Debug)]
pub(super) struct Quadratic {
    pub constant: f64,
    pub linear: Vec<f64>,
    /// Symmetric.
    pub matrix: Rows,
}

impl Quadratic {
    /// z Σ z.
    pub(super) fn variance(covariance: &Rows) -> Self {
        Self { constant: 0.0, linear: vec![0.0; covariance.rows()], matrix: covariance.clone() }
    }

    /// |y − z A|².
    #[inline(always)]
    pub(super) fn error(y: &[f64], a: &Rows) -> Self {
        let k = a.rows();
        Self {
            constant: dot(y, y),
            linear: a.iter().map(|row| -2.0 * dot(y, row)).collect(),
            matrix: Rows::from_fn(k, k, |i, j| dot(a.row(i), a.row(j))),
        }
    }

    /// At a z that need not be binary.
    pub(super) fn at(&self, z: &[f64]) -> f64 {
        let row = |(a, z_a): (usize, &f64)| {
            let inner: f64 = self.matrix.row(a).iter().zip(z).map(|(m, z)| m * z).sum();
            z_a * (self.linear[a] + inner)
        };
        self.constant + z.iter().enumerate().map(row).sum::<f64>()
    }

    /// At all settings: bit a of the index is zₐ. Each bit doubles the list, with one addition for each entry.
    pub(super) fn everywhere(&self) -> Vec<f64> {
        let k = self.linear.len();
        let mut out = Vec::with_capacity(1 << k);
        let mut row: Vec<f64> = Vec::with_capacity(1 << k.saturating_sub(1));
        out.push(self.constant);
        for a in 0..k {
            let matrix = self.matrix.row(a);
            row.clear();
            row.push(self.linear[a] + matrix[a]);
            for entry in &matrix[..a] {
                let twice = 2.0 * entry;
                row.extend_from_within(..);
                let half = row.len() / 2;
                row[half..].iter_mut().for_each(|x| *x += twice);
            }
            out.extend_from_within(..);
            let half = out.len() / 2;
            out[half..].iter_mut().zip(&row).for_each(|(out, x)| *out += x);
        }
        out
    }
}

/// Σ of linearₐ over the bits that are set, for all settings.
pub(super) fn linear(terms: &[f64]) -> Vec<f64> {
    let matrix = Rows::zeros(terms.len(), terms.len());
    Quadratic { constant: 0.0, linear: terms.to_vec(), matrix }.everywhere()
}

/// The bits of a setting.
pub(super) fn bits(setting: usize, k: usize) -> impl Iterator<Item = f64> {
    (0..k).map(move |a| if setting >> a & 1 == 1 { 1.0 } else { 0.0 })
}

/// Weights exp(log − largest) in place; returns the log of their sum and their sum.
pub(super) fn softmax(logs: &mut [f64]) -> (f64, f64) {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    crust_math::lanes::exp_in_place({
        logs.iter_mut().for_each(|x| *x -= largest);
        logs
    });
    let total: f64 = logs.iter().sum();
    (largest + scalar::log(total), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everywhere_is_each() {
        let matrix = Rows::from_fn(4, 4, |i, j| [0.3, -1.0, 0.7, 2.0][i.min(j)] + [0.1, 0.2, -0.4, 0.9][i.max(j)]);
        let quadratic = Quadratic { constant: -0.5, linear: vec![1.0, -2.0, 0.25, 3.0], matrix };
        for (setting, value) in quadratic.everywhere().into_iter().enumerate() {
            let z: Vec<f64> = bits(setting, 4).collect();
            assert!((value - quadratic.at(&z)).abs() < 1e-13, "{setting}: {value}");
        }
    }
}
