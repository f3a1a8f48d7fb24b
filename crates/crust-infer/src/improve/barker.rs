//! The Barker proposal (Livingstone & Zanella 2022): normal steps whose signs lean to where the density grows.
//!
//! In each coordinate a step δ ~ N(0, h) keeps its sign with probability 1/(1 + e^(−δ c)) and is turned round
//! otherwise, where c is the derivative of log p. The proposal density is 2 N(δ; 0, h)/(1 + e^(−δ c)), so that of the
//! way back over that of the way there is Π (1 + e^(−δ c(x)))/(1 + e^(δ c(y))).

use super::Proposal;
use crust_math::random::Stream;
use crust_math::special::{inv_logit, log1p_exp};

pub(super) struct Barker;

impl Proposal for Barker {
    fn propose(&self, h: f64, g: &[f64], stream: &mut Stream, step: &mut [f64]) {
        stream.fill_normal(step);
        let deviation = h.sqrt();
        for (step, g) in step.iter_mut().zip(g) {
            let delta = deviation * *step;
            *step = if stream.uniform() < inv_logit(delta * g) { delta } else { -delta };
        }
    }

    fn log_ratio(&self, _: f64, g: &[f64], step: &[f64], g_to: &[f64]) -> f64 {
        let term = |((g, delta), g_to): ((&f64, &f64), &f64)| log1p_exp(-delta * g) - log1p_exp(delta * g_to);
        g.iter().zip(step).zip(g_to).map(term).sum()
    }
}
