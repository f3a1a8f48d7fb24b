//! What data are simulated with, and what can be read of a program for it: the joint distribution, its likelihood alone,
//! the same with transformed data as data or with censored observations as weights, or nothing.

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

/// What data would be simulated with, and why, or why that cannot be; and whether that depends on where the posterior is.
pub(crate) fn rests_on(problem: &Problem, session: &Session<'_>) -> Result<(Simulated, bool), Error> {
    let options = BreadOptions::default();
    let ways = Ways::of(problem, &options);
    let found = Basis::find(&ways, &options, session)?;
    Ok((found.simulation, found.loaded.only_near.is_some()))
}

/// A problem, and other ways to take it that state the same posterior.
pub(super) struct Ways<'a> {
    problem: &'a Problem,
    /// With transformed data as data: what is computed from the real outcomes stays as it is, or is the outcome.
    computed: Option<Problem>,
    /// With censored observations as weights. Given that some observations are censored and when, the others are drawn
    /// anew: θ* is an exact draw of p(θ) R(θ) p(y | θ) p(y′ | θ), where R is the probability of what is censored.
    censored: Option<Problem>,
}

impl<'a> Ways<'a> {
    /// Those that there are, and that could be of use.
    pub fn of(problem: &'a Problem, options: &BreadOptions) -> Self {
        let supplied = options.annealing.generation.simulator.is_some();
        let conditional = options.kind().0 == Simulation::Conditional;
        let censored = problem.with_censored_weights().filter(|_| conditional && !supplied);
        let computed = if supplied { None } else { problem.with_computed_given() };
        Self { problem, computed, censored }
    }
}

impl<'a> Basis<'a> {
    /// The best that there is: everything, everything but what is censored, nothing.
    pub fn find(ways: &'a Ways<'a>, options: &BreadOptions, session: &Session<'_>) -> Result<Self, Error> {
        let problem = ways.problem;
        if options.kind().0 == Simulation::Nothing {
            return Self::nothing(problem, ASKED, options, session);
        }
        let until = options.budget.filter(|_| options.may_simulate_nothing());
        let until = until.map(|budget| Instant::now() + Duration::from_secs_f64(SHARE * budget));
        match Self::drawn(ways, options, until, session) {
            Err(error) if options.may_simulate_nothing() && is_about_data(&error) => {
                Self::without(problem, &error, options, session)
            }
            other => other,
        }
    }

    /// What data can be drawn with: everything, or everything but what is computed or censored.
    pub fn drawn(
        ways: &'a Ways<'a>,
        options: &BreadOptions,
        until: Option<Instant>,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        let Ways { problem, computed, censored } = ways;
        let quiet = Session { observer: &Nobody, ..session.clone() };
        let alone = computed.is_none() && censored.is_none();
        let first = read(problem, options, until, if alone { session } else { &quiet });
        let whole = first.as_ref().is_ok_and(|(loaded, _)| loaded.only_near.is_none() && !loaded.likelihood_only);
        if let Some(computed) = computed.as_ref().filter(|_| !whole)
            && let Some(basis) = Self::with_computed(computed, first.as_ref().ok(), problem, (options, until, session))
        {
            return Ok(basis);
        }
        let fine = first.as_ref().is_ok_and(|(loaded, _)| loaded.only_near.is_none());
        if let Some(censored) = censored.as_ref().filter(|_| !fine)
            && let Ok((loaded, simulation)) = read(censored, options, until, session)
        {
            let simulation = Simulated { why: WEIGHTS.to_owned(), has_log_ml: false, ..simulation };
            return Ok(Self { loaded, simulation, incomparable: Some(CENSORED.to_owned()) });
        }
        let (loaded, simulation) = first?;
        Ok(Self { loaded, simulation, incomparable: None })
    }

    /// With transformed data as data, if some are computed from what would be drawn otherwise.
    fn with_computed(
        computed: &'a Problem,
        first: Option<&(Generative<'a>, Simulated)>,
        problem: &Problem,
        (options, until, session): (&BreadOptions, Option<Instant>, &Session<'_>),
    ) -> Option<Self> {
        if first.is_some_and(|(loaded, _)| problem.program().typed().computed_from(&loaded.outcomes).is_empty()) {
            return None;
        }
        let (loaded, mut simulation) = read(computed, options, until, session).ok()?;
        if loaded.only_near.is_some() {
            return None;
        }
        simulation.why = format!("{}; {}", computed_words(&loaded), simulation.why);
        Some(Self { loaded, simulation, incomparable: None })
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

/// What is said where transformed data are taken as given.
fn computed_words(loaded: &Generative<'_>) -> String {
    let names: Vec<String> = loaded.summary.outcomes.iter().map(|outcome| format!("`{}`", outcome.name)).collect();
    format!("what transformed data compute from the real data is given, and {} drawn", names.join(", "))
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
