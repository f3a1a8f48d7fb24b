//! Estimators that start at the prior: sequential Monte Carlo, annealed importance sampling, stepping stones, nested
//! sampling, likelihood weighting.

use super::posterior::Tail;
use super::{Estimation, Found, Use, draw, named, wide};
use crate::error::EvidenceError;
use crate::evidence::Estimator;
use crust_diagnose::psis::psis;
use crust_diagnose::result::{EvidenceKind, EvidenceMethod};
use crust_infer::anneal::{Pilot, Schedule, TunedKernels, tune};
use crust_infer::drive::Driver;
use crust_infer::evidence::{
    Euclidean, Keep, NestedSettings, Shrinkage, SmcSettings, Stones, StonesSettings, ais, likelihood_weighting,
    log_mean_error, log_mean_exp, nested, smc, stones,
};
use crust_math::random::Purpose;
use std::collections::BTreeMap;

/// Prior draws that a pilot run begins with, and moves at each of its distributions.
const PILOT_DRAWS: u32 = 32;
const PILOT_MOVES: usize = 4;
/// Longer trajectories are not tried: each try is a pilot run of its own, which takes as long as the estimate.
const LONGEST: u32 = 3;
/// Chains of annealed importance sampling.
const AIS_CHAINS: u32 = 64;
/// Islands of sequential Monte Carlo, resampled particles of each, and the length of their chains, which is what grows
/// with the effort: on the clustering example 8 times as many particles with chains of 4 are still 2 to 5 nats low, the
/// same number in chains of 32 is within 0.3. The error is that between islands, so that there are not too few.
const ISLANDS: usize = 16;
const RESAMPLED: usize = 16;
const CHAIN: f64 = 32.0;
/// Chains whose ends are so much like their beginnings do not explore. Of 256 chains that do, one in a million is
/// beyond this.
const MOST_MEMORY: f64 = 0.35;
/// A draw from the prior with a greater share of all weights decides alone.
const MOST_SHARE: f64 = 0.1;
/// Thermodynamic integration that is so many nats from the stones of the same chains is told to be poor.
const INTEGRAL_MATTERS: f64 = 0.1;
/// A shortfall of so many nats is told.
const SHORTFALL_MATTERS: f64 = 0.1;

