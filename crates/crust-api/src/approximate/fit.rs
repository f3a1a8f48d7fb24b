//! A fit of any method.

use super::ApproximationChoice;
use crust_diagnose::number::count;
use crust_diagnose::psis::psis;
use crust_diagnose::result::Bounds;
use crust_diagnose::wasserstein::{ErrorBounds, MARGIN, Moments, error_bounds};
use crust_infer::approximate::Error;
use crust_infer::approximate::coordinates::Family;
use crust_infer::approximate::elbo::{self, Estimate};
use crust_infer::approximate::elsewhere::{Elsewhere, elsewhere};
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::family::{Approximation, Elliptical};
use crust_infer::approximate::fixed::{self, Convergence, Step};
use crust_infer::approximate::flat::{falls, is_confined};
use crust_infer::approximate::laplace::laplace;
use crust_infer::approximate::pathfinder;
use crust_infer::approximate::scale::Scale;
use crust_infer::approximate::tails::{Unseen, second_moment_is_seen, unseen};
use crust_infer::target::Target;
use crust_math::random::{Purpose, StreamKey};
use std::time::Instant;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub method: ApproximationChoice,
    pub radius: f64,
    pub seed: u64,
}

/// What was found.
pub(crate) struct Fitted {
    pub approximation: Box<dyn Approximation>,
    /// The approximation, or the normal distribution with its moments.
    pub normal: Elliptical,
    /// The approximation, or its best part: between the modes of a mixture there may be next to no density.
    about_a_mode: Elliptical,
    pub elbo: Estimate,
    pub converged: bool,
    pub interrupted: bool,
    /// How the fit ended.
    pub words: String,
    /// Where other starting points led, if that is somewhere else.
    pub elsewhere: Option<Elsewhere>,
    /// What of the ELBO its draws do not see.
    pub unseen: Option<Unseen>,
    /// The moments of a mixture's draws by their importance weights, which are closer to those of the posterior.
    pub weighted: Option<Elliptical>,
    pub iterations: usize,
    pub trace: Vec<Step>,
    /// Without draws that only the ELBO and k-hat are computed from. Those of variational fits decide when to stop.
    pub fit_seconds: Option<f64>,
}

/// Draws for the ELBO and k-hat of methods that are not fitted by them.
const DRAWS: usize = 4000;
/// Degrees of freedom that `student-t` tries.
const DEGREES: [f64; 4] = [3.0, 5.0, 10.0, 30.0];

/// A fit for others to go on from: one that was ended early is none.
pub(crate) fn fit<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    wanted: Wanted,
) -> Result<Fitted, Error> {
    let fitted = fit_so_far(evaluations, wanted)?;
    if fitted.interrupted { Err(Error::Interrupted) } else { Ok(fitted) }
}

/// If the user ends a variational fit, the best so far.
pub(crate) fn fit_so_far<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    wanted: Wanted,
) -> Result<Fitted, Error> {
    let begin = Instant::now();
    let fitted = by_method(evaluations, wanted, begin)?;
    let seconds = fitted.fit_seconds.or_else(|| Some(begin.elapsed().as_secs_f64()));
    if !fitted.interrupted {
        // no other use has this number
        let key = StreamKey::new(wanted.seed, Purpose::FIT).chain(u32::MAX);
        // Ended now, the fit is still there.
        evaluations.be_patient(true);
        let fine = is_confined(evaluations, &*fitted.approximation, key)
            .and_then(|()| falls(evaluations, &fitted.about_a_mode));
        let elsewhere = match (&fine, begins_once(wanted.method)) {
            (Ok(()), true) => other_starts(evaluations, wanted, &fitted),
            _ => Ok(None),
        };
        let unseen = match (&fine, wanted.method) {
            // Draws of a mixture are not those of the normal distribution with its moments.
            (Ok(()), method) if method != ApproximationChoice::MultiPathfinder => unseen(evaluations, &fitted.normal)?,
            _ => None,
        };
        evaluations.be_patient(false);
        fine?;
        if !fitted.elbo.value.is_finite() {
            return Err(Error::NoElbo { value: fitted.elbo.value });
        }
        let elsewhere = elsewhere?.or(fitted.elsewhere);
        return Ok(Fitted { fit_seconds: seconds, elsewhere, unseen, ..fitted });
    }
    Ok(Fitted { fit_seconds: seconds, ..fitted })
}

