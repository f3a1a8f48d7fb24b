//! Chains from other starts, which look for places that the fit has not found.
//!
//! Chains of a fit that all fell into the same mode agree with each other. So some more chains start elsewhere: at draws
//! of the prior if there are any, at Stan's starts, and on the scale of the fit (`starts`). Those that end where no draw
//! of the fit is (`region`) go on for as long as the fit did; if they stay there, and the place has a share of the posterior worth a
//! word (`mass`), the fit cannot be trusted.

mod mass;
mod region;
mod starts;

use super::StanExperiment;
use super::fit::{Chain, Effort, draw_from};
use super::way::ridge;
use crate::error::Trouble;
use crate::target::Evaluation;
use crust_diagnose::experiment::REAL;
use crust_infer::axes::Axes;
use crust_infer::drive::Driver;
use crust_infer::error::Error as InferError;
use crust_infer::sample::Start;
use crust_math::random::{Purpose, StreamKey};
pub(crate) use mass::{log_mass, tells_correlations};
pub(crate) use region::{Region, negligible};
pub(crate) use starts::{Place, Scale, with_block_of};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many of each kind.
const EACH: usize = 8;
/// Chains that run together: one thread has eight of them.
const GROUP: usize = 16;
/// Their numbers begin here, beyond those of the fit's chains.
const FIRST: u32 = 1001;
/// Those of chains that go on.
const AGAIN: u32 = FIRST + 1000;
/// A first look.
const BRIEF: Effort = Effort::new(200, 50);
/// What those do that are elsewhere.
const LONG: Effort = Effort::new(1000, 200);
/// Tries to find a start where the posterior has a density.
const TRIES: u32 = 4;
/// The share of the budget that each of the two rounds has at least.
const LEAST_SHARE: f64 = 0.03;

/// What scouts found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scouted {
    pub scouts: usize,
    pub elsewhere: usize,
    /// A parameter by which one is elsewhere.
    pub name: String,
}

