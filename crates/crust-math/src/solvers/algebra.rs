//! Systems of algebraic equations f(x, θ) = 0 and the derivative of their solutions.
//!
//! By the implicit function theorem dx/dθ = −(∂f/∂x)⁻¹ ∂f/∂θ at the solution: the path by which a solver came there
//! does not matter, and adjoints pass through one linear system.

mod newton;
mod powell;

#[cfg(test)]
mod tests;

pub use newton::{NewtonTolerances, solve_newton};
pub use powell::{PowellTolerances, solve_powell};

use super::SolverError;
use super::error::{check_finite, check_not_empty};
use crate::linalg::lu::Factors;

/// As many equations as unknowns; they know the values of their parameters θ.
pub trait Equations {
    /// Writes f(x).
    fn value(&mut self, x: &[f64], value: &mut [f64]) -> Result<(), SolverError>;
    /// Writes f(x) and ∂f/∂x (n × n, column-major).
    fn jacobian(&mut self, x: &[f64], value: &mut [f64], by_unknown: &mut [f64]) -> Result<(), SolverError>;
}

/// The seed η = −(∂f/∂x)⁻ᵀ `adjoint` with which the adjoint of θ is ηᵀ ∂f/∂θ at the solution x.
pub fn implicit_seed(equations: &mut dyn Equations, x: &[f64], adjoint: &[f64]) -> Result<Vec<f64>, SolverError> {
    let n = x.len();
    let (mut value, mut by_unknown) = (vec![0.0; n], vec![0.0; n * n]);
    equations.jacobian(x, &mut value, &mut by_unknown)?;
    let factors = Factors::new(n, &by_unknown).map_err(|_| SolverError::SingularJacobian)?;
    let mut seed: Vec<f64> = adjoint.iter().map(|a| -a).collect();
    factors.solve_transposed(&mut seed);
    Ok(seed)
}

fn check_guess(guess: &[f64], max_steps: u64) -> Result<(), SolverError> {
    check_not_empty("the initial guess", guess)?;
    check_finite("the initial guess", guess)?;
    if max_steps == 0 { Err(SolverError::NotPositive("max_num_steps")) } else { Ok(()) }
}
