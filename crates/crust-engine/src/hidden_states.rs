//! The probabilities of the hidden states of a Markov model as a function of Stan's library.

use crust_math::density::DomainError;
use crust_math::distributions::multivariate::{hmm_hidden_state_prob, hmm_memory};
use crust_math::functions::{Argument, Shape, ShapeError, VectorFunction};

/// `hmm_hidden_state_prob(log_omega, Gamma, rho)`: a row for each state, a column for each time.
///
/// Stan has no derivative of it (it belongs to generated quantities) and takes it for a constant. Here the gradient is
/// NaN where a log density depends on it: better no number than a wrong one.
#[derive(Debug)]
pub struct HiddenStates;

impl VectorFunction for HiddenStates {
    fn name(&self) -> &'static str {
        "hmm_hidden_state_prob"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [log_omega, gamma, rho] = arguments else { return Err(ShapeError::Arguments("three arguments")) };
        let (log_omega, gamma, rho) = (log_omega.shape, gamma.shape, rho.shape);
        let states = log_omega.rows();
        if gamma.rows() != states || gamma.columns() != states || rho.len() != states {
            return Err(ShapeError::HiddenStates { log_omega, gamma, rho });
        }
        if log_omega.is_empty() { Err(ShapeError::Empty("there are no log densities")) } else { Ok(log_omega) }
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        hmm_memory(arguments[0].rows(), arguments[0].columns())
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let [log_omega, gamma, rho] = [0, 1, 2].map(|k| arguments[k].numbers);
        hmm_hidden_state_prob(log_omega, gamma, rho, out, scratch)
    }

    fn reverse(
        &self,
        _arguments: &[Argument],
        _out: &[f64],
        _adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) {
        adjoints.iter_mut().for_each(|list| list.fill(f64::NAN));
    }
}
