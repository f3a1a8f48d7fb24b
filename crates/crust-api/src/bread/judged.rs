//! Draws that the user gives as the fit are judged themselves: annealing ends near the posterior wherever its reference
//! begins, so that its bound says nothing about them.

use super::BreadOptions;
use crate::error::Error;
use crate::problem::Problem;
use crate::session::{Message, Session};
use crate::taddaa::{Subject, TaddaaOptions, taddaa};
use crust_diagnose::taddaa::Level;
use crust_engine::{Batch, Model, Terms};
use std::sync::Arc;
use std::time::Instant;

/// About as many gradients as short chains take.
const GRADIENTS: f64 = 250_000.0;
/// The share of the budget that they may take.
const SHARE: f64 = 0.3;
/// Chains that are evaluated together.
const LANES: usize = 64;

/// What is known of the draws.
#[derive(Clone, Debug, Default)]
pub struct JudgedDraws {
    /// What is wrong with them, in a sentence.
    pub wrong: Option<String>,
    /// Why they were not judged.
    pub open: Option<String>,
}

/// Starts short chains at the draws, if there is time for that: what these move away from is no posterior.
pub(super) fn judge(
    problem: &Problem,
    options: &BreadOptions,
    model: &Arc<Model>,
    session: &Session<'_>,
) -> Result<JudgedDraws, Error> {
    let threads = f64::from(u32::try_from(session.threads().get()).unwrap_or(u32::MAX));
    let seconds = GRADIENTS * seconds_of_a_gradient(model) / threads;
    if options.budget.is_some_and(|budget| seconds > SHARE * budget) {
        let why = "short chains that would judge its draws themselves take too long (`crust taddaa --draws` runs them)";
        return Ok(JudgedDraws { open: Some(why.to_owned()), ..JudgedDraws::default() });
    }
    session.message(Message::Stage("Judging the draws by short chains that start there"));
    let subject = Subject::Draws(options.draws.clone());
    let options = TaddaaOptions { subject, divergence: false, ..TaddaaOptions::default() };
    let found = match taddaa(problem, &options, session) {
        Ok(found) => found.result,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => {
            return Ok(JudgedDraws {
                open: Some(format!("its draws were not judged: {error}")),
                ..JudgedDraws::default()
            });
        }
    };
    Ok(match found.found.verdict.level {
        Level::Good => JudgedDraws::default(),
        Level::Bad => JudgedDraws { wrong: Some(found.found.verdict.sentence), ..JudgedDraws::default() },
        Level::Unknown => {
            let open = format!("short chains from its draws are not conclusive: {}", found.found.verdict.sentence);
            JudgedDraws { open: Some(open), ..JudgedDraws::default() }
        }
    })
}

/// For one chain among many, at 0.
#[expect(clippy::cast_precision_loss, reason = "few")]
fn seconds_of_a_gradient(model: &Arc<Model>) -> f64 {
    let n = model.dimension() * LANES;
    let (points, mut gradient) = (vec![0.1; n], vec![0.0; n]);
    let (mut log_prior, mut log_likelihood) = (vec![0.0; LANES], vec![0.0; LANES]);
    let mut evaluator = model.evaluator();
    let mut evaluate = || {
        let begin = Instant::now();
        let mut batch = Batch {
            lanes: LANES,
            points: &points,
            beta: None,
            log_prior: &mut log_prior,
            log_likelihood: &mut log_likelihood,
            gradient: &mut gradient,
        };
        // A mistake in the program shows where it is run in earnest.
        let _ = evaluator.evaluate(&mut batch, Terms::default());
        begin.elapsed().as_secs_f64() / LANES as f64
    };
    // the first ones find out how to run the program
    (0..4).map(|_| evaluate()).fold(f64::INFINITY, f64::min)
}
