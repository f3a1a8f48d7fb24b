//! Pathfinder (Zhang, Carpenter, Gelman & Vehtari 2022): of the normal distributions along the way of an optimiser, the
//! one with the largest ELBO.
//!
//! The optimiser's estimate of the inverse Hessian at a point is the covariance, and a Newton step leads to the mean.
//! No mode is needed: where the density has none, a point on the way is best.

use crust_math::random::{Stream, StreamKey};

use super::elbo::{self, Estimate};
use super::evaluate::{Evaluations, Points};
use super::family::{Elliptical, Mixture, float, standard_log_density};
use super::laplace::negative;
use super::lbfgs::{self, Options, Pair, Place};
use super::quasi::whitened_normals;
use super::scale::{Product, Scale};
use super::{Error, start};
use crate::target::Target;
use crate::vector::dot;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub key: StreamKey,
    /// Starting points are uniform within ± this.
    pub radius: f64,
    pub iterations: usize,
    /// How many pairs of steps and changes of the gradient make a covariance.
    pub history: usize,
    /// Draws for the ELBO of the best normal distributions on the way.
    pub draws: usize,
    pub paths: u32,
}

impl Settings {
    pub fn new(key: StreamKey) -> Self {
        Self { key, radius: 2.0, iterations: 200, history: 10, draws: 64, paths: 4 }
    }
}

/// The best normal distribution on one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pub approximation: Elliptical,
    /// With few draws, the same for all distributions on the way: high by the luck of the best.
    pub elbo: f64,
    /// Its number on the way, from 1, and the length of the way.
    pub at: usize,
    pub iterations: usize,
}

/// A normal distribution on the way: where, and what the optimiser knows there.
struct Stop {
    place: Place,
    pairs: Vec<Pair>,
    /// α: the diagonal that the updates of the pairs start from.
    diagonal: Vec<f64>,
}

impl Stop {
    /// N(θ + Σ ∇ log p(θ), Σ).
    fn normal(&self) -> Elliptical {
        let roots = self.diagonal.iter().map(|a| a.sqrt()).collect();
        let scale = Scale::Product(Product::new(roots, &self.pairs));
        let step = scale.apply(&scale.apply_transposed(&self.place.gradient));
        // The gradient is that of −log p.
        let mean = self.place.x.iter().zip(&step).map(|(x, s)| x - s).collect();
        Elliptical::normal(mean, scale)
    }
}

/// The next diagonal of the inverse Hessian, from a step and the change of the gradient (Gilbert & Lemaréchal 1989; the
/// paper's algorithm 3).
fn update_diagonal(diagonal: &mut [f64], pair: &Pair) {
    let b = pair.product;
    let a: f64 = pair.y.iter().zip(&*diagonal).map(|(y, d)| y * y * d).sum();
    let c: f64 = pair.s.iter().zip(&*diagonal).map(|(s, d)| s * s / d).sum();
    for ((d, s), y) in diagonal.iter_mut().zip(&pair.s).zip(&pair.y) {
        let next = 1.0 / (a / (b * *d) + y * y / b - a * s * s / (b * c * *d * *d));
        if next.is_finite() && next > 0.0 {
            *d = next;
        }
    }
}

/// One path, from a given point or a random one.
pub fn path<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    number: u32,
    from: Option<Vec<f64>>,
) -> Result<Path, Error> {
    let key = settings.key.chain(number);
    let from = match from {
        Some(x) => x,
        None => start(evaluations, settings.radius, key)?,
    };
    let mut diagonal = vec![1.0; from.len()];
    let mut stops: Vec<Stop> = Vec::new();
    // What a step seems to gain is measured by curvature that is not known yet: in a direction that is still unexplored it
    // is too little by orders of magnitude.
    let options = Options { history: settings.history, iterations: settings.iterations, decrement: 1e-11 };
    let mut known = 0;
    let found = lbfgs::minimise(
        from,
        &options,
        |x, g| negative(evaluations, x, g),
        |place, pairs| {
            if let Some(last) = pairs.last() {
                update_diagonal(&mut diagonal, last);
                stops.push(Stop { place: place.clone(), pairs: pairs.to_vec(), diagonal: diagonal.clone() });
            }
            known += 1;
            Ok(true)
        },
    )?;
    if stops.is_empty() {
        // The start was the mode already: nothing is known of the curvature.
        stops.push(Stop { place: found.best, pairs: Vec::new(), diagonal });
    }
    let (at, elbo, approximation) = best(evaluations, settings, &stops, key.step(1))?;
    Ok(Path { approximation, elbo, at: at + 1, iterations: known })
}

/// Widths that are tried of each distribution on the way. Curvature at a point is that of the density there; where the
/// density becomes steep on one side (scales of hierarchical models), a normal distribution that is as wide as
/// curvature says reaches into places where there is next to none, and a narrower one has the larger ELBO.
const WIDTHS: [f64; 3] = [1.0, 0.7, 0.5];
/// Draws for a first look at all of them, and how many are looked at again.
const FIRST_LOOK: usize = 8;
const LOOKED_AT_AGAIN: usize = 5;