/// Methods that know one starting point only.
fn begins_once(method: ApproximationChoice) -> bool {
    matches!(method, ApproximationChoice::Laplace | ApproximationChoice::Pathfinder)
}

/// Whether paths from other starting points end elsewhere. Paths that fail say nothing.
fn other_starts<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    wanted: Wanted,
    fitted: &Fitted,
) -> Result<Option<Elsewhere>, Error> {
    let key = StreamKey::new(wanted.seed, Purpose::FIT).step(3);
    let settings = pathfinder::Settings { radius: wanted.radius, ..pathfinder::Settings::to_start(key) };
    let paths = match pathfinder::paths(evaluations, &settings) {
        Ok(paths) => paths,
        Err(error @ (Error::Fatal(_) | Error::Interrupted)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let approximation = fitted.normal.clone();
    let own = pathfinder::Path { approximation, elbo: fitted.elbo.value, at: 1, iterations: fitted.iterations };
    elsewhere(evaluations, &own, &paths)
}

fn by_method<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    wanted: Wanted,
    begin: Instant,
) -> Result<Fitted, Error> {
    let key = StreamKey::new(wanted.seed, Purpose::FIT);
    match wanted.method {
        ApproximationChoice::Meanfield => variational(evaluations, wanted, Family::MeanField, None, None),
        ApproximationChoice::Fullrank => variational(evaluations, wanted, Family::FullRank, None, None),
        ApproximationChoice::Lowrank(rank) => {
            let rank = rank.get().min(evaluations.dimension());
            variational(evaluations, wanted, Family::LowRank(rank), None, None)
        }
        // That of all of them, not of the best.
        ApproximationChoice::StudentT => student(evaluations, wanted).map(|best| Fitted { fit_seconds: None, ..best }),
        ApproximationChoice::Laplace => {
            let found = laplace(evaluations, None, wanted.radius, key)?;
            let fit_seconds = Some(begin.elapsed().as_secs_f64());
            let elbo = elbo::estimate(evaluations, &found.approximation, DRAWS, key.step(1))?;
            let words = "converged: the mode was found".to_owned();
            Ok(Fitted { fit_seconds, ..Fitted::new(found.approximation, elbo, found.mode.iterations, words) })
        }
        ApproximationChoice::Pathfinder => {
            let path = pathfinder::path(evaluations, &search(wanted), 1, None)?;
            if path.iterations == 0 {
                // Such a density can be told from one whose mode is at the start.
                is_confined(evaluations, &path.approximation, key.chain(u32::MAX))?;
                return Err(Error::NoStep);
            }
            let fit_seconds = Some(begin.elapsed().as_secs_f64());
            let elbo = elbo::estimate(evaluations, &path.approximation, DRAWS, key.step(1))?;
            let words =
                format!("the best of {} normal distributions on the way was number {}", path.iterations, path.at);
            Ok(Fitted { fit_seconds, ..Fitted::new(path.approximation, elbo, path.iterations, words) })
        }
        ApproximationChoice::MultiPathfinder => several_paths(evaluations, wanted, begin),
    }
}

fn search(wanted: Wanted) -> pathfinder::Settings {
    let settings = pathfinder::Settings::new(StreamKey::new(wanted.seed, Purpose::FIT));
    pathfinder::Settings { radius: wanted.radius, ..settings }
}

/// From an approximation that is near, if there is one.
fn variational<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    wanted: Wanted,
    family: Family,
    degrees: Option<f64>,
    near: Option<&Elliptical>,
) -> Result<Fitted, Error> {
    let settings = fixed::Settings::new(StreamKey::new(wanted.seed, Purpose::FIT), family);
    let settings = fixed::Settings { radius: wanted.radius, degrees, ..settings };
    let begin = Instant::now();
    let fit = match near {
        Some(near) => fixed::fit_near(evaluations, &settings, near.clone())?,
        None => fixed::fit(evaluations, &settings)?,
    };
    Ok(Fitted {
        converged: fit.convergence == Convergence::Converged,
        interrupted: fit.convergence == Convergence::Interrupted,
        trace: fit.trace,
        elsewhere: fit.elsewhere,
        fit_seconds: Some(begin.elapsed().as_secs_f64() - fit.bound_seconds),
        ..Fitted::new(fit.approximation, fit.elbo, fit.iterations, fit.convergence.in_words().to_owned())
    })
}

