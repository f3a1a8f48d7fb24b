//! The level at which intervals of many functionals hold at once: the studentised maximum over the chains.
//!
//! Intervals of level 1 − a hold at once with probability 1 − α if a = 2 (1 − Φ(c)), where c is the 1 − α quantile of
//! the largest |Zₖ| and Z is normal with the correlations of the estimates. Those are the correlations of the influence
//! functions over chains; Z is simulated by giving chains random normal weights (the multiplier bootstrap of
//! Chernozhukov, Chetverikov & Kato 2013). Functionals that say the same thing so cost nothing extra. Never below
//! Bonferroni's α/K, which holds whatever the correlations are.

use crate::number::count;
use crust_math::random::{Purpose, StreamKey};
use crust_math::special::erfc;

/// Random weightings of the chains: the error of c is about 0.02.
const WEIGHTINGS: usize = 2000;
/// Weightings side by side.
const WIDTH: usize = 8;

/// The level a, given the influence of each chain on each functional.
pub(super) fn simultaneous(influences: Vec<Vec<f64>>, alpha: f64, seed: u64) -> f64 {
    let least = alpha / count(influences.len().max(1));
    let influences: Vec<Vec<f64>> = influences.into_iter().filter_map(normalised).collect();
    let Some(chains) = influences.first().map(Vec::len) else { return least };
    let key = StreamKey::new(seed, Purpose::RESAMPLE);
    let mut greatest = Vec::with_capacity(WEIGHTINGS);
    let mut weights = vec![[0.0; WIDTH]; chains];
    for group in 0..WEIGHTINGS / WIDTH {
        key.step(group as u64).stream().fill_normal(weights.as_flattened_mut());
        let mut most = [0.0_f64; WIDTH];
        for influence in &influences {
            let mut sums = [0.0; WIDTH];
            for (psi, weight) in influence.iter().zip(&weights) {
                (0..WIDTH).for_each(|i| sums[i] += psi * weight[i]);
            }
            (0..WIDTH).for_each(|i| most[i] = most[i].max(sums[i].abs()));
        }
        greatest.extend(most);
    }
    greatest.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    let rank = ((1.0 - alpha) * count(greatest.len())).ceil() as usize;
    let c = greatest[rank.clamp(1, greatest.len()) - 1];
    erfc(c / std::f64::consts::SQRT_2).clamp(least, alpha)
}

/// To the length 1; `None` if there is none.
fn normalised(mut influence: Vec<f64>) -> Option<Vec<f64>> {
    let length = influence.iter().map(|x| x * x).sum::<f64>().sqrt();
    influence.iter_mut().for_each(|x| *x /= length);
    (length > 0.0 && length.is_finite()).then_some(influence)
}
