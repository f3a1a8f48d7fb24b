//! What is known about an estimate, and how several become one.

use super::{float, log_mean_exp};

/// What theory says about an estimate of log p(y). Equation numbers are those of the BDMC paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The logarithm of an unbiased estimate of p(y): low in expectation, and above log p(y) + b with probability below
    /// e^−b (Eqs. 25–26).
    StochasticLowerBound,
    /// Minus the logarithm of an unbiased estimate of 1/p(y): the mirror image (Eqs. 30–31).
    StochasticUpperBound,
    /// Never above log p(y) (Eq. 41).
    LowerBound,
    /// Consistent, but on no known side of the truth.
    Estimate,
}

impl Kind {
    pub fn words(self) -> &'static str {
        match self {
            Self::StochasticLowerBound => "stochastic lower bound",
            Self::StochasticUpperBound => "stochastic upper bound",
            Self::LowerBound => "lower bound",
            Self::Estimate => "no guarantee",
        }
    }
}

/// How the estimates of several trials become one (footnote 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// log of the arithmetic mean, for unbiased estimates of p(Y).
    Arithmetic,
    /// log of the harmonic mean, for unbiased estimates of 1/p(Y).
    Harmonic,
    Greatest,
    /// The mean of the logarithms.
    MeanOfLogs,
}

impl From<Kind> for Combination {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::StochasticLowerBound => Self::Arithmetic,
            Kind::StochasticUpperBound => Self::Harmonic,
            Kind::LowerBound => Self::Greatest,
            Kind::Estimate => Self::MeanOfLogs,
        }
    }
}

impl Combination {
    pub fn combine(self, log_estimates: &[f64]) -> f64 {
        match self {
            Self::Arithmetic => log_mean_exp(log_estimates),
            Self::Harmonic => {
                let reciprocals: Vec<f64> = log_estimates.iter().map(|log| -log).collect();
                -log_mean_exp(&reciprocals)
            }
            Self::Greatest => log_estimates.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::MeanOfLogs => log_estimates.iter().sum::<f64>() / float(log_estimates.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_combined_as_in_the_footnote() {
        let estimates = [0.0, 3.0_f64.ln()];
        for (combination, expected) in [
            (Combination::Arithmetic, 2.0_f64.ln()),
            (Combination::Harmonic, 1.5_f64.ln()),
            (Combination::Greatest, 3.0_f64.ln()),
            (Combination::MeanOfLogs, 0.5 * 3.0_f64.ln()),
        ] {
            assert!((combination.combine(&estimates) - expected).abs() < 1e-12, "{combination:?}");
        }
    }
}
