//! A Stan program as a target of samplers and of annealing.

use crate::error::Faults;
use crate::session::{Message, Observer};
use crust_engine::{Batch as EngineBatch, EngineError, Evaluator, Model, Terms, WIDEST};
use crust_infer::target::{Batch, Fatal, Target, tempered};
use crust_stan::source::Source;
use std::sync::Arc;

/// Chains that run side by side in the lanes of a vector register.
const LANES: usize = 8;

/// How chains are evaluated: the last digits of a density may depend on it, so that it is decided for a whole run. The
/// numbers of a chain are then the same however chains are batched and spread over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// Each for itself: vector registers hold several observations of one chain.
    OneByOne,
    /// In groups of eight, which are filled up: vector registers hold several chains.
    SideBySide,
}

impl Evaluation {
    /// What is best for a program and a number of chains. Groups that are not full cost as much as full ones: most cost
    /// two to four times as much as a chain alone, and a thread may have only one or two chains. So few chains run alone
    /// unless a group takes little longer than one of them, if the digits are the same as in a group. Where parameters
    /// decide which way a program goes, groups would be taken apart again and again.
    ///
    /// That digits agree is tried at some points, not known at all: it never decides within a run.
    pub fn of(model: &Arc<Model>, chains: usize) -> Self {
        let alone = |cost: Cost| cost.parts || (chains < LANES && !cost.thin && model.lanes_agree());
        if probe(model).is_some_and(alone) { Self::OneByOne } else { Self::SideBySide }
    }

    /// What is best for more chains than fit in a vector register.
    pub fn of_many(model: &Arc<Model>) -> Self {
        Self::of(model, LANES)
    }

    fn width(self) -> usize {
        match self {
            Self::OneByOne => 1,
            Self::SideBySide => WIDEST,
        }
    }
}

/// Log prior and log likelihood of a program on its unconstrained parameters.
pub struct StanTarget<'a> {
    evaluator: Evaluator,
    source: &'a Source,
    terms: Terms,
    evaluation: Evaluation,
    /// Who is told what the program prints, if anybody is.
    printer: Option<&'a dyn Observer>,
    /// Where mistakes in the program are left.
    faults: Faults,
    /// Of the last batch, to tell why a lane was rejected.
    densities: Vec<f64>,
    hyperparameters: Arc<[usize]>,
    /// What is subtracted from the log prior.
    log_prior_integral: f64,
}

impl<'a> StanTarget<'a> {
    /// As Stan's samplers see a program: constants do not matter, and `lp__` is without them.
    pub fn posterior(
        model: &Arc<Model>,
        source: &'a Source,
        evaluation: Evaluation,
        printer: Option<&'a dyn Observer>,
    ) -> Self {
        Self::new(model, source, Terms { propto: true, jacobian: true }, evaluation, printer)
    }

    /// The path from prior to posterior: normalising constants belong to the marginal likelihood. What the program
    /// prints would be printed millions of times.
    pub fn path(model: &Arc<Model>, source: &'a Source, evaluation: Evaluation) -> Self {
        Self::new(model, source, Terms { propto: false, jacobian: true }, evaluation, None)
    }

    fn new(
        model: &Arc<Model>,
        source: &'a Source,
        terms: Terms,
        evaluation: Evaluation,
        printer: Option<&'a dyn Observer>,
    ) -> Self {
        let evaluator = model.evaluator().with_width(evaluation.width());
        let (faults, hyperparameters) = (Faults::default(), Arc::new([]) as Arc<[usize]>);
        Self {
            evaluator,
            source,
            terms,
            evaluation,
            printer,
            faults,
            densities: Vec::new(),
            hyperparameters,
            log_prior_integral: 0.0,
        }
    }

    /// Divides the prior by what it integrates to.
    pub fn with_prior_integral(mut self, log_integral: f64) -> Self {
        self.log_prior_integral = log_integral;
        self
    }

    /// Leaves mistakes in the program there.
    pub fn reporting_to(mut self, faults: &Faults) -> Self {
        self.faults = faults.clone();
        self
    }

