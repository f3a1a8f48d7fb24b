//! Estimators from draws of the posterior: bridge sampling, importance sampling, the harmonic mean.

use super::{Estimation, Found, Use, named};
use crate::error::EvidenceError;
use crate::evidence::{Estimator, Failure};
use crust_diagnose::convergence::rhat;
use crust_diagnose::psis::{Psis, khat_threshold, psis};
use crust_diagnose::result::{EvidenceKind, EvidenceMethod};
use crust_infer::evidence::{Bridge, Exploration, Explorer, bridge, explore, harmonic_mean, importance, log_mean_exp};
use std::collections::BTreeMap;

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
/// The share of draws that may diverge without a word: 0.2 % do no harm to a banana, 4 % cost 0.1 nats on the eight
/// schools, centred.
const MOST_DIVERGENCES: f64 = 5e-3;
/// Errors that miss the tolerance by no more than this factor are small all the same.
const NEAR_TOLERANCE: f64 = 4.0;
/// A tail of weights is worth a word if smoothing it moves the estimate by so many nats, or one draw has such a share.
const TAIL_MATTERS: f64 = 0.05;
const SHARE_MATTERS: f64 = 0.02;

/// Draws of the posterior, and bridge sampling from them.
pub(super) struct Fit {
    exploration: Exploration,
    bridge: Option<Bridge>,
    trouble: Option<String>,
    r_hat: f64,
    /// Evaluations of all bridges on the way.
    evaluations: u64,
}

impl Estimation<'_> {
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
                self.check_ends(&exploration)?;
                return Ok(Fit { exploration, bridge, trouble, r_hat, evaluations });
            }
            exploration.go_on(&self.target, draws, &run)?;
        }
    }

    /// ∫ s⁻¹ ds is infinite at 0, but not on a computer, where it ends at the smallest number: log p(y) would be a
    /// number that depends on the computer alone. Draws of such a posterior are spread up to there.
    fn check_ends(&self, exploration: &Exploration) -> Found<()> {
        /// Far below, and far beyond, what a posterior is about; 58 powers of ten before numbers end.
        const ENDS: std::ops::Range<f64> = 1e-250..1e250;
        const LOOKED_AT: usize = 256;
        const SHARE: f64 = 0.02;
        let draws: Vec<_> = exploration.chains.iter().flatten().collect();
        let every = draws.len().div_ceil(LOOKED_AT).max(1);
        let mut simulator = self.simulator.clone();
        let mut beyond: BTreeMap<String, usize> = BTreeMap::new();
        for draw in draws.iter().step_by(every) {
            // What cannot be computed at a draw says nothing here.
            for (name, values) in simulator.parameters(&draw.q).into_iter().flatten() {
                let is_beyond = |value: &f64| *value != 0.0 && !ENDS.contains(&value.abs());
                *beyond.entry(name).or_default() += usize::from(values.iter().any(is_beyond));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "hundreds")]
        let too_many = |count: usize| count as f64 > SHARE * draws.len().div_ceil(every) as f64;
        match beyond.into_iter().find(|(_, count)| too_many(*count)) {
            Some((name, _)) => Err(EvidenceError::Endless { name }.into()),
            None => Ok(()),
        }
    }

    pub(super) fn bridge(&mut self) -> Found<EvidenceMethod> {
        let normaliser = self.needed_normaliser(Estimator::Bridge)?;
        let tolerance = self.options.tolerance;
        let fit = self.fit()?;
        let Some(bridge) = &fit.bridge else { return Err(no_proposal(fit)) };
        let mut warnings = fit.warnings();
        if bridge.se.is_nan() || bridge.se > NEAR_TOLERANCE * tolerance {
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

    pub(super) fn importance(&mut self) -> Found<EvidenceMethod> {
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
        let mut se = found.se;
        if let Ok(smoothed) = psis(&found.log_weights, 1.0) {
            let tail = Tail::of(&found.log_weights, &smoothed);
            // What the delta method does not see of a heavy tail, smoothing does.
            se = se.hypot(tail.correction);
            details.insert("k_hat", smoothed.khat);
            warnings.extend(tail.warning(smoothed.khat, count));
        }
        Ok(EvidenceMethod {
            name: Estimator::Importance.name().to_owned(),
            kind: EvidenceKind::StochasticLowerBound,
            log_ml: found.log_z - normaliser,
            se,
            evaluations: found.evaluations,
            details: named(details),
            warnings,
        })
    }

    pub(super) fn harmonic_mean(&mut self) -> Found<EvidenceMethod> {
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
    pub fn exploration(&self) -> &Exploration {
        &self.exploration
    }

    /// Whether the chains have not met.
    pub fn apart(&self) -> bool {
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
        list.extend(self.divergent());
        list
    }

    /// Where trajectories diverge, the chains do not get to a part of the posterior, and nothing that is made of their
    /// draws knows of it.
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    fn divergent(&self) -> Option<String> {
        let (count, draws) = (self.exploration.divergences, self.exploration.draws() * self.exploration.chains.len());
        (count as f64 > (MOST_DIVERGENCES * draws as f64).max(1.0)).then(|| {
            format!(
                "{count} of {draws} transitions diverged: the chains miss a part of the posterior, so that log p(y) is \
                 off by more than the error says; compare with --methods smc,ais, or write the program without centring"
            )
        })
    }
}

/// How much the largest weights matter.
pub(super) struct Tail {
    /// |log of the mean of smoothed weights − that of the weights themselves|, in nats.
    pub correction: f64,
    /// The share of the largest one in their sum.
    pub largest: f64,
}

impl Tail {
    pub fn of(log_weights: &[f64], smoothed: &Psis) -> Self {
        let greatest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Smoothing leaves the weights below the tail alone: how their share of the sum changes is the correction.
        let log_sum = log_mean_exp(log_weights) + log_count(log_weights.len());
        let finite = log_weights.iter().zip(&smoothed.log_weights).filter(|(raw, _)| raw.is_finite());
        let lowest = finite.min_by(|a, b| a.0.total_cmp(b.0));
        let correction = lowest.map_or(0.0, |(raw, new)| ((raw - log_sum) - new).abs());
        Self { correction, largest: (greatest - log_sum).exp() }
    }

    /// k-hat alone says what may happen; it is told where it has happened.
    fn warning(&self, khat: f64, count: usize) -> Option<String> {
        let matters = self.correction > TAIL_MATTERS || self.largest > SHARE_MATTERS;
        (khat > khat_threshold(count) && matters).then(|| {
            format!(
                "Pareto k-hat of the weights is {khat:.2}, and one of {count} draws has {:.0} % of their sum: the bound \
                 may be far below log p(y) and its error is not to be believed",
                100.0 * self.largest
            )
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
fn log_count(n: usize) -> f64 {
    (n as f64).ln()
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
