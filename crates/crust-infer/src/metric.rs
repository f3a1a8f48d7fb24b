//! The metric of Hamiltonian kernels, given by its inverse.
//!
//! The inverse metric M⁻¹ estimates the covariance of the target. Momenta are p ~ N(0, M), the kinetic energy is ½ pᵀ
//! M⁻¹ p and the velocity M⁻¹ p.

use crust_math::linalg::LinalgError;
use crust_math::linalg::cholesky::rows;
use crust_math::random::Stream;

use crate::vector::{Line, dot, in_lines};

/// Which inverse metric warm-up estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricKind {
    /// The identity: nothing is estimated.
    Unit,
    /// The variances.
    #[default]
    Diagonal,
    /// The covariance matrix.
    Dense,
}

/// An inverse metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    Unit,
    /// The diagonal of M⁻¹.
    Diagonal(Diagonal),
    Dense(Dense),
}

/// A diagonal inverse metric, with the roots that momenta need.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagonal {
    variance: Vec<f64>,
    deviation: Vec<f64>,
    /// The variances once more.
    lines: Vec<Line>,
}

impl Diagonal {
    fn new(variance: Vec<f64>) -> Self {
        Self { deviation: variance.iter().map(|v| v.sqrt()).collect(), lines: in_lines(&variance), variance }
    }
}

/// A dense inverse metric M⁻¹ = L Lᵀ.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    dimension: usize,
    /// M⁻¹ by rows.
    covariance: Vec<f64>,
    /// L by rows, zeros included.
    lower: Vec<f64>,
}

/// Why a matrix is no inverse metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the inverse metric is not positive definite and finite (row {row})")]
pub struct NotPositive {
    /// From 1.
    pub row: usize,
}

impl Metric {
    /// Variances, all positive and finite.
    pub fn diagonal(variance: Vec<f64>) -> Result<Self, NotPositive> {
        if let Some(row) = variance.iter().position(|v| !(v.is_finite() && *v > 0.0)) {
            return Err(NotPositive { row: row + 1 });
        }
        Ok(Self::Diagonal(Diagonal::new(variance)))
    }

    /// A covariance matrix by rows; only its lower triangle is read.
    pub fn dense(dimension: usize, mut covariance: Vec<f64>) -> Result<Self, NotPositive> {
        for row in 0..dimension {
            for column in 0..row {
                covariance[column * dimension + row] = covariance[row * dimension + column];
            }
        }
        let lower = cholesky(dimension, &covariance)?;
        Ok(Self::Dense(Dense { dimension, covariance, lower }))
    }

    /// A dense metric whose coordinates are independent.
    pub fn dense_diagonal(variance: &[f64]) -> Result<Self, NotPositive> {
        let dimension = variance.len();
        let mut covariance = vec![0.0; dimension * dimension];
        covariance.iter_mut().step_by(dimension + 1).zip(variance).for_each(|(c, v)| *c = *v);
        Self::dense(dimension, covariance)
    }

    /// What warm-up starts with.
    pub fn initial(kind: MetricKind, dimension: usize) -> Self {
        let identity = || (0..dimension * dimension).map(|i| f64::from(u8::from(i % (dimension + 1) == 0))).collect();
        match kind {
            MetricKind::Unit => Self::Unit,
            MetricKind::Diagonal => Self::Diagonal(Diagonal::new(vec![1.0; dimension])),
            MetricKind::Dense => Self::Dense(Dense { dimension, covariance: identity(), lower: identity() }),
        }
    }

    /// The diagonal of M⁻¹ (`None`: ones), or all of it by rows if it is dense.
    pub fn inverse(&self) -> Option<&[f64]> {
        match self {
            Self::Unit => None,
            Self::Diagonal(metric) => Some(&metric.variance),
            Self::Dense(metric) => Some(&metric.covariance),
        }
    }

    /// The diagonal of M⁻¹, if it is not of ones.
    pub(crate) fn variances(&self) -> Option<Vec<f64>> {
        match self {
            Self::Unit => None,
            Self::Diagonal(metric) => Some(metric.variance.clone()),
            Self::Dense(metric) => Some(metric.covariance.iter().step_by(metric.dimension + 1).copied().collect()),
        }
    }

