//! Variational fits on fixed draws: the ELBO becomes a smooth function, which L-BFGS maximises.

use std::time::Instant;

use crust_math::random::StreamKey;
use serde::{Deserialize, Serialize};

use super::coordinates::{Coordinates, Family};
use super::curvature::Curvature;
use super::elbo::{self, Estimate};
use super::elsewhere::{Elsewhere, elsewhere};
use super::evaluate::Evaluations;
use super::family::{Elliptical, float};
use super::fixed_draws::FixedDraws;
use super::lbfgs::{End, Options, Place, Search, Told};
use super::pathfinder;
use super::{Error, stays};
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
    /// Fixed draws at first; they become more until their number does not matter. Four times as many where it is not
    /// known from the draws themselves how many are enough.
    pub draws: usize,
    pub most_draws: usize,
    /// How many nats the bound on the fixed draws may be above the one on new draws.
    pub tolerance: f64,
}

impl Settings {
    pub fn new(key: StreamKey, family: Family) -> Self {
        Self { key, family, degrees: None, radius: 2.0, draws: 64, most_draws: 16_384, tolerance: 0.05 }
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
    /// What draws for the bound took after the fit had ended. They could have made it go on, and did not.
    pub bound_seconds: f64,
    /// Where other starting points led, if that is somewhere else.
    pub elsewhere: Option<Elsewhere>,
}

/// Fits from where Pathfinder ends. If the user ends it on the way, what there is is the fit.
pub fn fit<T: Target + Clone + Send>(evaluations: &mut Evaluations<'_, T>, settings: &Settings) -> Result<Fit, Error> {
    let search = pathfinder::Settings { radius: settings.radius, ..pathfinder::Settings::to_start(settings.key) };
    let paths = pathfinder::paths(evaluations, &search)?;
    let best = paths.iter().max_by(|a, b| a.elbo.total_cmp(&b.elbo)).ok_or(Error::NoSupport)?;
    let elsewhere = elsewhere(evaluations, best, &paths)?;
    let fit = fit_near(evaluations, settings, best.approximation.clone())?;
    Ok(Fit { elsewhere, ..fit })
}

/// Fits from an approximation, of whatever degrees of freedom. If the user ends it on the way, what there is is the fit.
pub fn fit_near<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    about: Elliptical,
) -> Result<Fit, Error> {
    let about = Elliptical { degrees: settings.degrees, ..about };
    evaluations.be_patient(true);
    let fit = fit_from(evaluations, settings, &about);
    evaluations.be_patient(false);
    fit
}