impl Estimation<'_> {
    /// Kernels for every β, from a pilot run.
    fn kernels(&mut self) -> Found<TunedKernels> {
        if let Some(kernels) = &self.kernels {
            return Ok(kernels.clone());
        }
        let draws = self.prior_draws(Use::Pilot, PILOT_DRAWS as usize)?;
        let pilot = Pilot { moves: PILOT_MOVES, most_steps: LONGEST, rehearse: false, ..Pilot::default() };
        let key = self.key(Purpose::PILOT, Use::Pilot);
        let kernels = tune(&mut Driver::new(self.target.clone(), self.how), &draws, &pilot, key, self.control)?;
        self.kernels = Some(kernels.clone());
        Ok(kernels)
    }

    fn schedule(kernels: &TunedKernels, distributions: f64) -> Found<Schedule> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let count = distributions.clamp(3.0, 1e6) as usize;
        Ok(Schedule::from_pilot(count, kernels)?)
    }

    pub(super) fn smc(&mut self) -> Found<EvidenceMethod> {
        let kernels = self.kernels()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "efforts are limited")]
        let chain = self.effort(CHAIN) as usize;
        let settings = SmcSettings { islands: ISLANDS, resampled: RESAMPLED, chain, keep: Keep::All };
        let schedule = Self::schedule(&kernels, smc_steps(&kernels))?;
        let run = self.run_of(Use::Smc);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let population = Euclidean::new(&self.target, |key| draw(simulator, key, faults), run);
        let found = smc(&mut population.with_kernels(&kernels), &schedule, settings, &run)?;
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let details = BTreeMap::from([
            ("islands", settings.islands as f64),
            ("particles_per_island", settings.particles() as f64),
            ("distributions", schedule.len() as f64),
            ("accept", found.accept),
            ("memory", found.memory),
            ("shortfall", found.shortfall),
            ("thermodynamic_length", kernels.length()),
        ]);
        let (se, low) = with_shortfall(island_error(&found.islands), found.shortfall);
        let mut warnings = wide(se);
        warnings.extend(low);
        if found.memory > MOST_MEMORY {
            warnings.push(format!(
                "chains hardly leave where they begin (their log likelihoods at both ends have correlation {:.2}): the bound may be nats too \
                 low, by more than its standard error; raise --effort",
                found.memory
            ));
        }
        Ok(EvidenceMethod {
            name: Estimator::Smc.name().to_owned(),
            kind: EvidenceKind::StochasticLowerBound,
            log_ml: log_mean_exp(&found.islands),
            se,
            evaluations: found.evaluations,
            details: named(details),
            warnings,
        })
    }

    pub(super) fn ais(&mut self) -> Found<EvidenceMethod> {
        let kernels = self.kernels()?;
        let schedule = Self::schedule(&kernels, self.effort(ais_steps(&kernels)))?;
        let run = self.run_of(Use::Ais);
        let moves = self.key(Purpose::FORWARD, Use::Ais);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let population = Euclidean::new(&self.target, |key| draw(simulator, key, faults), run);
        let found = ais(&mut population.with_kernels(&kernels), &schedule, AIS_CHAINS, run.key, moves)?;
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let details = BTreeMap::from([
            ("chains", f64::from(AIS_CHAINS)),
            ("distributions", schedule.len() as f64),
            ("accept", found.accept),
            ("thermodynamic_length", kernels.length()),
        ]);
        // Few weights decide where they vary much: smoothing their tail tells by how much.
        let tail =
            psis(&found.log_weights, 1.0).map_or(0.0, |smoothed| Tail::of(&found.log_weights, &smoothed).correction);
        let se = log_mean_error(&found.log_weights).hypot(tail);
        Ok(EvidenceMethod {
            name: Estimator::Ais.name().to_owned(),
            kind: EvidenceKind::StochasticLowerBound,
            log_ml: found.log_mean(),
            se,
            evaluations: found.evaluations,
            details: named(details),
            warnings: wide(se),
        })
    }

    pub(super) fn stones(&mut self, method: Estimator) -> Found<EvidenceMethod> {
        let found = match self.stones.take() {
            Some(found) => found,
            None => self.make_stones()?,
        };
        let found = self.stones.insert(found);
        let (log_ml, se, warnings) = if method == Estimator::Thermodynamic {
            // Both are made of the same chains: where they differ, the integral is too coarse, or its means hang on a
            // heavy tail near the prior.
            let gap = (found.thermodynamic - found.log_z).abs();
            let se = found.thermodynamic_se.hypot(gap);
            if se.is_nan() {
                return Err(EvidenceError::NoIntegral.into());
            }
            (found.thermodynamic, se, coarse(gap, se))
        } else {
            let (se, low) = with_shortfall(found.se, found.shortfall);
            (found.log_z, se, wide(se).into_iter().chain(low).collect())
        };
        Ok(EvidenceMethod {
            name: method.name().to_owned(),
            kind: EvidenceKind::Estimate,
            log_ml,
            se,
            evaluations: found.evaluations,
            details: BTreeMap::new(),
            warnings,
        })
    }

    fn make_stones(&mut self) -> Found<Stones> {
        let kernels = self.kernels()?;
        let schedule = Self::schedule(&kernels, smc_steps(&kernels))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "efforts are limited")]
        let settings =
            StonesSettings { chains: 32, burn_in: self.effort(8.0) as usize, draws: self.effort(16.0) as usize };
        let run = self.run_of(Use::Stones);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let population = Euclidean::new(&self.target, |key| draw(simulator, key, faults), run);
        Ok(stones(&mut population.with_kernels(&kernels), &schedule, settings, &run)?)
    }

    pub(super) fn nested(&mut self) -> Found<EvidenceMethod> {
        let dimension = self.loaded.model.dimension();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "efforts are limited")]
        let live = self.effort(512.0).max(16.0) as usize;
        let settings = NestedSettings {
            live,
            replaced: live / 8,
            steps: (4 * dimension).max(24),
            shrinkage: Shrinkage::Geometric,
            remainder: 1e-3,
            most_nats: 2000.0,
        };
        let run = self.run_of(Use::Nested);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let mut population = Euclidean::new(&self.target, |key| draw(simulator, key, faults), run);
        let found = nested(&mut population, settings, &run)?;
        let mut warnings = Vec::new();
        if found.unfinished {
            warnings.push(format!(
                "it was ended after {} nats of shrinking, before the likelihood stopped rising",
                settings.most_nats
            ));
        }
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let details =
            BTreeMap::from([("live", live as f64), ("information", found.information), ("accept", found.accept)]);
        Ok(EvidenceMethod {
            name: Estimator::Nested.name().to_owned(),
            kind: EvidenceKind::Estimate,
            log_ml: found.log_z,
            se: found.se,
            evaluations: found.evaluations,
            details: named(details),
            warnings,
        })
    }

    pub(super) fn likelihood_weighting(&mut self) -> Found<EvidenceMethod> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "efforts are limited")]
        let draws_wanted = self.effort(10_000.0) as u32;
        let run = self.run_of(Use::LikelihoodWeighting);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let mut population = Euclidean::new(&self.target, |key| draw(simulator, key, faults), run);
        let found = likelihood_weighting(&mut population, draws_wanted, run.key)?;
        let tail = psis(&found.log_weights, 1.0).ok().map(|smoothed| Tail::of(&found.log_weights, &smoothed));
        let se = found.se.hypot(tail.as_ref().map_or(0.0, |tail| tail.correction));
        let mut warnings = wide(se);
        if warnings.is_empty() && tail.is_some_and(|tail| tail.largest > MOST_SHARE) {
            warnings.push("one draw has most of the weight: the prior is too wide for this method".to_owned());
        }
        Ok(EvidenceMethod {
            name: Estimator::LikelihoodWeighting.name().to_owned(),
            kind: EvidenceKind::StochasticLowerBound,
            log_ml: found.log_z,
            se,
            evaluations: found.evaluations,
            details: named(BTreeMap::from([("draws", f64::from(draws_wanted))])),
            warnings,
        })
    }
}

