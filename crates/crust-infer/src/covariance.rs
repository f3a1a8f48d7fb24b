//! Running estimates of variances and covariances, for the metric.

use crust_math::linalg::cholesky;

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

    /// The estimate, shrunk as in Stan: n/(n+5) of the sample (co)variance and 5/(n+5) of 10⁻³ times the identity, or
    /// times variances that are known to be in proportion. `None` for the unit metric, and without two draws.
    pub(crate) fn metric(&self, known: Option<&[f64]>) -> Option<Result<Metric, NotPositive>> {
        if self.n < 2.0 {
            return None;
        }
        let d = self.mean.len();
        let scale = self.n / (self.n + 5.0) / (self.n - 1.0);
        let shrink = 1e-3 * 5.0 / (self.n + 5.0);
        let unit = |i: usize| known.map_or(1.0, |known| known[i]);
        match self.kind {
            MetricKind::Unit => None,
            MetricKind::Diagonal => {
                let variance = |(i, s): (usize, &f64)| scale * s + shrink * unit(i);
                Some(Metric::diagonal(self.squares.iter().enumerate().map(variance).collect()))
            }
            MetricKind::Dense => {
                let mut covariance: Vec<f64> = self.squares.iter().map(|s| scale * s).collect();
                covariance.iter_mut().step_by(d + 1).enumerate().for_each(|(i, v)| *v += shrink * unit(i));
                Some(Metric::dense(d, covariance))
            }
        }
    }
}

