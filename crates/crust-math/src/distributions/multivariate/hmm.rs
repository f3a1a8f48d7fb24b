//! Hidden Markov models: the density of what is seen, and the probabilities of the hidden states.
//!
//! Forward, αₜ ∝ ωₜ ∘ Γᵀ αₜ₋₁ from α₀ ∝ ω₀ ∘ ρ, each divided by its sum cₜ: the density is ∏ cₜ. Backward, with βₜ = Γ
//! (ωₜ₊₁ ∘ βₜ₊₁)/cₜ₊₁ from 1, the probability of a state given everything is αₜ ∘ βₜ. Densities ω are taken relative to
//! the largest of their time, so that they neither vanish nor overflow.

use super::layout::{Containers, Memory, matrix, same, shapes, square};
use crate::density::{Domain, DomainError, Terms};
use crate::functions::{Argument, Shape, ShapeError, VectorDensity};
use crate::linalg::products::{add_outer, add_product, add_transposed_product};
use crate::linalg::vectors::add_scaled;

/// `hmm_marginal(log_omega, Gamma, rho)`: log ω has a row for each state and a column for each time.
#[derive(Debug)]
pub(super) struct Marginal;

/// The model in numbers.
#[derive(Clone, Copy)]
struct Model<'a> {
    states: usize,
    log_omega: &'a [f64],
    gamma: &'a [f64],
    rho: &'a [f64],
}

/// What the forward pass leaves.
pub(crate) struct Forward<'a> {
    /// Columns αₜ: probabilities of the states given what is seen until t.
    pub(crate) alpha: &'a mut [f64],
    /// Columns ωₜ, relative to the largest.
    omega: &'a mut [f64],
    c: &'a mut [f64],
    value: f64,
}

/// Rows of Γ and ρ must be simplexes.
fn check_domain(function: &'static str, states: usize, gamma: &[f64], rho: &[f64]) -> Result<(), DomainError> {
    let domain = Domain(function);
    domain.simplex("rho", rho.iter().copied())?;
    (0..states).try_for_each(|i| domain.simplex("Gamma[i, ]", gamma[i..].iter().step_by(states).copied()))
}

impl Model<'_> {
    fn forward<'a>(self, memory: &mut Memory<'a>) -> Forward<'a> {
        let k = self.states;
        let all = self.log_omega.len();
        let (alpha, omega, c) = (memory.zeros(all), memory.take(all), memory.take(all / k));
        let mut value = 0.0;
        for t in 0..all / k {
            let (before, now) = alpha.split_at_mut(t * k);
            let now = &mut now[..k];
            if t == 0 {
                now.copy_from_slice(self.rho);
            } else {
                add_transposed_product(1.0, self.gamma, &before[(t - 1) * k..], now, (k, k));
            }
            let logs = &self.log_omega[t * k..(t + 1) * k];
            let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let omega = &mut omega[t * k..(t + 1) * k];
            omega.iter_mut().zip(logs).for_each(|(o, l)| *o = (l - top).exp());
            now.iter_mut().zip(&*omega).for_each(|(a, o)| *a *= o);
            let sum: f64 = now.iter().sum();
            now.iter_mut().for_each(|a| *a /= sum);
            c[t] = sum;
            value += top + sum.ln();
        }
        Forward { alpha, omega, c, value }
    }

    /// Calls `visit(t, ωₜ ∘ βₜ / cₜ, βₜ)` from the last time to the first.
    fn backward(self, f: &Forward, memory: &mut Memory, mut visit: impl FnMut(usize, &[f64], &[f64])) {
        let k = self.states;
        let (beta, weighted) = (memory.take(k), memory.take(k));
        beta.fill(1.0);
        for t in (0..f.c.len()).rev() {
            let omega = &f.omega[t * k..(t + 1) * k];
            weighted.iter_mut().zip(omega.iter().zip(&*beta)).for_each(|(w, (o, b))| *w = o * b / f.c[t]);
            visit(t, weighted, beta);
            beta.fill(0.0);
            add_product(1.0, self.gamma, weighted, beta, (k, k));
        }
    }
}

