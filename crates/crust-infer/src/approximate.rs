//! Approximations of posteriors by distributions that can be written down: Laplace, Pathfinder, variational families.
//!
//! Fits maximise the evidence lower bound ELBO(q) = E[log p(x) − log q(x)] ≤ log Z over draws x of q, whose distance to
//! log Z is KL(q‖p). They do so on *fixed* draws z of the standard distribution with x = m + S z: the bound is then a
//! smooth function of m and S, and L-BFGS finds its maximum without a learning rate (sample average approximation;
//! Giordano, Ingram & Broderick 2024, "DADVI"). Whether there were enough draws is seen from new ones. All points of an
//! evaluation of the bound go through the target side by side.

pub mod blocks;
pub mod coordinates;
pub mod curvature;
mod dense;
pub mod elbo;
pub mod elsewhere;
pub mod evaluate;
pub mod family;
pub mod fixed;
mod fixed_draws;
pub mod flat;
pub mod laplace;
pub mod lbfgs;
pub mod map;
pub mod pathfinder;
pub mod quasi;
pub mod scale;
pub mod tails;
mod whiten;

use crust_math::random::StreamKey;

use crate::target::{Fatal, Target};
use evaluate::Evaluations;
use family::Elliptical;

/// Why there is no approximation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program that defines the density is wrong.
    #[error(transparent)]
    Fatal(#[from] Fatal),
    #[error("interrupted")]
    Interrupted,
    #[error(
        "no point to start from: the density or its gradient was zero or not finite in all of {tries} random points{}",
        reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    )]
    Initial { tries: u32, reason: Option<String> },
    #[error("{name} is {value}, but must be {must_be}")]
    Setting { name: &'static str, value: String, must_be: &'static str },
    #[error("the covariance is not positive definite and finite (row {row})")]
    Covariance { row: usize },
    #[error("the approximation cannot be read: {0}")]
    Document(String),
    #[error("there is no mode to expand about: {0}")]
    NoMode(String),
    #[error(
        "the Hessian of the negative log density is not positive definite at the mode (coordinate {coordinate}): \
         the posterior is flat or curves upwards there, and no normal distribution approximates it"
    )]
    Curvature { coordinate: usize },
    #[error("the density is zero or not finite at draws of every approximation that was tried")]
    NoSupport,
    #[error(
        "the approximation runs away in coordinate {coordinate} (its mean is {mean:.1e}, its standard deviation {sd:.1e}): \
         the density seems to have no finite integral, as with a parameter that neither a prior nor the data confine; \
         otherwise bring its scale closer to 1"
    )]
    RunsAway { coordinate: usize, mean: f64, sd: f64 },
    #[error(
        "the density does not change along a line in coordinate{} {}: it has no finite integral, and nothing that is \
         fitted to it stands for a posterior; what neither data nor priors confine needs a prior",
        if coordinates.len() > 1 { "s" } else { "" },
        coordinates.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    )]
    Flat { coordinates: Vec<usize> },
    #[error(
        "the density does not fall along coordinate {coordinate}: far out it is as high as where it seemed to be highest, so that it \
         has no finite integral, and nothing that is fitted to it stands for a posterior; what neither data nor priors \
         confine needs a prior"
    )]
    NeverFalls { coordinate: usize },
    #[error(
        "the ELBO is {value}: the density is zero or not finite at draws of the approximation; either it leaves the support \
         of the posterior, where bounds of parameters or `reject` depend on other parameters, or the density has no finite \
         integral"
    )]
    NoElbo { value: f64 },
    #[error(
        "Pathfinder made no step: where it began the density does not change or grows without end, or its mode is exactly \
         there; try other starting points"
    )]
    NoStep,
}

impl Error {
    /// The coordinates that it is about, from 1.
    pub fn coordinates(&self) -> &[usize] {
        match self {
            Self::Curvature { coordinate } | Self::RunsAway { coordinate, .. } | Self::NeverFalls { coordinate } => {
                std::slice::from_ref(coordinate)
            }
            Self::Covariance { row } => std::slice::from_ref(row),
            Self::Flat { coordinates } => coordinates,
            _ => &[],
        }
    }
}

/// Neighbouring numbers of this size are thousands apart: nothing that is fitted from ± 2 belongs here.
const FAR: f64 = 1e20;

/// Refuses an approximation that has no end. If the density is constant along a line, the ELBO grows with log sd for
/// ever, and what stops the search are the limits of numbers: neither a bound nor an optimum.
fn stays(q: &Elliptical) -> Result<(), Error> {
    // Of the scale: the variances of a Student distribution may be infinite.
    let sds: Vec<f64> = q.scale.variances().iter().map(|v| v.sqrt()).collect();
    near(&q.mean, &sds)
}

fn near(mean: &[f64], sds: &[f64]) -> Result<(), Error> {
    // False for NaN.
    let within = |x: f64| x.abs() <= FAR;
    match mean.iter().zip(sds).position(|(m, sd)| !(within(*m) && within(*sd))) {
        Some(i) => Err(Error::RunsAway { coordinate: i + 1, mean: mean[i], sd: sds[i] }),
        None => Ok(()),
    }
}

/// A random point with a density and a finite gradient, uniform within ± `radius` as in Stan.
fn start<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    radius: f64,
    key: StreamKey,
) -> Result<Vec<f64>, Error> {
    const TRIES: u32 = 100;
    let d = evaluations.dimension();
    let mut gradient = vec![0.0; d];
    let mut stream = key.stream();
    for _ in 0..TRIES {
        let x: Vec<f64> = (0..d).map(|_| radius * (2.0 * stream.uniform() - 1.0)).collect();
        if evaluations.at(&x, &mut gradient)?.is_finite() {
            return Ok(x);
        }
    }
    Err(Error::Initial { tries: TRIES, reason: evaluations.rejection() })
}

#[cfg(test)]
mod examples;
