//! Statistical tests of samplers.
//!
//! Seeds are fixed, so a test passes always or never. Had the seed been drawn, a correct sampler would fail a test with
//! probability at most [`FALSE_ALARM`] (a bound for Kolmogorov–Smirnov, an approximation for χ² and moments).

use super::{Purpose, Stream, StreamKey};

const FALSE_ALARM: f64 = 1e-6;

pub(super) fn stream(seed: u64) -> Stream {
    StreamKey::new(seed, Purpose::TEST).stream()
}

pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * pxfm::f_erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of samples are small")]
pub(super) fn count(n: usize) -> f64 {
    n as f64
}

/// Draws of a continuous distribution.
pub(super) struct Sample(pub Vec<f64>);

impl Sample {
    pub(super) fn draw(n: usize, stream: &mut Stream, mut draw: impl FnMut(&mut Stream) -> f64) -> Self {
        Self((0..n).map(|_| draw(stream)).collect())
    }

    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().map(|&x| f(x)).collect())
    }

    /// Kolmogorov and Smirnov's test. The level holds for every n: Massart's constant in the inequality of Dvoretzky,
    /// Kiefer and Wolfowitz (1990).
    pub(super) fn follows(&self, name: &str, cdf: impl Fn(f64) -> f64) {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let n = count(sorted.len());
        let mut distance = 0.0_f64;
        for (i, &x) in sorted.iter().enumerate() {
            let p = cdf(x);
            assert!((-1e-9..1.0 + 1e-9).contains(&p), "{name}: the CDF at {x} is {p}");
            distance = distance.max(p - count(i) / n).max(count(i + 1) / n - p);
        }
        let critical = ((2.0 / FALSE_ALARM).ln() / (2.0 * n)).sqrt();
        assert!(distance < critical, "{name}: KS distance {distance} > {critical}");
    }

    /// The mean and, where finite, the variance, within 5 of their standard errors.
    pub(super) fn has_moments(&self, name: &str, mean: f64, variance: f64) {
        let n = count(self.0.len());
        let average = |f: &dyn Fn(f64) -> f64| self.0.iter().map(|&x| f(x)).sum::<f64>() / n;
        let z = (average(&|x| x - mean)) / (variance / n).sqrt();
        assert!(z.abs() < 5.0, "{name}: the mean is {z} standard errors off {mean}");
        let found = average(&|x| (x - mean).powi(2));
        let error = (average(&|x| ((x - mean).powi(2) - variance).powi(2)) / n).sqrt() + 1e-12 * variance;
        let z = (found - variance) / error;
        assert!(z.abs() < 5.0, "{name}: the variance {found} is {z} standard errors off {variance}");
    }
}

