//! Mistakes that come up in the middle of a run, on their way to an [`Error`].

use super::{Error, PathError, Suspicion};
use crate::problem::Program;
use crust_diagnose::checkpoint::Halt;
use crust_engine::{EngineError, SimulateError};
use crust_infer::anneal::BadSchedule;
use crust_infer::approximate::Error as ApproximateError;
use crust_infer::error::Error as InferError;
use crust_infer::target::Fatal;
use std::sync::{Arc, Mutex, PoisonError};

/// A mistake that came up while a target was evaluated, or drawn from.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error("--path data:{counter}: {error}")]
    Path { counter: String, error: PathError },
}

/// Where targets leave the mistakes that end a run: samplers only hand on that there was one. Copies share the place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Arc<Mutex<Option<Fault>>>);

impl Faults {
    /// Keeps the first one, and makes of it what a sampler hands on.
    pub fn raise(&self, fault: impl Into<Fault>) -> Fatal {
        let fault = fault.into();
        let words = fault.to_string();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        Fatal::new(words)
    }

    /// Takes the mistake if it is that a draw from the prior is no value of its parameter, and says whether it was.
    pub fn take_draw_at_edge(&self) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at_edge = matches!(&*kept, Some(Fault::Simulate(SimulateError::Unconstrain(_))));
        if at_edge {
            *kept = None;
        }
        at_edge
    }

    fn take(&self) -> Option<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What a run was about, to make errors of what went wrong in it.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub suspicion: Option<&'a Suspicion>,
    pub faults: &'a Faults,
}

impl Context<'_> {
    fn suspicion(self) -> Option<Box<Suspicion>> {
        self.suspicion.cloned().map(Box::new)
    }

    pub fn engine(self, error: EngineError) -> Error {
        Error::Engine { program: self.program.clone(), error, suspicion: self.suspicion() }
    }

    pub fn simulate(self, error: SimulateError) -> Error {
        Error::Simulate { program: self.program.clone(), error: Box::new(error), suspicion: self.suspicion() }
    }

    pub fn infer(self, error: InferError) -> Error {
        match error {
            InferError::Interrupted => Error::Interrupted,
            InferError::Fatal(_) => match self.faults.take() {
                Some(Fault::Engine(error)) => self.engine(error),
                Some(Fault::Simulate(error)) => self.simulate(error),
                Some(Fault::Path { counter, error }) => Error::Path { counter, error },
                None => Error::Infer { error: Box::new(error), hint: None, suspicion: self.suspicion() },
            },
            error => Error::Infer { error: Box::new(error), hint: None, suspicion: self.suspicion() },
        }
    }

    /// What a fit, or chains that start at one, came to. `hint` is for those that find no point to start from, the names
    /// of coordinates for those that are about some of them.
    pub fn approximate(self, error: ApproximateError, hint: &'static str, names: &[String]) -> Error {
        match error {
            ApproximateError::Interrupted => Error::Interrupted,
            ApproximateError::Fatal(fatal) => self.infer(InferError::Fatal(fatal)),
            error => {
                let name = |i: usize| i.checked_sub(1).and_then(|at| names.get(at));
                let named = |&i: &usize| name(i).map(|name| format!("coordinate {i} is that of `{name}`"));
                let named: Vec<String> = error.coordinates().iter().filter_map(named).collect();
                let hint = match error {
                    ApproximateError::Initial { .. } => Some(hint.to_owned()),
                    _ => (!named.is_empty()).then(|| named.join(", ")),
                };
                Error::Approximate { error: Box::new(error), hint, suspicion: self.suspicion() }
            }
        }
    }

    /// What a protocol that came to no end says.
    pub fn halt(self, halt: Halt<Trouble>) -> Error {
        match halt {
            Halt::Interrupted => Error::Interrupted,
            Halt::Journal(error) => Error::Journal(error),
            Halt::Work(trouble) => self.trouble(trouble),
            Halt::NoRealData => Error::NoRealData,
        }
    }

    pub fn trouble(self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Engine(error) => self.engine(error),
            Trouble::Simulate(error) => self.simulate(error),
            Trouble::Infer(error) => self.infer(error),
            Trouble::Schedule(error) => error.into(),
            Trouble::Path { counter, error } => Error::Path { counter, error },
            Trouble::NotSimulated { dataset } => Error::NotSimulated { dataset },
            Trouble::Reference(error) => Error::Reference(error),
            Trouble::Reading(error) => *error,
            Trouble::Approximate(error) => self.approximate(error, "try other initial values", &[]),
        }
    }
}

/// Why an experiment cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    #[error("--path data:{counter}: {error}")]
    Path { counter: String, error: PathError },
    /// A unit that is out of order.
    #[error("dataset {dataset} has not been simulated")]
    NotSimulated { dataset: u32 },
    #[error(transparent)]
    Reference(#[from] crust_infer::path::BadReference),
    #[error(transparent)]
    Approximate(#[from] ApproximateError),
    /// The reading of the likelihood does not hold where the posterior is.
    #[error("{0}")]
    Reading(Box<Error>),
}
