//! Random-walk Metropolis: y ~ N(x, h Σ).

use super::Proposal;
use crust_math::random::Stream;

pub(super) struct RandomWalk;

impl Proposal for RandomWalk {
    fn propose(&self, h: f64, u: &[f64], _: &[f64], stream: &mut Stream, to: &mut [f64]) {
        stream.fill_normal(to);
        let step = h.sqrt();
        to.iter_mut().zip(u).for_each(|(to, u)| *to = u + step * *to);
    }

    fn log_ratio(&self, _: f64, _: &[f64], _: &[f64], _: &[f64], _: &[f64]) -> f64 {
        0.0
    }
}
