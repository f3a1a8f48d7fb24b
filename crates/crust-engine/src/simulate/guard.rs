//! What a program refuses of its own prior: by constraints of transformed parameters, and by `reject`.
//!
//! A density that is 0 where the program refuses is the stated one given that it does not: draws are made until one is
//! accepted.

use crust_math::random::StreamKey;
use crust_stan::ast::{BlockKind, MessageKind};
use crust_stan::joint::{Joint, walk};
use crust_stan::typed::{Program, SizedKind, SizedType, StmtKind};

use super::program::{set, tainted};
use super::{SimulateError, Simulator};
use crate::evaluator::{Batch, Terms};
use crust_math::random::Stream;
use std::sync::Arc;

/// Whether a program may refuse values of its parameters.
pub fn may_refuse(program: &Program) -> bool {
    fn constrained(ty: &SizedType) -> bool {
        match &ty.kind {
            SizedKind::Plain { constraint, .. } => constraint.lower.is_some() || constraint.upper.is_some(),
            SizedKind::Special { .. } => true,
            SizedKind::Array { element, .. } => constrained(element),
            SizedKind::Tuple(parts) => parts.iter().any(constrained),
        }
    }
    let mut found = program
        .declared_in(BlockKind::TransformedParameters)
        .any(|id| program.variable(id).declared.as_ref().is_some_and(constrained));
    for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
        walk::each(stmt, &mut |s| {
            found |= matches!(s.kind, StmtKind::Message { kind: MessageKind::Reject, .. });
        });
    }
    found
}

/// The program without densities, and without what is made of outcomes: those are not there when parameters are drawn.
pub fn program(joint: &Joint) -> Program {
    without_outcomes(joint, joint.guards())
}

pub fn without_outcomes(joint: &Joint, mut program: Program) -> Program {
    let source = program.clone();
    let kinds = [
        BlockKind::Data,
        BlockKind::TransformedData,
        BlockKind::Parameters,
        BlockKind::TransformedParameters,
        BlockKind::Model,
    ];
    for kind in kinds {
        set(&mut program, kind, source.block(kind).iter().filter(|s| !tainted(joint, s)).cloned().collect());
    }
    program
}

/// One of some draws.
pub fn pick(draws: &[Vec<f64>], key: StreamKey) -> Vec<f64> {
    #[allow(clippy::cast_precision_loss, reason = "draws are few")]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and their number")]
    let at = (key.stream().uniform() * draws.len() as f64) as usize;
    draws.get(at.min(draws.len().saturating_sub(1))).cloned().unwrap_or_default()
}

impl Simulator {
    /// Whether the program accepts a draw.
    pub(super) fn check_guard(&self, point: &[f64]) -> Result<(), SimulateError> {
        let Some(guard) = &self.guard else { return Ok(()) };
        let mut evaluator = guard.evaluator();
        let mut batch = Batch {
            lanes: 1,
            points: point,
            beta: None,
            log_prior: &mut [0.0],
            log_likelihood: &mut [0.0],
            gradient: &mut [],
        };
        evaluator.evaluate(&mut batch, Terms::default())?;
        match evaluator.rejections().iter().flatten().next() {
            Some(rejection) => Err(SimulateError::Refused(rejection.clone())),
            None => Ok(()),
        }
    }

    /// Whether the first draw under a key is refused, and made again.
    pub(crate) fn is_refused(&self, stream: &mut Stream) -> bool {
        let Some(parameters) = &self.parameters else { return false };
        let state = vec![f64::NAN; parameters.sizes.iter().sum()];
        self.guard.is_some() && matches!(self.attempt(state, stream), Err(SimulateError::Refused(_)))
    }

    /// How many of so many draws fit all declarations and are not refused, if not all of them do; what does not is drawn
    /// again, so that the prior that is drawn from is the stated one given that everything holds.
    pub fn share_kept(&self, attempts: u32, key: StreamKey) -> Option<u32> {
        let parameters = self.parameters.as_ref().filter(|_| self.guard.is_some() || self.is_cut())?;
        let attempt = |i: u32| {
            let state = vec![f64::NAN; parameters.sizes.iter().sum()];
            !self.is_outside(&self.attempt(state, &mut key.chain(i).stream()))
        };
        let kept = (0..attempts).filter(|&i| attempt(i)).count();
        u32::try_from(kept).ok().filter(|&kept| kept < attempts)
    }

    /// The program without its likelihood.
    pub fn prior_program(&self) -> Program {
        self.joint.prior_program()
    }

    /// Takes parameters from draws of the prior that come from elsewhere, such as a sampler, where it was not read.
    #[must_use]
    pub fn with_prior_draws(mut self, draws: Vec<Vec<f64>>) -> Self {
        self.prior_draws = Some(Arc::new(draws));
        self
    }
}
