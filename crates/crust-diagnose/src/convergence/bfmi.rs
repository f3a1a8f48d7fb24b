//! E-BFMI: whether the momentum's refreshment moves the energy as far as its distribution is wide.

use super::moments::variance;
use crate::number::count;

/// The energy Bayesian fraction of missing information of each chain, the mean squared step of the energy over its
/// variance (Betancourt 2016, "Diagnosing suboptimal cotangent disintegrations in Hamiltonian Monte Carlo"), with
/// `ArviZ`'s denominators: n − 1 in both. NaN for a constant energy.
pub fn bfmi<C: AsRef<[f64]>>(energy: &[C]) -> Vec<f64> {
    energy.iter().map(|chain| of_chain(chain.as_ref())).collect()
}

fn of_chain(energy: &[f64]) -> f64 {
    let steps: f64 = energy.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    steps / (count(energy.len()) - 1.0) / variance(energy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_examples() {
        // steps 1, 1, 1: mean 1; variance of 1, 2, 3, 4 is 5/3
        let [slow, fast, constant] = bfmi(&[vec![1.0, 2.0, 3.0, 4.0], vec![1.0, -1.0, 1.0, -1.0], vec![2.0; 4]])[..]
        else {
            panic!("three chains")
        };
        assert!((slow - 0.6).abs() < 1e-15, "{slow}");
        assert!((fast - 3.0).abs() < 1e-15, "{fast}");
        assert!(constant.is_nan());
        assert!(bfmi(&[vec![1.0]])[0].is_nan());
    }
}
