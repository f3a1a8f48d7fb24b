//! What data are simulated with, and what can be read of a program for it: the joint distribution, its likelihood alone,
//! its likelihood with censored observations as weights, or nothing.

use super::BreadOptions;
use crate::error::{Error, Refusal};
use crate::generative::{Generation, Generative, Outcomes};
use crate::problem::Problem;
use crate::session::{Message, Nobody, Session};
use crust_diagnose::result::{Simulated, Simulation};
use std::time::{Duration, Instant};

/// What is said where censored observations stay as they are.
const CENSORED: &str = "observations that are not censored can be longer in simulated data than in the real ones";

const WEIGHTS: &str = "censored observations stay as they are, and weigh parameters";

const ASKED: &str = "it was asked for";

/// The share of the budget after which data that have to be drawn from the values of a likelihood are given up. To draw
/// them takes about as long again, many times over.
const SHARE: f64 = 0.12;

/// A problem as it was read.
pub(super) struct Basis<'a> {
    pub loaded: Generative<'a>,
    pub simulation: Simulated,
    /// Why simulated data are not to be compared with the real ones, if they are not.
    pub incomparable: Option<String>,
}

/// What data would be simulated with, and why, or why that cannot be.
pub(crate) fn rests_on(problem: &Problem, session: &Session<'_>) -> Result<Simulated, Error> {
    let options = BreadOptions::default();
    let censored = censored(problem, &options);
    Ok(Basis::find((problem, censored.as_ref()), &options, session)?.simulation)
}

/// The problem with censored observations as weights, if it has any and these could be of use.
///
/// Given that some observations are censored and when, the others are drawn anew: θ* is an exact draw of
/// p(θ) R(θ) p(y | θ) p(y′ | θ), where R is the probability of what is censored.
pub(super) fn censored(problem: &Problem, options: &BreadOptions) -> Option<Problem> {
    let supplied = options.annealing.generation.simulator.is_some();
    let wanted = options.kind().0 == Simulation::Conditional && !supplied;
    problem.with_censored_weights().filter(|_| wanted)
}

impl<'a> Basis<'a> {
    /// The best that there is: everything, everything but what is censored, nothing.
    pub fn find(
        (problem, censored): (&'a Problem, Option<&'a Problem>),
        options: &BreadOptions,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        if options.kind().0 == Simulation::Nothing {
            return Self::nothing(problem, ASKED, options, session);
        }
        let until = options.budget.filter(|_| options.may_simulate_nothing());
        let until = until.map(|budget| Instant::now() + Duration::from_secs_f64(SHARE * budget));
        match Self::drawn((problem, censored), options, until, session) {
            Err(error) if options.may_simulate_nothing() && is_about_data(&error) => {
                Self::without(problem, &error, options, session)
            }
            other => other,
        }
    }

    /// What data can be drawn with: everything, or everything but what is censored.
    pub fn drawn(
        (problem, censored): (&'a Problem, Option<&'a Problem>),
        options: &BreadOptions,
        until: Option<Instant>,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        let quiet = Session { observer: &Nobody, ..session.clone() };
        let first = read(problem, options, until, if censored.is_some() { &quiet } else { session });
        let fine = first.as_ref().is_ok_and(|(loaded, _)| loaded.only_near.is_none());
        if let Some(censored) = censored.filter(|_| !fine)
            && let Ok((loaded, simulation)) = read(censored, options, until, session)
        {
            let simulation = Simulated { why: WEIGHTS.to_owned(), has_log_ml: false, ..simulation };
            return Ok(Self { loaded, simulation, incomparable: Some(CENSORED.to_owned()) });
        }
        let (loaded, simulation) = first?;
        Ok(Self { loaded, simulation, incomparable: None })
    }

    /// The real data alone, since none can be simulated.
    pub fn without(
        problem: &'a Problem,
        error: &Error,
        options: &BreadOptions,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        let reason = reason(error);
        let mut basis = Self::nothing(problem, &format!("no data can be simulated: {reason}"), options, session)?;
        // A term may be missing, which is worth more than a remark.
        if let Error::Reading { problems, .. } = error
            && problems.iter().any(|problem| problem.code == "not-a-density")
        {
            session.message(Message::Note(&reason));
            basis.incomparable = Some(reason);
        }
        Ok(basis)
    }

    fn nothing(problem: &'a Problem, why: &str, options: &BreadOptions, session: &Session<'_>) -> Result<Self, Error> {
        let how = Generation { nothing_drawn: true, ..options.annealing.generation.clone() };
        let loaded = Generative::read(problem, &how, Outcomes::Given, session)?;
        let simulation = Simulated { kind: Simulation::Nothing, why: why.to_owned(), has_log_ml: false };
        Ok(Self { loaded, simulation, incomparable: Some("none were simulated".to_owned()) })
    }
}

impl BreadOptions {
    /// Whether a verdict may rest on the real data alone: nobody has said how data are to be simulated.
    pub(super) fn may_simulate_nothing(&self) -> bool {
        let supplied = self.annealing.generation.simulator.is_some();
        self.simulate.is_none() && self.kind().0 == Simulation::Conditional && !supplied
    }
}

/// Whether the trouble is that no data can be drawn, so that everything else may go on. A program need not have data: a
/// density by itself can be sampled, and data may be written into the program, or mixed with parameters before they have
/// a distribution.
fn is_about_data(error: &Error) -> bool {
    matches!(error, Error::Reading { .. } | Error::Simulate { .. } | Error::Refused(Refusal::NoOutcome))
}

/// An error in a line.
fn reason(error: &Error) -> String {
    match error {
        Error::Reading { problems, .. } => problems.first().map(|problem| problem.message.clone()),
        Error::Simulate { error, .. } => Some(error.to_string()),
        _ => None,
    }
    .unwrap_or_else(|| "no data have a distribution of their own".to_owned())
}

/// The program as a joint distribution if it can be had, else its likelihood alone where that is enough.
fn read<'a>(
    problem: &'a Problem,
    options: &BreadOptions,
    until: Option<Instant>,
    session: &Session<'_>,
) -> Result<(Generative<'a>, Simulated), Error> {
    let (kind, why) = options.kind();
    let sample_prior = kind == Simulation::Prior;
    let how = &Generation { sample_prior, until, ..options.annealing.generation.clone() };
    let told = |kind: Simulation, why: String, has_log_ml: bool| Simulated { kind, why, has_log_ml };
    let whole = Generative::read(problem, how, Outcomes::Given, session);
    let trouble = match whole {
        Ok(loaded) => {
            let has_log_ml = loaded.log_prior_integral.is_some();
            return Ok((loaded, told(kind, why.to_owned(), has_log_ml)));
        }
        Err(trouble) if kind != Simulation::Conditional => return Err(trouble),
        Err(trouble) => trouble,
    };
    let alone = Generation { likelihood_only: true, ..how.clone() };
    let quiet = Session { observer: &Nobody, ..session.clone() };
    let loaded = Generative::read(problem, &alone, Outcomes::Given, &quiet)?;
    if let Some(far) = loaded.only_near {
        return Ok((loaded, told(kind, far.why().to_owned(), false)));
    }
    let why = match &trouble {
        Error::Reading { .. } | Error::Simulate { .. } => {
            format!("parameters cannot be drawn from the prior: {}", reason(&trouble))
        }
        _ => "parameters cannot be drawn from the prior".to_owned(),
    };
    Ok((loaded, told(kind, why, false)))
}
