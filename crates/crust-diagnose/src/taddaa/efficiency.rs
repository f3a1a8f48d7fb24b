//! What draws of Markov chains, and short chains that start at them, are worth.

use super::Item;
use crate::convergence::ess_mean;
use crate::number::count;

/// How many independent ones each is worth for a functional, at most 1: the effective sample size of the functional's
/// influence over their number. They come one after the other from Markov chains of the given lengths; without
/// lengths they are independent.
///
/// Short chains that forget where they started are independent even if their starts are not, and those that do not
/// forget depend on each other as much as their starts do. Their own autocorrelation, in the order of the starts, tells
/// both.
pub fn efficiency(item: &Item<'_>, lengths: &[usize]) -> f64 {
    let influence = item.summary().influence;
    let mut rest = &influence[..];
    let mut parts: Vec<&[f64]> = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (part, after) = rest.split_at(length.min(rest.len()));
        parts.push(part);
        rest = after;
    }
    let used = parts.iter().map(|part| part.len()).min().unwrap_or(0) * parts.len();
    let share = ess_mean(&parts) / count(used);
    if share.is_finite() { share.min(1.0) } else { 1.0 }
}