/// Fits from an approximation. The draws become more until those that the fit has seen are no better than others.
///
/// Where the curvature is known, four times as many new draws are looked at first: the gradient of the bound on them
/// tells how far their optimum is. It is H(θ − θ*) with the error of the old draws in θ and of the new ones in itself,
/// so that ½ gᵀH⁻¹g is 1.25 times what the fit loses, on average. If the two optima are close the one on the new draws,
/// which has half of the errors, is the last; if they are very close, Newton's step −H⁻¹g leads there, and nothing needs to
/// be evaluated. Otherwise still more draws are looked at from there.
pub fn fit_from<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    settings: &Settings,
    about: &Elliptical,
) -> Result<Fit, Error> {
    let mut coordinates = Coordinates::new(settings.family, about);
    let curved = is_curved(&coordinates);
    // A full matrix is determined only if there are more draws than coordinates.
    let first = if curved && settings.degrees.is_none() { settings.draws } else { 4 * settings.draws };
    let mut draws = first.max(4 * coordinates.noise()).next_multiple_of(64);
    if coordinates.dimension() <= FEW {
        // As lattices want it.
        draws = draws.next_power_of_two();
    }
    let most = settings.most_draws.max(8 * coordinates.noise());
    let (mut trace, mut iterations) = (Vec::new(), 0);
    let mut fixed = FixedDraws::new(&coordinates, draws, settings.key.chain(0).step(1000));
    let mut here = make_finite(evaluations, &mut coordinates, &mut fixed)?;
    for round in 1.. {
        let may_look = curved && 4 * draws <= most;
        let least = if may_look { LEFT_BEFORE_A_LOOK } else { left(&coordinates) } * settings.tolerance;
        let mut found = maximise(evaluations, &mut coordinates, &mut fixed, here, least, &mut trace)?;
        iterations += found.iterations;
        let key = settings.key.chain(0).step(1000 * (round + 1));
        // Newton's steps do not end a search.
        let stopped = found.end == End::Stopped || evaluations.is_interrupted();
        let looks = may_look && found.is_optimum() && !stopped;
        if looks {
            fixed = FixedDraws::new(&coordinates, 4 * draws, key);
            here = fixed.look(evaluations, &coordinates, coordinates.origin())?;
            let curvature = fixed.curvature(&coordinates, &here);
            draws *= 4;
            match difference(&coordinates, curvature.as_ref(), &here.gradient, settings.tolerance) {
                Difference::Much => continue,
                Difference::Some => {
                    let least = LEFT_BEFORE_A_LOOK * settings.tolerance;
                    found = maximise(evaluations, &mut coordinates, &mut fixed, here, least, &mut trace)?;
                    iterations += found.iterations;
                }
                Difference::Little { step, gain } => {
                    found.approximation = coordinates.build(&step)?;
                    stays(&found.approximation)?;
                    found.elbo = gain - here.value;
                    found.excess = fixed.excess(&coordinates);
                    coordinates = Coordinates::new(coordinates.family, &found.approximation);
                    found.parameters = coordinates.origin();
                    found.curvature = curvature;
                    iterations += 1;
                    trace.push(Step { gradients: evaluations.count(), elbo: found.elbo });
                }
            }
        }
        let ended = Instant::now();
        let control = found.curvature.as_ref().filter(|_| settings.family == Family::MeanField);
        let elbo = precise(evaluations, &found.approximation, control, settings.tolerance, key.step(key.step + 100))?;
        found.elbo -= found.excess;
        let good = found.elbo - elbo.value <= allowed(&elbo, draws, settings.tolerance, curved);
        let interrupted = stopped || found.end == End::Stopped;
        if interrupted || good || 4 * draws > most || (!found.is_optimum() && round > 3) {
            let convergence = match (found.is_optimum(), good) {
                _ if interrupted => Convergence::Interrupted,
                (true, true) => Convergence::Converged,
                (true, false) => Convergence::TooFewDraws,
                (false, _) => Convergence::NoOptimum,
            };
            let bound_seconds = if looks { ended.elapsed().as_secs_f64() } else { 0.0 };
            let approximation = found.approximation;
            let elsewhere = None;
            return Ok(Fit { approximation, elbo, convergence, iterations, draws, trace, bound_seconds, elsewhere });
        }
        draws *= 4;
        fixed = FixedDraws::new(&coordinates, draws, key.step(key.step + 500));
        here = fixed.look(evaluations, &coordinates, found.parameters)?;
    }
    Err(Error::NoSupport)
}

/// How much the bound on the draws of the fit may be above that on others: the tolerance, or two standard errors of the
/// difference where these are larger. Where new draws have been looked at already, more of them is allowed: few draws
/// may know the optimum well and the bound there less so.
fn allowed(elbo: &Estimate, draws: usize, tolerance: f64, looked: bool) -> f64 {
    let both = (1.0 + float(elbo.log_ratios.len()) / float(draws)).sqrt();
    let error = if looked { both * elbo.standard_error } else { elbo.standard_error };
    tolerance.max((2.0 * error).min(if looked { 4.0 } else { 2.0 } * tolerance))
}

/// How far the optimum on new draws seems to be.
#[derive(Clone, Debug, PartialEq)]
enum Difference {
    /// So near that Newton's step leads there, and what it gains where the bound is quadratic.
    Little {
        step: Vec<f64>,
        gain: f64,
    },
    /// Near enough for the optimum on the new draws to be the last.
    Some,
    Much,
}

/// Compares what is to be gained on new draws, and how far means (in standard deviations) and logarithms of standard
/// deviations would move.
fn difference(
    coordinates: &Coordinates,
    curvature: Option<&Curvature>,
    gradient: &[f64],
    tolerance: f64,
) -> Difference {
    /// What is little, and what is not much.
    const MEANS: [f64; 2] = [0.1, 0.15];
    const LOG_SDS: [f64; 2] = [0.05, 0.08];
    if coordinates.family == Family::MeanField && curvature.is_none() {
        return Difference::Much;
    }
    let d = coordinates.dimension();
    let mut step = gradient.to_vec();
    coordinates.precondition(curvature, &mut step);
    let gain = 0.5 * dot(&step, gradient);
    let within = |steps: &[f64], most: f64| steps.iter().all(|s| s.abs() <= most);
    let stays = |i: usize| within(&step[..d], MEANS[i]) && within(&step[d..2 * d], LOG_SDS[i]);
    // False for NaN.
    match gain <= tolerance {
        true if stays(0) => {
            step.iter_mut().for_each(|s| *s = -*s);
            Difference::Little { step, gain }
        }
        true if stays(1) => Difference::Some,
        _ => Difference::Much,
    }
}

