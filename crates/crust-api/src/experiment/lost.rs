//! Chains of a fit that fell into a place that has next to nothing of the posterior.
//!
//! Where trajectories depend on solutions of equations, a chain may begin where nothing fits, and stay there with steps
//! so short that the others are done before it has warmed up. It says nothing about the posterior but that one can get
//! lost. So such chains are begun anew at other starts; chains from other starts look at all places that have a share.

use super::fit::{Chain, FEWEST_DRAWS};
use super::scouts::{log_mass, negligible, tells_correlations};
use crust_diagnose::convergence::mean;

/// The places of chains that are lost, if at least two others are not.
pub(super) fn lost(chains: &[Chain]) -> Vec<usize> {
    let d = chains.iter().find_map(|chain| chain.points.first()).map_or(0, Vec::len);
    let (warm, cold): (Vec<usize>, Vec<usize>) =
        (0..chains.len()).partition(|&i| chains[i].points.len() >= FEWEST_DRAWS);
    let mass = |i: usize| log_mass(&chains[i], tells_correlations(chains[i].points.len(), d));
    let most = warm.iter().map(|&i| mass(i)).fold(f64::NEG_INFINITY, f64::max);
    let high = warm.iter().map(|&i| mean(&chains[i].log_densities)).fold(f64::NEG_INFINITY, f64::max);
    let away = |i: &usize| mass(*i) < most - negligible(d);
    // Nobody knows how wide the place of a chain without draws is: a hundred times as wide in each coordinate, say.
    let below = |i: &usize| chains[*i].last < high - negligible(d) - WIDER * width(d);
    let mut found: Vec<usize> = warm.iter().copied().filter(away).chain(cold.into_iter().filter(below)).collect();
    found.sort_unstable();
    if found.len() + 2 > chains.len() { Vec::new() } else { found }
}

/// log 100.
const WIDER: f64 = 4.6;

#[expect(clippy::cast_precision_loss, reason = "dimensions are far fewer than 2⁵³")]
fn width(dimension: usize) -> f64 {
    dimension as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of N(0, 1) with a constant.
    fn chain(draws: u32, at: f64, constant: f64) -> Chain {
        let z = |k: u32| f64::from(k * 37 % 101) / 25.0 - 2.0;
        let points: Vec<Vec<f64>> = (0..draws).map(|k| vec![at + z(k)]).collect();
        let log_densities: Vec<f64> = (0..draws).map(|k| constant - 0.5 * z(k) * z(k)).collect();
        Chain { last: constant, points, log_densities, ..Chain::default() }
    }

    #[test]
    fn chains_with_next_to_nothing_are_lost() {
        let good = || chain(200, 0.0, 0.0);
        assert!(lost(&[good(), good(), good(), good()]).is_empty());
        assert_eq!(lost(&[good(), chain(200, 9.0, -30.0), good(), good()]), [1]);
        assert!(lost(&[good(), chain(200, 9.0, -10.0), good(), good()]).is_empty(), "a share of e⁻¹⁰ counts");
        // without draws: the density has to be lower than any width makes up for
        assert_eq!(lost(&[good(), good(), good(), chain(0, 0.0, -30.0)]), [3]);
        assert!(lost(&[good(), good(), good(), chain(0, 0.0, -18.0)]).is_empty());
        assert!(lost(&[good(), chain(0, 0.0, -90.0), chain(0, 0.0, -90.0), chain(0, 0.0, -90.0)]).is_empty());
    }
}