fn memory_needed(states: usize, times: usize) -> usize {
    2 * states * times + times + 2 * states
}

impl VectorDensity for Marginal {
    fn name(&self) -> &'static str {
        "hmm_marginal"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [log_omega, gamma, rho] = shapes(arguments)?;
        matrix("matrix of log densities", &log_omega)?;
        let states = "the number of rows of the log densities";
        same("the size of rho", rho.len(), states, log_omega.rows())?;
        square("transition matrix", &gamma, states, log_omega.rows())?;
        if log_omega.is_empty() { Err(ShapeError::Empty("the matrix of log densities is empty")) } else { Ok(()) }
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        memory_needed(arguments[0].rows(), arguments[0].columns())
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        _terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let [log_omega, gamma, rho] = [0, 1, 2].map(|i| arguments[i].numbers);
        let k = arguments[0].shape.rows();
        check_domain(self.name(), k, gamma, rho)?;
        let model = Model { states: k, log_omega, gamma, rho };
        let mut memory = Memory(scratch);
        let forward = model.forward(&mut memory);
        if forward.value == f64::NEG_INFINITY {
            return Ok(forward.value);
        }
        let [d_omega, d_gamma, d_rho] = adjoints else { return Ok(forward.value) };
        model.backward(&forward, &mut memory, |t, weighted, beta| {
            let alpha = &forward.alpha[t * k..(t + 1) * k];
            if !d_omega.is_empty() {
                let slopes = alpha.iter().zip(beta).map(|(a, b)| a * b);
                d_omega[t * k..(t + 1) * k].iter_mut().zip(slopes).for_each(|(d, s)| *d += seed * s);
            }
            if t > 0 && !d_gamma.is_empty() {
                add_outer(seed, &forward.alpha[(t - 1) * k..t * k], weighted, d_gamma);
            }
            if t == 0 && !d_rho.is_empty() {
                add_scaled(d_rho, seed, weighted);
            }
        });
        Ok(forward.value)
    }
}

/// Probabilities of the states at each time given what is seen until then, for draws of the states: columns as in log
/// ω.
pub(crate) fn filtered<'a>(
    function: &'static str,
    [log_omega, gamma, rho]: [&[f64]; 3],
    scratch: &'a mut [f64],
) -> Result<Forward<'a>, DomainError> {
    let states = rho.len();
    check_domain(function, states, gamma, rho)?;
    Ok(Model { states, log_omega, gamma, rho }.forward(&mut Memory(scratch)))
}

/// The memory that [`hmm_hidden_state_prob`] needs.
pub fn hmm_memory(states: usize, times: usize) -> usize {
    memory_needed(states, times)
}

/// Stan's `hmm_hidden_state_prob`: the probability of every state (row) at every time (column), given all that is seen.
///
/// Matrices are stored by columns; the number of states is the size of ρ. `scratch` has the length [`hmm_memory`].
pub fn hmm_hidden_state_prob(
    log_omega: &[f64],
    gamma: &[f64],
    rho: &[f64],
    out: &mut [f64],
    scratch: &mut [f64],
) -> Result<(), DomainError> {
    let states = rho.len();
    check_domain("hmm_hidden_state_prob", states, gamma, rho)?;
    let model = Model { states, log_omega, gamma, rho };
    let mut memory = Memory(scratch);
    let forward = model.forward(&mut memory);
    model.backward(&forward, &mut memory, |t, _, beta| {
        let alpha = &forward.alpha[t * states..(t + 1) * states];
        let out = &mut out[t * states..(t + 1) * states];
        out.iter_mut().zip(alpha.iter().zip(beta)).for_each(|(o, (a, b))| *o = a * b);
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|o| *o /= sum);
    });
    Ok(())
}
