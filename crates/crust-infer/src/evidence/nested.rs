//! Nested sampling: live points climb the likelihood while the prior volume above it shrinks at a known rate (BDMC,
//! section 5.3).
//!
//! With K live points, removing the one with the least likelihood shrinks log V by 1/K on average; several may be
//! replaced at once, so that they are moved in one batch, and the i-th of them shrinks it by 1/(K − i). The
//! replacements are survivors that a Markov chain moved within the constrained prior: not exact draws of it, so that
//! the estimate is on no known side of the truth. Where the likelihood is 0 there is nothing to climb: the volume starts
//! at the share of the prior that has one. Ties are broken by labels ([`Floor`]), so that states may be discrete
//! and likelihoods flat.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::{f_exp, f_log, f_log1p};

use super::population::{Climbing, Crowd, Floor};
use super::{Shared, float, number};
use crate::error::Error;

/// How nested sampling goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestedSettings {
    /// K, at least 2.
    pub live: usize,
    /// How many of them are replaced at once: at least 1, and fewer than there are.
    pub replaced: usize,
    /// Transitions of each new point.
    pub steps: usize,
    pub shrinkage: Shrinkage,
    /// It ends when what the live points may still add is below this share of Ẑ.
    pub remainder: f64,
    /// It ends, unfinished, once the volume is below e to minus this.
    pub most_nats: f64,
}

/// By how much the prior volume is taken to shrink in each step. The share that is left is the greatest of K uniform
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shrinkage {
    /// Its mean, K/(K+1): Eq. 47. V is right in expectation, but log V, and with it log p(Y), is too high by 1/K −
    /// log(1 + 1/K) in each step: 0.095 nats with 2 particles, 20 nats after 208 steps.
    Mean,
    /// Its geometric mean, e^(−1/K) (Skilling 2006): log V is right in expectation.
    Geometric,
}

impl Shrinkage {
    /// By how much log V falls with so many live points.
    fn of(self, live: usize) -> f64 {
        let reciprocal = 1.0 / float(live);
        match self {
            Self::Mean => f_log1p(reciprocal),
            Self::Geometric => reciprocal,
        }
    }
}

impl Shrinkage {
    /// log of the share p of the prior that has a likelihood, where the K-th point with one was draw N: (K − 1)/(N − 1)
    /// has mean p, and −Σ 1/j over j = K … N − 1 has mean log p (inverse binomial sampling).
    fn positive(self, live: usize, draws: usize) -> f64 {
        match self {
            Self::Mean => f_log(float(live - 1) / float(draws - 1)),
            Self::Geometric => -(live..draws).map(|j| 1.0 / float(j)).sum::<f64>(),
        }
    }
}

impl NestedSettings {
    fn check(&self) -> Result<(), Error> {
        let Self { live, replaced, steps, .. } = *self;
        if live < 2 || replaced < 1 || replaced >= live || steps == 0 {
            let name = "the number of live points, of those that are replaced at once and of steps";
            let value = format!("{live}, {replaced} and {steps}");
            return Err(Error::Setting { name, value, must_be: "at least 2, 1 and 1, and not all replaced" });
        }
        Ok(())
    }
}

/// What nested sampling found.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    pub log_z: f64,
    /// √(H/K), with the information H: the uncertainty of the volumes (Skilling 2006), and that of the first one.
    pub se: f64,
    /// H, the divergence of the posterior from the prior in nats.
    pub information: f64,
    pub evaluations: u64,
    /// It ended before the likelihood stopped growing faster than the volume shrank.
    pub unfinished: bool,
    /// The share of moves that were accepted in the last round.
    pub accept: f64,
}

/// Runs nested sampling from draws of the prior.
pub fn nested<P: Climbing>(population: &mut P, settings: NestedSettings, run: &Shared<'_>) -> Result<Nested, Error> {
    settings.check()?;
    let before = population.evaluations();
    let First { particles, heights, draws } = first(population, settings.live, run)?;
    let mut live = Live::new(P::ROUNDING);
    for (k, (particle, height)) in particles.into_iter().zip(heights).enumerate() {
        live.push(particle, height, label_key(run, k, u64::MAX).stream().uniform());
    }
    live.sort();
    let mut sum = Sum { log_volume: settings.shrinkage.positive(settings.live, draws), ..Sum::default() };
    let (mut accept, mut rounds) = (0.0, 0);
    while sum.goes_on(live.top(), &settings) {
        accept = live.round(population, &mut sum, &settings, rounds, run)?;
        rounds += 1;
    }
    let unfinished = sum.ends_unfinished(&settings);
    let (log_z, information) = sum.finish(&live.heights);
    // H is relative to the whole prior; the way to where the likelihood is positive has an error of its own,
    // (1 − p)/K for the log of the share p.
    let share = float(settings.live) / float(draws);
    let shrunk = (information + f_log(share)).max(0.0);
    let se = ((shrunk + 1.0 - share) / float(settings.live)).sqrt();
    Ok(Nested { log_z, se, information, evaluations: population.evaluations() - before, unfinished, accept })
}