/// The best of several degrees of freedom. In many dimensions the normal distribution comes first, which is found in few
/// steps, each fit begins at the best so far, and one that is surely worse than the one before is the last.
fn student<T: Target + Clone + Send>(evaluations: &mut Evaluations<'_, T>, wanted: Wanted) -> Result<Fitted, Error> {
    const MANY: usize = 64;
    let many = evaluations.dimension() >= MANY;
    let (mut near, mut elsewhere) = (None, None);
    if many {
        let normal = variational(evaluations, wanted, Family::FullRank, None, None)?;
        if normal.interrupted {
            return Ok(normal);
        }
        (near, elsewhere) = (Some(normal.normal), normal.elsewhere);
    }
    let mut best: Option<Fitted> = None;
    // From where they are most like the normal one.
    for nu in DEGREES.iter().rev() {
        let next = match (variational(evaluations, wanted, Family::FullRank, Some(*nu), near.as_ref()), best.take()) {
            (Err(Error::Interrupted), Some(best)) => {
                let words = Convergence::Interrupted.in_words().to_owned();
                return Ok(Fitted { converged: false, interrupted: true, words, ..best });
            }
            (found, None) => found?,
            (found, Some(best)) => {
                let found = found?;
                // What is fitted better the closer it is to a normal distribution will not be fitted by longer tails.
                let worse = many && found.is_surely_worse(&best);
                let best = best.or_better(found);
                if worse {
                    return Ok(Fitted { elsewhere: best.elsewhere.or(elsewhere), ..best });
                }
                best
            }
        };
        if many {
            near = Some(next.normal.clone());
        }
        let interrupted = next.interrupted;
        best = Some(next);
        if interrupted {
            break;
        }
    }
    let best = best.ok_or(Error::NoSupport)?;
    Ok(Fitted { elsewhere: best.elsewhere.or(elsewhere), ..best })
}

fn several_paths<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    wanted: Wanted,
    begin: Instant,
) -> Result<Fitted, Error> {
    let paths = pathfinder::paths(evaluations, &search(wanted))?;
    if paths.iter().all(|path| path.iterations == 0) {
        let key = StreamKey::new(wanted.seed, Purpose::FIT).chain(u32::MAX);
        paths.iter().try_for_each(|path| is_confined(evaluations, &path.approximation, key))?;
        return Err(Error::NoStep);
    }
    let approximation = pathfinder::mixture(&paths);
    let fit_seconds = Some(begin.elapsed().as_secs_f64());
    let key = StreamKey::new(wanted.seed, Purpose::FIT).chain(0).step(2);
    let elbo = elbo::estimate_plainly(evaluations, &approximation, DRAWS, key)?;
    let covariance = approximation.covariance().unwrap_or_default();
    let scale = Scale::of_covariance(approximation.dimension(), &covariance)?;
    let normal = Elliptical::normal(approximation.mean(), scale);
    let iterations = paths.iter().map(|path| path.iterations).sum();
    let weighted = weighted_moments(&normal, &elbo);
    let whose = if weighted.is_some() { "draws by their importance weights" } else { "the mixture" };
    let words = format!("a mixture of the ends of {} paths; mean and covariance are those of {whose}", paths.len());
    let best = paths.iter().max_by(|a, b| a.elbo.total_cmp(&b.elbo)).ok_or(Error::NoSupport)?;
    let fitted = Fitted::new(normal, elbo, iterations, words);
    let about_a_mode = best.approximation.clone();
    Ok(Fitted { approximation: Box::new(approximation), about_a_mode, weighted, fit_seconds, ..fitted })
}