    /// How many coordinates it is for, if it is not for any number of them.
    pub fn dimension(&self) -> Option<usize> {
        match self {
            Self::Unit => None,
            Self::Diagonal(metric) => Some(metric.variance.len()),
            Self::Dense(metric) => Some(metric.dimension),
        }
    }

    /// The diagonal of M⁻¹ in lines, if that is all of it.
    #[inline]
    pub(crate) fn diagonal_lines(&self) -> Option<&[Line]> {
        match self {
            Self::Diagonal(metric) => Some(&metric.lines),
            Self::Unit | Self::Dense(_) => None,
        }
    }

    /// p ~ N(0, M): p solves Lᵀ p = z for a standard normal z.
    pub(crate) fn draw_momentum(&self, p: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(p);
        match self {
            Self::Unit => {}
            Self::Diagonal(metric) => p.iter_mut().zip(&metric.deviation).for_each(|(p, s)| *p /= s),
            Self::Dense(metric) => {
                for row in (0..metric.dimension).rev() {
                    let lower = &metric.lower[row * metric.dimension..][..=row];
                    let (before, rest) = p.split_at_mut(row);
                    rest[0] /= lower[row];
                    // Column by column of Lᵀ, which is row by row of L: contiguous.
                    before.iter_mut().zip(lower).for_each(|(p, l)| *p -= l * rest[0]);
                }
            }
        }
    }

    /// L z for a standard normal z, whose covariance is M⁻¹.
    pub(crate) fn draw_displacement(&self, dx: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(dx);
        match self {
            Self::Unit => {}
            Self::Diagonal(metric) => dx.iter_mut().zip(&metric.deviation).for_each(|(x, s)| *x *= s),
            Self::Dense(metric) => {
                for row in (0..metric.dimension).rev() {
                    let lower = &metric.lower[row * metric.dimension..][..=row];
                    dx[row] = dot(lower, &dx[..=row]);
                }
            }
        }
    }

    /// The velocity M⁻¹ p.
    #[inline]
    pub(crate) fn velocity(&self, p: &[f64], out: &mut [f64]) {
        match self {
            Self::Unit => out.copy_from_slice(p),
            Self::Diagonal(metric) => {
                for ((out, p), v) in out.iter_mut().zip(p).zip(&metric.variance) {
                    *out = p * v;
                }
            }
            Self::Dense(metric) => {
                for (out, row) in out.iter_mut().zip(metric.covariance.chunks_exact(metric.dimension)) {
                    *out = dot(row, p);
                }
            }
        }
    }

    /// q ← q + a M⁻¹ p. `room` is overwritten.
    #[inline]
    pub(crate) fn drift(&self, q: &mut [f64], a: f64, p: &[f64], room: &mut [f64]) {
        match self {
            Self::Unit => crate::vector::add_scaled(q, a, p),
            Self::Diagonal(metric) => {
                for ((q, p), v) in q.iter_mut().zip(p).zip(&metric.variance) {
                    *q += a * (p * v);
                }
            }
            Self::Dense(_) => {
                self.velocity(p, room);
                crate::vector::add_scaled(q, a, room);
            }
        }
    }
}

/// The lower triangular L of A = L Lᵀ, by rows.
pub(crate) fn cholesky(dimension: usize, matrix: &[f64]) -> Result<Vec<f64>, NotPositive> {
    rows::lower(dimension, matrix, |a, x, y| a - dot(x, y)).map_err(|error| match error {
        LinalgError::NotPositiveDefinite { row, .. } => NotPositive { row },
        LinalgError::Singular { .. } | LinalgError::NoConvergence { .. } => NotPositive { row: dimension },
    })
}

#[cfg(test)]
mod tests {
    use crust_math::random::{Purpose, StreamKey};

    use super::*;

    const COVARIANCE: [f64; 9] = [4.0, 1.2, -0.6, 1.2, 1.0, 0.3, -0.6, 0.3, 2.0];

