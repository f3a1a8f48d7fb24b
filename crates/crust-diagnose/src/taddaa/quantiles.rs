//! Quantiles of the distributions that confidence intervals are made of.

use crate::number::count;
use crust_math::special::{gamma_p, inc_beta, inv_Phi, inv_inc_beta};

/// Of Student's t distribution, for probabilities above ½.
pub(crate) fn student(degrees: f64, probability: f64) -> f64 {
    let x = inv_inc_beta(0.5 * degrees, 0.5, 2.0 * (1.0 - probability));
    (degrees * (1.0 - x) / x).sqrt()
}

/// Of the χ² distribution, by bisection from Wilson & Hilferty's (1931) approximation.
pub(super) fn chi_square(degrees: f64, probability: f64) -> f64 {
    let c = 2.0 / (9.0 * degrees);
    let guess = degrees * (1.0 - c + inv_Phi(probability) * c.sqrt()).powi(3);
    let cdf = |x: f64| gamma_p(0.5 * degrees, 0.5 * x);
    let (mut low, mut high) = (0.5 * guess.max(0.0), 2.0 * guess.max(1e-3));
    while cdf(low) > probability && low > 0.0 {
        low *= 0.5;
    }
    while cdf(high) < probability && high < f64::MAX {
        high *= 2.0;
    }
    while high - low > 1e-13 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if cdf(middle) < probability { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The smallest k with P(X ≤ k) ≥ q for the binomial distribution of n trials with probability p strictly
/// between 0 and 1.
pub(super) fn binomial(q: f64, n: usize, p: f64) -> usize {
    // P(X ≤ k) = I_{1−p}(n − k, k + 1).
    let cdf = |k: usize| if k >= n { 1.0 } else { inc_beta(count(n - k), count(k) + 1.0, 1.0 - p) };
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = usize::midpoint(low, high);
        if cdf(middle) >= q { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // R: qt(0.975, 9), qt(0.9999, 386), qchisq(0.025, 385), qchisq(0.975, 10), qbinom(0.025, 386, 0.05).
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{a} for {b}");
        close(student(9.0, 0.975), 2.262_157_162_740_992);
        close(student(1.0, 0.75), 1.0);
        close(chi_square(10.0, 0.975), 20.483_177_350_807_4);
        close(chi_square(1.0, 0.95), 3.841_458_820_694_124);
        close(chi_square(2.0, 0.5), 2.0 * std::f64::consts::LN_2);
        // Bin(3, ½): 1/8, 4/8, 7/8, 1.
        assert_eq!([0.1, 0.2, 0.49, 0.51, 0.9].map(|q| binomial(q, 3, 0.5)), [0, 1, 1, 2, 3]);
    }
}
