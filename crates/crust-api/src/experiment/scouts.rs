//! Chains from other starts, which look for places that the fit has not found.
//!
//! Chains of a fit that all fell into the same mode agree with each other. So some more chains start elsewhere: at draws
//! of the prior if there are any, at Stan's starts, and on the scale of the fit (`starts`). Those that end where no draw
//! of the fit is go on for as long as the fit did; if they stay there, and the place has a share of the posterior worth a
//! word (`mass`), the fit cannot be trusted.

mod mass;
mod starts;

use super::StanExperiment;
use super::fit::{Chain, Effort, draw_from};
use super::way::ridge;
use crate::error::Trouble;
use crate::target::Evaluation;
use crust_diagnose::convergence;
use crust_diagnose::experiment::REAL;
use crust_infer::axes::Axes;
use crust_infer::drive::Driver;
use crust_infer::error::Error as InferError;
use crust_infer::sample::Start;
use crust_math::random::{Purpose, StreamKey};
pub(crate) use mass::{log_mass, tells_correlations};
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
/// Places beyond the draws of the fit by this share of their range are elsewhere.
const MARGIN: f64 = 0.25;

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

/// By how many nats a place may have less than the fit to be worth a word. Chains that stay in a place with a share of
/// e⁻¹⁵ have no business there; that they do says that others may, and that chance decided where the fit is. Beyond that
/// there is room for what is not normal about either.
#[expect(clippy::cast_precision_loss, reason = "dimensions are far fewer than 2⁵³")]
pub(crate) fn negligible(dimension: usize) -> f64 {
    15.0 + dimension as f64
}

/// Whether a chain found no way from where it was.
fn is_about_chains(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Infer(InferError::Initial { .. } | InferError::StepSize { .. } | InferError::Metric { .. })
    )
}

/// Where the draws of the fit are.
pub(crate) struct Region<'a> {
    chains: &'a [Chain],
    /// The range of each coordinate, with a margin.
    ends: Vec<(f64, f64)>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// The greatest log density, with a margin.
    highest: f64,
}

/// How a chain is beyond all draws of the fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    Coordinate(usize),
    /// In a direction in which several coordinates add up, of which this one has the largest part.
    Direction(usize),
    /// In the log density alone: a spike in the middle of a slab.
    Density,
}

impl Outside {
    /// By how many nats a place may have less than the fit to be worth a word. Directions and densities see more than
    /// coordinates do, chains that are still on their way too: there is less room.
    pub fn negligible(self, dimension: usize) -> f64 {
        match self {
            Self::Coordinate(_) => negligible(dimension),
            Self::Direction(_) | Self::Density => negligible(dimension / 5),
        }
    }

    pub fn words(self, names: &[String]) -> String {
        let name = |i: usize| names.get(i).cloned().unwrap_or_default();
        match self {
            Self::Coordinate(i) => name(i),
            Self::Direction(i) => format!("{} and others together", name(i)),
            Self::Density => "the log density".to_owned(),
        }
    }
}

impl<'a> Region<'a> {
    /// `whole` are the same chains, or some of their draws, with the program's own densities.
    pub fn of(chains: &'a [Chain], whole: &[Chain]) -> Self {
        let points = || chains.iter().flat_map(|chain| &chain.points);
        let dimension = points().next().map_or(0, Vec::len);
        let column = |i: usize| -> Vec<f64> { points().map(|point| point[i]).collect() };
        let (mut ends, mut mean, mut deviation) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..dimension {
            let column = column(i);
            ends.push(range_with_margin(&column));
            mean.push(convergence::mean(&column));
            deviation.push(convergence::sd(&column).max(f64::MIN_POSITIVE));
        }
        let densities: Vec<f64> = whole.iter().flat_map(|chain| &chain.log_densities).copied().collect();
        Self { chains, ends, mean, deviation, highest: range_with_margin(&densities).1 }
    }

    /// Whether all draws of a chain are beyond those of the fit, on one side of a coordinate; or of a direction.
    pub fn outside(&self, chain: &Chain) -> Option<Outside> {
        let coordinate = self.coordinate_outside(chain).map(Outside::Coordinate);
        coordinate.or_else(|| self.direction_outside(chain)).or_else(|| self.density_outside(chain))
    }

    /// Whether all densities of a chain are above those of the fit. What is below them all is a slab around the spike that
    /// the fit is in, and beyond it in a coordinate; or a chain on its way.
    fn density_outside(&self, chain: &Chain) -> Option<Outside> {
        let beyond = !chain.log_densities.is_empty() && chain.log_densities.iter().all(|x| *x > self.highest);
        beyond.then_some(Outside::Density)
    }

