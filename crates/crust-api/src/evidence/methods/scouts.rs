//! Chains from other starts, as `crust bread` sends them: bridge and importance sampling know only what their chains saw,
//! and all of these may have lost the same part of the posterior, such as a spike.

use super::{Estimation, Found, Use};
use crate::experiment::{Chain, Place, Region, Scale, log_mass, tells_correlations, with_block_of};
use crust_infer::drive::Driver;
use crust_infer::error::Error as InferError;
use crust_infer::sample::{Draw, Observer, Settings, Start, sample};
use crust_math::random::{Purpose, StreamKey};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// How many of each kind.
const EACH: usize = 8;
/// Draws of each chain of the fit that they are compared with, in a first look and afterwards: as long as those of
/// `bread`.
const MOST: usize = 1000;
const BRIEF: (usize, usize) = (200, 50);
const LONG: (usize, usize) = (1000, 200);
/// With more parameters than these the second look takes too long for what it may find.
const MOST_DIMENSIONS: usize = 500;

impl Estimation<'_> {
    /// What chains from other starts found where the chains of the fit have never been, in words.
    pub fn scout(&mut self) -> Found<Option<String>> {
        let names = self.loaded.model.unconstrained_names();
        let Some(fit) = self.fitted_chains().filter(|_| names.len() <= MOST_DIMENSIONS) else { return Ok(None) };
        let region = Region::of(&fit, &fit);
        let starts = self.scout_starts(&fit, &names)?;
        let first = self.chains_from(&starts, BRIEF, 0)?;
        let away = first.iter().filter(|chain| region.outside(chain).is_some());
        let again: Vec<Vec<f64>> = away.filter_map(|chain| chain.points.last().cloned()).collect();
        if again.is_empty() {
            return Ok(None);
        }
        let correlated = tells_correlations(LONG.1, names.len());
        let least = fit.iter().map(|chain| log_mass(chain, correlated)).fold(f64::INFINITY, f64::min);
        let second = self.chains_from(&again, LONG, 1)?;
        let counts = |chain: &Chain| {
            let place = region.outside(chain)?;
            (log_mass(chain, correlated) >= least - place.negligible(names.len())).then_some(place)
        };
        let found: Vec<_> = second.iter().filter_map(counts).collect();
        Ok(found.first().map(|place| {
            format!(
                "{} of {} chains from other starts stay where no draw of the fit is (by {}): bridge and importance sampling may have \
                 missed a part of the posterior, by more than their errors say; compare with --methods smc,ais",
                found.len(),
                starts.len(),
                place.words(&names)
            )
        }))
    }

    /// The draws that bridge sampling is made of.
    fn fitted_chains(&self) -> Option<Vec<Chain>> {
        let exploration = self.fit.as_ref()?.exploration();
        let chain = |particles: &Vec<crust_infer::evidence::Particle>| {
            let step = particles.len().div_ceil(MOST).max(1);
            let some = || particles.iter().step_by(step);
            Chain {
                points: some().map(|particle| particle.q.clone()).collect(),
                log_densities: some().map(|particle| particle.log_prior + particle.log_likelihood).collect(),
                ..Chain::default()
            }
        };
        Some(exploration.chains.iter().map(chain).collect())
    }

    /// Points with a density: mirrored and shrunk draws, and those with a parameter from the prior.
    fn scout_starts(&mut self, fit: &[Chain], names: &[String]) -> Found<Vec<Vec<f64>>> {
        let key = self.key(Purpose::INITIAL, Use::Scouts);
        let Some(scale) = Scale::of(fit.iter().flat_map(|chain| &chain.points), names) else { return Ok(vec![]) };
        let mut points = Vec::new();
        for (number, at) in (0..EACH).zip(0..) {
            points.push(Place::Mirrored.point(&scale, number, key.chain(at)));
            points.push(Place::Shrunk.point(&scale, number, key.chain(at)));
            let prior = self.simulator.draw_parameters(None, self.key(Purpose::PRIOR, Use::Scouts).chain(at)).ok();
            points.extend(prior.map(|prior| with_block_of(&scale, &prior, number, key.chain(at))));
        }
        let mut driver = Driver::new(self.target.clone(), self.how);
        let found = driver.evaluate_points(&points, 1.0, true, self.control)?;
        let fine = found
            .iter()
            .map(|at| at.densities.log_density().is_finite() && at.gradient.iter().all(|slope| slope.is_finite()));
        Ok(points.into_iter().zip(fine).filter(|(_, fine)| *fine).map(|(point, _)| point).collect())
    }

    /// Chains that come to their end. Where one finds no way from its start, all of them are given up.
    fn chains_from(&self, points: &[Vec<f64>], (warmup, draws): (usize, usize), round: u64) -> Found<Vec<Chain>> {
        let key: StreamKey = self.key(Purpose::NUTS, Use::Scouts).step(round);
        let starts: Vec<Start> = points.iter().zip(0..).map(|(point, k)| Start::at(k, point)).collect();
        let seen = Seen(starts.iter().map(|_| Mutex::default()).collect());
        let settings = Settings { warmup, draws, ..Settings::new(key) };
        match sample(&mut Driver::new(self.target.clone(), self.how), &settings, &starts, &seen, self.control) {
            Err(InferError::Initial { .. } | InferError::StepSize { .. } | InferError::Metric { .. }) => {
                return Ok(Vec::new());
            }
            other => _ = other?,
        }
        if self.control.is_interrupted() {
            return Err(InferError::Interrupted.into());
        }
        let chains = seen.0.into_iter().map(|chain| chain.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(chains.collect())
    }
}

/// The draws of each chain.
struct Seen(Vec<Mutex<Chain>>);

impl Observer for Seen {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        if !draw.warmup {
            let mut chain = self.0[draw.chain as usize].lock().unwrap_or_else(PoisonError::into_inner);
            chain.points.push(draw.state.q.clone());
            chain.log_densities.push(draw.state.log_density());
        }
        ControlFlow::Continue(())
    }
}
