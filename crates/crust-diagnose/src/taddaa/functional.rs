//! What may be asked of a posterior: means, deviations, quantiles, covariances, probabilities.

use super::Item;
use super::intervals::order_statistic;
use crate::number::count;

/// Which functional of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Kind {
    #[default]
    Mean,
    Deviation,
    LogVariance,
    Quantile(f64),
    /// With another quantity.
    Covariance,
    /// Of an event: the quantity is 1 where it happens and 0 where it does not.
    Probability,
}

/// A functional with the name of its quantity, as users write it.
#[derive(Clone, Debug, PartialEq)]
pub struct Functional {
    pub kind: Kind,
    /// Of the quantity, of both (`a, b`), or the event (`a > 0`).
    pub of: String,
}

impl Functional {
    pub fn new(kind: Kind, of: impl Into<String>) -> Self {
        Self { kind, of: of.into() }
    }
}

impl std::fmt::Display for Functional {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, of } = self;
        match kind {
            Kind::Mean => write!(f, "mean({of})"),
            Kind::Deviation => write!(f, "sd({of})"),
            Kind::LogVariance => write!(f, "log_variance({of})"),
            Kind::Quantile(p) => write!(f, "quantile({of}, {p})"),
            Kind::Covariance => write!(f, "covariance({of})"),
            Kind::Probability => write!(f, "P({of})"),
        }
    }
}

/// Mean and variance (with n − 1).
pub(super) fn moments(x: &[f64]) -> (f64, f64) {
    let n = count(x.len());
    let mean = x.iter().sum::<f64>() / n;
    (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

impl Item<'_> {
    /// The functional of the ends of the chains.
    pub fn estimate(&self) -> f64 {
        estimate(self.functional.kind, self.end, self.other)
    }

    /// How far each chain pulls the estimate: the empirical influence function, up to a factor.
    pub(super) fn influence(&self) -> Vec<f64> {
        let (mean, variance) = moments(self.end);
        match self.functional.kind {
            Kind::Mean | Kind::Probability => self.end.iter().map(|x| x - mean).collect(),
            Kind::Deviation | Kind::LogVariance => self.end.iter().map(|x| (x - mean).powi(2) - variance).collect(),
            Kind::Quantile(p) => {
                let at = self.estimate();
                self.end.iter().map(|x| p - f64::from(u8::from(*x <= at))).collect()
            }
            Kind::Covariance => {
                let other = self.other.unwrap_or(self.end);
                let other_mean = moments(other).0;
                let products: Vec<f64> =
                    self.end.iter().zip(other).map(|(x, y)| (x - mean) * (y - other_mean)).collect();
                let mean = moments(&products).0;
                products.iter().map(|p| p - mean).collect()
            }
        }
    }

    /// A bound relative to what it is a bound on: in standard deviations, of probabilities as it is, of log variances half of it (so that it is the error of the
    /// logarithm of the standard deviation).
    pub(super) fn relative(&self, bound: f64) -> f64 {
        let deviation = moments(self.end).1.sqrt();
        let unit = match self.functional.kind {
            Kind::Mean | Kind::Quantile(_) | Kind::Deviation => deviation,
            Kind::LogVariance => 2.0,
            Kind::Covariance => deviation * self.other.map_or(deviation, |other| moments(other).1.sqrt()),
            Kind::Probability => 1.0,
        };
        if bound == 0.0 { 0.0 } else { bound / unit }
    }
}

/// A functional of draws.
pub fn estimate(kind: Kind, values: &[f64], other: Option<&[f64]>) -> f64 {
    let (mean, variance) = moments(values);
    match kind {
        Kind::Mean | Kind::Probability => mean,
        Kind::Deviation => variance.sqrt(),
        Kind::LogVariance => variance.ln(),
        Kind::Quantile(p) => order_statistic(&sorted(values), quantile_rank(values.len(), p)),
        Kind::Covariance => {
            let other = other.unwrap_or(values);
            let other_mean = moments(other).0;
            let sum: f64 = values.iter().zip(other).map(|(x, y)| (x - mean) * (y - other_mean)).sum();
            sum / (count(values.len()) - 1.0)
        }
    }
}

/// The rank of inf{q: F(q) ≥ p} among n draws, from 1 (equation 4).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and n")]
fn quantile_rank(n: usize, p: f64) -> usize {
    ((p * count(n)).ceil() as usize).clamp(1, n.max(1))
}

pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}
