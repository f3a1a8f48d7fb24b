//! Sums of log densities that are gathered in a variable before they are added to the target, as brms writes them:
//! `real lprior = 0; lprior += normal_lpdf(b | 0, 1); …; target += lprior`.

use std::collections::BTreeMap;

use super::walk;
use crate::ast::{BinaryOp, BlockKind};
use crate::typed::{Expr, ExprKind, Level, Place, Program, StmtKind, VariableId};
use crate::types::Type;

/// The program with such variables replaced, where they are added to the target, by what they were made of.
pub(super) fn expanded(program: &Program) -> Program {
    let sums = sums(program);
    if sums.is_empty() {
        return program.clone();
    }
    let mut result = program.clone();
    if let Some(block) = &mut result.blocks[BlockKind::Model as usize] {
        for stmt in &mut block.statements {
            if let StmtKind::TargetPlus(e) = &mut stmt.kind
                && let ExprKind::Variable(id) = e.kind
                && let Some(sum) = sums.get(&id)
            {
                *e = sum.clone();
            }
        }
    }
    result
}

/// Transformed parameters that begin with 0 and to which terms are added, all of them outside of loops and branches.
fn sums(program: &Program) -> BTreeMap<VariableId, Expr> {
    let block = program.block(BlockKind::TransformedParameters);
    let mut terms: BTreeMap<VariableId, Vec<Expr>> = BTreeMap::new();
    for stmt in block {
        match &stmt.kind {
            StmtKind::Declare { variable, initial: Some(value) }
                if is_zero(value) && program.variable(*variable).ty == Type::Real =>
            {
                terms.insert(*variable, Vec::new());
            }
            StmtKind::Assign { target: Place::Variable { variable, path, .. }, op: Some(BinaryOp::Add), value }
                if path.is_empty() =>
            {
                terms.entry(*variable).and_modify(|list| list.push(value.clone()));
            }
            _ => {}
        }
    }
    // Nothing else may change them.
    let mut times: BTreeMap<VariableId, usize> = BTreeMap::new();
    for stmt in program.blocks.iter().flatten().flat_map(|b| &b.statements) {
        walk::each(stmt, &mut |s| {
            if let StmtKind::Assign { target, .. } = &s.kind {
                walk::assigned(target).into_iter().for_each(|id| *times.entry(id).or_default() += 1);
            }
        });
    }
    terms.retain(|id, list| !list.is_empty() && times.get(id) == Some(&list.len()));
    terms.into_iter().filter_map(|(id, list)| Some((id, list.into_iter().reduce(add)?))).collect()
}

fn is_zero(e: &Expr) -> bool {
    match e.kind {
        ExprKind::Int(x) => x == 0,
        ExprKind::Real(x) => x == 0.0,
        _ => false,
    }
}

fn add(left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let kind = ExprKind::Binary { op: BinaryOp::Add, left: Box::new(left), right: Box::new(right) };
    Expr { kind, ty: Type::Real, level: Level::Parameter, span }
}
