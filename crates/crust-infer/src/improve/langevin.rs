//! The Metropolis-adjusted Langevin algorithm: y ~ N(x + h/2 Σ∇ log p(x), h Σ).

use super::Proposal;
use crust_math::random::Stream;

pub(super) struct Langevin;

impl Proposal for Langevin {
    fn propose(&self, h: f64, u: &[f64], g: &[f64], stream: &mut Stream, to: &mut [f64]) {
        stream.fill_normal(to);
        let step = h.sqrt();
        to.iter_mut().zip(u).zip(g).for_each(|((to, u), g)| *to = u + 0.5 * h * g + step * *to);
    }

    fn log_ratio(&self, h: f64, u: &[f64], g: &[f64], to: &[f64], g_to: &[f64]) -> f64 {
        let term = |((u, g), (to, g_to)): ((&f64, &f64), (&f64, &f64))| {
            let (there, back) = (to - u - 0.5 * h * g, u - to - 0.5 * h * g_to);
            there * there - back * back
        };
        u.iter().zip(g).zip(to.iter().zip(g_to)).map(term).sum::<f64>() / (2.0 * h)
    }
}
