//! `crust approximate`: a distribution that stands for the posterior, with its ELBO and k-hat.

mod draws;
mod fit;

use fit::fit_so_far;
pub(crate) use fit::{Fitted, Wanted, bounds, fit, k_hat};

use crate::error::{Error, Faults, Refusal};
use crate::problem::Problem;
use crate::session::{Session, Unit};
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::result::{Approximate, Bounds, ElboStep};
use crust_diagnose::wasserstein::ErrorBounds;
use crust_engine::Model;
use crust_infer::approximate::Error as ApproximateError;
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::approximate::family::Document;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// How the posterior is approximated, on the unconstrained scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApproximationChoice {
    /// A normal distribution without correlations that maximises the ELBO.
    Meanfield,
    /// A normal distribution that maximises the ELBO.
    #[default]
    Fullrank,
    /// The same with Student's t distribution, its degrees of freedom chosen by the ELBO.
    StudentT,
    /// A normal distribution whose covariance is diagonal plus one of this rank.
    Lowrank(NonZero<usize>),
    /// The normal distribution with the mode and the curvature of the posterior.
    Laplace,
    /// The best normal distribution on the way of an optimiser.
    Pathfinder,
    /// Several of those as a mixture.
    MultiPathfinder,
}

impl ApproximationChoice {
    pub fn name(self) -> &'static str {
        match self {
            Self::Meanfield => "meanfield",
            Self::Fullrank => "fullrank",
            Self::StudentT => "student-t",
            Self::Lowrank(_) => "lowrank",
            Self::Laplace => "laplace",
            Self::Pathfinder => "pathfinder",
            Self::MultiPathfinder => "multi-pathfinder",
        }
    }
}

/// Options of `approximate`.
#[derive(Clone, Debug)]
pub struct ApproximateOptions {
    pub method: ApproximationChoice,
    /// Starting points are uniform within ± this on the unconstrained scale.
    pub radius: f64,
    /// How many draws are written.
    pub draws: NonZero<usize>,
    /// A folder for draws of all quantities: `draws.csv` in the form that `CmdStan` gives its own, and `draws.zarr`.
    pub folder: Option<PathBuf>,
}

impl Default for ApproximateOptions {
    fn default() -> Self {
        Self {
            method: ApproximationChoice::default(),
            radius: 2.0,
            draws: NonZero::new(1000).unwrap_or(NonZero::<usize>::MIN),
            folder: None,
        }
    }
}

/// Where to start is the first thing to try.
const HINT: &str = "try a number below 2, such as `--init 0.1`";

/// Approximates the posterior.
pub fn approximate(
    problem: &Problem,
    options: &ApproximateOptions,
    session: &Session<'_>,
) -> Result<Approximate, Error> {
    check_radius(options.radius)?;
    let model = bind(problem, session)?;
    with_evaluations(problem, &model, session, |evaluations| {
        session.begin("Fitting the approximation", 0, Unit::Transitions);
        evaluations.prepare()?;
        let begin = Instant::now();
        let wanted = Wanted { method: options.method, radius: options.radius, seed: session.seed };
        let fitted = fit_so_far(evaluations, wanted)?;
        let seconds = begin.elapsed().as_secs_f64();
        let gradients = evaluations.count();
        if let Some(folder) = &options.folder {
            // What there is is written, also after the user has ended the fit.
            evaluations.be_patient(true);
            draws::write(folder, options, &fitted, evaluations, problem, &model, session.seed)?;
        }
        // Ended now, the fit is still there.
        evaluations.be_patient(true);
        let (k_hat, bounds) = (fitted.k_hat(), fitted.bounds(&[], &[]));
        let errors = fitted.errors(evaluations, session.seed, k_hat, &bounds)?;
        Ok(result(options.method, (problem, &model), fitted, Judged { k_hat, bounds, errors, gradients, seconds }))
    })
}

/// What is said of a fit, and what it took.
struct Judged {
    k_hat: Option<f64>,
    bounds: Bounds,
    errors: Option<ErrorBounds>,
    gradients: u64,
    seconds: f64,
}

fn result(
    method: ApproximationChoice,
    (problem, model): (&Problem, &Arc<Model>),
    fitted: Fitted,
    Judged { k_hat, bounds, errors, gradients, seconds }: Judged,
) -> Approximate {
    let names = model.unconstrained_names();
    let notes = fitted.doubt(&names).into_iter().chain(fitted.caution(&names)).collect();
    let Document { names, mean, sd, covariance, degrees } =
        Document::new(fitted.moments(), model.unconstrained_names());
    Approximate {
        model: problem.program().file_name(),
        data: problem.data_file_name().unwrap_or_default(),
        method: method.name().to_owned(),
        names,
        mean,
        sd: sd.unwrap_or_default(),
        covariance,
        degrees,
        elbo: fitted.elbo.value,
        elbo_se: fitted.elbo.standard_error,
        k_hat,
        bounds,
        errors,
        gradients,
        seconds,
        fit_seconds: fitted.fit_seconds.unwrap_or(seconds),
        converged: fitted.converged,
        partial: fitted.interrupted,
        convergence: fitted.words,
        notes,
        iterations: fitted.iterations,
        trace: fitted.trace.iter().map(|step| ElboStep { gradients: step.gradients, elbo: step.elbo }).collect(),
    }
}

pub(crate) fn check_radius(radius: f64) -> Result<(), Error> {
    if radius.is_finite() && radius >= 0.0 {
        return Ok(());
    }
    Err(Error::option("init", radius, "the radius of initial values must be finite and not negative"))
}

/// A program with parameters, bound to its data.
pub(crate) fn bind(problem: &Problem, session: &Session<'_>) -> Result<Arc<Model>, Error> {
    let model = problem.model(session.seed)?;
    session.printed(&model.messages);
    if model.dimension() == 0 {
        return Err(Refusal::NoParameters { program: problem.program().name().to_owned() }.into());
    }
    Ok(model)
}

/// What can go wrong in a fit, or in chains that start at one.
#[derive(Debug)]
pub(crate) enum Failure {
    Approximate(ApproximateError),
    Other(Error),
}

impl From<ApproximateError> for Failure {
    fn from(error: ApproximateError) -> Self {
        Self::Approximate(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Does something with the density of a program, with all constants: the ELBO is then a bound on log p(y).
pub(crate) fn with_evaluations<R>(
    problem: &Problem,
    model: &Arc<Model>,
    session: &Session<'_>,
    run: impl FnOnce(&mut Evaluations<'_, StanTarget<'_>>) -> Result<R, Failure>,
) -> Result<R, Error> {
    let faults = Faults::default();
    let target = StanTarget::path(model, problem.program().text(), Evaluation::of_many(model)).reporting_to(&faults);
    let mut evaluations = Evaluations::new(&target, session.parallelism(), session.stop.control());
    match run(&mut evaluations) {
        Ok(found) => Ok(found),
        Err(Failure::Other(error)) => Err(error),
        Err(Failure::Approximate(error)) => {
            let suspicion = problem.suspicion(problem.values()?);
            Err(problem.context(&faults, suspicion.as_ref()).approximate(error, HINT, &model.unconstrained_names()))
        }
    }
}