/// What may be left to gain at the end of a search, relative to the tolerance. Where densities have heavy tails, a
/// hundred times as much may be left as it seems (the funnel).
const LEFT: f64 = 4e-3;
/// The same for families whose curvature is not known: what is left then looks smaller than it is.
const LEFT_BLINDLY: f64 = 2e-5;
/// The same for the optimum on draws after which others are looked at, where what is left is seen, and on those that were
/// looked at and found not to say much else.
const LEFT_BEFORE_A_LOOK: f64 = 0.02;

/// Up to so many dimensions draws come in powers of two.
const FEW: usize = 32;

fn left(coordinates: &Coordinates) -> f64 {
    if is_curved(coordinates) { LEFT } else { LEFT_BLINDLY }
}

/// Matrices of curvature are computed for mean field up to so many dimensions: a fit of many more has better uses of its
/// time.
const MOST_CURVED: usize = 100;

/// Whether a fit goes by the curvature of the density. That of full rank is known from the gradient, for Student's t
/// distribution as well: with z its draws, the optimum has −E g zᵀ = I, and where the curvature H does not vary −E g zᵀ
/// is H ν/(ν − 2), so that the same step leads there. Its step of the mean is the share (ν − 2)/ν of the way.
fn is_curved(coordinates: &Coordinates) -> bool {
    match coordinates.family {
        Family::FullRank => true,
        Family::MeanField => coordinates.dimension() <= MOST_CURVED && coordinates.degrees().is_none(),
        Family::LowRank(_) => false,
    }
}

/// The optimum on fixed draws. The frame is at it, unless the family is of low rank.
struct Found {
    approximation: Elliptical,
    /// In the frame.
    parameters: Vec<f64>,
    elbo: f64,
    /// By how much it is too high for another reason than too few draws.
    excess: f64,
    curvature: Option<Curvature>,
    iterations: usize,
    end: End,
}

impl Found {
    fn is_optimum(&self) -> bool {
        matches!(self.end, End::Converged | End::NoBetterPoint)
    }
}

/// The optimum on fixed draws. Whether a gradient is small can only be told in the frame of the point itself, where the
/// density curves by about 1 in all directions: the search goes on from there until it finds nothing to do.
///
/// In each frame Newton's step for the whole distribution is tried first (see [`super::curvature`]); L-BFGS, for which
/// the same curvature is the start, does the rest.
fn maximise<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    coordinates: &mut Coordinates,
    fixed: &mut FixedDraws,
    mut here: Place,
    decrement: f64,
    trace: &mut Vec<Step>,
) -> Result<Found, Error> {
    const FRAMES: usize = 40;
    // What is not diagonal would be lost with a new frame.
    let moves = !matches!(coordinates.family, Family::LowRank(_));
    let mut iterations = 0;
    for frame in 1.. {
        let curvature = if is_curved(coordinates) { fixed.curvature(coordinates, &here) } else { None };
        if let Some(curvature) = &curvature
            && let Some((next, there)) = newton(evaluations, coordinates, fixed, curvature, &here, decrement)?
        {
            iterations += 1;
            trace.push(Step { gradients: evaluations.count(), elbo: -there.value });
            (*coordinates, here) = (next, there);
            if frame < FRAMES && !evaluations.is_interrupted() {
                continue;
            }
        }
        let metric = |g: &mut [f64]| coordinates.precondition(curvature.as_ref(), g);
        let options = Options { decrement, iterations: if frame < FRAMES { 30 } else { 500 }, history: 20 };
        let options = if moves { options } else { Options { iterations: 500, ..options } };
        let mut search = Search::new(here.x.clone(), options, is_curved(coordinates).then_some(&metric));
        search.tell(here.value, &here.gradient);
        let (mut gradient, mut values) = (vec![0.0; here.x.len()], vec![here.value]);
        while let Some(x) = search.asks() {
            let value = fixed.objective(evaluations, coordinates, x, &mut gradient)?;
            if search.tell(value, &gradient) == Told::Step {
                values.push(search.here().0.value);
                trace.push(Step { gradients: evaluations.count(), elbo: -search.here().0.value });
                if evaluations.is_interrupted() {
                    search.stop();
                } else if gets_nowhere(&values, decrement) {
                    search.settle();
                }
            }
        }
        let found = search.finish();
        let gained = values[0] - found.best.value;
        iterations += found.iterations;
        let approximation = coordinates.build(&found.best.x)?;
        stays(&approximation)?;
        let again = moves && gained > decrement && matches!(found.end, End::Converged | End::Iterations);
        if !again || frame == FRAMES {
            let (elbo, mut parameters) = (-found.best.value, found.best.x);
            let excess = fixed.excess(coordinates);
            if moves {
                *coordinates = Coordinates::new(coordinates.family, &approximation);
                parameters = coordinates.origin();
            }
            return Ok(Found { approximation, parameters, elbo, excess, curvature, iterations, end: found.end });
        }
        *coordinates = Coordinates::new(coordinates.family, &approximation);
        here = fixed.look_again(evaluations, coordinates, &found.best)?;
    }
    Err(Error::NoSupport)
}