/// The distribution with the largest ELBO: all of them judged in one evaluation on the same few standard normal draws,
/// then the best ones with more.
fn best<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    stops: &[Stop],
    key: StreamKey,
) -> Result<(usize, f64, Elliptical), Error> {
    let of_widths = |(at, stop): (usize, &Stop)| {
        let q = stop.normal();
        WIDTHS.map(|width| (at, Elliptical { scale: q.scale.clone().scaled(width), ..q.clone() }))
    };
    let all: Vec<(usize, Elliptical)> = stops.iter().enumerate().flat_map(of_widths).collect();
    let first = elbos(evaluations, &all, FIRST_LOOK, key)?;
    let mut order: Vec<usize> = (0..all.len()).filter(|k| first[*k].is_finite()).collect();
    order.sort_by(|a, b| first[*b].total_cmp(&first[*a]));
    let few: Vec<(usize, Elliptical)> = order.iter().take(LOOKED_AT_AGAIN).map(|k| all[*k].clone()).collect();
    let elbos = elbos(evaluations, &few, settings.draws.next_multiple_of(2), key.step(key.step + 1))?;
    let finite = elbos.into_iter().zip(few).filter(|(elbo, _)| elbo.is_finite());
    let (elbo, (at, q)) = finite.max_by(|a, b| a.0.total_cmp(&b.0)).ok_or(Error::NoSupport)?;
    Ok((at, elbo, q))
}

/// The ELBO of each, on the same draws. Their second moments are those of the distribution: otherwise few draws that
/// happen to be near (or far) make a distribution that is too wide (or too narrow) look better than it is.
fn elbos<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    normals: &[(usize, Elliptical)],
    draws: usize,
    key: StreamKey,
) -> Result<Vec<f64>, Error> {
    let d = evaluations.dimension();
    let z = whitened_normals(d, draws, key);
    let x = normals.iter().flat_map(|(_, q)| z.chunks_exact(d).flat_map(|z| q.place(z))).collect();
    let mut points = Points::new(d, x);
    if !points.is_empty() {
        evaluations.evaluate(&mut points, false)?;
    }
    let standard: Vec<f64> = z.chunks_exact(d).map(|z| standard_log_density(float(d), None, dot(z, z))).collect();
    let entropy = -standard.iter().sum::<f64>() / float(standard.len());
    let energies = points.log_density.chunks_exact(standard.len()).map(|p| p.iter().sum::<f64>() / float(p.len()));
    Ok(energies.zip(normals).map(|(energy, (_, q))| energy + entropy + q.scale.log_determinant()).collect())
}

/// Several paths as one approximation.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiPath {
    pub paths: Vec<Path>,
    /// The paths, each weighted by exp(ELBO): what minimises KL(q‖p) if they are apart.
    pub approximation: Mixture,
    /// Draws of the mixture: the log ratios are the weights of importance resampling.
    pub elbo: Estimate,
}

/// All paths; those that fail are left out, as long as one does not.
pub fn paths<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
) -> Result<Vec<Path>, Error> {
    let mut found = Vec::new();
    let mut failure = None;
    for number in 1..=settings.paths.max(1) {
        match path(evaluations, settings, number, None) {
            Ok(path) => found.push(path),
            Err(fatal @ (Error::Fatal(_) | Error::Interrupted)) => return Err(fatal),
            Err(other) => failure = Some(other),
        }
    }
    match failure {
        Some(failure) if found.is_empty() => Err(failure),
        _ => Ok(found),
    }
}

/// The paths, each weighted by exp(ELBO).
pub fn mixture(paths: &[Path]) -> Mixture {
    let greatest = paths.iter().map(|path| path.elbo).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = paths.iter().map(|path| (path.elbo - greatest).exp()).collect();
    let total: f64 = weights.iter().sum();
    Mixture {
        parts: paths.iter().map(|path| path.approximation.clone()).collect(),
        weights: weights.iter().map(|w| w / total).collect(),
    }
}

/// Multi-path Pathfinder, with a number of draws of the mixture.
pub fn multi_path<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    draws: usize,
) -> Result<MultiPath, Error> {
    let paths = paths(evaluations, settings)?;
    let approximation = mixture(&paths);
    let elbo = elbo::estimate_plainly(evaluations, &approximation, draws, settings.key.chain(0).step(2))?;
    Ok(MultiPath { paths, approximation, elbo })
}

/// Indices drawn with replacement in proportion to normalised log weights, as those of smoothed importance ratios.
/// Systematic: an index of weight w comes ⌊n w⌋ or ⌈n w⌉ times.
pub fn resample(log_weights: &[f64], n: usize, stream: &mut Stream) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(n);
    let (mut below, offset) = (0.0, stream.uniform());
    for (i, w) in log_weights.iter().enumerate() {
        below += w.exp();
        while chosen.len() < n && float(chosen.len()) + offset < below * float(n) {
            chosen.push(i);
        }
    }
    // Rounding may leave the last one out.
    if let Some(&last) = chosen.last() {
        chosen.resize(n, last);
    }
    stream.shuffle(&mut chosen);
    chosen
}
