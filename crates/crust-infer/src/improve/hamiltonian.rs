//! Hamiltonian Monte Carlo: momenta η ~ N(0, Σ⁻¹), kinetic energy ½ ηᵀΣη, leapfrog steps.
//!
//! The paper's appendix draws momenta from N(0, Σ) with this kinetic energy: the two do not belong together, and the
//! kernel would not leave the posterior invariant. In the coordinates u both are standard.

use super::chain_number;
use super::population::Population;
use crate::approximate::Error;
use crate::approximate::evaluate::{Evaluations, Points};
use crate::approximate::family::float;
use crate::target::Target;
use crate::vector::{add_scaled, dot};
use crust_math::random::StreamKey;
use std::f64::consts::FRAC_PI_4;

impl Population {
    /// One iteration of all chains, with the same random number of steps; returns their mean acceptance probability.
    ///
    /// Chains that adapt go for a time τ that is uniform between π/4 and 3π/4: on a standard normal target a chain is at
    /// x cos τ + p sin τ then, so that E cos τ = 0 (ends do not depend on starts on average) and E cos² τ = ½ − 1/π (the
    /// correlation of squares, which a time that is uniform between 0 and π leaves at ½).
    pub(super) fn hamiltonian<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        most_steps: u32,
        key: StreamKey,
    ) -> Result<f64, Error> {
        let (d, n, step) = (self.dimension, self.len(), self.h.sqrt());
        let mut common = key.chain(u32::MAX - chain_number(self.first)).stream();
        let steps = if self.adapts {
            let time = FRAC_PI_4 * (1.0 + 2.0 * common.uniform());
            steps_for(time / step, most_steps)
        } else {
            1 + common.below(u64::from(most_steps.max(1)))
        };
        let mut momenta = vec![0.0; n * d];
        let mut uniforms = Vec::with_capacity(n);
        for (chain, momentum) in momenta.chunks_exact_mut(d).enumerate() {
            let mut stream = key.chain(chain_number(self.first + chain)).stream();
            uniforms.push(stream.uniform());
            stream.fill_normal(momentum);
        }
        let before: Vec<f64> = momenta.chunks_exact(d).map(|p| 0.5 * dot(p, p)).collect();
        let mut straight = self.straight();
        let mut to = Points::default();
        let mut gradient = self.gradient.clone();
        for _ in 0..steps {
            add_scaled(&mut momenta, 0.5 * step, &gradient);
            for (v, p) in straight.chunks_exact_mut(d).zip(momenta.chunks_exact(d)) {
                add_scaled(v, step, &self.scale.apply(p));
            }
            to = self.bent(&straight);
            evaluations.evaluate(&mut to, true)?;
            gradient = self.turned(&to.x, &to.gradient);
            add_scaled(&mut momenta, 0.5 * step, &gradient);
        }
        let mut total = 0.0;
        for chain in 0..n {
            let momentum = &momenta[chain * d..][..d];
            let ratio = self.log_ratio(chain, &to) + before[chain] - 0.5 * dot(momentum, momentum);
            total += self.decide(chain, ratio, uniforms[chain], &to, &gradient);
        }
        Ok(total / float(n))
    }
}

/// The nearest whole number of steps, from 1 on.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and a number that fits")]
fn steps_for(steps: f64, most: u32) -> u64 {
    steps.round().clamp(1.0, f64::from(most.max(1))) as u64
}
