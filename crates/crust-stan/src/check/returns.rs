//! Whether a function always comes to a `return`.

use crate::ast::{Expr, ExprKind, MessageKind, Stmt, StmtKind};

/// Whether no run gets behind the end of the statements. A loop whose body always returns counts, as for the official
/// compiler, although it may have no iterations.
pub(super) fn always_returns(statements: &[Stmt]) -> bool {
    statements.iter().any(returns)
}

fn returns(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Return(_)
        | StmtKind::Message { kind: MessageKind::Reject | MessageKind::FatalError, .. }
        // What could not be read may have returned.
        | StmtKind::Error => true,
        StmtKind::Block(statements) | StmtKind::Profile { body: statements, .. } => always_returns(statements),
        StmtKind::If { branches, otherwise } => {
            otherwise.as_ref().is_some_and(|s| returns(s)) && branches.iter().all(|b| returns(&b.body))
        }
        StmtKind::For { body, .. } => returns(body) && !breaks(body),
        StmtKind::While { condition, body } => (returns(body) || is_true(condition)) && !breaks(body),
        _ => false,
    }
}

/// Whether the statement can leave the loop around it.
fn breaks(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Break => true,
        StmtKind::Block(statements) | StmtKind::Profile { body: statements, .. } => statements.iter().any(breaks),
        StmtKind::If { branches, otherwise } => {
            branches.iter().any(|b| breaks(&b.body)) || otherwise.as_ref().is_some_and(|s| breaks(s))
        }
        _ => false,
    }
}

fn is_true(condition: &Expr) -> bool {
    matches!(&condition.kind, ExprKind::Int(text) if text.bytes().any(|b| (b'1'..=b'9').contains(&b)))
}
