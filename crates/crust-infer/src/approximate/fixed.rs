//! Variational fits on fixed draws: the ELBO becomes a smooth function, which L-BFGS maximises.

use crust_math::random::StreamKey;
use serde::{Deserialize, Serialize};

use super::Error;
use super::coordinates::{Coordinates, Family};
use super::elbo::{self, Estimate};
use super::evaluate::{Evaluations, Points};
use super::family::{Elliptical, float, standard_log_density};
use super::lbfgs::{self, End, Optimum, Options};
use super::pathfinder;
use super::quasi::whitened_normals;
use crate::target::Target;
use crate::vector::dot;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub key: StreamKey,
    pub family: Family,
    /// ν of Student's t distribution; `None` is the normal distribution.
    pub degrees: Option<f64>,
    /// Starting points are uniform within ± this.
    pub radius: f64,
    /// Fixed draws at first; they become more until their number does not matter.
    pub draws: usize,
    pub most_draws: usize,
    /// How many nats the bound on the fixed draws may be above the one on new draws.
    pub tolerance: f64,
}

impl Settings {
    pub fn new(key: StreamKey, family: Family) -> Self {
        Self { key, family, degrees: None, radius: 2.0, draws: 256, most_draws: 16_384, tolerance: 0.05 }
    }
}

/// Whether a fit is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convergence {
    /// The optimum on the fixed draws was found, and it is as good on new ones.
    Converged,
    /// The optimum was found, but more draws would have changed it.
    TooFewDraws,
    /// The optimiser stopped before the optimum.
    NoOptimum,
    /// The user ended it.
    Interrupted,
}

impl Convergence {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Converged => "converged: the optimum was found, and it is as good on draws that the fit has not seen",
            Self::TooFewDraws => {
                "not converged: the optimum on the fixed draws is not as good on new ones, and more draws are not allowed"
            }
            Self::NoOptimum => "not converged: the optimiser stopped before the optimum",
            Self::Interrupted => "not converged: the fit was ended early, and this is the best so far",
        }
    }
}

/// One step of an optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Evaluations of the gradient up to here.
    pub gradients: u64,
    /// The bound on the draws of this step.
    pub elbo: f64,
}

/// A variational fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    pub approximation: Elliptical,
    pub elbo: Estimate,
    pub convergence: Convergence,
    pub iterations: usize,
    /// Fixed draws at the end.
    pub draws: usize,
    pub trace: Vec<Step>,
}

/// Fits from where Pathfinder ends. If the user ends it on the way, what there is is the fit.
pub fn fit<T: Target + Clone + Send>(evaluations: &mut Evaluations<'_, T>, settings: &Settings) -> Result<Fit, Error> {
    let search = pathfinder::Settings { radius: settings.radius, ..pathfinder::Settings::new(settings.key) };
    let paths = pathfinder::paths(evaluations, &search)?;
    let best = paths.into_iter().max_by(|a, b| a.elbo.total_cmp(&b.elbo)).ok_or(Error::NoSupport)?;
    let about = Elliptical { degrees: settings.degrees, ..best.approximation };
    evaluations.be_patient(true);
    let fit = fit_from(evaluations, settings, &about);
    evaluations.be_patient(false);
    fit
}

/// Fits from an approximation. The draws are doubled twice until those that the fit has seen are no better than others.
pub fn fit_from<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    about: &Elliptical,
) -> Result<Fit, Error> {
    let mut coordinates = Coordinates::new(settings.family, about);
    // A full matrix is determined only if there are more draws than coordinates.
    let mut draws = settings.draws.max(4 * coordinates.noise()).next_multiple_of(64);
    let mut parameters = coordinates.origin();
    let (mut trace, mut iterations, mut round) = (Vec::new(), 0, 0);
    loop {
        let key = settings.key.chain(0).step(1000 * (round + 1));
        let fixed = FixedDraws::new(&coordinates, draws, key);
        if round == 0 {
            make_finite(evaluations, &mut coordinates, &fixed, &parameters)?;
        }
        let (found, steps) = maximise(evaluations, &mut coordinates, &fixed, parameters, &mut trace)?;
        iterations += steps;
        let approximation = coordinates.build(&found.best.x)?;
        let seen = -found.best.value;
        let last = draws * 4 > settings.most_draws.max(8 * coordinates.noise());
        let found_optimum = matches!(found.end, End::Converged | End::NoBetterPoint);
        let interrupted = found.end == End::Stopped;
        if !last && found_optimum && is_too_good(evaluations, &approximation, seen, settings, key)? {
            (draws, round, parameters) = (draws * 4, round + 1, found.best.x);
            continue;
        }
        let elbo = precise(evaluations, &approximation, settings.tolerance, key.step(key.step + 100))?;
        let gap = seen - elbo.value;
        let good = gap <= settings.tolerance.max(2.0 * elbo.standard_error.min(settings.tolerance));
        if interrupted || good || last || (!found_optimum && round > 2) {
            let convergence = match (found_optimum, good) {
                _ if interrupted => Convergence::Interrupted,
                (true, true) => Convergence::Converged,
                (true, false) => Convergence::TooFewDraws,
                (false, _) => Convergence::NoOptimum,
            };
            return Ok(Fit { approximation, elbo, convergence, iterations, draws, trace });
        }
        (draws, round, parameters) = (draws * 4, round + 1, found.best.x);
    }
}

