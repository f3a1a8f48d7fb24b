//! Means that few chains decide: whether a sample can tell the mean of its distribution at all, and an upper limit for
//! it.
//!
//! B is a mean of work values, and nothing keeps their tail from being so heavy that there is no mean: with prior mass
//! at σ = 0 the log likelihood has mean −∞ under the prior. A sample mean with its standard error then says what the
//! worst of the chains did.

use super::jeffreys_quartiles;
use crate::convergence::{mean, sd};
use crate::number::count;
use crate::psis::{GREATEST_GOOD_SHAPE, GeneralisedPareto, SHORTEST_TAIL, tail_length};

/// One-sided limits hold with this probability.
pub const LIMIT_LEVEL: f64 = 0.95;
/// The quantile of the normal distribution at that level.
const LIMIT_QUANTILE: f64 = 1.644_853_626_951_472_2;
/// The shape for an upper limit is this many standard errors above its estimate.
const SHAPE_ERRORS: f64 = 1.0;
/// Shapes are taken for at most this: the mean grows as 1/(1 − k).
const GREATEST_SHAPE: f64 = 0.95;

/// k-hat of 20 values is off by 0.3, and is above 0.7 by chance now and then. A tail without a mean on the scale of a
/// tenth of a nat has a value so many nats beyond the threshold in all but one of a thousand samples of 200; where there
/// is none, the limit is that of the greatest shape.
const MATTERS: f64 = 1.0;

/// What values whose upper tail may be heavy say about their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanLimit {
    pub mean: f64,
    /// Meaningless unless there is a variance, k < 1/2.
    pub se: f64,
    /// k of a generalised Pareto distribution fitted to the largest values: there is a mean if k < 1. NaN where there
    /// are too few values.
    pub khat: f64,
    /// The mean is below this with probability [`LIMIT_LEVEL`]; infinite if the values do not show that there is a
    /// mean.
    pub upper: f64,
}

/// An upper limit for the mean of a distribution from independent values.
///
/// The mean of x is E[min(x, u)] + P(x > u) E[x − u | x > u], and with the threshold u high enough the exceedances x −
/// u are about generalised Pareto with mean σ/(1 − k). Their sample mean is low most of the time if k is large, because
/// what decides it is not in the sample. So k is taken one standard error (1 + k)/√m higher than estimated, σ such that
/// the median is that of the exceedances, and their mean no lower than the sample's; the rest is the usual limit. From
/// k-hat 0.7 on (as for importance weights) nothing is claimed, unless all values are close together.
///
/// Over 2,000 samples of 100 values it was above the mean in 98 % for normal, 99 % for exponential and 98 % for
/// log-normal values, in 96 % for Pareto tails with k = 0.5, 89 % with k = 0.7 and 97 % with k = 2, where there is no
/// mean (the usual limit: 95, 92, 89, 81, 61 and 0 %).
pub fn mean_limit(values: &[f64]) -> MeanLimit {
    let (n, mean, se) = (values.len(), mean(values), sd(values) / count(values.len()).sqrt());
    if !mean.is_finite() {
        return MeanLimit { mean, se, khat: f64::INFINITY, upper: f64::INFINITY };
    }
    let tail = tail_length(n, 1.0);
    if tail < SHORTEST_TAIL || tail >= n {
        return MeanLimit { mean, se, khat: f64::NAN, upper: mean + small_sample_quantile(n) * se };
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (below, above) = sorted.split_at(n - tail);
    let threshold = below[below.len() - 1];
    let exceedances: Vec<f64> = above.iter().map(|x| x - threshold).collect();
    if exceedances[tail - 1] <= 0.0 {
        return MeanLimit { mean, se, khat: 0.0, upper: mean + LIMIT_QUANTILE * se };
    }
    // ties with the threshold would make a scale of 0
    let positive: Vec<f64> = exceedances.iter().copied().filter(|x| *x > 0.0).collect();
    let khat = GeneralisedPareto::fit(&positive).map_or(f64::INFINITY, |fit| fit.shape);
    if khat >= GREATEST_GOOD_SHAPE && exceedances[tail - 1] > MATTERS {
        return MeanLimit { mean, se, khat, upper: f64::INFINITY };
    }
    let least = khat.max(0.0);
    let shape = (least + SHAPE_ERRORS * (1.0 + least) / count(tail).sqrt()).min(GREATEST_SHAPE);
    let median = exceedances[tail / 2];
    let pareto_mean = median * shape / (2.0_f64.powf(shape) - 1.0) / (1.0 - shape);
    let sample_mean = exceedances.iter().sum::<f64>() / count(tail);
    let upper = mean + (pareto_mean - sample_mean).max(0.0) * count(tail) / count(n) + LIMIT_QUANTILE * se;
    MeanLimit { mean, se, khat, upper }
}

/// The 95 % quantile of Student's t distribution with n − 1 degrees of freedom, for few values; infinite for one.
///
/// Hill's expansion in 1/(n − 1): within 1 % from 3 degrees of freedom on, and the exact values below.
pub(crate) fn small_sample_quantile(n: usize) -> f64 {
    match n {
        0 | 1 => f64::INFINITY,
        2 => 6.313_752,
        3 => 2.919_986,
        _ => {
            let (z, f) = (LIMIT_QUANTILE, count(n - 1));
            z + (z.powi(3) + z) / (4.0 * f) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * f * f)
        }
    }
}