/// A distribution function by the trapezoidal rule from an unnormalised log density, which is negligible outside of the
/// interval.
pub(super) fn integrated(low: f64, high: f64, log_density: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    const CELLS: usize = 40_000;
    let step = (high - low) / count(CELLS);
    let logs: Vec<f64> = (0..=CELLS).map(|i| log_density(low + step * count(i))).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut cumulative = vec![0.0];
    for pair in logs.windows(2) {
        let area = 0.5 * ((pair[0] - top).exp() + (pair[1] - top).exp());
        cumulative.push(cumulative[cumulative.len() - 1] + area);
    }
    let total = cumulative[CELLS];
    move |x| {
        let position = ((x - low) / step).clamp(0.0, count(CELLS));
        let cell = floor_index(position).min(CELLS - 1);
        let part = position - count(cell);
        (cumulative[cell] * (1.0 - part) + cumulative[cell + 1] * part) / total
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn floor_index(x: f64) -> usize {
    x as usize
}

/// The probabilities of `first`, `first` + 1, …
pub(super) struct Probabilities {
    pub first: i64,
    pub p: Vec<f64>,
}

impl Probabilities {
    /// From the ratios of neighbours, `up(k)` = P(k + 1) / P(k), starting in the middle where the mass is. What is
    /// outside of the range must be negligible.
    pub(super) fn from_ratios(first: i64, mode: i64, last: i64, up: impl Fn(i64) -> f64) -> Self {
        let mut below = vec![];
        let mut p = 1.0;
        for k in (first..mode).rev() {
            p /= up(k);
            below.push(p);
        }
        below.reverse();
        below.push(1.0);
        p = 1.0;
        for k in mode..last {
            p *= up(k);
            below.push(p);
        }
        let total: f64 = below.iter().sum();
        Self { first, p: below.into_iter().map(|p| p / total).collect() }
    }

    /// Pearson's χ² test with cells of neighbours that expect at least 10 draws each.
    pub(super) fn describe(&self, name: &str, draws: &[i64]) {
        let mut found = vec![0_u32; self.p.len()];
        for k in draws {
            let cell = usize::try_from(k - self.first).ok().and_then(|i| found.get_mut(i));
            *cell.unwrap_or_else(|| panic!("{name}: {k} is impossible")) += 1;
        }
        let n = count(draws.len());
        let mut cells = vec![];
        let mut open = (0.0, 0.0);
        for (p, found) in self.p.iter().zip(&found) {
            open = (open.0 + n * p, open.1 + f64::from(*found));
            if open.0 >= 10.0 {
                cells.push(std::mem::take(&mut open));
            }
        }
        let last = cells.last_mut().expect("a cell");
        *last = (last.0 + open.0, last.1 + open.1);
        if cells.len() == 1 {
            return;
        }
        let statistic: f64 = cells.iter().map(|(expected, found)| (found - expected).powi(2) / expected).sum();
        let tail = chi_square_tail(statistic, count(cells.len() - 1));
        assert!(tail > FALSE_ALARM, "{name}: chi-square {statistic} in {} cells", cells.len());
    }

    pub(super) fn mean_and_variance(&self) -> (f64, f64) {
        let terms = || self.p.iter().enumerate().map(|(i, p)| (count(i), p));
        let mean: f64 = terms().map(|(i, p)| i * p).sum();
        let variance = terms().map(|(i, p)| (i - mean).powi(2) * p).sum();
        (mean + super::numeric::float(self.first), variance)
    }
}

/// Wilson and Hilferty's approximation (1931) to the upper tail of χ²: within a factor of 2 at 10⁻⁶.
fn chi_square_tail(x: f64, degrees: f64) -> f64 {
    let spread = 2.0 / (9.0 * degrees);
    1.0 - normal_cdf(((x / degrees).cbrt() - (1.0 - spread)) / spread.sqrt())
}

/// A fair sampler passes and the tests can fail.
mod tests {
    use super::*;

    #[test]
    fn a_fair_coin_passes() {
        let coin = Probabilities { first: 0, p: vec![0.5, 0.5] };
        let mut stream = stream(1);
        let draws: Vec<i64> = (0..10_000).map(|_| i64::from(stream.next_u32() & 1)).collect();
        coin.describe("coin", &draws);
    }

    #[test]
    #[should_panic(expected = "chi-square")]
    fn a_loaded_coin_fails() {
        let coin = Probabilities { first: 0, p: vec![0.5, 0.5] };
        let mut stream = stream(1);
        let draws: Vec<i64> = (0..10_000).map(|_| i64::from(stream.uniform() < 0.55)).collect();
        coin.describe("coin", &draws);
    }

    #[test]
    #[should_panic(expected = "KS distance")]
    fn a_shifted_sample_fails() {
        let sample = Sample::draw(20_000, &mut stream(2), |s| s.standard_normal() + 0.05);
        sample.follows("normal", normal_cdf);
    }

    #[test]
    #[should_panic(expected = "the variance")]
    fn a_wide_sample_fails() {
        let sample = Sample::draw(20_000, &mut stream(2), |s| s.standard_normal() * 1.03);
        sample.has_moments("normal", 0.0, 1.0);
    }

    #[test]
    fn integrals_are_accurate() {
        let cdf = integrated(-9.0, 9.0, |x| -0.5 * x * x);
        for z in [-4.0, -1.234, 0.0, 0.5, 3.0] {
            assert!((cdf(z) - normal_cdf(z)).abs() < 1e-7);
        }
        // The upper 10⁻⁶ quantile of χ² with 10 degrees of freedom is 48.94.
        assert!((chi_square_tail(48.94, 10.0).ln() - 1e-6_f64.ln()).abs() < 0.7);
    }
}
