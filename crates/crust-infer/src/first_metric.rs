//! A first metric for chains whose first trajectories are long.
//!
//! Stan keeps the unit metric until the first slow window has ended, at iteration 100. Where scales are far from 1 each
//! of these iterations is a trajectory of up to 1023 steps, and the first tenth of warm-up costs more than all that
//! follows. Such chains get a metric from the draws and gradients of ten iterations; chains with short trajectories do
//! exactly what Stan's do.

use crate::covariance::Welford;
use crate::kernel::{State, Statistics};
use crate::metric::{Metric, MetricKind};

/// The draws that make a metric.
const DRAWS: u32 = 10;
/// Trajectories of this many leapfrog steps, in the mean, are long. In the neck of a funnel they have about 32: there a
/// metric would be learned that fits nowhere else.
const LONG: u32 = 128;

/// Draws and gradients of the first interval of warm-up.
///
/// If coordinate i of the target is normal and independent of the others, gᵢ = ∂ log f/∂xᵢ = −(xᵢ − μᵢ)/σᵢ², and
///
/// > √(Σ (xᵢ − x̄ᵢ)² / Σ (gᵢ − ḡᵢ)²) = σᵢ²
///
/// whichever points these are: exact after two draws, and on the way to the typical set as well as inside of it. With
/// correlations it is √(Σᵢᵢ / (Σ⁻¹)ᵢᵢ) in expectation, between the conditional and the marginal variance.
#[derive(Clone, Debug)]
pub(crate) struct FirstMetric {
    kind: MetricKind,
    draws: Welford,
    gradients: Welford,
    count: u32,
    leapfrog_steps: u32,
}

impl FirstMetric {
    pub(crate) fn new(kind: MetricKind, dimension: usize) -> Self {
        let variances = || Welford::new(MetricKind::Diagonal, dimension);
        Self { kind, draws: variances(), gradients: variances(), count: 0, leapfrog_steps: 0 }
    }

    /// Takes in the draw of an iteration of the first interval. A metric is the answer once trajectories are long.
    pub(crate) fn learn(&mut self, state: &State, statistics: &Statistics) -> Option<Metric> {
        self.draws.add(&state.q);
        self.gradients.add(&state.gradient);
        self.count += 1;
        self.leapfrog_steps = self.leapfrog_steps.saturating_add(statistics.leapfrog_steps);
        let long = self.leapfrog_steps >= LONG * self.count;
        let metric = (self.count >= DRAWS && long).then(|| self.metric()).flatten();
        if metric.is_some() || self.count == 2 * DRAWS {
            self.restart();
        }
        metric
    }

    /// A coordinate that did not move, or whose gradient did not, has the scale 1.
    fn metric(&self) -> Option<Metric> {
        let variance = |(x, g): (&f64, &f64)| {
            let ratio = (x / g).sqrt();
            if ratio.is_normal() { ratio } else { 1.0 }
        };
        let variances = self.draws.squares().iter().zip(self.gradients.squares()).map(variance).collect();
        match self.kind {
            MetricKind::Unit => None,
            MetricKind::Diagonal => Metric::diagonal(variances).ok(),
            MetricKind::Dense => Metric::dense_diagonal(&variances).ok(),
        }
    }

    fn restart(&mut self) {
        self.draws.restart();
        self.gradients.restart();
        (self.count, self.leapfrog_steps) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draws of a normal target with deviations 0.01 and 30 that comes from far away, with trajectories of some
    /// length.
    fn metrics(kind: MetricKind, leapfrog_steps: u32, iterations: u32) -> Vec<(u32, Metric)> {
        let mut first = FirstMetric::new(kind, 2);
        let statistics = Statistics { leapfrog_steps, ..Statistics::default() };
        let learn = |i: u32| {
            let x = [5.0 / f64::from(1 + i), 1e3 - 7.0 * f64::from(i * i)];
            let gradient = vec![-(x[0] - 1.0) / 1e-4, -(x[1] + 3.0) / 900.0];
            let state = State { q: x.to_vec(), gradient, ..State::default() };
            first.learn(&state, &statistics).map(|metric| (i, metric))
        };
        (0..iterations).filter_map(learn).collect()
    }

    #[test]
    fn scales_of_a_normal_target_are_exact_on_the_way_to_it() {
        for (kind, entries) in [(MetricKind::Diagonal, [0, 1]), (MetricKind::Dense, [0, 3])] {
            let found = metrics(kind, LONG, 30);
            assert_eq!(found.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [9, 19, 29], "after each ten draws");
            for (_, metric) in found {
                let inverse = metric.inverse().unwrap();
                assert!((inverse[entries[0]] / 1e-4 - 1.0).abs() < 1e-9, "{inverse:?}");
                assert!((inverse[entries[1]] / 900.0 - 1.0).abs() < 1e-9, "{inverse:?}");
                assert!(kind == MetricKind::Diagonal || inverse[1] == 0.0);
            }
        }
    }

    #[test]
    fn short_trajectories_and_the_unit_metric_stay_as_they_are() {
        assert!(metrics(MetricKind::Diagonal, LONG - 1, 100).is_empty());
        assert!(metrics(MetricKind::Unit, 1000, 100).is_empty());
    }

    #[test]
    fn a_chain_that_does_not_move_keeps_the_scale_one() {
        let mut first = FirstMetric::new(MetricKind::Diagonal, 2);
        let state = State { q: vec![3.0, 4.0], gradient: vec![1e300, f64::INFINITY], ..State::default() };
        let statistics = Statistics { leapfrog_steps: 1000, ..Statistics::default() };
        let metric = (0..DRAWS).find_map(|_| first.learn(&state, &statistics)).unwrap();
        assert_eq!(metric.inverse().unwrap(), [1.0, 1.0]);
    }
}