/// B̂ with what is known about its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JeffreysLimit {
    /// The mean of B̂ over single chains, but no less than 0: a divergence is not negative.
    pub estimate: f64,
    /// B is below this with probability [`LIMIT_LEVEL`]; infinite if chains do not show that B is finite.
    pub upper: f64,
    /// The median over pairs of a forward and a reverse chain, which exists in any case.
    pub median: f64,
    /// Of −log w of forward chains and of −log `w_rev` of reverse chains.
    pub khat_forward: f64,
    pub khat_reverse: f64,
    /// How many chains make up half of what B̂ has beyond its median, of both directions together.
    pub deciding: usize,
}

/// An upper limit on B = E[−log `w_rev`] − E[log w] (Eqs. 11–13): the bad tails are low forward weights and high
/// reverse estimates.
pub fn jeffreys_limit(forward: &[f64], reverse: &[f64]) -> JeffreysLimit {
    let losses: Vec<f64> = forward.iter().map(|w| -w).collect();
    let (down, up) = (mean_limit(&losses), mean_limit(reverse));
    let value = down.mean + up.mean;
    // B is not negative: an estimate that is by chance does not make the limit smaller
    let upper = value.max(0.0) + (down.upper - down.mean).hypot(up.upper - up.mean);
    JeffreysLimit {
        estimate: value.max(0.0),
        // nothing is known where the sum is ∞ − ∞
        upper: if upper.is_nan() { f64::INFINITY } else { upper.max(0.0) },
        median: jeffreys_quartiles(forward, reverse)[1],
        khat_forward: down.khat,
        khat_reverse: up.khat,
        deciding: deciding(&losses, reverse),
    }
}

