//! A program read as a joint distribution, with its data; refuses what no experiment can be made of.

mod by_sampling;

use crate::error::{Context, Error, Faults, Refusal, Suspicion};
use crate::finite;
use crate::problem::{Problem, Program};
use crate::proven::{proven, proven_at};
use crate::session::{Message, Session};
use crust_diagnose::result::{Reading as ReadingResult, Stated, Verdict};
use crust_engine::{EngineError, Model, Proof, ProveOptions, SimulateError, Simulator, solves_equations};
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::joint::{
    ByDensity, Joint, JointSummary, OutcomeSummary, ParameterSummary, ReadOptions, declared_bounds,
};
use crust_stan::typed::{self, VariableId};
use crust_stan::types::Type;
use std::time::Instant;

/// How a program is read as a joint distribution.
#[derive(Clone, Debug, Default)]
pub struct Generation {
    /// Hyperparameters, in place of those that crust finds.
    pub hyper: Option<Vec<String>>,
    /// A program that simulates outcomes: its generated quantities of their names.
    pub simulator: Option<Program>,
    /// Whether the likelihood alone is read: outcomes can then be drawn given parameters
    /// ([`Simulator::draw_data`]), but parameters cannot be drawn, so that priors may be flat or unreadable. What is read
    /// is proven at points where Stan would begin; `Generative::prove_at` proves it where the posterior is.
    pub likelihood_only: bool,
    /// Whether nothing is drawn: all data stay as they are.
    pub nothing_drawn: bool,
    /// Whether a prior that cannot be drawn from exactly may be sampled: what rests on it is approximate.
    pub sample_prior: bool,
    /// When to give up on outcomes that are drawn from the values of the likelihood.
    pub until: Option<Instant>,
}

/// Whether the outcomes must be in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcomes {
    Given,
    Simulated,
}

/// A program with its generative reading and its data.
pub(crate) struct Generative<'a> {
    pub problem: &'a Problem,
    pub data: Data,
    pub simulator: Simulator,
    /// Whether only the likelihood was read, so that parameters cannot be drawn.
    pub likelihood_only: bool,
    /// Whether nothing can be drawn at all.
    pub nothing_drawn: bool,
    pub outcomes: Vec<VariableId>,
    pub hyperparameters: Vec<String>,
    /// Those that the program itself suggests, whatever the user says.
    pub scales: Vec<String>,
    pub summary: JointSummary,
    /// log ∫ prior as the program states it, if it is known: bounds may cut something off, and Stan does not divide by
    /// what is left.
    pub log_prior_integral: Option<f64>,
    /// log of what the likelihood integrates to over the outcomes, if that is known.
    pub log_likelihood_integral: Option<f64>,
    /// Data that are not finite, which may be why something went wrong.
    pub suspicion: Option<Suspicion>,
    /// Why the reading is proven only where the posterior is, up to [`NEAR`], if so.
    pub only_near: Option<Far>,
    /// That parameters come from a sampler of the prior, and how good it is, if so.
    pub approximate: Option<String>,
    /// All texts that were read: what results depend on.
    pub texts: Vec<String>,
}

/// A reading with what belongs to it.
struct Loaded {
    joint: Joint,
    data: Data,
    simulator: Simulator,
    proof: Proof,
    suspicion: Option<Suspicion>,
    only_near: Option<Far>,
}

/// Why what is drawn need not have the density that the program states, far from the posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Far {
    /// An outcome has declared bounds, which may cut something off its distribution.
    Bounds,
    /// Equations cannot be solved to the digits that a proof needs.
    Solver,
}

impl Far {
    pub fn why(self) -> &'static str {
        match self {
            Self::Bounds => {
                "what is drawn has the density that the program states only where the posterior is, as when declared \
                 bounds of an outcome cut off next to nothing there"
            }
            Self::Solver => "equations of the program are solved exactly enough only where the posterior is",
        }
    }
}

