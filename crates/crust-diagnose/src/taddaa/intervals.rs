//! Confidence intervals for how much a functional has moved (equations 2 to 4 of the paper, corrected).

use super::Item;
use super::functional::{Functional, Kind, estimate, moments, quantile_rank, sorted};
use super::quantiles::{binomial, chi_square, student};
use crate::number::count;
use crust_math::special::{erfc, inv_Phi, inv_inc_beta};

/// An interval; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// What the approximation says of a functional: exactly if it has a formula, with an error if it was computed from
/// draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    pub value: f64,
    pub standard_error: f64,
}

impl Known {
    pub fn exactly(value: f64) -> Self {
        Self { value, standard_error: 0.0 }
    }

    /// From draws of the approximation. `efficiency` is how many independent draws one of them is worth: 1, unless they
    /// are of a Markov chain.
    pub fn of_draws(functional: &Functional, draws: &[f64], other: Option<&[f64]>, efficiency: f64) -> Self {
        const ALPHA: f64 = 0.05;
        let before = Self::exactly(0.0);
        let item = Item { functional: functional.clone(), end: draws, states: 1, other, before, efficiency };
        let summary = item.summary();
        let Interval { low, high } = summary.interval(ALPHA);
        let normal = inv_Phi(1.0 - 0.5 * ALPHA);
        Self { value: summary.estimate, standard_error: (high - low) / (2.0 * normal) }
    }
}

/// Everywhere.
const NOTHING_KNOWN: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// What all intervals of a functional are computed from.
pub(super) struct Summary<'a> {
    item: &'a Item<'a>,
    pub estimate: f64,
    /// Of each chain.
    pub influence: Vec<f64>,
    /// The states in order; for quantiles only.
    sorted: Vec<f64>,
}

impl Item<'_> {
    pub(super) fn summary(&self) -> Summary<'_> {
        let (estimate, sorted) = match self.functional.kind {
            Kind::Quantile(p) => {
                let sorted = sorted(self.end);
                (order_statistic(&sorted, quantile_rank(sorted.len(), p)), sorted)
            }
            kind => (estimate(kind, self.end, self.other), Vec::new()),
        };
        let states = self.states.max(1);
        let each = self.influence_of_states(estimate);
        let influence = each.chunks_exact(states).map(|chain| chain.iter().sum::<f64>() / count(states)).collect();
        Summary { item: self, estimate, influence, sorted }
    }

    /// An interval for F(after) − F(approximation) at the level 1 − α.
    pub fn interval(&self, alpha: f64) -> Interval {
        self.summary().interval(alpha)
    }
}

