//! `crust evidence`: the log marginal likelihood of real data by one or several estimators, each with what kind of
//! number it is.

mod agreement;
mod meaning;
mod methods;
mod prior;

use crate::error::{Error, EvidenceError, Faults};
use crate::problem::Problem;
use crate::session::{Session, Unit};
use crust_diagnose::result::{Evidence, EvidenceMethod, EvidenceTiming};
use crust_infer::anneal::BadSchedule;
use crust_infer::error::Error as InferError;
use methods::Estimation;
use prior::PriorReading;
use std::time::Instant;

/// Options of `evidence`.
#[derive(Clone, Debug)]
pub struct EvidenceOptions {
    /// How log p(y) is estimated; if there are none, bridge sampling with two stochastic lower
    /// bounds beside it, one of which starts at the prior.
    pub methods: Vec<Estimator>,
    /// Bridge sampling and importance sampling go on until the standard error is below so many nats, or it takes too
    /// long.
    pub tolerance: f64,
    /// How much work the methods that do not stop by themselves do, as a multiple of what they do by default.
    pub effort: f64,
}

impl Default for EvidenceOptions {
    fn default() -> Self {
        Self { methods: Vec::new(), tolerance: 0.005, effort: 1.0 }
    }
}

/// An estimator of the marginal likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Estimator {
    /// Bridge sampling between the posterior and a density fitted to it: accurate where the posterior has one mode.
    Bridge,
    /// Importance sampling from a density fitted to the posterior: a stochastic lower bound.
    Importance,
    /// Sequential Monte Carlo from the prior to the posterior: a stochastic lower bound, also with many modes.
    Smc,
    /// Annealed importance sampling: a stochastic lower bound, also with many modes.
    Ais,
    /// Chains at many temperatures, and the ratios between neighbours.
    SteppingStone,
    /// Chains at many temperatures, and the integral of the mean log likelihood.
    Thermodynamic,
    /// Nested sampling, with random-walk Metropolis within the constrained prior.
    Nested,
    /// The mean likelihood of draws from the prior: a stochastic lower bound, as a rule a very poor one.
    LikelihoodWeighting,
    /// The harmonic mean of the likelihood over draws of the posterior: do not trust it.
    HarmonicMean,
}

/// Estimates with the seconds that they took.
#[derive(Clone, Debug)]
pub struct EvidenceOutput {
    pub result: Evidence,
    pub timing: EvidenceTiming,
}

/// Estimates log p(y).
pub fn evidence(problem: &Problem, options: &EvidenceOptions, session: &Session<'_>) -> Result<EvidenceOutput, Error> {
    check(options)?;
    let begin = Instant::now();
    let prior = PriorReading::read(problem, session)?;
    let mut timing = EvidenceTiming::from([("read".to_owned(), begin.elapsed().as_secs_f64())]);
    let faults = Faults::default();
    let Estimates { mut methods, mut warnings } =
        estimate(options, &prior, session, &faults, &mut timing).map_err(|failure| match failure {
            Failure::Evidence(error) => error.into(),
            Failure::Schedule(error) => error.into(),
            Failure::Infer(error) => {
                let suspicion = problem.values().ok().and_then(|data| problem.suspicion(data));
                problem.context(&faults, suspicion.as_ref()).infer(error)
            }
        })?;
    methods.iter_mut().for_each(|method| method.log_ml -= prior.log_normalising);
    timing.insert("total".to_owned(), begin.elapsed().as_secs_f64());
    warnings.extend(agreement::disagreements(&methods));
    warnings.extend(meaning::remarks(&prior, session));
    let result = Evidence {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: problem.program().file_name(),
        data: problem.data_file_name(),
        seed: session.seed,
        dimension: prior.model.dimension(),
        warnings,
        methods,
    };
    Ok(EvidenceOutput { result, timing })
}

/// What types do not say.
fn check(options: &EvidenceOptions) -> Result<(), Error> {
    if options.tolerance.is_nan() || options.tolerance <= 0.0 {
        return Err(Error::option("tolerance", options.tolerance, "nats must be positive"));
    }
    if !(options.effort >= 0.01 && options.effort <= 1e4) {
        return Err(Error::option("effort", options.effort, "must be between 0.01 and 10000"));
    }
    Ok(())
}

/// Why there is no estimate.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
}

/// What was found, and what to say of it as a whole.
struct Estimates {
    methods: Vec<EvidenceMethod>,
    warnings: Vec<String>,
}

