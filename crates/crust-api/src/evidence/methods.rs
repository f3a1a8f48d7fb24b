//! Runs the estimators of `crust_infer::evidence` on a Stan program. What several of them need is made once.

use super::normaliser::{Normaliser, log_normaliser};
use super::prior::PriorReading;
use super::{Estimator, EvidenceOptions, Failure};
use crate::error::{EvidenceError, Faults};
use crate::session::Session;
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::convergence::rhat;
use crust_diagnose::psis::{khat_threshold, psis};
use crust_diagnose::result::{EvidenceKind, EvidenceMethod};
use crust_diagnose::summary::Number;
use crust_engine::Simulator;
use crust_infer::anneal::{Pilot, Schedule, TunedKernels, tune};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::error::Error as InferError;
use crust_infer::evidence::{
    Bridge, Euclidean, Exploration, Explorer, Keep, NestedSettings, Shared, Shrinkage, SmcSettings, Stones,
    StonesSettings, ais, bridge, explore, harmonic_mean, importance, likelihood_weighting, log_mean_error,
    log_mean_exp, nested, smc, stones,
};
use crust_math::random::{Purpose, StreamKey};
use std::collections::BTreeMap;

/// Prior draws that a pilot run begins with, and moves at each of its distributions.
const PILOT_DRAWS: u32 = 32;
const PILOT_MOVES: usize = 4;
/// Longer trajectories are not tried: each try is a pilot run of its own, which takes as long as the estimate.
const LONGEST: u32 = 3;
/// Chains of NUTS, their warm-up and the draws of the first round.
const EXPLORER: Explorer = Explorer { chains: 16, warmup: 150, draws: 100 };
/// Draws of each chain at which bridge sampling gives up on its tolerance.
const MOST_DRAWS: f64 = 1600.0;
/// Chains that are so far apart after so many draws are not going to meet.
const HOPELESS_R_HAT: f64 = 1.3;
const PATIENCE: usize = 400;
/// Draws of importance sampling.
const FEWEST_IMPORTANCE: f64 = 1000.0;
const MOST_IMPORTANCE: f64 = 100_000.0;
/// R-hat beyond which chains are said to have been in different places.
const MOST_R_HAT: f64 = 1.05;
/// Chains of annealed importance sampling.
const AIS_CHAINS: u32 = 64;
/// Islands of sequential Monte Carlo, resampled particles of each, and the length of their chains, which is what grows
/// with the effort: on the clustering example 8 times as many particles with chains of 4 are still 2 to 5 nats low, the
/// same number in chains of 32 is within 0.3.
const ISLANDS: usize = 8;
const RESAMPLED: usize = 24;
const CHAIN: f64 = 32.0;
/// Chains whose ends are so much like their beginnings do not explore. Of 192 chains that do, one in a million is
/// beyond this.
const MOST_MEMORY: f64 = 0.35;

/// Each use of random numbers has a dataset of its own in the keys.
#[derive(Clone, Copy)]
enum Use {
    Pilot = 1,
    Exploration,
    Importance,
    Smc,
    Ais,
    Stones,
    Nested,
    LikelihoodWeighting,
}

/// The program, and what has been found out on the way.
pub(super) struct Estimation<'a> {
    loaded: &'a PriorReading<'a>,
    options: &'a EvidenceOptions,
    seed: u64,
    how: Parallelism,
    control: &'a Control,
    faults: Faults,
    simulator: Simulator,
    target: StanTarget<'a>,
    normaliser: Option<Normaliser>,
    kernels: Option<TunedKernels>,
    fit: Option<Fit>,
    stones: Option<Stones>,
}

/// Draws of the posterior, and bridge sampling from them.
struct Fit {
    exploration: Exploration,
    bridge: Option<Bridge>,
    trouble: Option<String>,
    r_hat: f64,
    /// Evaluations of all bridges on the way.
    evaluations: u64,
}

type Found<T> = Result<T, Failure>;

