//! Chains from other starts, which look for places that the fit has not found.
//!
//! Chains of a fit that all fell into the same mode agree with each other. So some more chains start elsewhere, half of
//! them at draws of the prior if there are any. Those that end where no draw of the fit is go on for as long as the fit
//! did; if they stay there, the fit cannot be trusted.

use super::StanExperiment;
use super::fit::{Chain, Effort, draw_from};
use crate::error::Trouble;
use crate::target::Evaluation;
use crust_diagnose::convergence::mean;
use crust_diagnose::experiment::REAL;
use crust_infer::drive::Driver;
use crust_infer::error::Error as InferError;
use crust_infer::sample::Start;
use crust_math::random::{Purpose, StreamKey};
use std::time::{Duration, Instant};

/// How many.
pub(super) const SCOUTS: usize = 16;
/// Their numbers begin here, beyond those of the fit's chains.
const FIRST: u32 = 1001;
/// A first look.
const BRIEF: Effort = Effort::new(200, 50);
/// Tries to find a draw of the prior where the posterior has a density.
const TRIES: u32 = 4;
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
        let region = Region::of(fit);
        let starts = self.scout_starts()?;
        let evaluation = Evaluation::of(self.model(REAL)?, SCOUTS);
        let key = StreamKey::new(self.settings.seed, Purpose::NUTS);
        let deadline = self.settings.budget.map(|_| Instant::now() + took.max(Duration::from_millis(500)));
        let target = self.posterior(REAL, evaluation)?;
        // A scout that starts where the density is flat, which a vague prior reaches, ends all of them: those of Stan's
        // starts go without it.
        let first = match draw_from(target.clone(), key, (&starts, BRIEF), &self.settings, deadline) {
            Err(trouble) if is_about_chains(&trouble) => {
                let others: Vec<Start> = (FIRST..).take(SCOUTS).map(Start::random).collect();
                match draw_from(target, key, (&others, BRIEF), &self.settings, deadline) {
                    Err(trouble) if is_about_chains(&trouble) => return Ok(Scouted::default()),
                    other => other?,
                }
            }
            other => other?,
        };
        // those that did not come to an end have nothing to say
        let done = first.iter().filter(|chain| chain.points.len() == BRIEF.draws).count();
        let away = |chain: &&Chain| chain.points.len() == BRIEF.draws && region.coordinate_outside(chain).is_some();
        let again = first.iter().filter(away).filter_map(|chain| chain.points.last());
        let again: Vec<Start> = again.zip(FIRST + 1000..).map(|(point, number)| Start::at(number, point)).collect();
        let mut scouted = Scouted { scouts: done, ..Scouted::default() };
        if again.is_empty() {
            return Ok(scouted);
        }
        let deadline = self.settings.budget.map(|_| Instant::now() + took.max(Duration::from_millis(500)));
        let target = self.posterior(REAL, evaluation)?;
        let effort = Effort::new(1000, 100);
        let second = match draw_from(target, key, (&again, effort), &self.settings, deadline) {
            Err(trouble) if is_about_chains(&trouble) => return Ok(scouted),
            other => other?,
        };
        // A chain that got stuck far below the fit is no mode: it has no mass to speak of. Densities in files of others
        // may lack a constant.
        let all: Vec<f64> = fit.iter().flat_map(|chain| chain.log_densities.iter().copied()).collect();
        let least = mean(&all) - lowest(names.len());
        let comparable = self.given.is_none();
        let high = |chain: &&Chain| !comparable || mean(&chain.log_densities) >= least;
        for chain in second.iter().filter(|chain| chain.points.len() == effort.draws).filter(high) {
            if let Some(i) = region.coordinate_outside(chain) {
                scouted.elsewhere += 1;
                scouted.name = names.get(i).cloned().unwrap_or_default();
            }
        }
        Ok(scouted)
    }

    /// Half of the starts are draws of the prior that have a density, if there are any; the others are Stan's.
    fn scout_starts(&mut self) -> Result<Vec<Start>, Trouble> {
        let mut starts: Vec<Start> = (FIRST..).take(SCOUTS).map(Start::random).collect();
        if self.loaded.likelihood_only {
            return Ok(starts);
        }
        let mut driver = Driver::new(self.many(REAL)?, self.settings.how);
        let key = self.key(Purpose::INITIAL, REAL);
        for (start, number) in starts.iter_mut().take(SCOUTS / 2).zip(0..) {
            for attempt in 0..TRIES {
                let Ok(point) = self.prior.draw_parameters(None, key.chain(number).step(u64::from(attempt))) else {
                    continue;
                };
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
}

/// By how many nats the density of a mode may be lower that is worth a word: it may be wider than the fit, by e⁵ in each
/// coordinate.
#[expect(clippy::cast_precision_loss, reason = "dimensions are far fewer than 2⁵³")]
fn lowest(dimension: usize) -> f64 {
    10.0 + 5.0 * dimension as f64
}

/// Whether a chain found no way from where it was.
fn is_about_chains(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Infer(InferError::Initial { .. } | InferError::StepSize { .. } | InferError::Metric { .. })
    )
}

/// Where the draws of the fit are.
struct Region {
    ends: Vec<(f64, f64)>,
}

impl Region {
    fn of(chains: &[Chain]) -> Self {
        let mut points = chains.iter().flat_map(|chain| &chain.points);
        let mut ends: Vec<(f64, f64)> = points.next().map(|p| p.iter().map(|x| (*x, *x)).collect()).unwrap_or_default();
        for point in points {
            ends.iter_mut().zip(point).for_each(|((low, high), x)| (*low, *high) = (low.min(*x), high.max(*x)));
        }
        for (low, high) in &mut ends {
            let margin = MARGIN * (*high - *low);
            (*low, *high) = (*low - margin, *high + margin);
        }
        Self { ends }
    }

    /// A coordinate in which all draws of a chain are beyond those of the fit, on one side.
    fn coordinate_outside(&self, chain: &Chain) -> Option<usize> {
        let outside = |(i, (low, high)): (usize, &(f64, f64))| {
            let all = |beyond: &dyn Fn(f64) -> bool| chain.points.iter().all(|point| beyond(point[i]));
            all(&|x| x < *low) || all(&|x| x > *high)
        };
        self.ends.iter().enumerate().find(|&at| outside(at)).map(|(i, _)| i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(points: &[[f64; 2]]) -> Chain {
        Chain { points: points.iter().map(|point| point.to_vec()).collect(), ..Chain::default() }
    }

    #[test]
    fn only_chains_that_stay_away_are_elsewhere() {
        let region = Region::of(&[chain(&[[0.0, 5.0], [1.0, 6.0]]), chain(&[[2.0, 5.5], [-2.0, 5.2]])]);
        assert_eq!(region.coordinate_outside(&chain(&[[2.9, 5.0], [9.0, 9.0]])), None, "within the margin at times");
        assert_eq!(region.coordinate_outside(&chain(&[[0.0, 8.0], [1.0, 6.3]])), Some(1));
        assert_eq!(region.coordinate_outside(&chain(&[[0.0, 8.0], [1.0, 3.0]])), None, "on both sides");
    }
}
