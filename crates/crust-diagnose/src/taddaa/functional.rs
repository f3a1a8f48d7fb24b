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

/// Why a text is no functional.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no functional: write mean(x), sd(x), log_variance(x), quantile(x, 0.9), covariance(x, y) or P(x > 0), where x is a quantity of the program"
)]
pub struct NotAFunctional(pub String);

/// A functional as a user writes it, with what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub functional: Functional,
    pub quantity: String,
    /// Of covariances.
    pub other: Option<String>,
    /// Of events: whether the quantity must be above (or below) a number.
    pub event: Option<(bool, f64)>,
}

impl Request {
    /// Of one quantity.
    pub fn new(kind: Kind, quantity: &str) -> Self {
        let of = match kind {
            Kind::Covariance => format!("{quantity}, {quantity}"),
            _ => quantity.to_owned(),
        };
        Self { functional: Functional::new(kind, of), quantity: quantity.to_owned(), other: None, event: None }
    }
}

impl std::str::FromStr for Request {
    type Err = NotAFunctional;

    fn from_str(text: &str) -> Result<Self, NotAFunctional> {
        let bad = || NotAFunctional(text.to_owned());
        let (name, rest) = text.trim().split_once('(').ok_or_else(bad)?;
        let inside = rest.trim_end().strip_suffix(')').ok_or_else(bad)?.trim();
        let two = || two_parts(inside).ok_or_else(bad);
        if inside.is_empty() {
            return Err(bad());
        }
        match name.trim() {
            "mean" => Ok(Self::new(Kind::Mean, inside)),
            "sd" => Ok(Self::new(Kind::Deviation, inside)),
            "log_variance" => Ok(Self::new(Kind::LogVariance, inside)),
            "quantile" => {
                let (quantity, p) = two()?;
                let p: f64 = p.parse().map_err(|_| bad())?;
                if p > 0.0 && p < 1.0 { Ok(Self::new(Kind::Quantile(p), quantity)) } else { Err(bad()) }
            }
            "covariance" => {
                let (a, b) = two()?;
                let functional = Functional::new(Kind::Covariance, format!("{a}, {b}"));
                Ok(Self { functional, other: Some(b.to_owned()), ..Self::new(Kind::Mean, a) })
            }
            "P" => {
                let (at, above) =
                    inside.find('>').map(|at| (at, true)).or(inside.find('<').map(|at| (at, false))).ok_or_else(bad)?;
                let (quantity, bound) = (inside[..at].trim(), inside[at + 1..].trim().parse().map_err(|_| bad())?);
                let functional = Functional::new(Kind::Probability, inside);
                Ok(Self { functional, event: Some((above, bound)), ..Self::new(Kind::Mean, quantity) })
            }
            _ => Err(bad()),
        }
    }
}