/// The moments of the posterior by the smoothed importance weights w of n draws of q: E[f; q] + Σ (w − 1/n) f for f = x and
/// (x − m)(x − m)ᵀ, which is E[f; q] itself where all weights are the same. `None` where weights have no mean, or are worth
/// too few draws for a covariance.
fn weighted_moments(q: &Elliptical, drawn: &Estimate) -> Option<Elliptical> {
    /// Draws for each coordinate.
    const ENOUGH: f64 = 4.0;
    let (d, n) = (drawn.points.dimension, drawn.log_ratios.len());
    let smoothed = psis(&drawn.log_ratios, 1.0).ok().filter(|found| found.khat < 1.0)?;
    if smoothed.ess < ENOUGH * count(d) {
        return None;
    }
    let mut moved = vec![0.0; d];
    let mut covariance = q.scale.covariance();
    for (x, log_weight) in drawn.points.x.chunks_exact(d).zip(&smoothed.log_weights) {
        let beyond = log_weight.exp() - 1.0 / count(n);
        let from_mean: Vec<f64> = x.iter().zip(&q.mean).map(|(x, mean)| x - mean).collect();
        moved.iter_mut().zip(&from_mean).for_each(|(sum, x)| *sum += beyond * x);
        for (row, a) in covariance.chunks_exact_mut(d).zip(&from_mean) {
            row.iter_mut().zip(&from_mean).for_each(|(c, b)| *c += beyond * a * b);
        }
    }
    for (row, a) in covariance.chunks_exact_mut(d).zip(&moved) {
        row.iter_mut().zip(&moved).for_each(|(c, b)| *c -= a * b);
    }
    let mean = q.mean.iter().zip(&moved).map(|(mean, moved)| mean + moved).collect();
    Scale::of_covariance(d, &covariance).ok().map(|scale| Elliptical::normal(mean, scale))
}

impl Fitted {
    fn new(q: Elliptical, elbo: Estimate, iterations: usize, words: String) -> Self {
        let approximation = Box::new(q.clone());
        Self {
            approximation,
            about_a_mode: q.clone(),
            normal: q,
            elbo,
            converged: true,
            interrupted: false,
            words,
            elsewhere: None,
            unseen: None,
            weighted: None,
            iterations,
            trace: Vec::new(),
            fit_seconds: None,
        }
    }

    /// What is written down of it.
    pub fn moments(&self) -> &Elliptical {
        self.weighted.as_ref().unwrap_or(&self.normal)
    }

    /// Whether its bound is lower by more than three standard errors.
    fn is_surely_worse(&self, other: &Self) -> bool {
        let error = self.elbo.standard_error.hypot(other.elbo.standard_error);
        self.elbo.value + 3.0 * error < other.elbo.value
    }

    /// The better of two fits; ended early if the later one was.
    fn or_better(self, later: Self) -> Self {
        let interrupted = later.interrupted;
        let best = if later.elbo.value > self.elbo.value { later } else { self };
        if !interrupted {
            return best;
        }
        Self { converged: false, interrupted, words: Convergence::Interrupted.in_words().to_owned(), ..best }
    }

    /// That other starting points led elsewhere, for people.
    pub fn doubt(&self, names: &[String]) -> Option<String> {
        let Elsewhere { nats, coordinate, deviations } = self.elsewhere?;
        let name = names.get(coordinate - 1).map_or("", String::as_str);
        Some(format!(
            "other starting points led elsewhere ({name} is {deviations:.1} standard deviations away), with a bound that is \
             {:.1} nats {}: there may be modes that this fit leaves out; compare `--method multi-pathfinder`",
            nats.abs(),
            if nats < 0.0 { "higher" } else { "lower" }
        ))
    }

    /// What people have to know, without [`Self::doubt`].
    pub fn caution(&self, names: &[String]) -> Option<String> {
        let Unseen { coordinate, nats } = self.unseen?;
        let name = names.get(coordinate - 1).map_or("", String::as_str);
        Some(format!(
            "the ELBO is too high by {nats:.2} nats or more, whatever its standard error says: beyond three standard \
             deviations of {name}, where its draws hardly come, the log density falls faster than before; compare \
             `--method student-t`, or another scale for {name}"
        ))
    }

    /// The ELBO, the importance-weighted bound, and what chains say of log Z (see [`Bounds::new`]). An ELBO that may be too
    /// high gives no upper bound on the divergence.
    pub fn bounds(&self, forward: &[f64], reverse: &[f64]) -> Bounds {
        let found = bounds(&self.elbo, forward, reverse);
        if self.unseen.is_some() { Bounds { kl_at_most: None, ..found } } else { found }
    }