impl<'a> Estimation<'a> {
    pub fn new(
        loaded: &'a PriorReading<'a>,
        options: &'a EvidenceOptions,
        session: &'a Session<'_>,
        faults: &Faults,
    ) -> Self {
        let (model, text) = (&loaded.model, loaded.problem.program().text());
        Self {
            loaded,
            options,
            seed: session.seed,
            how: session.parallelism(),
            control: session.stop.control(),
            faults: faults.clone(),
            simulator: loaded.simulator.clone(),
            target: StanTarget::path(model, text, Evaluation::of_many(model)).reporting_to(faults),
            normaliser: None,
            kernels: None,
            fit: None,
            stones: None,
        }
    }

    /// Bridge sampling with a bound beside it; where the prior's normaliser is not known, what does not need it.
    pub fn default_methods(&mut self) -> Vec<Estimator> {
        match self.normaliser() {
            Normaliser::Known(_) => vec![Estimator::Bridge, Estimator::Importance],
            Normaliser::Unknown(_) => vec![Estimator::SteppingStone, Estimator::Smc],
        }
    }

    /// What to add to the default methods after they have run: what looks for other modes, where the chains have not
    /// met.
    pub fn second_opinion(&self) -> Option<Estimator> {
        self.fit.as_ref().filter(|fit| fit.apart()).map(|_| Estimator::Ais)
    }

    pub fn run(&mut self, method: Estimator) -> Found<EvidenceMethod> {
        match method {
            Estimator::Bridge => self.bridge(),
            Estimator::Importance => self.importance(),
            Estimator::Smc => self.smc(),
            Estimator::Ais => self.ais(),
            Estimator::SteppingStone | Estimator::Thermodynamic => self.stones(method),
            Estimator::Nested => self.nested(),
            Estimator::LikelihoodWeighting => self.likelihood_weighting(),
            Estimator::HarmonicMean => self.harmonic_mean(),
        }
    }

    fn key(&self, purpose: Purpose, of: Use) -> StreamKey {
        StreamKey::new(self.seed, purpose).dataset(of as u32)
    }

