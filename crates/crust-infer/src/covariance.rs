//! Running estimates of variances and covariances, for the metric.

use crate::metric::{Metric, MetricKind, NotPositive};

/// Welford's algorithm (1962): numerically stable updates of the mean and of the sum of squares about it.
#[derive(Clone, Debug)]
pub(crate) struct Welford {
    kind: MetricKind,
    n: f64,
    mean: Vec<f64>,
    /// Σ (x − mean)², or the lower triangle of Σ (x − mean)(x − mean)ᵀ in a square matrix.
    squares: Vec<f64>,
    /// Room for the difference to the mean.
    before: Vec<f64>,
}

impl Welford {
    pub(crate) fn new(kind: MetricKind, dimension: usize) -> Self {
        let size = match kind {
            MetricKind::Unit => 0,
            MetricKind::Diagonal => dimension,
            MetricKind::Dense => dimension * dimension,
        };
        Self { kind, n: 0.0, mean: vec![0.0; dimension], squares: vec![0.0; size], before: vec![0.0; dimension] }
    }

    /// Σ (x − mean)², or the lower triangle of Σ (x − mean)(x − mean)ᵀ.
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }

    pub(crate) fn restart(&mut self) {
        self.n = 0.0;
        self.mean.fill(0.0);
        self.squares.fill(0.0);
    }

    pub(crate) fn add(&mut self, x: &[f64]) {
        self.n += 1.0;
        for ((mean, before), x) in self.mean.iter_mut().zip(&mut self.before).zip(x) {
            *before = x - *mean;
            *mean += *before / self.n;
        }
        match self.kind {
            MetricKind::Unit => {}
            MetricKind::Diagonal => {
                for (((square, before), mean), x) in self.squares.iter_mut().zip(&self.before).zip(&self.mean).zip(x) {
                    *square += before * (x - mean);
                }
            }
            MetricKind::Dense => {
                let d = x.len();
                for (row, square) in self.squares.chunks_exact_mut(d).enumerate() {
                    let after = x[row] - self.mean[row];
                    square[..=row].iter_mut().zip(&self.before).for_each(|(s, before)| *s += after * before);
                }
            }
        }
    }

    /// The estimate, shrunk as in Stan: n/(n+5) of the sample (co)variance and 5/(n+5) of 10⁻³ times the identity.
    /// `None` for the unit metric, and without two draws.
    pub(crate) fn metric(&self) -> Option<Result<Metric, NotPositive>> {
        if self.n < 2.0 {
            return None;
        }
        let d = self.mean.len();
        let scale = self.n / (self.n + 5.0) / (self.n - 1.0);
        let shrink = 1e-3 * 5.0 / (self.n + 5.0);
        match self.kind {
            MetricKind::Unit => None,
            MetricKind::Diagonal => Some(Metric::diagonal(self.squares.iter().map(|s| scale * s + shrink).collect())),
            MetricKind::Dense => {
                let mut covariance: Vec<f64> = self.squares.iter().map(|s| scale * s).collect();
                covariance.iter_mut().step_by(d + 1).for_each(|v| *v += shrink);
                Some(Metric::dense(d, covariance))
            }
        }
    }
}

/// The correlation matrix, shrunk towards the identity by the share that minimises the expected squared error: λ = Σ
/// Var(r)/Σ r² over pairs (Schäfer and Strimmer 2005). Positive definite if λ > 0, also with fewer draws than
/// coordinates.
pub(crate) fn shrunk_correlations(draws: &[&[f64]], mean: &[f64], deviation: &[f64]) -> Vec<f64> {
    let (n, d) = (count(draws.len()), mean.len());
    let mut sums = vec![0.0; d * d];
    let mut squares = vec![0.0; d * d];
    let mut z = vec![0.0; d];
    for x in draws {
        for i in 0..d {
            z[i] = (x[i] - mean[i]) / deviation[i];
        }
        for i in 0..d {
            for j in 0..i {
                let product = z[i] * z[j];
                sums[i * d + j] += product;
                squares[i * d + j] += product * product;
            }
        }
    }
    let (mut noise, mut signal) = (0.0, 0.0);
    for i in 0..d {
        for j in 0..i {
            let (sum, square) = (sums[i * d + j], squares[i * d + j]);
            noise += n / (n - 1.0).powi(3) * (square - sum * sum / n);
            signal += (sum / (n - 1.0)).powi(2);
        }
    }
    let keep = if signal > 0.0 { 1.0 - (noise / signal).clamp(0.0, 1.0) } else { 0.0 };
    for i in 0..d {
        for j in 0..i {
            let r = keep * sums[i * d + j] / (n - 1.0);
            (sums[i * d + j], sums[j * d + i]) = (r, r);
        }
        sums[i * d + i] = 1.0;
    }
    sums
}

#[expect(clippy::cast_precision_loss, reason = "draws are far fewer than 2⁵³")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: [[f64; 2]; 4] = [[1e6 + 1.0, 2.0], [1e6 + 2.0, 1.0], [1e6 + 4.0, 5.0], [1e6 + 5.0, 4.0]];

    fn estimate(kind: MetricKind) -> Vec<f64> {
        let mut welford = Welford::new(kind, 2);
        welford.add(&[7.0, 7.0]);
        welford.restart();
        assert!(welford.metric().is_none());
        DRAWS.iter().for_each(|x| welford.add(x));
        welford.metric().unwrap().unwrap().inverse().unwrap().to_vec()
    }

    #[test]
    fn estimates_are_shrunk_sample_covariances() {
        // About their means (1e6 + 3, 3) the draws have the sums of squares 10 and 10, and of products 8.
        let variance = 10.0 / 3.0 * 4.0 / 9.0 + 1e-3 * 5.0 / 9.0;
        let covariance = 8.0 / 3.0 * 4.0 / 9.0;
        let close = |found: Vec<f64>, truth: &[f64]| {
            assert_eq!(found.len(), truth.len());
            found.iter().zip(truth).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} for {b}"));
        };
        close(estimate(MetricKind::Diagonal), &[variance, variance]);
        close(estimate(MetricKind::Dense), &[variance, covariance, covariance, variance]);
    }

    #[test]
    fn overflow_is_seen() {
        let mut welford = Welford::new(MetricKind::Diagonal, 1);
        welford.add(&[1e200]);
        welford.add(&[-1e200]);
        assert!(welford.metric().unwrap().is_err());
        let mut unit = Welford::new(MetricKind::Unit, 1);
        unit.add(&[1.0]);
        unit.add(&[2.0]);
        assert!(unit.metric().is_none());
    }
}
