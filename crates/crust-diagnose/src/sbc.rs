//! Simulation-based calibration: is where an exact draw lies among the draws of a sampler uniform?
//!
//! If θ* and L draws come from the same posterior, the rank of f(θ*) among f of the draws is uniform on
//! 0 … L for every function f (Cook, Gelman and Rubin 2006; Talts et al. 2018). A uniform number spreads the rank over
//! its cell, so that *places* (rank + U)/(L + 1) are uniform on (0, 1) whatever L is, and L may differ by dataset.
//!
//! Their empirical distribution function is tested at all points at once (Säilynoja, Bürkner and Vehtari 2022): at z the
//! number of places below is Binomial(N, z), so that each point has a tail probability, and the least of them is the
//! statistic. Its distribution under uniformity is simulated.

use crust_math::random::{Purpose, StreamKey};
use serde::{Deserialize, Serialize};

use crate::number::count;

/// The distribution of the statistic for N uniform places.
#[derive(Clone, Debug)]
pub struct Uniformity {
    datasets: usize,
    /// The tail probability of each count, at each of the points.
    tails: Vec<Vec<f64>>,
    /// Statistics of simulated places, in order.
    null: Vec<f64>,
}

/// Points at which the distribution function is looked at, at most.
const MOST_POINTS: usize = 200;

/// Random numbers of the simulated null distribution.
const PURPOSE: Purpose = Purpose(Purpose::FIRST_FREE.0 + 0x5bc);

impl Uniformity {
    /// For so many datasets, with p-values as small as one over the number of simulations.
    pub fn new(datasets: usize, simulations: usize) -> Self {
        let points = datasets.clamp(2, MOST_POINTS);
        let tails = (1..points).map(|i| tails(datasets, count(i) / count(points))).collect();
        let mut uniformity = Self { datasets, tails, null: vec![] };
        let mut places = vec![0.0; datasets];
        let mut draw = |k: u32| {
            let mut stream = StreamKey::new(1, PURPOSE).chain(k).stream();
            places.iter_mut().for_each(|place| *place = stream.uniform());
            uniformity.statistic(&places)
        };
        let mut null: Vec<f64> = (0..u32::try_from(simulations).unwrap_or(u32::MAX)).map(&mut draw).collect();
        null.sort_by(f64::total_cmp);
        uniformity.null = null;
        uniformity
    }

    fn points(&self) -> usize {
        self.tails.len() + 1
    }

    /// How many places are at or below each point.
    fn counts(&self, places: &[f64]) -> Vec<usize> {
        let points = self.points();
        let mut counts = vec![0; points + 1];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places are between 0 and 1")]
        places.iter().for_each(|place| counts[((place * count(points)).ceil() as usize).min(points)] += 1);
        let mut below = counts[0];
        counts[1..points]
            .iter()
            .map(|cell| {
                below += cell;
                below
            })
            .collect()
    }

    /// The least tail probability over all points.
    fn statistic(&self, places: &[f64]) -> f64 {
        let found = self.counts(places).into_iter().zip(&self.tails).map(|(below, tails)| tails[below]);
        found.fold(1.0, f64::min)
    }

    /// The probability that uniform places look as little uniform as these.
    pub fn p_value(&self, places: &[f64]) -> f64 {
        let statistic = self.statistic(places);
        // What is equal up to rounding counts as equal.
        let as_small = self.null.partition_point(|s| *s <= statistic * (1.0 + 1e-12));
        (count(as_small) + 1.0) / (count(self.null.len()) + 1.0)
    }

    /// Where the distribution function of uniform places lies as a whole with this probability: points with the lowest
    /// and the highest share below.
    pub fn band(&self, probability: f64) -> Vec<Band> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let at = ((1.0 - probability) * count(self.null.len())) as usize;
        let least = self.null.get(at).copied().unwrap_or(0.0);
        let n = count(self.datasets);
        let bounds = |(i, tails): (usize, &Vec<f64>)| {
            let inside = |c: &usize| tails[*c] > least;
            let low = (0..=self.datasets).find(inside).unwrap_or(0);
            let high = (0..=self.datasets).rfind(inside).unwrap_or(self.datasets);
            Band { at: count(i + 1) / count(self.points()), low: count(low) / n, high: count(high) / n }
        };
        self.tails.iter().enumerate().map(bounds).collect()
    }
}

/// A range of shares at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Band {
    pub at: f64,
    pub low: f64,
    pub high: f64,
}

