//! Weighted populations: effective size and resampling.

use crust_math::random::Stream;
use pxfm::f_exp;

use super::float;

/// How particles are chosen in proportion to their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resampling {
    /// Each independently of the others.
    Multinomial,
    /// At equal distances in the cumulative weights, from one random offset: the same expectations with less noise.
    Systematic,
}

fn greatest(log_weights: &[f64]) -> f64 {
    log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// (Σ w)² / Σ w², between 1 and the number of weights; 0 if all are 0.
pub fn effective_size(log_weights: &[f64]) -> f64 {
    let top = greatest(log_weights);
    if top == f64::NEG_INFINITY {
        return 0.0;
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    for log in log_weights {
        let w = f_exp(log - top);
        sum += w;
        squares += w * w;
    }
    sum * sum / squares
}

impl Resampling {
    /// `count` indices; index k is expected count · `w_k`/Σ w times. Nothing if all weights are 0.
    pub fn choose(self, log_weights: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
        let top = greatest(log_weights);
        if top == f64::NEG_INFINITY {
            return vec![];
        }
        let weights: Vec<f64> = log_weights.iter().map(|v| f_exp(v - top)).collect();
        match self {
            Self::Multinomial => multinomial(&weights, count, stream),
            Self::Systematic => systematic(&weights, count, stream),
        }
    }
}

fn multinomial(weights: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut total = 0.0;
    let cumulative: Vec<f64> = weights
        .iter()
        .map(|w| {
            total += w;
            total
        })
        .collect();
    let last = weights.iter().rposition(|w| *w > 0.0).unwrap_or(0);
    // Rounding may put a point at the very end.
    let point = |_| {
        let point = stream.uniform() * total;
        cumulative.partition_point(|c| *c <= point).min(last)
    };
    (0..count).map(point).collect()
}

/// Each i is drawn ⌊c wᵢ⌋ or ⌈c wᵢ⌉ times with c = count/Σ w.
fn systematic(weights: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(count);
    let spacing = weights.iter().sum::<f64>() / float(count);
    let mut point = stream.uniform() * spacing;
    let mut sum = 0.0;
    for (i, w) in weights.iter().enumerate() {
        sum += w;
        while *w > 0.0 && point < sum && chosen.len() < count {
            chosen.push(i);
            point += spacing;
        }
    }
    // Rounding may leave the last place empty.
    while let (true, Some(&last)) = (chosen.len() < count, chosen.last()) {
        chosen.push(last);
    }
    chosen
}

/// A new population, from copies of the chosen. Particles that are chosen once are moved.
pub fn take<P: Clone>(particles: Vec<P>, chosen: &[usize]) -> Vec<P> {
    let mut left = vec![0_usize; particles.len()];
    chosen.iter().for_each(|&i| left[i] += 1);
    let mut particles: Vec<Option<P>> = particles.into_iter().map(Some).collect();
    let next = |&i: &usize| {
        left[i] -= 1;
        if left[i] == 0 { particles[i].take() } else { particles[i].clone() }
    };
    chosen.iter().filter_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    #[test]
    fn effective_sizes() {
        assert!((effective_size(&[-1000.0; 5]) - 5.0).abs() < 1e-12);
        assert!((effective_size(&[0.0, f64::NEG_INFINITY]) - 1.0).abs() < 1e-12);
        assert!((effective_size(&[0.0, 3.0_f64.ln()]) - 1.6).abs() < 1e-12);
        assert!(effective_size(&[f64::NEG_INFINITY; 3]) <= 0.0);
    }

    #[test]
    fn both_ways_of_resampling_are_proportional() {
        let log_weights = [0.0, f64::NEG_INFINITY, 3.0_f64.ln(), 2.0_f64.ln(), f64::NEG_INFINITY];
        for scheme in [Resampling::Multinomial, Resampling::Systematic] {
            let mut stream = StreamKey::new(3, Purpose::TEST).stream();
            let mut counts = [0.0_f64; 5];
            for _ in 0..20_000 {
                scheme.choose(&log_weights, 5, &mut stream).iter().for_each(|&i| counts[i] += 1.0 / 20_000.0);
            }
            for (count, share) in counts.iter().zip([1.0, 0.0, 3.0, 2.0, 0.0]) {
                // Standard errors are below 0.008 of 5 places: 6 of them, a false alarm in 10⁸.
                assert!((count - 5.0 * share / 6.0).abs() < 0.05, "{scheme:?}: {counts:?}");
            }
            assert_eq!(scheme.choose(&log_weights, 3, &mut stream).len(), 3);
            assert!(scheme.choose(&[f64::NEG_INFINITY; 2], 2, &mut stream).is_empty());
        }
        assert_eq!(take(vec!['a', 'b', 'c'], &[0, 2, 2]), ['a', 'c', 'c']);
    }
}