/// By how many nats a likelihood may differ from what is drawn, over draws of the posterior, where it differs elsewhere.
/// The Jeffreys divergence of distributions whose log densities differ by r at most, up to a constant, is at most
/// r tanh(r/4): 0.01 nats, far below what is judged.
const NEAR: f64 = 0.2;

/// A constant of the likelihood that is told, in nats.
pub(crate) const NOTICED: f64 = 1e-3;

impl<'a> Generative<'a> {
    pub fn bind(&self, data: &Data, seed: u64) -> Result<Model, EngineError> {
        Model::bind(self.typed(), data, seed)
    }

    pub fn program(&self) -> &'a Program {
        self.problem.program()
    }

    pub fn typed(&self) -> &'a typed::Program {
        self.problem.program().typed()
    }

    pub fn context<'b>(&'b self, faults: &'b Faults) -> Context<'b> {
        self.problem.context(faults, self.suspicion.as_ref())
    }

    /// Reads and proves. What is understood wrongly is tried again by the values of the likelihood alone, and at last
    /// proven where the posterior is, if that may help.
    fn load(
        problem: &Problem,
        how: &Generation,
        given: Outcomes,
        (options, session): (&ReadOptions, &Session<'_>),
    ) -> Result<Loaded, Error> {
        let first = Self::load_as(problem, how, given, (options, session, false));
        let again = match &first {
            Err(Error::Reading { .. }) => true,
            // what cannot be drawn may not be what the program means
            Err(Error::Simulate { error, .. }) => {
                matches!(**error, SimulateError::Reading(_) | SimulateError::Rejected(_))
            }
            _ => false,
        };
        if !again || how.simulator.is_some() || options.by_density == ByDensity::Always {
            return first;
        }
        let by_values = ReadOptions { by_density: ByDensity::Always, ..options.clone() };
        let second = Self::load_as(problem, how, given, (&by_values, session, false));
        if second.is_err()
            && how.likelihood_only
            && let Ok(loaded) = Self::load_as(problem, how, given, (options, session, true))
        {
            return Ok(loaded);
        }
        match second {
            Ok(loaded) => Ok(loaded),
            // That the likelihood is no density says more than that it was not understood.
            Err(Error::Reading { program, problems }) if problems.iter().any(|p| p.code == "not-a-density") => {
                Err(Error::Reading { program, problems })
            }
            // Why a draw of something that is not meant failed says nothing to anybody, unless the data are odd.
            Err(other) => match &first {
                Err(Error::Simulate { error, suspicion: None, .. })
                    if matches!(**error, SimulateError::Rejected(_)) =>
                {
                    Err(other)
                }
                _ => first,
            },
        }
    }

    fn load_as(
        problem: &Problem,
        how: &Generation,
        given: Outcomes,
        (options, session, near): (&ReadOptions, &Session<'_>, bool),
    ) -> Result<Loaded, Error> {
        let program = problem.program();
        let joint = Joint::read(program.typed(), options);
        let mut joint = joint.map_err(|problems| Error::Reading { program: program.clone(), problems })?;
        let data = match given {
            Outcomes::Given => problem.values()?.clone(),
            Outcomes::Simulated => {
                let outcomes = joint.outcome_names();
                problem.read_values(&|name| outcomes.contains(name))?
            }
        };
        let suspicion = problem.suspicion(&data);
        if how.nothing_drawn {
            finite::refuse_nan(program.typed(), &data, problem.words())?;
            let simulator = Simulator::new(program.typed(), &joint, &data, None);
            let simulator = simulator.map_err(|error| program.simulate(error))?;
            return Ok(Loaded { joint, data, simulator, proof: Proof::default(), suspicion, only_near: None });
        }
        check_values(problem, &joint, &data, given)?;
        let other = how.simulator.as_ref().map(Program::typed);
        let simulator = Simulator::new_until(program.typed(), &joint, &data, other, how.until);
        let mut simulator = simulator.map_err(|error| program.simulate(error))?;
        joint.outcomes = simulator.outcomes().to_vec();
        let bounded = joint.outcomes.iter().any(|(id, _)| has_bounds(&joint.program, *id));
        let far = if bounded { Some(Far::Bounds) } else { solves_equations(program.typed()).then_some(Far::Solver) };
        let far = far.filter(|_| near);
        let mut only_near = None;
        let proof = match proven(program, &simulator, true, (session.seed, suspicion.as_ref())) {
            // Nothing may be drawn from where Stan begins, which says nothing about the posterior.
            Err(Error::Simulate { error, .. }) if how.likelihood_only && is_about_values(&error) => Proof::default(),
            // It is wrong there, and may be right where the posterior is.
            Err(Error::Reading { .. }) if far.is_some() => {
                only_near = far;
                Proof::default()
            }
            other => other?,
        };
        simulator.take_time();
        Ok(Loaded { joint, data, simulator, proof, suspicion, only_near })
    }

    /// The reading as results have it.
    pub fn stated(&self) -> ReadingResult {
        let JointSummary { parameters, outcomes, hyperparameters, order, mut notes, warnings } = self.summary.clone();
        notes.extend(warnings);
        notes.extend(self.approximate.clone());
        notes.extend(self.log_likelihood_integral.and_then(integral_in_words));
        let parameter = |p: ParameterSummary| Stated { name: p.name, words: p.prior.join("; ") };
        let outcome = |o: OutcomeSummary| Stated { name: o.name, words: o.likelihood.join("; ") };
        ReadingResult {
            parameters: parameters.into_iter().map(parameter).collect(),
            outcomes: outcomes.into_iter().map(outcome).collect(),
            hyperparameters,
            order,
            notes,
        }
    }

    /// Proves the reading of the likelihood at points of the unconstrained parameters, such as fitted draws. To be called
    /// before data that were drawn given such points are used, where the likelihood alone was read.
    pub fn prove_at(&self, points: &[Vec<f64>], seed: u64) -> Result<(), Error> {
        if !self.likelihood_only || self.nothing_drawn {
            return Ok(());
        }
        let why = (seed, self.suspicion.as_ref());
        let options = ProveOptions {
            points,
            slack: if self.only_near.is_some() { NEAR } else { 0.0 },
            ..ProveOptions::default()
        };
        proven_at(self.program(), &self.simulator, options, why).map(|_| ())
    }

    /// Reads a problem as a joint distribution, and its data with it. Warnings are told.
    pub fn read(problem: &'a Problem, how: &Generation, given: Outcomes, session: &Session<'_>) -> Result<Self, Error> {
        let program = problem.program();
        check_program(program)?;
        how.simulator.as_ref().map_or(Ok(()), check_program)?;
        let simulated = how.simulator.as_ref().map(|other| generated(other.typed())).unwrap_or_default();
        let options = ReadOptions {
            hyper: how.hyper.clone(),
            simulated: simulated.into_iter().collect(),
            likelihood_only: how.likelihood_only,
            by_density: ByDensity::WhereNeeded,
            nothing_drawn: how.nothing_drawn,
        };
        let (loaded, approximate) = match Self::load(problem, how, given, (&options, session)) {
            Err(trouble) if how.sample_prior && !how.likelihood_only && may_be_sampled(&trouble) => {
                let (loaded, words) = Self::load_sampled(problem, how, given, (&options, session, trouble))?;
                session.message(Message::Note(&words));
                (loaded, Some(words))
            }
            other => (other?, None),
        };
        let Loaded { joint, data, simulator, proof, suspicion, only_near } = loaded;
        how.simulator.as_ref().map_or(Ok(()), |other| check_simulator(other, &joint))?;
        for warning in &joint.warnings {
            session.message(Message::Warning { text: program.text(), warning });
        }
        if let Some(note) = proof.log_likelihood_integral.and_then(integral_in_words) {
            session.message(Message::Note(&note));
        }
        let names = |joint: &Joint| -> Vec<String> {
            joint.hyperparameters.iter().map(|&id| joint.program.variable(id).name.clone()).collect()
        };
        let hyperparameters = names(&joint);
        let scales = if options.hyper.is_none() {
            hyperparameters.clone()
        } else {
            let own = Joint::read(program.typed(), &ReadOptions { hyper: None, ..options });
            own.map_or_else(|_| hyperparameters.clone(), |own| names(&own))
        };
        let mut texts = vec![program.text().text().to_owned(), problem.json().to_owned()];
        texts.extend(how.simulator.as_ref().map(|other| other.text().text().to_owned()));
        Ok(Self {
            problem,
            data,
            simulator,
            likelihood_only: how.likelihood_only || how.nothing_drawn,
            nothing_drawn: how.nothing_drawn,
            outcomes: joint.outcomes.iter().map(|(id, _)| *id).collect(),
            hyperparameters,
            scales,
            summary: joint.summary(program.text()),
            log_prior_integral: proof.log_prior_integral,
            log_likelihood_integral: proof.log_likelihood_integral,
            suspicion,
            only_near,
            approximate,
            texts,
        })
    }

    /// Reads the likelihood, and samples the prior. Where that does not work either, what is wrong is what was wrong
    /// before.
    fn load_sampled(
        problem: &Problem,
        how: &Generation,
        given: Outcomes,
        (options, session, trouble): (&ReadOptions, &Session<'_>, Error),
    ) -> Result<(Loaded, String), Error> {
        let alone = Generation { likelihood_only: true, ..how.clone() };
        let options = ReadOptions { likelihood_only: true, ..options.clone() };
        let Ok(mut loaded) = Self::load(problem, &alone, given, (&options, session)) else { return Err(trouble) };
        if loaded.only_near.is_some() {
            return Err(trouble);
        }
        if !loaded.data.missing.is_empty() {
            session.message(Message::Note(
                "the prior cannot be drawn from exactly; with the outcomes in the data it could be sampled",
            ));
            return Err(trouble);
        }
        session.message(Message::Stage("Sampling the prior, which cannot be drawn from exactly"));
        match by_sampling::sampled(problem.program(), &loaded, session) {
            Ok(by_sampling::Sampled { draws, words }) => {
                let some: Vec<Vec<f64>> = draws.iter().step_by(draws.len().div_ceil(20).max(1)).cloned().collect();
                let options = ProveOptions { points: &some, ..ProveOptions::default() };
                let why = (session.seed, loaded.suspicion.as_ref());
                proven_at(problem.program(), &loaded.simulator, options, why)?;
                loaded.simulator = loaded.simulator.with_prior_draws(draws);
                Ok((loaded, words))
            }
            Err(by_sampling::Failure::Unsettled(why)) => {
                session.message(Message::Note(&format!("chains on the prior alone do not settle: {why}")));
                Err(trouble)
            }
            Err(by_sampling::Failure::Error(error)) => Err(*error),
        }
    }

    /// Says in a verdict that it rests on draws that are not exact.
    pub fn tell_approximate(&self, verdict: &mut Verdict) {
        if let Some(words) = &self.approximate {
            verdict.sentence.push_str(" All of this is approximate, since the prior was sampled and not drawn from.");
            verdict.rests_on.push(words.clone());
        }
    }
}

/// What a likelihood that is no density by a constant means for its reader.
fn integral_in_words(log: f64) -> Option<String> {
    (log.abs() > NOTICED).then(|| {
        format!(
            "the likelihood integrates to e^{log:.3} over the outcomes as far as they are drawn, whatever the parameters \
             are: log-ML has that {log:.3} in it, or a part of the outcomes' distribution was not found"
        )
    })
}

/// Whether it is the prior that cannot be drawn, though it has an integral as far as can be seen.
fn may_be_sampled(trouble: &Error) -> bool {
    let other = [
        "improper-prior",
        "prior-depends-on-outcome",
        "declaration-depends-on-outcome",
        "mixed-terms",
        "lp-function",
        "unknown-hyperparameter",
    ];
    match trouble {
        Error::Reading { problems, .. } => !problems.iter().any(|p| other.contains(&p.code)),
        Error::Simulate { error, .. } => match &**error {
            SimulateError::Reading(problem) => !other.contains(&problem.code),
            SimulateError::CutAway { .. } | SimulateError::Refused(_) => true,
            _ => false,
        },
        _ => false,
    }
}

fn has_bounds(program: &typed::Program, id: VariableId) -> bool {
    let bounds = declared_bounds(program, id);
    bounds.lower.is_some() || bounds.upper.is_some()
}

/// Whether a draw failed for the values of parameters, not for how the program is read.
fn is_about_values(error: &SimulateError) -> bool {
    matches!(error, SimulateError::Rejected(_) | SimulateError::Unconstrain(_) | SimulateError::Outside { .. })
}

fn check_program(program: &Program) -> Result<(), Error> {
    if !program.has_parameters() {
        return Err(Refusal::NoParameters { program: program.name().to_owned() }.into());
    }
    program.check_supported()
}

/// Names of generated quantities: what a simulator supplies.
fn generated(program: &typed::Program) -> Vec<String> {
    program.declared_in(BlockKind::GeneratedQuantities).map(|id| program.variable(id).name.clone()).collect()
}

/// Refuses another program that simulates none of the outcomes, which would change nothing.
fn check_simulator(other: &Program, joint: &Joint) -> Result<(), Refusal> {
    let (generated, wanted) = (generated(other.typed()), joint.outcome_names());
    let simulates = |name: &String| wanted.contains(name.strip_suffix("_sim").unwrap_or(name)) || wanted.contains(name);
    if wanted.is_empty() || generated.iter().any(simulates) {
        return Ok(());
    }
    Err(Refusal::NothingSimulated { simulator: other.file_name(), generated, wanted: wanted.into_iter().collect() })
}

/// Data that are complete and of the right sizes may still be of no use.
fn check_values(problem: &Problem, joint: &Joint, data: &Data, given: Outcomes) -> Result<(), Refusal> {
    let (program, file) = (problem.program().typed(), problem.words());
    finite::refuse_nan(program, data, file)?;
    if given == Outcomes::Given {
        finite::refuse_infinite(program, data, joint.outcomes.iter().map(|(id, _)| *id), file)?;
    }
    let names: Vec<String> = joint.outcome_names().into_iter().collect();
    if names.is_empty() {
        return Err(Refusal::NoOutcome);
    }
    let size =
        |id: VariableId| data.get(id).and_then(crust_stan::value::Value::shape).and_then(|shape| shape.scalars());
    if joint.outcomes.iter().all(|(id, _)| size(*id) == Some(0)) {
        return Err(Refusal::NoValues { outcomes: names, file: file.to_owned() });
    }
    if given == Outcomes::Given {
        check_variation(joint, data, file)?;
    }
    Ok(())
}

fn is_integer(ty: &Type) -> bool {
    match ty {
        Type::Array(element) => is_integer(element),
        ty => *ty == Type::Int,
    }
}

/// A real outcome that is the same everywhere is nearly always a mistake in the preparation of the data. Counts may be.
fn check_variation(joint: &Joint, data: &Data, file: &str) -> Result<(), Refusal> {
    let reals = joint.outcomes.iter().filter(|(id, _)| !is_integer(&joint.program.variable(*id).ty));
    for (id, _) in reals {
        let Some(numbers) = data.get(*id).and_then(crust_stan::value::Value::to_reals) else { continue };
        let Some((first, rest)) = numbers.split_first() else { continue };
        if !rest.is_empty() && rest.iter().all(|x| x.to_bits() == first.to_bits()) {
            return Err(Refusal::AllTheSame {
                count: numbers.len(),
                outcome: joint.program.variable(*id).name.clone(),
                file: file.to_owned(),
                value: first.to_string(),
            });
        }
    }
    Ok(())
}