/// The least number of values that make up half of the sum of what is above the median of its direction.
fn deciding(losses: &[f64], reverse: &[f64]) -> usize {
    let beyond = |values: &[f64]| -> Vec<f64> {
        let median = super::quartiles(values)[1];
        values.iter().map(|x| x - median).filter(|x| *x > 0.0).collect()
    };
    let mut all = beyond(losses);
    all.extend(beyond(reverse));
    all.sort_by(|a, b| b.total_cmp(a));
    let half = all.iter().sum::<f64>() / 2.0;
    if half.is_infinite() {
        return all.iter().filter(|x| x.is_infinite()).count();
    }
    let mut before = 0.0;
    let needed = |x: &&f64| {
        let short = before < half;
        before += **x;
        short
    };
    all.iter().take_while(needed).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, Stream, StreamKey};

    /// The share of samples of 100 whose limit is above the mean, and the share without a finite one.
    fn coverage(truth: f64, draw: impl Fn(&mut Stream) -> f64) -> (f64, f64) {
        coverage_of(100, truth, draw)
    }

    /// The same for samples of another size.
    fn coverage_of(size: usize, truth: f64, draw: impl Fn(&mut Stream) -> f64) -> (f64, f64) {
        let samples = 600_u32;
        let (mut covered, mut infinite) = (0.0, 0.0);
        for sample in 0..samples {
            let mut stream = StreamKey::new(1, Purpose::DATA).dataset(sample).stream();
            let values: Vec<f64> = (0..size).map(|_| draw(&mut stream)).collect();
            let upper = mean_limit(&values).upper;
            covered += f64::from(u8::from(upper >= truth));
            infinite += f64::from(u8::from(upper.is_infinite()));
        }
        (covered / f64::from(samples), infinite / f64::from(samples))
    }

    fn pareto(k: f64) -> impl Fn(&mut Stream) -> f64 {
        move |stream| (stream.uniform().powf(-k) - 1.0) / k
    }

    /// Each share is within 3 standard errors (0.027 at 95 %) of its long-run value with the fixed seed.
    #[test]
    fn limits_hold_at_their_rate() {
        let normal = |s: &mut Stream| (0..12).map(|_| s.uniform()).sum::<f64>() - 6.0;
        let (covered, infinite) = coverage(0.0, normal);
        assert!(covered > 0.95 && infinite < 0.01, "{covered} {infinite}");
        let (covered, infinite) = coverage(1.0, |s| -s.uniform().ln());
        assert!(covered > 0.95 && infinite < 0.03, "{covered} {infinite}");
        let (covered, infinite) = coverage(2.0, pareto(0.5));
        assert!(covered > 0.93 && infinite < 0.3, "{covered} {infinite}");
        // without a mean: σ ~ |N| has P(1/σ² > x) ~ x^(−1/2)
        let (covered, _) = coverage(f64::INFINITY, pareto(2.0));
        assert!(covered > 0.94, "{covered}");
    }

    /// Forty chains, which are run where time is short: limits hold, but one sample in four does not show that there is no
    /// mean, so that they only follow a hundred that had a finite limit.
    #[test]
    fn limits_of_few_chains_hold_as_well() {
        let normal = |s: &mut Stream| (0..12).map(|_| s.uniform()).sum::<f64>() - 6.0;
        let covered = [
            coverage_of(40, 0.0, normal).0,
            coverage_of(40, 1.0, |s| -s.uniform().ln()).0,
            coverage_of(40, 2.0, pareto(0.5)).0,
        ];
        assert!(covered.iter().all(|share| *share > 0.96), "{covered:?}");
        let (without_mean, _) = coverage_of(40, f64::INFINITY, pareto(2.0));
        assert!((0.7..0.9).contains(&without_mean), "{without_mean}");
    }

    #[test]
    fn degenerate_values_are_told_as_they_are() {
        let same = mean_limit(&[2.0; 50]);
        assert_eq!((same.mean, same.upper, same.khat), (2.0, 2.0, 0.0));
        let few = mean_limit(&[1.0, 2.0, 3.0, 4.0]);
        assert!(few.khat.is_nan() && (few.upper - (2.5 + 2.353 * few.se)).abs() < 0.05 * few.se, "{few:?}");
        assert!(mean_limit(&[1.0]).upper.is_nan() || mean_limit(&[1.0]).upper.is_infinite());
        let infinite: Vec<f64> = (0..40).map(|i| if i == 3 { f64::INFINITY } else { 1.0 }).collect();
        assert!(mean_limit(&infinite).upper.is_infinite());
    }

    #[test]
    fn bounds_on_divergences_are_not_negative_and_name_who_decides() {
        let forward: Vec<f64> = (0..100).map(|i| 0.01 * f64::from(i)).collect();
        // reverse estimates below forward ones by chance
        let reverse: Vec<f64> = forward.iter().map(|x| x - 0.001).collect();
        let limit = jeffreys_limit(&forward, &reverse);
        assert!(limit.estimate == 0.0 && limit.upper > 0.0 && limit.upper < 0.5, "{limit:?}");
        let mut worst = forward.clone();
        worst[17] = -1e9;
        let limit = jeffreys_limit(&worst, &reverse);
        assert_eq!(limit.deciding, 1);
        assert!(limit.upper.is_infinite() && limit.khat_forward > 0.7 && limit.median.abs() < 0.1, "{limit:?}");
        worst[18] = f64::NEG_INFINITY;
        worst[19] = f64::NEG_INFINITY;
        assert_eq!(jeffreys_limit(&worst, &reverse).deciding, 2);
    }
}