impl Summary<'_> {
    /// An interval for F(after) − F(approximation) at the level 1 − α. The error of what the approximation says is
    /// added in squares.
    pub fn interval(&self, alpha: f64) -> Interval {
        let after = self.interval_after(alpha);
        let (estimate, before) = (self.estimate, self.item.before);
        let more = inv_Phi(1.0 - 0.5 * alpha) * before.standard_error;
        let at = estimate - before.value;
        Interval { low: at - (estimate - after.low).hypot(more), high: at + (after.high - estimate).hypot(more) }
    }

    /// An interval for the functional of the distribution of the states that count.
    ///
    /// With one state of each of N independent chains these are the paper's. With M states of each, chains are still
    /// independent of each other, so that a mean has Student's interval of the chains' own averages. The other
    /// functionals have the interval of one state of N m independent chains, where m is what a chain's M states are
    /// worth: the variance of the functional's influence over states, over that of its averages over chains (Korn &
    /// Graubard 1998 do so for proportions). m is estimated from N chains; as they do, the normal quantile of the
    /// level is widened to Student's for that.
    fn interval_after(&self, alpha: f64) -> Interval {
        let chains = self.effective_chains();
        if self.item.chains() < 2 || self.item.end.iter().any(|x| !x.is_finite()) {
            return NOTHING_KNOWN;
        }
        let student_alpha = if self.item.states > 1 {
            erfc(student((chains - 1.0).max(1.0), 1.0 - 0.5 * alpha) / std::f64::consts::SQRT_2)
        } else {
            alpha
        };
        match self.item.functional.kind {
            Kind::Mean | Kind::Covariance => self.average(alpha),
            Kind::LogVariance => self.log_variance(student_alpha),
            Kind::Deviation => {
                let of_log = self.log_variance(student_alpha);
                Interval { low: (0.5 * of_log.low).exp(), high: (0.5 * of_log.high).exp() }
            }
            Kind::Quantile(p) => self.quantile(p, student_alpha),
            Kind::Probability => self.probability(student_alpha),
        }
    }

    /// How many independent chains there are.
    fn effective_chains(&self) -> f64 {
        count(self.item.chains()) * self.item.efficiency
    }

    /// N m: how many independent states all are worth, given the variance of the influence of one.
    fn effective_states(&self, variance: f64) -> f64 {
        let of_averages = moments(&self.influence).1;
        let worth = if of_averages > 0.0 { variance / of_averages } else { count(self.item.states) };
        self.effective_chains() * worth.clamp(1.0, count(self.item.states))
    }

    /// Equation 2: x̄ ± s/√N t(1 − α/2), where s is that of the chains' averages.
    fn average(&self, alpha: f64) -> Interval {
        let n = self.effective_chains();
        let spread = moments(&self.influence).1.sqrt();
        let margin = student((n - 1.0).max(1.0), 1.0 - 0.5 * alpha) * spread / n.sqrt();
        Interval { low: self.estimate - margin, high: self.estimate + margin }
    }

    /// Equation 3 for log σ², with s² where the paper prints s: log(ν s²/χ²(1 − α/2)), log(ν s²/χ²(α/2)).
    ///
    /// ν is N − 1 for normal values. In general the variance of log s² is (κ − 1)/N with the kurtosis κ, as with ν =
    /// 2(N − 1)/(κ − 1) degrees of freedom (Box 1953); heavier tails than the normal one's therefore widen the interval.
    fn log_variance(&self, alpha: f64) -> Interval {
        let (mean, variance) = moments(self.item.end);
        if variance <= 0.0 {
            return NOTHING_KNOWN;
        }
        let n = count(self.item.end.len());
        let fourth = self.item.end.iter().map(|x| (x - mean).powi(4)).sum::<f64>() / n;
        let square = (variance * (n - 1.0) / n).powi(2);
        let states = self.effective_states(fourth - square);
        let degrees = ((states - 1.0) * 2.0 / ((fourth / square).max(3.0) - 1.0)).max(1.0);
        let end = |p: f64| (degrees * variance / chi_square(degrees, p)).ln();
        Interval { low: end(1.0 - 0.5 * alpha), high: end(0.5 * alpha) }
    }

    /// The order statistics of ranks B(α/2) and B(1 − α/2) + 1 of N (below equation 4), or of the same parts of all
    /// states. Ranks 0 and N + 1 are infinitely far.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ranks are small and positive")]
    fn quantile(&self, p: f64, alpha: f64) -> Interval {
        if !(p > 0.0 && p < 1.0) {
            return NOTHING_KNOWN;
        }
        let sorted = &self.sorted;
        let states = self.effective_states(p * (1.0 - p)).floor().max(1.0) as usize;
        let each = count(sorted.len()) / count(states);
        let low = count(binomial(0.5 * alpha, states, p)) * each;
        let high = count(binomial(1.0 - 0.5 * alpha, states, p) + 1) * each;
        // A rank that is almost whole is whole.
        let (low, high) = ((low + 1e-9).floor() as usize, (high - 1e-9).ceil() as usize);
        Interval { low: order_statistic(sorted, low), high: order_statistic(sorted, high) }
    }

    /// Clopper & Pearson's (1934) exact interval; valid also where the event never happened.
    fn probability(&self, alpha: f64) -> Interval {
        let share = self.estimate;
        let n = self.effective_states(share * (1.0 - share));
        let k = share * n;
        Interval {
            low: if share <= 0.0 { 0.0 } else { inv_inc_beta(k, n - k + 1.0, 0.5 * alpha) },
            high: if share >= 1.0 { 1.0 } else { inv_inc_beta(k + 1.0, n - k, 1.0 - 0.5 * alpha) },
        }
    }
}

/// X₍ₖ₎, with X₍₀₎ = −∞ and X₍ₙ₊₁₎ = ∞.
pub(super) fn order_statistic(sorted: &[f64], rank: usize) -> f64 {
    match rank {
        0 => f64::NEG_INFINITY,
        rank => sorted.get(rank - 1).copied().unwrap_or(f64::INFINITY),
    }
}