/// The first live points, and how many draws of the prior it took to find them.
struct First<P> {
    particles: Vec<P>,
    heights: Vec<f64>,
    draws: usize,
}

/// Draws of the prior for each live point, at which the search for points with a likelihood ends.
const MOST_DRAWS: usize = 1000;

/// Draws from the prior until K have a likelihood. Points without one are no ties that are climbed over: they say how
/// much of the prior has a likelihood at all, which is where the volume starts from.
fn first<P: Climbing>(population: &mut P, live: usize, run: &Shared<'_>) -> Result<First<P::Particle>, Error> {
    let key = run.key.purpose(Purpose::PRIOR);
    let (mut particles, mut heights, mut draws) = (Vec::with_capacity(live), Vec::with_capacity(live), 0);
    while particles.len() < live {
        if draws >= MOST_DRAWS * live {
            return Err(Error::NoLikelihood { draws, reason: population.rejection() });
        }
        run.check_interrupt()?;
        let drawn = population.draw(number(draws)..number(draws + live), key)?;
        let found = population.log_ratios(&drawn, 0.0, 1.0)?;
        for (particle, height) in drawn.into_iter().zip(found) {
            if particles.len() == live {
                break;
            }
            draws += 1;
            if height > f64::NEG_INFINITY {
                particles.push(particle);
                heights.push(height);
            }
        }
    }
    Ok(First { particles, heights, draws })
}

/// Labels break ties only: they have streams of their own.
fn label_key(run: &Shared<'_>, k: usize, round: u64) -> StreamKey {
    StreamKey { chain: number(k), step: round, ..run.key.purpose(Purpose::RESAMPLE) }
}

/// Live points, by particle, log likelihood and label.
struct Live<P> {
    particles: Vec<P>,
    heights: Vec<f64>,
    labels: Vec<f64>,
    rounding: f64,
}

impl<P: Clone> Live<P> {
    fn new(rounding: f64) -> Self {
        Self { particles: vec![], heights: vec![], labels: vec![], rounding }
    }

    fn push(&mut self, particle: P, height: f64, label: f64) {
        self.particles.push(particle);
        self.heights.push(self.like(height));
        self.labels.push(label);
    }

    /// A height that is another's up to rounding is taken to be that: ties must be exact for points to be ordered.
    fn like(&self, height: f64) -> f64 {
        let floor = |other: f64| Floor { log_likelihood: other, label: 0.0, rounding: self.rounding };
        let same = |other: &&f64| floor(**other).compare(height).is_eq();
        self.heights.iter().find(same).copied().unwrap_or(height)
    }

    /// In rising order of likelihood, then label.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.heights.len()).collect();
        let (heights, labels) = (&self.heights, &self.labels);
        order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]).then(labels[a].total_cmp(&labels[b])));
        self.particles = super::take(std::mem::take(&mut self.particles), &order);
        self.heights = order.iter().map(|&i| self.heights[i]).collect();
        self.labels = order.iter().map(|&i| self.labels[i]).collect();
    }

    fn top(&self) -> f64 {
        self.heights.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Removes the lowest points and replaces them by others above; the acceptance rate.
    fn round<Q: Climbing<Particle = P>>(
        &mut self,
        population: &mut Q,
        sum: &mut Sum,
        settings: &NestedSettings,
        round: u64,
        run: &Shared<'_>,
    ) -> Result<f64, Error> {
        let (k, below) = (self.heights.len(), settings.replaced);
        for (i, height) in self.heights[..below].iter().enumerate() {
            sum.add(settings.shrinkage.of(k - i), *height);
        }
        let (log_likelihood, label) = (self.heights[below - 1], self.labels[below - 1]);
        let floor = Floor { log_likelihood, label, rounding: self.rounding };
        let key = StreamKey { step: round, ..run.key.purpose(Purpose::KERNEL) };
        let start = |i: usize| {
            let mut stream: Stream = key.chain(number(i)).stream();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the number of points")]
            let from = (stream.uniform() * float(k - below)) as usize;
            (below + from.min(k - below - 1), stream)
        };
        let crowd = Crowd { particles: &self.particles, log_likelihoods: &self.heights, below };
        let climbers = population.climb(crowd, &floor, settings.steps, (0..below).map(start).collect())?;
        for (i, (particle, height)) in climbers.ends.into_iter().enumerate() {
            self.particles[i] = particle;
            self.heights[i] = if floor.compare(height).is_eq() { log_likelihood } else { self.like(height) };
            // A tie has a label above that of the floor.
            let uniform = label_key(run, i, round).stream().uniform();
            self.labels[i] = 1.0 - floor.share(height) * (1.0 - uniform);
        }
        self.sort();
        Ok(climbers.accept)
    }
}

