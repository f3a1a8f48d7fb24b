//! Posteriors of programs, whose truth is that of a long run of NUTS.

use super::{Question, Target};
use crate::error::{Error, SubjectError};
use crate::problem::Problem;
use crate::sample::{SampleOptions, sample};
use crate::session::Session;
use crust_diagnose::convergence::{ess_bulk, mcse_mean, mcse_quantile, mcse_sd, rhat};
use crust_diagnose::draws::Draws;
use crust_diagnose::result::TaddaaReference;
use crust_diagnose::taddaa::functional::{Kind, NotAFunctional, Request, estimate};

/// A posterior with what draws of it say about the functionals.
pub(super) fn target(
    problem: Problem,
    functionals: &[&str],
    options: &SampleOptions,
    session: &Session<'_>,
) -> Result<Target, Error> {
    let truth = sample(&problem, options, session)?;
    if truth.result.interrupted {
        return Err(Error::Interrupted);
    }
    let mut reference = TaddaaReference {
        chains: truth.result.chains,
        draws: truth.result.draws,
        r_hat: 1.0,
        ess: f64::INFINITY,
        divergences: truth.result.divergences,
        gradients: truth.result.gradients,
    };
    let questions =
        functionals.iter().map(|text| question(text, &truth.draws, &mut reference)).collect::<Result<_, _>>()?;
    Ok(Target { problem, questions, reference: Some(reference), compares: true })
}

/// The truth as draws have it, with its Monte Carlo error. How good the draws are is added to what is known of them.
fn question(text: &str, draws: &Draws, reference: &mut TaddaaReference) -> Result<Question, Error> {
    let request: Request = text.parse().map_err(|error: NotAFunctional| Error::subject(error.into()))?;
    let missing = || SubjectError::NotThere { functional: text.to_owned() };
    let chains = draws.named(&request.quantity).ok_or_else(|| Error::subject(missing()))?;
    let kind = request.functional.kind;
    let values = chains.concat();
    let truth_se = match kind {
        Kind::Quantile(p) => mcse_quantile(&chains, p),
        // By the delta method: log s² = 2 log s.
        Kind::LogVariance => 2.0 * mcse_sd(&chains) / estimate(Kind::Deviation, &values, None),
        _ => mcse_mean(&chains),
    };
    reference.r_hat = reference.r_hat.max(rhat(&chains));
    reference.ess = reference.ess.min(ess_bulk(&chains));
    Ok(Question { functional: text.to_owned(), truth: estimate(kind, &values, None), truth_se })
}
