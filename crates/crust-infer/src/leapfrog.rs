//! The leapfrog integrator, in two halves: before and after the gradient at the new position is known.
//!
//! One step of size ε is the composition of three shears, p ← p + ε/2 ∇log f(q), q ← q + ε M⁻¹p, p ← p + ε/2 ∇log f(q).
//! Shears preserve volume, and the step with −ε undoes the step with ε.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crate::metric::Metric;
use crate::vector::{Arena, Slot, dot_lines};

/// A point in phase space: position, momentum, ∇ log `f_β` at the position, and velocity M⁻¹ p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    pub q: Slot,
    pub p: Slot,
    pub gradient: Slot,
    pub velocity: Slot,
}

impl Phase {
    pub(crate) fn reserve(arena: &mut Arena) -> Self {
        Self { q: arena.reserve(), p: arena.reserve(), gradient: arena.reserve(), velocity: arena.reserve() }
    }

    /// Writes this point over another.
    pub(crate) fn copy_to(self, arena: &mut Arena, other: Self) {
        arena.copy(self.q, other.q);
        arena.copy(self.p, other.p);
        arena.copy(self.gradient, other.gradient);
        arena.copy(self.velocity, other.velocity);
    }

    /// The first half of a step: the gradient is that of the old position.
    #[inline(always)]
    pub(crate) fn begin_step(self, arena: &mut Arena, metric: &Metric, step_size: f64) {
        if let Some(variance) = metric.diagonal_lines() {
            arena.kick_and_drift([self.q, self.p, self.gradient], 0.5 * step_size, step_size, variance);
            return;
        }
        arena.add_scaled(self.p, 0.5 * step_size, self.gradient);
        let [q, p, room] = arena.several([self.q, self.p, self.velocity]);
        metric.drift(q, step_size, p, room);
    }

    /// The second half of a step: the gradient is that of the new position. Returns the kinetic energy.
    #[inline(always)]
    pub(crate) fn end_step(self, arena: &mut Arena, metric: &Metric, step_size: f64) -> f64 {
        if let Some(variance) = metric.diagonal_lines() {
            return 0.5 * arena.kick_and_weigh([self.p, self.gradient, self.velocity], 0.5 * step_size, variance);
        }
        arena.add_scaled(self.p, 0.5 * step_size, self.gradient);
        self.kinetic_energy(arena, metric)
    }

    /// ½ pᵀ M⁻¹ p; the velocity is written.
    pub(crate) fn kinetic_energy(self, arena: &mut Arena, metric: &Metric) -> f64 {
        let [p, velocity] = arena.several([self.p, self.velocity]);
        metric.velocity(p, velocity);
        0.5 * dot_lines(arena.lines(self.p), arena.lines(self.velocity))
    }
}

#[cfg(test)]
#[path = "leapfrog_tests.rs"]
mod tests;
