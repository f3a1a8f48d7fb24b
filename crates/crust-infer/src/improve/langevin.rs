//! The Metropolis-adjusted Langevin algorithm: y ~ N(x + h/2 Σ∇ log p(x), h Σ).

use super::Proposal;
use crust_math::random::Stream;

pub(super) struct Langevin;

impl Proposal for Langevin {
    fn propose(&self, h: f64, g: &[f64], stream: &mut Stream, step: &mut [f64]) {
        stream.fill_normal(step);
        let deviation = h.sqrt();
        step.iter_mut().zip(g).for_each(|(step, g)| *step = 0.5 * h * g + deviation * *step);
    }

    fn log_ratio(&self, h: f64, g: &[f64], step: &[f64], g_to: &[f64]) -> f64 {
        let term = |((g, delta), g_to): ((&f64, &f64), &f64)| {
            let (there, back) = (delta - 0.5 * h * g, -delta - 0.5 * h * g_to);
            there * there - back * back
        };
        g.iter().zip(step).zip(g_to).map(term).sum::<f64>() / (2.0 * h)
    }
}
