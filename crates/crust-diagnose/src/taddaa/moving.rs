//! Whether functionals still move while they are looked at.
//!
//! The bounds need that errors only shrink (the paper's condition 1). A functional that was right may be pulled away by
//! others that were not before it comes back, and then looks wrong by what is left of that. Once all functionals stand
//! still this is over. Of each chain, D is the average influence of the second half of its states less that of the
//! first. These are independent over chains with mean 0 if the functional stands still, so that √N times their mean
//! over their standard deviation has about Student's distribution.

use super::Item;
use super::functional::moments;
use super::quantiles::student;
use crate::number::count;

/// Whether any functional moves, with an error probability of α for all together (Bonferroni's). False with one state
/// of each chain: then nothing can be told.
pub(super) fn still_moving(items: &[Item<'_>], alpha: f64) -> bool {
    let each = alpha / count(items.len().max(1));
    items.iter().any(|item| {
        let (n, half) = (count(item.chains()) * item.efficiency, item.states / 2);
        if half == 0 || n <= 2.0 {
            return false;
        }
        let average = |x: &[f64]| x.iter().sum::<f64>() / count(x.len());
        let influence = item.influence_of_states(item.estimate());
        let differences: Vec<f64> = influence
            .chunks_exact(item.states)
            .map(|chain| average(&chain[item.states - half..]) - average(&chain[..half]))
            .collect();
        let (mean, variance) = moments(&differences);
        mean.abs() > student(n - 1.0, 1.0 - 0.5 * each) * (variance / n).sqrt()
    })
}