    fn run_of(&self, of: Use) -> Shared<'a> {
        Shared { key: self.key(Purpose::PRIOR, of), how: self.how, control: self.control }
    }

    /// A number of things that grows with `--effort`.
    fn effort(&self, count: f64) -> f64 {
        (count * self.options.effort).round().max(2.0)
    }

    fn prior_draws(&mut self, of: Use, count: usize) -> Found<Vec<Vec<f64>>> {
        let key = self.key(Purpose::PRIOR, of);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let draws = (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|k| draw(simulator, key.chain(k), faults));
        Ok(draws.collect::<Result<_, _>>()?)
    }

    fn normaliser(&mut self) -> &Normaliser {
        if self.normaliser.is_none() {
            let found = log_normaliser(self.loaded, &mut self.simulator, self.seed);
            self.normaliser = Some(found);
        }
        self.normaliser.get_or_insert(Normaliser::Known(0.0))
    }

    /// log of what the prior density integrates to, or why a method that needs it cannot run.
    fn needed_normaliser(&mut self, method: Estimator) -> Found<f64> {
        match self.normaliser() {
            Normaliser::Known(log) => Ok(*log),
            Normaliser::Unknown(why) => {
                Err(EvidenceError::NoNormaliser { method: method.name(), why: why.clone() }.into())
            }
        }
    }

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

    /// Draws of the posterior, as many as bridge sampling needs.
    fn fit(&mut self) -> Found<&Fit> {
        let fit = match self.fit.take() {
            Some(fit) => fit,
            None => self.make_fit()?,
        };
        Ok(self.fit.insert(fit))
    }

    fn make_fit(&self) -> Found<Fit> {
        let run = self.run_of(Use::Exploration);
        let mut exploration = explore(&self.target, EXPLORER, &run)?;
        let mut evaluations = 0;
        loop {
            let found = bridge(&self.target, &exploration, &run)?;
            let draws = exploration.draws();
            #[expect(clippy::cast_precision_loss, reason = "few draws")]
            let enough = draws as f64 >= MOST_DRAWS * self.options.effort;
            let (bridge, trouble) = match found {
                Ok(bridge) => (Some(bridge), None),
                Err(bad) => (None, Some(bad.to_string())),
            };
            evaluations += bridge.as_ref().map_or(0, |bridge| bridge.evaluations);
            let precise = bridge.as_ref().is_some_and(|bridge| bridge.se <= self.options.tolerance);
            let r_hat = worst_r_hat(&exploration, self.loaded.model.dimension());
            let hopeless = draws >= PATIENCE && (r_hat.is_nan() || r_hat > HOPELESS_R_HAT);
            if precise || enough || hopeless {
                return Ok(Fit { exploration, bridge, trouble, r_hat, evaluations });
            }
            exploration.go_on(&self.target, draws, &run)?;
        }
    }

    fn bridge(&mut self) -> Found<EvidenceMethod> {
        let normaliser = self.needed_normaliser(Estimator::Bridge)?;
        let tolerance = self.options.tolerance;
        let fit = self.fit()?;
        let Some(bridge) = &fit.bridge else { return Err(no_proposal(fit)) };
        let mut warnings = fit.warnings();
        if bridge.se.is_nan() || bridge.se > tolerance {
            warnings.push(format!("the standard error is above the tolerance of {tolerance} nats after all draws"));
        }
        #[expect(clippy::cast_precision_loss, reason = "few draws")]
        let draws = fit.exploration.draws() as f64;
        Ok(EvidenceMethod {
            name: Estimator::Bridge.name().to_owned(),
            kind: EvidenceKind::Estimate,
            log_ml: bridge.log_z - normaliser,
            se: bridge.se,
            evaluations: fit.exploration.evaluations + fit.evaluations,
            details: named(BTreeMap::from([
                ("chains", f64::from(EXPLORER.chains)),
                ("draws_per_chain", draws),
                ("r_hat", fit.r_hat),
                ("overlap", bridge.overlap),
                ("log_prior_normaliser", normaliser),
            ])),
            warnings,
        })
    }

    fn importance(&mut self) -> Found<EvidenceMethod> {
        let normaliser = self.needed_normaliser(Estimator::Importance)?;
        let (tolerance, most) = (self.options.tolerance, MOST_IMPORTANCE * self.options.effort);
        let fit = self.fit()?;
        let Some(bridge) = &fit.bridge else { return Err(no_proposal(fit)) };
        let (proposal, mut warnings) = (bridge.proposal.clone(), fit.warnings());
        // Decided before the first of them is drawn, as a bound has to be.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let count = bridge.draws_for(0.7 * tolerance).clamp(FEWEST_IMPORTANCE, most) as usize;
        let found = importance(&self.target, &proposal, count, &self.run_of(Use::Importance))?;
        let mut details = BTreeMap::from([("log_prior_normaliser", normaliser)]);
        if let Ok(smoothed) = psis(&found.log_weights, 1.0) {
            details.insert("k_hat", smoothed.khat);
            if smoothed.khat > khat_threshold(count) {
                warnings.push(format!(
                    "Pareto k-hat of the weights is {:.2}: a few draws decide, the bound may be far below log p(y) and its error is not to be believed",
                    smoothed.khat
                ));
            }
        }
        Ok(EvidenceMethod {
            name: Estimator::Importance.name().to_owned(),
            kind: EvidenceKind::StochasticLowerBound,
            log_ml: found.log_z - normaliser,
            se: found.se,
            evaluations: found.evaluations,
            details: named(details),
            warnings,
        })
    }

    fn smc(&mut self) -> Found<EvidenceMethod> {
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
            ("thermodynamic_length", kernels.length()),
        ]);
        let se = log_mean_error(&found.islands);
        let mut warnings = wide(se);
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

    fn ais(&mut self) -> Found<EvidenceMethod> {
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
        let se = log_mean_error(&found.log_weights);
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

    fn stones(&mut self, method: Estimator) -> Found<EvidenceMethod> {
        let found = match self.stones.take() {
            Some(found) => found,
            None => self.make_stones()?,
        };
        let found = self.stones.insert(found);
        let (log_ml, se) = match method {
            Estimator::Thermodynamic => (found.thermodynamic, found.thermodynamic_se),
            _ => (found.log_z, found.se),
        };
        Ok(EvidenceMethod {
            name: method.name().to_owned(),
            kind: EvidenceKind::Estimate,
            log_ml,
            se,
            evaluations: found.evaluations,
            details: BTreeMap::new(),
            warnings: wide(se),
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

    fn nested(&mut self) -> Found<EvidenceMethod> {
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

    fn likelihood_weighting(&mut self) -> Found<EvidenceMethod> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "efforts are limited")]
        let draws_wanted = self.effort(10_000.0) as u32;
        let run = self.run_of(Use::LikelihoodWeighting);
        let (simulator, faults) = (&mut self.simulator, &self.faults);
        let mut population = Euclidean::new(&self.target, |key| draw(simulator, key, faults), run);
        let found = likelihood_weighting(&mut population, draws_wanted, run.key)?;
        Ok(EvidenceMethod {
            name: Estimator::LikelihoodWeighting.name().to_owned(),
            kind: EvidenceKind::StochasticLowerBound,
            log_ml: found.log_z,
            se: found.se,
            evaluations: found.evaluations,
            details: named(BTreeMap::from([("draws", f64::from(draws_wanted))])),
            warnings: wide(found.se),
        })
    }

    fn harmonic_mean(&mut self) -> Found<EvidenceMethod> {
        let fit = self.fit()?;
        let found = harmonic_mean(&fit.exploration.log_likelihoods());
        let mut warnings = vec![
            "the harmonic mean has infinite variance as a rule and hardly depends on the prior, which the marginal likelihood does: do \
             not use this number, it is here for comparison"
                .to_owned(),
        ];
        warnings.extend(fit.warnings());
        Ok(EvidenceMethod {
            name: Estimator::HarmonicMean.name().to_owned(),
            kind: EvidenceKind::Estimate,
            log_ml: found.log_z,
            se: found.se,
            evaluations: fit.exploration.evaluations,
            details: named(BTreeMap::from([("r_hat", fit.r_hat)])),
            warnings,
        })
    }
}

impl Fit {
    /// Whether the chains have not met.
    fn apart(&self) -> bool {
        self.r_hat.is_nan() || self.r_hat > MOST_R_HAT
    }

    fn warnings(&self) -> Vec<String> {
        let mut list = Vec::new();
        if self.apart() {
            list.push(format!(
                "the chains are in different places (R-hat {:.2}): the posterior has several modes or is hard to sample, and a density fitted \
                 to these draws misses what they missed; compare with --methods ais,smc",
                self.r_hat
            ));
        }
        list
    }
}

/// Strides of the pilot run: each is as long as half of the weights' efficiency, or one nat of Jeffreys divergence,
/// allow.
#[expect(clippy::cast_precision_loss, reason = "hundreds")]
fn strides(kernels: &TunedKernels) -> f64 {
    kernels.knots().len() as f64 - 1.0
}

/// Distributions of sequential Monte Carlo and of stepping stones.
fn smc_steps(kernels: &TunedKernels) -> f64 {
    (1.0 + strides(kernels)).max(8.0)
}

/// Distributions of annealed importance sampling, whose chains are never resampled. On the clustering example 400 of
/// them are 2 nats off, 4000 less than half a nat.
fn ais_steps(kernels: &TunedKernels) -> f64 {
    (8.0 * strides(kernels)).max(4000.0)
}

fn draw(simulator: &mut Simulator, key: StreamKey, faults: &Faults) -> Result<Vec<f64>, InferError> {
    simulator.draw_parameters(None, key).map_err(|error| InferError::from(faults.raise(error)))
}

/// Settings and diagnostics as results have them.
fn named(details: BTreeMap<&'static str, f64>) -> BTreeMap<String, Number> {
    details.into_iter().map(|(name, value)| (name.to_owned(), Number(value))).collect()
}

fn no_proposal(fit: &Fit) -> Failure {
    let why = fit.trouble.clone().unwrap_or_default();
    EvidenceError::NoProposal { why }.into()
}

fn worst_r_hat(exploration: &Exploration, dimension: usize) -> f64 {
    let column = |i: usize| -> Vec<Vec<f64>> {
        exploration.chains.iter().map(|chain| chain.iter().map(|particle| particle.q[i]).collect()).collect()
    };
    (0..dimension)
        .map(|i| rhat(&column(i)))
        .fold(f64::NEG_INFINITY, |worst, r| if r.is_nan() { r } else { worst.max(r) })
}

/// Weights that vary so much that their own variation cannot be believed.
fn wide(se: f64) -> Vec<String> {
    if se <= EvidenceMethod::MOST_ERROR {
        return Vec::new();
    }
    vec!["the weights vary so much that the standard error is not to be believed; raise --effort".to_owned()]
}