/// The parts on both sides of the only comma that is not inside of an element's name, as in `L[2,1],0.9`.
fn two_parts(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let mut commas = text.char_indices().filter(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        *c == ',' && depth == 0
    });
    let (at, _) = commas.next()?;
    if commas.next().is_some() {
        return None;
    }
    Some((text[..at].trim(), text[at + 1..].trim())).filter(|(a, b)| !a.is_empty() && !b.is_empty())
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

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.end.len() / self.states.max(1)
    }

    /// How far each state pulls the estimate: the empirical influence function, up to a factor, chain after chain.
    pub(super) fn influence_of_states(&self, estimate: f64) -> Vec<f64> {
        let (mean, variance) = moments(self.end);
        match self.functional.kind {
            Kind::Mean | Kind::Probability => self.end.iter().map(|x| x - mean).collect(),
            Kind::Deviation | Kind::LogVariance => self.end.iter().map(|x| (x - mean).powi(2) - variance).collect(),
            Kind::Quantile(p) => self.end.iter().map(|x| p - f64::from(u8::from(*x <= estimate))).collect(),
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

    /// A bound relative to what it is a bound on: in standard deviations, of probabilities as it is, of log variances
    /// half of it (so that it is the error of the logarithm of the standard deviation).
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

/// A functional of the distribution with these weights at draws, which sum to 1: what importance sampling makes of it.
pub fn weighted_estimate(kind: Kind, values: &[f64], other: Option<&[f64]>, weights: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().zip(weights).map(|(x, w)| w * x).sum::<f64>();
    let product = |x: &[f64], y: &[f64]| {
        let (mx, my) = (mean(x), mean(y));
        x.iter().zip(y).zip(weights).map(|((x, y), w)| w * (x - mx) * (y - my)).sum::<f64>()
    };
    match kind {
        Kind::Mean | Kind::Probability => mean(values),
        Kind::Deviation => product(values, values).sqrt(),
        Kind::LogVariance => product(values, values).ln(),
        Kind::Covariance => product(values, other.unwrap_or(values)),
        Kind::Quantile(p) => {
            // inf{q: F(q) ≥ p}
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
            let mut below = 0.0;
            let reached = order.iter().find(|&&i| {
                below += weights[i];
                below >= p
            });
            reached.or(order.last()).map_or(f64::NAN, |&i| values[i])
        }
    }
}

/// The rank of inf{q: F(q) ≥ p} among n draws, from 1 (equation 4).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and n")]
pub(super) fn quantile_rank(n: usize, p: f64) -> usize {
    ((p * count(n)).ceil() as usize).clamp(1, n.max(1))
}

pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With equal weights they are what they are without, but for the n − 1 of variances; and a draw that counts twice
    /// is two draws.
    #[test]
    fn weights_count_draws() {
        let (x, y) = ([3.0, 1.0, 4.0, 1.5, 9.0], [2.0, 7.0, 1.0, 8.0, 2.5]);
        let (twice_x, twice_y) = ([3.0, 3.0, 1.0, 4.0, 1.5, 9.0], [2.0, 2.0, 7.0, 1.0, 8.0, 2.5]);
        let sixth = 1.0 / 6.0;
        let weights = [2.0 * sixth, sixth, sixth, sixth, sixth];
        for kind in
            [Kind::Mean, Kind::Deviation, Kind::LogVariance, Kind::Quantile(0.3), Kind::Quantile(0.9), Kind::Covariance]
        {
            let found = weighted_estimate(kind, &x, Some(&y), &weights);
            let plain = estimate(kind, &twice_x, Some(&twice_y));
            let shrunk: f64 = match kind {
                Kind::Deviation => plain * (5.0 * sixth).sqrt(),
                Kind::LogVariance => plain + (5.0 * sixth).ln(),
                Kind::Covariance => plain * 5.0 * sixth,
                _ => plain,
            };
            assert!((found - shrunk).abs() < 1e-12, "{kind:?}: {found} {shrunk}");
        }
    }

    #[test]
    fn functionals_are_read_as_they_are_written() {
        for text in [
            "mean(x[1])",
            "sd(mu)",
            "log_variance(L[2,1])",
            "quantile(x[1,2], 0.05)",
            "covariance(a[1,2], b)",
            "P(delta > 0)",
        ] {
            assert_eq!(text.parse::<Request>().unwrap().functional.to_string(), text);
        }
        let event: Request = "P(a[1,2] < -0.5)".parse().unwrap();
        assert_eq!((event.quantity.as_str(), event.event), ("a[1,2]", Some((false, -0.5))));
        let both: Request = "covariance(a[1,2], b)".parse().unwrap();
        assert_eq!((both.quantity.as_str(), both.other.as_deref()), ("a[1,2]", Some("b")));
        let tight: Request = "quantile(x[1,2],0.9)".parse().unwrap();
        assert_eq!((tight.quantity.as_str(), tight.functional.kind), ("x[1,2]", Kind::Quantile(0.9)));
        let tight: Request = "covariance(a[1,2],b[1])".parse().unwrap();
        assert_eq!((tight.functional.of.as_str(), tight.other.as_deref()), ("a[1,2], b[1]", Some("b[1]")));
        for text in [
            "mean",
            "mean()",
            "quantile(x[1,0.9])",
            "covariance(a,b,c)",
            "median(x)",
            "quantile(x, 2)",
            "P(x)",
            "covariance(x)",
            "P(x > y)",
        ] {
            assert!(text.parse::<Request>().is_err(), "{text}");
        }
    }
}
