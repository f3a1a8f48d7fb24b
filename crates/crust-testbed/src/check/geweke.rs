//! Geweke's test (2004): simulating forwards, and alternating a kernel with new data, must give the same distribution.
//!
//! BDMC, appendix B, item 2. Each replicate is a chain of its own that starts with a forward sample, takes a number of
//! steps (kernel, then data given the state), and reports statistics at its end only. So the samples of both ways are
//! independent, and the Kolmogorov–Smirnov distance of each statistic has its textbook distribution. More steps amplify
//! a small bias.

use crust_infer::target::Fatal;
use crust_math::random::{Stream, StreamKey};
use pxfm::f_exp;

use crate::grid::float;
use crate::model::Simulate;
use crate::models::binary::BinaryAttributes;
use crate::models::clustering::Clustering;
use crate::models::low_rank::LowRank;

/// Models that can replace their data by a draw from p(Y | x), whatever is not in the state being integrated out.
pub trait Redraw: Simulate {
    fn redraw_data(&mut self, state: &mut Self::State, stream: &mut Stream) -> Result<(), Fatal>;
}

macro_rules! redraw {
    ($($model:ty),*) => {$(
        impl Redraw for $model {
            fn redraw_data(&mut self, state: &mut Self::State, stream: &mut Stream) -> Result<(), Fatal> {
                Self::redraw_data(self, state, stream)
            }
        }
    )*};
}

redraw!(Clustering, LowRank, BinaryAttributes);

/// Which kernel is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    Step,
    StepReversed,
}

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Samples of each way.
    pub replicates: u32,
    /// Steps of each chain.
    pub steps: u32,
}

/// The P–P curve of one statistic.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub name: &'static str,
    /// For each pooled value the fraction of forward samples and of chain samples up to it: the diagonal, if all is
    /// well.
    pub points: Vec<(f64, f64)>,
    /// The largest difference between the two, Kolmogorov and Smirnov's distance.
    pub distance: f64,
    /// The probability of a distance as large by chance.
    pub p_value: f64,
}

/// Named statistics of data and state.
pub type Statistics<M> = fn(&mut M, &<M as crust_infer::anneal::System>::State) -> Vec<(&'static str, f64)>;

/// Compares the two ways at β = 1, statistic by statistic.
pub fn geweke<M: Redraw>(
    setting: &M::Setting,
    statistics: Statistics<M>,
    tested: Tested,
    effort: Effort,
    key: StreamKey,
) -> Result<Vec<Comparison>, Fatal> {
    let sample = |replicate: u32, steps: u32, way: u64| {
        let mut stream = key.chain(replicate).step(way).stream();
        let (mut model, mut state) = M::simulate(setting, &mut stream)?;
        for _ in 0..steps {
            match tested {
                Tested::Step => model.step(&mut state, 1.0, &mut stream)?,
                Tested::StepReversed => model.step_reversed(&mut state, 1.0, &mut stream)?,
            };
            model.redraw_data(&mut state, &mut stream)?;
        }
        Ok(statistics(&mut model, &state))
    };
    let all = |steps, way| (0..effort.replicates).map(|r| sample(r, steps, way)).collect::<Result<Vec<_>, Fatal>>();
    let (forward, chains) = (all(0, 0)?, all(effort.steps, 1)?);
    let names: Vec<&'static str> = forward.first().map(|row| row.iter().map(|s| s.0).collect()).unwrap_or_default();
    let column = |rows: &[Vec<(&'static str, f64)>], s: usize| rows.iter().map(|row| row[s].1).collect::<Vec<f64>>();
    Ok(names.into_iter().enumerate().map(|(s, name)| compare(name, column(&forward, s), column(&chains, s))).collect())
}

/// The two-sample comparison.
pub fn compare(name: &'static str, mut a: Vec<f64>, mut b: Vec<f64>) -> Comparison {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let mut pooled: Vec<f64> = a.iter().chain(&b).copied().collect();
    pooled.sort_by(f64::total_cmp);
    pooled.dedup();
    let up_to = |sample: &[f64], x: f64| float(sample.partition_point(|&y| y <= x)) / float(sample.len());
    let points: Vec<(f64, f64)> = pooled.into_iter().map(|x| (up_to(&a, x), up_to(&b, x))).collect();
    let distance = points.iter().map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
    let effective = (float(a.len()) * float(b.len()) / float(a.len() + b.len())).sqrt();
    Comparison { name, points, distance, p_value: kolmogorov(distance * (effective + 0.12 + 0.11 / effective)) }
}

/// Kolmogorov's 2 Σ (−1)^(j−1) exp(−2 j² x²), with the correction of Stephens (1970) in its argument.
fn kolmogorov(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let term = |j: u32| {
        let j = f64::from(j);
        f_exp(-2.0 * j * j * x * x)
    };
    let sum: f64 = (1..=100).map(|j| if j % 2 == 1 { term(j) } else { -term(j) }).sum();
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kolmogorov_is_the_textbook_one() {
        // Critical values: 1.3581 at 5 %, 1.6276 at 1 %.
        assert!((kolmogorov(1.3581) - 0.05).abs() < 1e-5 && (kolmogorov(1.6276) - 0.01).abs() < 1e-5);
        let same = compare("same", vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]);
        assert!(same.distance < 1e-12 && (same.p_value - 1.0).abs() < 1e-12);
        let apart = compare("apart", vec![1.0; 50], vec![2.0; 50]);
        assert!((apart.distance - 1.0).abs() < 1e-12 && apart.p_value < 1e-20);
    }
}
