//! A weighted population of states on the way from the prior to the posterior: how far it can go at once, and its
//! spread.

use crust_math::random::Stream;
use pxfm::{f_exp, f_log};

/// Log likelihoods of a population at one β, which stand for `p_β` with equal weights.
pub(super) struct Likelihoods<'a> {
    pub(super) values: &'a [f64],
}

/// A step along the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stride {
    pub(super) beta: f64,
    /// Its thermodynamic length.
    pub(super) length: f64,
}

/// Two neighbours on the path.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    /// (Σ w)² / Σ w² over the number of states.
    efficiency: f64,
    /// The Jeffreys divergence between them, rise · (mean log likelihood of the one − mean of the other): what a step
    /// adds to the gap of the sandwich if kernels forget.
    jeffreys: f64,
}

/// The integrated autocorrelation time of a quantity, in moves, from its values in a population at successive moves:
/// 1 + 2 Σ ρ over all lags. The correlations are those of ranks, since log likelihoods may have very heavy
/// tails; beyond the longest lag they are continued as a geometric series.
pub(super) fn relaxation(values: &[Vec<f64>]) -> f64 {
    /// What a few moves of a small population can tell at most.
    const HIGHEST: f64 = 0.98;
    /// Correlations below this are taken for noise.
    const NOISE: f64 = 0.1;
    let ranked: Vec<Vec<f64>> = values.iter().map(|values| ranks(values)).collect();
    #[expect(clippy::cast_precision_loss, reason = "moves are few")]
    let float = |n: usize| n as f64;
    let at_lag = |lag: usize| {
        let pairs = ranked.iter().zip(&ranked[lag..]);
        pairs.map(|(a, b)| correlation(a, b)).sum::<f64>() / float(ranked.len() - lag)
    };
    let (mut sum, mut last) = (0.0, 0.0);
    for lag in 1..values.len() {
        last = at_lag(lag).min(HIGHEST);
        if last.is_nan() || last < NOISE {
            return 1.0 + 2.0 * sum;
        }
        sum += last;
    }
    if last == 0.0 {
        return 1.0;
    }
    // The ratio of neighbours, averaged over all lags since single ones are noisy.
    let ratio = f_exp(f_log(last) / float(values.len() - 1)).min(HIGHEST);
    1.0 + 2.0 * (sum + last * ratio / (1.0 - ratio))
}

/// The correlation of centred values; 0 where all are the same.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let scale = (dot(a, a) * dot(b, b)).sqrt();
    if scale > 0.0 { dot(a, b) / scale } else { 0.0 }
}

/// Ranks less their mean. Equal values, which resampling makes, share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    #[expect(clippy::cast_precision_loss, reason = "populations are small")]
    let float = |n: usize| n as f64;
    let mut from = 0;
    while from < order.len() {
        let same = |&&i: &&usize| values[i].total_cmp(&values[order[from]]).is_eq();
        let many = order[from..].iter().take_while(same).count();
        let rank = float(2 * from + many) - float(order.len());
        order[from..from + many].iter().for_each(|&i| ranks[i] = rank);
        from += many;
    }
    ranks
}

/// How far below the lower quartile log likelihoods are told apart, in interquartile ranges.
const FAR: f64 = 20.0;
/// The largest divergence of a step.
const MOST_NATS: f64 = 1.0;
/// Lengths rise strictly.
const SHORTEST: f64 = 1e-6;

impl Comparison {
    /// Whether a step keeps this efficiency and is no further in nats than a step may be.
    fn is_near(self, efficiency: f64) -> bool {
        self.efficiency >= efficiency && (efficiency == 0.0 || self.jeffreys <= MOST_NATS)
    }

    /// Over a short way of thermodynamic length s the log weights are about normal with variance s²: the divergence is
    /// s² and the efficiency e^(−s²). Heavy tails, which only one of them sees, need the longer one.
    fn length(self) -> f64 {
        self.jeffreys.max(-f_log(self.efficiency.clamp(1e-6, 1.0))).sqrt().max(SHORTEST)
    }
}

