//! The evidence lower bound of an approximation, estimated with draws that no fit has seen, and bounds that follow from
//! it.

use crust_math::random::StreamKey;
use crust_math::special::log_sum_exp_slice;

use super::Error;
use super::curvature::Curvature;
use super::evaluate::{Evaluations, Points};
use super::family::{Approximation, Elliptical, float, standard_log_density};
use super::quasi::{even_normals, even_stretches};
use crate::target::Target;
use crate::vector::dot;

/// ELBO(q), with what it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// −∞ if the density is zero at a draw.
    pub value: f64,
    pub standard_error: f64,
    /// Draws of q with log p.
    pub points: Points,
    /// log p − log q of each.
    pub log_ratios: Vec<f64>,
}

/// Independent sets of draws, from whose means the standard error is computed.
const SETS: usize = 16;

/// The bound of a normal or Student distribution with about `draws` draws, which are even in sets (see
/// [`super::quasi`]): the error is that of independent sets, and smaller than with independent draws.
pub fn estimate<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &Elliptical,
    draws: usize,
    key: StreamKey,
) -> Result<Estimate, Error> {
    estimate_with(evaluations, q, None, draws, key)
}

/// The same, with the curvature in the frame of a normal distribution as a control variate. It must not be from these
/// draws.
pub fn estimate_with<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &Elliptical,
    control: Option<&Curvature>,
    draws: usize,
    key: StreamKey,
) -> Result<Estimate, Error> {
    let d = q.dimension();
    let each = draws.div_ceil(SETS).next_multiple_of(2).max(2);
    let (mut x, mut log_q) = (Vec::with_capacity(SETS * each * d), Vec::with_capacity(SETS * each));
    let mut controls = Vec::new();
    let log_determinant = q.scale.log_determinant();
    for set in 0..SETS {
        let key = key.step(key.step + set as u64);
        let stretches = q.degrees.map(|nu| even_stretches(nu, each, key.chain(u32::MAX)));
        for (k, z) in even_normals(d, each, key).chunks_exact_mut(d).enumerate() {
            if let Some(stretches) = &stretches {
                z.iter_mut().for_each(|z| *z *= stretches[k]);
            }
            log_q.push(standard_log_density(float(d), q.degrees, dot(z, z)) - log_determinant);
            controls.extend(control.map(|curvature| curvature.control(z)));
            let first = x.len();
            q.scale.apply_to(z, &mut x);
            x[first..].iter_mut().zip(&q.mean).for_each(|(x, m)| *x += m);
        }
    }
    finish(evaluations, Points::new(d, x), &log_q, &controls, each)
}

/// The bound of any approximation, with independent draws.
pub fn estimate_plainly<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &dyn Approximation,
    draws: usize,
    key: StreamKey,
) -> Result<Estimate, Error> {
    let mut stream = key.stream();
    let x: Vec<f64> = (0..draws.max(2)).flat_map(|_| q.draw(&mut stream)).collect();
    let points = Points::new(q.dimension(), x);
    let log_q: Vec<f64> = points.x.chunks_exact(q.dimension()).map(|x| q.log_density(x)).collect();
    finish(evaluations, points, &log_q, &[], 1)
}

fn finish<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    mut points: Points,
    log_q: &[f64],
    controls: &[f64],
    each: usize,
) -> Result<Estimate, Error> {
    evaluations.evaluate(&mut points, false)?;
    let log_ratios: Vec<f64> = points.log_density.iter().zip(log_q).map(|(p, q)| p - q).collect();
    let mut means: Vec<f64> = log_ratios.chunks(each).map(|set| set.iter().sum::<f64>() / float(set.len())).collect();
    let corrections = controls.chunks(each).map(|set| set.iter().sum::<f64>() / float(set.len()));
    means.iter_mut().zip(corrections).for_each(|(mean, correction)| *mean += correction);
    let (value, standard_error) = mean_and_error(&means);
    Ok(Estimate { value, standard_error, points, log_ratios })
}

/// The mean of independent numbers and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = float(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, if mean.is_finite() { (square / n).sqrt() } else { f64::INFINITY })
}

/// The importance-weighted bound with k draws, E log (Σ w)/k: it grows with k from the ELBO towards log Z (Burda,
/// Grosse & Salakhutdinov 2016). Estimated from disjoint groups of the draws, so that k ≤ n/2.
pub fn importance_weighted(log_ratios: &[f64], k: usize) -> Option<(f64, f64)> {
    let groups = log_ratios.len() / k.max(1);
    if groups < 2 {
        return None;
    }
    // Neighbours may be from the same set of even draws: groups take every so many-th, so that they are as good as
    // independent.
    let group = |g: usize| log_ratios.iter().skip(g).step_by(groups).take(k).copied().collect::<Vec<f64>>();
    let values: Vec<f64> = (0..groups).map(|g| log_sum_exp_slice(&group(g)) - float(k).ln()).collect();
    Some(mean_and_error(&values))
}

/// What is known of KL(q‖p) = log Z − ELBO(q).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// From a lower bound on log Z; never below 0, which every divergence is.
    pub at_least: f64,
    /// From an upper bound on log Z, where there is one.
    pub at_most: Option<f64>,
}

/// KL(q‖p) between bounds on log Z. `margin` is how many standard errors of the ELBO both sides give away.
pub fn divergence(
    elbo: f64,
    standard_error: f64,
    margin: f64,
    log_z_lower: f64,
    log_z_upper: Option<f64>,
) -> Divergence {
    let slack = margin * standard_error;
    Divergence {
        at_least: (log_z_lower - elbo - slack).max(0.0),
        at_most: log_z_upper.map(|upper| (upper - elbo + slack).max(0.0)),
    }
}