/// Σ (V(Cₜ) − V(Cₜ₊₁)) · the mean of Cₜ and Cₜ₊₁, as a logarithm: the middle between the two sums of Eq. 48, with V(Cₜ)
/// as [`Shrinkage`] has it.
struct Sum {
    log_volume: f64,
    /// log Cₜ.
    last: Option<f64>,
    log_z: f64,
    /// Σ of L ΔV log L, over Ẑ.
    mean_log_likelihood: f64,
}

impl Default for Sum {
    fn default() -> Self {
        Self { log_volume: 0.0, last: None, log_z: f64::NEG_INFINITY, mean_log_likelihood: 0.0 }
    }
}

impl Sum {
    fn ends_unfinished(&self, settings: &NestedSettings) -> bool {
        -self.log_volume >= settings.most_nats
    }

    fn goes_on(&self, top: f64, settings: &NestedSettings) -> bool {
        let done = self.log_volume + top < self.log_z + f_log(settings.remainder);
        !done && !self.ends_unfinished(settings)
    }

    /// The next threshold, after log V has fallen so far.
    fn add(&mut self, shrink: f64, log_likelihood: f64) {
        let log_width = self.log_volume + f_log1p(-f_exp(-shrink));
        // Of the first shell nothing is known at its outer end.
        let middle = self.last.map_or(log_likelihood, |last| log_add(last, log_likelihood) - std::f64::consts::LN_2);
        self.take(log_width, middle);
        self.log_volume -= shrink;
        self.last = Some(log_likelihood);
    }

    /// A slice of the prior with a likelihood.
    fn take(&mut self, log_width: f64, log_likelihood: f64) {
        let term = log_width + log_likelihood;
        if term == f64::NEG_INFINITY {
            return;
        }
        let total = log_add(self.log_z, term);
        let old =
            if self.log_z == f64::NEG_INFINITY { 0.0 } else { self.mean_log_likelihood * f_exp(self.log_z - total) };
        self.mean_log_likelihood = old + f_exp(term - total) * log_likelihood;
        self.log_z = total;
    }

    /// The volume that is left has the mean likelihood of the points in it. Returns log Ẑ and H.
    fn finish(mut self, heights: &[f64]) -> (f64, f64) {
        let log_width = self.log_volume - f_log(float(heights.len()));
        heights.iter().for_each(|height| self.take(log_width, *height));
        (self.log_z, (self.mean_log_likelihood - self.log_z).max(0.0))
    }
}

fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + f_log1p(f_exp(low - high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With likelihoods that are known at the volumes the sum is a trapezoidal rule: ∫ L dV for L = 1 + 2(1 − V) is 2.
    #[test]
    fn the_sum_is_the_integral() {
        let mut sum = Sum::default();
        for t in 1..2000 {
            let volume = (100.0_f64 / 101.0).powi(t);
            sum.add(Shrinkage::Mean.of(100), (1.0 + 2.0 * (1.0 - volume)).ln());
        }
        // Trapezoids are exact for what is linear in V but for the first shell, which has the likelihood at its inner
        // end.
        let first = (1.0 / 101.0_f64).powi(2);
        let (log_z, _) = sum.finish(&[3.0_f64.ln(); 2]);
        assert!((log_z.exp() - (2.0 + first)).abs() < 1e-7, "{}", log_z.exp());
    }

    /// Where the K-th success is trial N, both estimates of p are unbiased on their scale: summed over all N.
    #[test]
    fn the_share_with_a_likelihood_is_unbiased() {
        let (p, live): (f64, usize) = (0.3, 3);
        let (mut mean, mut log_mean, mut total) = (0.0, 0.0, 0.0);
        // P(N = n) = C(n − 1, K − 1) p^K (1 − p)^(n − K)
        let mut probability = p.powi(3);
        for n in live..400 {
            total += probability;
            mean += probability * Shrinkage::Mean.positive(live, n).exp();
            log_mean += probability * Shrinkage::Geometric.positive(live, n);
            probability *= float(n) / float(n + 1 - live) * (1.0 - p);
        }
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        assert!((mean - p).abs() < 1e-12, "{mean}");
        assert!((log_mean - p.ln()).abs() < 1e-12, "{log_mean}");
    }

    #[test]
    fn heights_that_are_equal_up_to_rounding_are_ordered_by_label() {
        let mut live = Live::new(1e-11);
        let points = [('a', -2.0, 0.9), ('b', -2.0 - 1e-13, 0.1), ('c', -2.0 + 1e-13, 0.5), ('d', -9.0, 0.9)];
        points.into_iter().for_each(|(name, height, label)| live.push(name, height, label));
        live.sort();
        assert_eq!(live.particles, ['d', 'b', 'c', 'a']);
        assert_eq!(live.heights[1..], [-2.0; 3]);
    }
}