impl Likelihoods<'_> {
    /// Those with a likelihood, which are the only ones that can go on.
    fn finite(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().copied().filter(|log| log.is_finite())
    }

    pub(super) fn has_any(&self) -> bool {
        self.finite().next().is_some()
    }

    /// What the weights w = likelihood^rise do to the population.
    fn compare(&self, rise: f64) -> Comparison {
        let top = self.finite().fold(f64::NEG_INFINITY, f64::max);
        let floor = self.floor();
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let (mut mean, mut weighted) = (0.0, 0.0);
        for log in self.finite() {
            let w = f_exp(rise * (log - top));
            n += 1.0;
            sum += w;
            squares += w * w;
            mean += log.max(floor) - top;
            weighted += w * (log.max(floor) - top);
        }
        Comparison { efficiency: sum * sum / (squares * n), jeffreys: rise * (weighted / sum - mean / n) }
    }

    /// Far below the bulk of the log likelihoods: what is lower counts as this. Draws from heavy-tailed priors may have
    /// a likelihood of e to the −10³⁰⁰, and their mean would say nothing.
    fn floor(&self) -> f64 {
        let mut sorted: Vec<f64> = self.finite().collect();
        sorted.sort_by(f64::total_cmp);
        let quarter = |quarters: usize| sorted.get(sorted.len() * quarters / 4).copied().unwrap_or(f64::MIN);
        (quarter(1) - FAR * (quarter(3) - quarter(1))).max(f64::MIN)
    }

    /// The furthest β, at most 1, to which the weights keep this efficiency, and which is no further in nats than a
    /// step may be.
    pub(super) fn stride(&self, beta: f64, efficiency: f64) -> Stride {
        let near = |rise| self.compare(rise).is_near(efficiency);
        let length = |rise| self.compare(rise).length();
        if near(1.0 - beta) {
            return Stride { beta: 1.0, length: length(1.0 - beta) };
        }
        // Bisection of the logarithm: likelihoods may differ by 10³ or by 10³⁰⁰.
        let (top, bottom) = self.finite().fold((f64::MIN, f64::MAX), |(a, b), x| (a.max(x), b.min(x)));
        let (mut low, mut high) = (f_log(1e-3 / (top - bottom).min(f64::MAX)), f_log(1.0 - beta));
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if near(f_exp(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let rise = f_exp(low);
        let next = beta + rise;
        // Where the likelihoods are extreme, a sensible rise may be below the resolution of β.
        if next > beta && next < 1.0 {
            Stride { beta: next, length: length(rise) }
        } else {
            Stride { beta: (beta * (1.0 + f64::EPSILON)).clamp(f64::MIN_POSITIVE, 1.0), length: SHORTEST }
        }
    }

    /// The length of the step whose log weights these are, if it keeps this efficiency and is no further in nats than a
    /// step may be.
    pub(super) fn whole_step(&self, efficiency: f64) -> Option<f64> {
        let comparison = self.compare(1.0);
        (self.has_any() && comparison.is_near(efficiency)).then(|| comparison.length())
    }

    /// Which states go on to a further β, by systematic resampling.
    pub(super) fn resample(&self, rise: f64, stream: &mut Stream) -> Vec<usize> {
        let top = self.finite().fold(f64::NEG_INFINITY, f64::max);
        let weight = |log: f64| if log.is_finite() { f_exp(rise * (log - top)) } else { 0.0 };
        let weights: Vec<f64> = self.values.iter().map(|&log| weight(log)).collect();
        let n = weights.len();
        #[expect(clippy::cast_precision_loss, reason = "populations are small")]
        let spacing = weights.iter().sum::<f64>() / n as f64;
        let mut chosen = Vec::with_capacity(n);
        let mut point = stream.uniform() * spacing;
        let mut before = 0.0;
        for (i, w) in weights.iter().enumerate() {
            before += w;
            while *w > 0.0 && point < before && chosen.len() < n {
                chosen.push(i);
                point += spacing;
            }
        }
        // Rounding may leave the last place empty.
        while let (true, Some(&last)) = (chosen.len() < n, chosen.last()) {
            chosen.push(last);
        }
        chosen
    }
}

/// Mean and variance of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) centre: f64,
    pub(super) variance: f64,
}

/// The spread of one coordinate: mean and variance after values beyond 3 robust deviations from the median were moved
/// there, so that heavy tails do not decide. `None` if all values are the same, or none is a number.
pub(super) fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.retain(|x| x.is_finite());
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let quantile = |eighths: usize| values.get((n * eighths / 8).min(n.saturating_sub(1))).copied();
    let (low, middle, high) = (quantile(2)?, quantile(4)?, quantile(6)?);
    // The interquartile range of a normal distribution is 1.349 standard deviations.
    let robust = (high - low) / 1.349;
    let off = |x: f64| if robust > 0.0 { (x - middle).clamp(-3.0 * robust, 3.0 * robust) } else { x - middle };
    #[expect(clippy::cast_precision_loss, reason = "populations are small")]
    let count = n as f64;
    let mean = values.iter().map(|&x| off(x) / count).sum::<f64>();
    let variance = values.iter().map(|&x| (off(x) - mean) * (off(x) - mean) / (count - 1.0)).sum::<f64>();
    (variance > 0.0 && variance.is_finite()).then_some(Spread { centre: middle + mean, variance })
}

#[cfg(test)]
mod tests {
    use crust_math::random::{Purpose, StreamKey};

    use super::*;

    fn stream(seed: u64) -> Stream {
        StreamKey::new(seed, Purpose::TEST).stream()
    }

