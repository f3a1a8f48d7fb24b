//! Readings that are proven before anything is reported.

use crate::error::{Error, Suspicion};
use crate::problem::Program;
use crust_engine::{Proof, ProveError, ProveOptions, Simulator, prove};

/// Proves that a simulator draws from what the program states: its own density minus that of the draws must be one
/// constant, for the prior and, if data are going to be simulated, for the likelihood. A reading that cannot be proven
/// is an error that names the statement.
pub(crate) fn proven(
    program: &Program,
    simulator: &Simulator,
    likelihood: bool,
    why: (u64, Option<&Suspicion>),
) -> Result<Proof, Error> {
    proven_at(program, simulator, ProveOptions { likelihood, ..ProveOptions::default() }, why)
}

/// The same with other options.
pub(crate) fn proven_at(
    program: &Program,
    simulator: &Simulator,
    options: ProveOptions<'_>,
    (seed, suspicion): (u64, Option<&Suspicion>),
) -> Result<Proof, Error> {
    let options = ProveOptions { seed, ..options };
    let suspicion = suspicion.cloned();
    prove(program.typed(), simulator, &options).map_err(|error| match error {
        ProveError::Misreading(misreading) => {
            Error::Reading { program: program.clone(), problems: vec![misreading.diagnostic()] }
        }
        ProveError::Simulate(error) => {
            Error::Simulate { program: program.clone(), error: Box::new(error), suspicion: suspicion.map(Box::new) }
        }
        ProveError::Engine(error) => {
            Error::Engine { program: program.clone(), error, suspicion: suspicion.map(Box::new) }
        }
    })
}
