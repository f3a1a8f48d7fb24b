//! Laplace's approximation: the normal distribution with the mode and the curvature there of the posterior.

use crust_math::random::StreamKey;

use super::evaluate::{Evaluations, Points};
use super::family::{Elliptical, float};
use super::lbfgs::{self, End, Options, Place};
use super::scale::Scale;
use super::{Error, start};
use crate::metric::cholesky;
use crate::target::Target;
use crate::vector::dot;

/// A mode of the density, found from one starting point.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    pub x: Vec<f64>,
    pub log_density: f64,
    pub gradient: Vec<f64>,
    pub iterations: usize,
    pub end: End,
}

/// Laplace's approximation about a mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Laplace {
    pub approximation: Elliptical,
    pub mode: Mode,
    /// log p(mode) + d/2 log 2π + ½ log |Σ|: the estimate of the log normaliser.
    pub log_z: f64,
}

/// Maximises the density from a point, or from a random one.
pub fn mode<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    from: Option<Vec<f64>>,
    radius: f64,
    key: StreamKey,
) -> Result<Mode, Error> {
    let from = match from {
        Some(x) => x,
        None => start(evaluations, radius, key)?,
    };
    let options = Options { decrement: 1e-12, iterations: 5000, history: 20 };
    let found = lbfgs::minimise(from, &options, None, |x, g| negative(evaluations, x, g), |_| Ok(true))?;
    let Place { x, value, mut gradient } = found.best;
    gradient.iter_mut().for_each(|g| *g = -*g);
    Ok(Mode { x, log_density: -value, gradient, iterations: found.iterations, end: found.end })
}

/// The negative log density and its gradient: what a minimiser wants.
pub(super) fn negative<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    x: &[f64],
    gradient: &mut [f64],
) -> Result<f64, Error> {
    let value = evaluations.at(x, gradient)?;
    gradient.iter_mut().for_each(|g| *g = -*g);
    Ok(-value)
}

/// The approximation at the mode that is found from a point, or from a random one. Refused where there is no mode, or
/// no curvature.
pub fn laplace<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    from: Option<Vec<f64>>,
    radius: f64,
    key: StreamKey,
) -> Result<Laplace, Error> {
    let mut mode = mode(evaluations, from, radius, key)?;
    match mode.end {
        End::Converged | End::NoBetterPoint => {}
        End::Unbounded => return Err(Error::NoMode("the density grows without end".to_owned())),
        End::Iterations | End::Stopped => {
            return Err(Error::NoMode(format!("the density still grows after {} iterations", mode.iterations)));
        }
    }
    let d = mode.x.len();
    let mut lower = polish(evaluations, &mut mode)?;
    let decrement = decrement(&lower, &mode.gradient).0;
    if decrement > 1e-6 {
        return Err(Error::NoMode(format!(
            "the search ended where a step could still gain {decrement:.1e} nats; the density may have a sharp edge there"
        )));
    }
    let log_root: f64 = lower.iter().step_by(d + 1).map(|l| l.ln()).sum();
    let log_z = mode.log_density + 0.5 * float(d) * std::f64::consts::TAU.ln() - log_root;
    invert_root(d, &mut lower);
    // Σ = H⁻¹ = L⁻ᵀ L⁻¹.
    let mut covariance = vec![0.0; d * d];
    for (k, c) in covariance.iter_mut().enumerate() {
        let (i, j) = (k / d, k % d);
        *c = (i.max(j)..d).map(|row| lower[row * d + i] * lower[row * d + j]).sum();
    }
    let scale = Scale::of_covariance(d, &covariance)?;
    Ok(Laplace { approximation: Elliptical::normal(mode.x.clone(), scale), mode, log_z })
}

