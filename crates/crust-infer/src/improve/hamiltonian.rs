//! Hamiltonian Monte Carlo: momenta η ~ N(0, Σ⁻¹), kinetic energy ½ ηᵀΣη, leapfrog steps.
//!
//! The paper's appendix draws momenta from N(0, Σ) with this kinetic energy: the two do not belong together, and the
//! kernel would not leave the posterior invariant. In the coordinates u both are standard.

use super::{Population, chain_number};
use crate::approximate::Error;
use crate::approximate::evaluate::Evaluations;
use crate::approximate::family::float;
use crate::target::Target;
use crate::vector::{add_scaled, dot};
use crust_math::random::StreamKey;

impl Population<'_> {
    /// One iteration of all chains, with the same random number of steps; returns their mean acceptance probability.
    pub(super) fn hamiltonian<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        most_steps: u32,
        h: f64,
        key: StreamKey,
    ) -> Result<f64, Error> {
        let (d, n, step) = (self.dimension(), self.log_density.len(), h.sqrt());
        let steps = 1 + key.chain(u32::MAX).stream().below(u64::from(most_steps.max(1)));
        let mut momenta = vec![0.0; n * d];
        let mut uniforms = Vec::with_capacity(n);
        for (chain, momentum) in momenta.chunks_exact_mut(d).enumerate() {
            let mut stream = key.chain(chain_number(chain)).stream();
            uniforms.push(stream.uniform());
            stream.fill_normal(momentum);
        }
        let before: Vec<f64> = momenta.chunks_exact(d).map(|p| 0.5 * dot(p, p)).collect();
        let (mut u, mut gradient) = (self.u.clone(), self.gradient.clone());
        let mut log_density = Vec::new();
        for _ in 0..steps {
            add_scaled(&mut momenta, 0.5 * step, &gradient);
            add_scaled(&mut u, step, &momenta);
            (log_density, gradient) = self.evaluate(evaluations, &u, true)?;
            add_scaled(&mut momenta, 0.5 * step, &gradient);
        }
        let mut total = 0.0;
        for chain in 0..n {
            let at = chain * d..(chain + 1) * d;
            let momentum = &momenta[at.clone()];
            let ratio = log_density[chain] - self.log_density[chain] + before[chain] - 0.5 * dot(momentum, momentum);
            total += self.decide(chain, ratio, uniforms[chain], &u[at.clone()], &gradient[at], log_density[chain]);
        }
        Ok(total / float(n))
    }
}
