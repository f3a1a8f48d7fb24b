//! Particle learning with the centres integrated out (BDMC, Eqs. 21–22): the sum over the assignment of a new case is
//! exact.

use std::f64::consts::TAU;

use crust_infer::anneal::Direction;
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::f_log;

use super::super::Scan;
use super::{Clustering, State, sweep};
use crate::grid::float;
use crate::model::{Proposal, Sequential};
use crate::models::choice::{Choose, Drawn, normalise};

impl Clustering {
    /// What the next case has in common for all components: −(D/2) log 2πσ_n² − |y|²/(2σ_n²).
    fn log_common(&self, state: &State) -> f64 {
        let square = self.squares[state.z.len()] / state.within;
        -0.5 * (float(self.data.columns()) * f_log(TAU * state.within) + square)
    }

    /// Adds a case to a component, or takes the last one away.
    fn learn(&self, state: &mut State, k: usize) {
        state.z.push(k);
        self.refresh_statistics(state);
    }

    /// The factor of Eq. 22 for the next case: that of its posterior proposal for all components, and those of the
    /// prior proposal one by one; with `choose` picking the component.
    fn factor(
        &mut self,
        state: &State,
        proposal: Proposal,
        choose: impl FnOnce(&[f64], &[f64], &mut [f64]) -> usize,
    ) -> (usize, f64) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let (log_likelihood, weights) = sweep::predict(self, state, &mut scratch);
        let k = choose(&state.log_weights, log_likelihood, weights);
        let log_factor = match proposal {
            Proposal::Prior => log_likelihood[k],
            Proposal::Posterior => {
                let (total, largest) = normalise(&state.log_weights, log_likelihood, weights);
                largest + f_log(total)
            }
        };
        self.scratch = scratch;
        (k, log_factor + self.log_common(state))
    }
}

impl Sequential for Clustering {
    type Particle = State;

    fn begin(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        let (_, log_weights, between, within) = super::draw_state(&self.prior, 0, stream)?;
        Ok(self.state(vec![], &log_weights, between, within))
    }

    fn extend(&mut self, particle: &mut State, proposal: Proposal, stream: &mut Stream) -> Result<f64, Fatal> {
        let (k, log_factor) = self.factor(particle, proposal, |log_prior, log_likelihood, weights| {
            let nothing = vec![0.0; log_prior.len()];
            let log_likelihood = if proposal == Proposal::Prior { &nothing } else { log_likelihood };
            Drawn { stream, thresholds: &mut [] }.choose(0, 0, log_prior, log_likelihood, weights)
        });
        self.learn(particle, k);
        Ok(log_factor)
    }

    fn retract(&mut self, particle: &mut State, proposal: Proposal) -> Result<f64, Fatal> {
        let Some(k) = particle.z.pop() else { return Err(Fatal::new("a particle without cases has none to give up")) };
        self.refresh_statistics(particle);
        Ok(self.factor(particle, proposal, |_, _, _| k).1)
    }

    fn refresh(&mut self, particle: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.scan(particle, 1.0, Direction::Forward, stream).map(|_| ())
    }

    fn refresh_reversed(&mut self, particle: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.scan(particle, 1.0, Direction::Reverse, stream).map(|_| ())
    }

    fn particle(&mut self, state: &State) -> Result<State, Fatal> {
        Ok(state.clone())
    }
}
