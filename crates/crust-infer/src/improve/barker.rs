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
    fn propose(&self, h: f64, u: &[f64], g: &[f64], stream: &mut Stream, to: &mut [f64]) {
        stream.fill_normal(to);
        let step = h.sqrt();
        for ((to, u), g) in to.iter_mut().zip(u).zip(g) {
            let delta = step * *to;
            *to = if stream.uniform() < inv_logit(delta * g) { u + delta } else { u - delta };
        }
    }

    fn log_ratio(&self, _: f64, u: &[f64], g: &[f64], to: &[f64], g_to: &[f64]) -> f64 {
        let term = |((u, g), (to, g_to)): ((&f64, &f64), (&f64, &f64))| {
            let delta = to - u;
            log1p_exp(-delta * g) - log1p_exp(delta * g_to)
        };
        u.iter().zip(g).zip(to.iter().zip(g_to)).map(term).sum()
    }
}