/// Newton steps with exact curvature, down to the last digits; returns the Cholesky factor of the Hessian at the end.
fn polish<T: Target + Clone + Send>(evaluations: &mut Evaluations<'_, T>, mode: &mut Mode) -> Result<Vec<f64>, Error> {
    const STEPS: usize = 4;
    let d = mode.x.len();
    let steps: Vec<f64> = mode.x.iter().map(|x| 1e-4 * x.abs().max(1.0)).collect();
    let rough = hessian(evaluations, &mode.x, &steps)?;
    let mut lower = root(d, &rough)?;
    let mut gradient = vec![0.0; d];
    for _ in 0..STEPS {
        // A hundredth of the conditional standard deviation: the error of the differences is of fourth order in it.
        let steps: Vec<f64> = lower.chunks_exact(d).map(|row| 1e-2 / dot(row, row).sqrt()).collect();
        lower = root(d, &hessian(evaluations, &mode.x, &steps)?)?;
        let (gain, step) = decrement(&lower, &mode.gradient);
        let x: Vec<f64> = mode.x.iter().zip(&step).map(|(x, s)| x + s).collect();
        let log_density = evaluations.at(&x, &mut gradient)?;
        if !log_density.is_finite() || decrement(&lower, &gradient).0 >= gain {
            break;
        }
        (mode.x, mode.log_density) = (x, log_density);
        mode.gradient.copy_from_slice(&gradient);
        if gain < 1e-18 {
            break;
        }
    }
    Ok(lower)
}

/// ½ gᵀ H⁻¹ g, and the Newton step H⁻¹ g.
fn decrement(lower: &[f64], gradient: &[f64]) -> (f64, Vec<f64>) {
    let d = gradient.len();
    let mut step = Scale::Lower(lower.to_vec()).solve(gradient);
    let gain = 0.5 * dot(&step, &step);
    for row in (0..d).rev() {
        let (before, rest) = step.split_at_mut(row);
        rest[0] /= lower[row * d + row];
        before.iter_mut().zip(&lower[row * d..]).for_each(|(s, l)| *s -= l * rest[0]);
    }
    (gain, step)
}

/// The Hessian of the negative log density, from gradients at four points in each coordinate; the error is of fourth
/// order in the steps.
fn hessian<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    x: &[f64],
    steps: &[f64],
) -> Result<Vec<f64>, Error> {
    const AT: [(f64, f64); 4] = [(1.0, -8.0), (-1.0, 8.0), (2.0, 1.0), (-2.0, -1.0)];
    let d = x.len();
    let mut around = Vec::with_capacity(4 * d * d);
    for (i, h) in steps.iter().enumerate() {
        for (times, _) in AT {
            around.extend(x);
            let at = around.len() - d + i;
            around[at] += times * h;
        }
    }
    let mut points = Points::new(d, around);
    evaluations.evaluate(&mut points, true)?;
    if let Some(bad) = points.log_density.iter().position(|p| !p.is_finite()) {
        return Err(Error::NoMode(format!("the density is zero or not finite beside it (coordinate {})", bad / 4 + 1)));
    }
    let mut hessian = vec![0.0; d * d];
    for i in 0..d {
        for (k, (_, weight)) in AT.into_iter().enumerate() {
            let row = points.gradient(4 * i + k).iter().map(|g| weight * g / (12.0 * steps[i]));
            hessian[i * d..][..d].iter_mut().zip(row).for_each(|(h, g)| *h += g);
        }
    }
    for i in 0..d {
        for j in 0..i {
            let mean = 0.5 * (hessian[i * d + j] + hessian[j * d + i]);
            (hessian[i * d + j], hessian[j * d + i]) = (mean, mean);
        }
    }
    Ok(hessian)
}

/// The Cholesky factor, if the matrix is positive definite beyond doubt: differences leave errors that could be taken
/// for curvature.
fn root(d: usize, hessian: &[f64]) -> Result<Vec<f64>, Error> {
    const DOUBT: f64 = 1e-9;
    let lower = cholesky(d, hessian).map_err(|bad| Error::Curvature { coordinate: bad.row })?;
    let doubtful = |i: &usize| lower[i * (d + 1)].powi(2) <= DOUBT * hessian[i * (d + 1)];
    match (0..d).find(doubtful) {
        Some(i) => Err(Error::Curvature { coordinate: i + 1 }),
        None => Ok(lower),
    }
}

/// L ← L⁻¹.
fn invert_root(d: usize, lower: &mut [f64]) {
    for column in 0..d {
        lower[column * d + column] = 1.0 / lower[column * d + column];
        for row in column + 1..d {
            let sum: f64 = (column..row).map(|k| lower[row * d + k] * lower[k * d + column]).sum();
            lower[row * d + column] = -sum / lower[row * d + row];
        }
    }
}