    fn coordinate_outside(&self, chain: &Chain) -> Option<usize> {
        let outside = |(i, (low, high)): (usize, &(f64, f64))| {
            let all = |beyond: &dyn Fn(f64) -> bool| chain.points.iter().all(|point| beyond(point[i]));
            all(&|x| x < *low) || all(&|x| x > *high)
        };
        self.ends.iter().enumerate().find(|&at| outside(at)).map(|(i, _)| i)
    }

    /// Modes of forty coordinates that are x and −x may overlap in each of them, and be far from each other all the same:
    /// in the direction from the fit's mean to that of the chain's first half, its second half is beyond all draws of the
    /// fit. By chance it is not, since the direction knows nothing of the second half.
    fn direction_outside(&self, chain: &Chain) -> Option<Outside> {
        let (first, second) = chain.points.split_at(chain.points.len() / 2);
        // The difference of the means, and what it has to be multiplied with, in deviations.
        let mut difference = vec![0.0; self.mean.len()];
        for point in first {
            let rows = difference.iter_mut().zip(point).zip(self.mean.iter().zip(&self.deviation));
            rows.for_each(|((to, x), (mean, deviation))| *to += (x - mean) / deviation);
        }
        let weights: Vec<f64> = difference.iter().zip(&self.deviation).map(|(x, deviation)| x / deviation).collect();
        let along = |x: &[f64]| x.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
        let fit: Vec<f64> = self.chains.iter().flat_map(|chain| &chain.points).map(|x| along(x)).collect();
        let (_, high) = range_with_margin(&fit);
        let largest = (0..difference.len()).max_by(|a, b| difference[*a].abs().total_cmp(&difference[*b].abs()))?;
        let beyond = !first.is_empty() && second.iter().all(|point| along(point) > high);
        beyond.then_some(Outside::Direction(largest))
    }
}

fn range_with_margin(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = MARGIN * (high - low);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(points: &[[f64; 2]]) -> Chain {
        Chain { points: points.iter().map(|point| point.to_vec()).collect(), ..Chain::default() }
    }

    #[test]
    fn only_chains_that_stay_away_are_elsewhere() {
        let fit = [chain(&[[0.0, 5.0], [1.0, 6.0]]), chain(&[[2.0, 5.5], [-2.0, 5.2]])];
        let region = Region::of(&fit, &fit);
        assert_eq!(region.coordinate_outside(&chain(&[[2.9, 5.0], [9.0, 9.0]])), None, "within the margin at times");
        assert_eq!(region.coordinate_outside(&chain(&[[0.0, 8.0], [1.0, 6.3]])), Some(1));
        assert_eq!(region.coordinate_outside(&chain(&[[0.0, 8.0], [1.0, 3.0]])), None, "on both sides");
    }

    /// Normal draws of forty coordinates about ±0.9 each.
    fn normal_chain(number: u32, draws: usize, centre: f64) -> Chain {
        let mut stream = StreamKey::new(4, Purpose::TEST).chain(number).stream();
        let mut draw = || {
            let mut x = vec![0.0; 40];
            stream.fill_normal(&mut x);
            x.iter_mut().for_each(|x| *x += centre);
            x
        };
        Chain { points: (0..draws).map(|_| draw()).collect(), ..Chain::default() }
    }

    /// The mirror image of the fit overlaps with it in every coordinate; a hundred chains in the fit's own place are not
    /// elsewhere, short as they are.
    #[test]
    fn modes_that_overlap_in_every_coordinate_are_told_apart() {
        let fit = [normal_chain(1, 1000, 0.9), normal_chain(2, 1000, 0.9)];
        let region = Region::of(&fit, &fit);
        let mirrored = normal_chain(3, 50, -0.9);
        assert_eq!(region.coordinate_outside(&mirrored), None);
        assert!(matches!(region.outside(&mirrored), Some(Outside::Direction(_))));
        assert!((100..200).all(|number| region.outside(&normal_chain(number, 50, 0.9)).is_none()));
        // A spike in the middle of a slab has other densities and nothing else.
        let with_density = |mut chain: Chain, at: f64| {
            chain.log_densities = (0..50).map(|i| at + f64::from(i) / 10.0).collect();
            chain
        };
        let fit = [with_density(normal_chain(1, 50, 0.0), -5.0)];
        let region = Region::of(&fit, &fit);
        assert_eq!(region.outside(&with_density(normal_chain(1, 50, 0.0), 1.3)), Some(Outside::Density));
        assert_eq!(region.outside(&with_density(normal_chain(1, 50, 0.0), 1.0)), None);
        let words = Outside::Direction(1).words(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(words, "b and others together");
    }
}
