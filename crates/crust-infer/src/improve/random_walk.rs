//! Random-walk Metropolis: y ~ N(x, h Σ).

use super::Proposal;
use crust_math::random::Stream;

pub(super) struct RandomWalk;

impl Proposal for RandomWalk {
    fn propose(&self, h: f64, _: &[f64], stream: &mut Stream, step: &mut [f64]) {
        stream.fill_normal(step);
        let deviation = h.sqrt();
        step.iter_mut().for_each(|step| *step *= deviation);
    }

    fn log_ratio(&self, _: f64, _: &[f64], _: &[f64], _: &[f64]) -> f64 {
        0.0
    }
}
