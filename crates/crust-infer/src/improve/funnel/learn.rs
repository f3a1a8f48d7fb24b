//! Which coordinates follow which, and how, from the positions of chains.
//!
//! 1. *Who follows whom.* The residual rᵢ of xᵢ given all other coordinates is (Q(x − m))ᵢ/Qᵢᵢ, Q being the inverse
//!    covariance. If its scale follows xⱼ, log rᵢ² and xⱼ are correlated.
//! 2. *Location.* In the neck, where the scale is small, the location shows best: a regression with weights e^(−2cz),
//!    z = xⱼ − mⱼ, on the one or two coordinates that tell most.
//! 3. *Scale.* b and c maximise Σ −(b + cz) − ½ r² e^(−2(b + cz)), which is concave.
//!
//! The map is taken only if normal distributions fit better after it than before: the entropy of a normal distribution
//! with the covariance of v, plus the mean of log |∂x/∂v|, is an upper bound on that of the positions.

use super::{Follower, Funnel};
use crate::approximate::family::float;
use crate::metric::cholesky;

/// Fewer chains say nothing about scales.
const LEAST_CHAINS: usize = 32;

/// With more dimensions than this, looking at all pairs takes longer than it helps.
const MOST_DIMENSIONS: usize = 300;

/// Scales that change by less over a standard deviation of the driver are left as they are.
const LEAST_POWER: f64 = 0.2;

/// The regression must rest on so many chains, by the effective number of their weights.
const LEAST_WEIGHT: f64 = 10.0;

/// Positions, by coordinates.
struct Sample {
    n: f64,
    columns: Vec<Vec<f64>>,
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Sample {
    fn new(x: &[f64], dimension: usize) -> Self {
        Self::of_columns((0..dimension).map(|i| x.iter().skip(i).step_by(dimension).copied().collect()).collect())
    }

    fn of_columns(columns: Vec<Vec<f64>>) -> Self {
        let n = float(columns[0].len());
        let means: Vec<f64> = columns.iter().map(|c| c.iter().sum::<f64>() / n).collect();
        let square = |(c, m): (&Vec<f64>, &f64)| (c.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n).sqrt();
        let deviations = columns.iter().zip(&means).map(square).collect();
        Self { n, columns, means, deviations }
    }

    /// Of a coordinate with one of another sample of the same chains.
    fn covariance(&self, own: usize, other: &Self, at: usize) -> f64 {
        let (a, b) = (&self.columns[own], &other.columns[at]);
        let (ma, mb) = (self.means[own], other.means[at]);
        a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f64>() / self.n
    }

    /// log det of the covariance of standardised coordinates and a lower factor of it; nothing if it is singular.
    fn factor(&self) -> Option<(f64, Vec<f64>)> {
        let d = self.columns.len();
        let standard: Vec<Vec<f64>> = self
            .columns
            .iter()
            .zip(self.means.iter().zip(&self.deviations))
            .map(|(c, (m, s))| c.iter().map(|x| (x - m) / s).collect())
            .collect();
        let mut correlation = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                let sum: f64 = standard[i].iter().zip(&standard[j]).map(|(a, b)| a * b).sum();
                correlation[i * d + j] = sum / self.n;
                correlation[j * d + i] = sum / self.n;
            }
            correlation[i * d + i] += 1e-10;
        }
        let factor = cholesky(d, &correlation).ok()?;
        let log = (0..d).map(|i| 2.0 * factor[i * d + i].ln() + 2.0 * self.deviations[i].ln()).sum::<f64>();
        log.is_finite().then_some((log, factor))
    }

    /// log of the squares of the residuals of each coordinate given all others.
    fn log_residuals(&self, factor: &[f64]) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = self.columns.iter().map(|c| Vec::with_capacity(c.len())).collect();
        for row in 0..self.columns[0].len() {
            let scales = self.means.iter().zip(&self.deviations);
            let mut z: Vec<f64> = self.columns.iter().zip(scales).map(|(c, (m, s))| (c[row] - m) / s).collect();
            solve(factor, &mut z);
            // Qᵢᵢ is the same for all chains: a constant in the logarithm.
            all.iter_mut().zip(z).for_each(|(list, z)| list.push((z * z + 1e-300).ln()));
        }
        all
    }
}