fn estimate(
    options: &EvidenceOptions,
    prior: &PriorReading<'_>,
    session: &Session<'_>,
    faults: &Faults,
    timing: &mut EvidenceTiming,
) -> Result<Estimates, Failure> {
    let mut estimation = Estimation::new(prior, options, session, faults);
    let by_default = options.methods.is_empty();
    let mut wanted = if by_default { estimation.default_methods() } else { options.methods.clone() };
    wanted.sort_unstable();
    wanted.dedup();
    let (mut runs, mut warnings) = (Runs { methods: Vec::new(), timing, session }, Vec::new());
    for method in wanted {
        match runs.run(&mut estimation, method) {
            Err(failure) if by_default && method == Estimator::Smc => {
                warnings.push(without_prior(failure, faults)?);
            }
            other => other?,
        }
    }
    let elsewhere = if runs.have(Estimator::Bridge) || runs.have(Estimator::Importance) {
        let begin = Instant::now();
        let found = estimation.scout()?;
        runs.timing.insert("other starts".to_owned(), begin.elapsed().as_secs_f64());
        found
    } else {
        None
    };
    let second = estimation.second_opinion().or_else(|| elsewhere.as_ref().map(|_| Estimator::Ais));
    warnings.extend(elsewhere);
    if let (true, Some(method)) = (by_default, second)
        && let Err(failure) = runs.run(&mut estimation, method)
    {
        warnings.push(without_prior(failure, faults)?);
    }
    let Runs { mut methods, timing, .. } = runs;
    if by_default {
        let begin = Instant::now();
        let seen = glance(&mut estimation, &methods, prior.model.dimension());
        timing.insert(Estimator::LikelihoodWeighting.name().to_owned(), begin.elapsed().as_secs_f64());
        methods.extend(seen);
    }
    Ok(Estimates { methods, warnings })
}

/// Methods that were run, with their times.
struct Runs<'a> {
    methods: Vec<EvidenceMethod>,
    timing: &'a mut EvidenceTiming,
    session: &'a Session<'a>,
}

impl Runs<'_> {
    fn run(&mut self, estimation: &mut Estimation<'_>, method: Estimator) -> Result<(), Failure> {
        self.session.begin(method.title(), 0, Unit::Transitions);
        let begin = Instant::now();
        self.methods.push(estimation.run(method)?);
        self.timing.insert(method.name().to_owned(), begin.elapsed().as_secs_f64());
        Ok(())
    }

    fn have(&self, method: Estimator) -> bool {
        self.methods.iter().any(|m| m.name == method.name())
    }
}

/// Nobody has asked for the second look, which is taken from the prior: that nothing can be drawn from there, or that the
/// likelihood is 0 there, is no reason to say nothing.
fn without_prior(failure: Failure, faults: &Faults) -> Result<String, Failure> {
    let why = match &failure {
        Failure::Infer(InferError::NoLikelihood { draws, .. }) => {
            format!("the likelihood is 0 at all of {draws} draws from the prior")
        }
        Failure::Infer(InferError::Fatal(_)) if faults.take_draw_at_edge() => {
            "draws from the prior round to the edges of constraints, since it is so wide".to_owned()
        }
        _ => return Err(failure),
    };
    Ok(format!(
        "{why}, so that nothing was estimated from there and a part of the posterior may be missed; a narrower prior helps"
    ))
}

/// Draws of the prior, weighted with the likelihood, know modes that no chain came to, however narrow they are, where data
/// leave much of the prior. They are only told where they contradict what chains say.
fn glance(estimation: &mut Estimation<'_>, methods: &[EvidenceMethod], dimension: usize) -> Option<EvidenceMethod> {
    /// With more parameters hardly any data leave much of the prior.
    const MOST_DIMENSIONS: usize = 30;
    if dimension > MOST_DIMENSIONS || methods.iter().any(|m| m.name == Estimator::LikelihoodWeighting.name()) {
        return None;
    }
    let seen = estimation.run(Estimator::LikelihoodWeighting).ok().filter(|seen| seen.warnings.is_empty())?;
    let contradicts = |m: &EvidenceMethod| !agreement::disagreements(&[m.clone(), seen.clone()]).is_empty();
    methods.iter().any(contradicts).then_some(seen)
}

impl Estimator {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Importance => "importance",
            Self::Smc => "smc",
            Self::Ais => "ais",
            Self::SteppingStone => "stepping-stone",
            Self::Thermodynamic => "thermodynamic",
            Self::Nested => "nested",
            Self::LikelihoodWeighting => "likelihood-weighting",
            Self::HarmonicMean => "harmonic-mean",
        }
    }

    /// What the progress bar says.
    fn title(self) -> &'static str {
        match self {
            Self::Bridge => "Bridge sampling",
            Self::Importance => "Importance sampling",
            Self::Smc => "Sequential Monte Carlo",
            Self::Ais => "Annealed importance sampling",
            Self::SteppingStone => "Stepping stones",
            Self::Thermodynamic => "Thermodynamic integration",
            Self::Nested => "Nested sampling",
            Self::LikelihoodWeighting => "Likelihood weighting",
            Self::HarmonicMean => "Harmonic mean",
        }
    }
}