/// Whether the last steps together have gained less than a search has to. Where a density has kinks (a double
/// exponential), so has the bound on few draws, and gradients never become small.
fn gets_nowhere(values: &[f64], decrement: f64) -> bool {
    const STEPS: usize = 10;
    let before = values.len().checked_sub(STEPS + 1).map(|i| values[i]);
    before.is_some_and(|before| before - values[values.len() - 1] < decrement)
}

/// Newton's step for the whole distribution, as the next frame. `None` if it would gain little, or is none.
fn newton<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    coordinates: &Coordinates,
    fixed: &mut FixedDraws,
    curvature: &Curvature,
    here: &Place,
    decrement: f64,
) -> Result<Option<(Coordinates, Place)>, Error> {
    /// From here on L-BFGS is faster, as it learns what is not quadratic.
    const CLOSE: f64 = 0.05;
    let mut direction = here.gradient.clone();
    coordinates.precondition(Some(curvature), &mut direction);
    if 0.5 * dot(&direction, &here.gradient) <= CLOSE.max(decrement) {
        return Ok(None);
    }
    let Some(parameters) = coordinates.newton(curvature, &here.gradient) else { return Ok(None) };
    let slope = dot(&parameters, &here.gradient);
    let there = fixed.look(evaluations, coordinates, parameters)?;
    // Enough of a decrease for another such step to be worth it.
    if !(there.value <= here.value + 0.25 * slope.min(0.0) && slope < 0.0) {
        return Ok(None);
    }
    let built = coordinates.build(&there.x)?;
    stays(&built)?;
    let next = Coordinates::new(coordinates.family, &built);
    let here = fixed.look_again(evaluations, &next, &there)?;
    Ok(Some((next, here)))
}

/// Makes the frame narrower until the density is positive at all draws.
fn make_finite<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    coordinates: &mut Coordinates,
    fixed: &mut FixedDraws,
) -> Result<Place, Error> {
    const TIMES: usize = 30;
    for _ in 0..TIMES {
        let here = fixed.look(evaluations, coordinates, coordinates.origin())?;
        if here.value.is_finite() {
            return Ok(here);
        }
        coordinates.shrink();
    }
    Err(Error::NoSupport)
}

/// The bound with an error of a third of the tolerance, if that can be had.
pub(super) fn precise<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &Elliptical,
    control: Option<&Curvature>,
    tolerance: f64,
    key: StreamKey,
) -> Result<Estimate, Error> {
    const FIRST: usize = 1024;
    const MOST: usize = 16_384;
    let found = elbo::estimate_with(evaluations, q, control, FIRST, key)?;
    let times = (3.0 * found.standard_error / tolerance).powi(2);
    if times <= 1.0 {
        return Ok(found);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
    let draws = (times * float(FIRST)).min(float(MOST)) as usize;
    elbo::estimate_with(evaluations, q, control, draws.next_multiple_of(FIRST), key.step(key.step + 50))
}