/// (L Lᵀ)⁻¹ z, in place.
fn solve(factor: &[f64], z: &mut [f64]) {
    let d = z.len();
    for i in 0..d {
        let known: f64 = (0..i).map(|k| factor[i * d + k] * z[k]).sum();
        z[i] = (z[i] - known) / factor[i * d + i];
    }
    for i in (0..d).rev() {
        let known: f64 = (i + 1..d).map(|k| factor[k * d + i] * z[k]).sum();
        z[i] = (z[i] - known) / factor[i * d + i];
    }
}

impl Funnel {
    /// From positions, one after the other; nothing where no coordinate follows another one.
    pub(in super::super) fn learn(x: &[f64], dimension: usize) -> Option<Self> {
        let n = x.len() / dimension;
        if n < LEAST_CHAINS || n < 2 * dimension || !(2..=MOST_DIMENSIONS).contains(&dimension) {
            return None;
        }
        let sample = Sample::new(x, dimension);
        let (before, factor) = sample.factor()?;
        let pairs = pairs(&sample, &factor);
        if pairs.is_empty() {
            return None;
        }
        let mut funnel = Self { followers: Vec::new() };
        let mut places: Vec<usize> = (0..dimension).collect();
        // What follows least by itself comes first, since others may follow beside it: μ before θ.
        let alone = |i: &usize| pairs.iter().find(|pair| pair.at == *i).map_or(-1.0, |pair| pair.alone);
        places.sort_by(|a, b| alone(a).total_cmp(&alone(b)));
        for (place, &at) in places.iter().enumerate() {
            let Some(pair) = pairs.iter().find(|pair| pair.at == at) else { continue };
            let fits = |k: &&usize| pairs.iter().all(|p| p.at != **k || p.driver == pair.driver);
            let known: Vec<usize> = places[..place].iter().filter(fits).copied().collect();
            funnel.followers.extend(follow(&sample, pair, &known));
        }
        if funnel.followers.is_empty() {
            return None;
        }
        let mut straight = x.to_vec();
        let mut bent = 0.0;
        for point in straight.chunks_exact_mut(dimension) {
            bent += funnel.log_determinant(point) / sample.n;
            funnel.straighten(point);
        }
        let (after, _) = Sample::new(&straight, dimension).factor()?;
        let numbers: usize = funnel.followers.iter().map(|f| 2 + f.slopes.len()).sum();
        let gain = sample.n * (0.5 * before - 0.5 * after - bent);
        (gain > 3.0 * float(numbers)).then_some(funnel)
    }
}

/// A coordinate, the one that it follows, and c as far as residuals tell.
struct Pair {
    at: usize,
    driver: usize,
    power: f64,
    /// How much the scale of the coordinate itself, given no other, follows the driver: n ρ².
    alone: f64,
}

