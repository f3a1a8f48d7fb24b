//! The log density of a mixture from its weights and the log densities of its components.

use super::exponentials::log_sum_exp;
use crate::density::{Domain, DomainError};
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};

/// `log_mix(theta, lp)`: Σₙ log Σₖ θₖ exp(lpₙₖ), where lp is one vector, or an array of them.
pub(super) struct LogMix;

/// The components' terms log θₖ + lpₖ.
fn terms(theta: &[f64], densities: &[f64], out: &mut [f64]) {
    for ((out, theta), lp) in out.iter_mut().zip(theta).zip(densities) {
        *out = theta.ln() + lp;
    }
}

impl VectorFunction for LogMix {
    fn name(&self) -> &'static str {
        "log_mix"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [theta, lp] = arguments else { return Err(ShapeError::Arguments("two arguments")) };
        let components = if lp.shape.rank() > 1 { lp.shape.cell_len() } else { lp.shape.len() };
        if components == theta.shape.len() || lp.shape.is_empty() {
            Ok(Shape::SCALAR)
        } else {
            Err(ShapeError::Weights { weights: theta.shape.len(), densities: components })
        }
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (theta, lp) = (arguments[0].numbers, arguments[1].numbers);
        let domain = Domain("log_mix");
        theta.iter().try_for_each(|&t| domain.bounded("theta", t, 0.0, 1.0, "in the interval [0, 1]"))?;
        lp.iter().try_for_each(|&lp| domain.finite("lambda", lp))?;
        let work = &mut scratch[..theta.len()];
        out[0] = 0.0;
        for lp in lp.chunks(theta.len().max(1)) {
            terms(theta, lp, work);
            out[0] += log_sum_exp(work);
        }
        Ok(())
    }

    /// For each n the derivative is exp(lpₖ − sumₙ) for θₖ, and θₖ times that for lpₖ.
    fn reverse(
        &self,
        arguments: &[Argument],
        _: &[f64],
        adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) {
        let (theta, lp) = (arguments[0].numbers, arguments[1].numbers);
        let k = theta.len();
        let [to_theta, to_lp] = adjoints else { return };
        let work = &mut scratch[..k];
        for (n, lp) in lp.chunks(k.max(1)).enumerate() {
            terms(theta, lp, work);
            let log_sum = log_sum_exp(work);
            for (weight, lp) in work.iter_mut().zip(lp) {
                *weight = adjoint[0] * (lp - log_sum).exp();
            }
            for (to, weight) in to_theta.iter_mut().zip(&*work) {
                *to += weight;
            }
            if !to_lp.is_empty() {
                for ((to, weight), theta) in to_lp[n * k..].iter_mut().zip(&*work).zip(theta) {
                    *to += weight * theta;
                }
            }
        }
    }
}
