//! Integrals over an interval by double-exponential quadrature, and their derivatives.
//!
//! A substitution x = φ(t) turns the integral into ∫ f(φ(t)) φ'(t) dt over the real line with a weight that falls like
//! exp(−exp|t|); the trapezoidal rule then converges exponentially (Takahasi and Mori 1974). The spacing of the nodes
//! is halved until two estimates agree. As in Stan, an interval that contains zero is split there.

mod double_exponential;
mod tanh_sinh;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::SolverError;
use double_exponential::{exp_sinh, sinh_sinh};
use tanh_sinh::{Side, tanh_sinh};

/// A function to be integrated; it knows the values of its parameters.
pub trait Integrand {
    /// The number of parameters by which derivatives are wanted.
    fn parameters(&self) -> usize;
    /// f(x). On finite intervals `xc` is the nearer limit minus x, without cancellation; else it is NaN.
    fn value(&mut self, x: f64, xc: f64) -> Result<f64, SolverError>;
    /// f(x), with its derivatives by the parameters written to `by_parameter`.
    fn gradient(&mut self, x: f64, xc: f64, by_parameter: &mut [f64]) -> Result<f64, SolverError>;
}

/// Stan's relative tolerance where the program gives none: the root of the machine's precision.
pub const RELATIVE_TOLERANCE: f64 = 1.490_116_119_384_765_6e-8;

/// An estimate of an integral.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    value: f64,
    error: f64,
    /// The integral of the absolute value.
    norm: f64,
}

/// The integral of the integrand from `lower` to `upper`.
pub fn integrate_1d(
    integrand: &mut dyn Integrand,
    lower: f64,
    upper: f64,
    relative_tolerance: f64,
) -> Result<f64, SolverError> {
    if !limits_differ(lower, upper)? {
        return Ok(0.0);
    }
    integrate(&mut |x, xc| integrand.value(x, xc), lower, upper, relative_tolerance)
}

/// Adds the integral's derivative by the parameters to `by_parameter`: the integrals of the derivatives, each to the
/// same tolerance. Where the integrand is zero, a derivative that is not a number counts as zero.
pub fn integrate_1d_gradient(
    integrand: &mut dyn Integrand,
    lower: f64,
    upper: f64,
    relative_tolerance: f64,
    by_parameter: &mut [f64],
) -> Result<(), SolverError> {
    if !limits_differ(lower, upper)? {
        return Ok(());
    }
    let count = integrand.parameters();
    // All parameters' integrals use the same nodes, and a gradient costs as much as they all need.
    let mut known: HashMap<(u64, u64), Vec<f64>> = HashMap::new();
    for (parameter, sum) in by_parameter.iter_mut().enumerate().take(count) {
        let mut derivative = |x: f64, xc: f64| {
            if let Some(gradient) = known.get(&(x.to_bits(), xc.to_bits())) {
                return gradient_at(gradient, parameter);
            }
            let mut gradient = vec![0.0; count];
            let value = integrand.gradient(x, xc, &mut gradient)?;
            if value == 0.0 {
                gradient.iter_mut().filter(|g| g.is_nan()).for_each(|g| *g = 0.0);
            }
            let found = gradient_at(&gradient, parameter);
            known.insert((x.to_bits(), xc.to_bits()), gradient);
            found
        };
        *sum += integrate(&mut derivative, lower, upper, relative_tolerance)?;
    }
    Ok(())
}

fn gradient_at(gradient: &[f64], parameter: usize) -> Result<f64, SolverError> {
    if gradient[parameter].is_nan() {
        return Err(SolverError::GradientNotANumber { parameter });
    }
    Ok(gradient[parameter])
}

/// The integral's derivatives by its limits, −f(lower) and f(upper); zero at infinite limits.
pub fn integrate_1d_by_limits(
    integrand: &mut dyn Integrand,
    lower: f64,
    upper: f64,
) -> Result<(f64, f64), SolverError> {
    if !limits_differ(lower, upper)? {
        return Ok((0.0, 0.0));
    }
    let mut at = |limit: f64| if limit.is_finite() { integrand.value(limit, 0.0) } else { Ok(0.0) };
    Ok((-at(lower)?, at(upper)?))
}

#[expect(clippy::float_cmp, reason = "an interval is empty only if its limits are the same")]
fn limits_differ(lower: f64, upper: f64) -> Result<bool, SolverError> {
    if lower.is_nan() || upper.is_nan() || lower > upper {
        return Err(SolverError::LimitsNotSorted { lower, upper });
    }
    if lower == upper && lower.is_infinite() {
        return Err(SolverError::LimitsBothInfinite { limit: lower });
    }
    Ok(lower != upper)
}

type Function<'f> = dyn FnMut(f64, f64) -> Result<f64, SolverError> + 'f;

fn integrate(f: &mut Function, lower: f64, upper: f64, tolerance: f64) -> Result<f64, SolverError> {
    let whole = ["", ""];
    let (below, above) = match (lower.is_infinite(), upper.is_infinite()) {
        (true, true) => (sinh_sinh(&mut |x| f(x, f64::NAN), tolerance)?, None),
        (true, false) => {
            let split = upper.min(0.0);
            let below = exp_sinh(&mut |t| f(split - t, f64::NAN), tolerance)?;
            let above = if upper > 0.0 {
                Some(finite(&mut |x, _| f(x, f64::NAN), 0.0, upper, tolerance, false)?)
            } else {
                None
            };
            (below, above)
        }
        (false, true) if lower < 0.0 => (
            finite(&mut |x, _| f(x, f64::NAN), lower, 0.0, tolerance, false)?,
            Some(exp_sinh(&mut |t| f(t, f64::NAN), tolerance)?),
        ),
        (false, true) => (exp_sinh(&mut |t| f(t + lower, f64::NAN), tolerance)?, None),
        (false, false) if lower < 0.0 && upper > 0.0 => {
            (finite(f, lower, 0.0, tolerance, true)?, Some(finite(f, 0.0, upper, tolerance, true)?))
        }
        (false, false) => (finite(f, lower, upper, tolerance, true)?, None),
    };
    let parts = if above.is_some() { [" below zero", " above zero"] } else { whole };
    for (estimate, part) in [Some(below), above].into_iter().flatten().zip(parts) {
        if estimate.error > tolerance * estimate.norm {
            return Err(SolverError::IntegralTolerance { part, error: estimate.error });
        }
    }
    Ok(below.value + above.map_or(0.0, |estimate| estimate.value))
}

/// An integral with finite limits. Where the function takes the complement, nodes may lie nearer to a limit than the
/// limit's own precision.
fn finite(
    f: &mut Function,
    lower: f64,
    upper: f64,
    tolerance: f64,
    takes_complement: bool,
) -> Result<Estimate, SolverError> {
    let half = 0.5 * (upper - lower);
    let mut node = |side: Side, complement: f64| {
        let distance = half * complement;
        match side {
            Side::Lower => f(lower + distance, -distance),
            Side::Upper => f(upper - distance, distance),
        }
    };
    let closest = if takes_complement {
        [4.0 * f64::MIN_POSITIVE; 2]
    } else {
        let limit = f64::MIN_POSITIVE.max((f64::MIN_POSITIVE / half).next_up());
        let (a, b) = (lower / half, upper / half);
        [(a.next_up() - a).max(limit), (b - b.next_down()).max(limit)]
    };
    let estimate = tanh_sinh(&mut node, closest, tolerance)?;
    Ok(Estimate { value: half * estimate.value, error: half * estimate.error, norm: half * estimate.norm })
}