    /// Empirical second moments of n draws. Each is within 5 standard errors, √((vᵢᵢ vⱼⱼ + vᵢⱼ²) / n), of the truth; a
    /// false alarm for 12 moments has probability 7·10⁻⁶.
    fn check_covariance(truth: &[f64], mut draw: impl FnMut(&mut [f64], &mut Stream)) {
        let n = 40_000;
        let mut stream = StreamKey::new(1, Purpose::TEST).stream();
        let mut found = [0.0; 9];
        let mut x = [0.0; 3];
        for _ in 0..n {
            draw(&mut x, &mut stream);
            (0..9).for_each(|k| found[k] += x[k / 3] * x[k % 3] / f64::from(n));
        }
        for k in 0..9 {
            let (i, j) = (k / 3, k % 3);
            let error = ((truth[4 * i] * truth[4 * j] + truth[k] * truth[k]) / f64::from(n)).sqrt();
            assert!((found[k] - truth[k]).abs() < 5.0 * error, "{k}: {} for {}", found[k], truth[k]);
        }
    }

    #[test]
    fn draws_have_the_covariance_of_the_metric() {
        let dense = Metric::dense(3, COVARIANCE.to_vec()).unwrap();
        check_covariance(&COVARIANCE, |x, s| dense.draw_displacement(x, s));
        // M⁻¹ p has the covariance M⁻¹ M M⁻¹ = M⁻¹.
        let velocity = |metric: &Metric, x: &mut [f64], s: &mut Stream| {
            let mut p = [0.0; 3];
            metric.draw_momentum(&mut p, s);
            metric.velocity(&p, x);
        };
        check_covariance(&COVARIANCE, |x, s| velocity(&dense, x, s));
        let variances = [4.0, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 100.0];
        let diagonal = Metric::diagonal(vec![4.0, 0.01, 100.0]).unwrap();
        check_covariance(&variances, |x, s| velocity(&diagonal, x, s));
        check_covariance(&variances, |x, s| diagonal.draw_displacement(x, s));
    }

    #[test]
    fn cholesky_factors_multiply_to_the_matrix() {
        let mut stream = StreamKey::new(2, Purpose::TEST).stream();
        for d in 1..12 {
            let root: Vec<f64> = (0..d * d).map(|_| stream.standard_normal()).collect();
            let product = |a: &[f64]| -> Vec<f64> {
                (0..d * d).map(|k| (0..d).map(|i| a[k / d * d + i] * a[k % d * d + i]).sum()).collect()
            };
            let matrix = product(&root);
            let again = product(&cholesky(d, &matrix).unwrap());
            assert!(matrix.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-12), "{d}");
        }
    }

    #[test]
    fn drift_moves_with_the_velocity() {
        for metric in [
            Metric::Unit,
            Metric::diagonal(vec![0.5, 2.0, 3.0]).unwrap(),
            Metric::dense(3, COVARIANCE.to_vec()).unwrap(),
        ] {
            let (mut q, mut v, mut room) = ([1.0, 2.0, 3.0], [0.0; 3], [0.0; 3]);
            let p = [0.3, -0.7, 1.1];
            metric.velocity(&p, &mut v);
            metric.drift(&mut q, 0.25, &p, &mut room);
            (0..3).for_each(|i| assert!((q[i] - ([1.0, 2.0, 3.0][i] + 0.25 * v[i])).abs() < 1e-15));
        }
    }

    #[test]
    fn what_is_not_positive_is_refused() {
        assert_eq!(Metric::diagonal(vec![1.0, 0.0]), Err(NotPositive { row: 2 }));
        assert_eq!(Metric::diagonal(vec![f64::NAN]), Err(NotPositive { row: 1 }));
        assert_eq!(Metric::dense(2, vec![1.0, 9.0, 1.0, 1.0]), Err(NotPositive { row: 2 }));
        assert_eq!(Metric::dense(2, vec![f64::INFINITY, 0.0, 0.0, 1.0]), Err(NotPositive { row: 1 }));
        assert_eq!(
            Metric::dense(2, vec![1.0, 0.0, 0.0, 1.0]).unwrap(),
            Metric::initial(MetricKind::Dense, 2),
            "the identity"
        );
    }
}