/// 2 min(P(X ≤ c), P(X ≥ c)), at most 1, of X ~ Binomial(N, z) for all c.
fn tails(n: usize, z: f64) -> Vec<f64> {
    let mut masses = Vec::with_capacity(n + 1);
    let (log_z, log_rest) = (z.ln(), (-z).ln_1p());
    let mut log_choose = 0.0;
    for c in 0..=n {
        masses.push((log_choose + count(c) * log_z + count(n - c) * log_rest).exp());
        log_choose += (count(n - c) / count(c + 1)).ln();
    }
    let mut above = vec![0.0; n + 2];
    (0..=n).rev().for_each(|c| above[c] = above[c + 1] + masses[c]);
    let mut below = 0.0;
    let tail = |(c, mass): (usize, &f64)| {
        below += mass;
        (2.0 * below.min(above[c])).min(1.0)
    };
    masses.iter().enumerate().map(tail).collect()
}

/// p-values after Holm: the least times the number of tests, the next times one fewer, and so on, never falling. They
/// hold for all tests together, however these depend on each other.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut adjusted, mut greatest) = (vec![0.0; p_values.len()], 0.0_f64);
    for (rank, i) in order.into_iter().enumerate() {
        greatest = greatest.max((p_values[i] * count(p_values.len() - rank)).min(1.0));
        adjusted[i] = greatest;
    }
    adjusted
}

/// In which way places are not uniform, in words about the sampler's draws.
pub fn fault(places: &[f64]) -> &'static str {
    let n = count(places.len()).max(1.0);
    let mean = places.iter().sum::<f64>() / n;
    let variance = places.iter().map(|p| (p - 0.5).powi(2)).sum::<f64>() / n;
    // Under uniformity the mean is ½ ± √(1/12n), the mean square 1/12 ± √(1/180n).
    let shift = (mean - 0.5) / (1.0 / (12.0 * n)).sqrt();
    let width = (variance - 1.0 / 12.0) / (1.0 / (180.0 * n)).sqrt();
    match () {
        () if shift.abs() > width.abs() && shift < 0.0 => "draws are too high",
        () if shift.abs() > width.abs() => "draws are too low",
        () if width > 0.0 => "draws are too close together",
        () => "draws are too far apart",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(n: u32, seed: u64) -> Vec<f64> {
        (0..n).map(|k| StreamKey::new(seed, Purpose::PRIOR).chain(k).stream().uniform()).collect()
    }

    /// Binomial(3, ½): P(X ≤ 0) = 1/8, P(X ≤ 1) = ½.
    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        let expected = [0.25, 1.0, 1.0, 0.25];
        tails(3, 0.5).iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{a} {b}"));
        assert!(tails(1000, 0.3).iter().all(|p| p.is_finite()));
    }

    /// p-values of uniform places are uniform: at most one in twenty is below 0.05, and about that many are.
    #[test]
    fn uniform_places_are_rejected_as_often_as_said() {
        let null = Uniformity::new(100, 2000);
        let rejected = (1..=400).filter(|&seed| null.p_value(&uniform(100, seed)) < 0.05).count();
        // Binomial(400, 0.05): 20 ± 4.4
        assert!((7..=34).contains(&rejected), "{rejected}");
    }

    #[test]
    fn what_is_not_uniform_is_found_and_named() {
        let null = Uniformity::new(200, 4000);
        let bend = |f: &dyn Fn(f64) -> f64| uniform(200, 5).into_iter().map(f).collect::<Vec<f64>>();
        let cases: [(Vec<f64>, &str); 4] = [
            (bend(&|u| u.powf(1.5)), "draws are too high"),
            (bend(&|u| u.powf(0.6)), "draws are too low"),
            (
                bend(&|u| 0.5 + 0.5 * (2.0 * u - 1.0).signum() * (2.0 * u - 1.0).abs().powf(0.5)),
                "draws are too close together",
            ),
            (bend(&|u| 0.5 + 0.5 * (2.0 * u - 1.0).powi(3)), "draws are too far apart"),
        ];
        for (places, words) in cases {
            assert!(null.p_value(&places) < 0.01, "{words}");
            assert_eq!(fault(&places), words);
        }
    }

    /// The band holds the whole curve as often as it says.
    #[test]
    fn bands_are_simultaneous() {
        let null = Uniformity::new(50, 2000);
        let band = null.band(0.9);
        let inside = |places: &[f64]| {
            let counts = null.counts(places);
            counts.iter().zip(&band).all(|(c, b)| (b.low..=b.high).contains(&(count(*c) / 50.0)))
        };
        let held = (1..=300).filter(|&seed| inside(&uniform(50, 1000 + seed))).count();
        assert!((252..=300).contains(&held), "{held} of 300");
    }

    #[test]
    fn holm_multiplies_and_never_falls() {
        let adjusted = holm(&[0.01, 0.04, 0.03]);
        for (a, b) in adjusted.iter().zip([0.03, 0.06, 0.06]) {
            assert!((a - b).abs() < 1e-15, "{adjusted:?}");
        }
    }
}
