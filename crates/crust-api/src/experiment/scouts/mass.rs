//! How much of the posterior a place has, where a chain stayed.

use super::super::fit::Chain;
use crust_diagnose::convergence::mean;
use crust_math::linalg::cholesky;

/// Draws for each coordinate, below which correlations are not looked at.
const DRAWS_EACH: usize = 10;

/// log of the integral of the density over the place where a chain is: log Z = E[log f] + H for the distribution of the
/// chain, with its entropy H taken to be that of a normal distribution, ½ log det(2πe Σ), which is the largest that Σ
/// allows. Exact for a normal place. Without correlations Σ is diagonal. −∞ for a chain that did not move.
pub(crate) fn log_mass(chain: &Chain, correlated: bool) -> f64 {
    let d = chain.points.first().map_or(0, Vec::len);
    if chain.points.len() < 2 || d == 0 {
        return f64::NEG_INFINITY;
    }
    let n = count(chain.points.len());
    let centre: Vec<f64> = (0..d).map(|i| chain.points.iter().map(|point| point[i]).sum::<f64>() / n).collect();
    let covariance = |i: usize, j: usize| {
        chain.points.iter().map(|point| (point[i] - centre[i]) * (point[j] - centre[j])).sum::<f64>() / (n - 1.0)
    };
    let half_log_det = if correlated {
        let mut sigma: Vec<f64> = (0..d * d).map(|k| covariance(k % d, k / d)).collect();
        match cholesky::factor(&mut sigma, d) {
            Ok(()) => cholesky::log_diagonal(&sigma, d),
            Err(_) => f64::NEG_INFINITY,
        }
    } else {
        (0..d).map(|i| 0.5 * covariance(i, i).ln()).sum()
    };
    mean(&chain.log_densities) + half_log_det + 0.5 * count(d) * (2.0 * std::f64::consts::PI * std::f64::consts::E).ln()
}

/// Whether chains of this length tell how coordinates vary together.
pub(crate) fn tells_correlations(draws: usize, dimension: usize) -> bool {
    draws >= DRAWS_EACH * dimension
}

#[expect(clippy::cast_precision_loss, reason = "draws are far fewer than 2⁵³")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    /// Draws of a normal distribution with deviations 2 and 0.1 and a correlation, of a density with log Z = 3.
    fn normal(draws: usize, rho: f64) -> Chain {
        let mut random = StreamKey::new(5, Purpose::TEST).stream();
        let (root, mut chain) = ((1.0 - rho * rho).sqrt(), Chain::default());
        for _ in 0..draws {
            let (a, b) = (random.normal(0.0, 1.0).unwrap(), random.normal(0.0, 1.0).unwrap());
            chain.points.push(vec![7.0 + 2.0 * a, 0.1 * (rho * a + root * b)]);
            let log_q = -0.5 * (a * a + b * b) - (2.0 * std::f64::consts::PI * 2.0 * 0.1 * root).ln();
            chain.log_densities.push(3.0 + log_q);
        }
        chain
    }

    #[test]
    fn a_normal_place_has_its_integral() {
        // The error is that of ½ log χ²/n: about 0.01 for 10,000 draws.
        assert!((log_mass(&normal(10_000, 0.9), true) - 3.0).abs() < 0.05);
        assert!((log_mass(&normal(10_000, 0.0), false) - 3.0).abs() < 0.05);
        // Without correlations the entropy is too large by −½ log(1 − ρ²).
        let excess = -0.5 * (1.0_f64 - 0.81).ln();
        assert!((log_mass(&normal(10_000, 0.9), false) - 3.0 - excess).abs() < 0.05);
    }

    #[test]
    fn a_chain_that_stands_still_has_none() {
        let chain = Chain { points: vec![vec![1.0]; 9], log_densities: vec![5.0; 9], ..Chain::default() };
        let none = |chain: &Chain, correlated: bool| log_mass(chain, correlated) < f64::MIN;
        assert!(none(&chain, false) && none(&chain, true) && none(&Chain::default(), true));
    }
}