/// Strides of the pilot run: each is as long as half of the weights' efficiency, or one nat of Jeffreys divergence,
/// allow.
#[expect(clippy::cast_precision_loss, reason = "hundreds")]
fn strides(kernels: &TunedKernels) -> f64 {
    kernels.knots().len() as f64 - 1.0
}

/// Distributions of sequential Monte Carlo and of stepping stones. The pilot's few draws see no rare ones, so that its
/// strides are too long for them.
fn smc_steps(kernels: &TunedKernels) -> f64 {
    (1.0 + 2.0 * strides(kernels)).max(8.0)
}

/// Distributions of annealed importance sampling, whose chains are never resampled. On the clustering example 400 of
/// them are 2 nats off, 4000 less than half a nat.
fn ais_steps(kernels: &TunedKernels) -> f64 {
    (8.0 * strides(kernels)).max(4000.0)
}

/// The error of log Ẑ from differences between few islands: as by the delta method, but as wide as Student's t is
/// wider than a normal distribution, √((n − 1)/(n − 3)).
fn island_error(islands: &[f64]) -> f64 {
    let n = islands.len().max(4);
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let wider = ((n - 1) as f64 / (n - 3) as f64).sqrt();
    log_mean_error(islands) * wider
}

/// The error of an estimate from draws of each distribution's lower neighbour, and what to say of it. What draws of
/// both neighbours see beyond it is part of the error, if chance does not explain it.
fn with_shortfall(se: f64, shortfall: f64) -> (f64, Option<String>) {
    if shortfall <= 2.0 * se {
        return (se, None);
    }
    let told = (shortfall > SHORTFALL_MATTERS).then(|| {
        format!(
            "a few draws decide: seen from both sides of each step, log p(y) is {shortfall:.2} nats higher; raise --effort, \
             or compare with --methods ais,bridge"
        )
    });
    (se.hypot(shortfall), told)
}

/// What to say of thermodynamic integration so far from stepping stones.
fn coarse(gap: f64, se: f64) -> Vec<String> {
    if gap <= INTEGRAL_MATTERS {
        return wide(se);
    }
    vec![format!(
        "the integral is {gap:.2} nats from the stepping stones of the same chains: the mean log likelihood changes too \
         much near a wide prior; use --methods stepping-stone"
    )]
}
