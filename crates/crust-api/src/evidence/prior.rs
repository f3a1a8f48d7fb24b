//! Reads a program with all of its data, and what it says about its prior.
//!
//! Only the prior is drawn from: unlike for the protocols, nothing needs to be able to simulate the outcomes.

use crate::error::{Error, Refusal};
use crate::finite;
use crate::problem::{Problem, Program};
use crate::proven::proven;
use crate::session::{Message, Session};
use crust_engine::{Model, Simulator};
use crust_stan::ast::BlockKind;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::{Joint, ReadOptions, Split};
use crust_stan::typed::VariableId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A program with its data and its prior.
pub(super) struct PriorReading<'a> {
    pub problem: &'a Problem,
    pub simulator: Simulator,
    pub model: Arc<Model>,
    /// log of what the density of the prior integrates to. Stan does not divide by the probability of declared bounds:
    /// `sigma ~ normal(0, 1)` with `<lower=0>` integrates to ½. Estimators that only look at the likelihood of draws do
    /// not care; those that look at the density of the prior have to divide by it. The proof of the reading finds it:
    /// the program's density minus that of the draws, which is normalised.
    pub log_prior_integral: Option<f64>,
    /// What statements of the program add to normalise its prior, `target += log(2)` for a half-normal one: they look at no
    /// parameter, so that estimators take them for a part of the likelihood.
    pub log_normalising: f64,
}

impl<'a> PriorReading<'a> {
    pub fn read(problem: &'a Problem, session: &Session<'_>) -> Result<Self, Error> {
        let program = problem.program();
        if !program.has_parameters() {
            return Err(Refusal::LikelihoodOnly { program: program.name().to_owned() }.into());
        }
        program.check_supported()?;
        let data = problem.values()?;
        let joint = read_joint(program).map_err(|problems| Error::Reading { program: program.clone(), problems })?;
        for warning in &joint.warnings {
            session.message(Message::Warning { text: program.text(), warning });
        }
        finite::refuse_nan(program.typed(), data, problem.words())?;
        let model = problem.model(session.seed)?;
        let simulator = Simulator::new(program.typed(), &joint, data, None).map_err(|error| program.simulate(error))?;
        let proof = proven(program, &simulator, false, (session.seed, problem.suspicion(data).as_ref()))?;
        let (log_prior_integral, log_normalising) = (proof.log_prior_integral, proof.log_normalising);
        Ok(Self { problem, simulator, model, log_prior_integral, log_normalising })
    }
}

/// The generative reading. Outcomes are given, so that nothing needs to know how to draw them: they count as simulated
/// elsewhere. Where the likelihood is no density of anything, so do all data that no prior looks at.
fn read_joint(program: &Program) -> Result<Joint, Vec<Diagnostic>> {
    let program = program.typed();
    let read = |simulated: BTreeSet<String>| Joint::read(program, &ReadOptions { simulated, ..ReadOptions::default() });
    let name = |id| program.variable(id).name.clone();
    let split = Split::of(program);
    let outcomes: BTreeSet<String> = split.outcomes.iter().copied().map(name).collect();
    let problems = match read(outcomes.clone()) {
        Ok(joint) => return Ok(joint),
        Err(problems) => problems,
    };
    let in_prior = |name: &String| {
        let found = read(BTreeSet::from([name.clone()]));
        found.is_err_and(|problems| problems.iter().any(|p| p.code == "prior-depends-on-outcome"))
    };
    let size = |id: &VariableId| {
        let ty = &program.variable(*id).ty;
        ty.is_scalar() && ty.is_int_like() && !split.is_value(*id)
    };
    let others = program.declared_in(BlockKind::Data).filter(|id| !size(id)).map(name).filter(|name| !in_prior(name));
    read(outcomes.into_iter().chain(others).collect()).map_err(|_| problems)
}
