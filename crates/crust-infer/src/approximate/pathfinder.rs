//! Pathfinder (Zhang, Carpenter, Gelman & Vehtari 2022): of the normal distributions along the way of an optimiser, the
//! one with the largest ELBO.
//!
//! The optimiser's estimate of the inverse Hessian at a point is the covariance, and a Newton step leads to the mean.
//! No mode is needed: where the density has none, a point on the way is best.

use std::collections::BTreeMap;
use std::rc::Rc;

use crust_math::random::{Stream, StreamKey};

use super::elbo::{self, Estimate};
use super::evaluate::{Evaluations, Points};
use super::family::{Elliptical, Mixture, float, standard_log_density};
use super::lbfgs::{Options, Pair, Place, Search, Told};
use super::quasi::whitened_normals;
use super::scale::{Product, Scale};
use super::{Error, start, stays};
use crate::target::Target;
use crate::vector::dot;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub key: StreamKey,
    /// Starting points are uniform within ± this.
    pub radius: f64,
    pub iterations: usize,
    /// A way ends where a step seems to gain less than this. What it seems to gain is measured by curvature that is not
    /// known yet: in a direction that is still unexplored it is too little by orders of magnitude.
    pub decrement: f64,
    /// How many pairs of steps and changes of the gradient make a covariance.
    pub history: usize,
    /// Widths that are tried of each distribution on the way. Curvature at a point is that of the density there; where
    /// the density becomes steep on one side (scales of hierarchical models), a normal distribution that is as wide as
    /// curvature says reaches into places where there is next to none, and a narrower one has the larger ELBO.
    pub widths: &'static [f64],
    /// A distribution on the way is looked at if the log density has risen by this since the last one; others are much
    /// the same. The last one, which knows most of the curvature, always is.
    pub rise: f64,
    /// At most so many are looked at, evenly spread over those.
    pub stops: usize,
    /// Draws for a first look at all of them, how many are looked at again, and draws for that.
    pub first_look: usize,
    pub looked_at_again: usize,
    pub draws: usize,
    pub paths: u32,
}

impl Settings {
    pub fn new(key: StreamKey) -> Self {
        let widths = &[0.7, 1.0, 0.5];
        Self {
            key,
            radius: 2.0,
            iterations: 200,
            decrement: 1e-9,
            history: 10,
            widths,
            rise: 0.01,
            stops: usize::MAX,
            first_look: 8,
            looked_at_again: 5,
            draws: 64,
            paths: 4,
        }
    }