/// The correlation matrix, shrunk towards the identity: also positive definite with fewer draws than coordinates.
///
/// The share that minimises the expected squared error is λ = Σ Var(r)/Σ r² over pairs (Schäfer and Strimmer 2005).
/// Squared errors know nothing of ridges: r = 0.9999 ± 10⁻⁶ from 2,000 draws would become 0.999, and the ridge three
/// times as wide. So parts of λ are tried as well, and the one is taken with which either half of the draws makes the
/// other most likely.
pub(crate) fn shrunk_correlations(draws: &[&[f64]], mean: &[f64], deviation: &[f64]) -> Vec<f64> {
    let (first, second) = draws.split_at(draws.len() / 2);
    let halves = [first, second].map(|half| Products::of(half, mean, deviation));
    let whole = halves[0].plus(&halves[1]);
    let squared_error = whole.share_by_squared_error();
    let d = mean.len();
    let share = if d <= MOST_COMPARED && draws.len() >= 4 {
        let shares = PARTS.map(|part| part * squared_error);
        let score = |share: f64| halves[0].score(&halves[1], share) + halves[1].score(&halves[0], share);
        let scores = shares.map(score);
        // The first of the best: where all are alike, as without correlations, the most cautious.
        let best = (1..PARTS.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
        shares[best]
    } else {
        squared_error
    };
    whole.correlations(share)
}

/// Parts of λ that are compared.
const PARTS: [f64; 4] = [1.0, 0.1, 0.01, 0.0];
/// Above this dimension the squared error decides alone: a comparison costs d³.
const MOST_COMPARED: usize = 200;

/// Sums of products of standardised coordinates.
struct Products {
    n: f64,
    d: usize,
    /// Σ `zᵢzⱼ` for j ≤ i, by rows of a square matrix.
    sums: Vec<f64>,
    /// Σ `(zᵢzⱼ)²` for j < i.
    squares: Vec<f64>,
}

impl Products {
    fn of(draws: &[&[f64]], mean: &[f64], deviation: &[f64]) -> Self {
        let d = mean.len();
        let (mut sums, mut squares, mut z) = (vec![0.0; d * d], vec![0.0; d * d], vec![0.0; d]);
        for x in draws {
            for i in 0..d {
                z[i] = (x[i] - mean[i]) / deviation[i];
            }
            for i in 0..d {
                for j in 0..=i {
                    let product = z[i] * z[j];
                    sums[i * d + j] += product;
                    squares[i * d + j] += product * product;
                }
            }
        }
        Self { n: count(draws.len()), d, sums, squares }
    }

    fn plus(&self, other: &Self) -> Self {
        let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        let (sums, squares) = (add(&self.sums, &other.sums), add(&self.squares, &other.squares));
        Self { n: self.n + other.n, d: self.d, sums, squares }
    }

    /// λ of Schäfer and Strimmer, from 0 to 1.
    fn share_by_squared_error(&self) -> f64 {
        let (n, d) = (self.n, self.d);
        let (mut noise, mut signal) = (0.0, 0.0);
        for i in 0..d {
            for j in 0..i {
                let (sum, square) = (self.sums[i * d + j], self.squares[i * d + j]);
                noise += n / (n - 1.0).powi(3) * (square - sum * sum / n);
                signal += (sum / (n - 1.0)).powi(2);
            }
        }
        if signal > 0.0 { (noise / signal).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Correlations, those of different coordinates times 1 − share.
    fn correlations(&self, share: f64) -> Vec<f64> {
        let d = self.d;
        let mut matrix = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..i {
                let r = (1.0 - share) * self.sums[i * d + j] / (self.sums[i * d + i] * self.sums[j * d + j]).sqrt();
                (matrix[i * d + j], matrix[j * d + i]) = (r, r);
            }
            matrix[i * d + i] = 1.0;
        }
        matrix
    }

    /// Twice the mean log density of other draws under a normal distribution with these correlations, but for a
    /// constant: −log det R − tr(R⁻¹S). −∞ if R is not positive definite.
    fn score(&self, other: &Self, share: f64) -> f64 {
        let d = self.d;
        let mut lower = self.correlations(share);
        if cholesky::factor(&mut lower, d).is_err() {
            return f64::NEG_INFINITY;
        }
        let mut inverse = vec![0.0; d * d];
        cholesky::inverse(&lower, d, &mut inverse);
        let mut trace = 0.0;
        for i in 0..d {
            for j in 0..=i {
                let twice = if i == j { 1.0 } else { 2.0 };
                trace += twice * inverse[i * d + j] * other.sums[i * d + j];
            }
        }
        let score = -2.0 * cholesky::log_diagonal(&lower, d) - trace / other.n;
        if score.is_nan() { f64::NEG_INFINITY } else { score }
    }
}

#[expect(clippy::cast_precision_loss, reason = "draws are far fewer than 2⁵³")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    const DRAWS: [[f64; 2]; 4] = [[1e6 + 1.0, 2.0], [1e6 + 2.0, 1.0], [1e6 + 4.0, 5.0], [1e6 + 5.0, 4.0]];

    fn estimate(kind: MetricKind) -> Vec<f64> {
        let mut welford = Welford::new(kind, 2);
        welford.add(&[7.0, 7.0]);
        welford.restart();
        assert!(welford.metric(None).is_none());
        DRAWS.iter().for_each(|x| welford.add(x));
        welford.metric(None).unwrap().unwrap().inverse().unwrap().to_vec()
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
        let mut welford = Welford::new(MetricKind::Diagonal, 2);
        DRAWS.iter().for_each(|x| welford.add(x));
        let known = welford.metric(Some(&[1e-6, 1e6])).unwrap().unwrap();
        let sample = 10.0 / 3.0 * 4.0 / 9.0;
        close(known.inverse().unwrap().to_vec(), &[sample + 1e-9 * 5.0 / 9.0, sample + 1e3 * 5.0 / 9.0]);
    }

    #[test]
    fn overflow_is_seen() {
        let mut welford = Welford::new(MetricKind::Diagonal, 1);
        welford.add(&[1e200]);
        welford.add(&[-1e200]);
        assert!(welford.metric(None).unwrap().is_err());
        let mut unit = Welford::new(MetricKind::Unit, 1);
        unit.add(&[1.0]);
        unit.add(&[2.0]);
        assert!(unit.metric(None).is_none());
    }

    /// Normal draws whose neighbouring coordinates have a correlation.
    fn normal_draws(n: u32, d: usize, r: f64) -> Vec<Vec<f64>> {
        let draw = |k| {
            let mut stream = StreamKey::new(3, Purpose::TEST).chain(k).stream();
            let mut x = vec![stream.standard_normal()];
            for i in 1..d {
                let next = r * x[i - 1] + (1.0 - r * r).sqrt() * stream.standard_normal();
                x.push(next);
            }
            x
        };
        (0..n).map(draw).collect()
    }

    fn correlations(draws: &[Vec<f64>]) -> Vec<f64> {
        let d = draws[0].len();
        let views: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        shrunk_correlations(&views, &vec![0.0; d], &vec![1.0; d])
    }

    /// 1 − r = 5·10⁻⁵ is found to four standard errors, √(8/n) of it, where the share by squared error is above 10⁻⁴.
    #[test]
    fn ridges_keep_their_width() {
        let draws = normal_draws(2000, 3, 0.99995);
        let found = correlations(&draws);
        let width = 1.0 - found[1];
        assert!((width / 5e-5 - 1.0).abs() < 4.0 * (8.0_f64 / 2000.0).sqrt() / 2.0, "{width}");
        let views: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        assert!(Products::of(&views, &[0.0; 3], &[1.0; 3]).share_by_squared_error() > 1e-4);
    }

    /// Chance makes correlations of 0.3 of 24 draws of independent coordinates. Hardly anything is left of them.
    #[test]
    fn chance_is_shrunk() {
        let found = correlations(&normal_draws(24, 12, 0.0));
        let largest = (0..12).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| found[i * 12 + j].abs());
        assert!(largest.fold(0.0, f64::max) < 0.1, "{found:?}");
        // Fewer draws than coordinates: positive definite all the same.
        let mut few = correlations(&normal_draws(8, 12, 0.5));
        assert!(cholesky::factor(&mut few, 12).is_ok());
    }
}