    /// Log priors at some points.
    pub fn log_priors(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>, EngineError> {
        let mut batch = Batch::default();
        batch.resize(self.dimension(), points.len(), false);
        batch.beta.fill(1.0);
        batch.place(points);
        self.fill(&mut batch)?;
        Ok(batch.log_prior)
    }

    /// Log priors and log likelihoods together.
    pub fn log_densities(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>, EngineError> {
        let mut batch = Batch::default();
        batch.resize(self.dimension(), points.len(), false);
        batch.beta.fill(1.0);
        batch.place(points);
        self.fill(&mut batch)?;
        Ok(batch.log_prior.iter().zip(&batch.log_likelihood).map(|(a, b)| a + b).collect())
    }

    /// Whether another target has the same prior at some points: it may look at the outcomes.
    pub fn states_prior_of(&mut self, other: &mut Self, points: &[Vec<f64>]) -> bool {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()) || a.to_bits() == b.to_bits();
        let (own, others) = (self.log_priors(points).unwrap_or_default(), other.log_priors(points).unwrap_or_default());
        own.iter().zip(&others).all(near)
    }

    /// Evaluates, without a word about why lanes are rejected.
    fn fill(&mut self, batch: &mut Batch) -> Result<(), EngineError> {
        let mut lanes = EngineBatch {
            lanes: batch.lanes,
            points: &batch.x,
            beta: Some(&batch.beta),
            log_prior: &mut batch.log_prior,
            log_likelihood: &mut batch.log_likelihood,
            gradient: &mut batch.gradient,
        };
        self.evaluator.evaluate(&mut lanes, self.terms)
    }

    /// Tells which parameters the priors of others depend on.
    pub fn with_hyperparameters(mut self, names: &[String]) -> Self {
        let stem = |name: &str| name.split(['[', '.']).next().unwrap_or_default().to_owned();
        let all = self.evaluator.model().unconstrained_names();
        let known = all.iter().enumerate().filter(|(_, name)| names.contains(&stem(name)));
        self.hyperparameters = known.map(|(i, _)| i).collect();
        self
    }
}

/// What an evaluation is like.
struct Cost {
    /// Whether a group of chains takes little longer than one.
    thin: bool,
    /// Whether it has to look at chains one by one.
    parts: bool,
}

/// Tries an evaluation, where the program can be evaluated at 0.
fn probe(model: &Arc<Model>) -> Option<Cost> {
    let mut evaluator = model.evaluator().with_width(1);
    let (points, mut gradient) = (vec![0.0; model.dimension()], vec![0.0; model.dimension()]);
    let mut batch = EngineBatch {
        lanes: 1,
        points: &points,
        beta: None,
        log_prior: &mut [0.0],
        log_likelihood: &mut [0.0],
        gradient: &mut gradient,
    };
    for _ in 0..2 {
        evaluator.evaluate(&mut batch, Terms { propto: true, jacobian: true }).ok()?;
    }
    evaluator.take_messages();
    Some(Cost { thin: evaluator.is_thin(), parts: evaluator.parts_lanes() })
}

impl Clone for StanTarget<'_> {
    fn clone(&self) -> Self {
        let (hyperparameters, faults) = (Arc::clone(&self.hyperparameters), self.faults.clone());
        Self {
            faults,
            hyperparameters,
            log_prior_integral: self.log_prior_integral,
            ..Self::new(self.evaluator.model(), self.source, self.terms, self.evaluation, self.printer)
        }
    }
}

impl Target for StanTarget<'_> {
    fn dimension(&self) -> usize {
        self.evaluator.model().dimension()
    }

    fn hyperparameters(&self) -> Vec<usize> {
        self.hyperparameters.to_vec()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        self.fill(batch).map_err(|error| self.faults.raise(error))?;
        batch.log_prior.iter_mut().for_each(|log_prior| *log_prior -= self.log_prior_integral);
        self.densities.clear();
        let parts = batch.log_prior.iter().zip(&batch.log_likelihood).zip(&batch.beta);
        self.densities.extend(parts.map(|((&prior, &likelihood), &beta)| tempered(prior, likelihood, beta)));
        let printed = self.evaluator.take_messages();
        if let Some(printer) = self.printer {
            printed.iter().for_each(|line| printer.message(&Message::PrintedInPassing(line)));
        }
        Ok(())
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        if let Some(rejection) = self.evaluator.rejections().get(lane)? {
            let line = self.source.location(rejection.span).line;
            return Some(format!("{}, line {line}", rejection.message));
        }
        let value = self.densities.get(lane)?;
        (!value.is_finite()).then(|| format!("the log density is {value}"))
    }
}