    /// For somewhere to start from, which need not be the best.
    pub fn to_start(key: StreamKey) -> Self {
        let few = Self { stops: 6, first_look: 8, looked_at_again: 1, draws: 32, ..Self::new(key) };
        Self { widths: &[0.7], iterations: 40, decrement: 1e-3, history: 6, ..few }
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
    pairs: Vec<Rc<Pair>>,
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

/// One way while it is gone.
struct Walk {
    key: StreamKey,
    search: Search<'static>,
    diagonal: Vec<f64>,
    stops: Vec<Stop>,
    iterations: usize,
}

impl Walk {
    fn new(from: Vec<f64>, settings: &Settings, key: StreamKey) -> Self {
        let Settings { iterations, decrement, .. } = *settings;
        // In few dimensions older pairs, which are from elsewhere, say little that newer ones do not.
        let history = settings.history.min((from.len() / 2).max(5));
        let options = Options { history, iterations, decrement };
        let diagonal = vec![1.0; from.len()];
        Self { key, search: Search::new(from, options, None), diagonal, stops: Vec::new(), iterations: 0 }
    }

    /// The log density where the search has asked for it.
    fn tell(&mut self, log_density: f64, gradient: &mut [f64]) {
        gradient.iter_mut().for_each(|g| *g = -*g);
        if self.search.tell(-log_density, gradient) != Told::Step {
            return;
        }
        self.iterations += 1;
        let (place, pairs) = self.search.here();
        if let Some(last) = pairs.last() {
            update_diagonal(&mut self.diagonal, last);
            self.stops.push(Stop { place: place.clone(), pairs: pairs.to_vec(), diagonal: self.diagonal.clone() });
        }
    }

    fn finish<T: Target + Clone + Send>(
        mut self,
        evaluations: &mut Evaluations<'_, T>,
        settings: &Settings,
    ) -> Result<Path, Error> {
        if self.stops.is_empty() {
            // The start was the mode already: nothing is known of the curvature.
            let place = self.search.finish().best;
            self.stops.push(Stop { place, pairs: Vec::new(), diagonal: self.diagonal });
        }
        let (at, elbo, approximation) = best(evaluations, settings, &self.stops, self.key.step(1))?;
        Ok(Path { approximation, elbo, at: at + 1, iterations: self.iterations })
    }
}

/// Goes all ways side by side: a point of each is one evaluation.
fn walk<T: Target + Clone + Send>(evaluations: &mut Evaluations<'_, T>, walks: &mut [Walk]) -> Result<(), Error> {
    let d = evaluations.dimension();
    let mut points = Points::new(d, Vec::new());
    loop {
        points.x.clear();
        let asking = walks.iter().filter_map(|walk| walk.search.asks());
        asking.for_each(|x| points.x.extend_from_slice(x));
        if points.is_empty() {
            return Ok(());
        }
        evaluations.evaluate(&mut points, true)?;
        let told = points.log_density.iter().zip(points.gradient.chunks_exact_mut(d));
        let asking = walks.iter_mut().filter(|walk| walk.search.asks().is_some());
        asking.zip(told).for_each(|(walk, (value, gradient))| walk.tell(*value, gradient));
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
    let mut walks = [Walk::new(from, settings, key)];
    walk(evaluations, &mut walks)?;
    let [walk] = walks;
    walk.finish(evaluations, settings)
}

/// The distribution with the largest ELBO: all of them judged in one evaluation on the same few standard normal draws,
/// then the best ones with more.
fn best<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    stops: &[Stop],
    key: StreamKey,
) -> Result<(usize, f64, Elliptical), Error> {
    let apart = apart(stops, settings.rise);
    let chosen: Vec<usize> = spread(apart.len(), settings.stops).into_iter().map(|i| apart[i]).collect();
    let normals: BTreeMap<usize, Elliptical> = chosen.iter().map(|&at| (at, stops[at].normal())).collect();
    let few = whitened_normals(evaluations.dimension(), settings.first_look, key);
    // Other widths are looked at where the first one is good.
    let look = |evaluations: &mut Evaluations<'_, T>, places: &[usize], widths: &[f64]| {
        let of_widths = |&at: &usize| widths.iter().map(move |&width| Candidate { at, width, elbo: f64::NAN });
        let all = places.iter().flat_map(of_widths).collect();
        elbos(evaluations, &normals, all, &few).map(|mut all| {
            sort(&mut all);
            all
        })
    };
    let (first, others) = settings.widths.split_at(settings.widths.len().min(1));
    let mut all = look(evaluations, &chosen, first)?;
    let mut best_places: Vec<usize> = all.iter().map(|candidate| candidate.at).collect();
    best_places.truncate(2 * settings.looked_at_again);
    all.extend(look(evaluations, &best_places, others)?);
    sort(&mut all);
    all.truncate(settings.looked_at_again);
    let draws = settings.draws.next_multiple_of(2);
    let more = whitened_normals(evaluations.dimension(), draws, key.step(key.step + 1));
    let mut best = elbos(evaluations, &normals, all, &more)?;
    sort(&mut best);
    let Candidate { at, width, elbo } = *best.first().ok_or(Error::NoSupport)?;
    let Elliptical { mean, scale, .. } = normals[&at].clone();
    let best = Elliptical::normal(mean, scale.scaled(width));
    stays(&best)?;
    Ok((at, elbo, best))
}

/// The best one first; those without a bound are left out.
fn sort(candidates: &mut Vec<Candidate>) {
    candidates.retain(|candidate| candidate.elbo.is_finite());
    candidates.sort_by(|a, b| b.elbo.total_cmp(&a.elbo));
}

/// Stops between which the log density rises by so much, and the last one.
fn apart(stops: &[Stop], rise: f64) -> Vec<usize> {
    let (mut chosen, mut above) = (Vec::new(), f64::INFINITY);
    for (at, stop) in stops.iter().enumerate() {
        // The value is that of −log p.
        if stop.place.value <= above - rise || at + 1 == stops.len() {
            chosen.push(at);
            above = stop.place.value;
        }
    }
    chosen
}

/// At most so many of n indices, evenly spread, the last one among them.
fn spread(n: usize, most: usize) -> Vec<usize> {
    let chosen = n.min(most.max(1));
    (1..=chosen).map(|i| i * n / chosen - 1).collect()
}

/// A distribution on the way, with a width.
#[derive(Clone, Copy)]
struct Candidate {
    at: usize,
    width: f64,
    elbo: f64,
}

/// The ELBO of each, on the same draws. Their second moments are those of the distribution: otherwise few draws that
/// happen to be near (or far) make a distribution that is too wide (or too narrow) look better than it is. Neighbours
/// that differ in their width only share S z.
fn elbos<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    normals: &BTreeMap<usize, Elliptical>,
    mut candidates: Vec<Candidate>,
    z: &[f64],
) -> Result<Vec<Candidate>, Error> {
    let d = evaluations.dimension();
    if candidates.is_empty() {
        return Ok(candidates);
    }
    let mut points = Points::new(d, Vec::with_capacity(candidates.len() * z.len()));
    let (mut stretched, mut of) = (Vec::with_capacity(z.len()), usize::MAX);
    for candidate in &candidates {
        let q = &normals[&candidate.at];
        if of != candidate.at {
            stretched.clear();
            z.chunks_exact(d).for_each(|z| q.scale.apply_to(z, &mut stretched));
            of = candidate.at;
        }
        let placed = |s: (&f64, &f64)| s.1 + candidate.width * s.0;
        stretched.chunks_exact(d).for_each(|s| points.x.extend(s.iter().zip(&q.mean).map(placed)));
    }
    if !points.is_empty() {
        evaluations.evaluate(&mut points, false)?;
    }
    let standard: Vec<f64> = z.chunks_exact(d).map(|z| standard_log_density(float(d), None, dot(z, z))).collect();
    let entropy = -standard.iter().sum::<f64>() / float(standard.len());
    let (mut determinant, mut of) = (0.0, usize::MAX);
    for (candidate, p) in candidates.iter_mut().zip(points.log_density.chunks_exact(standard.len())) {
        if of != candidate.at {
            (determinant, of) = (normals[&candidate.at].scale.log_determinant(), candidate.at);
        }
        let energy = p.iter().sum::<f64>() / float(p.len());
        candidate.elbo = energy + entropy + determinant + float(d) * candidate.width.ln();
    }
    Ok(candidates)
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
    let (mut walks, mut found, mut failure) = (Vec::new(), Vec::new(), None);
    let mut fails = |error| match error {
        fatal @ (Error::Fatal(_) | Error::Interrupted) => Err(fatal),
        other => {
            failure = Some(other);
            Ok(())
        }
    };
    for key in (1..=settings.paths.max(1)).map(|number| settings.key.chain(number)) {
        match start(evaluations, settings.radius, key) {
            Ok(from) => walks.push(Walk::new(from, settings, key)),
            Err(error) => fails(error)?,
        }
    }
    walk(evaluations, &mut walks)?;
    for walk in walks {
        match walk.finish(evaluations, settings) {
            Ok(path) => found.push(path),
            Err(error) => fails(error)?,
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