    /// Log likelihoods of a normal distribution with deviation s: the efficiency of a rise r is e^(−(rs)²) and the
    /// divergence (rs)², so the length is rs.
    #[test]
    fn strides_have_the_length_that_theory_says() {
        let mut stream = stream(1);
        for deviation in [3.0, 3e6] {
            let values: Vec<f64> = (0..20_000).map(|_| -1e3 + deviation * stream.standard_normal()).collect();
            let stride = Likelihoods { values: &values }.stride(0.0, 0.5);
            assert!((stride.length - 2.0_f64.ln().sqrt()).abs() < 0.02);
            assert!((stride.beta * deviation - stride.length).abs() < 0.03, "{deviation}: {stride:?}");
        }
        // A tenth of the population far below: the efficiency hardly sees it, the divergence of 1 nat is what limits
        // the step.
        let tail: Vec<f64> = (0..100).map(|i| if i < 10 { -20.0 } else { -f64::from(i) / 50.0 }).collect();
        let stride = Likelihoods { values: &tail }.stride(0.0, 0.5);
        assert!((0.4..0.6).contains(&stride.beta) && (stride.length - 1.0).abs() < 1e-6, "{stride:?}");
        let flat = Likelihoods { values: &[-5.0; 8] };
        assert!(flat.stride(0.25, 0.5).beta >= 1.0);
        let some = Likelihoods { values: &[-5.0, f64::NAN, f64::NEG_INFINITY, -5.0] };
        assert!(some.stride(0.25, 0.5).beta >= 1.0);
        let extreme = Likelihoods { values: &[-1e300, -1.0, -2e307, -1e301] };
        let stride = extreme.stride(0.0, 0.5);
        assert!(stride.beta > 0.0 && stride.beta < 1e-290, "{stride:?}");
        assert!(extreme.stride(0.5, 0.5).beta > 0.5);
        assert!(!Likelihoods { values: &[f64::NAN] }.has_any());
    }

    #[test]
    fn resampling_is_proportional() {
        let values = [0.0, f64::NEG_INFINITY, 3.0_f64.ln() * 2.0, f64::NAN];
        let mut counts = [0; 4];
        let mut stream = stream(2);
        for _ in 0..1000 {
            let chosen = Likelihoods { values: &values }.resample(0.5, &mut stream);
            assert_eq!(chosen.len(), 4);
            chosen.iter().for_each(|&i| counts[i] += 1);
        }
        // Systematic: exactly 1 and 3 of 4 each time.
        assert_eq!(counts, [1000, 0, 3000, 0]);
    }

    /// An autoregressive process with coefficient φ has the time (1 + φ)/(1 − φ). The rank correlation of normal
    /// variables is lower than φ by 0.02 at most.
    #[test]
    fn relaxation_is_that_of_an_autoregressive_process() {
        let mut stream = stream(4);
        for phi in [0.0, 0.5, 0.9_f64] {
            let noise = (1.0 - phi * phi).sqrt();
            let mut x: Vec<f64> = (0..1000).map(|_| stream.standard_normal()).collect();
            let mut values = vec![];
            for _ in 0..7 {
                // Any rising function of the process has the same ranks.
                values.push(x.iter().map(|x| x.powi(3)).collect());
                x = x.iter().map(|x| phi * x + noise * stream.standard_normal()).collect();
            }
            let expected = (1.0 + phi) / (1.0 - phi);
            assert!((relaxation(&values) / expected - 1.0).abs() < 0.15, "{phi}: {}", relaxation(&values));
        }
        assert!((relaxation(&[vec![1.0; 5], vec![2.0; 5]]) - 1.0).abs() < 1e-12);
        assert!((relaxation(&[]) - 1.0).abs() < 1e-12);
        let stuck = (0..9).map(f64::from).collect::<Vec<f64>>();
        assert!((relaxation(&[stuck.clone(), stuck]) - 99.0).abs() < 1e-9);
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [0.0, -3.0, 0.0, 3.0]);
    }

    #[test]
    fn spread_is_the_variance_unless_tails_are_heavy() {
        let mut stream = stream(3);
        let normal: Vec<f64> = (0..10_000).map(|_| 5.0 + 3.0 * stream.standard_normal()).collect();
        // The clamp takes off 0.5 % of the variance, whose relative standard error is 1.4 %.
        let spread_of_normal = spread(normal).unwrap();
        assert!((spread_of_normal.variance / 9.0 - 1.0).abs() < 0.08 && (spread_of_normal.centre - 5.0).abs() < 0.15);
        let cauchy: Vec<f64> = (0..10_000).map(|_| stream.cauchy(0.0, 1.0).unwrap()).collect();
        assert!(spread(cauchy).unwrap().variance < 20.0);
        assert_eq!(spread(vec![2.0; 9]), None);
        assert_eq!(spread(vec![f64::NAN]), None);
        assert_eq!(spread(vec![]), None);
    }
}
