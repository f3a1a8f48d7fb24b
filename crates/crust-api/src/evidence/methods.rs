//! Runs the estimators of `crust_infer::evidence` on a Stan program. What several of them need is made once.

mod path;
mod posterior;
mod scouts;

use super::prior::PriorReading;
use super::{Estimator, EvidenceOptions, Failure};
use crate::error::{EvidenceError, Faults};
use crate::session::Session;
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::result::EvidenceMethod;
use crust_diagnose::summary::Number;
use crust_engine::Simulator;
use crust_infer::anneal::TunedKernels;
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error as InferError;
use crust_infer::evidence::{Shared, Stones};
use crust_math::random::{Purpose, StreamKey};
use posterior::Fit;
use std::collections::BTreeMap;

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
    Scouts,
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
    kernels: Option<TunedKernels>,
    fit: Option<Fit>,
    stones: Option<Stones>,
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
            kernels: None,
            fit: None,
            stones: None,
        }
    }

    /// Bridge sampling with a bound beside it, and one that starts at the prior, so that it also finds what chains
    /// missed; where it is not known what the prior integrates to, what does not need that.
    pub fn default_methods(&self) -> Vec<Estimator> {
        match self.loaded.log_prior_integral {
            Some(_) => vec![Estimator::Bridge, Estimator::Importance, Estimator::Smc],
            None => vec![Estimator::SteppingStone, Estimator::Smc],
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

    /// log of what the prior density integrates to, or why a method that needs it cannot run.
    fn needed_normaliser(&self, method: Estimator) -> Found<f64> {
        let unknown = || EvidenceError::NoNormaliser { method: method.name() };
        Ok(self.loaded.log_prior_integral.ok_or_else(unknown)?)
    }
}

fn draw(simulator: &mut Simulator, key: StreamKey, faults: &Faults) -> Result<Vec<f64>, InferError> {
    simulator.draw_parameters(None, key).map_err(|error| InferError::from(faults.raise(error)))
}

/// Settings and diagnostics as results have them.
fn named(details: BTreeMap<&'static str, f64>) -> BTreeMap<String, Number> {
    details.into_iter().map(|(name, value)| (name.to_owned(), Number(value))).collect()
}

/// Weights that vary so much that their own variation cannot be believed.
fn wide(se: f64) -> Vec<String> {
    if se <= EvidenceMethod::MOST_ERROR {
        return Vec::new();
    }
    vec!["the weights vary so much that the standard error is not to be believed; raise --effort".to_owned()]
}
