//! Priors of functions of parameters whose Jacobian is written down beside them:
//! `log(sigma) ~ normal(0, 1); target += -log(sigma);`.
//!
//! A density p of g(θ) is the prior p(g(θ)) |g′(θ)| of θ if the program adds log |g′(θ)|. Then g(θ) is drawn, and θ computed
//! back. What the term really is nobody reads: the proof compares the program's density with that of the draws, Jacobian
//! included, and a term that is something else is a misreading.

use std::collections::BTreeSet;

use super::factors::{Factor, Shape};
use super::split::{Role, Split};
use super::walk;
use crate::ast::BlockKind;
use crate::typed::{Program, StmtKind, VariableId};

/// Settles which functions of parameters are drawn, and which terms are taken for their Jacobians.
///
/// A term belongs to such draws if it weighs nothing but parameters that are drawn through functions; a parameter is
/// drawn through one if it has such a term.
pub(super) fn settle(program: &Program, split: &Split, factors: &mut [Factor]) {
    let mut drawn: BTreeSet<VariableId> =
        factors.iter().filter(|f| f.shape == Shape::Curved).filter_map(|f| f.root).collect();
    if drawn.is_empty() {
        return;
    }
    let statements = jacobian_statements(program, split);
    let loose = |f: &Factor| f.shape == Shape::NoDensity && f.role == Role::Prior;
    loop {
        let terms = factors.iter().filter(|f| loose(f)).map(|f| &f.depends_on).chain(&statements);
        let weighed: BTreeSet<VariableId> = terms.filter(|t| t.is_subset(&drawn)).flatten().copied().collect();
        if weighed.len() == drawn.len() {
            break;
        }
        drawn = weighed;
    }
    for factor in factors {
        let own = factor.root.is_some_and(|id| drawn.contains(&id));
        factor.shape = match factor.shape {
            Shape::Curved if own => Shape::Draw,
            Shape::Curved => Shape::NotInvertible,
            Shape::NoDensity if loose(factor) && factor.depends_on.is_subset(&drawn) => Shape::Jacobian,
            other => other,
        };
    }
}

/// The parameters that each `jacobian += …` depends on.
fn jacobian_statements(program: &Program, split: &Split) -> Vec<BTreeSet<VariableId>> {
    let mut found = Vec::new();
    for stmt in program.block(BlockKind::TransformedParameters) {
        walk::each(stmt, &mut |s| {
            if let StmtKind::JacobianPlus(e) = &s.kind {
                found.push(split.depends.parameters(e));
            }
        });
    }
    found
}
