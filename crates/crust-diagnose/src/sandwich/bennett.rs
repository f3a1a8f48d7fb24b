//! Bennett's acceptance ratio: the estimate of log Z that uses both directions at once.

use crate::number::count;

/// With less, no chain of one direction looks like one of the other: any number between the two would do.
const LEAST_OVERLAP: f64 = 1e-4;

/// An estimate of log Z; none if the two directions do not overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bennett {
    pub log_z: f64,
    /// For independent chains; infinite if the two directions do not overlap.
    pub se: f64,
    /// How much the two directions overlap: between 0 and 1, where 1 is for weights that do not vary.
    pub overlap: f64,
}

/// The maximum-likelihood estimate of log Z from `forward` and `reverse` estimates (Bennett 1976; Shirts et al. 2003).
///
/// Forward and reverse chains are the same paths with probabilities whose ratio is w/Z (Eq. 22), so the densities of
/// log w in the two directions obey `q_rev`(v) = `q_fwd`(v) e^(v − log Z). A value v that is known to come from one of
/// them was therefore made by a reverse chain with probability σ(v − log Z − M), with M = log(n/k) for n forward and k
/// reverse chains: a logistic regression of slope 1, whose intercept is estimated here. The variance is that of the
/// intercept, (1/Σ σ(1 − σ)) − 1/n − 1/k, as the numbers of chains are fixed.
pub fn bennett(forward: &[f64], reverse: &[f64]) -> Bennett {
    let nothing = Bennett { log_z: f64::NAN, se: f64::NAN, overlap: 0.0 };
    if forward.is_empty() || reverse.is_empty() {
        return nothing;
    }
    let m = (count(forward.len()) / count(reverse.len())).ln();
    let finite = || forward.iter().chain(reverse).copied().filter(|v| v.is_finite());
    let (Some(least), Some(greatest)) = (finite().reduce(f64::min), finite().reduce(f64::max)) else { return nothing };
    // Outside of this range, one of the sums is zero to the last digit
    let (mut low, mut high) = (least - m.abs() - 50.0, greatest + m.abs() + 50.0);
    if excess(forward, reverse, low + m) <= 0.0 || excess(forward, reverse, high + m) >= 0.0 {
        return nothing;
    }
    // the excess falls steadily; bisection needs no care where it is flat
    while high - low > 1e-13 * (1.0 + low.abs().max(high.abs())) {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if excess(forward, reverse, middle + m) > 0.0 { low = middle } else { high = middle }
    }
    let log_z = f64::midpoint(low, high);
    let information: f64 = forward.iter().chain(reverse).map(|v| variance(v - log_z - m)).sum();
    let (n, k) = (count(forward.len()), count(reverse.len()));
    // 1/information is at least 1/n + 1/k, but for rounding
    let se = (1.0 / information - 1.0 / n - 1.0 / k).max(0.0).sqrt();
    let overlap = (information * (1.0 / n + 1.0 / k)).min(1.0);
    if overlap < LEAST_OVERLAP {
        return Bennett { log_z: f64::NAN, se: f64::INFINITY, overlap };
    }
    Bennett { log_z, se, overlap }
}

/// Σ over forward chains of P(reverse | v), minus Σ over reverse chains of P(forward | v): zero at the estimate.
fn excess(forward: &[f64], reverse: &[f64], shift: f64) -> f64 {
    let forward: f64 = forward.iter().map(|v| logistic(v - shift)).sum();
    let reverse: f64 = reverse.iter().map(|v| logistic(shift - v)).sum();
    forward - reverse
}

pub(super) fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// σ(x)(1 − σ(x)).
pub(super) fn variance(x: f64) -> f64 {
    logistic(x) * logistic(-x)
}
