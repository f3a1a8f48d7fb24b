//! The experiments of the TADDAA paper: mean-field approximations of distributions whose truth is known, and the lower
//! bounds on their errors that short chains of several kinds and lengths give.

mod cancer;
mod candy;
mod known;
mod long_run;
mod table;

use crate::approximate::{ApproximateOptions, ApproximationChoice, approximate};
use crate::error::Error;
use crate::problem::{Problem, Source};
use crate::session::{Part, Session};
use crate::taddaa::{ShortKernel, Subject, TaddaaOptions};
pub(crate) use candy::FEATURES;
use crust_diagnose::result::{TaddaaBound, TaddaaFunctional, TaddaaReference, TaddaaRun, TaddaaTable, TaddaaTarget};
use std::num::NonZero;

/// Which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaddaaExperiment {
    /// Section 4.1: a normal distribution with correlations.
    Gaussian,
    /// Section 4.2: Neal's funnel.
    Funnel,
    /// A curved distribution in two dimensions.
    Banana,
    /// Section 4.3: logistic regression on candies.
    Candy,
    /// Section 4.4: a horseshoe prior on the expression of genes.
    Cancer,
    /// Section 4.5: a neural network on candies.
    Bnn,
}

impl TaddaaExperiment {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "taddaa-gaussian",
            Self::Funnel => "taddaa-funnel",
            Self::Banana => "taddaa-banana",
            Self::Candy => "taddaa-candy",
            Self::Cancer => "taddaa-cancer",
            Self::Bnn => "taddaa-bnn",
        }
    }
}

/// Options of these experiments.
#[derive(Clone, Debug)]
pub struct TaddaaExperimentOptions {
    /// Of the normal distribution and of the funnel. Kernels and lengths are compared in the one that is closest to 30,
    /// where the paper does so.
    pub dimensions: Vec<NonZero<usize>>,
    /// The table of candies, which may not be passed on, or of leukemia patients, which is not part of crust.
    pub data: Option<Source>,
}

impl Default for TaddaaExperimentOptions {
    fn default() -> Self {
        Self { dimensions: [2, 10, 30, 100].into_iter().filter_map(NonZero::new).collect(), data: None }
    }
}

/// A distribution, and what is asked about it.
struct Target {
    problem: Problem,
    questions: Vec<Question>,
    /// Where the truth comes from, unless it is known exactly.
    reference: Option<TaddaaReference>,
    /// Whether kernels and lengths are compared, or Barker's proposal is all.
    compares: bool,
}

/// A functional with its true value.
#[derive(Clone)]
struct Question {
    functional: String,
    truth: f64,
    truth_se: f64,
}

impl Question {
    /// A truth that is known exactly.
    fn exact(functional: &str, truth: f64) -> Self {
        Self { functional: functional.to_owned(), truth, truth_se: 0.0 }
    }
}

/// A kind of short chains, and their length as a multiple of that of equations 7 and 8, in quarters.
type Plan = (ShortKernel, usize);

/// Four kernels, then lengths of the one that the paper recommends.
const COMPARISON: [Plan; 7] = [
    (ShortKernel::Barker, 4),
    (ShortKernel::Rwmh, 4),
    (ShortKernel::Mala, 4),
    (ShortKernel::Hmc, 4),
    (ShortKernel::Barker, 1),
    (ShortKernel::Barker, 2),
    (ShortKernel::Barker, 8),
];

/// Runs an experiment; each distribution is told as a [`Part`]. A run that was stopped keeps what is finished.
pub fn taddaa(
    experiment: TaddaaExperiment,
    options: &TaddaaExperimentOptions,
    session: &Session<'_>,
) -> Result<TaddaaTable, Error> {
    let mut table = TaddaaTable {
        experiment: experiment.name().to_owned(),
        seed: session.seed,
        partial: false,
        targets: Vec::new(),
    };
    let data = options.data.as_ref();
    let targets = match experiment {
        TaddaaExperiment::Gaussian => known::gaussian(&options.dimensions)?,
        TaddaaExperiment::Funnel => known::funnel(&options.dimensions)?,
        TaddaaExperiment::Banana => known::banana()?,
        TaddaaExperiment::Candy => vec![candy::regression(data, session)?],
        TaddaaExperiment::Cancer => vec![cancer::regression(data, session)?],
        TaddaaExperiment::Bnn => vec![candy::network(data, session)?],
    };
    let result = targets.into_iter().try_for_each(|target| add(&mut table, target, session));
    match result {
        Ok(()) => Ok(table),
        Err(Error::Interrupted) if !table.targets.is_empty() => Ok(TaddaaTable { partial: true, ..table }),
        Err(error) => Err(error),
    }
}

/// Judges one distribution.
fn add(table: &mut TaddaaTable, target: Target, session: &Session<'_>) -> Result<(), Error> {
    let found = judge(target, session)?;
    session.observer.part(&Part::Taddaa(&found))?;
    table.targets.push(found);
    Ok(())
}

/// Fits a mean-field approximation, as the paper does, and sends chains off from it.
fn judge(target: Target, session: &Session<'_>) -> Result<TaddaaTarget, Error> {
    let Target { problem, questions, reference, compares } = target;
    let method = ApproximationChoice::Meanfield;
    let fit = approximate(&problem, &ApproximateOptions { method, ..ApproximateOptions::default() }, session)?;
    if fit.partial {
        return Err(Error::Interrupted);
    }
    let subject = Subject::Approximation(Source::text("the mean-field approximation", serde_json::to_string(&fit)?));
    let functionals: Vec<String> = questions.iter().map(|question| question.functional.clone()).collect();
    let dimension = fit.mean.len();
    let plans = if compares { &COMPARISON[..] } else { &COMPARISON[..1] };
    let (mut runs, mut approximations) = (Vec::new(), Vec::new());
    for (kernel, quarters) in plans {
        let options = TaddaaOptions {
            subject: subject.clone(),
            functionals: functionals.clone(),
            kernel: *kernel,
            iterations: NonZero::new(kernel.iterations(dimension) * quarters / 4),
            published: true,
            divergence: false,
            ..TaddaaOptions::default()
        };
        let found = crate::taddaa::taddaa(&problem, &options, session)?.result;
        if found.partial {
            return Err(Error::Interrupted);
        }
        // All runs compute it from the same draws.
        approximations = found.found.functionals.iter().map(|judged| judged.approximation).collect();
        runs.push(TaddaaRun {
            kernel: found.kernel,
            chains: found.found.chains,
            iterations: found.found.iterations,
            rho2_max: found.found.rho2_max,
            gradients: found.gradients,
            bounds: found
                .found
                .functionals
                .iter()
                .map(|judged| TaddaaBound {
                    improved: judged.improved,
                    lower_bound: judged.lower_bound,
                    simultaneous_lower_bound: judged.simultaneous_lower_bound,
                })
                .collect(),
        });
    }
    let functionals = questions.into_iter().zip(approximations).map(|(question, approximation)| TaddaaFunctional {
        name: question.functional,
        truth: question.truth,
        truth_se: question.truth_se,
        approximation,
        error: (approximation - question.truth).abs(),
    });
    Ok(TaddaaTarget {
        dimension,
        method: method.name().to_owned(),
        fit_gradients: fit.gradients,
        converged: fit.converged,
        k_hat: fit.k_hat,
        reference,
        functionals: functionals.collect(),
        runs,
    })
}