    /// How wrong means and standard deviations can be. log Z is taken for some standard errors below what is below it in
    /// expectation. `None` where the weights are too uneven, or where draws cannot know how uneven they are.
    pub fn errors<T: Target + Clone + Send>(
        &self,
        evaluations: &mut Evaluations<'_, T>,
        seed: u64,
        k_hat: Option<f64>,
        bounds: &Bounds,
    ) -> Result<Option<ErrorBounds>, Error> {
        // Draws of the approximation know nothing of a mode that it leaves out.
        if self.elsewhere.is_some() || self.elbo.log_ratios.iter().any(|ratio| !ratio.is_finite()) {
            return Ok(None);
        }
        let q = &*self.approximation;
        let fourth = q.fourth_moments(&q.mean());
        let moments = Moments { variances: q.variances(), fourth: fourth.each, norm_fourth: fourth.norm };
        let log_z = bounds.iw_elbo - MARGIN * bounds.iw_elbo_se;
        let Some(mut found) = error_bounds(&self.elbo.log_ratios, k_hat, log_z, &moments) else { return Ok(None) };
        if let Some(weighted) = &self.weighted {
            // What is written down is so far from the approximation, which is so far from the posterior.
            let (means, deviations) = (q.mean(), moments.variances.iter().map(|v| v.sqrt()));
            let own = weighted.variances().into_iter().map(f64::sqrt);
            found.mean_at_most.iter_mut().zip(&weighted.mean).zip(means).for_each(|((e, a), b)| *e += (a - b).abs());
            let apart = own.zip(deviations).map(|(a, b)| (a - b).abs());
            found.sd_at_most.iter_mut().flatten().zip(apart).for_each(|(e, apart)| *e += apart);
        }
        // no other use has these numbers
        let key = StreamKey::new(seed, Purpose::FIT).chain(u32::MAX).step(1);
        Ok(second_moment_is_seen(evaluations, q, &self.normal, key)?.then_some(found))
    }

    /// `None` where weights cannot be smoothed.
    pub fn k_hat(&self) -> Option<f64> {
        k_hat(&self.elbo.log_ratios)
    }
}

/// Of log weights; `None` where they cannot be smoothed. Weights that are all the same have no tail: 0.
pub(crate) fn k_hat(log_ratios: &[f64]) -> Option<f64> {
    /// Rounding.
    const SAME: f64 = 1e-9;
    let (least, most) = log_ratios.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    // NaN is in neither.
    if most == f64::INFINITY || log_ratios.iter().any(|ratio| ratio.is_nan()) {
        return None;
    }
    if most.is_finite() && most - least <= SAME * (1.0 + most.abs()) {
        return Some(0.0);
    }
    psis(log_ratios, 1.0).ok().map(|psis| psis.khat).filter(|k| k.is_finite())
}

/// Groups for the error of the importance-weighted bound.
const GROUPS: usize = 16;

/// Bounds on log Z on one axis.
pub(crate) fn bounds(elbo: &Estimate, forward: &[f64], reverse: &[f64]) -> Bounds {
    let draws = elbo.log_ratios.len() / GROUPS;
    let weighted = elbo::importance_weighted(&elbo.log_ratios, draws).map(|(value, error)| (value, error, draws));
    Bounds::new((elbo.value, elbo.standard_error), weighted, forward, reverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_infer::approximate::evaluate::Points;

    fn fitted(elbo: f64, interrupted: bool) -> Fitted {
        let estimate =
            Estimate { value: elbo, standard_error: 0.0, points: Points::new(1, vec![]), log_ratios: vec![] };
        let q = Elliptical::normal(vec![0.0], Scale::Diagonal(vec![1.0]));
        Fitted { interrupted, converged: !interrupted, ..Fitted::new(q, estimate, 1, String::new()) }
    }

    /// The fit that was ended early may be worse than one before: the run was ended early all the same.
    #[test]
    fn an_end_by_the_user_is_not_forgotten() {
        for (earlier, later) in [(-1.0, -2.0), (-2.0, -1.0)] {
            let best = fitted(earlier, false).or_better(fitted(later, true));
            assert!(best.interrupted && !best.converged && best.words.contains("ended early"));
            assert!((best.elbo.value + 1.0).abs() < 1e-12);
        }
        assert!(!fitted(-1.0, false).or_better(fitted(-2.0, false)).interrupted);
    }
}