impl StanExperiment<'_> {
    /// Sends scouts to the real data's posterior. Each of two rounds may take so long.
    pub(super) fn scout(&mut self, fit: &[Chain], took: Duration, names: &[String]) -> Result<Scouted, Trouble> {
        let whole = self.with_own_densities(fit)?;
        let region = Region::of(fit, &whole);
        // Without the axes that the fit needed scouts would be where they began, which is no mode.
        let axes = ridge(fit).map(Arc::new);
        let first = self.rounds(&self.scout_starts(fit, axes.as_ref(), names)?, (axes.as_ref(), BRIEF), took)?;
        let mut scouted = Scouted { scouts: first.len(), ..Scouted::default() };
        let away = first.iter().filter(|chain| region.outside(chain).is_some());
        let again = away.filter_map(|chain| chain.points.last()).zip(AGAIN..);
        let again: Vec<Start> = again.map(|(point, number)| Start::at(number, point)).collect();
        if again.is_empty() {
            return Ok(scouted);
        }
        let second = self.rounds(&again, (axes.as_ref(), LONG), took)?;
        let correlated = tells_correlations(LONG.draws, names.len());
        let least = whole.iter().map(|chain| log_mass(chain, correlated)).fold(f64::INFINITY, f64::min);
        for (chain, place) in second.iter().filter_map(|chain| Some((chain, region.outside(chain)?))) {
            if log_mass(chain, correlated) >= least - place.negligible(names.len()) {
                scouted.elsewhere += 1;
                scouted.name = place.words(names);
            }
        }
        Ok(scouted)
    }

    /// The chains that come to their end. They run in groups, the first of which may take half of the time, the next half
    /// of what is left, and so on.
    fn rounds(
        &self,
        starts: &[Start],
        (axes, effort): (Option<&Arc<Axes>>, Effort),
        took: Duration,
    ) -> Result<Vec<Chain>, Trouble> {
        let least = |budget: f64| Duration::from_secs_f64(LEAST_SHARE * budget);
        let end = self.settings.budget.map(|budget| Instant::now() + took.max(least(budget)));
        let mut chains = Vec::new();
        let groups = starts.chunks(GROUP);
        let last = groups.len().saturating_sub(1);
        for (number, group) in groups.enumerate() {
            let deadline = end.map(|end| {
                let now = Instant::now();
                let left = end.saturating_duration_since(now);
                now + if number == last { left } else { left / 2 }
            });
            chains.extend(self.group(group, (axes, effort), deadline)?);
        }
        chains.retain(|chain| chain.points.len() == effort.draws);
        Ok(chains)
    }

    /// One chain that starts where the density is flat, which a vague prior reaches, ends all of its group: the others go
    /// on without it.
    fn group(
        &self,
        starts: &[Start],
        (axes, effort): (Option<&Arc<Axes>>, Effort),
        deadline: Option<Instant>,
    ) -> Result<Vec<Chain>, Trouble> {
        let evaluation = Evaluation::of(self.model(REAL)?, GROUP);
        let key = StreamKey::new(self.settings.seed, Purpose::NUTS);
        let target = self.posterior(REAL, evaluation)?;
        match draw_from(target, key, (starts, axes, effort), &self.settings, deadline) {
            Err(trouble) if is_about_chains(&trouble) && starts.len() > 1 => {
                let (one, other) = starts.split_at(starts.len() / 2);
                let mut chains = self.group(one, (axes, effort), deadline)?;
                chains.extend(self.group(other, (axes, effort), deadline)?);
                Ok(chains)
            }
            Err(trouble) if is_about_chains(&trouble) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Starts that have a density, the most telling ones first.
    fn scout_starts(&self, fit: &[Chain], axes: Option<&Arc<Axes>>, names: &[String]) -> Result<Vec<Start>, Trouble> {
        let mut numbers = (FIRST..).step_by(EACH);
        let mut first = || numbers.next().unwrap_or(FIRST);
        let mut simulator = self.prior.clone();
        let mut prior = |key: StreamKey| simulator.draw_parameters(None, key).ok();
        let scale = Scale::of(fit.iter().flat_map(|chain| &chain.points), names);
        let mut all = Vec::new();
        if !self.loaded.likelihood_only {
            all.extend(self.starts(first(), |_, key| prior(key))?);
            if let Some(scale) = &scale {
                let some = |number, key| Some(with_block_of(scale, &prior(key)?, number, key));
                all.extend(self.starts(first(), some)?);
            }
        }
        let dimension = fit.iter().find_map(|chain| chain.points.first()).map_or(0, Vec::len);
        all.extend(match axes {
            // random numbers along axes would be elsewhere than Stan's
            Some(_) => self.starts(first(), |_, key| Some(starts::within(dimension, key)))?,
            None => starts::random(first(), EACH),
        });
        if let Some(scale) = scale {
            for place in Place::ALL {
                all.extend(self.starts(first(), |number, key| Some(place.point(&scale, number, key)))?);
            }
        }
        Ok(all)
    }

    /// Starts at points that have a density, or Stan's where none is found.
    fn starts(
        &self,
        first: u32,
        mut point: impl FnMut(usize, StreamKey) -> Option<Vec<f64>>,
    ) -> Result<Vec<Start>, Trouble> {
        let mut driver = Driver::new(self.many(REAL)?, self.settings.how);
        let mut starts = starts::random(first, EACH);
        for (number, start) in starts.iter_mut().enumerate() {
            let key = self.key(Purpose::INITIAL, REAL).chain(start.chain);
            for attempt in 0..TRIES {
                let Some(point) = point(number, key.step(u64::from(attempt))) else { continue };
                let points = [point];
                let found = driver.evaluate_points(&points, 1.0, true, &self.settings.control)?;
                let fine = found.iter().all(|at| {
                    at.densities.log_density().is_finite() && at.gradient.iter().all(|slope| slope.is_finite())
                });
                if fine {
                    *start = Start::at(start.chain, &points[0]);
                    break;
                }
            }
        }
        Ok(starts)
    }

    /// Densities in files of others may lack a constant.
    fn with_own_densities(&self, fit: &[Chain]) -> Result<Vec<Chain>, Trouble> {
        /// Of each chain.
        const MOST: usize = 200;
        if self.given.is_none() {
            return Ok(fit.to_vec());
        }
        let mut driver = Driver::new(self.many(REAL)?, self.settings.how);
        let mut own = Vec::new();
        for chain in fit {
            let step = chain.points.len().div_ceil(MOST).max(1);
            let points: Vec<Vec<f64>> = chain.points.iter().step_by(step).cloned().collect();
            let found = driver.evaluate_points(&points, 1.0, false, &self.settings.control)?;
            let log_densities = found.iter().map(|at| at.densities.log_density()).collect();
            own.push(Chain { points, log_densities, ..Chain::default() });
        }
        Ok(own)
    }
}

/// Whether a chain found no way from where it was.
fn is_about_chains(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Infer(InferError::Initial { .. } | InferError::StepSize { .. } | InferError::Metric { .. })
    )
}