/// Whether a few new draws already show that the fixed ones flatter the fit.
fn is_too_good<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &Elliptical,
    seen: f64,
    settings: &Settings,
    key: StreamKey,
) -> Result<bool, Error> {
    const DRAWS: usize = 256;
    let new = elbo::estimate(evaluations, q, DRAWS, key.step(key.step + 50))?;
    Ok(seen - new.value > settings.tolerance + 3.0 * new.standard_error)
}

/// The optimum on fixed draws, with the number of iterations. Whether a gradient is small can only be told in the frame
/// of the point itself, where the density curves by about 1 in all directions: the search goes on from there until it
/// finds nothing to do.
fn maximise<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    coordinates: &mut Coordinates,
    fixed: &FixedDraws,
    mut parameters: Vec<f64>,
    trace: &mut Vec<Step>,
) -> Result<(Optimum, usize), Error> {
    const FRAMES: usize = 20;
    let draws = (fixed.z.len() / fixed.noise) as u64;
    // What is not diagonal would be lost with a new frame.
    let moves = !matches!(coordinates.family, Family::LowRank(_));
    let options = Options { decrement: if moves { 1e-4 } else { 1e-6 }, iterations: 500, history: 20 };
    let mut iterations = 0;
    for frame in 1.. {
        let mut gradients = evaluations.count();
        let control = evaluations.control();
        let found = lbfgs::minimise(
            parameters,
            &options,
            |at, gradient| fixed.objective(evaluations, coordinates, at, gradient),
            |place, _| {
                gradients += draws;
                trace.push(Step { gradients, elbo: -place.value });
                Ok(!control.is_interrupted())
            },
        )?;
        iterations += found.iterations;
        let again = moves && found.iterations > 0 && found.end == End::Converged;
        if !again || frame == FRAMES {
            return Ok((found, iterations));
        }
        *coordinates = Coordinates::new(coordinates.family, &coordinates.build(&found.best.x)?);
        parameters = coordinates.origin();
    }
    Err(Error::NoSupport)
}

/// Makes the frame narrower until the density is positive at all draws.
fn make_finite<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    coordinates: &mut Coordinates,
    fixed: &FixedDraws,
    parameters: &[f64],
) -> Result<(), Error> {
    const TIMES: usize = 30;
    let mut gradient = vec![0.0; parameters.len()];
    for _ in 0..TIMES {
        if fixed.objective(evaluations, coordinates, parameters, &mut gradient)?.is_finite() {
            return Ok(());
        }
        coordinates.shrink();
    }
    Err(Error::NoSupport)
}

/// The bound with an error well below the tolerance, if that can be had.
pub(super) fn precise<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &Elliptical,
    tolerance: f64,
    key: StreamKey,
) -> Result<Estimate, Error> {
    const MOST: usize = 16_384;
    let mut draws = 1024;
    loop {
        let found = elbo::estimate(evaluations, q, draws, key)?;
        if found.standard_error <= tolerance / 4.0 || draws >= MOST {
            return Ok(found);
        }
        draws *= 4;
    }
}

/// Standard draws that stay.
struct FixedDraws {
    z: Vec<f64>,
    noise: usize,
    /// −E log of the standard density.
    entropy: f64,
}

impl FixedDraws {
    fn new(coordinates: &Coordinates, n: usize, key: StreamKey) -> Self {
        let (d, noise) = (float(coordinates.dimension()), coordinates.noise());
        let mut z = whitened_normals(noise, n, key);
        let degrees = coordinates.degrees();
        if let Some(nu) = degrees {
            let mut stream = key.chain(1).stream();
            let half = n / 2;
            // The same stretch for z and −z.
            let stretches: Vec<f64> =
                (0..half).map(|_| stream.chi_square(nu).map_or(1.0, |c| (nu / c).sqrt())).collect();
            for (k, z) in z.chunks_exact_mut(noise).enumerate() {
                z.iter_mut().for_each(|z| *z *= stretches[k % half]);
            }
        }
        let entropy = if degrees.is_some() {
            let mean = z.chunks_exact(noise).map(|z| standard_log_density(d, degrees, dot(z, z))).sum::<f64>();
            -mean / float(n)
        } else {
            // Exactly: a normal distribution has |z|² = d on average.
            -standard_log_density(d, None, d)
        };
        Self { z, noise, entropy }
    }

    /// −ELBO on these draws, and its gradient.
    fn objective<T: Target + Clone + Send>(
        &self,
        evaluations: &mut Evaluations<'_, T>,
        coordinates: &Coordinates,
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Error> {
        let map = coordinates.map(parameters);
        let mut x = Vec::with_capacity(self.z.len() / self.noise * coordinates.dimension());
        self.z.chunks_exact(self.noise).for_each(|z| map.place(z, &mut x));
        let mut points = Points::new(coordinates.dimension(), x);
        if points.x.iter().any(|x| !x.is_finite()) {
            return Ok(f64::INFINITY);
        }
        evaluations.evaluate(&mut points, true)?;
        gradient.fill(0.0);
        let w = 1.0 / float(points.len());
        let energy = w * points.log_density.iter().sum::<f64>();
        if !energy.is_finite() {
            return Ok(f64::INFINITY);
        }
        let mut sums = coordinates.sums();
        self.z.chunks_exact(self.noise).enumerate().for_each(|(k, z)| sums.add(z, points.gradient(k)));
        coordinates.pull(parameters, &sums, w, gradient);
        let determinant = coordinates.log_determinant(parameters, gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        Ok(-(energy + determinant + self.entropy))
    }
}