/// No coordinate follows one that follows another itself.
fn pairs(sample: &Sample, factor: &[f64]) -> Vec<Pair> {
    let d = sample.columns.len();
    let residuals = Sample::of_columns(sample.log_residuals(factor));
    // n ρ² is χ² of one degree of freedom by chance: of d² pairs hardly one is beyond the first limit. Where others
    // follow a driver, one more is less of a surprise.
    let (least, least_beside) = (16.0 + 4.0 * float(d).ln(), 6.0);
    let mut found: Vec<(f64, Pair)> = Vec::new();
    let test = |r: &Sample, at: usize, driver: usize| {
        let covariance = r.covariance(at, sample, driver);
        let correlation = covariance / (r.deviations[at] * sample.deviations[driver]);
        (sample.n * correlation * correlation, covariance)
    };
    for at in 0..d {
        for driver in (0..d).filter(|j| *j != at) {
            let (follows, covariance) = test(&residuals, at, driver);
            if follows > least_beside {
                let power = 0.5 * covariance / sample.deviations[driver].powi(2);
                let own: Vec<f64> =
                    sample.columns[at].iter().map(|x| ((x - sample.means[at]).powi(2) + 1e-300).ln()).collect();
                let alone = test(&Sample::of_columns(vec![own]), 0, driver).0;
                found.push((follows, Pair { at, driver, power, alone }));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut chosen: Vec<Pair> = Vec::new();
    for (test, pair) in found {
        let free = chosen.iter().all(|c| c.at != pair.at && c.at != pair.driver && c.driver != pair.at);
        let beside = || chosen.iter().any(|c| c.driver == pair.driver);
        if free && (test > least || beside()) {
            chosen.push(pair);
        }
    }
    chosen
}

/// Location and scale of a coordinate, given some others.
fn follow(sample: &Sample, pair: &Pair, known: &[usize]) -> Option<Follower> {
    let middle = sample.means[pair.driver];
    let z: Vec<f64> = sample.columns[pair.driver].iter().map(|x| x - middle).collect();
    let y = &sample.columns[pair.at];
    let mut power = pair.power;
    let mut found = None;
    for _ in 0..3 {
        let (intercept, slopes) = regress(sample, y, known, &weights(&z, power));
        let residual = |row: usize| {
            y[row] - intercept - slopes.iter().map(|(k, b): &(usize, f64)| b * sample.columns[*k][row]).sum::<f64>()
        };
        let squares: Vec<f64> = (0..y.len()).map(|row| residual(row).powi(2)).collect();
        power = best_power(&squares, &z, power)?;
        found = Some(Follower { at: pair.at, driver: pair.driver, middle, intercept, slopes, power });
    }
    found.filter(|f| f.power.abs() * sample.deviations[pair.driver] > LEAST_POWER)
}

/// e^(−2cz), with a smaller power where few chains would decide.
fn weights(z: &[f64], power: f64) -> Vec<f64> {
    let mut tempered = power;
    loop {
        let highest = z.iter().map(|z| -2.0 * tempered * z).fold(f64::NEG_INFINITY, f64::max);
        let all: Vec<f64> = z.iter().map(|z| (-2.0 * tempered * z - highest).exp()).collect();
        let (sum, squares) = all.iter().fold((0.0, 0.0), |(a, b), w| (a + w, b + w * w));
        if sum * sum / squares >= LEAST_WEIGHT || tempered.abs() < 1e-3 {
            return all;
        }
        tempered *= 0.8;
    }
}

/// Intercept and slopes of the one or two coordinates that tell most, by weighted least squares.
fn regress(sample: &Sample, y: &[f64], known: &[usize], weights: &[f64]) -> (f64, Vec<(usize, f64)>) {
    let total: f64 = weights.iter().sum();
    let mean = |c: &[f64]| c.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() / total;
    let product = |a: &[f64], b: &[f64]| {
        let (ma, mb) = (mean(a), mean(b));
        a.iter().zip(b).zip(weights).map(|((a, b), w)| w * (a - ma) * (b - mb)).sum::<f64>() / total
    };
    let own = product(y, y);
    let effective = total * total / weights.iter().map(|w| w * w).sum::<f64>();
    // A regressor is worth its while if it takes away more of the variance than chance would.
    let worth = |left: f64, before: f64| left < before * (1.0 - 4.0 / effective).max(0.05);
    let mut slopes: Vec<(usize, f64)> = Vec::new();
    let with = |k: usize| (product(y, &sample.columns[k]), product(&sample.columns[k], &sample.columns[k]));
    let first = known
        .iter()
        .map(|&k| (k, with(k)))
        .filter(|(_, (_, square))| *square > 0.0)
        .map(|(k, (cross, square))| (k, cross / square, own - cross * cross / square))
        .min_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((k, slope, left)) = first.filter(|f| worth(f.2, own)) {
        slopes = vec![(k, slope)];
        let (cross_a, square_a) = with(k);
        let second = known
            .iter()
            .filter(|&&other| other != k)
            .filter_map(|&other| {
                let (cross_b, square_b) = with(other);
                let both = product(&sample.columns[k], &sample.columns[other]);
                let determinant = square_a * square_b - both * both;
                // Two regressors that are nearly one tell nothing that one does not.
                (determinant > 1e-6 * square_a * square_b).then(|| {
                    let a = (cross_a * square_b - cross_b * both) / determinant;
                    let b = (cross_b * square_a - cross_a * both) / determinant;
                    (other, a, b, own - a * cross_a - b * cross_b)
                })
            })
            .min_by(|a, b| a.3.total_cmp(&b.3));
        if let Some((other, a, b, _)) = second.filter(|s| worth(s.3, left)) {
            slopes = vec![(k, a), (other, b)];
        }
    }
    let intercept = mean(y) - slopes.iter().map(|(k, b)| b * mean(&sample.columns[*k])).sum::<f64>();
    (intercept, slopes)
}

/// c of the largest likelihood, by Newton's method.
fn best_power(squares: &[f64], z: &[f64], start: f64) -> Option<f64> {
    let n = float(squares.len());
    let objective = |b: f64, c: f64| -> f64 {
        squares.iter().zip(z).map(|(r, z)| -(b + c * z) - 0.5 * r * (-2.0 * (b + c * z)).exp()).sum()
    };
    // For a given c the best b is known.
    let level = |c: f64| 0.5 * (squares.iter().zip(z).map(|(r, z)| r * (-2.0 * c * z).exp()).sum::<f64>() / n).ln();
    let mut c = start;
    for _ in 0..30 {
        let b = level(c);
        let (mut slope, mut curve, mut cross, mut all) = (0.0, 0.0, 0.0, 0.0);
        for (r, z) in squares.iter().zip(z) {
            let q = r * (-2.0 * (b + c * z)).exp();
            slope += z * (q - 1.0);
            curve += 2.0 * z * z * q;
            cross += 2.0 * z * q;
            all += 2.0 * q;
        }
        // The curvature along c with b at its best.
        let step = slope / (curve - cross * cross / all);
        if !step.is_finite() {
            return None;
        }
        let here = objective(b, c);
        let mut length = 1.0;
        while length > 1e-6 && objective(level(c + length * step), c + length * step).total_cmp(&here).is_lt() {
            length *= 0.5;
        }
        c += length * step;
        if (length * step).abs() < 1e-6 {
            break;
        }
    }
    c.is_finite().then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    /// log τ ~ N(0, 1.5²), μ ~ N(0, 3²), θᵢ ~ N(μ, τ²) for i = 1 … 4, and a coordinate that has nothing to do with
    /// them. The coordinates are in an order in which θ comes first.
    fn schools(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = StreamKey::new(seed, Purpose::TEST).stream();
        let mut all = Vec::new();
        for _ in 0..n {
            let (log_tau, mu) = (1.5 * stream.standard_normal(), 3.0 * stream.standard_normal());
            all.extend((0..4).map(|_| mu + log_tau.exp() * stream.standard_normal()));
            all.extend([stream.standard_normal(), mu, log_tau]);
        }
        all
    }

    #[test]
    fn a_hierarchy_becomes_non_centred() {
        for seed in 1..=20 {
            let x = schools(193, seed);
            let funnel = Funnel::learn(&x, 7).expect("a funnel");
            // Scales of four coordinates follow log τ: those of θ, or of μ and three of them.
            assert!(funnel.followers.iter().all(|f| f.driver == 6 && f.at != 4), "{seed}: {funnel:?}");
            assert_eq!(funnel.followers.len(), 4, "{seed}: {funnel:?}");
            for follower in &funnel.followers {
                assert!((follower.power - 1.0).abs() < 0.25, "{seed}: {follower:?}");
                let along: f64 = follower.slopes.iter().filter(|(k, _)| *k != 6).map(|(_, b)| b).sum();
                assert!((along - 1.0).abs() < 0.02, "{seed}: {follower:?}");
            }
        }
    }

    #[test]
    fn a_normal_distribution_has_no_funnel() {
        for seed in 1..=50 {
            let mut stream = StreamKey::new(seed, Purpose::TEST).stream();
            let mut x = Vec::new();
            for _ in 0..193 {
                let common = stream.standard_normal();
                x.extend((0..10).map(|i| float(i) * (common + 0.3 * stream.standard_normal())));
            }
            x.iter_mut().step_by(10).for_each(|x| *x = stream.standard_normal());
            assert_eq!(Funnel::learn(&x, 10), None, "{seed}");
        }
    }
}
